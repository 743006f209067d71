// ---- entries twice where the match kinds allow it
control c(in bit<8> x, in bit<8> y) {
    action a() { }
    table t {
        key = { x : lpm; y : exact; }
        actions = { a; }
        const entries = { (1, 2) : a(); (1, 2) : a(); (_, 2) : a(); (0 &&& 0, 2) : a(); }
        default_action = a;
    }
    table u {
        key = { x : ternary; }
        actions = { a; }
        entries = { 1 : a(); 1 : a(); _ : a(); default : a(); }
        default_action = a;
    }
    apply { t.apply(); u.apply(); }
}
// ---- a key twice
struct S { bit<8> a; bit<8> b; }
control c(in S s) {
    table t { key = { s.a : exact; s.a : ternary; s.a : lpm; } actions = { NoAction; } }
    table u { key = { s.a : exact; s.a : ternary @name("other"); } actions = { NoAction; } }
    apply { t.apply(); u.apply(); }
}
// ---- masks and ranges in entries of a program that is only checked
control c(in bit<8> x) {
    action a() { }
    table t { key = { x : exact; } actions = { a; } const entries = { 1 &&& 3 : a(); _ : a(); } default_action = a; }
    table u { key = { x : lpm; } actions = { a; } const entries = { 1 &&& 5 : a(); 1 .. 2 : a(); } default_action = a; }
    apply { t.apply(); u.apply(); }
}
// ---- lists against tuples, structs, headers and lists
struct S { bit<8> a; bit<8> b; }
header H { bit<8> a; bit<8> b; }
control c(inout bit<8> x, inout int<4> y, inout H h, inout S s) {
    apply {
        tuple<bit<8>, bit<8>> t = { 1, 2 };
        bool b = t == { x, 1 } && { 1, x } != t && s == { x, 1 } && { 1, x } == s && h == { 1, 2 } && { 1, 2 } == h;
        b = b && { 1, x, y } == { x, 2, 1 } && { 1, { x, 2 } } == { x, { 1, x } } && { 1, true } == { 1, false };
        b = b && h == {#} && {#} == h && (H){#} == (H){ 1, 2 } && h != (H){ b = 1, a = x } && s == { b = 1, a = 2 };
        tuple<> e = { };
        b = b && e == { };
        if (b) { x = 1; }
    }
}
// ---- members of enums as new types, and as numbers of other widths
enum bit<8> E { A = 1 }
enum bit<16> W { A = 1 }
type bit<8> N;
control c(inout bit<16> x, in E e, inout N n) {
    apply {
        n = (N) e;
        x = (bit<16>) e;
        W w = (W) e;
        E f = (E) x;
        x = (bit<16>) (bit<8>) n + (bit<16>) w + (bit<16>) f;
    }
}
