// Hashes of everything that can be hashed, with bounds of all kinds: structs, headers valid and not, tuples, booleans, enums,
// signed numbers, slices, constants, nothing at all; results that are slices, signed, wide.
#include <core.p4>
#include <v1model.p4>

enum bit<16> Kind { first = 0x1234, second = 0x5678 }

header h_t {
    bit<8> op;
    bit<8> a;
    bit<16> b;
    bit<32> result;
}

header other_t {
    bit<4> x;
    int<12> y;
}

struct pair_t {
    bit<8> one;
    bool two;
    Kind three;
}

struct headers {
    h_t h;
    other_t other;
}

struct metadata {
    pair_t pair;
    int<16> signed_result;
    bit<128> wide;
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
        bit<32> result = 0;
        bit<32> max = (bit<32>) hdr.h.b;
        standard_metadata.egress_spec = 2;
        meta.pair = { hdr.h.a, hdr.h.a[0:0] == 1, Kind.second };
        if (hdr.h.op == 0) {
            hash(result, HashAlgorithm.crc32, 32w0, hdr.h, 64w0x100000000);
        } else if (hdr.h.op == 1) {
            hash(result, HashAlgorithm.crc32, 32w0, meta.pair, 64w0x100000000);
        } else if (hdr.h.op == 2) {
            // The invalid header is left out, and so is its field.
            hash(result, HashAlgorithm.crc32, 32w0, { hdr.h.a, hdr.other, hdr.other.y, hdr.h.b }, 64w0x100000000);
        } else if (hdr.h.op == 3) {
            hdr.other.setValid();
            hdr.other.x = 0xc;
            hdr.other.y = -3;
            hash(result, HashAlgorithm.crc32, 32w0, { hdr.other.y, hdr.other }, 64w0x100000000);
            hdr.other.setInvalid();
        } else if (hdr.h.op == 4) {
            hash(result, HashAlgorithm.crc16, 32w7, { hdr.h.a }, max);
        } else if (hdr.h.op == 5) {
            hash(result, HashAlgorithm.identity, 32w0, { hdr.h.b, 8w0xff, hdr.h.a }, max);
        } else if (hdr.h.op == 6) {
            // The first eight bytes.
            hash(result, HashAlgorithm.identity, 32w0, { 40w0x0102030405, hdr.h.b, hdr.h.a, hdr.h.a }, 64w0x100000000);
        } else if (hdr.h.op == 7) {
            hash(result, HashAlgorithm.csum16, 32w0, { hdr.h.a, 3w5, hdr.h.b }, 32w0x10000);
        } else if (hdr.h.op == 8) {
            hash(result, HashAlgorithm.xor16, 32w0, { hdr.h.a, hdr.h.b }, 32w0x10000);
        } else if (hdr.h.op == 9) {
            hash(result[15:0], HashAlgorithm.crc32, 16w0, { hdr.h.a, hdr.h.b }, 32w0x10000);
            hash(result[31:24], HashAlgorithm.crc16, 8w0x80, { hdr.h.b }, 8w0x20);
        } else if (hdr.h.op == 10) {
            hash(meta.signed_result, HashAlgorithm.crc16, 16w0xfff0, { hdr.h.a }, 16w0x100);
            result = (bit<32>) (int<32>) meta.signed_result;
        } else if (hdr.h.op == 11) {
            hash(meta.wide, HashAlgorithm.crc32, 128w1 << 100, { hdr.h.a, hdr.h.b }, 128w1 << 90);
            result = meta.wide[31:0] ^ meta.wide[127:96];
        } else if (hdr.h.op == 12) {
            hash(result, HashAlgorithm.crc32, 32w5, { }, 32w1000);
        } else if (hdr.h.op == 13) {
            hash(result, HashAlgorithm.crc16, 0, { hdr.h.a[6:2], hdr.h.b ++ hdr.h.a, hdr.h.a + 1 }, 65536);
        } else if (hdr.h.op == 14) {
            hash<bit<32>, bit<16>, tuple<bit<8>, bit<16>>, bit<8>>(result, HashAlgorithm.crc32, 16w0xffff, { hdr.h.a, hdr.h.b }, 8w16);
        } else if (hdr.h.op == 15) {
            // The result is cut where it does not fit.
            bit<4> small;
            hash(small, HashAlgorithm.crc32, 16w0x9, { hdr.h.a, hdr.h.b }, 32w8);
            result = (bit<32>) small;
        } else if (hdr.h.op == 16) {
            hash(result, HashAlgorithm.crc32, 32w0, { hdr.h.b, { hdr.h.a, { hdr.h.b } }, 8w1 }, 64w0x100000000);
        }
        hdr.h.result = result;
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
