// Stacks and headers of an array element that is chosen at run time: `next`, `last`, extraction.
#include <core.p4>
#include <v1model.p4>

header k_t { bit<8> k; bit<8> i; }
header a_t { bit<8> x; }
struct row_t { a_t[2] s; a_t one; bit<8> n; }

struct metadata {
}

struct headers {
    k_t k;
    row_t[3] rows;
}


parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.k);
        packet.extract(hdr.rows[hdr.k.i].s.next);
        packet.extract(hdr.rows[hdr.k.i].one);
        packet.extract(hdr.rows[hdr.k.i].s.next);
        hdr.rows[hdr.k.i].n = hdr.rows[hdr.k.i].s.last.x + (bit<8>) hdr.rows[hdr.k.i].s.lastIndex;
        hdr.k.k = hdr.rows[hdr.k.i].n;
        transition select(hdr.k.k) {
            0x23: more;
            default: accept;
        }
    }
    state more {
        packet.extract(hdr.rows[hdr.k.i].s.next);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.parser_error == error.StackOutOfBounds) hdr.k.k = 0xe1;
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
        packet.emit(hdr.k);
        packet.emit(hdr.rows[0].s);
        packet.emit(hdr.rows[0].one);
        packet.emit(hdr.rows[1].s);
        packet.emit(hdr.rows[1].one);
        packet.emit(hdr.rows[2].s);
        packet.emit(hdr.rows[2].one);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
