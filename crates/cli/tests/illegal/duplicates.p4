// Things that are declared twice.

// ---- params
control c(in bit<8> a,
          in bit<8> a) {  //~ E0203
    apply { }
}
// ---- ctor params vs params
control c(in bit<8> a)
         (bit<8> a) {  //~ E0203
    apply { }
}
// ---- locals
control c() {
    bit<8> a;
    bit<16> a;  //~ E0203
    apply { }
}
// ---- in apply
control c() {
    apply {
        bit<8> a;
        bit<8> a;  //~ E0203
    }
}
// ---- struct fields
struct S {
    bit<8> a;
    bool a;  //~ E0203
}
// ---- header fields
header S {
    bit<8> a;
    bit<8> a;  //~ E0203
}
// ---- union fields
header S { bit<8> a; }
header_union U {
    S a;
    S a;  //~ E0203
}
// ---- enum
enum S {
    a,
    a  //~ E0203
}
// ---- ser enum
enum bit<8> S {
    a = 1,
    a = 2  //~ E0203
}
// ---- error
error {
    a,
    a  //~ E0203
}
// ---- error in two
error { a }
error {
    b,
    a  //~ E0203
}
// ---- match kind
match_kind { exact }
match_kind {
    lpm,
    exact  //~ E0203
}
// ---- match kind dup with core
#include <core.p4>
match_kind {
    exact  //~ E0203
}
// ---- error dup with core
#include <core.p4>
error {
    NoError  //~ E0203
}
// ---- states
parser p() {
    state start { transition accept; }
    state start { transition accept; }  //~ E0203
}
// ---- state vs variable
parser p() {
    bit<8> a;
    state a { transition accept; }  //~ E0203
    state start { transition a; }
}
// ---- actions
control c() {
    action a() { }
    action a() { }  //~ E0203
    apply { }
}
// ---- tables
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    table t { actions = { NoAction; } }  //~ E0203
    apply { }
}
// ---- table vs action
#include <core.p4>
control c() {
    action t() { }
    table t { actions = { NoAction; } }  //~ E0203
    apply { }
}
// ---- action overload by args
control c() {
    action t() { }
    action t(in bit<8> x) { }  //~ E0203
    apply { }
}
// ---- instances
extern X { X(); }
control c() {
    X() t;
    X() t;  //~ E0203
    apply { }
}
// ---- structs
struct S { bit<8> a; }
struct S { bit<8> a; }  //~ E0203
// ---- struct vs header
struct S { bit<8> a; }
header S { bit<8> a; }  //~ E0203
// ---- typedef vs struct
struct S { bit<8> a; }
typedef bit<8> S;  //~ E0203
// ---- consts
const bit<8> a = 1;
const bit<8> a = 1;  //~ E0203
// ---- controls
control c() { apply { } }
control c() { apply { } }  //~ E0203
// ---- control and parser
control c() { apply { } }
parser c() { state start { transition accept; } }  //~ E0203
// ---- function vs const
const bit<8> f = 1;
bit<8> f(in bit<8> b) { return b; }  //~ E0203
// ---- packages
package P();
package P();  //~ E0203
// ---- extern functions same
extern void f(in bit<8> a);
extern void f(in bit<8> a);  //~ E0203
// ---- extern objects
extern X { X(); }
extern X { X(); }  //~ E0203
// ---- type params
extern void f<T, T>(in T a);  //~ E0203
// ---- type param vs struct name
extern void f<T>(in T T);   //~ E0203
control T(in bit<8> x, in bit<8> x) { apply { } }  //~ E0203
// ---- key names
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = {
            a : exact @name("k");
            a : ternary @name("k");  //~ E0209
        }
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- @name of keys clash
#include <core.p4>
control c(in bit<8> a, in bit<8> b) {
    table t {
        key = {
            a : exact @name("x");
            b : exact @name("x");  //~ E0209
        }
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- @name of tables clash
#include <core.p4>
control C();
package P(C c);
control c() {
    @name("x") table t { actions = { NoAction; } }
    @name("x") table u { actions = { NoAction; } }  //~ E0209
    apply { t.apply(); u.apply(); }
}
P(c()) main;
// ---- @name of table equals other's name
#include <core.p4>
control C();
package P(C c);
control c() {
    table t { actions = { NoAction; } }
    @name("t") table u { actions = { NoAction; } }  //~ E0209
    apply { t.apply(); u.apply(); }
}
P(c()) main;
// ---- @name absolute clash
#include <core.p4>
control C();
package P(C c, C d);
control c() {
    @name(".x") table t { actions = { NoAction; } }
    apply { t.apply(); }
}
control d() {
    @name(".x") table t { actions = { NoAction; } }  //~ E0209
    apply { t.apply(); }
}
P(c(), d()) main;
// ---- table properties twice
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : exact; }
        key = { a : exact; }  //~ E0129
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
// ---- actions twice
#include <core.p4>
control c(in bit<8> a) {
    table t {
        actions = { NoAction; }
        actions = { NoAction; }  //~ E0129
    }
    apply { t.apply(); }
}
// ---- size twice
#include <core.p4>
control c(in bit<8> a) {
    table t {
        actions = { NoAction; }
        size = 1;
        size = 2;  //~ E0129
    }
    apply { t.apply(); }
}
// ---- default twice
#include <core.p4>
control c(in bit<8> a) {
    table t {
        actions = { NoAction; }
        default_action = NoAction();
        const default_action = NoAction();  //~ E0129
    }
    apply { t.apply(); }
}
// ---- entries twice
#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : exact; }
        actions = { NoAction; }
        const entries = { 1 : NoAction(); }
        entries = { 2 : NoAction(); }  //~ E0129
    }
    apply { t.apply(); }
}
// ---- action twice in list
#include <core.p4>
control c(in bit<8> a) {
    action x() { }
    table t {
        key = { a : exact; }
        actions = {
            x;
            NoAction;
            x;  //~ E0626
        }
    }
    apply { t.apply(); }
}
// ---- named initializer twice
struct S { bit<8> a; bit<8> b; }
const S s = { a = 1, b = 2, a = 3 };  //~ E0410
// ---- select labels duplicates are legal
extern X { X(bit<8> a); }
control c() {
    X(a = 1, a = 2) x;  //~ E0504
    apply { }
}
// ---- two mains
package P();
P() main;
P() main;  //~ E0203
// ---- name clash of user type and core
#include <core.p4>
struct packet_in { bit<8> x; }  //~ E0203
// ---- user NoAction clash
#include <core.p4>
action NoAction() { }  //~ E0203
// ---- user verify
#include <core.p4>
extern void verify(in bool check, in error toSignal);  //~ E0203
// ---- for variables
control c() { apply {
    for (bit<8> i = 0, bit<8> i = 1; i < 3; i = i + 1) { }  //~ E0203
} }
// ---- value sets
parser p() {
    value_set<bit<8>>(1) v;
    value_set<bit<8>>(1) v;  //~ E0203
    state start { transition accept; }
}
// ---- kv annotation twice
@foo[a=1, a=2]  //~ E0211
control c() { apply { } }
// ---- id clash
#include <core.p4>
control C();
package P(C c);
control c() {
    @id(5) table t { actions = { NoAction; } }
    @id(5) table u { actions = { NoAction; } }  //~ E0209
    apply { t.apply(); u.apply(); }
}
P(c()) main;
