// Shifts by amounts from the packet, more than the width included; signed shifts keep the sign.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> value;
    bit<8> amount;
    bit<16> left;
    bit<16> right;
    int<16> sright;
    bit<16> constant;
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
        hdr.h.left = hdr.h.value << hdr.h.amount;
        hdr.h.right = hdr.h.value >> hdr.h.amount;
        hdr.h.sright = (int<16>) hdr.h.value >> hdr.h.amount;
        hdr.h.constant = (hdr.h.value << 3) + (hdr.h.value >> 13);
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
