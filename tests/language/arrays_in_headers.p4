// Arrays in headers and in structs, of numbers, structs and arrays; arrays of no elements; elements of tuples as targets.
#include <core.p4>
#include <v1model.p4>

struct part_t {
    bit<4> a;
    bit<4>[2] b;
    bit<4> c;
}

header h_t {
    bit<8> at;
    bit<8>[4] list;
    bit<4>[2][2] square;
    part_t[2] parts;
}

header none_t {
    bit<8> x;
}

struct metadata {
    tuple<bit<8>, tuple<bit<8>, bool>> t;
    bit<8>[2][3] rows;
    bit<8>[0] nothing;
    tuple<bit<8>, bit<8>>[2] pairs;
}

struct headers {
    h_t h;
    none_t[0] none;
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
        bit<8>[4] own = hdr.h.list;
        own[0] = own[3];
        bit<8> picked = hdr.h.list[hdr.h.at];
        hdr.h.list[hdr.h.at] = 0xff;
        hdr.h.list[0] = own[0];
        hdr.h.square[0][1] = hdr.h.square[1][0];
        hdr.h.parts[0] = hdr.h.parts[1];
        hdr.h.parts[1].b[0] = 5;
        meta.t[0] = picked;
        meta.t[1][0] = 1;
        meta.t[1][1] = meta.t[0] == 3;
        meta.rows[2][1] = meta.t[0];
        meta.pairs[hdr.h.at[0:0]][1] = 9;
        if (meta.t[1][1]) {
            hdr.h.at = meta.rows[2][1] + meta.t[1][0] + meta.pairs[0][1];
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
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
