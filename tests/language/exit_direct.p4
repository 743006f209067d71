// exit in a control that is applied to the caller's own places leaves what it has changed.
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
    action leave(bit<8> v) {
        x = x + v;
        exit;
    }

    action stay() { }

    table t {
        key = {
            when: exact;
        }
        actions = {
            leave;
            stay;
        }
        default_action = stay();
        const entries = {
            1: leave(3);
            2: leave(7);
        }
    }

    apply {
        x = x + 1;
        switch (t.apply().action_run) {
            leave: { x = 0xff; }
            default: { x = x + 0x20; }
        }
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
    Inner() one;

    apply {
        standard_metadata.egress_spec = 2;
        one.apply(hdr.h.b, hdr.h.a);
        one.apply(hdr.h.b, hdr.h.c);
        hdr.h.d = 0x55;
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
