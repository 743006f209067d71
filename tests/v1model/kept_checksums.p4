// A checksum that is verified and updated over the same fields, which change in between in every way that fields can: by
// bits, bytes and words, in part, in turn, to nothing but zeros; verified or not, right or wrong.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> how;
    bit<8> verify;
    bit<4> a;
    bit<12> b;
    bit<3> c;
    bit<13> d;
    bit<16> e;
    bit<32> f;
    bit<16> sum;
    bit<48> g;
    bit<24> h;
    bit<8> i;
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
    apply {
        verify_checksum(hdr.h.verify != 0,
            { hdr.h.how, hdr.h.verify, hdr.h.a, hdr.h.b, hdr.h.c, hdr.h.d, hdr.h.e, hdr.h.f, hdr.h.g, hdr.h.h, hdr.h.i },
            hdr.h.sum, HashAlgorithm.csum16);
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action bytes(bit<8> i) {
        hdr.h.i = hdr.h.i + i;
        hdr.h.verify = hdr.h.verify - 1;
    }
    action bits(bit<12> b) {
        hdr.h.a = hdr.h.a + 1;
        hdr.h.b = b;
        hdr.h.d[8:3] = 0x2a;
        hdr.h.c = hdr.h.c ^ 5;
    }
    action words(bit<16> e, bit<32> f, bit<48> g) {
        hdr.h.e = e;
        hdr.h.f = hdr.h.f + f;
        hdr.h.g = g;
        hdr.h.h = hdr.h.h + 0xffff;
    }
    action in_turn() {
        hdr.h.e = hdr.h.f[31:16];
        hdr.h.f = (bit<32>)hdr.h.e;
        hdr.h.e = hdr.h.sum;
    }
    action clear() {
        hdr.h.how = 0;
        hdr.h.verify = 0;
    }
    table change {
        key = { hdr.h.how: exact; }
        actions = { bytes; bits; words; in_turn; clear; NoAction; }
        const entries = {
            1: bytes(3);
            2: bits(0xabc);
            3: words(0xffff, 0x12345678, 0xfedcba987654);
            4: in_turn();
            5: clear();
        }
        const default_action = NoAction();
    }
    table more {
        key = { hdr.h.i: exact; }
        actions = { bytes; NoAction; }
        const entries = { 0x77: bytes(0x88); }
        const default_action = NoAction();
    }
    apply {
        standard_metadata.egress_spec = 1;
        if (standard_metadata.checksum_error == 1) {
            hdr.h.e[15:15] = 1;
        }
        change.apply();
        more.apply();
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(true,
            { hdr.h.how, hdr.h.verify, hdr.h.a, hdr.h.b, hdr.h.c, hdr.h.d, hdr.h.e, hdr.h.f, hdr.h.g, hdr.h.h, hdr.h.i },
            hdr.h.sum, HashAlgorithm.csum16);
    }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
