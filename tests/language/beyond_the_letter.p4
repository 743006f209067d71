// What the reference compiler takes beyond the letter of the specification: lists of one for scalar arguments, shifts by
// signed constants, tuples of plain numbers compared, actions in entries as they are listed, tables applied in
// initialisers, objects as constants, casts of constructor parameters to `int`, actions of one `@name`.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
}

struct metadata { }

struct headers {
    h_t h;
}

const tuple<int, int> PAIR = { 1, 2 };
const int<8> AMOUNT = 2;

bit<8> twice(in bit<8> x) {
    return x << 2s1;
}

control Wide(inout bit<8> x)(bit<4> n) {
    bit<8> wide = (bit<8>) (int) n;
    apply {
        x = x + wide;
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    const register<bit<8>> seen = register<bit<8>>(1);
    Wide(9) wide;

    @name("same") action one() {
        hdr.h.c = hdr.h.c + 1;
    }
    @name("same") action two() {
        hdr.h.c = hdr.h.c + 2;
    }
    action to(inout bit<8> x) {
        x = 0x55;
    }

    table t {
        key = { hdr.h.a: exact; }
        actions = { one; to(hdr.h.b); NoAction; }
        const entries = {
            1: one;
            2: to;
            3: to(hdr.h.b);
        }
        default_action = NoAction;
    }
    table u {
        actions = { two; }
        const entries = { }
        const default_action = two;
    }

    bool hit = t.apply().hit;
    bit<8> miss = u.apply().hit ? 8w1 : 0;

    apply {
        standard_metadata.egress_spec = 2;
        bool inner = hdr.h.a == 1 && hit;
        if (PAIR == { 1, 2 } && { 1, 3 } != PAIR && inner) {
            hdr.h.b = twice({ hdr.h.b });
        }
        if (!hit) {
            wide.apply(hdr.h.a);
            hdr.h.b = hdr.h.b >> AMOUNT;
        }
        bit<8> old;
        seen.read(old, 0);
        seen.write(0, old + 0x10);
        hdr.h.c = hdr.h.c + old + miss;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
