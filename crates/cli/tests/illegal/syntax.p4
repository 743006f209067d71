// Grammar.

// ---- missing semicolon
const bit<8> x = 1  //~ E0121
const bit<8> y = 2;
// ---- missing semicolon in struct
struct S {
    bit<8> a  //~ E0121
    bit<8> b;
}
// ---- missing brace
control c() {
    apply {
        if (true) {  //~ E0122
    }
}
// ---- extra brace
control c() {
    apply { }
}
}  //~ E0120
// ---- missing paren
control c(in bit<8> x {  //~ E0120
    apply { }
}
// ---- keyword as name
const bit<8> table = 1;  //~ E0124
// ---- keyword as field
struct S {
    bit<8> header;  //~ E0124
}
// ---- bad type
struct S {
    bits<8> header2;  //~ E0120
}
// ---- missing name
struct {  //~ E0120
    bit<8> x;
}
// ---- empty expression
const bit<8> x = ;  //~ E0120
// ---- double operator
const bit<8> x = 1 + * 2;  //~ E0120
// ---- bad number
const bit<8> x = 0b12;  //~ E0109
// ---- bad hex
const bit<8> x = 0xg;  //~ E0109
// ---- width zero literal
const bit<8> x = 8w;  //~ E0109
// ---- unterminated string
const string s = "abc;  //~ E0108
// ---- unterminated comment
const bit<8> x = 1;
/* never closed  //~ E0107
// ---- char
const bit<8> x = 'a';  //~ E0106 E0106
// ---- dollar
const bit<8> x$ = 1;  //~ E0106
// ---- else without if
control c() { apply {
    else { }  //~ E0120
} }
// ---- missing colon in select
parser p(in bit<8> x) { state start {
    transition select(x) {
        1 accept;  //~ E0120
    }
} }
// ---- missing transition semicolon
parser p(in bit<8> x) { state start {
    transition accept  //~ E0121
} }
// ---- equals instead of colon in key
#include <core.p4>
control c(in bit<8> x) {
    table t {
        key = { x = exact; }  //~ E0120
        actions = { NoAction; }
    }
    apply { }
}
// ---- comma in actions
#include <core.p4>
control c(in bit<8> x) {
    table t {
        actions = { NoAction, }  //~ E0120
    }
    apply { }
}
// ---- no = in table property
#include <core.p4>
control c(in bit<8> x) {
    table t {
        actions { NoAction; }  //~ E0120
    }
    apply { }
}
// ---- direction twice
control c(in out bit<8> x) {  //~ E0120
    apply { }
}
// ---- param without type
control c(in x) {  //~ E0120
    apply { }
}
// ---- while loop
control c() { apply {
    while (true) { }  //~ E0120
} }
// ---- increment
control c(inout bit<8> x) { apply {
    x++;  //~ E0120
} }
// ---- empty params comma
control c(in bit<8> x, ) {  //~ E0120
    apply { }
}
// ---- return type missing
f() { return 1; }  //~ E0120
// ---- statement starting with number
control c() { apply {
    5;  //~ E0130
} }
// ---- stray else-if
control c(in bool b) { apply {
    if b { }  //~ E0120
} }
// ---- assign in condition
control c(in bool b) { apply {
    if (b = true) { }  //~ E0120
} }
// ---- declaration in if without braces
control c(in bool b) { apply {
    if (b) bit<8> x = 1;  //~ E0126
} }
// ---- bit<>
struct S { bit<> x; }  //~ E0120
// ---- int<
struct S { int< x; }  //~ E0125 E0120
// ---- generic without close
struct S<T { T x; }  //~ E0120
// ---- tuple bad
typedef tuple<bit<8> T;  //~ E0120
// ---- enum empty comma
enum E { , A }  //~ E0120
// ---- enum missing comma
enum E { A B }  //~ E0120
// ---- array syntax C with two sizes
struct S { bit<8> x[4][2]; }  //~ E0120
// ---- const without value
const bit<8> x;  //~ E0120
// ---- const without type
const x = 1;  //~ E0120
// ---- extern with body
extern void f() { }  //~ E0120
// ---- abstract on control
abstract control c() { apply { } }  //~ E0120
// ---- header with method
header H { bit<8> x; void m(); }  //~ E0120
// ---- package with body
package P() { }  //~ E0120
// ---- main without args
package P();
P main;  //~ E0126
// ---- transition select without braces
parser p(in bit<8> x) { state start {
    transition select(x);  //~ E0120
} }
// ---- state without braces
parser p(in bit<8> x) {
    state start transition accept;  //~ E0120
}
// ---- switch without braces
control c(in bit<8> x) { apply {
    switch (x) 1: { }  //~ E0120
} }
// ---- switch case without block
control c(inout bit<8> x) { apply {
    switch (x) {
        1: x = 2;  //~ E0120
    }
} }
// ---- for missing parts
control c(inout bit<8> x) { apply {
    for (bit<8> i = 0; i < 3) { }  //~ E0120
} }
// ---- unknown preprocessor
#foo  //~ E0110
// ---- endif missing
#if 1  //~ E0111
const bit<8> x = 1;
// ---- else without if pp
#else  //~ E0111
// ---- include missing quotes
#include core.p4  //~ E0110
// ---- typedef without name
typedef bit<8>;  //~ E0120
// ---- type without name
type bit<8>;  //~ E0120
// ---- annotation without name
@ control c() { apply { } }  //~ E0120
// ---- lone semicolon ok then junk
; ; )  //~ E0120
// ---- non-ascii
const bit<8> ä = 1;  //~ E0106 E0120
// ---- mask in list
const bit<8> x = 1 &&& ;  //~ E0120
// ---- slice missing
control c(inout bit<8> x) { apply {
    x = x[3:];  //~ E0120
} }
// ---- member missing
control c(inout bit<8> x) { apply {
    x = x.;  //~ E0120
} }
// ---- named args bad
extern void f(in bit<8> a);
control c(inout bit<8> x) { apply {
    f(a: 1);  //~ E0120
} }
// ---- comma statement
control c(inout bit<8> x) { apply {
    x = 1, x = 2;  //~ E0120
} }
// ---- typename as var name in decl
struct S { bit<8> x; }
control c() { apply {
    S = 1;  //~ E0120
} }
// ---- value_set without size
parser p() {
    value_set<bit<8>> v;  //~ E0120
    state start { transition accept; }
}
// ---- reserved word as state
parser p() {
    state default { transition accept; }  //~ E0124
    state start { transition accept; }
}
// ---- list of dontcare
const bit<8> _ = 1;  //~ E0124
// ---- apply misspelled
control c() {
    aply { }  //~ E0120
}
// ---- entries without const equals
#include <core.p4>
control c(in bit<8> x) {
    table t {
        key = { x : exact; }
        actions = { NoAction; }
        const entries { 1 : NoAction(); }  //~ E0120
    }
    apply { }
}
// ---- an annotation that is not closed
@info(1, 2  //~ E0122
control c(in bit<8> x) {
    apply { }
}
