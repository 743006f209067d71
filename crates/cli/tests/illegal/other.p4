// Constructs in the wrong form or place.

// ---- state accept
parser p() {
    state start { transition accept; }
    state accept { }  //~ E0613
}
// ---- state reject
parser p() {
    state start { transition accept; }
    state reject { transition accept; }  //~ E0613
}
// ---- default not last in switch
control c(inout bit<8> x) {
    apply {
        switch (x) {
            default: { x = 1; }  //~ E0610
            1: { x = 2; }
        }
    }
}
// ---- two defaults
control c(inout bit<8> x) {
    apply {
        switch (x) {
            default: { x = 1; }
            default: { x = 2; }  //~ E0609
        }
    }
}
// ---- default twice action_run
#include <core.p4>
control c(inout bit<8> x) {
    table t { actions = { NoAction; } }
    apply {
        switch (t.apply().action_run) {
            default: { x = 1; }
            default: { x = 2; }  //~ E0609
        }
    }
}
// ---- duplicate label const
control c(inout bit<8> x) {
    apply {
        switch (x) {
            1: { x = 1; }
            8w1: { x = 2; }  //~ E0609
        }
    }
}
// ---- duplicate label action
#include <core.p4>
control c(inout bit<8> x) {
    action a() { }
    table t { actions = { a; NoAction; } }
    apply {
        switch (t.apply().action_run) {
            a: { x = 1; }
            NoAction: { }
            a: { x = 2; }  //~ E0609
        }
    }
}
// ---- label bool in bit switch
control c(inout bit<8> x) {
    apply {
        switch (x) {
            true: { x = 1; }  //~ E0301
        }
    }
}
// ---- label not const
control c(inout bit<8> x, in bit<8> y) {
    apply {
        switch (x) {
            y: { x = 1; }  //~ E0405
        }
    }
}
// ---- constructor call as expression statement
extern X { X(); }
control c(inout bit<8> x) {
    apply {
        X();  //~ E0120
    }
}
// ---- constructor call as value
extern X { X(); bit<8> get(); }
control c(inout bit<8> x) {
    apply {
        x = X().get();  //~ E0511
    }
}
// ---- constructor in argument of function
extern X { X(); bit<8> get(); }
extern void f(X x);
control c(inout bit<8> x) {
    apply {
        f(X());  //~ E0511
    }
}
// ---- constructor in const
extern X { X(); bit<8> get(); }
const bit<8> x = X().get();  //~ E0511
// ---- constructor of control in expression
control d(inout bit<8> y) { apply { } }
control c(inout bit<8> x) {
    apply {
        d().apply(x);  //~ E0120
    }
}
// ---- instance in apply block
control d(inout bit<8> y) { apply { } }
control c(inout bit<8> x) {
    apply {
        d() dd;  //~ E0512
        dd.apply(x);
    }
}
// ---- instance in action
extern X { X(); bit<8> get(); }
control c(inout bit<8> x) {
    action a() {
        X() y;  //~ E0512
    }
    apply { a(); }
}
// ---- instance in function
extern X { X(); bit<8> get(); }
void f() {
    X() y;  //~ E0512
}
// ---- instance in state
extern X { X(); bit<8> get(); }
parser p() {
    state start {
        X() y;  //~ E0512
        transition accept;
    }
}
// ---- shift by negative
const bit<8> x = 8w1 << -1;  //~ E0407
// ---- shift by negative at run time
control c(inout bit<8> x) {
    apply {
        x = x >> -3;  //~ E0407
    }
}
// ---- division by zero
const bit<8> x = 8w1 / 8w0;  //~ E0406
// ---- mod by zero
const int x = 1 % 0;  //~ E0406
// ---- division by zero non const left
control c(inout bit<8> x) {
    apply {
        x = x / 0;  //~ E0406
    }
}
// ---- mod by zero non const left
control c(inout bit<8> x) {
    apply {
        x = x % 0;  //~ E0406
    }
}
// ---- default on out
extern void f(out bit<8> a = 1);  //~ E0519
// ---- default on inout
extern void f(inout bit<8> a = 1);  //~ E0519
// ---- default not const
control c(in bit<8> x) {
    action a(in bit<8> y = x) { }  //~ E0405
    apply { a(); }
}
// ---- varbit operand
control c(inout varbit<8> x) {
    apply {
        x = x & x;  //~ E0419
    }
}
// ---- varbit shift
control c(inout varbit<8> x) {
    apply {
        x = x << 1;  //~ E0419
    }
}
// ---- varbit slice
control c(inout varbit<8> x, inout bit<4> y) {
    apply {
        y = x[3:0];  //~ E0424
    }
}
// ---- varbit compare of other size
control c(inout varbit<8> x, inout varbit<16> y, inout bool b) {
    apply {
        b = x == y;  //~ E0420
    }
}
// ---- varbit less
control c(inout varbit<8> x, inout varbit<8> y, inout bool b) {
    apply {
        b = x < y;  //~ E0419
    }
}
// ---- varbit neg
control c(inout varbit<8> x) {
    apply {
        x = -x;  //~ E0419
    }
}
// ---- return in parser state
parser p() {
    state start {
        return;  //~ E0604
        transition accept;
    }
}
// ---- exit in parser state
parser p() {
    state start {
        exit;  //~ E0604
        transition accept;
    }
}
// ---- exit in function
void f() {
    exit;  //~ E0604
}
// ---- return value in control
control c() {
    apply {
        return 1;  //~ E0601
    }
}
// ---- return value in action
control c() {
    action a() {
        return 1;  //~ E0601
    }
    apply { a(); }
}
// ---- return none in function
bit<8> f() {
    return;  //~ E0601
}
// ---- return value in void function
void f() {
    return 3;  //~ E0601
}
// ---- switch in parser
parser p(in bit<8> x) {
    state start {
        switch (x) {  //~ E0604
            1: { }
        }
        transition accept;
    }
}
// ---- break outside
control c() {
    apply {
        break;  //~ E0603
    }
}
// ---- continue outside
control c() {
    apply {
        if (true) {
            continue;  //~ E0603
        }
    }
}
// ---- break in action outside
control c() {
    action a() {
        break;  //~ E0603
    }
    apply { for (bit<8> i in 1..3) { a(); } }
}
// ---- missing start
parser p() {  //~ E0611
    state begin { transition accept; }
}
// ---- select with no matching type
parser p(in bit<8> x) {
    state start {
        transition select(x) {
            (1, 2): accept;  //~ E0614
            default: reject;
        }
    }
}
// ---- select tuple mismatch
parser p(in bit<8> x, in bit<8> y) {
    state start {
        transition select(x, y) {
            1: accept;  //~ E0614
            default: reject;
        }
    }
}
// ---- select empty
parser p(in bit<8> x, in bit<8> y) {
    state start {
        transition select() {  //~ E0120
            default: reject;
        }
    }
}
// ---- select on struct with a header
header H { bit<8> x; }
struct S { H x; }
parser p(in S s) {
    state start {
        transition select(s) {  //~ E0623
            default: reject;
        }
    }
}
// ---- select on header
header S { bit<8> x; }
parser p(in S s) {
    state start {
        transition select(s) {  //~ E0623
            default: reject;
        }
    }
}
// ---- select on varbit
parser p(in varbit<8> s) {
    state start {
        transition select(s) {  //~ E0623
            default: reject;
        }
    }
}
// ---- select on int
parser p() {
    state start {
        transition select(3) {  //~ E0318
            3: reject;
        }
    }
}
// ---- mask on bool
parser p(in bool s) {
    state start {
        transition select(s) {
            true &&& true: accept;  //~ E0419
            default: reject;
        }
    }
}
// ---- mask as value
const bit<8> x = 8w1 &&& 8w3;  //~ E0120
// ---- range as value
control c(inout bit<8> x) {
    apply {
        x = 1 .. 2;  //~ E0120
    }
}
// ---- default as value
control c(inout bit<8> x) {
    apply {
        x = default;  //~ E0120
    }
}
// ---- dont care as value
control c(inout bit<8> x) {
    apply {
        x = _;  //~ E0120
    }
}
// ---- dont care for in
extern void f(in bit<8> x);
control c(inout bit<8> x) {
    apply {
        f(_);  //~ E0414
    }
}
// ---- dont care for inout
extern void f(inout bit<8> x);
control c(inout bit<8> x) {
    apply {
        f(_);  //~ E0414
    }
}
// ---- constant main
const bit<8> main = 3;  //~ E0702
// ---- function main
void main() { }  //~ E0702
// ---- main of extern
extern X { X(); }
X() main;  //~ E0702
// ---- main a control
control main() { apply { } }  //~ E0702
// ---- main instance of control
control c() { apply { } }
c() main;  //~ E0512
// ---- struct main
struct main { bit<8> x; }  //~ E0702
// ---- statement at top level
bit<8> x;  //~ E0126
// ---- variable at top level with init
bit<8> x = 1;  //~ E0126
// ---- instance at top level of control
control c() { apply { } }
c() x;  //~ E0512
// ---- instance at top level of parser
parser c() { state start { transition accept; } }
c() x;  //~ E0512
// ---- action at top level with table inside
#include <core.p4>
action a() {
    table t { actions = { NoAction; } }  //~ E0126
}
// ---- table in parser
#include <core.p4>
parser p() {
    table t { actions = { NoAction; } }  //~ E0126
    state start { transition accept; }
}
// ---- action in parser
parser p() {
    action a() { }  //~ E0126
    state start { transition accept; }
}
// ---- state in control
control p() {
    state start { transition accept; }  //~ E0120
    apply { }
}
// ---- control instance in parser
control c() { apply { } }
parser p() {
    c() x;  //~ E0512
    state start { transition accept; }
}
// ---- parser instance in control
parser p() {
    state start { transition accept; }
}
control c() {
    p() x;  //~ E0512
    apply { }
}
// ---- package instance in control
package P();
control c() {
    P() x;  //~ E0512
    apply { }
}
// ---- parser applied in control by type
parser p() {
    state start { transition accept; }
}
control c() {
    apply {
        p.apply();  //~ E0510
    }
}
// ---- control applied in parser by type
control c() {
    apply { }
}
parser p() {
    state start {
        c.apply();  //~ E0510
        transition accept;
    }
}
// ---- control applied in action
control d() { apply { } }
control c() {
    d() dd;
    action a() {
        dd.apply();  //~ E0510
    }
    apply { a(); }
}
// ---- table in action
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    action a() {
        t.apply();  //~ E0510
    }
    apply { a(); }
}
// ---- table in an argument of an action
#include <core.p4>
control c() {
    action a(in bool hit) { }
    table t { actions = { NoAction; } }
    table u {
        key = { t.apply().hit : exact @name("hit"); }
        actions = { a(t.apply().hit); NoAction; }  //~ E0510
    }
    apply { u.apply(); }
}
// ---- table apply in argument
#include <core.p4>
extern void f(in bool b);
control c() {
    table t { actions = { NoAction; } }
    apply {
        f(t.apply());  //~ E0416
    }
}
// ---- two applies in an expression are legal
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    apply {
        t;  //~ E0130
    }
}
// ---- package call at run time
package P();
control c() {
    apply {
        P();  //~ E0120
    }
}
// ---- package field access
package P(bit<8> x);
P(1) pp;
const bit<8> x = pp.x;  //~ E0206
// ---- extern without constructor
extern X { void m(); }
X() x;  //~ E0513
// ---- abstract control has no constructor
control d();
package P(d x);
P(d()) main;  //~ E0513
// ---- mixed annotation
@foo[1, a=2]  //~ E0120
control d() { apply { } }
// ---- assign to call
extern bit<8> f();
control d() { apply {
    f() = 1;  //~ E0131
} }
// ---- table call
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    apply {
        t();  //~ E0509
    }
}
// ---- for-in existing
control c(inout bit<8> x) {
    apply {
        for (bit<8> i in x) {  //~ E0606
        }
    }
}
// ---- for condition not bool
control c(inout bit<8> x) {
    apply {
        for (bit<8> i = 0; i + 1; i = i + 1) {  //~ E0301
        }
    }
}
// ---- for in type mismatch
control c(inout bit<8> x) {
    apply {
        for (bit<8> i in 16w1 .. 16w3) {  //~ E0301 E0301
        }
    }
}
// ---- for with declared type bool
control c(inout bit<8> x) {
    apply {
        for (bool i in 1 .. 3) {  //~ E0301
        }
    }
}
// ---- for in parser
control c(inout bit<8> x) {
    apply {
        for (bit<8> i in (list<bool>){ true }) {  //~ E0301
        }
    }
}
// ---- no such pragma
#error nope  //~ E0113
// ---- missing include
#include "nothing.p4"  //~ E0102
// ---- verify in control
#include <core.p4>
control p() {
    apply {
        verify(true, error.NoError);  //~ E0510
    }
}
// ---- lookahead varbit
#include <core.p4>
parser p(packet_in b) {
    state start {
        varbit<8> v = b.lookahead<varbit<8>>();  //~ E0320
        transition accept;
    }
}
// ---- extract non-header
#include <core.p4>
parser p(packet_in b, out bit<8> h) {
    state start {
        b.extract(h);  //~ E0320
        transition accept;
    }
}
// ---- extract struct
#include <core.p4>
struct S { bit<8> x; }
parser p(packet_in b, out S h) {
    state start {
        b.extract(h);  //~ E0320
        transition accept;
    }
}
// ---- extract varbit one-arg
#include <core.p4>
header S { varbit<8> x; }
parser p(packet_in b, out S h) {
    state start {
        b.extract(h);  //~ E0320
        transition accept;
    }
}
// ---- extract fixed two-arg
#include <core.p4>
header S { bit<8> x; }
parser p(packet_in b, out S h) {
    state start {
        b.extract(h, 8);  //~ E0320
        transition accept;
    }
}
// ---- extract a whole stack
#include <core.p4>
header S { bit<8> x; }
parser p(packet_in b, out S[3] h) {
    state start {
        b.extract(h);  //~ E0320
        transition accept;
    }
}
// ---- extract union
#include <core.p4>
header S { bit<8> x; }
header_union U { S s; }
parser p(packet_in b, out U h) {
    state start {
        b.extract(h);  //~ E0320
        transition accept;
    }
}
// ---- emit bit
#include <core.p4>
control p(packet_out b, in bit<8> h) {
    apply {
        b.emit(h);  //~ E0320
    }
}
// ---- emit struct with bit
#include <core.p4>
struct S { bit<8> x; }
control p(packet_out b, in S h) {
    apply {
        b.emit(h);  //~ E0320
    }
}
// ---- a default action before the actions
#include <core.p4>
control c() {
    table t {
        default_action = NoAction();  //~ E0628
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- a control with a table applied directly twice
#include <core.p4>
control inner(inout bit<8> x) {
    table t { key = { x : exact; } actions = { NoAction; } }
    apply { t.apply(); }
}
control c(inout bit<8> x) {
    apply {
        inner.apply(x);
        inner.apply(x);  //~ E0209
    }
}
// ---- a loop in a state
parser p(inout bit<8> x) {
    state start {
        for (bit<8> i in 1 .. 3) { x = x + i; }  //~ E0604
        { for (bit<8> i in 1 .. 3) { x = x + i; } }  //~ E0604
        transition accept;
    }
}
// ---- bitwise and of a negative number
const int a = 5 & -3;  //~ E0419
// ---- a match kind in a struct
match_kind { exact }
struct s { match_kind k; }  //~ E0303
// ---- a new type of an enum
enum En { A }
type En z;  //~ E0305
// ---- a switch on a boolean
control c(in bool b) {
    apply {
        switch (b) { true: { } }  //~ E0607
    }
}
