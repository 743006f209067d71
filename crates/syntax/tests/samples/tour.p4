// One of everything that the grammar has.
#include <core.p4>

error { BadVersion, BadLength, }
match_kind { fuzzy }

const bit<8> A = 8w0xFF;
const int<9> B = -9s5;
const int C = 0b1010_1010 + 0o17 - 0d12 + 0x_FF;
const bool D = !true && false || A == 1 && B != 2;
const string S = "a \"quoted\" word\n";
const bit<16> E = (bit<16>) A ++ 8w1 << 2 | 16w3 & 16w5 ^ ~16w7;
const bit<(4 + 4)> F = A[7:4] ++ A[3:0];
const bit G = A[1:1];
const tuple<bit<8>, bool> H = { 1, true };
const list<tuple<bit<8>, bool>> I = { { 1, true }, { 2, false }, };
const int J = A > 3 ? 1 : B < 4 ? 2 : 3;
const bit<8> K = A |+| 1 |-| 2;
const bit<8> L = - (-A) + +A - (~A);
const int M = (1 - (2 - 3)) * 4 / 5 % 6 << 1 >> 2;
const bool N = A >= 1 && A <= 2 || A>>1 > 3;

typedef bit<48> mac_t;
type bit<9> port_t;
typedef struct Inner { bit<8> x; } Alias;
type bit<32> id_t;

enum Suit { Clubs, Diamonds, Hearts, Spades }
enum bit<8> Kind { One = 1, Two = 2, Many = 8w0xff }

@name("top") @hidden
struct Pair<T, U> { T first; U second; }
header Ethernet {
    @field_list(1, 2) mac_t dst;
    mac_t src;
    bit<16> kind;
}
header Options { bit<8> length; varbit<320> data; varbit<(8 * 4)> more; }
header_union Either { Ethernet a; Options b; }
struct Headers { Ethernet ethernet; Ethernet[4] stack; Either[2] either; bit<8>[3][2] table_of_bytes; }
struct Meta { bit<8> key; bit<8> actions; bit<8> state; bit<8> entries; bit<8> type; bit<8> priority; bit<8> list; error e; }

@pragma vendor keep this "line" as 1 >> 2
extern Machine<T> {
    Machine(bit<32> size);
    @pure T get(in T a, @optional in bit<8> b = 3);
    abstract void run<U>(inout U value);
    void put(T value);
}
extern void log(string text);
extern T max<T>(in T a, in T b);
extern error worst();

parser Top<H, M>(packet_in b, out H h, inout M m);
control Pipe<H, M>(inout H h, inout M m);
package Switch<H, M>(Top<H, M> p, Pipe<H, M> c, @optional Pipe<H, M> d);

bit<8> twice(in bit<8> a) { return a + a; }
T same<T>(in T a) { return a; }
void nothing() { return; }

action outer(inout bit<8> x, bit<8> y) { x = y; }

parser Sub(packet_in b, out Ethernet e)(bool strict, bit<8> n = 4) {
    state start {
        b.extract(e);
        transition accept;
    }
}

parser MyParser(packet_in packet, out Headers hdr, inout Meta meta) {
    const bit<16> IPV4 = 0x800;
    bit<8> counter = 0;
    value_set<bit<16>>(4) kinds;
    value_set<tuple<bit<8>, bit<8>>>(8) pairs;
    Sub(true, n = 2) sub;

    @name("begin")
    state start {
        sub.apply(packet, hdr.ethernet);
        Sub.apply(packet, hdr.stack[0]);
        packet.extract<Ethernet>(hdr.stack.next);
        bit<8> first = packet.lookahead<bit<8>>();
        packet.extract(hdr.either[0].b, (bit<32>) first << 3);
        packet.extract<Ethernet>(_);
        if (first > 1) { counter = counter + 1; } else if (first == 7) counter = 3; else ;
        verify(first != 0, error.BadVersion);
        transition select (hdr.ethernet.kind, first) {
            (IPV4, 1): next;
            (0x1000 &&& 0xF000, 2 .. 9): next;
            (kinds, _): start;
            (default, 7): reject;
            default: accept;
        }
    }
    state next {
        { counter = 1; }
        transition select (hdr.ethernet.kind) {
            kinds: start;
            1 &&& 3: accept;
            1 .. 2: accept;
            (IPV4): accept;
            (IPV4 + 1) * 2: accept;
            (bit<16>) 3: accept;
            _: reject;
        }
    }
    state last { }
}

