// Rules that programs of several compilers break, each with a legal program of the same look beside it in the tests
// of `sema` (`legal/neighbours.p4`).

// ---- division by a negative number without a width
control c(inout bit<8> x) { apply {
    x = x / -1;  //~ E0419
} }
// ---- modulo by a negative number without a width
control c(inout bit<8> x) { apply {
    x = x % -3;  //~ E0419
} }
// ---- division by a negative constant
const int minus = -5;
control c(inout bit<8> x) { apply {
    x = x / minus;  //~ E0419
} }
// ---- a negative number is divided
control c(inout bit<8> x) { apply {
    x = -5 / x;  //~ E0419
} }
// ---- compound division by a negative number
control c(inout bit<8> x) { apply {
    x /= -1;  //~ E0419
    x %= -2;  //~ E0419
} }
// ---- division by a number that becomes zero
control c(inout bit<8> x) { apply {
    x = x / 256;  //~ E0406
} }
// ---- the last element is written
header H { bit<8> a; }
parser P(inout H[3] s) {
    state start {
        s.last.a = 1;  //~ E0401
        s.last.a += 1;  //~ E0401
        s.last.setInvalid();  //~ E0401
        transition accept;
    }
}
// ---- the last element is extracted
#include <core.p4>
header H { bit<8> a; }
parser P(packet_in b, inout H[3] s) {
    state start {
        b.extract(s.last);  //~ E0401
        transition accept;
    }
}
// ---- select on a struct with a bare list
struct S { bit<8> a; bool b; }
parser P(in S s) {
    state start {
        transition select(s) {
            { 1, true }: accept;  //~ E0301
            _: reject;
        }
    }
}
// ---- a string for a value that a packet has
extern void f<T>(in T value);
control c() { apply {
    f("text");  //~ E0314
    f<string>("text");  //~ E0314
    f({ "text", 8w1 });  //~ E0314
} }
// ---- a string for a method's value
extern E { E(); void put<T>(in T value); }
control c() { E() e; apply {
    e.put("text");  //~ E0314
} }
// ---- stacks of stacks
header H { bit<8> a; }
struct S { H[3][2] s; }  //~ E0303
// ---- stacks of stacks of unions
header H { bit<8> a; }
header_union U { H h; }
typedef U[2] Stack;
struct S { Stack[3] s; }  //~ E0303
// ---- a typedef of nothing
typedef void Nothing;  //~ E0305
// ---- a variable of a typedef of strings
typedef string Text;
control c() { apply { Text t = "a"; } }  //~ E0314
// ---- a value set of structs whose fields are in another order
#include <core.p4>
struct T { bit<8> x; bit<16> y; }
struct S { T t; bit<8> a; }
parser p(packet_in k, in S s) {
    value_set<S>(4) set;
    state start { transition select(s.t.x, s.a, s.t.y) { set: accept; _: reject; } }  //~ E0615
}
// ---- lists for a key that is a struct
#include <core.p4>
struct S { bit<8> x; bit<16> y; }
parser p(packet_in k, in S s) {
    state start {
        transition select(s) {
            {1, 2}: accept;  //~ E0301
            (1, 2): accept;  //~ E0614
            {x = 1, y = 2, z = 3}: accept;  //~ E0205
            (S) {1, 2}: accept;
            _: reject;
        }
    }
}
// ---- a control that takes itself
control c()(c other) { apply { } }  //~ E0207
// ---- a parser that takes itself
parser p()(p other) { state start { transition accept; } }  //~ E0207
// ---- a variable hides a state
parser p() {
    state start {
        bit<8> next = 1;
        transition next;  //~ E0612
    }
    state next { transition accept; }
}
// ---- one name of two instances of a table
#include <core.p4>
control Block();
package Top(Block a);
control Inner() {
    @name(".t") table t { actions = { NoAction; } }  //~ E0209
    apply { t.apply(); }
}
control Outer() { Inner() one; Inner() two; apply { one.apply(); two.apply(); } }
Top(Outer()) main;
// ---- one name of an action and one of an inner instance
control Block();
package Top(Block a);
control Inner() { action a() { } apply { a(); } }  //~ E0209
control Outer() { Inner() one; @name("one.a") action b() { } apply { one.apply(); b(); } }
Top(Outer()) main;
// ---- a version of v1model that is too old
const bit<32> __v1model_version = 20160101;  //~ E0212
// ---- a version of v1model that is none
const bit<32> __v1model_version = -1;  //~ E0212
// ---- a directive that is none
#notadirective  //~ E0110
const bit<8> x = 1;
