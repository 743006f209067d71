// The preprocessor, annotations, entries, generics, packages.
// ----
// pragma and preprocessor forms
#pragma foo bar
@pragma something else here
const bit<8> a = 1;
#ifdef FOO
#error "no"
#elif defined(BAR) || 0
#error "no"
#else
const bit<8> b = 2;
#endif
#if 1 + 2 * 3 == 7 && (1 << 3) == 8 && !defined FOO && -1 < 0 && ~0 == -1 && 5 % 3 == 2 && 7 / 2 == 3
const bit<8> c = 3;
#else
#error
#endif
#if (1 ? 2 : 3) == 2
const bit<8> d = 3;
#endif
#if 0x10 == 16 && 010 == 8 && 1UL == 1 && 1u == 1 && 1L == 1
const bit<8> ddd = 3;
#endif
#if UNDEFINED
#error
#endif
#define CAT(a, b) a ## b
#define STR(x) #x
#define XSTR(x) STR(x)
#define V(...) { __VA_ARGS__ }
#define W(first, ...) { first, __VA_ARGS__ }
#define EMPTY
#define LONG 1 + \
   2 + \
   3
const bit<8> CAT(e, f) = LONG;
const string s = STR(hello "x" world);
const string s2 = XSTR(LONG);
const tuple<bit<8>, bit<8>> t = V(1, 2);
const tuple<bit<8>, bit<8>> t2 = W(1, 2);
const bit<32> line = __LINE__;
const string file = __FILE__;
const string date = __DATE__;
const string time = __TIME__;
EMPTY
#undef EMPTY
#undef NEVER
#line 100
#line 200 "foo.p4"
# 300 "bar.p4"
# 300 "bar.p4" 1 3
#
#warning this is a warning with 'apostrophe
#ident "x"
#if 0
don't care about 'this
#elif 1
const bit<8> g = 2;
#endif
#ifndef X
#define X
#endif
#ifdef X // comment
const bit<8> h = 2;
#else // comment
#endif // X
// ----
// spliced token \
comment continues
const bit<8> \
  a = 3;
#define M(x) \
  const bit<8> x = 3; \
  const bit<8> x##_y = 3;
M(b)
#define F(x) ((x) + 1)
const int z = F(F(F(1)));
#define f(x) x
const int f = f(3) + f
(4);
#define OBJ OBJ + 1
const int OBJ2 = 1;
#define __VERSION 3
#if __VERSION >= 3 \
  && 1
const bit<8> q = 1;
#endif
#if defined __p4c__ || defined(__P4C__)
#endif
// ----
// no newline at the end and carriage returns
const bit<8> a = 1; // x
// ----
// annotations with bodies
@empty @p() @q(1) @r(1, "x", true) @s[] @t[1, 2, 3] @u[a=1, b="x"] @v(any tokens + here ( nested ) { } [ ] ; ,)
@w["x" ++ "y", 1 + 2] @deprecated("msg") @noWarn("unused") @pkginfo[name="x", version="1"]
const bit<8> a = 1;
@pkginfo(arch="v1model", organization="p4.org") @platform_property[x=1, y=2]
@multi("a"
 "b")