control Helper(inout bit<8> x)(bit<8> step) {
    apply { x = x + step; }
}

control MyPipe(inout Headers hdr, inout Meta meta) {
    Machine<bit<8>>(32) machine;
    Machine<bit<8>>(64) own = {
        Machine<bit<8>>(1) inner;
        void run<U>(inout U value) { value = value; }
    };
    Helper(2) helper;
    bit<8> local = 3;
    const bit<8> limit = 100;
    bit<8>[4] bytes;

    action drop() { exit; }
    @name(".set") action set(bit<9> port, @refers_to("t", "k") bit<8> v) { local = v; }

    table t {
        key = {
            hdr.ethernet.dst: exact @name("destination");
            hdr.ethernet.kind & 0xFF0: ternary;
            meta.key + 1: lpm @name("k") @id[1];
            hdr.ethernet.isValid(): fuzzy;
        }
        actions = {
            drop;
            @defaultonly NoAction;
            .outer(local);
            set();
        }
        const entries = {
            (1, 2 &&& 3, _, true): drop();
            const priority = 10: (1, default, 1 .. 4, _): set(1, 2) @name("second");
            priority = (5 + 5): _: drop;
        }
        @annotated const default_action = set(1, v = 2);
        size = 1024;
        implementation = Machine<bit<8>>(32w128);
        largest_priority_wins = false;
        const other = { 1, 2 };
    }

    table no_key { actions = { NoAction; } key = { } }

    apply {
        Pair<bit<8>, bool> pair = { first = 1, second = true };
        Pair<bit<8>, bool> dots = { first = 1, ... };
        tuple<bit<8>, bit<8>> both = { 1, ... };
        hdr.ethernet = {#};
        pair = ...;
        pair = (Pair<bit<8>, bool>) { 1, false };
        helper.apply(local);
        Helper.apply(local);
        local[3:0] = 4w3;
        local[3 +: 2] = 2w1;
        (local) = both[0];
        local += 1; local -= 1; local *= 2; local /= 2; local %= 3; local &= 1; local |= 2; local ^= 3;
        local <<= 1; local >>= 1; local |+|= 1; local |-|= 1;
        local = max(local, 3);
        local = max<bit<8>>(local, b = 3);
        machine.run<bit<8>>(local);
        own.put(value = .A);
        log("done");
        if (t.apply().hit && !hdr.ethernet.isValid()) { return; }
        switch (t.apply().action_run) {
            drop:
            set: { local = 1; }
            default: { exit; }
        }
        switch (local) {
            1:
            2: { }
            Suit.Clubs == Suit.Hearts ? 8w1 : 8w2: @atomic { local = 9; }
            default: { }
        }
        @unroll for (bit<8> i = 0, bit<8> j = 1; i < 10; i = i + 1, j += 2) {
            if (i == 5) break;
            continue;
        }
        for (; local < 3; ) local = local + 1;
        for (bit<8> i in 0 .. 9) { local = local + i; }
        for (Ethernet e in hdr.stack) nothing();
        @atomic { local = twice(local); }
        meta.key = meta.actions; meta.state = meta.entries; meta.type = meta.priority; meta.list = 0;
        meta.e = error.NoError;
        bytes[local] = bytes[0];
        local = (local < limit) ? (bit<8>) Kind.One : (bit<8>) (bit<4>) 3;
        Headers copy = { hdr.ethernet, hdr.stack, hdr.either, hdr.table_of_bytes };
        ;
    }
}

Switch(MyParser(), MyPipe()) main;
