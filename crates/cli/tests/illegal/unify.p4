// Types that cannot be one; externs and their abstract methods.

// ---- two struct types of different names
struct S { bit<8> x; }
struct T { bit<8> x; }
extern void f<A>(in A a, in A b);
control c(in S s, in T t) { apply {
    f(s, t);  //~ E0301
} }
// ---- widths differ
extern void f<A>(in A a, in A b);
control c(in bit<8> s, in bit<9> t) { apply {
    f(s, t);  //~ E0301
} }
// ---- list vs tuple arity
extern void f<A>(in tuple<A, A> a);
control c(in bit<8> s) { apply {
    f({ s });  //~ E0408
} }
// ---- tuple vs list
control c(in list<bit<8>> s) {  //~ E0314
    apply {
        tuple<bit<8>, bit<8>> t = s;
    }
}
// ---- return differs from explicit
extern T f<T>();
control c(out bit<8> s) { apply {
    s = f<bit<9>>();  //~ E0301
} }
// ---- struct generic mismatch
struct G<T> { T t; }
control c(in G<bit<8>> a, out G<bit<9>> b) { apply {
    b = a;  //~ E0301
} }
// ---- extern generic arg mismatch
extern X<T> { X(); void m(in T t); }
control c(in bool b) {
    X<bit<8>>() x;
    apply {
        x.m(b);  //~ E0301
    }
}
// ---- extern generic two
extern X<T> { X(); void m<U>(in T t, in U u, in U v); }
control c(in bool b) {
    X<bit<8>>() x;
    apply {
        x.m(1, b, 8w1);  //~ E0301
    }
}
// ---- package params
control C<H>(inout H h);
control D<H>(in H h);
package P<H>(C<H> c, D<H> d);
struct S { bit<8> x; }
struct T { bit<8> x; }
control c(inout S s) { apply { } }
control d(in T s) { apply { } }
P(c(), d()) main;  //~ E0301
// ---- package explicit mismatch
control C<H>(inout H h);
package P<H>(C<H> c);
control c(inout bit<8> s) { apply { } }
P<bool>(c()) main;  //~ E0301
// ---- control param vs struct
control C<H>(inout H h, in bit<8> x);
package P<H>(C<H> c);
control c(inout bit<8> s, in bit<9> x) { apply { } }
P(c()) main;  //~ E0508
// ---- constructor param
control C<H>(inout H h);
control c(inout bit<8> x) { apply { } }
control d(inout bit<9> x)(C<bit<9>> k) { apply { k.apply(x); } }
control e(inout bit<9> x) {
    d(c()) dd;  //~ E0301
    apply { dd.apply(x); }
}
// ---- T used as bit and bool
extern T f<T>(in T a);
control c(inout bit<8> a, in bool b) { apply {
    a = f(b);  //~ E0301
} }
// ---- header stack vs header
header H { bit<8> x; }
extern void f<T>(in T[2] a);
control c(in H h) { apply {
    f(h);  //~ E0508
} }
// ---- stack size vs stack size
header H { bit<8> x; }
extern void f(in H[2] a);
control c(in H[3] h) { apply {
    f(h);  //~ E0301
} }
// ---- bit vs int
extern void f<T>(in T a, in T b);
control c(in bit<8> s, in int<8> t) { apply {
    f(s, t);  //~ E0301
} }
// ---- enum vs bit
enum E { A }
extern void f<T>(in T a, in T b);
control c(in bit<8> s) { apply {
    f(s, E.A);  //~ E0301
} }
// ---- newtype vs base
type bit<8> N;
extern void f<T>(in T a, in T b);
control c(in bit<8> s, in N n) { apply {
    f(s, n);  //~ E0301
} }
// ---- infinite type
extern void f<T>(in T a, in tuple<T> b);
control c(in tuple<bit<8>> s) { apply {
    f(s, s);  //~ E0301
} }
// ---- list elements unlike
const list<bit<8>> l = { 8w1, true };  //~ E0301
// ---- list of tuples
const list<tuple<bit<8>, bool>> l = { { 1, true }, { true, 1 } };  //~ E0301 E0301
// ---- varbit sizes
control c(inout varbit<8> a, in varbit<9> b) { apply {
    a = b;  //~ E0301
} }
// ---- value_set and key
#include <core.p4>
parser p(in bit<8> x) {
    value_set<bit<16>>(4) vs;
    state start {
        transition select(x) {
            vs: accept;  //~ E0615
            default: reject;
        }
    }
}
// ---- value_set tuple
#include <core.p4>
parser p(in bit<8> x, in bit<8> y) {
    value_set<tuple<bit<8>, bit<16>>>(4) vs;
    state start {
        transition select(x, y) {
            vs: accept;  //~ E0615
            default: reject;
        }
    }
}
// ---- abstract extern method signature
extern X { X(); abstract bit<8> m(in bit<8> a); }
control c() {
    X() x = {
        bit<16> m(in bit<8> a) { return 1; }  //~ E0515
    };
    apply { }
}
// ---- abstract param type
extern X { X(); abstract bit<8> m(in bit<8> a); }
control c() {
    X() x = {
        bit<8> m(in bit<16> a) { return 1; }  //~ E0515
    };
    apply { }
}
// ---- abstract direction
extern X { X(); abstract bit<8> m(in bit<8> a); }
control c() {
    X() x = {
        bit<8> m(inout bit<8> a) { return 1; }  //~ E0515
    };
    apply { }
}
// ---- abstract missing
extern X { X(); abstract bit<8> m(in bit<8> a); }
control c() {
    X() x = {  //~ E0514
    };
    apply { }
}
// ---- abstract missing with no block
extern X { X(); abstract bit<8> m(in bit<8> a); }
control c() {
    X() x;  //~ E0514
    apply { }
}
// ---- not abstract implemented
extern X { X(); bit<8> m(in bit<8> a); }
control c() {
    X() x = {
        bit<8> m(in bit<8> a) { return 1; }  //~ E0516
    };
    apply { }
}
// ---- implement unknown method
extern X { X(); abstract bit<8> m(in bit<8> a); }
control c() {
    X() x = {
        bit<8> m(in bit<8> a) { return 1; }
        bit<8> n(in bit<8> a) { return 1; }  //~ E0516
    };
    apply { }
}
// ---- abstract implemented twice
extern X { X(); abstract bit<8> m(in bit<8> a); }
control c() {
    X() x = {
        bit<8> m(in bit<8> a) { return 1; }
        bit<8> m(in bit<8> a) { return 2; }  //~ E0203
    };
    apply { }
}
// ---- abstract body uses unknown
extern X { X(); abstract bit<8> m(in bit<8> a); }
control c() {
    X() x = {
        bit<8> m(in bit<8> a) { return b; }  //~ E0201
    };
    apply { }
}
// ---- abstract in function ctor arg
extern X { X(); abstract bit<8> m(in bit<8> a); }
control d(X x) { apply { } }
package P(X x);
P(X()) main;  //~ E0514
// ---- extern with body on non extern
control d() { apply { } }
control c() {
    d() x = {
        void m() { }  //~ E0516
    };
    apply { }
}
// ---- this outside
extern X { X(); void m(); }
control c() {
    apply { this.m(); }  //~ E0208
}
// ---- constructor with result
extern X {
    void X();  //~ E0520
}
// ---- constructor of other name
extern X {
    Y();  //~ E0120
}
// ---- duplicate constructors
extern X {
    X();
    X();  //~ E0203
}
// ---- two overloads same count differ in type, legal with p4c
extern X {
    X();
    abstract X(in bit<8> a);  //~ E0120
}
// ---- abstract on function
abstract void f();  //~ E0120
// ---- instance of abstract in apply param
extern X { X(); }
control c(X x) { apply { } }
control d() {
    X() a;
    c() cc;
    apply { cc.apply(X()); }  //~ E0511
}
// ---- recursion between externs is ok, package recursion
package P(P p);  //~ E0202
