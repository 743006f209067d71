// Arithmetic on fields of more than 64 bits.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<128> a;
    bit<128> b;
    bit<128> sum;
    bit<128> difference;
    bit<128> product;
    bit<128> shifted;
    bit<8> flags;
    bit<100> odd;
    bit<4> pad;
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
        hdr.h.sum = hdr.h.a + hdr.h.b;
        hdr.h.difference = hdr.h.a - hdr.h.b;
        hdr.h.product = hdr.h.a * hdr.h.b;
        hdr.h.shifted = (hdr.h.a << 70) | (hdr.h.b >> 65);
        hdr.h.odd = hdr.h.a[99:0] ^ hdr.h.b[127:28];
        bit<1> less = hdr.h.a < hdr.h.b ? 1w1 : 1w0;
        bit<1> equal = (bit<1>) (hdr.h.a == hdr.h.b);
        bit<1> signed_less = (bit<1>) ((int<128>) hdr.h.a < (int<128>) hdr.h.b);
        hdr.h.flags = 5w0 ++ less ++ equal ++ signed_less;
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
