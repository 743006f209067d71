// Constructs of the specification, chapter by chapter, in positions that few programs have them in.
// ----
// literals and names
const int a0 = 0b1_0 + 0o17 + 0O7 + 0D12 + 0d1 + 0xAB_cd + 0XFF + 1_000;
const bit<8> b0 = 8w0b1_1 + 8w0x_f + 8w0o7 + 8w12;
const int<4> c0 = 4s0b1 - 4s0x7;
const bit<8> _x = 1;
const bit<8> __ = 2;
const string s = "a\"b\\c\n" ++ "" ++ "d";
struct type_ { bit<8> apply; bit<8> key; bit<8> state; bit<8> type; bit<8> priority; bit<8> list; bit<8> entries; bit<8> actions; }
control c(inout type_ t) { apply { t.apply = t.key + t.state + t.type + t.priority + t.list + t.entries + t.actions; } }
// ----
// targets in parentheses, slices of everything
header H { bit<16> x; int<8> y; }
const bit<8> HI = 7;
struct S { H h; bit<16> z; bit<8>[2] a; }
extern void sets(out bit<4> x, inout bit<8> y);
control c(inout S s, inout bit<16> x, in bit<3> i) {
    apply {
        (x) = 1;
        (s.h).x = 2;
        (s.h.x)[3:0] = 3;
        ((s)).h.x[7:4][1:0] = 1;
        x[HI:HI-7] = 1;
        x = (8w1 ++ x[7:0]) ++ 0w0;
        x = x[7:0] ++ x[15:8] == x ? x : (x ++ x)[23:8];
        s.h.y[3:0] = s.h.y[7:4];
        x[i +: 4] = x[0 +: 4];
        x[7:0] = ((bit<16>) x[7:0])[7:0];
        s.a[0][3:0] = 8w0x5a[7:4];
        s.a[i][1:0] = (x + 1)[1:0];
        sets(x[3:0], s.a[1]);
        sets(_, s.a[i]);
        sets(x = s.a[0][3:0], y = x[15:8]);
        x[3:0] += 1;
        x |+|= 1; x |-|= 1; x <<= 1; x >>= 2; x &= 1; x |= 1; x ^= 1; x *= 2; x /= 2; x %= 3; x -= 1;
    }
}
// ----
// casts and what stands behind them
type bit<8> N;
typedef bit<8> T;
enum bit<8> E { A = 1, B = 2 }
struct S { bit<8> a; bool b; }
header H { bit<8> a; }
control c(inout bit<8> x, inout int<8> y, inout bool b, in E e, in N n, inout H h) {
    apply {
        x = (bit<8>) x + x;
        x = (bit<8>) (x + x);
        y = (int<8>) -y;
        y = -(int<8>) x;
        x = (bit<8>) ~x;
        b = (bool) x[0:0];
        x[0:0] = (bit<1>) (x == x);
        x[0:0] = (bit<1>) !b;
        x = (T) x + (T) 3;
        x = (bit<8>) (N) x + (bit<8>) (N) (T) x;
        x = (bit<8>) (E) x;
        b = (E) x == e && (N) x == n && e == (E) 1;
        S s = (S) { 1, b };
        s = (S) { a = x, b = true };
        h = (H) { 1 };
        h = (H) {#};
        h = { a = 1 };
        h = {#};
        b = (bool) (bit<1>) true && (bool) 1w1;
        x = (x);
        x = ((bit<8>) (x)) & (T) (x | 1);
        bit<32> w = (bit<32>) (bit<16>) (int<16>) (int<8>) x;
        int<16> v = (int<16>) y + (int<16>) (bit<16>) x;
        x = b ? (bit<8>) y : (bit<8>) (int<8>) x;
    }
}
// ----
// default values and invalid headers
header H { bit<8> a; bit<16> b; }
header_union U { H x; H y; }
struct In { bit<8> a; H h; tuple<bit<8>, bool> t; }
struct S { In i; H[2] st; U u; error e; bool b; bit<8>[2] arr; }
extern void take(in S s);
S make() { return ...; }
S make_some(in bit<8> x) { return { i = { x, {#}, ... }, ... }; }
control c(inout S s, inout H h) {
    S whole = ...;
    H own = ...;
    In part = { 1, ... };
    H[2] stack = { {#}, { 1, 2 } };
    In named = { a = 1, ... };
    U none = {#};
    apply {
        s = ...;
        h = { 1, ... };
        h = { b = 2, ... };
        s.i = { a = 1, h = {#}, t = { 1, true } };
        s.st = { { 1, 2 }, {#} };
        s.st[0] = {#};
        take(...);
        take({ b = true, ... });
        s = make();
        s.u = {#};
        if (h == {#} || s.st[0] == { 1, 2 } || s.i.t == { 1, false }) { h = s.st[1]; }
    }
}
// ----
// statements in all positions
enum E { A, B, C }
bit<8> f(in E e, in error r, in bit<4> n, in bool b) {
    switch (e) { E.A: { return 1; } E.B: E.C: { } }
    switch (r) { error.NoError: { return 2; } error.PacketTooShort: default: { } }
    switch (n) { 1: 2: (3): { return 3; } 4w4: { } 5 + 1: { } default: { return 4; } }
    if (b) { return 5; }
    switch (n + 1) { }
    switch (n) { default: { } }
    if (b) ; else ;
    if (b) { } else if (!b) return 6; else { return 7; }
    ;;
    { }
    @x { @y { } }
    return 8;
}
control c(inout bit<8> x) {
    action a() { return; }
    action b() { if (x == 1) { exit; } else return; x = 3; }
    action d(in bit<8> y) { { bit<8> z = y; a(); x = z; } ; }
    apply {
        if (x == 1) if (x == 2) x = 3; else x = 4;
        if (x == 1) a(); else d(x);
        if (x == 2) { return; }
        for (;x < 3;) { break; }
        for (bit<8> i = 0; i < 4; i = i + 1) { if (i == 2) continue; x = x + i; }
        for (x = 0, bit<8> j = 1; x < 3; x += 1, j += 2) x = x + j;
        for (bit<8> i in 0 .. 3) x = x + i;
        for (bit<8> i in x .. x + 3) { for (bit<4> k in 0 .. 2) { break; } }
        @unroll for (bit<8> i in { 1, 2, 3 }) { x = i; }
        for (@z bit<8> i in (list<bit<8>>) { 1, 2 }) { x = i; }
        const bit<8> local = 3;
        bit<8> u;
        x = local;
        exit;
    }
}
// ----
// parsers
header H { bit<8> a; bit<16> b; }
header V { bit<8> n; varbit<64> v; }
header_union U { H h; V v; }
struct S { H h; H[3] st; V v; U u; U[2] us; bit<8> m; error e; }
struct Look { bit<8> a; bit<4> b; bit<4> c; }
parser sub(packet_in p, out H h, inout bit<8> n)(bit<8> k) { state start { p.extract(h); n = n + k; transition select(h.a) { 0: accept; default: reject; } } }
parser p(packet_in p, out S s, inout bit<8> m, in bool f, in error e, in int<8> i) {
    const bit<8> K = 3;
    bit<8> n = 0;
    sub(1) one;
    sub(K) two;
    value_set<bit<8>>(4) pvs;
    @name("given") state start {
        n = m;
        bit<8> z = n;
        const bit<4> w = 1;
        one.apply(p, s.h, n);
        if (n == 1) { two.apply(p, s.st[0], n); } else { n = 2; }
        { p.extract(s.st.next); ; }
        p.extract<H>(_);
        p.extract(s.v, (bit<32>) n * 8);
        p.advance(8);
        p.advance((bit<32>) z);
        verify(n != 3, error.NoMatch);
        s.m = p.lookahead<bit<8>>();
        Look l = p.lookahead<Look>();
        tuple<bit<8>, bit<8>> t = p.lookahead<tuple<bit<8>, bit<8>>>();
        transition select(p.lookahead<bit<16>>()[7:0], n) {
            (0, _): loop;
            (1 &&& 3, 1 .. 5): loop;
            (default, default): other;
        }
    }
    state loop {
        p.extract(s.st.next);
        transition select(s.st.last.a, s.st.lastIndex) { (0, 0): loop; (_, 1): accept; _: other; }
    }
    state other { transition select(f, e, i) { (true, error.NoError, -1): accept; (false, _, 3): bits; (_, error.NoMatch, -8s5 &&& -1): reject; } }
    state bits { transition select(m) { 0x0F &&& 0x0F: accept; 1 .. 2: reject; K: named; pvs: reject; 5: accept; } }
    state named { transition select({ m, n }) { { 1, 2 }: accept; _: nested; } }
    state nested { transition select(m, m + 1, ~n, m == n) { (1, 2, 3, true): accept; (_, _, _, _): empty; } }
    state empty { transition select(m) { } }
    state without { }
    state union { p.extract(s.u.h); p.extract(s.us.next.h); transition accept; }
}
// ----
// tables
match_kind { range, optional, custom }
extern Impl { Impl(bit<32> n); }
struct M { bit<8> a; bit<16> b; bool f; error e; int<8> i; }
header H { bit<8> x; bit<4> y; bit<4> z; }
enum E { A, B }
enum bit<8> SE { A = 1, B = 2 }
action global(inout bit<8> x) { x = 1; }
control c(inout M m, inout H h, inout E e, inout SE se) {
    Impl(4) shared;
    action a(bit<8> n, E k) { m.a = n; e = k; }
    action b() { }
    action d(in bit<8> p, out bit<8> q, bit<8> r) { q = p + r; }
    const bit<8> K = 5;
    table t {
        key = {
            m.a : exact;
            h.x & 0x0f : ternary @name("masked");
            h.isValid() : exact @name("valid");
            m.f : exact;
            e : exact;
            se : exact;
            m.e : exact;
            m.i : ternary;
            h.x[3:0] : range;
            (bit<8>) m.b : optional @name("cast");
            m.a + 1 : custom @name("sum");
            h.y ++ h.z : exact @name("joined");
            5w3 : exact @name("constant");
            m.f ? m.a : h.x : exact @name("chosen");
        }
        actions = { @tableonly a; b; @defaultonly NoAction; .global(m.a); d(m.a, h.x); }
        const default_action = NoAction();
        size = 2 * 512 + 1;
        implementation = Impl(32);
        own_property = 3;
        other_property = { 1, "x", true };
        const third = shared;
        @annotated fourth = m.a == 1 ? 8w1 : 2;
    }
    table u {
        key = { m.a : ternary; m.b : lpm; }
        actions = { d(m.a, h.x); b(); a; }
        default_action = d(m.a, h.x, 3);
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            const priority = 10: (1, 2): b();
            priority = (5 + 6): (K &&& 0xf, 0 &&& 0) : a(3, E.A) @x;
            (_, default): d(m.a, h.x, 4);
            const (1 .. 1, _): b;
        }
    }
    table e1 { key = { se : exact; e : exact; m.f : exact; m.e : exact; } actions = { b; } const entries = { (SE.A, E.B, true, error.NoError): b(); (SE.B, E.A, false, error.NoMatch): b(); } }
    apply {
        t.apply();
        if (t.apply().hit) { } else if (t.apply().miss && m.f) { }
        switch (u.apply().action_run) { d: b: { m.a = 1; } a: { } default: { } }
        switch (u.apply().action_run) { a: { } }
        switch (t.apply().action_run) { global: { m.a = 3; } .NoAction: { } }
        bool r = u.apply().hit || !t.apply().hit;
        a(1, E.B);
        d(m.a, _, 3);
        d(r = 1, p = 2, q = m.a);
        global(h.x);
    }
}
// ----
// functions and generics
struct P<A, B> { A a; B b; }
header G<T> { T t; }
T id<T>(in T t) { return t; }
void swap<T>(inout T a, inout T b) { T c = a; a = b; b = c; }
A first<A, B>(in P<A, B> p) { return p.a; }
P<B, A> flip<A, B>(in P<A, B> p) { return { a = p.b, b = p.a }; }
P<T, T> both<T>(in T t) { P<T, T> p = { t, t }; return p; }
bool same<T>(in T a, in T b) { return a == b; }
bit<8> known(bit<8> n) { return n; }
void nothing() { return; }
bit<8> nested(in bit<8> x) { return id(id<bit<8>>(id(x))); }
extern void log<T>(in string s, in T t);
extern T pick<T>(in bool b, in T x, in T y);
extern void any<T>(T t);
control c(inout bit<8> x, inout bit<16> y, inout G<bit<8>> g, inout G<P<bit<8>, bit<4>>> h) {
    P<bit<8>, P<bool, bit<4>>> p = { 1, { true, 2 } };
    apply {
        x = id(x); x = id<bit<8>>(5); swap(x, g.t);
        x = first(p); P<P<bool, bit<4>>, bit<8>> q = flip(p);
        P<bit<8>, bit<8>> r = both(x);
        bool b = same(x, 3) && same(p.b, q.a) && same<bit<8>>(1, 2);
        x = known(3) + nested(x);
        nothing();
        log("x", x); log("y", { x, y }); log("p" ++ "q", p); log<bit<8>>("n", 3);
        x = pick(b, x, 1); x = pick<bit<8>>(b, 2, 3);
        any(3w1); any("s"); any({ 8w1, 16w2 });
        h.t.b = 3; h = { t = { 1, 2 } };
        if (x < y[7:0] && x > (x)) { }
        if (x < (x) && (x) > x) { }
    }
}
// ----
// objects, methods and packages
extern Reg<T> { Reg(bit<32> n); Reg(bit<32> n, T init); T read(in bit<32> i); void write(in bit<32> i, in T v); U cast_to<U>(in T t); }
extern Sum { Sum(); void add<T>(in T t); bit<16> get(); }
extern bit<8> plain(in bit<8> x);
extern void late<T>(out T t);
struct S { bit<8> a; }
control inner(inout bit<8> x, Reg<bit<8>> r)(Reg<bit<8>> s, bit<32> n) { apply { r.write(n, x); x = s.read(0); } }
Reg<S>(4, { 3 }) top;
control c(inout bit<8> x, inout S v) {
    Reg<bit<8>>(4) r;
    @name("own") Reg<bit<8>>(n = 4, init = 3) t;
    Reg<tuple<bit<8>, bool>>(2, { 1, true }) u;
    Sum() sum;
    inner(r, 3) i;
    inner(Reg<bit<8>>(3), 2) j;
    apply {
        i.apply(x, r); j.apply(x, t); j.apply(r = t, x = x);
        x = r.read(0) + plain(r.read((bit<32>) x));
        v = top.read(1); top.write(0, v); top.write(0, { 5 });
        bit<16> w = r.cast_to<bit<16>>(x);
        sum.add(x); sum.add({ x, w }); w = sum.get();
        u.write(0, { 1, false }); x = u.read(0)[0];
        late(x); late<bit<8>>(_);
        top.read(0);
    }
}
control control_type<T>(inout bit<8> x, inout T v);
package Arch<A, B>(control_type<A> a, @optional control_type<B> b, bit<8> n = 3);
Arch(c()) small;
Arch<S, S>(a = c(), n = 4) large;
Arch(c(), c(), 5) main;
// ----
// types inside types, declarations of types in typedefs
typedef struct In { bit<8> a; } In_t;
typedef header Hd { bit<8> b; } Hd_t;
typedef enum En { X, Y } En_t;
typedef enum bit<4> Es { X = 1 } Es_t;
typedef header_union Un { Hd h; } Un_t;
typedef Hd_t[4] Stack_t;
typedef tuple<bit<8>, In_t, Stack_t> Tup_t;
typedef bit Bit_t;
typedef error Err_t;
typedef varbit<32> Var_t;
typedef list<bit<8>> List_t;
typedef int Int_t;
header Empty { }
struct None { }
struct Deep { Tup_t t; Un_t[2] u; None n; Empty e; Err_t r; En_t x; Es_t y; Bit_t b; Stack_t s; }
const Int_t I = 5;
const string ST = "x";
const List_t L = { 1, 2 };
control c(inout Deep d) { apply { d.t[1].a = 1; d.t[2][0].b = 2; d.u[0].h.setValid(); d.n = { }; d.e.setValid(); d.e = { }; d.b = 1; d.s.push_front(1); d.s.pop_front(I - 4); } }
// ----
// constants of all kinds
header H { bit<8> a; }
struct S { bit<8> a; H h; tuple<bit<8>, bool> t; }
enum E { A }
const H h = { 1 };
const H no = {#};
const S s = { 1, { 2 }, { 3, true } };
const S s2 = { a = s.a, h = h, t = s.t };
const bit<8> part = s.h.a + s.t[0] + h.a;
const E e = E.A;
const error r = error.NoError;
const match_kind mk = exact;
const list<match_kind> kinds = { exact, ternary };
const list<tuple<match_kind, bit<8>>> pairs = { { exact, 1 }, { lpm, 2 } };
const list<S> structs = { s, { 1, { 2 }, { 3, false } } };
const bit<8>[3] arr = { 1, 2, 3 };
const bit<8> elem = arr[1];
const bool checked = static_assert(part == 6, "x") && static_assert(true);
const bit<8> cond = part > 3 ? 8w1 : 2;
const bit<16> joined = 8w1 ++ 8w2;
const int wide = 1 << 200;
const bool both = wide > 3 && !(wide == 5) || false;
const bit<8> slice = 16w0x1234[11:4];
const int rem = 17 % 5 + 17 / 5 * 2;
// ----
// the rest of calls and names
extern bit<8> f(in bit<8> a, @optional in bit<8> b, out bit<8> c);
control c(inout bit<8> x) {
    bit<8> y;
    action a(inout bit<8> p, bit<8> q) { p = q; }
    apply {
        x = f(a = 1, c = y);
        x = f(1, 2, y);
        x = f(1, 2, _);
        x = .f(1, 2, y);
        a(x, 3);
        a(q = 3, p = x);
    }
}
// ----
// members, slices and elements of results; casts to tuples and arrays
struct In { bit<8> a; bit<8>[2] l; }
struct S { In i; tuple<bit<8>, In> t; }
header G<T> { T t; }
S make(in bit<8> x) { return { { x, { 1, 2 } }, { 3, { 4, { 5, 6 } } } }; }
extern R<T> { R(); T get(); }
const bit<32> SIZE = (bit<32>) G<bit<8>>.minSizeInBits() + (bit<32>) S.maxSizeInBytes();
parser p(packet_in b, out bit<8> x) { state start { x = b.lookahead<In>().a + b.lookahead<tuple<bit<8>, bit<8>>>()[1]; transition select(b.lookahead<In>().l[0]) { 0: accept; } } }
control c(inout bit<8> x) {
    R<S>() r;
    apply {
        x = make(x).i.a + make(1).t[1].l[0] + r.get().i.l[1] + r.get().t[0];
        x[3:0] = make(x).i.a[7:4];
        tuple<bit<8>, bool> t = (tuple<bit<8>, bool>) { 1, true };
        bit<8>[2] l = (bit<8>[2]) { 1, x };
        x = ((bit<8>[2]) { 1, x })[0] + ({ 1, x })[1] + ((S) { { 1, { 1, 2 } }, { 3, { 4, { 5, 6 } } } }).i.a;
        bool v = make(x) == make(x) && r.get() != make(1);
        x = v ? make(1).i.a : (x == 1 ? 2 : x == 2 ? 3 : 8w4);
    }
}
// ----
// empty lists of type arguments, type arguments of controls that are applied without a name
extern void f();
control g<T>(inout T x, in T y) { apply { x = y; } }
parser q<T>(packet_in b, out T x) { state start { transition accept; } }
control c(inout bit<8> x, inout bit<16> y) { apply { f<>(); g.apply(x, 3); g.apply(y = 4, x = y); g<bit<8>>.apply(x, x); } }
parser p(packet_in b, out bit<8> x) { state start { q.apply(b, x); transition accept; } }
// ----
// a table applied in the key of another one
control c(in bit<8> a) {
    table t { key = { a : exact; } actions = { NoAction; } }
    table u { key = { t.apply().hit : exact @name("hit"); a : exact; } actions = { NoAction; } }
    apply { u.apply(); }
}
// ----
// default values of a package's parameters that determine its type parameters
struct E0 { }
header h_t { bit<8> x; }
control CT<H>(inout H h);
control nothing(inout E0 h) { apply { } }
control work(inout h_t h) { apply { } }
package Pk<H>(CT<H> b = nothing());
package Two<H>(CT<H> a, CT<H> b = work());
Two(work()) other;
Pk(work()) given;
Pk() main;
// ----
// default values before parameters without one
bit<8> f(in bit<8> a, in bit<8> b = 2, in bit<8> c) { return a + b + c; }
extern X { X(bit<8> a = 1, bit<8> b); void m(in bit<8> a = 1, in bit<8> b); }
control c(inout bit<8> x) {
    X(b = 3) made;
    action a(in bit<8> y = 1, bit<8> z) { x = y + z; }
    apply { x = f(a = 1, c = 2); x = f(1, 2, 3); made.m(b = 1); made.m(1, 2); a(z = 4); }
}
// ----
// slices of plain numbers
const int big = 300;
const bit<8> low = big[7:0];
const bit<1> high = big[8:8];
const bit<4> ones = (-1)[3:0];
const bit<8> far = 5[107:100];
const bit<3> some = 5[0+:3];
control c(inout bit<8> x) { apply { x = big[7:0]; x[3:0] = 255[7:4]; } }
// ----
// match kinds compared
const bool same = exact == lpm;
const bool differs = match_kind.exact != lpm;
// ----
// annotations with strings in several parts
#define PREFIX "acl."
control c(in bit<8> a) {
    @name(PREFIX ++ "first") @noWarn("unused" ++ "_table") table t { key = { a : exact @name("x" ++ "y"); } actions = { NoAction; } }
    apply { t.apply(); }
}
