// Where things can stand, be declared, called and instantiated; annotations.

// ---- parser ctor with control param
control C();
parser p()(C c) {  //~ E0314
    state start { transition accept; }
}
// ---- control ctor with parser param
parser P();
control c()(P p) {  //~ E0314
    apply { }
}
// ---- extern ctor with control
control C();
extern X {
    X(C c);  //~ E0314
}
// ---- extern ctor with package
package K();
extern X {
    X(K c);  //~ E0314
}
// ---- parser ctor with package
package K();
parser p()(K k) {  //~ E0314
    state start { transition accept; }
}
// ---- control param control
control C();
control c(C d) {  //~ E0314
    apply { }
}
// ---- parser param parser
parser C();
parser c(C d) {  //~ E0314
    state start { transition accept; }
}
// ---- function param control
control C();
void f(C d) {  //~ E0314
}
// ---- extern function param control
control C();
extern void f(C d);  //~ E0314
// ---- extern method param package
package K();
extern X {
    void f(K d);  //~ E0314
}
// ---- action param control
control C();
action f(C d) { }  //~ E0314
// ---- action param extern
extern X { X(); }
action f(X d) { }  //~ E0314
// ---- action param extern dir
extern X { X(); }
action f(in X d) { }  //~ E0519
// ---- function param extern with dir
extern X { X(); }
void f(inout X d) { }  //~ E0519
// ---- package param direction
package K(in bit<8> x);  //~ E0519
// ---- control ctor param direction
control c()(in bit<8> x) {  //~ E0519
    apply { }
}
// ---- parser ctor param direction
parser c()(out bit<8> x) {  //~ E0519
    state start { transition accept; }
}
// ---- extern ctor param direction
extern X {
    X(inout bit<8> y);  //~ E0519
}
// ---- action called from function
action a() { }
void f() {
    a();  //~ E0510
}
// ---- action called from parser
action a() { }
parser p() {
    state start {
        a();  //~ E0510
        transition accept;
    }
}
// ---- function in const
bit<8> f() { return 1; }
const bit<8> c = f();  //~ E0405
// ---- extern function in const
extern bit<8> f();
const bit<8> c = f();  //~ E0405
// ---- function in width
bit<8> f() { return 1; }
struct S {
    bit<(f())> x;  //~ E0405
}
// ---- control applied in local initialiser
control d() { apply { } }
control c() {
    d() dd;
    bit<8> x = dd.apply();  //~ E0301
    apply { }
}
// ---- control called in function
control d() { apply { } }
void f() {
    d.apply();  //~ E0510
}
// ---- parser called in function
parser d() { state start { transition accept; } }
void f() {
    d.apply();  //~ E0510
}
// ---- parser instance at top used
parser d() { state start { transition accept; } }
d() x;  //~ E0512
// ---- value set in control
control c() {
    value_set<bit<8>>(4) v;  //~ E0120
    apply { }
}
// ---- value set as value
parser p(out bit<8> x) {
    value_set<bit<8>>(4) v;
    state start {
        x = v;  //~ E0204
        transition accept;
    }
}
// ---- value set in state
parser p(out bit<8> x) {
    state start {
        value_set<bit<8>>(4) v;  //~ E0120
        transition accept;
    }
}
// ---- value set size runtime
parser p(in bit<8> x) {
    value_set<bit<8>>(x) v;  //~ E0405
    state start { transition accept; }
}
// ---- value set size negative
parser p(in bit<8> x) {
    value_set<bit<8>>(-1) v;  //~ E0632
    state start { transition accept; }
}
// ---- value set elem type extern
extern X { X(); }
parser p(in bit<8> x) {
    value_set<X>(4) v;  //~ E0314
    state start { transition accept; }
}
// ---- value set in a switch
parser p(in bit<8> x) {
    value_set<bit<8>>(4) v;
    state start { v.apply(); transition accept; }  //~ E0204
}
// ---- function declared in control
control c() {
    void f() { }  //~ E0120
    apply { }
}
// ---- function declared in parser
parser c() {
    void f() { }  //~ E0120
    state start { transition accept; }
}
// ---- const in action is fine
control c() {
    control d() { apply { } }  //~ E0126
    apply { }
}
// ---- struct in control
control c() {
    struct S { bit<8> x; }  //~ E0126
    apply { }
}
// ---- header in parser
parser c() {
    header S { bit<8> x; }  //~ E0126
    state start { transition accept; }
}
// ---- enum in apply
control c() {
    apply {
        enum E { A }  //~ E0126
    }
}
// ---- typedef in control
control c() {
    typedef bit<8> T;  //~ E0126
    apply { }
}
// ---- error in control
control c() {
    error { Foo }  //~ E0120
    apply { }
}
// ---- package in control
control c() {
    package P();  //~ E0126
    apply { }
}
// ---- statement in control body outside apply
control c(inout bit<8> x) {
    x = 1;  //~ E0120
    apply { }
}
// ---- statement in parser outside states
parser c(inout bit<8> x) {
    x = 1;  //~ E0120
    state start { transition accept; }
}
// ---- if at top level
if (true) { }  //~ E0126
// ---- statement after transition
parser c(inout bit<8> x) {
    state start {
        transition accept;
        x = 1;  //~ E0126
    }
}
// ---- two transitions
parser c(inout bit<8> x) {
    state start {
        transition accept;
        transition reject;  //~ E0126
    }
}
// ---- transition in control
control c() {
    apply {
        transition accept;  //~ E0120
    }
}
// ---- transition in if in a parser
parser c(inout bit<8> x) {
    state start {
        if (x == 1) {
            transition accept;  //~ E0120
        }
        transition reject;
    }
}
// ---- select in control
control c(inout bit<8> x) {
    apply {
        x = select(x) { 1: accept; };  //~ E0120
    }
}
// ---- two apply blocks
control c() {
    apply { }
    apply { }  //~ E0129
}
// ---- no apply
control c() {  //~ E0128
    action a() { }
}
// ---- locals after apply
control c() {
    apply { }
    bit<8> x;  //~ E0126
}
// ---- states before locals
parser p() {
    state start { transition accept; }
    bit<8> x;  //~ E0126
}
// ---- parser with no states
parser p() { }  //~ E0127
// ---- parser with apply
parser p() {
    apply { }  //~ E0120
}
// ---- optional with default
extern void f(@optional in bit<8> a = 3);  //~ E0519
// ---- optional in an action
action f(@optional in bit<8> a) { }  //~ E0519
// ---- structured annotation with struct value
@foo[{1,2}]  //~ E0210
control c() { apply { } }
// ---- structured annotation unknown
@foo[bar]  //~ E0201
control c() { apply { } }
// ---- structured annotation run time
extern bit<8> f();
@foo[f()]  //~ E0210
control c() { apply { } }
// ---- name with number
@name(5)  //~ E0210
control c() { apply { } }
// ---- name empty
@name()  //~ E0210
control c() { apply { } }
// ---- hidden with body
control c() {
    @hidden(1) action x() { }  //~ E0210
    apply { }
}
// ---- tableonly body
#include <core.p4>
control c() {
    action x() { }
    table t { actions = { @tableonly(1) x; } default_action = x(); }  //~ E0210 E0635
    apply { t.apply(); }
}
// ---- deprecated without string
@deprecated  //~ E0210
extern void f();
// ---- noWarn number
@noWarn(1)  //~ E0210
extern void f();
// ---- static_assert false
#include <core.p4>
const bool x = static_assert(1 > 2, "no");  //~ E0701
// ---- static_assert non constant
#include <core.p4>
control c(in bool b) { apply {
    static_assert(b, "no");  //~ E0405
} }
// ---- static_assert not bool
#include <core.p4>
const bool x = static_assert(1, "no");  //~ E0301
// ---- fields dots not last
struct S { bit<8> a; bit<8> b; }
const S s = { ..., b = 2 };  //~ E0120
// ---- fields dots missing
struct S { bit<8> a; bit<8> b; }
const S s = { b = ... };  //~ E0409
// ---- dots of extern
extern X { X(); }
control c(in bit<8> a) { apply {
    bit<8> b = a + ...;  //~ E0317
} }
// ---- list expression without type
control c() { apply {
    bit<8> x = { 1, 2 }[0] + true;  //~ E0419
} }
// ---- direct invocation with type params of generic
control c() { apply {
    d<bit<8>>.apply();  //~ E0120
} }
// ---- push_front negative
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h.push_front(-1);  //~ E0404
} }
// ---- minSizeInBits of extern
extern X { X(); }
control c(out bit<8> b) {
    X() x;
    apply { b = (bit<8>)x.minSizeInBits(); }  //~ E0205
}
// ---- minSizeInBits of enum
enum E { A }
const int n = E.minSizeInBits();  //~ E0319
// ---- minSizeInBits of string
const int n = "a".minSizeInBits();  //~ E0319
// ---- minSizeInBits of tyvar
void f<T>(in T t) {
    bit<8> b = (bit<8>)t.minSizeInBits();  //~ E0319
}
// ---- op on type variable
void f<T>(in T t, out bool b) {
    b = t < t;  //~ E0419
}
// ---- plus on type variable
void f<T>(inout T t) {
    t = t + t;  //~ E0419
}
// ---- cast of type variable
void f<T>(inout T t, out bit<8> b) {
    b = (bit<8>)t;  //~ E0302
}
// ---- indexed slice beyond
control c(inout bit<8> a) { apply {
    a = 0 ++ a[8+:1];  //~ E0403
} }
// ---- compound concat
control c(inout bit<8> a) { apply {
    a ++= 1;  //~ E0120
} }
// ---- compound compare
control c(inout bool a) { apply {
    a ==== true;  //~ E0130
} }
// ---- switch label brace
struct S { bit<8> x; }
control c(in bit<8> s) { apply {
    switch (s) { {1}: { } }  //~ E0301
} }
// ---- select int ternary
control c(in bool b, out bit<8> x) { apply {
    x = (bit<8>)(b ? 1 : 2);  //~ E0318
} }
// ---- function without direction given run-time value
bit<8> f(bit<8> a) { return a; }
control c(in bit<8> b, out bit<8> x) { apply {
    x = f(b);  //~ E0405
} }
// ---- first entry without priority
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : ternary; }
        actions = { NoAction; }
        entries = {
            1 : NoAction();  //~ E0637
            priority = 3 : 2 : NoAction();
        }
    }
    apply { t.apply(); }
}
// ---- negative priority
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : ternary; }
        actions = { NoAction; }
        entries = {
            priority = -3 : 2 : NoAction();  //~ E0637
        }
    }
    apply { t.apply(); }
}
// ---- two actions of the same name
#include <core.p4>
action a() { }
control c(in bit<8> x) {
    action a() { }
    table t {
        actions = {
            a;
            .a;  //~ E0626
        }
        default_action = a();
    }
    apply { t.apply(); }
}
// ---- table applied in an action argument
#include <core.p4>
control c(in bit<8> x) {
    action a(in bool b) { }
    table t { actions = { NoAction; } }
    table u {
        actions = {
            a(t.apply().hit);  //~ E0510
        }
    }
    apply { u.apply(); }
}
