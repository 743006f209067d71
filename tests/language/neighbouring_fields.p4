// Fields that are set one after the other: whole headers, halves of bytes, from other headers and from their own, in a
// header that is not valid, in a stack, and to the end of a byte only in part.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<4> a;
    bit<4> b;
    bit<8> c;
    bit<16> d;
    bit<3> e;
    bit<13> f;
    bit<24> g;
    bit<7> h;
    bit<1> i;
    int<8> j;
    bit<48> k;
    bit<64> l;
}

struct metadata {
    bit<16> kept;
}

struct headers {
    h_t one;
    h_t two;
    h_t[2] more;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.one);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 1;
        meta.kept = hdr.one.d;
        if (hdr.one.a == 1) {
            // All of a header that was made.
            hdr.two.setValid();
            hdr.two.a = 4;
            hdr.two.b = 5;
            hdr.two.c = hdr.one.c;
            hdr.two.d = hdr.one.d + 1;
            hdr.two.e = 2;
            hdr.two.f = 0x1234;
            hdr.two.g = 0xabcdef;
            hdr.two.h = hdr.one.h;
            hdr.two.i = 1;
            hdr.two.j = -2;
            hdr.two.k = 0x010203040506;
            hdr.two.l = 0x1112131415161718;
        } else if (hdr.one.a == 2) {
            // Each from the one before.
            hdr.one.b = 7;
            hdr.one.c = (bit<8>)hdr.one.b;
            hdr.one.d = (bit<16>)hdr.one.c;
            hdr.one.e = 1;
            hdr.one.f = (bit<13>)hdr.one.d;
        } else if (hdr.one.a == 3) {
            // A header that is not there, and a part of one that is.
            hdr.two.a = 1;
            hdr.two.b = 2;
            hdr.one.h = 0x55;
            hdr.one.i = 0;
            hdr.one.j = 0x7f;
            hdr.one.e = 7;
        } else if (hdr.one.a == 4) {
            // Out of order, twice, and from the element of a stack.
            hdr.more[1].setValid();
            hdr.more[1].a = 1;
            hdr.more[1].b = 2;
            hdr.more[1].c = hdr.one.c;
            hdr.one.c = 9;
            hdr.one.d = (bit<16>)hdr.more[1].c;
            hdr.one.c = 8;
            hdr.one.b = 3;
            hdr.one.c = 10;
            hdr.one.d = meta.kept;
        }
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
        packet.emit(hdr.one);
        packet.emit(hdr.two);
        packet.emit(hdr.more);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
