// Types, fields and type arguments that cannot be.

// ---- header with table type
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    apply { }
}
header H {
    c x;  //~ E0303
}
// ---- header with parser
parser p(in bit<8> x);
header H {
    p x;  //~ E0303
}
// ---- header with string
header H {
    string s;  //~ E0303
}
// ---- header with int
header H {
    int s;  //~ E0303
}
// ---- header with error
header H {
    error s;  //~ E0303
}
// ---- header with enum
enum E { A }
header H {
    E s;  //~ E0303
}
// ---- header with header
header G { bit<8> x; }
header H {
    G s;  //~ E0303
}
// ---- header with stack
header G { bit<8> x; }
header H {
    G[2] s;  //~ E0303
}
// ---- header with union
header G { bit<8> x; }
header_union U { G g; }
header H {
    U s;  //~ E0303
}
// ---- header with tuple
header H {
    tuple<bit<8>> s;  //~ E0303
}
// ---- header with match_kind
header H {
    match_kind s;  //~ E0303
}
// ---- header with extern
extern X { X(); }
header H {
    X s;  //~ E0303
}
// ---- header with void
header H {
    void s;  //~ E0303
}
// ---- header with struct containing varbit
struct T { varbit<8> v; }
header H {
    T s;  //~ E0303
}
// ---- header with struct containing error
struct T { error v; }
header H {
    T s;  //~ E0303
}
// ---- header with struct containing header
header G { bit<8> v; }
struct T { G v; }
header H {
    T s;  //~ E0303
}
// ---- struct with int
struct S {
    int x;  //~ E0303
}
// ---- struct with void
struct S {
    void x;  //~ E0303
}
// ---- struct with extern
extern X { X(); }
struct S {
    X x;  //~ E0303
}
// ---- struct with parser
#include <core.p4>
struct S {
    packet_in x;  //~ E0303
}
// ---- struct with control
control c();
struct S {
    c x;  //~ E0303
}
// ---- struct with package
package P();
struct S {
    P x;  //~ E0303
}
// ---- header_union with bit
header_union U {
    bit<8> x;  //~ E0303
}
// ---- header_union with struct
struct S { bit<8> x; }
header_union U {
    S x;  //~ E0303
}
// ---- header_union with union
header H { bit<8> x; }
header_union V { H h; }
header_union U {
    V x;  //~ E0303
}
// ---- header_union with stack
header H { bit<8> x; }
header_union U {
    H[2] x;  //~ E0303
}
// ---- tuple of externs
extern X { X(); }
typedef tuple<X> T;  //~ E0303
// ---- tuple of control
control c();
control d() {
    tuple<c> x;  //~ E0303
    apply { }
}
// ---- tuple of void
typedef tuple<void> T;  //~ E0303
// ---- newtype of header
header H { bit<8> x; }
type H N;  //~ E0305
// ---- newtype of struct
struct H { bit<8> x; }
type H N;  //~ E0305
// ---- newtype of enum
enum H { x }
type H N;  //~ E0305
// ---- newtype of stack
header H { bit<8> x; }
type H[2] N;  //~ E0305
// ---- newtype of tuple
type tuple<bit<8>> N;  //~ E0305
// ---- newtype of error
type error N;  //~ E0305
// ---- newtype of varbit
type varbit<8> N;  //~ E0305
// ---- newtype of int
type int N;  //~ E0305
// ---- newtype of string
type string N;  //~ E0305
// ---- newtype of void
type void N;  //~ E0305
// ---- newtype of extern
extern X { X(); }
type X N;  //~ E0305
// ---- typedef of void
typedef void N;  //~ E0305
// ---- stack of struct (old style legal now)
control c() {
    void[3] x;  //~ E0303
    apply { }
}
// ---- stack of externs
extern X { X(); }
control c() {
    X[3]() x;  //~ E0513
    apply { }
}
// ---- negative size
header H { bit<8> x; }
struct S {
    H[-1] x;  //~ E0307
}
// ---- size not const
header H { bit<8> x; }
control c(in bit<8> n) {
    H[n] x;  //~ E0405
    apply { }
}
// ---- size bool
header H { bit<8> x; }
control c() {
    H[true] x;  //~ E0301
    apply { }
}
// ---- too many type args
struct S<T> { T x; }
control c() {
    S<bit<8>, bool> x;  //~ E0304
    apply { }
}
// ---- too few type args
struct S<T, U> { T x; U y; }
control c() {
    S<bit<8>> x;  //~ E0304
    apply { }
}
// ---- missing type args
struct S<T, U> { T x; U y; }
control c(in S s) {  //~ E0304
    apply { }
}
// ---- type args on non generic
struct S { bit<8> x; }
control c(in S<bit<8>> s) {  //~ E0304
    apply { }
}
// ---- type args on bit typedef
typedef bit<8> B;
control c(in B<bit<8>> s) {  //~ E0304
    apply { }
}
// ---- type args on enum
enum E { A }
control c(in E<bit<8>> s) {  //~ E0304
    apply { }
}
// ---- extern missing args
extern X<T> { X(); T get(); }
control c() {
    X() x;  //~ E0313
    apply { }
}
// ---- extern method wrong number
extern X { X(); T get<T>(); }
control c(inout bit<8> a) {
    X() x;
    apply {
        a = x.get<bit<8>, bool>();  //~ E0304
    }
}
// ---- function wrong number
extern void f<T>(in T t);
control c() {
    apply {
        f<bit<8>, bit<8>>(1);  //~ E0304
    }
}
// ---- type args on non generic function
extern void f(in bit<8> t);
control c() {
    apply {
        f<bit<8>>(1);  //~ E0304
    }
}
// ---- package wrong number of type args
control C<T>(inout T t);
package P<T>(C<T> c);
control c(inout bit<8> x) { apply { } }
P<bit<8>, bit<8>>(c()) main;  //~ E0304
// ---- package type wrong arity inside
control C<T>(inout T t);
package P<T>(C<T, T> c);  //~ E0304
// ---- control type without args
control C<T>(inout T t);
package P<T>(C c);  //~ E0304
// ---- header field is header name not type
const bit<8> x = 1;
struct S {
    x y;  //~ E0204
}
// ---- recursive struct
struct S {
    S s;  //~ E0202
}
// ---- mutual
struct S {
    T t;  //~ E0202
}
struct T { S s; }
// ---- recursive header stack
header H {
    H[2] h;  //~ E0202
}
// ---- enum with representation of bool
enum bool E { A = true }  //~ E0308
// ---- enum rep struct
struct S { bit<8> x; }
enum S E { A = { 1 } }  //~ E0308
// ---- enum rep int
enum int E { A = 1 }  //~ E0308
// ---- enum rep varbit
enum varbit<8> E { A = 1 }  //~ E0308
// ---- enum without values
enum bit<8> E {
    A,  //~ E0310
    B = 1
}
// ---- enum with values without type
enum E {
    A = 1,  //~ E0311
    B
}
// ---- varbit width 0
header H {
    varbit<-1> v;  //~ E0120
}
// ---- bit<-1>
header H {
    bit<-1> v;  //~ E0120
}
// ---- int<0>
header H {
    int<0> v;  //~ E0306
}
// ---- width name not const
control c(in bit<8> n) {
    bit<n> v;  //~ E0125
    apply { }
}
// ---- width not number
const bool n = true;
struct S {
    bit<n> x;  //~ E0125
}
// ---- bit width expression without parens
struct S {
    bit<4+4> x;  //~ E0120
}
// ---- huge
struct S {
    bit<99999999999> x;  //~ E0306
}
// ---- type parameter shadow dup
struct S<T, T> { T x; }  //~ E0203
// ---- type param hides
extern X {
    X();
    Y get();  //~ E0201
}
// ---- field of type param that becomes illegal
header H<T> { T t; }
struct S {
    H<error> h;  //~ E0303
}
// ---- union of generic header with bad
header H<T> { T t; }
struct S {
    H<H<bit<8>>> h;  //~ E0303
}
// ---- dont care type in struct
struct S {
    _ x;  //~ E0120
}
// ---- param of type package
package P();
control c(P p) {  //~ E0314
    apply { }
}
// ---- param control with direction
control d();
control c(in d p) {  //~ E0314
    apply { }
}
// ---- parser type param direction
parser d();
parser c(inout d p) {  //~ E0314
    state start { transition accept; }
}
// ---- extern in parameter with direction
#include <core.p4>
parser c(in packet_in p) {  //~ E0519
    state start { transition accept; }
}
// ---- table type name
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    t x;  //~ E0204
    apply { }
}
// ---- match_kind variable
control c() {
    match_kind x;  //~ E0314
    apply { }
}
// ---- string variable
control c() {
    string x;  //~ E0314
    apply { }
}
// ---- int variable
control c() {
    int x;  //~ E0314
    apply { }
}
// ---- void variable
control c() {
    void x;  //~ E0314
    apply { }
}
// ---- void param
control c(in void x) {  //~ E0314
    apply { }
}
// ---- function returning extern
extern X { X(); }
X f() {  //~ E0314
    return X();  //~ E0511
}
// ---- function returning control
control d();
extern d f();  //~ E0314
// ---- inout int param
control c(inout int x) {  //~ E0314
    apply { }
}
// ---- list in struct
struct S {
    list<bit<8>> l;  //~ E0303
}
// ---- varbit in union
const varbit<8> v = 3;  //~ E0301
// ---- struct param specialised by extern
extern X { X(); }
struct S<T> { T t; }
control c() {
    S<X> s;  //~ E0303
    apply { }
}
// ---- typedef to unknown
typedef foo bar;  //~ E0201
// ---- newtype to unknown
type foo bar;  //~ E0201
