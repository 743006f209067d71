// Operands and arguments are evaluated from left to right, with their effects; && and || and ?: leave out what does
// not matter.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

struct metadata {
    bit<8> log;
}

struct headers {
    h_t h;
}

bit<8> note(inout bit<8> log, in bit<8> digit) {
    log = (log << 2) + digit;
    return digit;
}

bool test(inout bit<8> log, in bit<8> digit, in bool result) {
    log = (log << 2) + digit;
    return result;
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
    action hit_it(bit<8> x) {
        meta.log = (meta.log << 2) + x;
    }

    action miss_it() {
        meta.log = (meta.log << 2) + 3;
    }

    table t {
        key = {
            hdr.h.a: exact;
        }
        actions = {
            hit_it;
            miss_it;
        }
        const default_action = miss_it();
        const entries = {
            1: hit_it(1);
            2: hit_it(2);
        }
    }

    apply {
        standard_metadata.egress_spec = 2;
        @noWarn("unused") bit<8> x = note(meta.log, 1) + note(meta.log, 2) - note(meta.log, 3);
        hdr.h.b = meta.log;
        meta.log = 0;
        if (test(meta.log, 1, hdr.h.a[0:0] == 1) && test(meta.log, 2, true) || test(meta.log, 3, false)) {
            meta.log = meta.log | 0x80;
        }
        hdr.h.c = meta.log;
        meta.log = 0;
        bit<8> y = hdr.h.a[1:1] == 1 ? note(meta.log, 1) : note(meta.log, 2);
        // The table is applied between the two calls.
        if (note(meta.log, 1) == 1 && t.apply().hit && note(meta.log, 1) == 1) {
            y = y + 0x40;
        }
        hdr.h.d = meta.log + (y << 2);
        // The left side is evaluated before the right side changes its index.
        bit<8>[4] cells;
        bit<8> i = 1;
        cells[i] = note(i, 3);
        hdr.h.a = cells[1] + (cells[3] << 4) + i;
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
