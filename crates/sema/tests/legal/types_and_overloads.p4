// Types, constants, generics, overloads, select and switch labels.
// ----
// widths zero and one
header H {
    bit<1> a;
    int<8> b;
}
struct S {
    bit<0> z;
    bit<8> x;
}
const int<1> one = -1;
const bit<0> none = 0;
// ----
// varbit zero width
header H {
    varbit<0> v;
    bit<8> x;
}
// ----
// defaults of type parameters
extern E<T> {
    E();
    void f(in T x);
}
extern void g<T>(in T x, in bit<8> y = 3);
control c() {
    E<bit<8>>() e;
    apply {
        e.f(3);
        g(8w3);
        g<bit<4>>(x = 3, y = 5);
    }
}
// ----
// result type inferred from assignment
extern T rnd<T>();
extern T get<T>(in bit<8> x);
control c(inout bit<8> x) {
    apply {
        x = get<bit<8>>(3);
    }
}
// ----
// nocore: own core
error { NoError, Foo }
extern packet_in {
    void extract<T>(out T h);
}
match_kind { exact, ternary }
extern packet_out {
    void emit<T>(in T h);
}
action NoAction() { }
header H {
    bit<8> x;
}
parser p(packet_in b, out H h) {
    state start {
        b.extract(h);
        transition accept;
    }
}
control c(inout H h) {
    action a() { }
    table t {
        key = {
            h.x: exact;
        }
        actions = {
            a;
        }
        default_action = a;
    }
    apply {
        t.apply();
    }
}
// ----
// nocore: no core at all
control c(inout bit<32> x) {
    apply {
        x = x + 1;
    }
}
control proto(inout bit<32> x);
package top(proto p);
top(c()) main;
// ----
// generic parser and control types with package
parser P<H, M>(packet_in p, out H h, inout M m);
control C<H, M>(inout H h, inout M m);
control D<H>(packet_out p, in H h);
package Sw<H, M>(P<H, M> p, C<H, M> c, D<H> d);
struct hdrs { }
struct meta { }
parser prs(packet_in p, out hdrs h, inout meta m) {
    state start {
        transition accept;
    }
}
control ctl(inout hdrs h, inout meta m) {
    apply { }
}
control dep(packet_out p, in hdrs h) {
    apply { }
}
Sw(prs(), ctl(), dep()) main;
// ----
// generic controls and partial inference
control G<T>(inout T x);
control ctl(inout bit<8> x) {
    apply { }
}
package Pk<T, U>(G<T> g, @optional G<U> u);
Pk<_, bit<8>>(ctl(), ctl()) a;
Pk<bit<8>, _>(ctl(), ctl()) main;
// ----
// optional parameter of package left out
control G<T>(inout T x);
control ctl(inout bit<8> x) {
    apply { }
}
package Pk<T>(G<T> g, @optional G<T> u);
Pk(ctl()) main;
// ----
// overloaded externs
extern void f(in bit<8> a);
extern void f(in bit<8> a, in bit<8> b);
extern bit<8> h(in bit<8> x);
extern bit<8> h(in bit<8> y, in bit<8> z);
extern X {
    X();
    X(bit<8> n);
    void m();
    void m(in bit<8> a);
    bit<8> m(in bit<8> a, in bit<8> b);
}
control c() {
    X() x;
    X(3) y;
    apply {
        f(1);
        f(1, 2);
        f(b = 1, a = 2);
        x.m();
        y.m(3);
        bit<8> q = x.m(a = 1, b = 2);
    }
}
// ----
// overloaded functions
bit<8> f(in bit<8> a) {
    return a;
}
bit<8> f(in bit<8> a, in bit<8> b) {
    return a + b;
}
control c(inout bit<8> x) {
    apply {
        x = f(x);
        x = f(x, 1);
    }
}
// ----
// overloaded by names of params
extern void f(in bit<8> a);
extern void f(in bit<8> b);
control c() {
    apply {
        f(a = 3);
        f(b = 4);
    }
}
// ----
// overloaded with optional params
extern void f(in bit<8> a, @optional in bit<8> b);
extern void f(in bit<8> c, in bit<8> d, in bit<8> e);
control c() {
    apply {
        f(1);
        f(1, 2);
        f(1, 2, 3);
        f(a = 1);
        f(b = 2, a = 1);
    }
}
// ----
// constructor parameters
control inner(inout bit<8> x)(bit<8> k, bool b) {
    apply {
        if (b) {
            x = x + k;
        }
    }
}
parser sub(packet_in p, out bit<8> y)(bit<8> k) {
    state start {
        y = k;
        transition accept;
    }
}
control outer(inout bit<8> x) {
    inner(3, true) i;
    inner(b = false, k = 2) j;
    apply {
        i.apply(x);
        j.apply(x);
    }
}
parser top(packet_in p, out bit<8> y) {
    sub(3) s;
    sub(k = 4) t;
    state start {
        s.apply(p, y);
        t.apply(p, y);
        transition accept;
    }
}
// ----
// types of controls with an optional parameter, which a control may lack
control shape(inout bit<8> x, @optional in bit<8> y);
package Two(shape a, shape b);
control short(inout bit<8> x) {
    apply { }
}
control long(inout bit<8> x, in bit<8> y) {
    apply { }
}
Two(short(), long()) main;
// ----
// nested generics and shifts
struct S<T> {
    T x;
}
struct P<A, B> {
    A a;
    B b;
}
const S<S<bit<8>>> s = { x = { x = 3 } };
const P<S<bit<8>>, S<S<int<4>>>> p = { a = { 3 }, b = { { 4 } } };
header H<T> {
    T x;
}
header_union U<T> {
    H<T> a;
    H<bit<16>> b;
}
struct St {
    H<bit<8>>[3] st;
    U<bit<32>> u;
}
// ----
// type, typedef, newtype
@p4runtime_translation("org.p4/x", 32) type bit<9> Port_t;
@p4runtime_translation("org.p4/x", string) type bit<9> Port2_t;
typedef Port_t P3;
type P3 P4;
type bool Flag;
const Port_t zero = (Port_t)0;
const Port_t bits = (Port_t)(bit<9>)5;
struct M {
    Port_t p;
    P4 q;
    Flag f;
}
control c(inout M m) {
    apply {
        if (m.p == (Port_t)3) {
            m.q = (P4)m.p;
        }
        bit<9> x = (bit<9>)m.p;
        if ((bool)m.f) { }
        m.f = (Flag)true;
    }
}
// ----
// enums over types
typedef bit<8> B8;
enum B8 E1 { a = 1, b = 2, c = 2 }
enum int<8> E2 { a = -1, b = 127 }
type bit<4> N4;
enum bit<16> E3 { a = 0x0800, b = (1 << 4) + 3, }
enum E4 { x, y, }
header H {
    E1 e;
    E3 f;
}
control c(inout H h) {
    apply {
        h.e = E1.a;
        h.e = (E1)8w3;
        bit<8> v = h.e;
        v = (bit<8>)E1.b;
        if (h.e == E1.a) { }
        h.f = (E3)(bit<16>)1;
        h.e = (E1)(bit<8>)h.f;
        v = E1.a + 1;
        v = (B8)h.e;
        bit<16> w = (bit<16>)h.f;
    }
}
// ----
// errors and match kinds many
error { A, B }
error { C, }
error { D }
match_kind { foo, bar, }
match_kind { baz }
control c(inout error e) {
    apply {
        e = error.A;
        if (e == error.PacketTooShort) {
            e = error.D;
        }
    }
}
// ----
// constants of all types
struct S {
    bit<8> a;
    bool b;
}
const S s1 = { 1, true };
const S s2 = { a = 1, b = true };
const S s3 = (S){ 1, true };
const tuple<bit<8>, bool> t1 = { 1, true };
const list<bit<8>> l1 = { 1, 2, 3 };
const list<tuple<bit<8>, bit<8>>> l2 = { {1, 2}, {3, 4} };
const list<S> l3 = (list<S>){ {1, true}, {2, false} };
const string str = "abc" ++ "def";
const error err = error.NoError;
const bit<8> a = (bit<8>) 5w3;
const int b = -5;
const int cq = 17 % 5 + 17 / 5 - (3 << 4) * 2;
const bit<16> d = 8w1 ++ 8w2;
const bool e = 3 < 4 && !(5 == 6) || 8w3 >= 2;
const bit<8> f = true ? 8w1 : 8w2;
const bit<8> g = s1.a + t1[0];
const bit<4> h = a[3:0];
const int i = (int) 8w5;
const bit<8> j = 1 << 3;
const bit<4> k = 4w0b1010 & 4w0xF | ~4w3 ^ 4w1;
const int<8> m = -8s3;
const bit<32> n = 32w0xdead_beef;
const int o = 0o17 + 0b11 + 0xFF + 0d99;
const bit<8> p = 8w255 |+| 8w1;
// ----
// tuple operations
control c(inout bit<8> x, inout bool y) {
    apply {
        tuple<bit<8>, bool> t = { x, y };
        x = t[0];
        y = t[1];
        if (t == { 1, true }) { }
        tuple<bit<8>, bool> u;
        u = t;
        if (t == u) { }
        tuple<> e = {};
    }
}
// ----
// struct expressions
struct S {
    bit<8> a;
    bit<16> b;
}
header H {
    bit<8> a;
    bit<16> b;
}
header G {
    bit<8> z;
}
header_union U {
    H h;
    G g;
}
struct Hs {
    H h;
    H[2] st;
    U u;
}
control c(inout Hs hs, inout S s) {
    apply {
        s = { 1, 2 };
        s = { a = 1, b = 2 };
        s = (S){ b = 1, a = 2 };
        hs.h = { 1, 2 };
        hs.h = (H){ 1, 2 };
        hs.h = (H){#};
        hs.h = {#};
        hs.st = { { 1, 2 }, { 3, 4 } };
        hs.st = (H[2]){ {1, 2}, {3, 4} };
        hs.u.h = { 1, 2 };
        hs.u = (U){#};
        hs.u = {#};
        S t = { ... };
        t = { a = 3, ... };
        hs.h = { 1, ... };
        hs.st = { ... };
        bit<8> z = ...;
        H hh = ...;
        if (hs.h == { 1, 2 }) { }
        if (s == (S){1, 2}) { }
        if (hs.h == hs.st[0]) { }
        Hs other = hs;
        if (hs.st == other.st) { }
        if (hs.u == other.u) { }
        if (hs == other) { }
    }
}
// ----
// select labels
header H {
    bit<8> a;
    bit<16> b;
    bool c;
}
enum bit<8> E { x = 1, y = 2 }
enum F { p, q }
type bit<8> N;
parser p(packet_in b, out H h, inout E e, inout F f, inout error er, inout N n) {
    value_set<bit<8>>(4) vs;
    value_set<tuple<bit<8>, bit<16>>>(4) vt;
    state start {
        b.extract(h);
        transition select(h.a) {
            1: s1;
            2 .. 4: s1;
            5 &&& 7: s2;
            8w9: s2;
            vs: s3;
            _: s4;
        }
    }
    state s1 {
        transition select(h.a, h.b) {
            (1, 2): s2;
            (1 .. 2, _): s2;
            (3 &&& 3, default): s3;
            vt: s4;
            default: reject;
        }
    }
    state s2 {
        transition select(h.c) {
            true: s3;
            false: s4;
        }
    }
    state s3 {
        transition select(e) {
            E.x: s4;
            E.y: accept;
            default: reject;
        }
    }
    state s4 {
        transition select(er) {
            error.NoError: s5;
            default: reject;
        }
    }
    state s5 {
        transition select(f) {
            F.p: s6;
            _: reject;
        }
    }
    state s6 {
        transition select(h.a ++ h.b, 1w0) {
            (24w1, _): s7;
            (_, 1): accept;
            _: reject;
        }
    }
    state s7 {
        transition select(n) {
            (N)3: accept;
            default: s8;
        }
    }
    state s8 {
        transition select({h.a, h.b}) {
            default: s9;
        }
    }
    state s9 {
        transition select(h.a) {
            (1): s10;
            (2 .. 3): s10;
            (_): accept;
        }
    }
    state s10 {
        transition select(b.lookahead<bit<8>>()) {
            0: accept;
        }
    }
}
// ----
// switch forms
enum E { a, b, c }
enum bit<8> S { a = 1, b = 2 }
control c(inout bit<8> x, inout E e, inout S s, inout error r) {
    action a1() { }
    action a2() { }
    table t {
        actions = {
            a1;
            a2;
            NoAction;
        }
        default_action = a1;
    }
    apply {
        switch (t.apply().action_run) {
            a1: {
                x = 1;
            }
            a2: default: {
                x = 2;
            }
        }
        switch (t.apply().action_run) {
            a1: a2: {
                x = 1;
            }
            default: { }
        }
        switch (t.apply().action_run) {
            a1:
        }
        switch (x) {
            1: {
                x = 2;
            }
            2: 3: {
                x = 1;
            }
            default: { }
        }
        switch (x) {
            8w1: 8w2: { }
        }
        switch (e) {
            E.a: {
                x = 1;
            }
            E.b: E.c: {
                x = 2;
            }
        }
        switch (s) {
            S.a: { }
            S.b: { }
            default: { }
        }
        switch (r) {
            error.NoError: { }
            default: {
                x = 0;
            }
        }
        switch (x + 1) {
            4: { }
        }
        switch (x) { }
    }
}
