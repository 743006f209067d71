// Bits at a run-time position are read, written, sliced and passed to functions; bits beyond the end do not exist.
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

void add(inout bit<4> x, in bit<8> y) {
    x = x + y[3:0];
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
        bit<8> i = 2;
        bit<8>[2] cells = { 0, 0xff };
        hdr.h.a[3 +: 2] = 3;
        hdr.h.b[i +: 4] = 0xf;
        hdr.h.c = (bit<8>) hdr.h.d[i +: 2];
        hdr.h.d[7:0][5:4] = 3;
        hdr.h.d[i +: 3][1:1] = 0;
        add(hdr.h.b[i +: 4], 2);
        hdr.h.c[i - 3 +: 4] = 0xf;
        hdr.h.b[i + 4 +: 4] = 7;
        cells[i - 1][i +: 4] = 0;
        hdr.h.a = hdr.h.a + cells[1];
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
