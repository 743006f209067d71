// ----
const bit<8> a = 9w3;
// ----
const bit<8> a = true;
// ----
const bool a = 2;
// ----
const bool a = (bool)2;
// ----
const bool a = (bool)8w1;
// ----
const int<8> a = 8w1;
// ----
const int<8> a = (int<8>)9w1;
// ----
const int a = 3 |+| 1;
// ----
const int a = ~3;
// ----
const bit<8> a = 1 << -1;
// ----
const bit<8> a = 8w5 / 0;
// ----
const int a = -5 / 2;
// ----
const int a = 5 % -2;
// ----
const int<8> a = 8s5 / 8s2;
// ----
const bit<8> a = 8w5 + true;
// ----
const bit<8> a = 8w5 |+| 9w1;
// ----
const int a = 5 |+| 3;
// ----
const bool a = true + true;
// ----
const bool a = true < false;
// ----
const bool a = "x" < "y";
// ----
const bool a = !3;
// ----
const bool a = -true;
// ----
const bool a = 8w1 == 8s1;
// ----
const bool a = 8w1 == 9w1;
// ----
const bool a = 8w1 == true;
// ----
enum E { A } enum F { A } const bool a = E.A == F.A;
// ----
enum E { A } const bit<8> a = E.A;
// ----
enum E { A } const bool a = E.A < E.A;
// ----
enum bit<8> E { A = 1 } const bit<9> a = E.A;
// ----
enum bit<8> E { A = 1 } const E a = 8w1;
// ----
enum bit<8> E { A = 1 } const E a = E.A + 1;
// ----
enum bit<8> E { A = 1 } enum bit<8> F { B = 1 } const E a = F.B;
// ----
type bit<8> N; const N a = 8w1;
// ----
type bit<8> N; const N a = (N)8w1 + (N)8w2;
// ----
type bit<8> N; const bit<8> a = (N)8w1;
// ----
type bit<8> N; type bit<8> M; const bool a = (N)8w1 == (M)8w1;
// ----
type bit<8> N; const bool a = (N)8w1 == 8w1;
// ----
struct S { bit<8> a; } struct T { bit<8> a; } const S s = { 1 }; const T t = s;
// ----
struct S { bit<8> a; } struct T { bit<8> a; } const S s = { 1 }; const T t = (T)s;
// ----
struct S { bit<8> a; bit<8> b; } const S s = { 1 };
// ----
struct S { bit<8> a; bit<8> b; } const S s = { 1, 2, 3 };
// ----
struct S { bit<8> a; bit<8> b; } const S s = { a = 1, c = 2 };
// ----
struct S { bit<8> a; bit<8> b; } const S s = { a = 1, a = 2 };
// ----
struct S { bit<8> a; bit<8> b; } const S s = { a = 1 };
// ----
struct S { bit<8> a; } const S s = { true };
// ----
struct S { bit<8> a; } const S s = 1;
// ----
struct S { bit<8> a; } const S s = {#};
// ----
const tuple<bit<8>, bool> t = { 1 };
// ----
const tuple<bit<8>, bool> t = { true, 1 };
// ----
const tuple<bit<8>, bool> t = { 1, true }; const bit<8> x = t[2];
// ----
const tuple<bit<8>, bool> t = { 1, true }; const bool x = t[0];
// ----
const bit<8> a = 8w255[8:0];
// ----
const bit<8> a = 255[7:8];
// ----
const bit<8> a = 8w255[0:7];
// ----
const bit<8> a = 8w255[-1:0];
// ----
const bit<8> a = true[0:0];
// ----
const bit<8> a = 8w5[0];
// ----
const bit<8> a = 1 ++ 8w2;
// ----
const bit<8> a = true ++ 8w2;
// ----
const string s = "a" ++ 1;
// ----
const bit<8> a = true ? 8w1 : 9w1;
// ----
const bit<8> a = 1 ? 8w1 : 8w1;
// ----
const bit<8> a = error.Nothing;
// ----
const error e = NoError;
// ----
const bit<8> a = b;
// ----
const bit<8> a = a;
// ----
const bit<8> a = 8w1.x;
// ----
const bit<8> a = -"x";
// ----
const bit<8> a = f(1);
// ----
const bit<8> a = 8w1 &&& 8w1;
// ----
const bit<8> a = 1 .. 2;
// ----
control C(in bit<8> x) { apply { bit<8> y = x && true; } }
// ----
control C(in bit<8> x) { apply { bit<16> y = x; } }
// ----
control C(in bit<8> x) { apply { bit<8> y = x[x:0]; } }
// ----
control C(inout bit<8> x) { apply { x[7:0] = 9w1; } }
// ----
control C(inout varbit<8> x) { apply { x = x + x; } }
// ----
control C(inout varbit<8> x, inout varbit<16> y) { apply { x = y; } }
// ----
control C(inout varbit<8> x) { apply { bit<8> y = (bit<8>)x; } }
// ----
control C(inout bit<8> x, in int<8> y) { apply { x = x << y; x = x << -8s1; } }
// ----
control C(inout bit<8> x) { apply { x = 1 << x; } }
// ----
control C(inout bit<8> x) { apply { x += 9w1; } }
// ----
control C(inout bool x) { apply { x += 1; } }
// ----
control C(inout bit<8> x) { apply { x = x == 1; } }
// ----
header H { bit<8> a; } control C(inout H h) { apply { h = 8w1; } }
// ----
header H { bit<8> a; } header G { bit<8> a; } control C(inout H h, inout G g) { apply { h = g; } }
// ----
header H { bit<8> a; } control C(inout H[2] h, inout H[3] g) { apply { h = g; } }
// ----
header H { bit<8> a; } control C(inout H h) { apply { h = H; } }
// ----
header H { bit<8> a; } control C(inout H h) { apply { bit<8> b = H.a; } }
// ----
header H { bit<8> a; } control C(inout H h) { apply { bool b = h.isValid; } }
// ----
header H { bit<8> a; } control C(inout H h) { apply { bool b = h.isValid(1); } }
// ----
struct S { bit<8> a; } control C(inout S s) { apply { bool b = s.isValid(); } }
// ----
header H { bit<8> a; } struct S { H h; } control C(in S s) { apply { s.h.setValid(); } }
// ----
header H { bit<8> a; } control C(inout H[2] h) { apply { h.push_front(-1); h.push_front(h[0].a); h.pop(); } }
// ----
header H { bit<8> a; } control C(inout H h) { apply { h.push_front(1); } }
// ----
header H { bit<8> a; } header_union U { H h; } control C(inout U u) { apply { u.setValid(); u.x = { 1 }; u = { { 1 } }; } }
// ----
enum bit<4> E { A = 1 } const E e = (E)16;
// ----
enum bit<4> E { A = 1 } const E e = (E)true;
// ----
const bit<8> a = (bit<8>)"x";
// ----
const bit<8> a = (bit<8>)error.NoError;
// ----
struct S { bit<8> a; } const S s = { 1 }; const bit<8> a = (bit<8>)s;
// ----
header H { bit<8> a; } struct S { bit<8> a; } const S s = { 1 }; const H h = (H)s;
// ----
const tuple<bit<8>> t = { 1 }; const tuple<bit<8>, bit<8>> u = t;
// ----
const list<bit<8>> l = { 1, 2 }; const tuple<bit<8>, bit<8>> t = l;
// ----
type bit<8> N; const N a = true;
// ----
type bool F; const F a = 1;
// ----
enum bit<8> E { A = 1 } type E N; const N a = 1;
// ----
type bit<8> N; control C(inout N n, in bit<8> x) { apply { n = x; n = 8w1; bool b = n == x; n = n + 1; } }
// ----
control C(inout bit<8> x) { apply { x = { 1 }; x = (bit<8>) { 1 }; bool b = x == { 1 }; } }
// ----
const int a = 5 & -3;
// ----
const int n = -3; const int a = n | 1;
// ----
const int a = 1 ^ (2 - 3);
// ----
control C(inout bit<8> x) { apply { x = x & -3; x = 5[x+:3]; } }
// ----
const bit<8> a = 5[2500000:1];
