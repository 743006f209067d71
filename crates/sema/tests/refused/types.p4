// ----
header H { bit<8> a; } header G { H h; }
// ----
struct S { packet_in p; }
// ----
header H { bit<8> a; } header H2 { H[3] stack; }
// ----
header_union U { bit<8> a; } header H { U u; }
// ----
struct T { bit<8> a; } header_union U { T t; }
// ----
enum E { A } header H { E e; }
// ----
struct In { error e; } header H { In i; }
// ----
struct S { S s; }
// ----
struct S<T> { T a; } typedef S<S> B;
// ----
typedef bit<8> T; struct S { T<bit<8>> a; }
// ----
header H { bit<8> a; } type tuple<bit<8>> N;
// ----
type string N;
// ----
type int N;
// ----
struct S { bit<8>[3.5] a; }
// ----
const int n = -3; struct S { bit<n> a; }
// ----
const bit<8> n = 3; struct S { bit<(n ++ n)> ok; bit<"x"> a; }
// ----
bit<8> f() { return 1; } struct S { bit<(f())> a; }
// ----
control C()(int n) { bit<n> v; apply { } }
// ----
struct S { list<bit<8>> l; }
// ----
typedef tuple<packet_in> T;
// ----
extern X<T> { X(); T get(); } X<bit<8>, bool>() x;
// ----
header H { bit<8> a; bit<8> a; }
// ----
enum E { } enum bit<8> F { a = 1, a = 2 }
// ----
enum bit<4> E { a = 16 }
// ----
enum bit<8> E { a = true }
// ----
enum tuple<bit<8>> E { a = 1 }
// ----
enum int E { a = 1 }
// ----
struct V { varbit<8> v; } header H { V v; }
// ----
const void v = 1;
// ----
extern void f(in void v);
// ----
control C(in int n) { apply { } }
// ----
control C(inout string s) { apply { } }
// ----
parser P(inout packet_in p) { state start { transition accept; } }
// ----
void f<T>(in T t) { t.x = 1; }
// ----
void f<T>(in T t) { bit<8> x = t; }
// ----
void f<T, T>(in T t) { }
// ----
header H<T> { T t; } struct S { H<string> h; }
// ----
header H<T> { T t; } header J { H<bit<8>> h; }
// ----
header H<T> { T t; } struct S { H<error> h; }
// ----
match_kind { exact }
// ----
error { NoError }
// ----
struct exact2 { bit<8> x; } struct exact2 { bit<8> y; }
// ----
header H { bit<8> a; } struct S { H[-1] h; bit<8>[-2] i; }
// ----
header H { bit<8> a; } header G { H[2] h; error[2] e; varbit<8>[2] v; tuple<bit<8>> t; }
// ----
struct P<T> { T a; } struct S { P<_> p; } control C(inout P<_> p) { P<_> q; apply { } } P<_> f() { }
// ----
control k<T>(inout T x); package P(k<_> a, k<_, _> b);
// ----
control g<T>(inout T x) { apply { x = 1; x.y = 2; } } control c() { g<bit<8>, bit<8>>() a; g() b; apply { } }
// ----
const packet_in p = 3; const packet_in q;
// ----
match_kind { range } struct s { match_kind k; }
// ----
enum En { A, B } type En z;
