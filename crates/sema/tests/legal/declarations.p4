// Declarations, tables, statements, names and annotations in all their forms.
// ----
// abstract methods with bodies
extern Virtual {
    Virtual();
    abstract bit<16> f(in bit<16> ix);
    abstract void g(inout bit<16> x);
    void run();
}
struct data {
    bit<16> a;
}
control c(inout bit<16> p) {
    bit<16> local;
    Virtual() cntr = {
        bit<16> f(in bit<16> ix) {
            return ix + local + p;
        }
        void g(inout bit<16> x) {
            x = x + 1;
        }
    };
    apply {
        local = 4;
        p = cntr.f(6);
        cntr.run();
        cntr.g(p);
    }
}
// ----
// abstract with this and state
extern State {
    State(int<16> size);
    bit<16> get(in bit<16> index);
}
extern Virtual {
    Virtual();
    bit<16> run(in bit<16> ix);
    @synchronous(run) abstract bit<16> f(in bit<16> ix);
}
control c(inout bit<16> p) {
    Virtual() cntr = {
        State(16s1024) state;
        bit<16> f(in bit<16> ix) {
            return state.get(ix);
        }
    };
    Virtual() other = {
        bit<16> f(in bit<16> ix) {
            if (ix < 2) {
                return 1;
            }
            return this.run(ix);
        }
    };
    apply {
        p = cntr.run(6);
        p = other.run(1);
    }
}
// ----
// generic abstract
extern Reg<T> {
    Reg();
    T read(in bit<32> i);
}
extern RA<T, U> {
    RA(Reg<T> r);
    abstract void apply(inout T v, @optional out U rv);
    U execute(in bit<32> i);
}
control c(inout bit<8> x) {
    Reg<bit<8>>() r;
    RA<bit<8>, bit<16>>(r) ra = {
        void apply(inout bit<8> v, out bit<16> rv) {
            v = v + 1;
            rv = 3;
        }
    };
    RA<_, bit<16>>(r) rb = {
        void apply(inout bit<8> v, out bit<16> rv) {
            rv = (bit<16>)v;
        }
    };
    RA<bit<8>, bit<16>>(r) rc = {
        void apply(inout bit<8> v) {
            v = 3;
        }
    };
    apply {
        bit<16> y = ra.execute(1);
    }
}
// ----
// parser and control as constructor parameter
control simple(inout bit<8> x);
control s1(inout bit<8> x) {
    apply { }
}
control outer(inout bit<8> x)(simple s, bit<8> n) {
    apply {
        s.apply(x);
    }
}
package top(simple s);
top(outer(s1(), 3)) main;
// ----
// parser taking a parser
parser simple(packet_in b, out bit<8> x);
parser p0(packet_in b, out bit<8> x) {
    state start {
        x = 1;
        transition accept;
    }
}
parser p(packet_in b, out bit<8> x)(simple s) {
    state start {
        s.apply(b, x);
        transition accept;
    }
}
package top(simple s);
top(p(p0())) main;
// ----
// extern as constructor parameter
extern Ex {
    Ex();
    bit<8> f();
}
control inner(inout bit<8> x)(Ex e) {
    apply {
        x = e.f();
    }
}
control outer(inout bit<8> x) {
    Ex() ex;
    inner(ex) i;
    inner(Ex()) j;
    apply {
        i.apply(x);
        j.apply(x);
    }
}
// ----
// extern as apply parameter
extern Ex {
    Ex();
    bit<8> f();
}
control inner(inout bit<8> x, Ex e) {
    apply {
        x = e.f();
    }
}
control outer(inout bit<8> x) {
    Ex() ex;
    inner() i;
    apply {
        i.apply(x, ex);
    }
}
// ----
// arrays of any type
typedef bit<8>[4] Arr;
struct S {
    bit<8>[2] a;
    bool[3] b;
    tuple<bit<8>, bool>[2] t;
}
control c(inout S s, inout bit<8> i) {
    Arr x;
    bit<8>[2][3] m;
    apply {
        x[0] = 3;
        x[i] = x[1];
        s.a = { 1, 2 };
        x = { 1, 2, 3, 4 };
        m[0][1] = 2;
        if (s.b[2]) { }
        for (bit<8> e in x) {
            i = i + e;
        }
        bit<32> n = x.size;
    }
}
// ----
// statements
control c(inout bit<8> x) {
    action a() {
        return;
    }
    action b(in bit<8> y) {
        if (y == 3) {
            exit;
        }
    }
    apply {
        ;
        { }
        {
            bit<8> x2;
            x2 = 1;
        }
        if (x == 1) ;
        else ;
        if (x == 1) x = 2;
        else if (x == 2) { } else x = 4;
        a();
        b(x);
        b(3);
        return;
        exit;
    }
}
// ----
// declarations inside apply
extern Ex {
    Ex();
    bit<8> f();
}
control inner(inout bit<8> x) {
    apply { }
}
control c(inout bit<8> x) {
    Ex() e;
    inner() i;
    apply {
        const bit<8> k = 3;
        x = e.f() + k;
        i.apply(x);
        if (x == 1) {
            const bit<8> m = 4;
            x = m;
        }
    }
}
// ----
// direct application
control inner(inout bit<8> x) {
    apply { }
}
parser sub(packet_in p, out bit<8> x) {
    state start {
        x = 1;
        transition accept;
    }
}
control c(inout bit<8> x) {
    apply {
        inner.apply(x);
    }
}
parser pp(packet_in p, out bit<8> x) {
    state start {
        sub.apply(p, x);
        transition accept;
    }
}
// ----
// functions
void v(inout bit<8> x) {
    x = 1;
}
bit<8> m(in bit<8> a, in bit<8> b) {
    if (a > b) return a;
    return b;
}
T gf<T>(in T x) {
    return x;
}
bool bf(in bit<8> x) {
    bool b = x == 3;
    return b ? false : true;
}
tuple<bit<8>, bool> tf() {
    return { 1, true };
}
struct S {
    bit<8> a;
}
S sf() {
    return { 3 };
}
S sg() {
    return { a = 3 };
}
error ef() {
    return error.NoError;
}
control c(inout bit<8> x) {
    apply {
        v(x);
        x = m(x, 3);
        x = gf(x);
        x = gf<bit<8>>(3);
        bool q = bf(x);
        x = tf()[0];
        x = sf().a;
        m(1, 2);
    }
}
// ----
// strings to externs
extern void log(string s);
extern void logf<T>(string s, in T d);
control c(inout bit<8> x) {
    apply {
        log("a" ++ "b");
        logf("x {}", { x, 8w3 });
        logf("y", x);
        logf("z", {});
    }
}
// ----
// packet calls
header H {
    bit<8> a;
}
header V {
    bit<8> l;
    varbit<64> v;
}
struct Hs {
    H h;
    V v;
    H[3] st;
}
parser p(packet_in b, out Hs hs, inout bit<32> n) {
    state start {
        b.extract(hs.h);
        b.extract<H>(_);
        b.extract(hs.v, (bit<32>)hs.h.a * 8);
        b.extract(hs.st.next);
        b.extract(hs.st[2]);
        transition next;
    }
    state next {
        n = b.length();
        b.advance(8);
        b.advance(n);
        H h = b.lookahead<H>();
        bit<8> v = b.lookahead<bit<8>>();
        tuple<bit<8>, bit<4>> t = b.lookahead<tuple<bit<8>, bit<4>>>();
        verify(n == 3, error.NoMatch);
        n = hs.st.lastIndex;
        n = hs.st.size;
        v = hs.st.last.a;
        hs.h.setValid();
        hs.st.push_front(1);
        transition select(b.lookahead<H>().a) {
            1: accept;
            _: reject;
        }
    }
}
control d(packet_out p, in Hs hs) {
    apply {
        p.emit(hs.h);
        p.emit(hs);
        p.emit(hs.st);
        p.emit<H>(hs.st[0]);
        p.emit({ hs.h, hs.v });
    }
}
// ----
// expressions in types
const bit<32> W = 8;
const int N = 3;
typedef bit<(W)> T1;
typedef bit<(N + 5)> T2;
typedef bit<(1 << 3)> T3;
typedef int<(N)> T4;
header H {
    bit<(W * 2)> a;
    bit<(N)> b;
    int<5> c;
}
struct S {
    H[N + 1] st;
    H[W] st2;
}
extern E {
    E();
}
// ----
// sizes
header H {
    bit<8> a;
    bit<16> b;
    varbit<32> v;
}
struct S {
    H h;
    bit<5> x;
}
const int n1 = H.minSizeInBits();
control c(inout H h, inout S s) {
    apply {
        bit<32> n = (bit<32>)h.minSizeInBits();
        n = h.maxSizeInBytes();
        n = s.minSizeInBytes();
        n = s.h.maxSizeInBits();
        const int k = h.minSizeInBytes();
        n = (bit<32>)S.maxSizeInBits();
    }
}
// ----
// struct expression without type as a generic argument
extern void f<T>(in T x);
struct S {
    bit<8> a;
    bool b;
}
control c(inout bit<8> x) {
    apply {
        f({ x, 8w3 });
        f({ a = x, b = true });
        f<S>({ a = x, b = true });
        f<S>({x, true});
        f((S){x, true});
        f({ { x }, { b = x } });
        f<tuple<bit<8>, bit<8>>>({x, 1});
    }
}
// ----
// slices
control c(inout bit<32> x, inout bit<8> y, inout int<16> z) {
    apply {
        x[7:0] = y;
        y = x[15:8];
        y[3:0] = x[31:24][7:4];
        y = (x ++ y)[7:0];
        y[0:0] = 1;
        y = 32w5[7:0];
        x[7:4] = 4w3;
        y = z[7:0];
        y[7:7] = x[0:0];
        y = x[3 + 4:0];
        x[8 +: 8] = y;
        y = x[y +: 8];
        z[7:0] = 8w3;
        bit<4> q = (bit<4>)x[3:0];
    }
}
// ----
// shifts
control c(inout bit<32> x, inout bit<8> y, inout int<16> z) {
    apply {
        x = x << 3;
        x = x << y;
        x = x >> 8w2;
        z = z >> y;
        z = z << 3;
        x = 32w1 << y;
        x = x << (y + 1);
        x = x >> 32;
        y = y << 9;
        const int k = 1 << 20;
        x = x << k;
        x = 1 << 3;
    }
}
// ----
// operators
control c(inout bit<8> x, inout int<8> i, inout bool b) {
    apply {
        x = -x;
        x = +x;
        x = ~x;
        b = !b;
        x = x + 1 - 2 * 3;
        x = x & 1 | 2 ^ 3;
        b = x == 1 && i > 2 || x != 3;
        b = b == true;
        b = b != (x > 3);
        x = b ? x : 2;
        x = b ? 1 : x;
        i = i |+| 1;
        i = i |-| i;
        i = -i;
        b = i <= -3;
        x = (bit<8>)i;
        i = (int<8>)x;
        bit<1> o = (bit<1>)b;
        b = (bool)o;
        x = (bit<8>)(b ? 8w1 : 8w2);
        x = x / 2;
        x = x % 3;
        x = 8w10 / 8w3;
        x *= 2;
        x += x;
        x -= 1;
        x |= 1;
        x &= 3;
        x ^= 2;
        x <<= 1;
        x >>= 2;
        x |+|= 3;
        x |-|= 1;
        x /= 2;
        x %= 2;
    }
}
// ----
// table forms
header H {
    bit<8> a;
    bit<16> b;
}
extern Impl {
    Impl(bit<32> n);
}
enum K { x, y }
control c(inout H h, inout bit<8> m) {
    action a1(in bit<8> x, bit<8> d) { }
    action a2() { }
    action a3(inout bit<8> x) { }
    action a4(bit<8> p, bit<16> q) { }
    Impl(3) im;
    table t {
        key = {
            h.a: exact @name("x");
            h.isValid(): exact;
            h.b & 0xff: ternary;
            h.b[7:0]: lpm @foo;
            (bit<4>)h.a: exact @name("cast");
            m == 3 ? 8w1 : 8w2: exact @name("chosen");
        }
        actions = {
            a1(m);
            @defaultonly a2;
            a3(m);
            a4;
            @tableonly .NoAction;
        }
        const default_action = a4(1, 2);
        size = 10 * 2;
        implementation = im;
        foo = true;
        bar = "str";
        baz = { 1, 2 };
        qux = K.x;
        im2 = Impl(4);
        @name("z") quux = 3;
    }
    table t2 {
        key = { }
        actions = { }
    }
    table t3 {
        key = {
            h.a: exact;
            h.b: ternary;
        }
        actions = {
            a4;
            a2;
        }
        default_action = a2();
        const entries = {
            (1, 2 &&& 3): a4(1, 2);
            (2, _): a2;
            (3, default): a2() @name("x");
            (4, 16w4): a4(p = 1, q = 2);
        }
    }
    table t4 {
        actions = {
            a2;
        }
        default_action = a2;
        key = {
            h.a: exact;
        }
    }
    table t5 {
        key = {
            h.a: ternary;
        }
        actions = {
            a2;
            a4;
        }
        entries = {
            const priority = 1: 1: a2;
            2: a4(1, 2);
            priority = 3: 4: a2();
            const priority = 10: (5): a2;
        }
        size = 3;
    }
    table t6 {
        key = {
            h.a: ternary;
        }
        actions = {
            a2;
            a4;
        }
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            const priority = 20: 4 &&& 4: a2();
            _: a4(1, 2);
        }
    }
    table t7 {
        key = {
            h.a: exact;
        }
        actions = {
            a1(5);
            a3(h.a);
        }
        default_action = a1(5, 6);
    }
    apply {
        t.apply();
        if (t2.apply().hit) {
            t3.apply();
        } else if (!t4.apply().miss) { }
        t5.apply();
        t6.apply();
        t7.apply();
        bool b = t5.apply().hit;
    }
}
// ----
// arguments
extern void f(out bit<8> x, in bit<8> y);
extern void g(in bit<8> a = 1, in bit<8> b = 2);
extern E {
    E(bit<8> n = 3);
    void m(in bit<8> a, @optional out bit<8> b);
}
control c(inout bit<8> q) {
    E() e;
    E(n = 4) e2;
    apply {
        f(_, 1);
        f(x = _, y = 2);
        f(y = 2, x = q);
        g();
        g(b = 3);
        g(4);
        e.m(1);
        e.m(1, q);
        e.m(b = q, a = 2);
    }
}
// ----
// typedef of specialised extern
extern E<T> {
    E(T x);
    T get();
}
typedef E<bit<8>> EB;
control c(inout bit<8> x) {
    EB(3) e;
    E<_>(8w3) g;
    E(8w4) k;
    apply {
        x = e.get() + g.get() + k.get();
    }
}
// ----
// control type as package parameter
control C(in bit<8> x);
control c(in bit<8> x) {
    apply { }
}
package Top<T>(T t, C k, bit<8> n = 3);
Top(c(), c()) main;
// ----
// packages inside packages
control C<T>(inout T x);
control c(inout bit<8> x) {
    apply { }
}
extern Pre {
    Pre();
}
package Pipe<T>(C<T> a, C<T> b);
package Sw<T>(Pipe<T> p, Pre pre, Pipe<T> q);
Pipe(c(), c()) p1;
Pipe(c(), c()) p2;
Sw(p1, Pre(), p2) main;
// ----
// semicolons
struct S {
    bit<8> x;
};
header H { };
enum E { a };
;
;
struct T { };
error { X };
match_kind { q };
extern void f(in bit<8> x);
;
control c() {
    apply {
        ;
    }
};
// ----
// annotations everywhere
@a @b(1, "x", foo) @c[x=1, y="z"] @d[1, 2, 3] @e() @f[] @g(any { tokens [ ] } + - 0x12 ;) struct S {
    @x bit<8> a;
    @y("q") @z bit<8> b;
}
@h extern E {
    @i E(@j bit<8> n);
    @k void m(@l in bit<8> x);
    @m abstract void q();
}
@n parser p(@o packet_in b, @p out S s) {
    @q value_set<bit<8>>(3) vs;
    @r bit<8> v = 1;
    @s const bit<8> k = 3;
    @t state start {
        @u bit<8> z;
        @w {
            z = 1;
        }
        transition accept;
    }
}
@v control c(@w1 inout S s) {
    @x1 action a(@y1 bit<8> n) { }
    @z1 table t {
        @a1 key = {
            s.a: exact @b1 @c1(3);
        }
        @d1 actions = {
            @e1 a;
            @f1 NoAction;
        }
        @g1 size = 3;
        @h1 const default_action = NoAction();
    }
    apply @i1 {
        @j1 {
            t.apply();
        }
    }
}
@k1 enum X { @l1 a, @m1("s") b }
@n1 typedef bit<8> T;
@o1 type bit<8> U;
@p1 const bit<8> c2 = 3;
@q1 bit<8> fn(@r1 in bit<8> x) {
    return x;
}
@s1 package P(@t1 bit<8> n);
@u1 P(3) main;
@v1 error { Z }
@w2 match_kind { mm }
@x2 extern void ef(@y2 in bit<8> x);
@z2 control ct(inout bit<8> x);
@a3 header HH {
    @b3 bit<8> x;
}
@c3 header_union UU {
    @d3 HH h;
}
// ----
// keywords as names
control c(inout bit<8> key, inout bit<8> actions) {
    bit<8> state = 1;
    bit<8> entries;
    bit<8> type = 3;
    bit<8> priority;
    bit<8> list = 1;
    action apply1() {
        key = actions + state;
    }
    apply {
        entries = type;
        priority = list;
    }
}
struct S {
    bit<8> key;
    bit<8> actions;
    bit<8> state;
    bit<8> apply;
    bit<8> type;
    bit<8> entries;
    bit<8> priority;
    bit<8> list;
    bit<8> size;
    bit<8> hit;
    bit<8> default_action;
    bit<8> counters;
    bit<8> pragma;
}
control d(inout S s) {
    apply {
        s.key = s.apply;
        s.type = s.state;
        s.entries = s.priority + s.list;
    }
}
parser p(packet_in b) {
    state key {
        transition type;
    }
    state start {
        transition key;
    }
    state type {
        transition apply;
    }
    state apply {
        transition accept;
    }
}
// ----
// underscores and names
const bit<8> _a = 1;
const bit<8> __b = 2;
const bit<8> _ab_ = _a + __b;
const bit<8> A1_b2 = 3;
control _c(inout bit<8> _x) {
    apply {
        _x = _a;
    }
}
// ----
// variables named as their types
header tcp {
    bit<8> x;
}
struct headers {
    tcp tcp;
    tcp[2] tcps;
}
control ingress(inout headers headers) {
    apply {
        headers.tcp.x = 1;
    }
}
struct ingress_t {
    bit<8> q;
}
control k(inout ingress_t ingress_t) {
    apply {
        ingress_t.q = 1;
    }
}
// ----
// shadowing
const bit<8> x = 1;
control c(inout bit<8> x) {
    bit<8> y = 2;
    action a(bit<8> y) {
        bit<8> x = y;
    }
    table t {
        actions = {
            a;
        }
        default_action = a(1);
    }
    apply {
        bit<8> y = 3;
        {
            bit<8> y = 4;
            x = y;
        }
        t.apply();
    }
}
// ----
// global names with a dot
const bit<8> k = 1;
action act(inout bit<8> x) {
    x = .k;
}
typedef bit<8> T;
control c(inout .T x) {
    .T k = 3;
    action act2() { }
    table t {
        actions = {
            .act(x);
            act2;
            .NoAction;
        }
        default_action = .NoAction;
    }
    apply {
        x = .k;
        .act(x);
        t.apply();
    }
}
// ----
// compile time parameter uses
control inner(inout bit<8> x)(bit<32> n, bool flag, error e) {
    bit<8>[4] arr;
    apply {
        if (flag) {
            x = (bit<8>)n;
        }
        if (e == error.NoError) { }
    }
}
control c(inout bit<8> x) {
    inner(4, 3 > 2, error.NoMatch) i;
    apply {
        i.apply(x);
    }
}
// ----
// for loops
control c(inout bit<8> x) {
    apply {
        for (bit<8> i = 0; i < 4; i = i + 1) {
            x = x + i;
            if (x == 3) {
                break;
            }
            if (x == 4) continue;
        }
        for (bit<8> i in 1 .. 5) {
            x = i;
        }
        for (bit<8> i = 0, bit<8> j = 1; i < j; i += 1, j -= 1) {
            x = j;
        }
        for (;x < 3;) {
            x += 1;
        }
        bit<8> k;
        for (k = 0; k < 3; k = k + 1) x = k;
        for (bit<8> e in (list<bit<8>>){1, 2}) {
            x = e;
        }
    }
}
// ----
// invalid header and ternary
header H {
    bit<8> x;
}
struct S {
    H h;
}
control c(inout H h, inout S s, inout bool b) {
    apply {
        h = {#};
        s = { {#} };
        s = { h = {#} };
        h = b ? h : s.h;
        s.h = (H){#};
        if (h == {#}) { }
    }
}
// ----
// list type parameters
extern E<T> {
    E(list<T> l);
}
extern F {
    F(list<tuple<bit<8>, bit<8>>> l);
}
extern void g(list<bit<8>> l);
struct pair {
    bit<8> a;
    bit<8> b;
}
E<pair>({ {1, 2}, {3, 4} }) e1;
E<bit<8>>({1, 2, 3}) e2;
F({ {1, 2} }) f1;
E<tuple<bit<8>, bit<8>>>((list<tuple<bit<8>, bit<8>>>){ {1, 2} }) e3;
const list<pair> cp = { { 1, 2 }, { a = 1, b = 2 } };
// ----
// a default action before the keys
control c(in bit<8> a, inout bit<8> b) {
    action set(inout bit<8> x, bit<8> y) {
        x = y;
    }
    table t {
        actions = { set(b); }
        default_action = set(b, 3);
        key = { a : exact; }
    }
    table u {
        actions = { NoAction; }
        const default_action = NoAction();
        key = { a : exact; }
    }
    apply {
        t.apply();
        u.apply();
    }
}
