// Every operator that assigns, on whole fields, slices, elements and signed values.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
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
        bit<8> x = hdr.h.a;
        x += 5;
        x -= 1;
        x *= 3;
        hdr.h.a = x;
        hdr.h.b |= 0x0f;
        hdr.h.b &= 0x3c;
        hdr.h.b ^= 0xff;
        hdr.h.c <<= 2;
        hdr.h.c[3:0] += 0xf;
        hdr.h.c |+|= 0xf0;
        int<8> y = (int<8>)hdr.h.d;
        y >>= 1;
        y |-|= 100;
        hdr.h.d = (bit<8>)y;
        bit<8> z = 47;
        z /= 5;
        z %= 4;
        hdr.h.a += z;
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
