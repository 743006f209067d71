// Hashes over wide fields and over fields that are not whole bytes, of headers that may be left out: adjacent fields,
// fields that do not begin on a byte of the hashed data, and an end within a byte.
#include <core.p4>
#include <v1model.p4>

header flow_t {
    bit<4> version;
    bit<8> class;
    bit<20> label;
    bit<128> source;
    bit<128> destination;
}

header more_t {
    bit<13> a;
    bit<66> b;
    bit<1> c;
}

header sums_t {
    bit<16> crc16;
    bit<32> crc32;
    bit<16> csum;
    bit<16> xored;
    bit<16> custom16;
    bit<32> custom32;
    bit<64> identity;
}

struct metadata { }

struct headers {
    sums_t sums;
    flow_t flow;
    more_t more;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.sums);
        packet.extract(hdr.flow);
        transition select(hdr.flow.version) {
            7: more;
            default: accept;
        }
    }

    state more {
        packet.extract(hdr.more);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

#define DATA { hdr.flow.source, hdr.flow.destination, hdr.flow.class, hdr.flow.label, hdr.more.a, hdr.more.b, \
               hdr.flow.class, 3w5 }

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hash(hdr.sums.crc16, HashAlgorithm.crc16, 16w0, DATA, 32w0x10000);
        hash(hdr.sums.crc32, HashAlgorithm.crc32, 32w0, DATA, 64w0x100000000);
        hash(hdr.sums.csum, HashAlgorithm.csum16, 16w0, DATA, 32w0x10000);
        hash(hdr.sums.xored, HashAlgorithm.xor16, 16w0, DATA, 32w0x10000);
        hash(hdr.sums.custom16, HashAlgorithm.crc16_custom, 16w0, DATA, 32w0x10000);
        hash(hdr.sums.custom32, HashAlgorithm.crc32_custom, 32w0, DATA, 64w0x100000000);
        hash(hdr.sums.identity, HashAlgorithm.identity, 64w0, { hdr.more.b, hdr.flow.label }, 128w0x10000000000000000);
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
        packet.emit(hdr.sums);
        packet.emit(hdr.flow);
        packet.emit(hdr.more);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
