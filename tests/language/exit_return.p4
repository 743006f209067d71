// `return` leaves a control, `exit` the whole pipeline block, from an action too; egress still runs.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

control Inner(inout bit<8> value, in bit<8> selector) {
    action leave() {
        value = value | 0x10;
        exit;
    }

    table choose {
        key = { selector: exact; }
        actions = { leave; NoAction; }
        const default_action = NoAction();
        const entries = { 3: leave(); }
    }

    apply {
        value = value | 0x01;
        if (selector == 1) {
            return;
        }
        if (selector == 2) {
            exit;
        }
        choose.apply();
        value = value | 0x02;
    }
}

struct metadata { }

struct headers {
    h_t h;
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
    Inner() inner;

    apply {
        standard_metadata.egress_spec = 2;
        inner.apply(hdr.h.b, hdr.h.a);
        hdr.h.b = hdr.h.b | 0x04;
        if (hdr.h.a == 4) {
            return;
        }
        hdr.h.b = hdr.h.b | 0x08;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.h.b = hdr.h.b | 0x80;
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
