// Arrays of values and structs are indexed at run time, on both sides of assignments; an index out of range reads
// zero and writes nothing.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> i;
    bit<8> j;
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
    bit<16> sum;
}

header one_t {
    bit<8> v;
}

struct pair_t {
    bit<8> x;
    bit<8>[2] y;
    one_t h;
}

struct metadata {
    bit<8>[4] cells;
    pair_t[3] pairs;
}

struct headers {
    h_t h;
    one_t[4] ones;
}

void fill(inout bit<8>[4] cells, in bit<8> first) {
    bit<8> value = first;
    for (bit<8> i in 8w0 .. 3) {
        cells[i] = value;
        value = value + 1;
    }
}

bit<16> sum(in bit<8>[4] cells) {
    bit<16> total = 0;
    for (bit<8> cell in cells) {
        total = total + (bit<16>) cell;
    }
    return total;
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
        fill(meta.cells, 0x10);
        hdr.h.a = meta.cells[hdr.h.i];
        meta.cells[hdr.h.j] = 0x80;
        hdr.h.sum = sum(meta.cells);
        meta.pairs[hdr.h.i].x = 5;
        meta.pairs[hdr.h.i].y[hdr.h.j] = 6;
        meta.pairs[hdr.h.i].h.setValid();
        meta.pairs[hdr.h.i].h.v = 7;
        pair_t p = meta.pairs[hdr.h.i];
        hdr.h.b = p.x + p.y[0] + (p.h.isValid() ? p.h.v : 0x20);
        meta.pairs[1] = p;
        hdr.h.c = meta.pairs[1].x + meta.pairs[0].x + meta.pairs[2].x;
        hdr.ones[0].setValid();
        hdr.ones[0].v = meta.pairs[1].h.v;
        // The index is itself an element that is written.
        bit<8>[4] chain = { 1, 2, 3, 0 };
        chain[chain[hdr.h.i]] = 3;
        hdr.h.d = chain[0] << 6 | chain[1] << 4 | chain[2] << 2 | chain[3];
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
