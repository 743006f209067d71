// Architectures of the program's own, keywords as names, statements, casts, keysets, functions, externs, constants.
// ----
// overloaded packages
control proto(inout bit<8> x);
package top(proto p);
package top(proto p1, proto p2);
control c(inout bit<8> x) { apply { } }
top(c(), c()) main;
// ----
// control parameter and table of the same name
control c(inout bit<16> x) {
    action incx() { x = x + 1; }
    action nop() { }
    table x { actions = { incx; nop; } }
    apply { x.apply(); }
}
// ----
// own architecture with own match kinds, own properties and own error
error { MyError, Other }
match_kind { range, longest, fuzzy, optional }
struct meta_in { bit<9> port; }
struct meta_out { bit<9> port; bit<1> drop; }
enum Kind { packets, bytes }
extern Cnt<I> { Cnt(bit<32> n, Kind k); void add(in I i); @synchronous(add) abstract bit<8> f(in bit<8> x); }
extern Impl { Impl(bit<32> size); }
parser Pp<H, M>(packet_in p, out H h, inout M m, in meta_in i);
control Ic<H, M>(inout H h, inout M m, in meta_in i, out meta_out o);
@deparser control Dp<H, M>(packet_out p, in H h, in M m);
package MySwitch<H, M>(Pp<H, M> parser_, Ic<H, M> ingress, Dp<H, M> deparser, @optional Ic<H, M> egress, int ports = 8);
header Eth { bit<48> dst; bit<48> src; bit<16> type; }
struct H { Eth eth; }
struct M { bit<8> key; bit<8> actions; bit<8> entries; bit<8> state; bit<8> apply; bit<8> type; bit<8> priority; bit<8> list; }
parser prs(packet_in p, out H h, inout M m, in meta_in i) {
    state start { p.extract(h.eth); transition select(h.eth.type) { 0x800 .. 0x900: accept; 0x700 &&& 0xf00: next; default: reject; } }
    state next { verify(m.key == 3, error.MyError); transition accept; }
}
control ing(inout H h, inout M m, in meta_in i, out meta_out o) {
    Cnt<bit<9>>(512, Kind.bytes) cnt = { bit<8> f(in bit<8> x) { return x + m.key; } };
    action set(bit<9> p) { o.port = p; cnt.add(p); }
    table t {
        key = { h.eth.dst : longest; h.eth.src[7:0] : fuzzy @name("low"); m.key : range; m.list : optional; i.port : exact; h.eth.isValid() : exact; }
        actions = { set; NoAction; }
        implementation = Impl(128);
        counters = cnt;
        idle_timeout = true;
        names = "abc";
        const size = 3;
        size2 = 10w3;
    }
    apply { o = { 0, 0 }; t.apply(); }
}
control dep(packet_out p, in H h, in M m) { apply { p.emit(h.eth); p.emit(h); } }
MySwitch(parser_ = prs(), ingress = ing(), deparser = dep(), ports = 16) main;
// ----
// keywords as names in all places
struct key { bit<8> key; }
header state { bit<8> state; }
enum actions { key, actions, state, entries, apply, type, priority, list }
extern bit<8> apply(in bit<8> key);
control entries(inout bit<8> type, inout key priority, inout state list) {
    bit<8> apply = 3;
    action state() { type = 3; }
    action list2(bit<8> key) { type = key; }
    table key { key = { type : exact @name("key"); } actions = { state; list2; } default_action = state; }
    apply { key.apply(); type = apply; priority.key = 1; list.state = 3; actions a = actions.key; }
}
parser type(packet_in key, out state state) {
    state start { key.extract(state); transition select(state.state) { 0: apply; 1: entries; default: accept; } }
    state apply { transition accept; }
    state entries { transition key2; }
    state key2 { transition accept; }
}
const bit<8> list = 3;
const bit<8> priority = list + 1;
// ----
// statements in odd forms
control c(inout bit<8> x, inout bool b) {

    bit<8> y;
    const bit<8> k = 3;
    action a() { ;;; { } {;} }
    table t { actions = { a; } }
    apply {
        ;;
        if (b) ; else ;
        if (b) { } else if (!b) x = 1; else { x = 2; }
        if (b) if (!b) x = 1; else x = 2;
        { { { x = 3; } } }
        @foo { x = 1; }
        x[3:0] = 1;
        x[7:4][1:0] = 1;
        x[k:k] = 1;
        (x) = 3;
        (x[1:0]) = 2;
        a();
        t.apply();
        x += 1; x -= 1; x *= 2; x /= 2; x %= 2; x <<= 1; x >>= 1; x &= 1; x |= 1; x ^= 1; x |+|= 1; x |-|= 1;
        x[3:0] += 1;
        return;
    }
}
// ----
// working draft: slices by width, arrays
header H { bit<8> a; bit<32> f; }
struct Hs { H[4] s; bit<8>[3] arr; bool[2] bs; int<8>[2][3] arr2; }
control c(inout Hs h, inout bit<8> x, inout bit<64> y) {
    bit<16>[5] local;
    tuple<bit<8>, bool>[2] ts;
    apply {
        y[x +: 8] = 3;
        x = y[8 +: 8];
        x = y[x +: 8];
        h.s[1].f[3:0] = 1;
        h.s[x].f[7 +: 4] = 2;
        h.arr[0] = 1;
        h.arr[x] = h.arr[1] + 2;
        h.arr2[1][0] = 3;
        local = { 1, 2, 3, 4, 5 };
        local[3][7:0] = x;
        ts[0] = { 1, true };
        for (bit<8> i in h.arr) { x = x + i; }
        for (bit<16> e in local) { y = y + (bit<64>)e; }
        for (H hh in h.s) { x += hh.a; }
        for (bit<8> i in 1 .. 5) { x += i; }
        for (bit<8> i = 0, bit<8> j = 3; i < 3 && j > 0; i = i + 1, j = j - 1) { if (i == j) continue; if (j == 7) break; }
        for (; x < 3; ) { x = x + 1; }
        for (x = 0; x < 3; x += 1) { }
        for (@foo bit<8> i in 1 .. 5) { x += i; }
        if (h.arr == { 1, 2, 3 }) { }
        x = (bit<8>)h.s.size + (bit<8>)local.size;
    }
}
// ----
// comparisons of everything comparable
enum E { a, b }
enum bit<8> F { a = 1 }
struct S { bit<8> a; bool b; }
header H { bit<8> a; varbit<32> v; }
header G { bit<8> a; }
header_union U { G g; }
type bit<8> N;
control c(inout S s, inout S s2, inout H h, inout H h2, inout U u, inout G[2] st, inout N n, inout E e, inout F f, inout error er, inout tuple<bit<8>, S> t, inout bool b, inout varbit<32> v, inout int<8> i) {
    apply {
        b = s == s2; b = s != { 1, true }; b = s == { b = true, a = 1 }; b = { 1, true } == s;
        b = h == h2; b = u == u; b = st == st; b = st != st; b = n == n; b = n == (N)3;
        b = e == E.a; b = f == F.a; b = f == 1; b = er != error.NoError; b = t == t; b = t == { 1, { 2, true } };
        b = b == true; b = v == v; b = i < -3; b = i >= 8s3;
        b = (S){ 1, true } == (S){ a = 2, b = false };
        b = h == {#}; b = st[0] == { 3 }; b = st[0] == (G){ 3 };
        b = 3 == 3; b = -1 < 0;
        b = f < F.a; b = (bit<8>)f > 3;
    }
}
// ----
// casts of all kinds
enum bit<8> F { a = 1, b = 2 }
enum int<8> IF { a = -1 }
type bit<8> N; type N N2; type bool NB; 
typedef tuple<bit<8>, bit<16>> T;
struct S { bit<8> a; bit<16> b; }
struct S1 { S s; T t; }
header H { bit<8> a; bit<16> b; }
control c(inout bit<8> x, inout int<8> y, inout bool b, inout F f, inout N n, inout N2 n2, inout bit<1> o, inout S s, inout H h, inout T t, inout int<1> oi, inout IF fi) {
    apply {
        x = (bit<8>)y; y = (int<8>)x; o = (bit<1>)b; b = (bool)o; x = (bit<8>)(bit<16>)x; y = (int<8>)(int<16>)y;
        f = (F)x; x = (bit<8>)f; x = f; f = (F)3; x = (bit<8>)3; y = (int<8>)-3; b = (bool)1; b = (bool)0;
        n = (N)x; x = (bit<8>)n; n2 = (N2)n; n = (N)n2; n = (N)5; s = (S){ 1, 2 }; h = (H){ 1, 2 }; t = (T){ 1, 2 };
        s = (S){ a = 1, b = 2 }; S1 s1 = { { 1, 2 }, { 3, 4 } }; s1 = (S1){ s = { a = 1, b = 2 }, t = { 1, 2 } };
        t = (tuple<bit<8>, bit<16>>){ 1, 2 };
        x = (bit<8>)x; s = (S)s; h = (H)h; t = (T)t; b = (bool)b; f = (F)f;
        y = (int<8>)fi; fi = (IF)y; fi = (IF)8s3; x = (bit<8>)(int<8>)fi;
        x = (bit<8>)(int)3;
        oi = (int<1>)o; o = (bit<1>)oi;
        x = (bit<8>)F.a; f = (F)(bit<8>)F.b; bit<16> w = (bit<16>)(bit<8>)F.a; w = (bit<16>)f;
        w = x ++ F.a; w = (bit<16>)x << 3; w = 1 << 3; x = x << y[2:0]; x = x >> F.a;
        x = (x == 1) ? 8w1 : 2; x = b ? x : 3; x = b ? 3 : x;
        s = b ? s : (S){ 1, 2 };
    }
}
// ----
// select keysets
enum E { a, b }
enum bit<8> F { a = 1, b = 2 }
struct S { bit<8> a; bit<8> b; }
header H { bit<8> a; bit<16> b; int<8> i; }
const bit<8> K = 7; const bit<8> M = 0xf;
typedef bit<8> T; type bit<8> N;
parser p(packet_in pk, out H h, in E e, in F f, in S s, in bool bl, in error er, in N n) {
    value_set<bit<8>>(4) v1;
    value_set<tuple<bit<8>, bit<16>>>(4) v2;
    value_set<S>(4) v3;
    value_set<N>(2) v4;
    @name("x") value_set<T>(2) v5;
    state start { transition select(h.a, h.b) { (1, 2): s1; (1 .. K, 3 &&& 4): s1; (_, 0 .. 0xffff): s1; v2: s1; default: reject; } }
    state s1 { transition select(h.a + 1, h.a[3:0], (bit<4>)h.a, bl && true) { (K, 1, 2, true): s2; (K &&& M, _, _, _): s2; (K + 1 .. K + 2, 4w3, default, false): s2; _: s2; } }
    state s2 { transition select(e) { E.a: s3; E.b: s3; } }
    state s3 { transition select(f) { F.a: s4; F.b: s4; _: s4; } }
    state s4 { transition select(s.a, s.b) { v3: s5; default: s5; } }
    state s5 { transition select(bl) { true: s6; default: s6; } }
    state s6 { transition select(er, bl) { (error.NoError, true): s7; (error.PacketTooShort, _): s7; (_, _): s7; } }
    state s7 { transition select(n) { v4: s8; (N)8: s8; _: s8; } }
    state s8 { transition select(h.i) { -1: s9; -8 .. 7: s9; 8s3 &&& 8s7: s9; } }
    state s9 { transition select(16w5, 3 == 4, h.isValid()) { (5, false, true): s10; } }
    state s10 { transition select((bit<8>)F.a) { F.a: s11; (bit<8>)F.b: s11; (F.a): s11; v5: s11; } }
    state s11 { transition select(F.a) { F.b: s12; } }
    state s12 { transition select(pk.lookahead<H>().a, pk.lookahead<bit<16>>()[3:0]) { (1, 2): s13; } }
    state s13 { transition select({ h.a, h.b }) { default: s14; } }
    state s14 { transition select(h.a) { _ : s15; } }
    state s15 { transition select(h.a) { default : accept; } }
    state s16 { }
    state s17 { transition s16; }
    state s18 { transition select(h.a, h.b) { (0x0 &&& 0x1, 0x800): accept; (0x0, 0x800 &&& 0xfff): accept; } }
}
// ----
// functions in all forms
bit<8> f0() { return 1; }
bit<8> f1(in bit<8> x) { return x + 1; }
bit<8> f2(in bit<8> x, out bit<8> y, inout bit<8> z) { y = x; z = y; return z; }
bit<8> f3(in bit<8> x = 3, in bit<8> y = 4) { return x; }
T f4<T>(in T x) { return x; }
void f5<T, U>(in T x, out U y, in U z) { y = z; }
tuple<bit<8>, bool> f6() { return { 1, true }; }
struct S { bit<8> a; bool b; }
S f7() { return { 1, true }; }
S f8() { return { b = true, a = 3 }; }
S f9(in S s) { S t = s; t.a = 3; return t; }
header H { bit<8> a; }
H f10() { H h; h.setValid(); h.a = 1; return h; }
H f11() { return (H){ a = 3 }; }
bool f12(in bit<8> x) { if (x == 1) return true; else return false; }
bit<8> f13(in bit<8> x) { bit<8> s = 0; for (bit<8> i in 1 .. 4) { s = s + i; } return s; }
bit<8> f14(in bit<8> x) { switch (x) { 1: { return 2; } default: { return 3; } } }
error f15() { return error.NoError; }
bit<8> f16(in tuple<bit<8>, bool> t) { return t[0]; }
@pure bit<8> f17(@optional_anno in bit<8> x) { return f1(f1(f0())) + f3() + f3(5) + f3(y = 3); }
void f18() { f0(); f5<bit<8>, bit<8>>(1, _, 2); }
int<8> f19(in bool c) { return c ? 8s1 : -1; }
bit<8> f20(int x) { return 3; }
bit<16> f21(in bit<8> x) { return x ++ x; }
control c(inout bit<8> x) {
    bit<8> y;
    action a() { x = f1(x); }
    table t { key = { f1(x) : exact @name("k"); f4(x) : exact @name("k2"); } actions = { a; } default_action = a(); }
    apply { f2(1, y, x); x = f2(f0(), y, x) + f6()[0] + f7().a + f10().a; f5(x, y, 3); x = f16({ 1, true }); if (f12(x)) { } f13(2); t.apply(); }
}
// ----
// externs in all forms
extern void e0();
extern bit<8> e1(in bit<8> x, @optional in bit<8> y, in bit<8> z = 3);
extern T e2<T>(in T x);
extern void e3<T>(in T x, string s = "abc");
extern void e4(in tuple<bit<8>, bit<8>> t, list<bit<8>> l, int n, bool b);
extern tuple<bit<8>, bool> e5<T>();
enum Kind { a, b }
extern Other { Other(Kind k = Kind.a, string n = "x"); }
extern Base { Base(); Base(int n); Base(bit<8> a, @optional bool b); bit<8> m(); bit<8> m(in bit<8> x); void m<T>(in T x, in bit<8> y); void set(Kind k); }
extern Nested<T, U> { Nested(T t); Nested(Base b, U u); U get<V>(in V v, in T t); void put(in tuple<T, U> t); }
Base() b0; Base(3) b1; Base(8w3, true) b2; Base(a = 8w3) b3;
Other() o0; Other(Kind.b) o1; Other(n = "y") o2; Other(Kind.b, "a" ++ "b") o3;
Nested<bit<8>, bit<16>>(b0, 3) n0;
Nested<bit<8>, tuple<bit<8>, bit<16>>>(7) n1;
typedef Nested<bit<1>, bool> NB;
NB(1) n2;
control c(inout bit<8> x, Base ext)(Other o, Base bb) {
    NB(1) n3;
    NB(t = 1) n4;
    apply {
        e0(); x = e1(x); x = e1(x, 3); x = e1(x = 1); x = e1(x = x, z = 3); e3(x); e3(8w3, "d"); e3(x = x, s = "q"); e4({ 1, 2 }, (list<bit<8>>){ 1, 2, 3 }, 1 << 3, true); x = e5<bit<8>>()[0]; ext.m(); x = ext.m(3); ext.m(x, 3); bb.set(Kind.a); n3.put({ 1, true }); if (n3.get(x, 1)) { } if (n3.get<bit<3>>(1, 1w1)) { }
    }
}
// ----
// constants of everything and in all places
const int A = 5; const int B = A * A - 3 / 2 % 4 + (1 << 10) >> 2; const int C = A & 0xff | B ^ 1; const int D = -A; const int E = +A;
const bit<(A)> a5 = 3; const bit<(A + 3)> a8 = 255; const int<(A * 2)> i10 = -512;
const bool t1 = A < B || A == 5 && !(B >= 3) != true; const bool t2 = A == 5 ? true : false;
const string s1 = "a" ++ "b"; const string s2 = s1 ++ "\n\"\\";
struct S { bit<8> a; bit<8> b; } struct S2 { S s; tuple<bit<8>, S> t; bool c; }
const S cs = { 1, 2 }; const S2 cs2 = { { 1, 2 }, { 3, { 4, 5 } }, true }; const S2 cs3 = { s = cs, t = { 1, cs }, c = t1 };
const bit<8> f1 = cs2.s.a + cs2.t[0] + cs3.t[1].b; const bit<4> f2 = cs.a[3:0]; const bit<12> f3 = cs.a ++ f2;
const list<S> ls = { { 1, 2 }, cs, { a = 3, b = 4 } }; const list<tuple<bit<8>, S>> lt = { { 1, { 2, 3 } } }; const list<list<bit<8>>> ll = { { 1, 2 }, { 3 } };
enum bit<8> En { x = A, y = 1 << 4, z = (bit<8>)A + 3, w = f1 } const En en = En.x; const bit<8> enb = En.y; enum Ex { p, q } const Ex ex = Ex.p; const error er = error.NoError;
header H { bit<(A)> a; bit<(8 - A)> b; varbit<(A * 8)> v; } header H1 { bit<8> a; }
const H1 h1 = { 1 }; const H1 h2 = (H1){#}; const H1[2] hs = { { 1 }, { 2 } }; const bit<8>[3] arr = { 1, 2, 3 }; const bit<8> arr1 = arr[1];
type bit<8> N; const N n = (N)3; const bit<8> nb = (bit<8>)n;
const bit<32> sz = (bit<32>)H1.minSizeInBits() + (bit<32>)h1.minSizeInBytes() + (bit<32>)H.maxSizeInBits() + S.maxSizeInBytes() + (bit<32>)S2.minSizeInBits(); 
const int sz2 = H1.minSizeInBytes() * 8;
const bit<(H1.minSizeInBits())> sz3 = 3;
extern X { X(int a, bit<8> b, S s, string t, list<S> l, En e); }
X(A, f1, cs, s1, ls, En.x) x1; X(A + B, (bit<8>)A, { 1, 2 }, "x" ++ s1, { { 1, 2 } }, En.y) x2;
control c(inout bit<8> x, inout H1[(A)] st)(int k, bit<8> kb) {
    const int L = A + 1; bit<(L)> l = 3; const bit<8> LK = kb + 3; const bit<8> LB = A;
    H1[(A - 2)] local; tuple<bit<(A)>, bool> tp = { 1, true };
    table t { key = { x : ternary; } actions = { NoAction; } size = A * 2 + L; const entries = { A: NoAction(); f1: NoAction(); (L + 1): NoAction(); En.w: NoAction(); } }
    apply { x = x[(A + 1):(A - 2)] ++ 4w0; x = x << A; x[A:A] = 1; st[A - 1].setValid(); switch (x) { A: { x = L; } L: { } } x = LK; const bit<8> inner = L + A; x = inner; }
}
// ----
// shadowing and scopes
const bit<8> x = 3; typedef bit<8> T; struct S { bit<8> x; T T; }
bit<8> f(in bit<8> x) { return x + .x; }
control c(inout S s) {
    bit<8> x = .x; T T2 = 3; 
    action a(bit<8> x) { s.x = x; { bit<8> y = x; } { bit<16> y = 3; } }
    action f() { s.x = .f(3); }
    apply { bit<8> y = x; if (y == 1) { bit<16> z = 3; } else { bit<8> z = 4; } { bit<8> w = .x; } { bit<9> w = 3; } f(); a(3); s.T = 3; .T q = 3; }
}
control d(inout bit<8> c) { apply { c = .x; } }
parser p(packet_in start2) { bit<8> x; state start { bit<8> y = x; transition next; } state next { bit<16> y = 3; transition accept; } }
control g() { bit<8> c; apply { c = 3; } }
// ----
// bool and error in odd places
header H { bool b; bit<7> pad; }
struct M { error e; bool b; }
control c(inout H h, inout M m, out error eo) {
    action a(error e, bool b) { m.e = e; m.b = b; }
    table t { key = { m.e : exact; m.b : exact; h.b : ternary; } actions = { a; NoAction; } const entries = { (error.NoError, true, _): a(error.NoMatch, false); } }
    apply { t.apply(); eo = m.e; switch (m.e) { error.NoError: { } default: { } } if (m.b == h.b && m.e != error.NoError) { } h.b = (bool)1w1; bit<1> o = (bit<1>)h.b; h.b = !h.b; }
}
// ----
// a type parameter of a package that only a left out argument would determine
control Block<H>(inout H h);
package Pipe<H>(Block<H> block);
package Switch<H1, H2>(Pipe<H1> pipe0, @optional Pipe<H2> pipe1);
header Byte { bit<8> x; }
control Work(inout Byte h) { apply { } }
Pipe(Work()) pipe;
Switch(pipe) main;
