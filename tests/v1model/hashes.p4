// Hash functions over fields of all widths: the base, the maximum, and what is joined to whole bytes.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<32> a;
    bit<7> b;
    bit<1> c;
    bit<16> crc16;
    bit<32> crc32;
    bit<16> csum;
    bit<16> xored;
    bit<32> identity;
    bit<16> ranged;
    bit<16> odd;
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
        hash(hdr.h.crc16, HashAlgorithm.crc16, 16w0, { hdr.h.a, hdr.h.b, hdr.h.c }, 32w0x10000);
        hash(hdr.h.crc32, HashAlgorithm.crc32, 32w0, { hdr.h.a, hdr.h.b, hdr.h.c }, 64w0x100000000);
        hash(hdr.h.csum, HashAlgorithm.csum16, 16w0, { hdr.h.a, hdr.h.b, hdr.h.c }, 32w0x10000);
        hash(hdr.h.xored, HashAlgorithm.xor16, 16w0, { hdr.h.a }, 32w0x10000);
        hash(hdr.h.identity, HashAlgorithm.identity, 32w0, { hdr.h.a }, 64w0x100000000);
        hash(hdr.h.ranged, HashAlgorithm.crc32, 16w100, { hdr.h.a }, 16w10);
        // Seven bits: a zero bit is added at the end.
        hash(hdr.h.odd, HashAlgorithm.crc16, 16w0, { hdr.h.b }, 32w0x10000);
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
