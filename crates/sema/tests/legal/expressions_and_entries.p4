// Expressions, casts, entries, parsers and functions.
// ----
// apply with annotated body
control c(inout bit<8> x) {
    apply @x {
        x = 1;
    }
}
// ----
// int bitwise
const int a = 1 | 2;
const bit<8> b = 6 & 3 ^ 1;
const bit<8> f = (1 << 2) | (1 << 3);
// ----
// action called with named and directional in list
control c(inout bit<8> x) {
    action a(in bit<8> p, out bit<8> q, bit<8> d) {
        q = p + d;
    }
    table t {
        actions = {
            a(p = x, q = x);
        }
        default_action = a(p = x, q = x, d = 4);
    }
    table u {
        actions = {
            a(x, x);
        }
        const default_action = a(x, x, 5);
    }
    apply {
        t.apply();
        u.apply();
        a(x, x, 3);
    }
}
// ----
// entries with expressions
match_kind { range, optional, }
header H {
    bit<8> a;
    bit<4> b;
    bool c;
}
enum bit<8> E { x = 1, y = 2 }
const bit<8> K = 3;
typedef bit<8> T;
control c(inout H h, inout E e, inout error r) {
    action a() { }
    table t {
        key = {
            h.a: exact;
            h.b: lpm;
            h.c: exact;
            e: exact;
            r: exact;
        }
        actions = {
            a;
        }
        const entries = {
            (K + 1, 4w8 &&& 4w0xc, true, E.x, error.NoError): a();
            (K << 1, _, false, E.y, error.NoMatch): a;
            (8w0xf0 & 0x3f, 0, true, E.x, _): a();
        }
    }
    table u {
        key = {
            h.a: range;
            h.b: ternary;
        }
        actions = {
            a;
        }
        const entries = {
            (1..3, _): a;
            (K..K, 1 &&& 3): a;
            (8w3 .. 8w4, 4w1): a;
        }
    }
    table v {
        key = {
            h.a: exact;
        }
        actions = {
            a;
        }
        const entries = {
            1: a;
            K: a;
            _: a;
        }
    }
    table w {
        key = {
            h.a: optional;
        }
        actions = {
            a;
        }
        const entries = {
            1: a;
            _: a;
        }
    }
    apply {
        t.apply();
        u.apply();
        v.apply();
        w.apply();
    }
}
// ----
// match kinds that core does not have are declared
match_kind { range, optional, selector }
header H {
    bit<8> a;
}
control c(inout H h) {
    action a() { }
    table u {
        key = {
            h.a: range;
            h.a: optional @name("b");
            h.a: selector @name("c");
        }
        actions = {
            a;
        }
        const entries = {
            (1..3, _, _): a;
        }
    }
    apply {
        u.apply();
    }
}
// ----
// newtype chain of casts
type bit<9> P;
type P Q;
typedef Q R;
type R S2;
control c(inout P p, inout Q q, inout S2 s) {
    apply {
        q = (Q)p;
        p = (P)q;
        s = (S2)q;
        bit<9> b = (bit<9>)p;
        b = (bit<9>)(P)q;
        p = (P)b;
        p = (P)3;
        p = (P)9w3;
        if (p == (P)3 && p != p) { }
    }
}
// ----
// newtype on enum and bool
enum bit<8> E { a = 1 }
type bool B;
type int<8> I;
control c(inout B b, inout I i) {
    apply {
        b = (B)true;
        i = (I)-3;
        int<8> x = (int<8>)i;
        bool q = (bool)b;
        i = (I)(int<8>)8w3;
    }
}
// ----
// cast chains
control c(inout bit<8> x, inout int<8> y, inout bool b) {
    apply {
        bit<16> w = (bit<16>)x;
        int<16> v = (int<16>)(bit<16>)x;
        w = (bit<16>)(int<16>)y;
        v = (int<16>)y;
        b = (bool)(bit<1>)1;
        x = (bit<8>)(bit<1>)b;
        w = (bit<16>)-1;
        v = (int<16>)65535;
        int<1> i1 = (int<1>)(bit<1>)b;
        x = 8w0 ++ 0w0;
    }
}
// ----
// string parameters and constants
extern E {
    E(string s);
}
const string s = "x";
extern void f(string s, in bit<8> x);
control c(inout bit<8> x)(string n) {
    E(s) e;
    E("a" ++ s) g;
    E(n) h;
    apply {
        f(n, x);
        f(s ++ "q", 3);
    }
}
control d(inout bit<8> x) {
    c("foo") i;
    apply {
        i.apply(x);
    }
}
// ----
// table apply as a statement and in conditions
control c(inout bit<8> x) {
    action a() { }
    action b() { }
    table t {
        key = {
            x: exact;
        }
        actions = {
            a;
            b;
        }
        default_action = a;
    }
    table u {
        actions = {
            a;
        }
    }
    apply {
        if (t.apply().hit && u.apply().miss || x == 3) { }
        bool h = t.apply().hit;
        if (!h) {
            switch (t.apply().action_run) {
                a: { }
                b: {
                    u.apply();
                }
            }
        }
        h = u.apply().hit;
        x = t.apply().hit ? 8w1 : 8w2;
    }
}
// ----
// keys with calls
extern bit<8> hash(in bit<8> x);
extern E {
    E();
    bit<8> get(in bit<8> i);
}
bit<8> fn(in bit<8> x) {
    return x;
}
header H {
    bit<8> a;
}
struct S {
    H h;
    H[2] st;
}
control c(inout S s) {
    E() e;
    action a() { }
    table t {
        key = {
            hash(s.h.a): exact @name("q");
            e.get(3): exact @name("r");
            fn(s.h.a) + 1: exact @name("s");
            s.st[0].a: exact;
            s.st[1].isValid(): exact;
            s.h.a[3:0]: exact;
            s.h.a ++ s.h.a: exact @name("t");
            (bit<16>)s.h.a: exact @name("u");
            -s.h.a: exact @name("v");
            8w3: exact @name("w");
            true: exact @name("z");
            s.h.a == 3: exact @name("zz");
        }
        actions = {
            a;
        }
    }
    apply {
        t.apply();
    }
}
// ----
// key without name annotation for odd expressions
header H {
    bit<8> a;
}
control c(inout H h) {
    action a() { }
    table t {
        key = {
            h.a + 1: exact @name("sum");
            h.a & 3: ternary;
            h.a == 3: exact @name("is three");
        }
        actions = {
            a;
        }
    }
    apply {
        t.apply();
    }
}
// ----
// parser details
header H {
    bit<8> a;
}
extern Ck {
    Ck();
    void add<T>(in T x);
    bit<16> get();
}
control inner(inout bit<8> x) {
    apply { }
}
parser p(packet_in b, out H h, inout bit<8> m)(bit<8> k) {
    const bit<8> c1 = 3;
    bit<8> v = k + c1;
    bit<8> w;
    Ck() ck;
    tuple<bit<8>> t = { 1 };
    H tmp;
    state start {
        w = v;
        if (w == 3) {
            b.extract(h);
        } else {
            w = 1;
        }
        {
            bit<8> q = 3;
            w = q;
        }
        ck.add(h);
        ck.add({ h.a, v });
        transition select(w, m) {
            (3, _): s2;
            (c1, 4): s3;
            default: reject;
        }
    }
    state s2 { }
    state s3 {
        transition reject;
    }
    state s4 {
        tmp = h;
        transition start;
    }
}
// ----
// state without transition and select on constants
parser p(packet_in b) {
    state start {
        transition select(1w1) {
            1: accept;
        }
    }
    state n { }
}
// ----
// same state names as locals and fields
header H {
    bit<8> ethernet;
}
struct S {
    H ethernet;
}
parser p(packet_in b, out S s) {
    state start {
        transition ethernet;
    }
    state ethernet {
        b.extract(s.ethernet);
        transition select(s.ethernet.ethernet) {
            1: ipv4;
            _: accept;
        }
    }
    state ipv4 {
        transition accept;
    }
}
// ----
// structs that nest
struct A {
    bit<8> x;
}
struct B {
    A a;
    A[2] as;
    tuple<A, bit<8>> t;
}
struct C {
    B b;
    error e;
    bool f;
    int<8> i;
}
control c(inout C v) {
    apply {
        v.b.a.x = 1;
        v.b.as[1].x = 2;
        v.b = { { 1 }, { {1}, {2} }, { {3}, 4 } };
        A a = v.b.t[0];
        v = { b = v.b, e = error.NoError, f = true, i = -1 };
    }
}
// ----
// functions with directions
void sw(inout bit<8> a, inout bit<8> b) {
    bit<8> t = a;
    a = b;
    b = t;
}
bit<8> o(out bit<8> a, in bit<8> b) {
    a = b;
    return a;
}
extern void ex(inout bit<8> x);
header H {
    bit<8> a;
    bit<8> b;
}
void hh(inout H h) {
    h.setValid();
    h.a = 1;
    if (h.isValid()) {
        h.setInvalid();
    }
    sw(h.a, h.b);
    ex(h.a);
}
control c(inout H h, inout H[2] s) {
    apply {
        sw(h.a, h.b);
        h.a = o(h.b, 3) + o(_, h.a);
        hh(h);
        hh(s[0]);
        sw(s[0].a, s[1].b);
    }
}
// ----
// function with if and switch return
bit<8> f(in bit<8> x) {
    if (x == 1) {
        return 2;
    } else {
        return 3;
    }
}
bit<8> g(in bit<8> x) {
    switch (x) {
        1: {
            return 1;
        }
        default: {
            return 2;
        }
    }
}
bit<8> h(in bit<8> x) {
    for (bit<8> i in 1..3) {
        if (i == x) return i;
    }
    return 0;
}
bit<8> k(in bit<8> x) {
    {
        return x;
    }
}
void v() {
    return;
}
void v2() { }
// ----
// function returning int constant
bit<32> f() {
    return 1 << 3;
}
bool g() {
    return 3 > 2;
}
int<8> h() {
    return -1;
}
// ----
// exit from actions
action a() {
    exit;
}
control c() {
    apply {
        a();
        exit;
    }
}
// ----
// global instances and externs
extern R<T> {
    R(bit<32> n);
    void write(in bit<32> i, in T v);
    void read(out T v, in bit<32> i);
}
R<bit<8>>(4) r;
R<tuple<bit<8>, bit<8>>>(4) r2;
struct S {
    bit<8> a;
}
R<S>(1) r3;
control c(inout bit<8> x) {
    S s;
    apply {
        r.write(0, x);
        r.read(x, 1);
        r2.write(0, { 1, 2 });
        r3.write(0, { 3 });
        r3.read(s, 0);
        r.write((bit<32>)x, x);
    }
}
// ----
// two controls with same instance names
control i(inout bit<8> x) {
    apply { }
}
control a(inout bit<8> x) {
    i() i;
    apply {
        i.apply(x);
    }
}
control b(inout bit<8> x) {
    a() j;
    i() i;
    apply {
        j.apply(x);
        i.apply(x);
    }
}
// ----
// control named as package type parameter
control Ingress<H>(inout H h);
parser Parser<H>(packet_in p, out H h);
package Sw<H>(Parser<H> p, Ingress<H> Ingress);
struct H {
    bit<8> x;
}
parser MyP(packet_in p, out H h) {
    state start {
        transition accept;
    }
}
control I(inout H h) {
    apply { }
}
Sw(p = MyP(), Ingress = I()) main;
// ----
// explicit type args of package
control Ingress<H, M>(inout H h, M m);
package Sw<H, M>(Ingress<H, M> i);
struct H {
    bit<8> x;
}
control I(inout H h, bit<8> m) {
    apply { }
}
Sw<H, bit<8>>(I()) main;
// ----
// void type parameter
parser P<H>(packet_in b, out H h);
control C<T>(in T x);
extern E<T> {
    E();
}
// ----
// header methods
header H {
    bit<8> a;
}
header_union U {
    H x;
    H y;
}
control c(inout H h, inout H[3] st, inout U u, inout U[2] us) {
    apply {
        h.setValid();
        h.setInvalid();
        bool b = h.isValid();
        st.push_front(1);
        st.pop_front(2);
        st[1].setValid();
        b = u.isValid();
        b = u.x.isValid();
        u.x.setValid();
        us[0].y.setValid();
        us.push_front(1);
        bit<32> n = st.size;
        const bit<32> m = 3;
        st.pop_front(3);
        st[0] = st[1];
        st[m - 1] = h;
        if (us[1].isValid()) { }
        U v = u;
        u = us[1];
    }
}
// ----
// action data of many types
type bit<9> P;
enum bit<8> E { a = 1 }
control c(inout P p, inout E e, inout bool b, inout int<8> i) {
    action s(P x, E y, bool z, int<8> w) {
        p = x;
        e = y;
        b = z;
        i = w;
    }
    table t {
        key = {
            p: exact;
            e: exact;
            b: exact;
            i: exact;
        }
        actions = {
            s;
        }
        const entries = {
            ((P)1, E.a, true, -1): s((P)3, E.a, false, -1);
        }
    }
    apply {
        t.apply();
        s((P)3, E.a, true, 3);
    }
}
// ----
// @name on everything and names
@name("foo.bar") control c(inout bit<8> x) {
    @name(".a") action a() { }
    @name("b") action b() { }
    @name("t1.x") table t {
        actions = {
            a;
            b;
        }
    }
    apply {
        t.apply();
    }
}
// ----
// unused everything
header H {
    bit<8> a;
}
struct S {
    H h;
}
error { Unused }
const bit<8> u = 3;
typedef bit<8> T;
enum E { a }
extern X {
    X();
}
bit<8> f(in bit<8> x) {
    return 1;
}
control c(inout bit<8> x) {
    bit<8> y;
    action a() { }
    table t {
        actions = {
            a;
        }
    }
    X() z;
    apply { }
}
// ----
// uninitialised
control c(out bit<8> x, inout bit<8> y) {
    bit<8> z;
    action a(out bit<8> q) { }
    apply {
        y = z;
        a(y);
    }
}
bit<8> f(out bit<8> x) {
    return 3;
}
// ----
// comments and line ends 
/* multi line */
// c
/***/ const bit<8> a = /* inline */ 1;
// /* not */
const bit<8> b = 2;
/* // nested */ const string s = "/* no */ // \" \\ \n";
// ----
// concatenation of many
control c(inout bit<8> x, inout bit<24> y) {
    apply {
        y = x ++ x ++ 8w3;
        y = x ++ 16w1;
        bit<1> f = 1;
        x = f ++ 7w0;
        int<16> z = (int<16>)(x ++ x);
        z = 8s3 ++ x;
        y = (x ++ x) ++ x;
    }
}
// ----
// precedence
control c(inout bit<8> x, inout bool b) {
    apply {
        b = x & 1 == 1;
        b = x + 1 << 2 > 3;
        x = x + (bit<8>)x * 2;
        x = ~x[7:0];
        x = -(bit<8>)x;
        b = !b == true;
        x = b ? x : b ? 8w1 : 8w2;
        b = x > 1 && x < 3 || !b;
        x = x ++ 0w0;
    }
}
// ----
// entries and properties of which only an architecture knows whether they make sense
control C(inout bit<8> x) {
    table t {
        key = { x: exact; }
        actions = { NoAction; }
        implementation = x;
        entries = {
            1 &&& 3: NoAction();
        }
    }
    table u {
        key = { x: lpm; }
        actions = { NoAction; }
        entries = {
            1 &&& 3: NoAction();
            1 .. 2: NoAction();
        }
    }
    apply { }
}
// ----
// masks, shifts and sums of plain numbers
const int masked = 0xff & 0x0f | 1 ^ 2;
const bit<8> flags = (1 << 2) | (1 << 3);
// ----
// forward declarations of externs
extern Late;
extern Late {
    Late();
}
// ----
// annotations before statements and members
control c(inout bit<8> x) {
    apply @body {
        @here x = 1;
        @likely if (x == 1) @then {
            @unlikely exit;
        }
        @s switch (x) {
            1: @one { }
        }
    }
}
enum E { @first a, b }
