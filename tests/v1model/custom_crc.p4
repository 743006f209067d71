// Custom CRCs start as the standard ones and take other parameters from the control plane, each call its own; calc and
// calc_0, calc_1, ... are their names, by the position of the call among the hashes of the program.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<32> a;
    bit<8> b;
    bit<16> first;
    bit<32> second;
    bit<16> third;
    bit<16> bounded;
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
        hash(hdr.h.first, HashAlgorithm.crc16_custom, 16w0, { hdr.h.a, hdr.h.b }, 32w0x10000);
        hash(hdr.h.second, HashAlgorithm.crc32_custom, 32w0, { hdr.h.a, hdr.h.b }, 64w0x100000000);
        hash(hdr.h.third, HashAlgorithm.crc16_custom, 16w0, { hdr.h.a, hdr.h.b }, 32w0x10000);
        hash(hdr.h.bounded, HashAlgorithm.crc32_custom, 16w1000, { hdr.h.a, 3w5 }, 16w17);
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
