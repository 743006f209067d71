// Legal programs that look much like illegal ones.
// ----
// division by positive numbers
const int five = 5;
control c(inout bit<8> x) {
    apply {
        x = x / 1;
        x = x % five;
        x = 200 / x;
        x /= 3;
        x %= 255;
        const int less = 7 / five - 3;
        x = x + less;
        x = x * -1;
    }
}
// ----
// the last element is read, the next and an indexed one are written
header H { bit<8> a; }
parser P(packet_in b, inout H[3] s) {
    state start {
        b.extract(s.next);
        s[s.lastIndex].a = s.last.a + 1;
        s.next.a = s.last.a;
        s[0].setInvalid();
        transition select(s.last.isValid()) {
            true: accept;
            false: reject;
        }
    }
}
// ----
// select on structs and tuples with keysets that match
struct S { bit<8> a; bool b; }
const S one = { 1, true };
parser P(in S s, in bit<8> x, in tuple<bit<8>, bool> t) {
    state start {
        transition select(s) {
            (S){ 1, true }: next;
            { a = 2, b = false }: next;
            one: next;
            _: reject;
        }
    }
    state next {
        transition select(s, x) {
            ({ 1, true }, 2): last;
            (_, 3): last;
            default: reject;
        }
    }
    state last {
        transition select(t) {
            { 1, true }: accept;
            default: reject;
        }
    }
}
// ----
// strings where they are known at compile time
extern void f<T>(string text, in T value);
extern void g<T>(T text);
extern E { E(string name); void log(string text); }
const string hello = "hello" ++ " " ++ "world";
control c(in bit<8> x) {
    E("e") e;
    apply {
        f("x = {}", x);
        f(hello, { x, x });
        g("text");
        e.log(hello);
    }
}
// ----
// arrays that are no stacks of stacks
header H { bit<8> a; }
header_union U { H h; }
typedef H Alias;
struct S { Alias[3] s; U[2] u; bit<8>[3][2] m; }
struct T { S[2] s; tuple<H[2], U[3]> t; }
// ----
// controls that take others
control Inner(inout bit<8> x) { apply { } }
control Outer(inout bit<8> x)(Inner inner) { apply { inner.apply(x); } }
// ----
// a state called as a parameter
parser p(in bit<8> next) {
    state start { transition next; }
    state next {
        bit<8> start = 1;
        transition accept;
    }
}
// ----
// names of instances that differ
control Block();
package Top(Block a, Block b);
control Inner() {
    @name(".shared") action a() { }
    @hidden @name(".hidden") table h { actions = { a; NoAction; } }
    table t { actions = { a; NoAction; } }
    apply { t.apply(); h.apply(); }
}
control Outer() {
    Inner() one;
    Inner() two;
    @name("one") table t { actions = { NoAction; } }
    apply { one.apply(); two.apply(); t.apply(); }
}
Top(Outer(), Outer()) main;
// ----
// a typedef of nearly everything
header H { bit<8> a; }
extern X { X(); }
typedef int Number;
typedef error Fault;
typedef tuple<bit<8>, bool> Pair;
typedef H[3] Stack;
typedef X Object;
// ----
// versions of v1model nocore
#define V1MODEL_VERSION 20190812
#include <v1model.p4>
// ----
// lines with a sign that a C preprocessor leaves to an assembler
# a comment, it's "not" read: $
# 1) the first point
#
const bit<8> x = 1;
#define PASTE(a, b) a##b
#define one 1
const bit<8> y = PASTE(1, +) PASTE(8w, 2) PASTE(>, >) PASTE(on, e);
#define LONG 1 \  
    + 2
const bit<8> z = LONG;
