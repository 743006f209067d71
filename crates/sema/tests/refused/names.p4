// ----
const bit<8> a = 1; const bit<8> a = 2;
// ----
control C(in bit<8> x, in bit<8> x) { apply { } }
// ----
control C(in bit<8> x)(bit<8> x) { apply { } }
// ----
control C() { action a() { } action a() { } apply { } }
// ----
control C() { bit<8> a; action a() { } apply { } }
// ----
extern E { E(); E(); }
// ----
extern E { void m(in bit<8> a); void m(in bit<8> a); }
// ----
extern E { E(bit<8> a); } struct E { bit<8> x; }
// ----
control C() { apply { .x = 1; } }
// ----
control C() { bit<8> x = later; bit<8> later = 1; apply { } }
// ----
control C() { apply { d.apply(); } } control D() { apply { } }
// ----
control C() { D() d; apply { } } control D() { apply { } }
// ----
const bit<8> x = y.z;
// ----
struct S { Missing m; }
// ----
const bit<8> S = 1; struct T { S s; }
// ----
enum E { A } const E e = E.B;
// ----
enum E { A } const E e = A;
// ----
const error e = error.Missing;
// ----
void f(in bit<8> a) { f2(a); }
// ----
control C() { this.x(); apply { } }
// ----
parser P() { state start { this.m(); } }
// ----
extern X { X(); } X() main;
