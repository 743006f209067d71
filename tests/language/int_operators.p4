// Operators on unlimited integers, shifts of every kind, and division of numbers known at compile time.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> n;
}

header r_t {
    bit<8> r0;
    bit<8> r1;
    bit<8> r2;
    bit<8> r3;
    int<8> r4;
    int<8> r5;
    bit<8> r6;
    bit<8> r7;
    bit<4> r8;
    bit<4> r9;
}

const int i = 17;
const bit<8> quotient = (bit<8>) (i / 5 * 10 + i % 5);
const bool truth = i > 16 && i != 18 || i < 3;
const int shifted = (i << 70) >> 69;
const int logical = i % 2 + 17;

struct metadata { }

struct headers {
    h_t h;
    r_t r;
}

bit<8> constant(in bit<8> x) {
    const bit<8> local = (bit<8>) (shifted + 1);
    return x + local;
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
        int<8> s = (int<8>) hdr.h.a;
        hdr.r.setValid();
        hdr.r.r0 = hdr.h.a << hdr.h.n;
        hdr.r.r1 = hdr.h.a >> hdr.h.n;
        @noWarn("constant") { hdr.r.r2 = hdr.h.a << 9; }
        hdr.r.r3 = hdr.h.a >> 3;
        hdr.r.r4 = s >> hdr.h.n;
        hdr.r.r5 = s >> 100;
        hdr.r.r6 = truth ? quotient : 0;
        hdr.r.r7 = constant((bit<8>) logical);
        hdr.r.r8 = 4w1 << hdr.h.n[1:0];
        hdr.r.r9 = ~hdr.h.a[3:0] - -hdr.h.a[7:4];
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
