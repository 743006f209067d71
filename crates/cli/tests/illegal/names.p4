// Names, members, stacks, and what cannot be written.

// ---- unknown var
control c() { apply {
    x = 1;  //~ E0201
} }
// ---- unknown in expression
control c(inout bit<8> a) { apply {
    a = a + y;  //~ E0201
} }
// ---- unknown type
control c(inout foo a) {  //~ E0201
    apply { }
}
// ---- unknown function
control c() { apply {
    foo();  //~ E0201
} }
// ---- unknown state
parser p() {
    state start { transition next; }  //~ E0612
}
// ---- unknown state in select
parser p(in bit<8> x) {
    state start { transition select(x) {
        1: foo;  //~ E0612
        default: accept;
    } }
}
// ---- unknown extern
control c() {
    Foo() f;  //~ E0201
    apply { }
}
// ---- unknown table
control c() { apply {
    t.apply();  //~ E0201
} }
// ---- unknown error member
error { A }
const error e = error.B;  //~ E0205
// ---- unknown enum member
enum E { A }
const E e = E.B;  //~ E0205
// ---- unknown field
struct S { bit<8> a; }
control c(inout S s) { apply {
    s.b = 1;  //~ E0205
} }
// ---- unknown header field
header S { bit<8> a; }
control c(inout S s) { apply {
    s.a = s.q;  //~ E0205
} }
// ---- unknown union field
header S { bit<8> a; }
header_union U { S s; }
control c(inout U s) { apply {
    s.q.setValid();  //~ E0205
} }
// ---- unknown struct in package
package P(Foo f);  //~ E0201
// ---- unknown control in main
package P();
Q() main;  //~ E0201
// ---- unknown control arg
control C();
package P(C c);
P(d()) main;  //~ E0201
// ---- use before declaration const
const bit<8> a = b;  //~ E0202
const bit<8> b = 1;
// ---- use before declaration action
control c() {
    action a() { b(); }  //~ E0202
    action b() { }
    apply { a(); }
}
// ---- out of scope block
control c(inout bit<8> x) { apply {
    { bit<8> y = 1; }
    x = y;  //~ E0201
} }
// ---- out of scope if
control c(inout bit<8> x) { apply {
    if (true) { bit<8> y = 1; x = y; } else {
        x = y;  //~ E0201
    }
} }
// ---- state variable out of scope
parser p(out bit<8> x) {
    state start { bit<8> y = 1; transition next; }
    state next {
        x = y;  //~ E0201
        transition accept;
    }
}
// ---- var of other control
control d() { bit<8> y; apply { } }
control c(out bit<8> x) { apply {
    x = y;  //~ E0201
} }
// ---- d.y
control d() { bit<8> y; apply { } }
control c(out bit<8> x) {
    d() dd;
    apply {
        x = dd.y;  //~ E0206
    }
}
// ---- absolute path
control c(out bit<8> x) { apply {
    x = .foo;  //~ E0201
} }
// ---- absolute path to local
control c(out bit<8> x) {
    bit<8> y = 1;
    apply {
        x = .y;  //~ E0201
    }
}
// ---- typename in expression
struct S { bit<8> a; }
control c(out bit<8> x) { apply {
    x = S;  //~ E0120
} }
// ---- field via type
struct S { bit<8> a; }
control c(out bit<8> x) { apply {
    x = S.a;  //~ E0206
} }
// ---- header method via type
header S { bit<8> a; }
control c(out bool x) { apply {
    x = S.isValid();  //~ E0206
} }
// ---- control name as value
control d() { apply { } }
control c(out bool x) { apply {
    x = d;  //~ E0120
} }
// ---- action as value
control c(out bool x) {
    action a() { }
    apply {
        x = a;  //~ E0204
    }
}
// ---- function as value
bit<8> f() { return 1; }
control c(out bit<8> x) { apply {
    x = f;  //~ E0204
} }
// ---- var as type
control c(in bit<8> x) {
    x y;  //~ E0204
    apply { }
}
// ---- enum itself as value
enum E { A }
control c(out E x) { apply {
    x = E;  //~ E0120
} }
// ---- member of number
control c(out bit<8> x) { apply {
    x = x.foo;  //~ E0206
} }
// ---- member of tuple
control c(out bit<8> x, in tuple<bit<8>> t) { apply {
    x = t.f0;  //~ E0206
} }
// ---- table member
#include <core.p4>
control c(out bool x) {
    table t { actions = { NoAction; } }
    apply {
        x = t.size;  //~ E0206
    }
}
// ---- state name as expression
parser p(out bit<8> x) {
    state start {
        x = start;  //~ E0204
        transition accept;
    }
}
// ---- select to function
#include <core.p4>
parser p(in bit<8> x) {
    state start { transition select(x) {
        1: verify;  //~ E0612
        default: accept;
    } }
}
// ---- transition to variable
parser p(in bit<8> x) {
    state start { transition x; }  //~ E0612
}
// ---- index on bit
control c(inout bit<8> x) { apply {
    x = x[1];  //~ E0423
} }
// ---- index on struct
struct S { bit<8> a; }
control c(inout S x) { apply {
    x.a = x[0];  //~ E0423
} }
// ---- index with bool
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h[true].x = 1;  //~ E0301
} }
// ---- index out of range
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h[2].x = 1;  //~ E0404
} }
// ---- index negative
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h[-1].x = 1;  //~ E0404
} }
// ---- index string
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h["a"].x = 1;  //~ E0301
} }
// ---- index tuple variable
control c(out bit<8> x, in tuple<bit<8>, bit<8>> t, in bit<1> i) { apply {
    x = t[i];  //~ E0405
} }
// ---- index tuple beyond
control c(out bit<8> x, in tuple<bit<8>, bit<8>> t, in bit<1> i) { apply {
    x = t[2];  //~ E0404
} }
// ---- index tuple negative
control c(out bit<8> x, in tuple<bit<8>, bit<8>> t, in bit<1> i) { apply {
    x = t[-1];  //~ E0404
} }
// ---- next in control
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h.next.x = 1;  //~ E0412
} }
// ---- last in control
header H { bit<8> x; }
control c(inout H[2] h) { apply {
    h[0].x = h.last.x;  //~ E0412
} }
// ---- lastIndex in control
header H { bit<8> x; }
control c(inout H[2] h, out bit<32> y) { apply {
    y = h.lastIndex;  //~ E0412
} }
// ---- next on header
#include <core.p4>
header H { bit<8> x; }
parser p(packet_in b, out H h) {
    state start {
        b.extract(h.next);  //~ E0205
        transition accept;
    }
}
// ---- next on struct
#include <core.p4>
struct H { bit<8> x; }
parser p(packet_in b, out H h) {
    state start {
        b.extract(h.next);  //~ E0205
        transition accept;
    }
}
// ---- last on bit
#include <core.p4>
parser p(packet_in b, out bit<8> h) {
    state start {
        h = h.last;  //~ E0206
        transition accept;
    }
}
// ---- stack foo
#include <core.p4>
header H { bit<8> x; }
parser p(packet_in b, out H[3] h) {
    state start {
        b.extract(h.first);  //~ E0205
        transition accept;
    }
}
// ---- write last
#include <core.p4>
header H { bit<8> x; }
parser p(packet_in b, out H[3] h) {
    state start {
        h.lastIndex = 3;  //~ E0401
        transition accept;
    }
}
// ---- write size
#include <core.p4>
header H { bit<8> x; }
control p(out H[3] h) {
    apply {
        h.size = 3;  //~ E0401
    }
}
// ---- push on header
header H { bit<8> x; }
control p(out H h) {
    apply {
        h.push_front(1);  //~ E0205
    }
}
// ---- isValid of struct
struct H { bit<8> x; }
control p(inout H h) {
    apply {
        if (h.isValid()) { }  //~ E0205
    }
}
// ---- isValid of stack
header H { bit<8> x; }
control p(inout H[2] h) {
    apply {
        if (h.isValid()) { }  //~ E0205
    }
}
// ---- setValid of union
header H { bit<8> x; }
header_union U { H h; }
control p(inout U h) {
    apply {
        h.setValid();  //~ E0205
    }
}
// ---- setInvalid field
header H { bit<8> x; }
control p(inout H h) {
    apply {
        h.x.setInvalid();  //~ E0205
    }
}
// ---- field of stack
header H { bit<8> x; }
control p(inout H[2] h) {
    apply {
        h.x = 1;  //~ E0205
    }
}
// ---- next in function
header H { bit<8> x; }
void f(inout H[2] h) {
    h.next.x = 1;  //~ E0412
}
// ---- next of non-header array
struct S { bit<8> x; }
parser p(inout S[2] h) {
    state start {
        h.next.x = 1;  //~ E0413
        transition accept;
    }
}
// ---- push_front of array
struct S { bit<8> x; }
control p(inout S[2] h) {
    apply {
        h.push_front(1);  //~ E0205
    }
}
// ---- error without member
control p(out error h) {
    apply {
        h = error;  //~ E0120
    }
}
// ---- error member alone
error { Foo }
control p(out error h) {
    apply {
        h = Foo;  //~ E0201
    }
}
// ---- enum member alone
enum E { Foo }
control p(out E h) {
    apply {
        h = Foo;  //~ E0201
    }
}
// ---- assign in param
control p(in bit<8> x) { apply {
    x = 1;  //~ E0402
} }
// ---- assign in param field
struct S { bit<8> x; }
control p(in S s) { apply {
    s.x = 1;  //~ E0402
} }
// ---- assign in param slice
control p(in bit<8> x) { apply {
    x[3:0] = 1;  //~ E0402
} }
// ---- assign const
const bit<8> k = 1;
control p() { apply {
    k = 1;  //~ E0402
} }
// ---- assign local const
control p() {
    const bit<8> k = 1;
    apply {
        k = 1;  //~ E0402
    }
}
// ---- assign ctor param
control p()(bit<8> k) { apply {
    k = 1;  //~ E0402
} }
// ---- assign expr
control p(inout bit<8> x) { apply {
    x + 1 = 2;  //~ E0120
} }
// ---- assign literal
control p(inout bit<8> x) { apply {
    5 = x;  //~ E0131
} }
// ---- assign concat
control p(inout bit<8> x) { apply {
    (x ++ x) = 2;  //~ E0131
} }
// ---- assign ternary
control p(inout bit<8> x, in bool b) { apply {
    (b ? x : x) = 2;  //~ E0131
} }
// ---- assign cast
control p(inout bit<8> x) { apply {
    (bit<8>)x = 2;  //~ E0120
} }
// ---- assign list
control p(inout bit<8> x) { apply {
    { x } = { 2 };  //~ E0130 E0120
} }
// ---- assign table
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    apply {
        t = t;  //~ E0401
    }
}
// ---- assign instance
extern X { X(); }
control c() {
    X() x; X() y;
    apply {
        x = y;  //~ E0401
    }
}
// ---- assign type
struct S { bit<8> x; }
control c() {
    apply {
        S = { 1 };  //~ E0120
    }
}
// ---- assign enum member
enum S { x }
control c() {
    apply {
        S.x = S.x;  //~ E0131
    }
}
// ---- assign isValid
header H { bit<8> x; }
control c(inout H h) {
    apply {
        h.isValid() = true;  //~ E0131
    }
}
// ---- assign hit
#include <core.p4>
control c() {
    table t { actions = { NoAction; } }
    apply {
        t.apply().hit = true;  //~ E0131
    }
}
// ---- slice of slice of const
const bit<8> k = 1;
control c() {
    apply {
        k[3:0] = 1;  //~ E0402
    }
}
// ---- compound assign of in
control c(in bit<8> k) {
    apply {
        k += 1;  //~ E0402
    }
}
// ---- tuple element assignment of in
control c(in tuple<bit<8>> k) {
    apply {
        k[0] = 1;  //~ E0402
    }
}
