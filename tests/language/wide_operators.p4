// Every operator on values of 2,048 bits.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<2048> a;
    bit<2048> b;
    bit<16> n;
}

header r_t {
    bit<2048> product;
    bit<2048> quotient;
    bit<2048> rest;
    bit<2048> left;
    bit<2048> right;
    bit<2048> signed_right;
    bit<2048> saturated;
    bit<2048> signed_saturated;
    bit<8> flags;
}

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
        bit<2048> a = hdr.h.a;
        bit<2048> b = hdr.h.b;
        int<2048> sa = (int<2048>) a;
        int<2048> sb = (int<2048>) b;
        hdr.r.setValid();
        hdr.r.product = a * b;
        hdr.r.quotient = a / b;
        hdr.r.rest = a % b;
        hdr.r.left = a << hdr.h.n;
        hdr.r.right = a >> hdr.h.n;
        hdr.r.signed_right = (bit<2048>) (sa >> hdr.h.n);
        hdr.r.saturated = a |+| b;
        hdr.r.signed_saturated = (bit<2048>) (sa |-| sb);
        hdr.r.flags[0:0] = (bit<1>) (a < b);
        hdr.r.flags[1:1] = (bit<1>) (a <= b);
        hdr.r.flags[2:2] = (bit<1>) (a == b);
        hdr.r.flags[3:3] = (bit<1>) (a > b);
        hdr.r.flags[4:4] = (bit<1>) (sa < sb);
        hdr.r.flags[5:5] = (bit<1>) (sa >= sb);
        hdr.r.flags[6:6] = (bit<1>) (a != b);
        hdr.r.flags[7:7] = (bit<1>) (sa == sb);
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
