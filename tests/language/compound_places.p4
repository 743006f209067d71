// The place of a compound assignment is found once, though it is read and written: what its indices call happens
// once, from left to right, and before the value.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata { }

struct headers {
    h_t[4] s;
}

bit<8> count(inout bit<8> n) {
    n += 1;
    return n;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.s.next);
        packet.extract(hdr.s.next);
        packet.extract(hdr.s.next);
        packet.extract(hdr.s.next);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        bit<8> n = 0;
        hdr.s[count(n)[1:0]].a += 0x40;
        hdr.s[count(n)[1:0]].a -= count(n);
        hdr.s[3].b[count(n) +: 4] |= count(n)[3:0];
        for (bit<8> i = 0; i < 2; hdr.s[0].a += count(n), hdr.s[count(i)[1:0]].b ^= 0xff) { }
        hdr.s[0].b = n;
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
        packet.emit(hdr.s);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
