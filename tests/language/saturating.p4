// Saturating operators clamp at both ends, signed and unsigned; others wrap.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> plus;
    bit<8> minus;
    int<8> splus;
    int<8> sminus;
    bit<8> wrap;
    int<8> negated;
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
    apply {
        hdr.h.plus = hdr.h.a |+| hdr.h.b;
        hdr.h.minus = hdr.h.a |-| hdr.h.b;
        hdr.h.splus = (int<8>) hdr.h.a |+| (int<8>) hdr.h.b;
        hdr.h.sminus = (int<8>) hdr.h.a |-| (int<8>) hdr.h.b;
        hdr.h.wrap = hdr.h.a + hdr.h.b;
        hdr.h.negated = -(int<8>) hdr.h.a;
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
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
