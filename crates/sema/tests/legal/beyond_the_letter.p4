// What the reference compiler takes beyond the letter of the specification, and constructs in unusual positions.
// ----
// plain numbers as values of new types
type bit<10> vrf_t;
type vrf_t inner_t;
type int<8> level_t;
typedef vrf_t alias_t;
const vrf_t DEFAULT_VRF = 0;
const inner_t INNER = 5;
const level_t LEVEL = -3;
const alias_t ALIAS = 1 + 2;
struct Meta { vrf_t vrf; inner_t inner; level_t level; vrf_t[2] list; }
const Meta NONE = { 0, 0, 0, { 1, 2 } };
const Meta SOME = { vrf = 1, inner = 2, level = 3, list = { 0, 0 } };
extern Register<T> { Register(bit<32> size, T initial); T read(in bit<32> index); void write(in bit<32> i, in T v); }
extern void use_vrf(in vrf_t v);
extern void use_any<T>(in T v, in T w);
vrf_t pick(in bool b, in vrf_t v) { if (b) { return 0; } return b ? v : 1; }
control inner(inout vrf_t v)(vrf_t preset) { apply { v = preset; } }
control c(inout Meta m, in bit<8> x) {
    Register<vrf_t>(16, 0) r;
    inner(3) i;
    action set(vrf_t v) { m.vrf = v; }
    action fixed() { m.vrf = DEFAULT_VRF; m.inner = 0; }
    table t {
        key = { m.vrf : exact; m.level : ternary; m.inner : lpm; }
        actions = { set; fixed; }
        default_action = set(7);
        const entries = { (0, -1, 3 &&& 3) : set(1); (1, _, 0) : fixed(); (2, -2 &&& -1, 0x200 &&& 0x200) : set(DEFAULT_VRF); }
    }
    apply {
        vrf_t v = 0;
        v = 2;
        m = { 1, 2, 3, { 4, 5 } };
        if (m.vrf == 0 || 1 != m.vrf || m.vrf == DEFAULT_VRF || INNER == m.inner) { v = x == 0 ? m.vrf : 5; }
        v = x == 0 ? 3 : m.vrf;
        use_vrf(0);
        use_any(m.vrf, 0);
        use_any(0, m.vrf);
        r.write(0, 1);
        v = pick(true, 0);
        i.apply(v);
        t.apply();
        switch (m.vrf) { 0: { } 1: { v = 1; } default: { } }
        bool same = { 1, m.vrf } == { 8w1, 5 };
    }
}
parser p(packet_in b, inout Meta m) {
    value_set<vrf_t>(4) known;
    state start {
        transition select(m.vrf, m.level) {
            (0, 1): next;
            (1 .. 5, _): accept;
            (3 &&& 7, -1): reject;
            _: next;
        }
    }
    state next { transition select(m.vrf) { 0: accept; known: reject; DEFAULT_VRF: accept; default: accept; } }
}
// ----
// `_` as a type argument of parameters
parser proto<P, H>(P p, inout H h);
control ctrl<H, M>(inout H h, inout M m);
extern Store<T> { Store(); T get(); }
struct Pair<A, B> { A a; B b; }
package Top(proto<_, _> p, ctrl<_, _> c, ctrl<_, _> d);
package Mixed<M>(ctrl<_, M> c, ctrl<_, M> d, Store<_> s);
extern void take(in Pair<_, bit<8>> pair);
extern Sink { Sink(Store<_> s); void put(in Pair<_, _> pair); void from(Store<_> s); }
control inner(inout bit<8> x)(Store<_> s) { apply { x = 1; } }
struct H { bit<8> x; }
struct M { bit<16> y; }
parser p(packet_in b, inout H h) { state start { transition accept; } }
control c(inout H h, inout M m) {
    Store<bit<8>>() store;
    Sink(store) sink;
    inner(store) i;
    apply {
        Pair<bit<32>, bit<8>> pair = { 1, 2 };
        Pair<_, bit<8>> other = pair;
        const Pair<_, _> third = (Pair<bit<8>, bit<8>>){ 1, 2 };
        take(pair);
        sink.put(pair);
        sink.put(other);
        sink.from(store);
    }
}
control d(inout M a, inout M m) { apply { } }
Store<bit<4>>() global_store;
Mixed(c(), d(), global_store) mixed;
Top(p(), c(), d()) main;
// ----
// `_` and explicit type arguments together
parser proto<P>(packet_in b, out P p);
package Outer<T>(proto<T> a, proto<_> b);
parser p(packet_in b, out bit<8> x) { state start { x = 1; transition accept; } }
parser q(packet_in b, out bool x) { state start { x = true; transition accept; } }
Outer<bit<8>>(p(), q()) one;
Outer<_>(p(), q()) two;
Outer(b = q(), a = p()) main;
// ----
// parsers and controls with type parameters
header Hd<T> { T t; }
extern void see<T>(in T t);
control generic<T>(inout T a, in T b) { apply { a = b; see(a); if (a == b) { see(b); } } }
control with_constructor<T>(inout T a)(T preset) { apply { a = preset; } }
control of_headers<T>(inout Hd<T> h, in T t) { action set() { h.t = t; } table s { actions = { set; } } apply { s.apply(); } }
parser generic_parser<T>(packet_in p, out T h) { state start { p.extract(h); transition accept; } }
header E { bit<8> x; }
struct S { Hd<bit<8>> h; bit<16> y; }
control c(inout S s) {
    generic<bit<16>>() g;
    with_constructor<bit<16>>(3) w;
    of_headers<bit<8>>() o;
    apply { g.apply(s.y, 4); w.apply(s.y); o.apply(s.h, 1); generic<bit<8>>.apply(s.h.t, 2); }
}
parser p(packet_in b, out E e) {
    generic_parser<E>() sub;
    state start { sub.apply(b, e); transition next; }
    state next { generic_parser<E>.apply(b, e); transition accept; }
}
control kind<T>(inout T a, in T b);
parser parser_kind<T>(packet_in b, out T e);
package Top<T, U>(kind<T> k, parser_kind<U> p);
Top(generic<bit<8>>(), generic_parser<E>()) main;
// ----
// default values of packages' and constructors' parameters
extern Counter { Counter(bit<32> size); void count(in bit<32> i); }
control shape(inout bit<8> x);
control one(inout bit<8> x) { apply { x = 1; } }
control two(inout bit<8> x)(bit<8> by = 2, bool wide = false) { apply { x = x + by; } }
control three(inout bit<8> x, in bit<8> y = 3) { apply { x = y; } }
control four(inout bit<8> x)(Counter n = Counter(4)) { apply { n.count(0); } }
control five(inout bit<8> x)(shape s = one()) { apply { s.apply(x); } }
package P(shape a, shape b = one(), bit<8> size = 3, string name = "none", bool flag = true);
control user(inout bit<8> x) {
    two() a;
    two(3) b;
    two(wide = true) c;
    three() d;
    four() e;
    five() f;
    apply { a.apply(x); b.apply(x); c.apply(x); d.apply(x); d.apply(x, 4); e.apply(x); f.apply(x); }
}
P(user()) short;
P(a = user(), flag = false, b = two(7)) main;
// ----
// objects and packages inside arguments
extern Reg<T, S> { Reg(S size); T get(in S i); }
extern Box<T> { Box(T inner, bit<8> n); }
control shape<T>(inout T x);
control one(inout bit<8> x)(Reg<bit<8>, bit<32>> r) { apply { x = r.get(0); } }
control outer(inout bit<8> x)(shape<bit<8>> s, bool b) { apply { if (b) { s.apply(x); } } }
package Pipe<T>(shape<T> a, shape<T> b);
package Pair<T, U>(Pipe<T> first, Pipe<U> second, Reg<bit<8>, bit<32>> r);
package Wrap<T>(Box<Reg<T, bit<32>>> b);
control w(inout bit<16> x) { apply { } }
Reg<bit<8>, bit<32>>(4) shared;
Pipe(one(shared), outer(one(Reg<bit<8>, bit<32>>(4)), true)) pipe;
Wrap(Box(Reg<bit<8>, bit<32>>(4), 3)) wrap;
Wrap<bit<8>>(Box<Reg<bit<8>, bit<32>>>(n = 3, inner = Reg<bit<8>, bit<32>>(4))) wrap2;
Pair(Pipe(one(Reg<_, bit<32>>(5)), one(shared)), Pipe<bit<16>>(w(), w()), Reg<bit<8>, _>(32w8)) main;
// ----
// nocore: packages that are not meant to run
extern E { E(); }
package empty();
package with_number(bit<8> x);
package with_struct<T>(T t);
struct S { bit<8> a; }
const S s = { 3 };
with_struct<S>(s) q;
with_struct(s) r;
with_number(3) other;
empty() main;
// ----
// nocore: only declarations
typedef bit<8> byte;
const byte b = 3;
// ----
// nocore: nothing at all but a comment
// ----
// arrays of any type
struct Parts { bit<8> a; bit<4>[2] b; }
header H { bit<8> x; bit<8>[4] list; Parts[2] parts; bit<4>[2][3] matrix; }
header Simple { bit<8> x; }
header_union U { Simple a; Simple b; }
struct In { bit<8> a; bool b; }
struct S {
    bit<8>[4] bytes;
    bool[2] flags;
    In[3] structs;
    tuple<bit<8>, In>[2] tuples;
    Simple[2] stack;
    U[2] unions;
    error[2] errors;
    bit<8>[0] none;
    Simple[0] no_headers;
    varbit<16>[2] texts;
}
extern Ext { Ext(); void m(); }
extern void takes(in bit<8>[4] list, in Simple[0] none);
control many(Ext[2] list, inout bit<8> x) { apply { list[0].m(); } }
control c(inout S s, inout H h, inout bit<8> i) {
    bit<8>[4] own = { 1, 2, 3, 4 };
    bit<8>[2][2] square = { { 1, 2 }, { 3, 4 } };
    apply {
        own = s.bytes;
        h.list = own;
        h.list[i] = own[1];
        h.parts = { { 1, { 2, 3 } }, { 4, { 5, 6 } } };
        h.parts[1].b[0] = 4;
        h.matrix[2][1] = 3;
        square[1][0] = square[0][1];
        s.structs[1].a = 5;
        s.structs = { { 1, true }, { 2, false }, { a = 3, b = true } };
        s.tuples[0] = { 1, { 2, true } };
        s.tuples[1][1].a = s.tuples[0][0];
        s.stack[1].x = 4;
        s.stack[0].setValid();
        s.unions[1].a.setValid();
        s.errors[0] = error.NoError;
        bool same = s.bytes == own && s.flags == { true, false } && square != { { 1, 2 }, { 3, 4 } };
        takes(s.bytes, s.no_headers);
        takes({ 1, 2, 3, 4 }, s.no_headers);
        i = (bit<8>) s.bytes.size + (bit<8>) s.none.size;
    }
}
parser p(packet_in b, out H h, out S s) {
    state start { b.extract(h); b.extract(s.stack.next); transition accept; }
}
control d(packet_out b, in S s, in H h) { apply { b.emit(h); b.emit(s.stack); b.emit(s.no_headers); } }
// ----
// widths that are expressions
const bit<32> W = 8;
const int N = 3;
enum bit<8> Sizes { small = 4, large = 32 }
header H { bit<(W)> a; int<(W + 1)> b; varbit<(W * N * 8)> c; bit<(N > 2 ? 7 : 8)> d; }
typedef bit<(W ++ 1w0)> odd;
struct S { bit<(1 << 3)> a; bit<(H.minSizeInBits())> b; H[N + 1] stack; bit<8>[(N) * 2] list; }
bit<(W)> f(in bit<(W)> x) { return (bit<(W)>) x; }
control c(inout bit<(W)> x) {
    bit<(2 * W)> y;
    action a(bit<(N)> z) { y = (bit<(2 * W)>) z; }
    apply { y = (bit<(2 * W)>) x; x = y[W-1:0]; x = y[N +: W]; a(1); for (bit<(W)> i in 0 .. 3) { x = i; } }
}
// ----
// lists of one for scalar arguments
extern void f(in bit<8> x);
extern void g(in bool x, in bit<4> y);
extern bit<16> sum<T>(in T data);
extern E { E(bit<8> x); void m(in bit<8> x); }
bit<8> own(in bit<8> x) { return x; }
control inner(in bit<8> x) { apply { } }
control c(inout bit<8> x) {
    E({ 3 }) e;
    inner() i;
    action a(in bit<8> y) { }
    apply { f({ x }); f(x = { 3 }); g({ true }, { 2 }); e.m({ x }); x = own({ x + 1 }); i.apply({ x }); a({ x }); bit<16> s = sum({ x }); }
}
// ----
// trailing commas
enum E { A, B, }
enum bit<8> F { A = 1, B = 2, }
error { One, Two, }
match_kind { own_kind, other_kind, }
struct S { bit<8> a; bit<8> b; }
@info[1, 2,] const S s = { 1, 2, };
@info[a = 1, b = "x",] const S t = { a = 1, b = 2, };
const S u = { a = 1, ..., };
const S v = { 1, ..., };
const tuple<bit<8>, bool> w = { 1, true, };
const list<bit<8>> l = { 1, 2, 3, };
control c(inout S x) { apply { x = { 1, 2, }; x = (S){ b = 1, a = 2, }; bool y = x == { 1, 2, }; } }
// ----
// elements of tuples as targets
extern void set(out bit<8> x, inout bool y);
struct S { tuple<bit<8>, bool, tuple<bit<4>, bit<4>>> t; }
control c(inout S s, inout tuple<bit<8>, bit<8>> p) {
    tuple<bit<8>, bool> own = { 1, true };
    apply {
        own[0] = 2;
        own[1] = own[0] == 2;
        s.t[0] = own[0];
        s.t[2][1] = 3;
        s.t[2] = { 1, 2 };
        p[1][3:0] = 4;
        p[0] += 1;
        set(own[0], own[1]);
    }
}
// ----
// casts of constants
const int A = (int) 8w5;
const int B = (int) -8s5;
const bit<8> C = (bit<8>) (int) 16w7;
const int<8> D = (int<8>) (int) 8w200;
const bit<16> E = (bit<16>) (int<16>) -1;
const bit<8> F = (bit<8>) -1;
const int<4> G = (int<4>) 15;
const bit<8> H = (int) 4w3;
const bool I = (bool) 1;
const bit<1> J = (bit<1>) (bool) 1w1;
const int K = (int) (bit<4>) 100;
const bit<32> L = (bit<32>) (int) (bit<8>) A;
enum bit<8> En { x = 3 }
const int M = (int) En.x;
const int P = 1 << (int) 3w2;
control c(inout bit<8> x)(bit<8> n, int m) {
    bit<8> y = (bit<8>) m;
    bit<16> z = (bit<16>) (int) n;
    apply { x = (bit<8>) (int) n + y; x = x + (bit<8>) (int) 9w3; }
}
control d(inout bit<8> x) { c(3, 4) i; apply { i.apply(x); } }
// ----
// shifts by signed constants
const int<8> AMOUNT = 2;
const bit<8> A = 8w1 << 3s1;
const int B = 16 >> 4s2;
const int<8> C = -8s16 >> AMOUNT;
const int D = 1 << AMOUNT;
control c(inout bit<8> x, inout int<8> y) { apply { x = x << 4s1; y = y >> AMOUNT; x <<= 3s2; x = x >> (int<8>) 3; } }
// ----
// comparisons of tuples of plain numbers
const tuple<int, int> T = { 1, 2 };
const tuple<int, string, tuple<int>> U = { 1, "x", { 2 } };
const bool A = T == { 1, 2 };
const bool B = { 1, 2 } == { 1, 3 };
const bool C = { 1, 2 } != T;
const bool D = T == T;
const bool E = U[2] == { 2 };
const bool F = T[0] == 1 && T[1] < 5;
control c(inout bit<8> x) { apply { if ({ 1, 2 } == { 1, 2 } && { 1, true } != { 2, true }) { x = 1; } if (T == { 1, 2 }) { x = 2; } if ({ x, 1 } == { 2, 1 }) { } } }
// ----
// entries of tables without keys, actions as they are listed
control c(inout bit<8> x, inout bit<8> y) {
    action a() { }
    action b(inout bit<8> z) { z = 1; }
    action d(inout bit<8> z, bit<8> w) { z = w; }
    table no_key { actions = { a; } const entries = { } default_action = a; }
    table no_key_either { key = { } actions = { a; } entries = { } default_action = a(); }
    table any { key = { } actions = { a; b(x); } const entries = { _ : a; } default_action = b(x); }
    table as_listed {
        key = { x : exact; }
        actions = { a; b(x); d(y); }
        const entries = { 1 : a; 2 : a(); 3 : b; 4 : b(x); 5 : d(y, 3); }
        default_action = b;
    }
    table nothing { key = { x : exact; } actions = { } }
    apply { no_key.apply(); no_key_either.apply(); any.apply(); as_listed.apply(); }
}
// ----
// tables applied in initialisers
extern bool flip(in bool x);
control c(inout bit<8> x) {
    action a() { x = 1; }
    action b() { x = 2; }
    table t { key = { x : exact; } actions = { a; b; } default_action = a; }
    bool first = t.apply().hit;
    bool second = !t.apply().miss && flip(first);
    bit<8> third = t.apply().hit ? 8w1 : 2;
    apply {
        bool inner = t.apply().hit;
        bit<8> y = t.apply().miss ? x : 3;
        if (flip(t.apply().hit) || inner) { x = y; }
    }
}
// ----
// objects as the values of constants
extern E { E(bit<8> x); bit<8> m(); }
const E e = E(3);
E(4) f;
const E g = f;
control c(inout bit<8> x) { const E h = E(5); apply { x = e.m() + g.m() + h.m(); } }
// ----
// several varbit fields
header H { varbit<32> a; bit<8> b; varbit<16> c; }
struct S { H h; varbit<8> v; varbit<8> w; }
control c(inout S s, inout H h) { apply { s.h = h; s.v = s.w; if (s.h.a == h.a) { s.h.setInvalid(); } } }
control d(packet_out p, in H h) { apply { p.emit(h); } }
// ----
// value sets of structs
struct Key { bit<8> a; bit<16> b; }
match_kind { range }
struct Annotated { @match(ternary) bit<8> a; @match(lpm) bit<16> b; @match(range) bit<4> c; @match(exact) bool d; }
enum bit<8> E { x = 1 }
type bit<8> N;
parser p(packet_in k, in Key s, in Annotated t, in bit<8> x, in E e, in N n) {
    value_set<Key>(4) keys;
    value_set<Annotated>(4) others;
    value_set<tuple<bit<8>, bit<16>>>(3) tuples;
    value_set<tuple<>>(3) empty;
    value_set<E>(3) enums;
    value_set<N>(3) news;
    value_set<bit<(8)>>(2 + 1) bits;
    @name("given") value_set<bit<8>>(1) named;
    state start {
        transition select(s.a, s.b) { keys: accept; tuples: reject; (1, 2): accept; (bits, _): accept; default: next; }
    }
    state next { transition select(t.a, t.b, t.c, t.d) { others: accept; (named, 1, 2, true): last; } }
    state last { transition select(e) { enums: accept; _: further; } }
    state further { transition select(n, e) { (news, enums): accept; _: struct_key; } }
    state struct_key { transition select(s) { keys: accept; _: reject; } }
}
// ----
// value sets of structs within structs, for the values that they are made of
struct Inner { bit<8> a; bit<16> b; }
struct Outer { Inner inner; bool c; }
struct One { bit<8> only; }
parser p(packet_in k, in Outer s) {
    value_set<Outer>(4) outers;
    value_set<One>(4) ones;
    state start { transition select(s.inner.a, s.inner.b, s.c) { outers: accept; _: next; } }
    state next { transition select(s.inner, s.c) { outers: accept; _: last; } }
    state last { transition select({ s.inner.a }) { ones: accept; { 8 }: reject; } }
}
// ----
// typedefs of strings and match kinds, which no variable has
typedef string Text;
typedef match_kind Kind;
const Text text = "a" ++ "b";
const Kind kind = exact;
extern void log(Text text);
control c() { apply { log(text); log("c"); } }
// ----
// overloads by names of parameters
extern void f(in bit<8> a);
extern void f(in bit<16> b);
extern void f(in bit<8> a, in bit<16> b);
extern E { E(bit<8> a); E(bit<16> b); E(); void m(in bit<8> x); void m(in bit<16> y); void m(); bit<8> n(in bool p, in bool q); bool n(in bool p, in bool r); }
bit<8> own(in bit<8> a) { return a; }
bit<16> own(in bit<16> b) { return b; }
bit<8> own(in bit<8> x, in bool y) { return x; }
control c(inout bit<8> x, inout bit<16> y) {
    E(a = 1) e1;
    E(b = 1) e2;
    E() e3;
    apply {
        f(a = 1);
        f(b = 1);
        f(1, 2);
        f(b = 1, a = 2);
        e1.m(x = x);
        e2.m(y = y);
        e3.m();
        x = e1.n(p = true, q = false);
        bool z = e1.n(r = true, p = false);
        x = own(a = 1);
        y = own(b = 1);
        x = own(1, true);
    }
}
// ----
// shadowing
struct x { bit<8> y; }
const bit<8> k = 1;
bit<8> same(in bit<8> same) { return same; }
control c(inout bit<8> k)(bit<8> n) {
    action a(bit<8> a) { bit<8> k = a; bit<8> n = k; }
    bit<8> same = n;
    bit<8> NoAction = 3;
    apply {
        bit<8> a = k;
        bit<8> same = a;
        { bool same = true; { bit<4> same = 1; } if (same) { } }
        for (bit<8> same in 0 .. 3) { bit<16> same = 4; }
        for (bit<8> i = 0, bit<8> a = 1; i < 3; i = i + 1) { bit<8> i = a; }
        bit<8> x = 3;
        bit<8> error_ = x;
        k = .k;
    }
}
parser p(packet_in b, in bit<8> start) {
    bit<8> next = start;
    state start { bit<8> start = next; bit<8> accept = start; transition other; }
    state other { bit<8> start = 3; transition accept; }
}
control T<T>(inout T t) { apply { T u = t; t = u; } }
// ----
// annotations with any tokens, repeated and in both forms
@any(a b c) @any(, ; : ? = == != <= >= << >> && || &&& .. ++ |+| |-| + - * / % & | ^ ~ ! < > . @) const bit<1> k0 = 1;
@any([) @any(]) @any({) @any(}) @any({(})(])) @any(()()) @any() @any const bit<1> k1 = 1;
@any(if else for return switch transition select state table action control parser package extern struct header) const bit<1> k2 = 1;
@any("string" 'x' 3 4w5 -8s2 0xff 0b1 _ true false in out inout error bit<8> varbit<3> @other(x)[y]) const bit<1> k3 = 1;
@any[] @any[1] @any[1, "x", true, 2 + 3] @any[x = 1] @any[x = 1, y = "z"] const bit<1> k4 = 1;
@any(1) @any[2] @any @any(3) const bit<1> k5 = 1;
@name("one") @name("two") const bit<1> k6 = 1;
@type(x) @list(y) @key @actions @state @entries @apply @priority @pragma(z) const bit<1> k7 = 1;
@deprecated("use " ++ "another " ++ "one") extern void old();
@deprecated("two " "strings") extern void older();
@noWarn("deprecated") control c(@optional in bit<8> x, @optional inout bit<8> y) { apply { old(); older(); } }
@deprecated("a" ++ "b") extern Old { Old(); }
@pragma one two three
control d() { c() i; apply { bit<8> z = 1; i.apply(1, z); i.apply(y = z); } }
// ----
// @optional on parsers, controls and constructors of externs
extern E { E(@optional bit<8> x, bit<8> y); void m(@optional in bit<8> x, @optional out bit<8> y); }
control shape(inout bit<8> a, @optional in bit<8> b);
control c(inout bit<8> a, @optional in bit<8> b) { apply { a = b; } }
control short(inout bit<8> a) { apply { } }
parser p(packet_in b, @optional out bit<8> x) { state start { x = 1; transition accept; } }
parser q(packet_in b) { p() sub; state start { sub.apply(b); transition accept; } }
package P(shape s, @optional shape t, @optional bit<8> n);
control user(inout bit<8> a) { c() i; E(y = 3) e; apply { i.apply(a); i.apply(a, 3); e.m(); e.m(y = a); } }
P(c()) one;
P(s = short(), n = 3) main;
// ----
// actions of one @name
control c(inout bit<8> x) {
    @name("same") action a() { x = 1; }
    @name("same") action b() { x = 2; }
    action d() { x = 3; }
    @name("d") action e() { x = 4; }
    table t { key = { x : exact; } actions = { a; d; } default_action = a; }
    table u { key = { x : exact; } actions = { b; e; } default_action = b; }
    apply { t.apply(); u.apply(); }
}
// ----
// abstract methods beside others of their names
extern V {
    V();
    abstract bit<8> f(in bit<8> x);
    bit<8> f(in bit<8> x, in bit<8> y);
    abstract void g(in bit<8> x, @optional in bit<8> y);
    void h();
    abstract bit<8> k(in bit<8> x = 3);
}
control c(inout bit<8> x) {
    V() v = {
        bit<8> f(in bit<8> x) { return x + 1; }
        void g(in bit<8> x) { }
        bit<8> k(in bit<8> y) { return y; }
    };
    V() w = {
        bit<8> f(in bit<8> z) { return this.f(z, 1); }
        void g(in bit<8> x, in bit<8> y) { }
        bit<8> k(in bit<8> x = 5) { return x; }
    };
    apply { x = v.f(x); x = v.f(x, 2); w.g(1); w.g(1, 2); v.h(); x = v.k(); x = w.k(1); }
}
// ----
// `_` in the parameters of what a package takes, and of what is applied without a name
struct Pair<A, B> { A a; B b; }
parser parser_kind<T>(packet_in b, out Pair<T, bit<8>> p);
control kind<T>(inout Pair<T, bit<8>> p, inout T t);
package Top<T>(parser_kind<T> p, kind<T> c, kind<_> d);
parser p(packet_in b, out Pair<_, bit<8>> x) { state start { x.b = 1; transition accept; } }
control c(inout Pair<bit<16>, _> x, inout bit<16> t) { apply { x.a = t; } }
control d(inout Pair<_, bit<8>> x, inout bool t) { apply { x.b = 2; Pair<bit<16>, bit<4>> y = { 1, 2 }; bit<16> z = 3; c.apply(y, z); } }
Top(p(), c(), d()) main;
// ----
// abstract methods that instances may leave out
extern V { V(); @optional abstract void f(in bit<8> x); abstract void g(); }
extern W { W(); @optional abstract void f(in bit<8> x); }
control c(inout bit<8> x) { V() v = { void g() { } }; W() w; V() u = { void f(in bit<8> y) { } void g() { } }; apply { w.f(x); } }
