// Still more of all kinds.

// ---- default value of the wrong type
void f(in bit<8> a = true) { }  //~ E0301
// ---- default value that is not known
extern bit<8> g();
void f(in bit<8> a = g()) { }  //~ E0405
// ---- default value of a control's parameter that is written
control c(inout bit<8> a = 3) { apply { } }  //~ E0519
// ---- default value of a constructor's parameter
control d()(bit<8> n = true) { apply { } }  //~ E0301
// ---- default value that names another parameter
void f(in bit<8> a, in bit<8> b = a) { }  //~ E0405
// ---- a field named twice in an initializer
struct S { bit<8> a; bit<8> b; }
control c(out S s) { apply {
    s = { a = 1, a = 2 };  //~ E0410
} }
// ---- a field that does not exist
struct S { bit<8> a; bit<8> b; }
control c(out S s) { apply {
    s = { a = 1, q = 2 };  //~ E0205
} }
// ---- a field left out
struct S { bit<8> a; bit<8> b; }
control c(out S s) { apply {
    s = { a = 1 };  //~ E0409
} }
// ---- a value left out
struct S { bit<8> a; bit<8> b; }
control c(out S s) { apply {
    s = { 1 };  //~ E0408
} }
// ---- a value too many
header S { bit<8> a; bit<8> b; }
control c(out S s) { apply {
    s = { 1, 2, 3 };  //~ E0408
} }
// ---- a value of a field of the wrong type
struct S { bit<8> a; bool b; }
control c(out S s) { apply {
    s = { 1, 2 };  //~ E0301
} }
// ---- a named value of the wrong type
struct S { bit<8> a; bool b; }
control c(out S s) { apply {
    s = { a = true, b = true };  //~ E0301
} }
// ---- an inner list too short
struct I { bit<8> a; bit<8> b; }
struct S { I i; bit<8> c; }
control c(out S s) { apply {
    s = { { 1 }, 2 };  //~ E0408
} }
// ---- names and values mixed in an initializer
struct S { bit<8> a; bit<8> b; }
control c(out S s) { apply {
    s = { a = 1, 2 };  //~ E0120
} }
// ---- an initializer for a number
control c() { apply {
    bit<8> x = { a = 1 };  //~ E0301
} }
// ---- an initializer for a tuple with names
control c() { apply {
    tuple<bit<8>> x = { a = 1 };  //~ E0301
} }
// ---- an initializer for a header stack too long
header H { bit<8> a; }
control c() { apply {
    H[1] x = { { 1 }, { 2 } };  //~ E0408
} }
// ---- an initializer for a header union
header H { bit<8> a; }
header_union U { H h; }
control c() { apply {
    U x = { { 1 } };  //~ E0301
} }
// ---- an initializer in a cast to another struct
struct S { bit<8> a; }
struct T { bit<8> a; }
control c(out T s) { apply {
    s = (S) { a = 1 };  //~ E0301
} }
// ---- a typed initializer with a field that is none
struct S { bit<8> a; }
control c(out S s) { apply {
    s = (S) { b = 1 };  //~ E0205
} }
// ---- dots not at the end
struct S { bit<8> a; bit<8> b; }
control c(out S s) { apply {
    s = { ..., 1 };  //~ E0425
} }
// ---- dots for a number in an operator
control c(out bit<8> s) { apply {
    s = 1 + ...;  //~ E0317
} }
// ---- an invalid header where a number is required
header H { bit<8> a; }
control c(out bit<8> s, in H h) { apply {
    s = h == {#} ? 8w1 : {#};  //~ E0301
} }
// ---- an action's parameter of a struct with a parser
parser P();
struct S { P p; }  //~ E0303
// ---- a control's name as a constant
control d() { apply { } }
const bit<8> x = d;  //~ E0120
// ---- a package's name as a value
package P();
const bit<8> x = P;  //~ E0120
// ---- a package's instance as a value
package P();
P() q;
const bit<8> x = q;  //~ E0301
// ---- a parser's state as a value
parser p(out bit<8> x) {
    state start { transition next; }
    state next {
        x = next;  //~ E0204
        transition accept;
    }
}
// ---- accept as a value
parser p(out bit<8> x) {
    state start {
        x = accept;  //~ E0201
        transition accept;
    }
}
// ---- calling accept
parser p(out bit<8> x) {
    state start {
        accept();  //~ E0201
        transition accept;
    }
}
// ---- a start state with parameters
parser p(out bit<8> x) {
    state start() {  //~ E0120
        transition accept;
    }
}
// ---- a control's apply with parameters
control c() {
    apply(in bit<8> x) {  //~ E0120
    }
}
// ---- an action without parentheses
control c() {
    action a { }  //~ E0120
    apply { }
}
// ---- an action with a result
control c() {
    action bit<8> a() { }  //~ E0124
    apply { }
}
// ---- a table with parentheses
#include <core.p4>
control c() {
    table t() { actions = { NoAction; } }  //~ E0120
    apply { }
}
// ---- a table's key without braces
#include <core.p4>
control c(in bit<8> x) {
    table t { key = x : exact; actions = { NoAction; } }  //~ E0120
    apply { }
}
// ---- a table's action with a body
control c(in bit<8> x) {
    table t { actions = { a() { } } }  //~ E0120
    apply { }
}
// ---- entries with an arrow
#include <core.p4>
control c(in bit<8> x) {
    table t {
        key = { x : exact; }
        actions = { NoAction; }
        const entries = { 1 => NoAction(); }  //~ E0120
    }
    apply { }
}
// ---- entries with a list in braces
#include <core.p4>
control c(in bit<8> x) {
    table t {
        key = { x : exact; }
        actions = { NoAction; }
        const entries = { {1} : NoAction(); }  //~ E0301
    }
    apply { }
}
// ---- an entry whose action has no parentheses but data
#include <core.p4>
control c(in bit<8> x) {
    action a(bit<8> y) { }
    table t {
        key = { x : exact; }
        actions = { a; NoAction; }
        const entries = { 1 : a; }  //~ E0502
    }
    apply { t.apply(); }
}
// ---- an entry whose argument is of another type
#include <core.p4>
control c(in bit<8> x) {
    action a(bit<8> y) { }
    table t {
        key = { x : exact; }
        actions = { a; NoAction; }
        const entries = { 1 : a(true); }  //~ E0301
    }
    apply { t.apply(); }
}
// ---- an entry with named arguments that do not exist
#include <core.p4>
control c(in bit<8> x) {
    action a(bit<8> y) { }
    table t {
        key = { x : exact; }
        actions = { a; NoAction; }
        const entries = { 1 : a(z = 1); }  //~ E0503
    }
    apply { t.apply(); }
}
// ---- a table applied in its own action
#include <core.p4>
control c(in bit<8> x) {
    action a() {
        t.apply();  //~ E0202
    }
    table t {
        actions = { a; }
        default_action = a();
    }
    apply { t.apply(); }
}
// ---- a table applied as a key of a select
#include <core.p4>
control c(in bit<8> x) {
    table t { actions = { NoAction; } }
    apply {
        switch (t) { NoAction: { } }  //~ E0607
    }
}
// ---- a table of another control
#include <core.p4>
control d() {
    table t { actions = { NoAction; } }
    apply { t.apply(); }
}
control c() {
    d() dd;
    apply {
        dd.t.apply();  //~ E0206
    }
}
// ---- an action of another control
control d() {
    action a() { }
    apply { a(); }
}
control c() {
    apply {
        a();  //~ E0201
    }
}
// ---- a switch on the action of a table with a number
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    apply {
        switch (t.apply().action_run) {
            8w1: { }  //~ E0608
        }
    }
}
// ---- a switch on the action with a default twice
#include <core.p4>
control c() {
    action a() { }
    table t { actions = { a; } default_action = a(); }
    apply {
        switch (t.apply().action_run) {
            a: { }
            a: { }  //~ E0609
        }
    }
}
// ---- a switch on an error with an enum's member
error { X }
enum E { X }
control c(in error e) {
    apply {
        switch (e) {
            E.X: { }  //~ E0301
        }
    }
}
// ---- a switch on an enum with a number
enum E { X }
control c(in E e) {
    apply {
        switch (e) {
            0: { }  //~ E0301
        }
    }
}
// ---- a switch with the same enum member twice
enum E { X, Y }
control c(in E e) {
    apply {
        switch (e) {
            E.X: { }
            E.X: { }  //~ E0609
        }
    }
}
// ---- a switch with two equal expressions
control c(in bit<8> e) {
    apply {
        switch (e) {
            1 + 1: { }
            2: { }  //~ E0609
        }
    }
}
// ---- a switch on a string
control c() {
    apply {
        switch ("a") { "a": { } }  //~ E0607
    }
}
// ---- a switch on a tuple
control c(in bit<8> x) {
    apply {
        switch ({ x, x }) { default: { } }  //~ E0607
    }
}
// ---- a switch in a parser's state
parser p(in bit<8> x) {
    state start {
        switch (x) { default: { } }  //~ E0604
        transition accept;
    }
}
// ---- exit in a method
extern X { X(); abstract void m(); }
X() x = {
    void m() {
        exit;  //~ E0604
    }
};
// ---- a number as a condition of for
control c(inout bit<8> x) { apply {
    for (bit<8> i = 0; i; i = i + 1) { }  //~ E0301
} }
// ---- for in over a struct
struct S { bit<8> a; }
control c(in S s) { apply {
    for (bit<8> i in s) { }  //~ E0606
} }
// ---- for in over a header
header S { bit<8> a; }
control c(in S s) { apply {
    for (bit<8> i in s) { }  //~ E0606
} }
// ---- for in with elements of another type
header S { bit<8> a; }
control c(in S[2] s) { apply {
    for (bit<8> i in s) { }  //~ E0301
} }
// ---- for in over a range of bools
control c() { apply {
    for (bool i in false .. true) { }  //~ E0301
} }
// ---- the variable of a loop outside
control c(out bit<8> x) { apply {
    for (bit<8> i in 1 .. 3) { }
    x = i;  //~ E0201
} }
// ---- two variables of one loop
control c() { apply {
    for (bit<8> i = 0, bit<8> i = 1; true; i = 1) { }  //~ E0203
} }
// ---- break in a function's outermost block
void f() {
    break;  //~ E0603
}
// ---- continue in a parser's state
parser p() {
    state start {
        continue;  //~ E0603
        transition accept;
    }
}
// ---- a stack of a number type with push
control c(inout bit<8>[3] x) { apply {
    x.push_front(1);  //~ E0205
} }
// ---- a stack too large
header H { bit<8> a; }
struct S {
    H[99999999999] h;  //~ E0307
}
// ---- a width too large
struct S {
    bit<100000000> h;  //~ E0306
}
// ---- a varbit too large
header S {
    varbit<100000000> h;  //~ E0306
}
// ---- a shift by a huge number is fine, a slice of it not
control c(inout bit<8> x) { apply {
    x[99:98] = 1;  //~ E0403
} }
// ---- a literal of width zero signed
const int<1> x = 0s0;  //~ E0306
// ---- a literal too wide
const bit<8> x = 99999999w1;  //~ E0306
// ---- an include that does not exist
#include <nothing.p4>  //~ E0102
// ---- a macro with too few arguments
#define F(a, b) a + b
const bit<8> x = F(1);  //~ E0115
// ---- a condition that cannot be evaluated
#if FOO +  //~ E0112
#endif
// ---- a macro of a directive
#define  //~ E0114
// ---- a comment within a string is none
const string s = "/* ;  //~ E0108
