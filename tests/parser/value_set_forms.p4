// Value sets: of one number, of a struct with ternary and range parts, in a sub-parser; filled and emptied by the control plane.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<16> type; bit<8> a; bit<8> result; }
header x_t { bit<8> v; }
struct headers { h_t h; x_t x; x_t y; }
struct metadata { }
struct key_t {
    @match(ternary) bit<16> type;
    @match(range) bit<8> a;
}

parser Sub(packet_in packet, in bit<8> a, out x_t y) {
    value_set<bit<8>>(2) deep;
    state start {
        transition select(a) {
            deep: extract_y;
            default: accept;
        }
    }
    state extract_y {
        packet.extract(y);
        transition accept;
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    Sub() sub;
    value_set<bit<16>>(4) types;
    value_set<key_t>(4) pairs;

    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.type) {
            0x0800: accept;
            types: in_types;
            default: second;
        }
    }
    state in_types {
        packet.extract(hdr.x);
        transition second;
    }
    state second {
        sub.apply(packet, hdr.h.a, hdr.y);
        transition select(hdr.h.type, hdr.h.a) {
            pairs: in_pairs;
            (_, 0x55): reject;
            default: accept;
        }
    }
    state in_pairs {
        hdr.h.result = 0x99;
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        hdr.h.result[0:0] = (bit<1>) hdr.x.isValid();
        hdr.h.result[1:1] = (bit<1>) hdr.y.isValid();
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
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
