// Tables, actions, `switch`; programs without core.p4.

// ---- entries with wrong number of keys
#include <core.p4>
control c(in bit<8> a, in bit<8> b) {
    table t {
        key = { a : exact; b : exact; }
        actions = { NoAction; }
        const entries = {
            (1, 2) : NoAction();
            1 : NoAction();  //~ E0614
        }
    }
    apply { t.apply(); }
}
// ---- entries with too many
#include <core.p4>
control c(in bit<8> a, in bit<8> b) {
    table t {
        key = { a : exact; b : exact; }
        actions = { NoAction; }
        const entries = {
            (1, 2, 3) : NoAction();  //~ E0614
        }
    }
    apply { t.apply(); }
}
// ---- entries keyless
#include <core.p4>
control c(in bit<8> a, in bit<8> b) {
    table t {
        actions = { NoAction; }
        const entries = {  //~ E0629
            (1, 2, 3) : NoAction();
        }
    }
    apply { t.apply(); }
}
// ---- entries empty keyless
#include <core.p4>
control c(in bit<8> a, in bit<8> b) {
    table t {
        key = { }
        actions = { NoAction; }
        const entries = {  //~ E0629
            1 : NoAction();
        }
    }
    apply { t.apply(); }
}
// ---- entry key type
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        const entries = {
            true : NoAction();  //~ E0301
        }
    }
    apply { t.apply(); }
}
// ---- entry key width
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        const entries = {
            16w1 : NoAction();  //~ E0301
        }
    }
    apply { t.apply(); }
}
// ---- entry non-constant
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        const entries = {
            a : NoAction();  //~ E0405
        }
    }
    apply { t.apply(); }
}
// ---- entry action not in list
#include <core.p4>
control c(in bit<8> a) {
    action x() { }
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        const entries = {
            1 : x();  //~ E0624
        }
    }
    apply { t.apply(); }
}
// ---- entry action unknown
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        const entries = {
            1 : y();  //~ E0201
        }
    }
    apply { t.apply(); }
}
// ---- entries before key
#include <core.p4>
control c(in bit<8> a) {
    table t {
        const entries = {  //~ E0628
            1 : NoAction();
        }
        key = { a : exact; }
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- entries before actions
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : exact; }
        const entries = {  //~ E0628
            1 : NoAction();
        }
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- an implementation that is a number
#include <v1model.p4>
control c(in bit<8> a) {
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        implementation = 5;  //~ E0301
    }
    apply { t.apply(); }
}
// ---- a register as counters
#include <v1model.p4>
control c(in bit<8> a) {
    register<bit<8>>(4) cells;
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        counters = cells;  //~ E0301
    }
    apply { t.apply(); }
}
// ---- default not in list
#include <core.p4>
control c(in bit<8> a) {
    action x() { }
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        default_action = x();  //~ E0624
    }
    apply { t.apply(); }
}
// ---- unknown match kind
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : fuzzy; }  //~ E0622
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- range without v1model
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : range; }  //~ E0622
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- match kind is a constant
#include <core.p4>
const bit<8> foo = 1;
control c(in bit<8> a) {
    table t {
        key = { a : foo; }  //~ E0622
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- no actions
#include <core.p4>
control c(in bit<8> a) {
    table t {  //~ E0621
        key = { a : exact; }
    }
    apply { t.apply(); }
}
// ---- empty table
#include <core.p4>
control c(in bit<8> a) {
    table t { }  //~ E0621
    apply { t.apply(); }
}
// ---- action in list unknown
#include <core.p4>
control c(in bit<8> a) {
    table t {
        actions = { foo; }  //~ E0201
    }
    apply { t.apply(); }
}
// ---- function in list
#include <core.p4>
void foo() { }
control c(in bit<8> a) {
    table t {
        actions = { foo; }  //~ E0204
    }
    apply { t.apply(); }
}
// ---- table in list
#include <core.p4>
control c(in bit<8> a) {
    table s { actions = { NoAction; } }
    table t {
        actions = { s; }  //~ E0204
    }
    apply { t.apply(); }
}
// ---- extern method in list
#include <core.p4>
extern X { X(); void m(); }
control c(in bit<8> a) {
    X() x;
    table t {
        actions = { x.m; }  //~ E0120
    }
    apply { t.apply(); }
}
// ---- key struct
#include <core.p4>
struct S { bit<8> a; }
control c(in S a) {
    table t {
        key = { a : exact; }  //~ E0623
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- key header
#include <core.p4>
header S { bit<8> a; }
control c(in S a) {
    table t {
        key = { a : exact; }  //~ E0623
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- key stack
#include <core.p4>
header S { bit<8> a; }
control c(in S[2] a) {
    table t {
        key = { a : exact; }  //~ E0623
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- key varbit
#include <core.p4>
control c(in varbit<8> a) {
    table t {
        key = { a : exact; }  //~ E0623
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- key int
#include <core.p4>
control c() {
    table t {
        key = { 5 : exact @name("five"); }  //~ E0623
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- key tuple
#include <core.p4>
control c(in tuple<bit<8>> a) {
    table t {
        key = { a : exact; }  //~ E0623
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- ternary of error
#include <core.p4>
control c(in error a) {
    table t {
        key = { a : ternary; }
        actions = { NoAction; }
        entries = {
            error.NoError &&& error.NoError : NoAction();  //~ E0419
        }
    }
    apply { t.apply(); }
}
// ---- mask with bool
#include <core.p4>
control c(in bool a) {
    table t {
        key = { a : ternary; }
        actions = { NoAction; }
        entries = {
            true &&& true : NoAction();  //~ E0419
        }
    }
    apply { t.apply(); }
}
// ---- computed key without name
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a + 1 : exact; }  //~ E0636
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- key unknown
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { hdr.a : exact; }  //~ E0201
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- key missing kind
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a; }  //~ E0120
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- size variable
#include <core.p4>
control c(in bit<8> a) {
    table t {
        actions = { NoAction; }
        size = a;  //~ E0405
    }
    apply { t.apply(); }
}
// ---- size string
#include <core.p4>
control c(in bit<8> a) {
    table t {
        actions = { NoAction; }
        size = "x";  //~ E0301
    }
    apply { t.apply(); }
}
// ---- size negative
#include <core.p4>
control c(in bit<8> a) {
    table t {
        actions = { NoAction; }
        size = -5;  //~ E0632
    }
    apply { t.apply(); }
}
// ---- const key
#include <core.p4>
control c(in bit<8> a) {
    table t {
        const key = { a : exact; }  //~ E0126
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- const actions
#include <core.p4>
control c(in bit<8> a) {
    table t {
        const actions = { NoAction; }  //~ E0126
    }
    apply { t.apply(); }
}
// ---- largest_priority_wins not bool
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : ternary; }
        actions = { NoAction; }
        largest_priority_wins = 3;  //~ E0301
        entries = { priority = 1 : 1 : NoAction(); }
    }
    apply { t.apply(); }
}
// ---- priority_delta zero
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : ternary; }
        actions = { NoAction; }
        priority_delta = 0;  //~ E0637
        entries = { 1 : NoAction(); }
    }
    apply { t.apply(); }
}
// ---- priority in const entries
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : ternary; }
        actions = { NoAction; }
        const entries = {
            priority = 3 : 1 : NoAction();  //~ E0637
        }
    }
    apply { t.apply(); }
}
// ---- priority not constant
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : ternary; }
        actions = { NoAction; }
        entries = {
            priority = a : 1 : NoAction();  //~ E0405
        }
    }
    apply { t.apply(); }
}
// ---- action-run label wrong
#include <core.p4>
control c(in bit<8> a) {
    action x() { }
    table t { actions = { NoAction; } }
    apply {
        switch (t.apply().action_run) {
            x: { }  //~ E0624
        }
    }
}
// ---- action-run label unknown
#include <core.p4>
control c(in bit<8> a) {
    table t { actions = { NoAction; } }
    apply {
        switch (t.apply().action_run) {
            foo: { }  //~ E0624
        }
    }
}
// ---- action-run label number
#include <core.p4>
control c(in bit<8> a) {
    table t { actions = { NoAction; } }
    apply {
        switch (t.apply().action_run) {
            1: { }  //~ E0608
        }
    }
}
// ---- switch on hit
#include <core.p4>
control c(in bit<8> a) {
    table t { actions = { NoAction; } }
    apply {
        switch (t.apply()) {  //~ E0607
            NoAction: { }
        }
    }
}
// ---- switch struct
struct S { bit<8> a; }
control c(in S a) {
    apply {
        switch (a) {  //~ E0607
            default: { }
        }
    }
}
// ---- switch header
header S { bit<8> a; }
control c(in S a) {
    apply {
        switch (a) {  //~ E0607
            default: { }
        }
    }
}
// ---- switch int
control c() {
    apply {
        switch (3) {  //~ E0607
            3: { }
        }
    }
}
// ---- switch label other enum
enum E { A }
enum F { A }
control c(in E e) {
    apply {
        switch (e) {
            F.A: { }  //~ E0301
        }
    }
}
// ---- switch label mask
control c(in bit<8> e) {
    apply {
        switch (e) {
            1 &&& 3: { }  //~ E0120
        }
    }
}
// ---- switch label range
control c(in bit<8> e) {
    apply {
        switch (e) {
            1 .. 3: { }  //~ E0120
        }
    }
}
// ---- switch empty
control c(in bit<8> e) {
    apply {
        switch (e) {
            16w3: { }  //~ E0301
        }
    }
}
// ---- .hit of a table without apply
#include <core.p4>
control c(in bit<8> a) {
    table t { actions = { NoAction; } }
    apply {
        if (t.hit) { }  //~ E0206
    }
}
// ---- if on t.apply
#include <core.p4>
control c(in bit<8> a) {
    table t { actions = { NoAction; } }
    apply {
        if (t.apply()) { }  //~ E0301
    }
}
// ---- assign action_run
#include <core.p4>
control c(inout bit<8> a) {
    table t { actions = { NoAction; } }
    apply {
        a = t.apply().action_run;  //~ E0301
    }
}
// ---- unknown member of apply result
#include <core.p4>
control c(inout bool a) {
    table t { actions = { NoAction; } }
    apply {
        a = t.apply().foo;  //~ E0205
    }
}
// ---- action writes its data
control c(inout bit<8> a) {
    action x(bit<8> d) {
        d = a;  //~ E0402
    }
    apply { x(1); }
}
// ---- switch inside an action on table
#include <core.p4>
control c(inout bit<8> a) {
    table t { actions = { NoAction; } }
    action x() {
        switch (t.apply().action_run) {  //~ E0604
            NoAction: { }
        }
    }
    apply { x(); }
}
// ---- default_action without args for data
#include <core.p4>
control c(inout bit<8> a) {
    action x(bit<8> d) { }
    table t {
        actions = { x; }
        default_action = x;  //~ E0502
    }
    apply { t.apply(); }
}
// ---- default action expression
#include <core.p4>
control c(inout bit<8> a) {
    table t {
        actions = { NoAction; }
        default_action = a + 1;  //~ E0631
    }
    apply { t.apply(); }
}
// ---- defaultonly in entries
#include <core.p4>
control c(inout bit<8> a) {
    action x() { }
    table t {
        key = { a : exact; }
        actions = { @defaultonly x; NoAction; }
        const entries = {
            1 : x();  //~ E0635
        }
    }
    apply { t.apply(); }
}
// ---- tableonly as default
#include <core.p4>
control c(inout bit<8> a) {
    action x() { }
    table t {
        key = { a : exact; }
        actions = { @tableonly x; }
        default_action = x();  //~ E0635
    }
    apply { t.apply(); }
}
// ---- entries outside table
#include <core.p4>
control c(inout bit<8> a) {
    entries = { 1 : NoAction(); }  //~ E0120
    apply { }
}
// ---- table never closed list
#include <core.p4>
control c(inout bit<8> a) {
    table t {
        actions = { NoAction }  //~ E0121
    }
    apply { t.apply(); }
}
// ---- table at top-level
#include <core.p4>
table t { actions = { NoAction; } }  //~ E0126
// ---- table in apply
#include <core.p4>
control c(inout bit<8> a) {
    apply {
        table t { actions = { NoAction; } }  //~ E0126
    }
}
// ---- implementation unknown
#include <core.p4>
control c(inout bit<8> a) {
    table t {
        actions = { NoAction; }
        implementation = foo(32);  //~ E0201
    }
    apply { t.apply(); }
}
// ---- entries dots keys
#include <core.p4>
control c(inout bit<8> a) {
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        const entries = {
            default : y();  //~ E0201
        }
    }
    apply { t.apply(); }
}
// ---- NoAction missing core
control c(inout bit<8> a) {
    action x() { }
    table t {  //~ E0633
        actions = { x; }
    }
    apply { t.apply(); }
}
// ---- NoAction listed but no core
control c(inout bit<8> a) {
    table t {
        actions = { NoAction; }  //~ E0201
    }
    apply { t.apply(); }
}
// ---- exact no core
action NoAction() { }
control c(inout bit<8> a) {
    table t {
        key = { a : exact; }  //~ E0622
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- packet_in no core
parser p(packet_in b) {  //~ E0201
    state start { transition accept; }
}
// ---- verify no core
error { Foo }
parser p() {
    state start {
        verify(true, error.Foo);  //~ E0201
        transition accept;
    }
}
// ---- error.NoError no core
const error e = error.NoError;  //~ E0205
// ---- an entry twice, all keys exact
#include <core.p4>
control c(in bit<8> x, in bool y) {
    action a() { }
    table t {
        key = { x : exact; y : exact; }
        actions = { a; }
        const entries = {
            (1, true) : a();
            (1, false) : a();
            (8w1, true) : a();  //~ E0638
        }
        default_action = a;
    }
    apply { t.apply(); }
}
// ---- an entry twice, with members of an enum, in entries that may be changed
#include <core.p4>
enum E { A, B }
control c(in E x) {
    action a() { }
    table t {
        key = { x : exact; }
        actions = { a; }
        entries = {
            E.B : a();
            E.A : a();
            E.B : a();  //~ E0638
        }
        default_action = a;
    }
    apply { t.apply(); }
}
