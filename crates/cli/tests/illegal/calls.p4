// Calls, arguments and parameters.

// ---- too few
extern void f(in bit<8> a, in bit<8> b);
control c() { apply {
    f(1);  //~ E0502
} }
// ---- too many
extern void f(in bit<8> a, in bit<8> b);
control c() { apply {
    f(1, 2, 3);  //~ E0501
} }
// ---- named unknown
extern void f(in bit<8> a, in bit<8> b);
control c() { apply {
    f(a = 1, d = 2);  //~ E0503
} }
// ---- named twice
extern void f(in bit<8> a, in bit<8> b);
control c() { apply {
    f(a = 1, a = 2);  //~ E0504
} }
// ---- mixed
extern void f(in bit<8> a, in bit<8> b);
control c() { apply {
    f(a = 1, 2);  //~ E0505
} }
// ---- out with literal
extern void f(out bit<8> a);
control c() { apply {
    f(1);  //~ E0401
} }
// ---- inout with expression
extern void f(inout bit<8> a);
control c(inout bit<8> x) { apply {
    f(x + 1);  //~ E0401
} }
// ---- inout with in param
extern void f(inout bit<8> a);
control c(in bit<8> x) { apply {
    f(x);  //~ E0402
} }
// ---- inout with constant
const bit<8> k = 1;
extern void f(inout bit<8> a);
control c(in bit<8> x) { apply {
    f(k);  //~ E0402
} }
// ---- out with cast
extern void f(out bit<8> a);
control c(inout int<8> x) { apply {
    f((bit<8>)x);  //~ E0401
} }
// ---- out with wider
extern void f(out bit<8> a);
control c(inout bit<16> x) { apply {
    f(x);  //~ E0508
} }
// ---- out with newtype
type bit<8> N;
extern void f(out bit<8> a);
control c(inout N x) { apply {
    f(x);  //~ E0508
} }
// ---- out with ser enum
enum bit<8> N { A = 1 }
extern void f(inout bit<8> a);
control c(inout N x) { apply {
    f(x);  //~ E0508
} }
// ---- out with list
struct S { bit<8> a; bit<8> b; }
extern void f(out S a);
control c(inout bit<8> x, inout bit<8> y) { apply {
    f({ x, y });  //~ E0401
} }
// ---- control apply wrong count
control d(in bit<8> x) { apply { } }
control c() { d() dd; apply {
    dd.apply();  //~ E0501
} }
// ---- control apply wrong type
control d(in bit<8> x) { apply { } }
control c() { d() dd; apply {
    dd.apply(true);  //~ E0301
} }
// ---- parser apply wrong
parser d(in bit<8> x) { state start { transition accept; } }
parser c() { d() dd; state start {
    dd.apply(true);  //~ E0301
    transition accept;
} }
// ---- control apply method other
control d(in bit<8> x) { apply { } }
control c() { d() dd; apply {
    dd.run(1);  //~ E0205
} }
// ---- calling an instance
control d(in bit<8> x) { apply { } }
control c() { d() dd; apply {
    dd(1);  //~ E0509
} }
// ---- calling a variable
control c(in bit<8> x) { apply {
    x();  //~ E0509
} }
// ---- calling a struct
struct S { bit<8> x; }
control c(in bit<8> x) { apply {
    S(x);  //~ E0120
} }
// ---- method on bit
control c(in bit<8> x) { apply {
    x.foo();  //~ E0205
} }
// ---- unknown extern method
extern X { X(); void m(); }
control c() { X() x; apply {
    x.n();  //~ E0205
} }
// ---- extern method wrong args
extern X { X(); void m(in bit<8> a); }
control c() { X() x; apply {
    x.m();  //~ E0501
} }
// ---- extern method bad type
extern X { X(); void m(in bit<8> a); }
control c() { X() x; apply {
    x.m(true);  //~ E0301
} }
// ---- extern method overloads
extern X { X(); void m(in bit<8> a); void m(in bit<8> a, in bit<8> b); }
control c() { X() x; apply {
    x.m(1, 2, 3);  //~ E0506
} }
// ---- ambiguous overload
extern X { X(); void m(in bit<8> a); void m(in bit<16> b); }
control c() { X() x; apply {
    x.m(1);  //~ E0507
} }
// ---- constructor args missing
extern X { X(bit<8> a); }
control c() {
    X() x;  //~ E0501
    apply { }
}
// ---- constructor args type
extern X { X(bit<8> a); }
control c() {
    X(true) x;  //~ E0301
    apply { }
}
// ---- constructor runtime arg
extern X { X(bit<8> a); }
control c(in bit<8> y) {
    X(y) x;  //~ E0405
    apply { }
}
// ---- constructor of control wrong count
control d()(bit<8> y) { apply { } }
control c() {
    d() x;  //~ E0501
    apply { }
}
// ---- constructor of control too many
control d() { apply { } }
control c() {
    d(1) x;  //~ E0501
    apply { }
}
// ---- direct apply with ctor params
control d()(bit<8> y) { apply { } }
control c() {
    apply {
        d.apply();  //~ E0501
    }
}
// ---- package arg missing
control C();
package P(C a, C b);
control c() { apply { } }
P(c()) main;  //~ E0502
// ---- package arg wrong kind
control C();
parser Q();
package P(C a);
parser q() { state start { transition accept; } }
P(q()) main;  //~ E0301
// ---- package arg params differ
control C(in bit<8> x);
package P(C a);
control c(in bit<16> x) { apply { } }
P(c()) main;  //~ E0301
// ---- package arg directions differ
control C(in bit<8> x);
package P(C a);
control c(inout bit<8> x) { apply { } }
P(c()) main;  //~ E0301
// ---- package arg count differ
control C(in bit<8> x);
package P(C a);
control c(in bit<8> x, in bit<8> y) { apply { } }
P(c()) main;  //~ E0301
// ---- package arg not instance
control C();
package P(C a);
control c() { apply { } }
P(c) main;  //~ E0120
// ---- package arg name
control C();
package P(C a);
control c() { apply { } }
P(b = c()) main;  //~ E0503
// ---- package arg of bit given string
package P(bit<8> a);
P("x") main;  //~ E0301
// ---- action called with too few
control c() {
    action a(in bit<8> x, in bit<8> y) { }
    apply { a(1); }  //~ E0502
}
// ---- action with wrong type
control c() {
    action a(in bit<8> x) { }
    apply { a(true); }  //~ E0301
}
// ---- action out arg not lvalue
control c() {
    action a(out bit<8> x) { x = 1; }
    apply { a(1); }  //~ E0401
}
// ---- table action directional arg missing
#include <core.p4>
control c(inout bit<8> z) {
    action a(in bit<8> x) { }
    table t {
        actions = {
            a;  //~ E0501
            NoAction;
        }
    }
    apply { t.apply(); }
}
// ---- table action data in list
#include <core.p4>
control c(inout bit<8> z) {
    action a(bit<8> x) { }
    table t {
        actions = {
            a(1);  //~ E0625
            NoAction;
        }
    }
    apply { t.apply(); }
}
// ---- table action too many
#include <core.p4>
control c(inout bit<8> z) {
    action a(in bit<8> x) { }
    table t {
        actions = {
            a(z, z);  //~ E0501
            NoAction;
        }
    }
    apply { t.apply(); }
}
// ---- table action out non lvalue
#include <core.p4>
control c(inout bit<8> z) {
    action a(out bit<8> x) { x = 1; }
    table t {
        actions = {
            a(3);  //~ E0401
            NoAction;
        }
    }
    apply { t.apply(); }
}
// ---- default action missing data
#include <core.p4>
control c(inout bit<8> z) {
    action a(bit<8> x) { }
    table t {
        actions = { a; }
        default_action = a();  //~ E0502
    }
    apply { t.apply(); }
}
// ---- default action data not constant
#include <core.p4>
control c(inout bit<8> z) {
    action a(bit<8> x) { }
    table t {
        actions = { a; }
        default_action = a(z);  //~ E0405
    }
    apply { t.apply(); }
}
// ---- default action other directional args
#include <core.p4>
control c(inout bit<8> z, inout bit<8> y) {
    action a(inout bit<8> x) { }
    table t {
        actions = { a(z); }
        default_action = a(y);  //~ E0634
    }
    apply { t.apply(); }
}
// ---- entry action other directional args
#include <core.p4>
control c(inout bit<8> z, inout bit<8> y) {
    action a(inout bit<8> x) { }
    table t {
        key = { z : exact; }
        actions = { a(z); }
        const entries = {
            1 : a(y);  //~ E0634
        }
        default_action = a(z);
    }
    apply { t.apply(); }
}
// ---- entry action not constant
#include <core.p4>
control c(inout bit<8> z, inout bit<8> y) {
    action a(bit<8> x) { }
    table t {
        key = { z : exact; }
        actions = { a; NoAction; }
        const entries = {
            1 : a(y);  //~ E0405
        }
    }
    apply { t.apply(); }
}
// ---- entry action too many
#include <core.p4>
control c(inout bit<8> z, inout bit<8> y) {
    action a(bit<8> x) { }
    table t {
        key = { z : exact; }
        actions = { a; NoAction; }
        const entries = {
            1 : a(1, 2);  //~ E0501
        }
    }
    apply { t.apply(); }
}
// ---- action param direction order
control c() {
    action a(bit<8> x, in bit<8> y) { }  //~ E0518
    apply { }
}
// ---- action param type parser
#include <core.p4>
control c() {
    action a(packet_in y) { }  //~ E0314
    apply { }
}
// ---- action with type params
control c() {
    action a<T>(T y) { }  //~ E0120
    apply { }
}
// ---- push_front without arg
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h.push_front();  //~ E0501
} }
// ---- push_front runtime
header H { bit<8> x; }
control c(inout H[2] h, in bit<8> n) { apply {
    h.push_front(n);  //~ E0405
} }
// ---- push_front bool
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h.push_front(true);  //~ E0301
} }
// ---- isValid arg
header H { bit<8> x; }
control c(inout H h) { apply {
    h.setValid(true);  //~ E0501
} }
// ---- isValid value ignored legal
header H { bit<8> x; }
control c(inout H h, out bool b) { apply {
    b = h.setValid();  //~ E0301
} }
// ---- setValid on in
header H { bit<8> x; }
control c(in H h) { apply {
    h.setValid();  //~ E0402
} }
// ---- push on in
header H { bit<8> x; }
control c(in H[2] h) { apply {
    h.pop_front(1);  //~ E0402
} }
// ---- minSizeInBits arg
header H { bit<8> x; }
control c(inout H h, out bit<8> b) { apply {
    b = h.minSizeInBits(1);  //~ E0501
} }
// ---- t.apply args
#include <core.p4>
control c(inout bit<8> z) {
    table t { actions = { NoAction; } }
    apply { t.apply(z); }  //~ E0501
}
// ---- arg of out in expression twice
void f() { }
control c(inout bit<8> z) { apply {
    z = f();  //~ E0301
} }
// ---- function call in const
bit<8> f() { return 1; }
const bit<8> x = f();  //~ E0405
// ---- functions with direction none generic type mismatch
bit<8> f(bit<8> a) { return a; }
control c(inout bit<8> z) { apply {
    z = f(z);  //~ E0405
} }
// ---- optional arg not in extern
extern void f(in bit<8> a, @optional in bit<8> b);
control c(inout bit<8> z) { apply {
    f(b = 1);  //~ E0502
} }
// ---- verify args
#include <core.p4>
parser p() { state start {
    verify(error.NoError, true);  //~ E0301 E0301
    transition accept;
} }
// ---- verify args count
#include <core.p4>
parser p() { state start {
    verify(true);  //~ E0502
    transition accept;
} }
// ---- extract no args
#include <core.p4>
parser p(packet_in b) { state start {
    b.extract();  //~ E0506
    transition accept;
} }
// ---- advance bool
#include <core.p4>
parser p(packet_in b) { state start {
    b.advance(true);  //~ E0301
    transition accept;
} }
// ---- lookahead without type
#include <core.p4>
parser p(packet_in b) { state start {
    transition select(b.lookahead()) {  //~ E0313
        default: accept;
    }
} }
// ---- recursive function
bit<8> f(in bit<8> a) {
    return f(a);  //~ E0207
}
// ---- mutual functions
bit<8> g(in bit<8> a);  //~ E0120
bit<8> f(in bit<8> a) {
    return g(a);
}
// ---- recursive action
control c() {
    action a() {
        a();  //~ E0207
    }
    apply { a(); }
}
// ---- recursive control
control c() {
    apply {
        c.apply();  //~ E0207
    }
}
// ---- recursive control instance
control c() {
    c() x;  //~ E0207
    apply {
        x.apply();
    }
}
// ---- recursive parser
parser c() {
    c() x;  //~ E0207
    state start {
        x.apply();
        transition accept;
    }
}
// ---- function declares nothing: forward
void f() {
    g();  //~ E0202
}
void g() { }
// ---- extern function in own default
extern bit<8> f(in bit<8> a = f(1));  //~ E0202
