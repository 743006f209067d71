// Statements and expressions of every kind.
#include <core.p4>

header H { bit<8> a; bit<16> b; }
header V { varbit<64> v; }
header_union U { H h; V v; }
struct S { H h; H g; U u; H[4] stack; bit<8> x; bit<16> y; int<8> i; bool f; tuple<bit<8>, bool> pair; bit<8>[3] array; }
enum E { A, B }
enum bit<8> R { one = 1, two = 2 }

bit<8> maximum(in bit<8> a, in bit<8> b) { if (a > b) { return a; } return b; }
T identity<T>(in T value) { return value; }
void swap<T>(inout T a, inout T b) { T c = a; a = b; b = c; }
bit<8> overloaded(in bit<8> a) { return a; }
bit<8> overloaded(in bit<8> a, in bit<8> b) { return a + b; }
bit<8> defaulted(in bit<8> a, in bit<8> b = 7) { return a + b; }
void nothing() { return; }

control C(inout S s, in bit<8> r, out bit<8> o)(bit<8> parameter, int size) {
    bit<8> local = parameter;
    const bit<8> constant = parameter + 1;
    apply {
        o = 0;
        s.x = maximum(s.x, r);
        s.x = maximum(b = s.x, a = r);
        s.x = identity(r) + identity<bit<8>>(3) + overloaded(1) + overloaded(1, 2) + defaulted(1) + defaulted(1, 2);
        swap(s.x, o);
        nothing();
        s.x += 1; s.x -= 1; s.x *= 2; s.x &= 0xf; s.x |= 1; s.x ^= 3; s.x <<= 1; s.x >>= 1; s.x |+|= 1; s.x |-|= 1;
        s.x /= 2; s.x %= 3;
        s.x[3:0] = s.x[7:4];
        s.x[0:0] = 1;
        s.x[r[2:0] +: 1] = 1;
        s.y = s.x ++ s.h.a;
        s.y = (bit<16>)s.x;
        s.i = (int<8>)s.x;
        s.i = -s.i + +s.i;
        s.i = s.i >> 2;
        s.i = s.i << s.x;
        s.x = ~s.x & s.x | s.x ^ 3;
        s.f = s.x == 3 || s.x != r && !s.f;
        s.f = s.h == s.g;
        s.f = s.h == { 1, 2 };
        s.f = s.pair == { 1, true };
        s.f = s.stack == s.stack;
        s.f = s.u == s.u;
        s.f = s.u.v.v == s.u.v.v;
        s.f = (bool)s.x[0:0];
        s.f = error.NoError == error.NoMatch;
        s.f = s.h.isValid() && s.u.isValid() && s.stack[1].isValid();
        s.x = s.f ? s.x : 5;
        s.x = s.f ? 1 : 8w2;
        s.x = R.one;
        s.f = R.one == R.two;
        s.f = s.x == R.one;
        s.x = R.one + 1;
        R repr = (R)s.x;
        E e = E.A;
        e = s.f ? E.A : E.B;
        s.h = { 1, 2 };
        s.h = { a = 1, b = 2 };
        s.h = { a = 1, ... };
        s.h = { 1, ... };
        s.h = (H){ 1, 2 };
        s.h = {#};
        s.u = {#};
        s.g = ...;
        s.f = s.h == {#};
        s.h.setValid();
        s.h.setInvalid();
        s.stack.push_front(2);
        s.stack.pop_front(1);
        s.stack[r].a = 1;
        s.stack[s.stack.size - 1].a = 1;
        s.pair = { 1, false };
        s.x = s.pair[0];
        s.array[1] = s.array[r];
        s.array = { 1, 2, 3 };
        H h = s.h;
        tuple<bit<8>, bool> pair = s.pair;
        switch (s.x) {
            1: { s.x = 2; }
            2:
            3: { s.x = 3; }
            default: { }
        }
        switch (e) {
            E.A: { }
            E.B: { }
        }
        for (bit<8> index = 0; index < 10; index = index + 1) {
            if (index == 5) { continue; }
            s.x = s.x + index;
        }
        for (bit<8> a = 0, bit<16> b = 1; a < 3; a += 1, b += 1) { s.y = b; }
        for (bit<8> element in s.array) { s.x = element; }
        for (H element in s.stack) { if (element.isValid()) { break; } }
        for (bit<8> n in 0 .. 7) { s.x = n; }
        for (bit<8> n in 8w0 .. 7) { s.x = n; }
        for (bit<8> n in { 1, 2, 3 }) { s.x = n; }
        if (s.f) return;
        { bit<8> inner_local = 1; s.x = inner_local; }
        exit;
    }
}

control D(inout S s) {
    C(8w3, 5) c;
    C(parameter = 1, size = 2) d;
    apply {
        bit<8> o;
        c.apply(s, 1, o);
        d.apply(s, s.x, _);
        d.apply(o = o, s = s, r = 3);
    }
}
