// Slices are read and assigned, concatenation and casts put the parts together.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<32> a;
    bit<32> b;
    bit<7>  c;
    bit<9>  d;
    bit<16> e;
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
        hdr.h.b[31:24] = hdr.h.a[7:0];
        hdr.h.b[15:8] = hdr.h.a[23:16];
        hdr.h.b[0:0] = hdr.h.a[31:31];
        hdr.h.c = hdr.h.a[14:8];
        hdr.h.d = hdr.h.a[3:0] ++ 1w1 ++ hdr.h.c[6:3];
        hdr.h.e = (bit<16>) hdr.h.d ^ (bit<16>) (bit<8>) hdr.h.a;
        hdr.h.a[11:4] = (bit<8>) (int<8>) -1;
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
