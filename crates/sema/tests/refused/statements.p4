// ----
void f(in bit<8> a) { a = 1; }
// ----
const bit<8> K = 1; void f() { K = 2; }
// ----
void f() { f = 1; }
// ----
void f() { 8w1 = 2; }
// ----
void f() { bit<8> x; x + 1; }
// ----
void f() { bit<8> x; x(); }
// ----
void f() { if (1) { } }
// ----
void f() { if (8w1) { } else { } }
// ----
void f() { exit; }
// ----
void f() { break; }
// ----
void f() { return 1; }
// ----
bit<8> f() { return; }
// ----
bit<8> f() { }
// ----
bit<8> f(in bool b) { if (b) return 1; }
// ----
bit<8> f(in bit<8> b) { switch (b) { 1: { return 1; } } }
// ----
parser P() { state start { return; } }
// ----
parser P() { state start { exit; } }
// ----
void f() { bit<8> x; bit<8> x; }
// ----
void f() { { bit<8> x; } x = 1; }
// ----
void f() { x = 1; bit<8> x; }
// ----
void f() { int x = 1; }
// ----
void f() { packet_in p; }
// ----
void f() { const bit<8> c = f2(); } 
// ----
void f(in bit<8> a) { const bit<8> c = a; }
// ----
void f(in bit<8> a) { switch (a) { 1: { } 1: { } } }
// ----
void f(in bit<8> a) { switch (a) { true: { } } }
// ----
void f(in bit<8> a) { switch (a) { a: { } } }
// ----
void f(in bit<8> a) { switch (a) { default: { } 1: { } } }
// ----
void f(in bit<8> a) { switch (a) { default: { } default: { } } }
// ----
enum E { A, B } void f(in E e) { switch (e) { E.A: { } E.A: { } } }
// ----
struct S { bit<8> a; } void f(in S s) { switch (s) { default: { } } }
// ----
void f() { for (bit<8> i in true) { } }
// ----
void f() { for (bit<8> i = 0; i; i += 1) { } }
// ----
void f() { for (bit<8> i in 1 .. true) { } }
// ----
void f() { for (bit<8> i in 1 .. 3) { } i = 1; }
// ----
control C() { action a() { } apply { action b() { } } }
// ----
control C() { apply { table t { actions = { } } } }
// ----
parser P() { state start { transition next; } }
// ----
parser P() { state start { transition start2; } state start2 { transition x; } }
// ----
parser P() { bit<8> x; state x { transition accept; } state start { transition accept; } }
// ----
parser P() { state begin { transition accept; } }
// ----
parser P() { state start { transition accept; } state start { transition reject; } }
// ----
parser P() { state reject { } state start { transition accept; } }
// ----
parser P(in bit<8> a) { state start { transition select(a) { true: accept; } } }
// ----
parser P(in bit<8> a) { state start { transition select(a) { (1, 2): accept; } } }
// ----
parser P(in bit<8> a) { state start { transition select(a, a) { 1: accept; } } }
// ----
parser P(in bit<8> a) { state start { transition select(a) { 9w1: accept; } } }
// ----
parser P(in bit<8> a) { state start { transition select(a) { 1 &&& 9w1: accept; } } }
// ----
parser P(in bool a) { state start { transition select(a) { true &&& true: accept; true .. false: accept; } } }
// ----
parser P(in bit<8> a) { state start { transition select(a) { 1: accept2; } } }
// ----
parser P(in bit<8> a) { state start { transition select(a) { 1: a; } } }
// ----
parser P(in bit<8> a) { state start { transition select(5) { 5: accept; } } }
// ----
parser P(packet_in p) { state start { transition select(p) { _: accept; } } }
// ----
parser P(in bit<8> a) { value_set<bool>(4) v; state start { transition select(a) { v: accept; } } }
// ----
parser P(in bit<8> a) { value_set<bit<8>>(a) v; state start { transition select(a) { v: accept; } } }
// ----
parser P(in bit<8> a) { value_set<bit<8>>(4) v; state start { bit<8> x = v; transition accept; } }
// ----
header H { bit<8> a; } control C(inout H[2] h) { apply { h.next.a = 1; } }
// ----
header H { bit<8> a; } parser P(inout H h) { state start { h.next.a = 1; transition accept; } }
// ----
control C() { value_set<bit<8>>(4) v; apply { } }
// ----
control C() { apply { verify(true, error.NoError); } }
// ----
parser P() { state start { verify(1, error.NoError); transition accept; } }
