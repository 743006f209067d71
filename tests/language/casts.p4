// Casts between all types that have them, also of constants.
#include <core.p4>
#include <v1model.p4>

enum bit<4> small_t { a = 1, b = 14 }

enum int<8> signed_t { minus = -3, plus = 3 }

type bit<8> port_t;

typedef bit<8> byte_t;

header h_t {
    bit<8> a;
    int<8> s;
}

header r_t {
    bit<16> r0;
    bit<16> r1;
    int<16> r2;
    bit<8> r3;
    bit<8> r4;
    bit<8> r5;
    bit<8> r6;
    bit<8> r7;
    bit<8> flags;
}

const int big = 1 << 100;
const int less = -(5 + 2) * 1 - 0;
const bit<8> cut = (bit<8>) (big + 0x1ff);
const string word = "a" ++ "b";

struct metadata { }

struct headers {
    h_t h;
    r_t r;
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
        standard_metadata.egress_spec = 2;
        hdr.r.setValid();
        hdr.r.r0 = (bit<16>) hdr.h.a;
        hdr.r.r1 = (bit<16>) (int<16>) hdr.h.s;
        hdr.r.r2 = (int<16>) (int<8>) hdr.h.a;
        hdr.r.r3 = (bit<8>) (small_t) hdr.h.a[3:0] + (bit<8>) small_t.b;
        hdr.r.r4 = (bit<8>) (int<8>) (signed_t) hdr.h.s;
        hdr.r.r5 = (bit<8>) (port_t) (byte_t) hdr.h.a;
        hdr.r.r6 = cut + (bit<8>) (bit<1>) (hdr.h.a == 1);
        hdr.r.r7 = (bit<8>) (int<8>) less;
        hdr.r.flags[0:0] = (bool) hdr.h.a[0:0] ? 1w1 : 0;
        hdr.r.flags[1:1] = (bit<1>) ((small_t) hdr.h.a[3:0] == small_t.a);
        hdr.r.flags[2:2] = (bit<1>) ((signed_t) hdr.h.s == signed_t.minus);
        hdr.r.flags[3:3] = (bit<1>) ((bit<8>) hdr.h.s > 0x7f);
        hdr.r.flags[4:4] = (bit<1>) (hdr.h.s < -1);
        hdr.r.flags[5:5] = (bit<1>) (hdr.h.s == (int<8>) signed_t.plus);
        hdr.r.flags[6:6] = (bit<1>) (less < 0);
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
