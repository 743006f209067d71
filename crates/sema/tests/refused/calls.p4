// ----
void f(in bit<8> a) { } void g() { f(); }
// ----
void f(in bit<8> a) { } void g() { f(9w1); }
// ----
void f(out bit<8> a) { a = 1; } void g() { f(1); }
// ----
void f(inout bit<8> a) { } void g(in bit<8> b) { f(b); }
// ----
void f(inout bit<8> a) { } void g() { const bit<8> b = 1; f(b); }
// ----
void f(inout bit<8> a) { } void g() { bit<9> b; f(b); }
// ----
void f(inout bit<8> a) { } void g() { bit<8> b; f(b + 1); f(b[3:0]); }
// ----
void f<T>(in T a, in T b) { } void g() { f(8w1, 9w1); }
// ----
void f<T>(in T a, in T b) { } void g() { f(8w1, true); }
// ----
T f<T>() { T t; return t; } void g() { bit<8> x = f(); }
// ----
T f<T>(in T a) { return a; } void g() { bit<8> x = f<bit<9>>(9w1); }
// ----
struct S<T> { T a; } void f<T>(in S<T> s) { } void g() { S<bit<8>> s; f<bit<9>>(s); }
// ----
extern E<T> { E(); void m<U>(in T t, in U u); } control C() { E<bit<8>>() e; apply { e.m(9w1, true); } }
// ----
extern E { E(bit<8> a); } E() e;
// ----
extern E { E(bit<8> a); } E(true) e;
// ----
extern E { E(bit<8> a); } control C(in bit<8> x) { E(x) e; apply { } }
// ----
extern E { E(); } control C() { apply { E().m(); } }
// ----
extern E { E(); } control C() { apply { E() e; e = e; } }
// ----
extern E { E(); void m(); } control C(E e) { apply { e.n(); } }
// ----
extern E { void m(); } E() e;
// ----
extern E { E(); bit<8> m(); } E() e; const bit<8> x = e.m();
// ----
extern E { E(); abstract void m(in bit<8> a); } E() e = { void m(in bit<8> a, in bit<8> b) { } };
// ----
extern E { E(); abstract void m(in bit<8> a); } E() e = { void m(inout bit<8> a) { } };
// ----
extern E { E(); abstract bit<8> m(); } E() e = { bool m() { return true; } };
// ----
extern E { E(); abstract void m(); } control I(E e) { apply { } } package P(E e); P(E()) main;
// ----
parser Parse<H>(out H h); parser P(out bit<8> h, in bit<8> x) { state start { h = x; transition accept; } } package K<H>(Parse<H> p); K(P()) main;
// ----
parser Parse<H>(out H h); parser P(inout bit<8> h) { state start { transition accept; } } package K<H>(Parse<H> p); K(P()) main;
// ----
control Ctl<H>(inout H h); control A(inout bit<8> h) { apply { } } control B(inout bool h) { apply { } } package K<H>(Ctl<H> a, Ctl<H> b); K(A(), B()) main;
// ----
control Ctl<H>(inout H h); parser P(inout bit<8> h) { state start { transition accept; } } package K<H>(Ctl<H> a); K(P()) main;
// ----
control Ctl<H>(inout H h); control A(inout bit<8> h) { apply { } } package K<H>(Ctl<H> a); K(A) main;
// ----
control Ctl<H>(inout H h); control A(inout bit<8> h) { apply { } } package K<H>(Ctl<H> a); K() main;
// ----
control Ctl<H>(inout H h); control A(inout bit<8> h)(bit<8> n) { apply { } } package K<H>(Ctl<H> a); K(A()) main;
// ----
control A() { apply { } } control B() { A() a; apply { a(); } }
// ----
control A() { apply { } } control B() { A() a; apply { a.run(); } }
// ----
control A() { apply { } } control B() { A() a; apply { a.apply(1); } }
// ----
control A() { apply { } } void f() { A.apply(); }
// ----
control A(in bit<8> x)(bit<8> n) { apply { } } control B() { apply { A.apply(1); } }
// ----
control A() { A() a; apply { } }
// ----
control A() { apply { A.apply(); } }
// ----
parser P() { P() p; state start { transition accept; } }
// ----
void f() { g(); } void g() { f(); }
// ----
control C() { action a() { b(); } action b() { a(); } apply { } }
// ----
control C() { action a() { return 1; } apply { } }
// ----
control C() { action a() { } apply { a(1); bit<8> x = a(); } }
// ----
action a(in bit<8> x, bit<8> y) { } void f() { a(1, 2); }
// ----
control C() { action a(inout bit<8> x) { } apply { a(1); } }
// ----
control C() { action a(packet_in p) { } apply { } }
// ----
void f(in bit<8> a, in bit<8> a) { }
// ----
void f(in bit<8> a) { } void f(in bool a) { }
// ----
void f() { } bit<8> f() { return 1; }
// ----
void f() { } const bit<8> f = 1;
// ----
control C(packet_in p) { apply { bit<8> x = p.lookahead<bit<8>>(); p.extract(x); } }
// ----
header H { bit<8> a; } parser P(packet_in p) { state start { p.extract(H); transition accept; } }
// ----
header H { bit<8> a; varbit<8> v; } parser P(packet_in p, out H h) { state start { p.extract(h); transition accept; } }
// ----
struct S { bit<8> a; } control C(packet_out p, in S s) { apply { p.emit(s); } }
// ----
void f(in bit<8> a = true) { }
// ----
void f(in bit<8> a, in bit<8> b = a) { }
// ----
package K(bit<8> a); K(1); 
// ----
void f() { static_assert(1 == 2); static_assert(1); }
// ----
bit<8> f(in bit<8> a, in bit<8> b = 2, in bit<8> c) { return a; } const bit<8> unused = 1; control C(inout bit<8> x) { apply { x = f(1, 2); x = f(a = 1); } }
// ----
struct E0 { } struct E1 { } control CT<H>(inout H h); control nothing(inout E0 h) { apply { } } package Pk<H>(CT<H> b = nothing()); Pk<E1>() main;
// ----
extern void f(bit<8> z); extern E { E(); void m(bit<8> z); } control N(bit<8> z) { apply { f(z); } } control C(inout bit<8> x) { E() e; N() n; action a(bit<8> d) { f(d); e.m(d); } table t { actions = { a; } default_action = a(1); } apply { f(1); f(x); e.m(2); e.m(x); n.apply(3); n.apply(x); a(x); t.apply(); } }
