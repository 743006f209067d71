// Keys that are expressions, calls, choices, validity, fields of invalid headers, enums, booleans and signed values.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

header e_t {
    int<8> s;
    bit<8> v;
}

enum kind_t { one, two }

enum bit<4> rep_t { x = 3, y = 9 }

struct metadata { }

struct headers {
    h_t h;
    e_t e;
}

bit<8> twice(in bit<8> x) {
    return x << 1;
}

bit<8> counting(inout bit<8> n) {
    n = n + 1;
    return n;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.d) {
            1: more;
            default: accept;
        }
    }

    state more {
        packet.extract(hdr.e);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    kind_t kind = hdr.h.a == 0 ? kind_t.one : kind_t.two;
    rep_t rep = hdr.h.a == 0 ? rep_t.x : rep_t.y;

    action mark(bit<8> x) {
        hdr.h.b = x;
    }

    action mark_c(bit<8> x) {
        hdr.h.c = hdr.h.c + x;
    }

    table t {
        key = {
            hdr.h.a + 1: exact @name("sum");
            twice(hdr.h.a): ternary @name("twice");
            hdr.e.isValid(): exact;
            hdr.e.v: exact @name("v");
            hdr.e.s: exact;
            kind: exact;
            rep: exact;
            hdr.h.a[3:0] ++ 4w0 == 0: exact @name("cat");
            hdr.h.d == 1 ? hdr.h.a : hdr.h.c: exact @name("choice");
        }
        actions = {
            mark;
        }
        default_action = mark(0xff);
        const entries = {
            (1, _, false, 0, 0, kind_t.one, rep_t.x, true, 7): mark(1);
            (3, 4, true, 0x66, -2, kind_t.two, rep_t.y, false, 2): mark(2);
            (3, 4 &&& 0xf, true, 0x67, 8s0x7f, kind_t.two, rep_t.y, false, 2): mark(3);
        }
    }

    table u {
        key = {
            counting(hdr.h.c): exact @name("count");
        }
        actions = {
            mark_c;
            NoAction;
        }
        default_action = NoAction();
        const entries = {
            8: mark_c(0x10);
            9: mark_c(0x20);
        }
    }

    apply {
        standard_metadata.egress_spec = 2;
        t.apply();
        if (u.apply().hit) {
            u.apply();
        }
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
