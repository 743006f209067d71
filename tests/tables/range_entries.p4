// Entries with ranges: empty ones match nothing, those of a signed key may cross zero, beside other such ranges, too.
#include <core.p4>
#include <v1model.p4>

header h_t {
    int<8> a;
    int<8> b;
    bit<8> c;
    bit<8> result;
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
    action set(bit<8> v) {
        hdr.h.result = v;
    }
    table t {
        key = {
            hdr.h.a : range;
            hdr.h.b : range;
            hdr.h.c : range;
        }
        actions = {
            set;
        }
        default_action = set(0xee);
        const entries = {
            (_, _, 5 .. 4) : set(1);
            (3 .. -3, _, _) : set(2);
            (-3 .. 3, -1 .. 0, _) : set(3);
            (-3 .. 3, -9 .. -5, 1 .. 2) : set(4);
            (10 .. 20, 127, 0 .. 255) : set(5);
            (-128, -128 .. 127, 7) : set(6);
        }
    }
    apply {
        t.apply();
        standard_metadata.egress_spec = 2;
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
