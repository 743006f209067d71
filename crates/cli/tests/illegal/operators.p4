// Operands of operators.

// ---- plus bools
const bool x = true + false;  //~ E0419
// ---- plus unlike widths
const bit<8> x = 8w1 + 16w1;  //~ E0420
// ---- plus signs
control c(inout bit<8> a, inout int<8> b) { apply {
    a = a + b;  //~ E0420
} }
// ---- and of bool and bit
control c(inout bit<8> a, inout bool b) { apply {
    a = a & b;  //~ E0419
} }
// ---- logical and of bits
control c(inout bit<8> a, inout bool b) { apply {
    b = a && b;  //~ E0419
} }
// ---- logical or of ints
control c(inout bool b) { apply {
    b = 1 || b;  //~ E0419
} }
// ---- not of bit
control c(inout bit<8> b) { apply {
    b = !b;  //~ E0419
} }
// ---- complement bool
control c(inout bool b) { apply {
    b = ~b;  //~ E0419
} }
// ---- complement int
const int x = ~5;  //~ E0419
// ---- neg bool
control c(inout bool b) { apply {
    b = -b;  //~ E0419
} }
// ---- unary plus bool
control c(inout bool b) { apply {
    b = +b;  //~ E0419
} }
// ---- neg struct
struct S { bit<8> x; }
control c(inout S b) { apply {
    b = -b;  //~ E0419
} }
// ---- plus struct
struct S { bit<8> x; }
control c(inout S b) { apply {
    b = b + b;  //~ E0419
} }
// ---- plus enum
enum S { x }
control c(inout S b) { apply {
    b = b + S.x;  //~ E0419
} }
// ---- compare unlike
control c(inout bool b, in bit<8> x, in bit<16> y) { apply {
    b = x == y;  //~ E0420
} }
// ---- compare bit with bool
control c(inout bool b, in bit<8> x) { apply {
    b = x == true;  //~ E0420
} }
// ---- compare structs of two types
struct S { bit<8> x; }
struct T { bit<8> x; }
control c(inout bool b, in S x, in T y) { apply {
    b = x == y;  //~ E0420
} }
// ---- compare header with struct
header S { bit<8> x; }
struct T { bit<8> x; }
control c(inout bool b, in S x, in T y) { apply {
    b = x == y;  //~ E0420
} }
// ---- compare tuple with struct
struct T { bit<8> x; }
control c(inout bool b, in tuple<bit<8>> x, in T y) { apply {
    b = x == y;  //~ E0301
} }
// ---- compare enums
enum S { a }
enum T { a }
const bool x = S.a == T.a;  //~ E0420
// ---- compare error with enum
error { Q }
enum T { a }
const bool x = error.Q == T.a;  //~ E0420
// ---- less on enums
enum T { a, b }
const bool x = T.b < T.a;  //~ E0419
// ---- less on error
error { a, b }
const bool x = error.b < error.a;  //~ E0419
// ---- less on bool
const bool x = false < true;  //~ E0419
// ---- less unlike
control c(inout bool b, in bit<8> x, in int<8> y) { apply {
    b = x <= y;  //~ E0420
} }
// ---- less on struct
struct S { bit<8> x; }
control c(inout bool b, in S x, in S y) { apply {
    b = x < y;  //~ E0419
} }
// ---- compare list with struct var of other arity
struct S { bit<8> x; }
control c(inout bool b, in S x) { apply {
    b = x == { 1, 2 };  //~ E0408
} }
// ---- compare externs
extern X { X(); }
control c(inout bool b) {
    X() x; X() y;
    apply {
        b = x == y;  //~ E0416 E0416
    }
}
// ---- compare tables
#include <core.p4>
control c(inout bool b) {
    table t { actions = { NoAction; } }
    apply {
        b = t == t;  //~ E0416 E0416
    }
}
// ---- compare actions
control c(inout bool b) {
    action a() { }
    apply {
        b = a == a;  //~ E0204 E0204
    }
}
// ---- order of match kinds
match_kind { exact }
const bool b = exact < exact;  //~ E0419
// ---- compare strings
const bool b = "a" == "b";  //~ E0421
// ---- compare stacks of other size
header S { bit<8> x; }
control c(inout bool b, in S[2] x, in S[3] y) { apply {
    b = x == y;  //~ E0420
} }
// ---- shift by signed
control c(inout bit<8> a, inout int<8> b) { apply {
    a = a << b;  //~ E0419
} }
// ---- shift signed by signed
control c(inout int<8> a, inout int<8> b) { apply {
    a = a >> b;  //~ E0419
} }
// ---- shift by bool
control c(inout bit<8> a, inout bool b) { apply {
    a = a << b;  //~ E0419
} }
// ---- shift bool
control c(inout bit<8> a, inout bool b) { apply {
    b = b << a;  //~ E0419
} }
// ---- shift int by var
control c(inout bit<8> a) { apply {
    a = 5 << a;  //~ E0318
} }
// ---- shift int by bit const result as bit
const int x = 5 << 8w2; 
const bit<8> y = true << 1;  //~ E0419
// ---- shift struct
struct S { bit<8> x; }
control c(inout S s) { apply {
    s = s << 1;  //~ E0419
} }
// ---- mask types
parser p(in bit<8> x) { state start { transition select(x) {
    8w1 &&& 16w1: accept;  //~ E0301
    default: reject;
} } }
// ---- mask struct
struct S { bit<8> x; }
parser p(in bit<8> x, in S s) { state start { transition select(x) {
    s &&& s: accept;  //~ E0301 E0301
    default: reject;
} } }
// ---- range types
parser p(in bit<8> x) { state start { transition select(x) {
    8w1 .. 16w1: accept;  //~ E0301
    default: reject;
} } }
// ---- range of bools
parser p(in bool x) { state start { transition select(x) {
    false .. true: accept;  //~ E0419
    default: reject;
} } }
// ---- range of enums
enum E { A, B }
parser p(in E x) { state start { transition select(x) {
    E.A .. E.B: accept;  //~ E0419
    default: reject;
} } }
// ---- div signed
control c(inout int<8> a) { apply {
    a = a / 2;  //~ E0419
} }
// ---- mod signed
control c(inout int<8> a, inout int<8> b) { apply {
    a = a % b;  //~ E0419
} }
// ---- div negative int
const int a = -4 / 2;  //~ E0419
// ---- mod negative int
const int a = 4 % -2;  //~ E0419
// ---- sat add on int
const int a = 4 |+| 2;  //~ E0419
// ---- sat add on bool
const bool a = true |+| true;  //~ E0419
// ---- sat sub unlike
control c(inout bit<8> a, inout bit<9> b) { apply {
    a = a |-| b;  //~ E0420
} }
// ---- mul unlike
control c(inout bit<8> a, inout bit<9> b) { apply {
    a = a * b;  //~ E0420
} }
// ---- mul bool
control c(inout bool a) { apply {
    a = a * a;  //~ E0419
} }
// ---- xor int const and bit unlike
control c(inout bit<8> a, inout int<8> b) { apply {
    a = a ^ b;  //~ E0420
} }
// ---- concat int
control c(inout bit<16> a, inout bit<8> b) { apply {
    a = b ++ 1;  //~ E0318
} }
// ---- concat bool
control c(inout bit<9> a, inout bit<8> b) { apply {
    a = b ++ true;  //~ E0419
} }
// ---- concat ints
const int a = 1 ++ 2;  //~ E0318
// ---- concat string with bit
const string a = "a" ++ 8w1;  //~ E0419
// ---- concat result width
control c(inout bit<15> a, inout bit<8> b) { apply {
    a = b ++ b;  //~ E0301
} }
// ---- concat struct
struct S { bit<8> x; }
control c(inout bit<16> a, inout S b) { apply {
    a = b ++ b;  //~ E0419
} }
// ---- ternary cond bit
control c(inout bit<16> a) { apply {
    a = a ? a : a;  //~ E0301
} }
// ---- ternary unlike
control c(inout bit<16> a, in bool b, in bit<8> d) { apply {
    a = b ? a : d;  //~ E0422
} }
// ---- ternary ints at run time
control c(inout bit<16> a, in bool b) { apply {
    a = b ? 1 : 2;  //~ E0318
    a = (b ? 1 : 2) ++ a;  //~ E0318
} }
// ---- ternary with struct unlike
struct S { bit<8> x; }
struct T { bit<8> x; }
control c(inout S a, in bool b, in T d) { apply {
    a = b ? a : d;  //~ E0422
} }
// ---- compound assign types
control c(inout bit<16> a, in bit<8> d) { apply {
    a += d;  //~ E0420
} }
// ---- compound assign bool
control c(inout bool a) { apply {
    a &= true;  //~ E0419
} }
// ---- compound shift by signed
control c(inout bit<8> a, in int<8> b) { apply {
    a <<= b;  //~ E0419
} }
// ---- newtypes arithmetic
type bit<8> N;
control c(inout N a) { apply {
    a = a + a;  //~ E0419
} }
// ---- newtype compare with base
type bit<8> N;
control c(inout N a, in bit<8> x, out bool b) { apply {
    b = a == x;  //~ E0420
} }
// ---- newtype order
type bit<8> N;
control c(inout N a, out bool b) { apply {
    b = a < a;  //~ E0419
} }
// ---- newtype shift
type bit<8> N;
control c(inout N a, out bool b) { apply {
    a = a << 1;  //~ E0419
} }
// ---- varbit in struct compare unlike
struct S { varbit<8> v; }
struct T { varbit<8> v; }
control c(in S a, in T d, out bool b) { apply {
    b = a == d;  //~ E0420
} }
// ---- slice of bool
control c(inout bit<1> a, in bool b) { apply {
    a = b[0:0];  //~ E0424
} }
// ---- slice of struct
struct S { bit<8> x; }
control c(inout bit<1> a, in S b) { apply {
    a = b[0:0];  //~ E0424
} }
// ---- reversed slice of int const
const bit<4> a = 15[0:3];  //~ E0403
// ---- slice of enum
enum E { A }
control c(inout bit<1> a, in E b) { apply {
    a = b[0:0];  //~ E0424
} }
// ---- slice of stack
header H { bit<8> x; }
control c(inout bit<1> a, in H[2] b) { apply {
    a = b[1:0];  //~ E0424
} }
// ---- slice bounds reversed
control c(inout bit<8> a) { apply {
    a = a[0:7];  //~ E0403
} }
// ---- slice beyond
control c(inout bit<8> a) { apply {
    a = a[8:1];  //~ E0403
} }
// ---- slice negative
control c(inout bit<8> a) { apply {
    a = a[6:-1];  //~ E0403
} }
// ---- slice var bounds
control c(inout bit<8> a) { apply {
    a = a[a:0];  //~ E0405
} }
// ---- slice bounds bool
control c(inout bit<8> a) { apply {
    a = a[true:false];  //~ E0301 E0301
} }
// ---- slice result width
control c(inout bit<8> a) { apply {
    a = a[3:0];  //~ E0301
} }
// ---- slice lvalue width
control c(inout bit<8> a) { apply {
    a[3:0] = a;  //~ E0301
} }
// ---- slice plus
control c(inout bit<8> a) { apply {
    a[7+:4] = 1;  //~ E0403
} }
// ---- slice plus var width
control c(inout bit<8> a) { apply {
    a[0+:a] = 1;  //~ E0405
} }
// ---- slice plus zero
control c(inout bit<8> a) { apply {
    a[0+:0] = 1;  //~ E0403
} }
// ---- in operator
header H { bit<8> x; }
control c(inout H h, out bool b) { apply {
    b = h.isValid == true;  //~ E0205
} }
// ---- header compare with int
header H { bit<8> x; }
control c(inout H h, out bool b) { apply {
    b = h == 1;  //~ E0420
} }
// ---- union compare
header H { bit<8> x; }
header_union U { H h; }
header_union V { H h; }
control c(inout U h, inout V g, out bool b) { apply {
    b = h == g;  //~ E0420
} }
// ---- {#} compare to struct
struct H { bit<8> x; }
control c(inout H h, out bool b) { apply {
    b = h == {#};  //~ E0301
} }
// ---- two lists of named fields without a type
control c(out bool b) { apply {
    b = { a = 1 } == { a = 2 };  //~ E0317
} }
// ---- lists of other lengths and types
control c(in bit<8> x, in int<8> y, out bool b) { apply {
    b = { x, 1 } == { 1 };  //~ E0408
    b = { 1, x } == { 2, y };  //~ E0301
} }
// ---- an enum as a new type of another width
enum bit<16> E { A = 1 }
type bit<8> N;
control c(in E e, out N n) { apply {
    n = (N) e;  //~ E0302
} }