@description("x", "y") @my_anno(=, <, >, "x", 3w4, ->) @brief("...") @id(0x1234)
const bit<8> b = 2;
// ----
// annotations in all places
@a struct S { @a @b bit<8> x; @c("d") bit<8> y; }
@a header H { @a bit<8> x; }
@a header_union U { @a H h; }
@a enum E { x }
@a enum bit<8> F { x = 1 }
@a typedef bit<8> T;
@a type bit<8> N;
@a error { Foo }
@a match_kind { foo }
@a extern void f(@a in bit<8> x, @optional in bit<8> y);
@a extern X { @a X(@a bit<8> a); @a void m(@a in bit<8> x); @pure bit<8> n(); @a @b abstract void z(); }
@a parser P(@a in bit<8> x)(@a bit<8> y) {
    @a const bit<8> c = 1;
    @a bit<8> v;
    @a value_set<bit<8>>(4) vs;
    @a state start { @a bit<8> w = 1; @a v = w; @a { } @a if (x == 1) { } transition accept; }
}
@a control C(@a inout bit<8> x)(@a bit<8> y) {
    @a action a(@a in bit<8> z, @a bit<8> w) { }
    @a action NoAction2() { }
    @a table t {
        @a key = { x : exact @a @name("b") @c; }
        @a actions = { @a NoAction; @tableonly @b("x") a(x); @defaultonly NoAction2; }
        @a default_action = NoAction();
        @a size = 3;
        @a const entries = { 1 : NoAction(); 2 : a(x, 3) @a @b("c"); }
    }
    apply { }
}
@a package K(@a C c);
@a bit<8> g(@a in bit<8> x) { return x; }
@a action aa() { }
// ----
// entries with trailing annotations, const and priorities
control C(inout bit<8> x, inout bit<8> y) {
    action a(bit<8> v) { x = v; }
    table t {
        key = { x : ternary; y : exact; }
        actions = { a; NoAction; }
        entries = {
            const priority = 10: (1, 2) : a(3) @name("foo");
            priority = 1 + 2: (1 &&& 3, 2) : a(3);
            const (4, 5): NoAction();
            (_, default): a(v = 3);
        }
        largest_priority_wins = false;
        priority_delta = 10;
        size = 8 * 1024;
        const default_action = a(3);
        const my_property = { 1, 2, 3 };
        my_other = true ? 1 : 2;
        psa_implementation = NoAction;
    }
    table empty_key { key = { } actions = { NoAction; } const default_action = NoAction; }
    table empty_entries { key = { x : exact; } actions = { NoAction; } const entries = { } }
    table no_default { key = { x : exact; } actions = { @tableonly NoAction; @defaultonly a; } default_action = a(1); }
    apply { if (t.apply().hit && !empty_key.apply().miss) { } }
}
// ----
// loops in actions, switch in functions
control c(inout bit<8> x, inout bit<8> y) {
    action a() {
        for (bit<8> i = 0; i < 3; i = i + 1) { y = y + 1; }
        if (x == 1) { return; } else { exit; }
    }
    apply { a(); }
}
bit<8> f(in bit<8> x) {
    switch (x) { 1: { return 1; } 2: 3: { } default: { } }
    return x;
}
// ----
// generic functions and externs with wildcards
extern T f<T>(in T x);
extern void g<T, U>(in T x, out U y);
extern X<T> { X(); U m<U>(in U x, in T y); void n<A, B>(in A a, out B b); }
T id<T>(in T x) { return x; }
void swap<T>(inout T a, inout T b) { T c = a; a = b; b = c; }
control c(inout bit<8> x, inout bit<16> y) {
    X<bit<8>>() e;
    apply {
        x = f<_>(x);
        g<_, bit<16>>(x, y);
        g<_, _>(x, y);
        x = e.m(x, 3);
        x = e.m<bit<8>>(3, 4);
        e.n<bit<8>, _>(3, y);
        x = id(x);
        x = id<bit<8>>(3);
        y = id<_>(y);
        swap(x, x);
    }
}
// ----
// generic structures inferred
struct P<A, B> { A a; B b; }
header H<T> { T v; }
header_union HU<T> { H<T> a; H<bit<8>> b; }
extern void use<T>(in P<T, bit<8>> p);
extern T first<T, U>(in P<T, U> p);
extern void st<T>(in T[3] s);
extern void tup<T>(in tuple<T, T> t);
extern void li<T>(in list<T> l);
extern void two<T>(in T a, in T b);
typedef P<bit<8>, bit<16>> PP;
typedef H<bit<32>> H32;
struct Hs { H32 h; H<bit<16>>[4] st; HU<bit<64>> u; HU<bit<64>>[2] us; }
control c(inout PP p, inout Hs hs) {
    P<P<bit<1>, bool>, tuple<bit<8>, bit<8>>> q;
    apply {
        q = { a = { a = 1, b = true }, b = { 1, 2 } };
        q.a.a = 1; q.a.b = false;
        p = { 1, 2 };
        use<bit<4>>({ 1, 2 });
        use((P<bit<4>, bit<8>>){ a = 1, b = 2 });
        p.a = first(p);
        bit<8> z = first<bit<8>, bit<16>>({ 1, 2 });
        tup({ 8w1, 8w2 });
        tup({ 8w1, 2 });
        li((list<bit<8>>){ 1, 2 });
        li<bit<8>>({ 1, 2, 3 });
        two(8w1, 2);
        two(1, 8w1);
        two(p, { 1, 2 });
        two(p, { a = 1, b = 2 });
        hs.h.v = 3;
        hs.us[1].a.v = 3;
        hs.us[0].b = { 3 };
        hs.st[2] = { 1 };
        hs.h = (H32){ v = 7 };
        hs.h = (H<bit<32>>){ v = 7 };
        hs.h = (H32){#};
    }
}
// ----
// abstract externs
extern V { V(bit<8> n); abstract bit<8> f(in bit<8> x); abstract void g(); abstract T h<T>(in T x); void run(); bit<8> get(in bit<8> x); }
extern A<T> { A(); abstract void apply(inout T v, in bit<8> x); bool run(in bit<32> i); }
extern bit<8> ext(in bit<8> x);
V(3) global = { bit<8> f(in bit<8> x) { return x + 1; } void g() { } T h<T>(in T x) { return x; } };
control c(inout bit<8> x) {
    V(3) v = {
        bit<8> f(in bit<8> y) { return ext(y); }
        void g() { }
        T h<T>(in T t) { return t; }
    };
    A<bit<16>>() a = {
        void apply(inout bit<16> w, in bit<8> y) { w = w + (bit<16>)y; }
    };
    apply { v.run(); if (a.run(3)) { } x = global.get(x); }
}
// ----
// packages of our own
control C<H>(inout H h);
parser P<H>(packet_in p, out H h);
package Inner<H>(C<H> c, @optional P<H> p, bit<8> n = 3);
package Outer<H, M>(Inner<H> a, Inner<H> b, M m);
package None();
package Lib(bool b, string s, int n);
struct S { bit<8> x; }
control ctl(inout S s) { apply { } }
parser prs(packet_in p, out S s) { state start { transition accept; } }
Inner(ctl()) i1;
Inner<S>(c = ctl(), p = prs(), n = 7) i2;
None() none;
Lib(true, "abc", 12) lib;
Lib(s = "abc" ++ "d", b = 1 == 2, n = -1) lib2;
Outer(i1, Inner(ctl()), 8w3) main;
// ----
// controls passed to packages with constructor arguments
control C<H>(inout H h);
package Sw<H>(C<H> c, C<H> d);
extern Reg<T> { Reg(bit<32> n); }
control leaf(inout bit<8> h)(bit<8> k) { apply { h = k; } }
control ctl(inout bit<8> s)(bit<8> n, bool b, Reg<bit<8>> r, leaf l) { apply { if (b) { s = n; } l.apply(s); } }
Reg<bit<8>>(32) shared;
Sw(ctl(1, true, shared, leaf(3)), ctl(n = 2, b = false, r = Reg<bit<8>>(4), l = leaf(4))) main;
