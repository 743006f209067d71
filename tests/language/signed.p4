// Signed fields: comparison, division of constants, sign extension and truncation.
#include <core.p4>
#include <v1model.p4>

header h_t {
    int<12> a;
    int<4>  b;
    int<16> sum;
    bit<16> bits;
    bit<8>  flags;
    int<32> wide;
}

const int<16> SCALE = -7 * 3;

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
        hdr.h.sum = (int<16>) hdr.h.a + (int<16>) hdr.h.b * SCALE;
        hdr.h.bits = (bit<16>) (int<16>) hdr.h.b;
        hdr.h.wide = (int<32>) hdr.h.a * (int<32>) hdr.h.a;
        bit<8> flags = 0;
        if (hdr.h.a < 0) { flags = flags | 1; }
        if (hdr.h.b >= -2) { flags = flags | 2; }
        if (hdr.h.a > (int<12>) hdr.h.b) { flags = flags | 4; }
        hdr.h.flags = flags;
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
