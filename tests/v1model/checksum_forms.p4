// Checksums of every algorithm; over odd bytes, fields that are not whole bytes, varbit options, headers that may be missing,
// structs; with the payload; results of other widths than 16; several checksums of one packet in their order.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> kind;
    bit<8> length;
    varbit<64> options;
}

header sums_t {
    bit<16> csum;
    bit<16> crc16;
    bit<32> crc32;
    bit<16> xored;
    bit<32> wide;
    bit<8> narrow;
    bit<16> payload;
}

header more_t {
    bit<4> x;
    bit<12> y;
    bit<16> sum;
}

struct pair_t {
    bit<8> one;
    bit<24> three;
}

struct metadata {
    pair_t pair;
}

struct headers {
    h_t h;
    sums_t sums;
    more_t more;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h, (bit<32>) packet.lookahead<bit<16>>()[7:0] * 8);
        packet.extract(hdr.sums);
        transition select(hdr.h.kind) {
            0x10 &&& 0x10: more;
            default: accept;
        }
    }
    state more {
        packet.extract(hdr.more);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply {
        verify_checksum(hdr.more.isValid(), { hdr.more.x, hdr.more.y }, hdr.more.sum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.h.kind == 9, { hdr.h.kind }, hdr.sums.payload, HashAlgorithm.csum16);
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        meta.pair = { hdr.h.kind, 24w0xabcdef };
        if (standard_metadata.checksum_error == 1) {
            hdr.h.kind = hdr.h.kind | 0x80;
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(true, { hdr.h.kind, hdr.h.length, hdr.h.options }, hdr.sums.csum, HashAlgorithm.csum16);
        update_checksum(true, { hdr.h.kind, hdr.h.length, hdr.h.options }, hdr.sums.crc16, HashAlgorithm.crc16);
        update_checksum(true, { hdr.h, hdr.more.x }, hdr.sums.crc32, HashAlgorithm.crc32);
        update_checksum(true, { hdr.h, hdr.more }, hdr.sums.xored, HashAlgorithm.xor16);
        update_checksum(hdr.h.kind != 7, { meta.pair }, hdr.sums.wide, HashAlgorithm.csum16);
        update_checksum(true, { meta.pair.three, hdr.sums.csum }, hdr.sums.narrow, HashAlgorithm.csum16);
        update_checksum_with_payload(true, { hdr.h.kind, 5w1 }, hdr.sums.payload, HashAlgorithm.csum16);
        update_checksum(hdr.more.isValid(), { 16w0x1111, hdr.more.x, hdr.more.y, hdr.sums.narrow }, hdr.more.sum, HashAlgorithm.csum16);
    }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
