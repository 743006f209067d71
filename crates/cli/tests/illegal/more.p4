// More of all kinds.

// ---- type variable not bound by package use
control C<T>(inout T t);
package P<T, U>(C<T> c);
control c(inout bit<8> x) { apply { } }
P(c()) main;  //~ E0313
// ---- dont-care in package instance is fine but a wrong one not
control C<T>(inout T t);
package P<T>(C<T> c);
control c(inout bit<8> x) { apply { } }
P<bit<16>>(c()) main;  //~ E0301
// ---- factory with wrong argument
extern Crc16<T> { Crc16(bit<32> size); }
control c() {
    Crc16<bit<8>>(true) crc;  //~ E0301
    apply { }
}
// ---- factory with no specialisation and no inference
extern Crc16<T> { Crc16(); void init<D>(in D d); T get(); }
control c() {
    Crc16() crc;  //~ E0313
    apply { }
}
// ---- interface method with wrong generic
extern Crc16<T> { Crc16(); void init<D>(in D d); T get(); }
control c(out bit<8> x) {
    Crc16<bit<16>>() crc;
    apply {
        x = crc.get();  //~ E0301
    }
}
// ---- interface method applied without instance
extern Crc16<T> { Crc16(); void init<D>(in D d); T get(); }
control c(out bit<8> x) {
    apply {
        x = Crc16.get();  //~ E0304
    }
}
// ---- interface method with specialised type
extern Crc16<T> { Crc16(); void init<D>(in D d); T get(); }
control c(out bit<8> x) {
    apply {
        x = Crc16<bit<8>>.get();  //~ E0206
    }
}
// ---- type in expression
control c(out bit<8> x) {
    apply {
        x = bit<8>;  //~ E0120
    }
}
// ---- type parameter in expression
void f<T>(out bit<8> x) {
    x = T;  //~ E0120
}
// ---- type in addition
struct S { bit<8> a; }
control c(out bit<8> x) {
    apply {
        x = 1 + S;  //~ E0120
    }
}
// ---- type parameter as function
void f<T>(out bit<8> x) {
    T(1);  //~ E0120
}
// ---- function named as type
bit<8> f() { return 1; }
control c(f x) {  //~ E0204
    apply { }
}
// ---- width from a run-time parameter
void f(in bit<8> n) {
    bit<(n)> x = 0;  //~ E0405
}
// ---- width from constructor parameter
control c()(int n) {
    bit<n> x;  //~ E0125
    apply { }
}
// ---- struct constant used as width
struct S { bit<8> a; }
const S s = { 8 };
struct T {
    bit<(s)> x;  //~ E0301
}
// ---- array size string
header H { bit<8> x; }
struct S {
    H["a"] h;  //~ E0301
}
// ---- constant without matching width
const bit<8> a = 8w1 ++ 8w2;  //~ E0301
// ---- const of a call to a method
header H { bit<8> x; }
const bool b = H.isValid();  //~ E0206
// ---- constant struct with a runtime field
struct S { bit<8> a; }
control c(in bit<8> x) {
    const S s = { x };  //~ E0405
    apply { }
}
// ---- constant list elements
const list<bit<8>> l = (list<bit<8>>){ 1, true };  //~ E0301
// ---- constant tuple too long
const tuple<bit<8>, bool> t = { 1, true, 2 };  //~ E0408
// ---- constant header stack
header H { bit<8> x; }
const H[2] h = { { 1 }, { true } };  //~ E0301
// ---- string plus
const string s = "a" + "b";  //~ E0419
// ---- string order
const bool s = "a" < "b";  //~ E0419
// ---- string index
const bit<8> s = "abc"[0];  //~ E0423
// ---- negate string
const string s = -"a";  //~ E0419
// ---- string cast
const bit<8> s = (bit<8>)"a";  //~ E0302
// ---- string variable in an action
action a(string s) { }  //~ E0314
// ---- string field
struct S { string s; }  //~ E0303
// ---- string returned
string f() { return "a"; }  //~ E0314
// ---- int parameter of a function
void f(in int x) { }  //~ E0314
// ---- int in an action
action a(int x) { }  //~ E0314
// ---- int in out
extern void f(out int x);  //~ E0314
// ---- generic inferred as int
T f<T>(in T t) { return t; }
control c(out bit<8> x) { apply {
    x = f(5);  //~ E0318
} }
// ---- generic struct without fields bound
struct S<T> { T t; }
control c() { apply {
    S s;  //~ E0304
} }
// ---- generic struct with a value of other type
struct S<T> { T t; }
const S<bit<8>> s = { true };  //~ E0301
// ---- nested generic mismatch
struct S<T> { T t; }
struct G<T> { S<T> s; }
const G<bit<8>> g = { s = { t = 16w1 } };  //~ E0301
// ---- generic header union
header H<T> { T t; }
header_union U<T> {
    T t;
}
const U<bit<8>> u = {#};  //~ E0303
// ---- method of generic with too many
extern X<T> { X(); void m(in T t); }
control c() {
    X<bit<8>, bit<8>>() x;  //~ E0304
    apply { }
}
// ---- typedef of generic
struct S<T> { T t; }
typedef S T1;  //~ E0304
// ---- newtype of generic
struct S<T> { T t; }
type S<bit<8>> N;  //~ E0305
// ---- control type with body as type argument
control c() { apply { } }
struct S<T> { T t; }
control d() {
    S<c> s;  //~ E0303
    apply { }
}
// ---- two returns
bit<8> f() {
    return 1, 2;  //~ E0120
}
// ---- return in the middle only
bit<8> f(in bit<8> x) {  //~ E0602
    if (x == 0) {
        return 1;
    }
}
// ---- return in a loop only
bit<8> f(in bit<8> x) {  //~ E0602
    for (bit<8> i in 1 .. 3) {
        return i;
    }
}
// ---- return in a switch without default
bit<8> f(in bit<8> x) {  //~ E0602
    switch (x) {
        1: { return 1; }
    }
}
// ---- return struct of other type
struct S { bit<8> a; }
struct T { bit<8> a; }
S f(in T t) {
    return t;  //~ E0301
}
// ---- void in expression
void f() { }
control c() { apply {
    if (f()) { }  //~ E0301
} }
// ---- void argument
void f() { }
void g(in bit<8> x) { }
control c() { apply {
    g(f());  //~ E0416
} }
// ---- void compared
void f() { }
control c() { apply {
    bool b = f() == f();  //~ E0416 E0416
} }
// ---- state called as function
parser p() {
    state start {
        next();  //~ E0509
        transition accept;
    }
    state next { transition accept; }
}
// ---- parser uses name of control
control c() { apply { } }
parser p() {
    state start { transition c; }  //~ E0612
}
// ---- select with two names
parser p(in bit<8> x) {
    state start {
        transition select(x) {
            1: accept, reject;  //~ E0120
        }
    }
}
// ---- select key of other signedness
parser p(in int<8> x) {
    state start {
        transition select(x) {
            8w1: accept;  //~ E0301
            default: reject;
        }
    }
}
// ---- select enum key
enum E { A }
parser p(in E x) {
    state start {
        transition select(x) {
            1: accept;  //~ E0301
            default: reject;
        }
    }
}
// ---- select with header field mask of bool
parser p(in bit<8> x) {
    state start {
        transition select(x) {
            true &&& false: accept;  //~ E0301 E0301
            default: reject;
        }
    }
}
// ---- select with a function result
bool f() { return true; }
parser p(in bit<8> x) {
    state start {
        transition select(x) {
            f(): accept;  //~ E0301
            default: reject;
        }
    }
}
// ---- select with a nested tuple
parser p(in bit<8> x, in bit<8> y) {
    state start {
        transition select(x, y) {
            (1, (2, 3)): accept;  //~ E0120
            default: reject;
        }
    }
}
// ---- select of an instance
extern X { X(); }
parser p() {
    X() x;
    state start {
        transition select(x) {  //~ E0416
            default: reject;
        }
    }
}
// ---- select of a stack
header H { bit<8> a; }
parser p(in H[2] h) {
    state start {
        transition select(h) {  //~ E0623
            default: reject;
        }
    }
}
// ---- value set of a control
control c(in bit<8> x) {
    value_set<bit<8>>(3) v;  //~ E0120
    apply { }
}
// ---- value set written
parser p(in bit<8> x) {
    value_set<bit<8>>(3) v;
    state start {
        v = 3;  //~ E0204
        transition accept;
    }
}
// ---- value set as transition
parser p(in bit<8> x) {
    value_set<bit<8>>(3) v;
    state start {
        transition v;  //~ E0612
    }
}
// ---- assignment of a header to its field
header H { bit<8> a; }
control c(inout H h) { apply {
    h.a = h;  //~ E0301
} }
// ---- assignment of a stack element beyond
header H { bit<8> a; }
control c(inout H[2] h) { apply {
    h[2] = h[1];  //~ E0404
} }
// ---- assignment of a stack element below
header H { bit<8> a; }
const int i = -1;
control c(inout H[2] h) { apply {
    h[i] = h[1];  //~ E0404
} }
// ---- header stack in a switch
header H { bit<8> a; }
control c(inout H[2] h) { apply {
    switch (h) { default: { } }  //~ E0607
} }
// ---- isValid as an l-value
header H { bit<8> a; }
control c(inout H h) { apply {
    h.isValid = true;  //~ E0205
} }
// ---- method without call
header H { bit<8> a; }
control c(inout H h) { apply {
    h.setValid;  //~ E0130
} }
// ---- emit twice the arguments
#include <core.p4>
header H { bit<8> a; }
control c(packet_out b, in H h) { apply {
    b.emit(h, h);  //~ E0501
} }
// ---- extract to an in parameter
#include <core.p4>
header H { bit<8> a; }
parser p(packet_in b, in H h) { state start {
    b.extract(h);  //~ E0402
    transition accept;
} }
// ---- extract result used
#include <core.p4>
header H { bit<8> a; }
parser p(packet_in b, out H h) { state start {
    h = b.extract(h);  //~ E0301
    transition accept;
} }
// ---- extract with type
#include <core.p4>
header H { bit<8> a; }
header G { bit<8> a; }
parser p(packet_in b, out H h) { state start {
    b.extract<G>(h);  //~ E0508
    transition accept;
} }
// ---- lookahead to another type
#include <core.p4>
parser p(packet_in b, out bit<8> h) { state start {
    h = b.lookahead<bit<16>>();  //~ E0301
    transition accept;
} }
// ---- lookahead with argument
#include <core.p4>
parser p(packet_in b, out bit<8> h) { state start {
    h = b.lookahead<bit<8>>(3);  //~ E0501
    transition accept;
} }
// ---- advance signed
#include <core.p4>
parser p(packet_in b, in int<32> n) { state start {
    b.advance(n);  //~ E0301
    transition accept;
} }
// ---- packet copied
#include <core.p4>
parser p(packet_in b, packet_in d) { state start {
    b = d;  //~ E0402
    transition accept;
} }
// ---- verify with a number
#include <core.p4>
parser p() { state start {
    verify(true, 3);  //~ E0301
    transition accept;
} }
// ---- verify with unknown error
#include <core.p4>
parser p() { state start {
    verify(true, error.Nope);  //~ E0205
    transition accept;
} }
// ---- error value out of nowhere
control c(out error e) { apply {
    e = error.Nope;  //~ E0205
} }
// ---- error compared with number
error { A }
const bool b = error.A == 0;  //~ E0420
// ---- error as enum
error { A }
const error e = error;  //~ E0120
// ---- enum with a method
enum E { A }
control c(in E e) { apply {
    e.A();  //~ E0205
} }
// ---- enum member of a value
enum E { A }
control c(in E e, out bool b) { apply {
    b = e.A == e;  //~ E0206
} }
// ---- enum duplicate through typedef
enum E { A }
typedef E F;
const F f = F.B;  //~ E0205
// ---- serialisable enum from an expression
enum bit<8> E { A = 1, B = E.A }  //~ E0202
// ---- serialisable enum with a string
enum bit<8> E { A = "x" }  //~ E0301
// ---- serialisable enum with a wide number
enum bit<8> E { A = 16w1 }  //~ E0301
// ---- enum of a header
header H { bit<8> x; }
enum H E { A = 1 }  //~ E0308
// ---- enum of an enum
enum bit<8> E { A = 1 }
enum E F { B = 1 }  //~ E0308
// ---- enum of a newtype
type bool N;
enum N F { B = true }  //~ E0308
// ---- matching enums by value
enum bit<8> E { A = 1 }
control c(inout E e) { apply {
    e = E.A | 2;  //~ E0301
} }
// ---- increment of an enum
enum bit<8> E { A = 1 }
control c(inout E e) { apply {
    e += 1;  //~ E0301
} }
// ---- bool arithmetic
control c(inout bool b) { apply {
    b = b + b;  //~ E0419
} }
// ---- bool shift
control c(inout bool b) { apply {
    b = b >> 1;  //~ E0419
} }
// ---- bool in a slice
control c(inout bool b) { apply {
    b[0:0] = 1;  //~ E0424
} }
// ---- not of a number
control c(inout bit<8> x) { apply {
    if (!x) { }  //~ E0419
} }
// ---- and of numbers in if
control c(inout bit<8> x) { apply {
    if (x && x) { }  //~ E0419 E0419
} }
// ---- assignment in if
control c(inout bool x) { apply {
    if (x = true) { }  //~ E0120
} }
// ---- conditional as statement
control c(inout bool x) { apply {
    x ? x : x;  //~ E0120
} }
// ---- signed to unsigned shift
control c(inout int<8> x, in int<4> n) { apply {
    x = x << n;  //~ E0419
} }
// ---- shift by a struct
struct S { bit<8> a; }
control c(inout int<8> x, in S n) { apply {
    x = x << n;  //~ E0419
} }
// ---- shift of a constant by a run-time value
control c(inout bit<8> x) { apply {
    x = 1 << x;  //~ E0318
} }
// ---- negative shift of a constant
const int n = 4 >> -2;  //~ E0407
// ---- concatenation of numbers without width
control c(inout bit<8> x) { apply {
    x = 1 ++ 2;  //~ E0318
} }
// ---- saturating on signed and unsigned
control c(inout bit<8> x, in int<8> y) { apply {
    x = x |+| y;  //~ E0420
} }
// ---- saturating on bool
control c(inout bool x) { apply {
    x = x |-| x;  //~ E0419
} }
// ---- modulo of signed
control c(inout int<8> x) { apply {
    x = x % 3;  //~ E0419
} }
// ---- modulo of bool
control c(inout bool x) { apply {
    x = x % x;  //~ E0419
} }
// ---- multiply structs
struct S { bit<8> a; }
control c(inout S s) { apply {
    s = s * s;  //~ E0419
} }
// ---- complement of a struct
struct S { bit<8> a; }
control c(inout S s) { apply {
    s = ~s;  //~ E0419
} }
// ---- not of a struct
struct S { bit<8> a; }
control c(inout S s) { apply {
    if (!s) { }  //~ E0419
} }
// ---- plus of an action
control c(inout bit<8> x) {
    action a() { }
    apply {
        x = a + 1;  //~ E0204
    }
}
// ---- plus of a table
#include <core.p4>
control c(inout bit<8> x) {
    table t { actions = { NoAction; } }
    apply {
        x = t + 1;  //~ E0416
    }
}
// ---- plus of an instance
extern X { X(); }
control c(inout bit<8> x) {
    X() i;
    apply {
        x = i + 1;  //~ E0416
    }
}
// ---- plus of hit
#include <core.p4>
control c(inout bit<8> x) {
    table t { actions = { NoAction; } }
    apply {
        x = t.apply().hit + 1;  //~ E0419
    }
}
// ---- struct compared by order
struct S { bit<8> a; }
control c(in S s, in S r, out bool b) { apply {
    b = s > r;  //~ E0419
} }
// ---- struct with an extern field compared
extern X { X(); }
struct S { X x; }  //~ E0303
// ---- list compared with list of other arity
const bool b = { 1, 2 } == { 1, 2, 3 };  //~ E0408
// ---- tuple compared with tuple of other types
control c(in tuple<bit<8>> x, in tuple<bool> y, out bool b) { apply {
    b = x == y;  //~ E0301
} }
