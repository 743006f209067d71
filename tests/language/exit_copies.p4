// exit in a function's caller, an action or a sub-control copies out what the calls around it have changed; what
// follows is left out, in this block only.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

struct metadata { }

struct headers {
    h_t h;
}

control Inner(inout bit<8> x, in bit<8> when) {
    bit<8> local = x;

    action leave() {
        local = local + 1;
        x = local;
        exit;
    }

    action stay() {
        x = x + 0x10;
    }

    table t {
        key = {
            when: exact;
        }
        actions = {
            leave;
            stay;
        }
        const default_action = stay();
        const entries = {
            1: leave();
        }
    }

    apply {
        t.apply();
        if (when == 2) {
            x = x + 2;
            exit;
        }
        if (when == 3) {
            return;
        }
        x = x + 0x80;
    }
}

control Middle(inout bit<8> y, in bit<8> when) {
    Inner() inner;

    apply {
        bit<8> z = y;
        inner.apply(z, when);
        y = z + 1;
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
    Middle() middle;
    Inner() direct;

    action outer_leave(inout bit<8> v) {
        v = 0x99;
        if (hdr.h.a == 5) {
            exit;
        }
        v = 0x88;
    }

    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.h.a >= 4) {
            outer_leave(hdr.h.d);
        }
        middle.apply(hdr.h.b, hdr.h.a);
        direct.apply(hdr.h.c, hdr.h.a);
        hdr.h.d = hdr.h.d + 1;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.h.a = hdr.h.a | 0xf0;
    }
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
