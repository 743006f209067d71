// Casts, explicit and implied.

// ---- struct to bit
#include <core.p4>
struct S { bit<8> a; }
control c(inout S s, inout bit<8> b) {
    apply {
        b = (bit<8>)s;  //~ E0302
    }
}
// ---- header to bit
#include <core.p4>
header H { bit<8> a; }
control c(inout H h, inout bit<8> b) {
    apply {
        b = (bit<8>)h;  //~ E0302
    }
}
// ---- bit to header
header H { bit<8> a; }
control c(inout H h, inout bit<8> b) {
    apply {
        h = (H)b;  //~ E0302
    }
}
// ---- enum to bit
enum E { A, B }
const bit<8> x = (bit<8>)E.A;  //~ E0302
// ---- bit to enum
enum E { A, B }
const E x = (E)8w1;  //~ E0302
// ---- bit<->int other width
const bit<8> x = 8w1;
const int<16> y = (int<16>)x;  //~ E0302
// ---- int to bit other width
control c(inout int<8> a, inout bit<16> b) {
    apply {
        b = (bit<16>)a;  //~ E0302
    }
}
// ---- implicit bit to int
control c(inout int<8> a, inout bit<8> b) {
    apply {
        b = a;  //~ E0301
    }
}
// ---- bool to bit<8>
control c(in bool a, inout bit<8> b) {
    apply {
        b = (bit<8>)a;  //~ E0302
    }
}
// ---- bit<8> to bool
control c(inout bool a, in bit<8> b) {
    apply {
        a = (bool)b;  //~ E0302
    }
}
// ---- bool to int<1>
control c(inout int<1> a, in bool b) {
    apply {
        a = (int<1>)b;  //~ E0302
    }
}
// ---- int<1> to bool
control c(in int<1> a, inout bool b) {
    apply {
        b = (bool)a;  //~ E0302
    }
}
// ---- error to bit
const bit<32> e = (bit<32>)error.NoError;  //~ E0205
error { NoError }
// ---- bit to error
error { Foo }
const error e = (error)0;  //~ E0302
// ---- tuple to struct (variable)
struct S { bit<8> a; bit<8> b; }
control c(inout S s) {
    tuple<bit<8>, bit<8>> t = { 1, 2 };
    apply {
        s = t;  //~ E0301
    }
}
// ---- cast tuple var to struct
struct S { bit<8> a; bit<8> b; }
control c(inout S s) {
    tuple<bit<8>, bit<8>> t = { 1, 2 };
    apply {
        s = (S)t;  //~ E0302
    }
}
// ---- struct to tuple
struct S { bit<8> a; bit<8> b; }
control c(inout S s) {
    tuple<bit<8>, bit<8>> t;
    apply {
        t = s;  //~ E0301
    }
}
// ---- tuple to header
header S { bit<8> a; bit<8> b; }
control c(inout S s) {
    tuple<bit<8>, bit<8>> t = { 1, 2 };
    apply {
        s = t;  //~ E0301
    }
}
// ---- struct to header
header H { bit<8> a; }
struct S { bit<8> a; }
control c(inout S s, inout H h) {
    apply {
        h = s;  //~ E0301
    }
}
// ---- header to struct
header H { bit<8> a; }
struct S { bit<8> a; }
control c(inout S s, inout H h) {
    apply {
        s = (S)h;  //~ E0302
    }
}
// ---- list to bit
control c(inout bit<8> b) {
    apply {
        b = { 1 };  //~ E0301
    }
}
// ---- list to enum
enum E { A }
control c(inout E b) {
    apply {
        b = { 1 };  //~ E0301
    }
}
// ---- cast list to bit
control c(inout bit<8> b) {
    apply {
        b = (bit<8>){ 1 };  //~ E0302
    }
}
// ---- list to header stack too many
header H { bit<8> a; }
control c(inout H[2] b) {
    apply {
        b = { {1}, {2}, {3} };  //~ E0408
    }
}
// ---- struct expr wrong field
struct S { bit<8> a; }
control c(inout S b) {
    apply {
        b = { z = 1 };  //~ E0205
    }
}
// ---- serializable enum implicit from bit
enum bit<8> E { A = 1 }
control c(inout E e, in bit<8> b) {
    apply {
        e = b;  //~ E0301
    }
}
// ---- serializable enum to int<8> implicit
enum bit<8> E { A = 1 }
control c(inout E e, inout int<8> b) {
    apply {
        b = e;  //~ E0301
    }
}
// ---- serializable enum cross
enum bit<8> E { A = 1 }
enum bit<8> F { A = 1 }
control c(inout E e, inout F b) {
    apply {
        b = e;  //~ E0301
    }
}
// ---- serializable enum from int const out of range
enum bit<4> E { A = 1 }
const E e = (E)17;  //~ E0309
// ---- serializable enum member out of range
enum bit<4> E {
    A = 1,
    B = 16  //~ E0309
}
// ---- serializable enum negative member
enum bit<4> E {
    A = -1  //~ E0309
}
// ---- serializable signed enum out of range
enum int<4> E {
    A = 8  //~ E0309
}
// ---- assign int const to ser enum
enum bit<4> E { A = 1 }
control c(inout E e) {
    apply {
        e = 1;  //~ E0301
    }
}
// ---- ser enum in arithmetic assign
enum bit<4> E { A = 1 , B = 2 }
control c(inout E e) {
    apply {
        e = E.A + E.B;  //~ E0301
    }
}
// ---- newtype implicit
type bit<8> N;
control c(inout N e) {
    apply {
        e = 8w1;  //~ E0301
    }
}
// ---- newtype back implicit
type bit<8> N;
control c(inout N e, inout bit<8> b) {
    apply {
        b = e;  //~ E0301
    }
}
// ---- newtype to other newtype
type bit<8> N;
type bit<8> M;
control c(inout N e, inout M b) {
    apply {
        b = e;  //~ E0301
    }
}
// ---- cast newtype to wider
type bit<8> N;
control c(inout N e, inout bit<16> b) {
    apply {
        b = (bit<16>)e;  //~ E0302
    }
}
// ---- cast wider to newtype
type bit<8> N;
control c(inout N e, inout bit<16> b) {
    apply {
        e = (N)b;  //~ E0302
    }
}
// ---- newtype of newtype to base 
type bit<8> N;
type N M;
control c(inout M e, inout bool b) {
    apply {
        b = (bool)e;  //~ E0302
    }
}
// ---- varbit to bit
control c(inout varbit<8> v, inout bit<8> b) {
    apply {
        b = (bit<8>)v;  //~ E0302
    }
}
// ---- bit to varbit
control c(inout varbit<8> v, inout bit<8> b) {
    apply {
        v = (varbit<8>)b;  //~ E0302
    }
}
// ---- int to varbit
control c(inout varbit<8> v) {
    apply {
        v = 1;  //~ E0301
    }
}
// ---- string to bit
const bit<32> s = "abcd";  //~ E0301
// ---- bit to string
const string s = (string)1;  //~ E0302
// ---- bit<8> return as bit<16>
bit<16> f(in bit<8> a) {
    return a;  //~ E0301
}
// ---- bool returned
bit<8> f(in bool a) {
    return a;  //~ E0301
}
// ---- if on bit
control c(in bit<1> a) {
    apply {
        if (a) { }  //~ E0301
    }
}
// ---- if on int
control c() {
    apply {
        if (1) { }  //~ E0301
    }
}
// ---- arg of other type
extern void f(in int<32> x);
control c() {
    bit<32> y = 1;
    apply {
        f(y);  //~ E0301
    }
}
// ---- struct cast with other field names
struct S { bit<8> a; }
struct T { bit<8> b; }
control c(inout S s, inout T t) {
    apply {
        t = (T)s;  //~ E0302
    }
}
// ---- cast to control
control d() { apply {} }
control c(inout bit<8> s) {
    apply {
        s = (d)s;  //~ E0302
    }
}
// ---- cast to extern
extern X { X(); }
control c(inout bit<8> s) {
    apply {
        s = (X)s;  //~ E0302
    }
}
// ---- header invalid to struct
struct S { bit<8> a; }
control c(inout S s) {
    apply {
        s = (S){#};  //~ E0301
    }
}
// ---- invalid header to bit
control c(inout bit<8> s) {
    apply {
        s = {#};  //~ E0301
    }
}
// ---- stack to header
header H { bit<8> a; }
control c(inout H s, inout H[2] t) {
    apply {
        s = t;  //~ E0301
    }
}
// ---- stacks of other sizes
header H { bit<8> a; }
control c(inout H[3] s, inout H[2] t) {
    apply {
        s = t;  //~ E0301
    }
}
// ---- union assigned from struct
header H { bit<8> a; }
header_union U { H a; }
struct S { H a; }
control c(inout U s, inout S t) {
    apply {
        s = t;  //~ E0301
    }
}
// ---- union assigned from header
header H { bit<8> a; }
header_union U { H a; }
control c(inout U s, inout H t) {
    apply {
        s = t;  //~ E0301
    }
}
// ---- union from list
header H { bit<8> a; }
header_union U { H a; }
control c(inout U s) {
    apply {
        s = { { 1 } };  //~ E0301
    }
}
// ---- struct with nested list of wrong arity
struct In { bit<8> a; bit<8> b; }
struct S { In i; }
const S s = {
    { 1 }  //~ E0408
};
// ---- return list as header of other arity
header H { bit<8> a; bit<8> b; }
H f() {
    return { 1 };  //~ E0408
}
// ---- match_kind to bit
match_kind { exact }
const bit<8> x = exact;  //~ E0301
// ---- infint to bool
const bool b = 1;  //~ E0301
// ---- cast infint to bool out
const bool b = (bool)3;  //~ E0302
// ---- cast between signed widths with change of sign
const int<8> a = (int<8>)(bit<16>)3;  //~ E0302
// ---- action result
control c(inout bit<8> x) {
    action a() { }
    apply {
        x = a();  //~ E0301
    }
}
// ---- ser enum in concatenation to other enum
enum bit<8> E { A = 1 }
control c(inout E e) {
    apply {
        e = e[7:0];  //~ E0301
    }
}
// ---- cast to type var
extern void g<T>(in T t);
void f<T>(in bit<8> b) {
    T x = b;  //~ E0301
}
// ---- struct with struct field of other type
struct A { bit<8> x; }
struct B { bit<8> x; }
struct S { A a; }
control c(inout S s, in B b) {
    apply {
        s.a = b;  //~ E0301
    }
}
// ---- constant init with var
control c(in bit<8> x) {
    const bit<8> y = x;  //~ E0405
    apply { }
}
