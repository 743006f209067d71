// Registers of header stacks, of stacks of unions and of structs with a stack; reads into the element of an array that
// a run-time index chooses.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> op;
    bit<8> index;
    bit<8> count;
}

header item_t {
    bit<8> value;
}

header pair_t {
    bit<4> a;
    bit<12> b;
}

header_union either_t {
    item_t item;
    pair_t pair;
}

struct pack_t {
    bit<3> mark;
    item_t[2] items;
}

struct point_t {
    bit<8> x;
    bit<8> y;
}

struct metadata { }

struct headers {
    h_t h;
    item_t[3] items;
    either_t[2] eithers;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition items;
    }
    state items {
        transition select(hdr.h.count) {
            0: accept;
            0x80 &&& 0x80: either;
            default: item;
        }
    }
    state item {
        packet.extract(hdr.items.next);
        hdr.h.count = hdr.h.count - 1;
        transition items;
    }
    state either {
        packet.extract(hdr.eithers[0].pair);
        packet.extract(hdr.eithers[1].item);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<item_t[3]>(2) stacks;
    register<either_t[2]>(2) unions;
    register<pack_t>(2) packs;
    register<point_t>(2) points;

    apply {
        bit<32> index = (bit<32>) hdr.h.index;
        standard_metadata.egress_spec = 2;
        switch (hdr.h.op) {
            0: { stacks.write(index, hdr.items); }
            1: { stacks.read(hdr.items, index); }
            2: { unions.write(index, hdr.eithers); }
            3: { unions.read(hdr.eithers, index); }
            4: {
                pack_t pack;
                pack.mark = 5;
                pack.items[1].setValid();
                pack.items[1].value = hdr.items[0].value;
                packs.write(index, pack);
            }
            5: {
                pack_t pack;
                packs.read(pack, index);
                hdr.items[0] = pack.items[0];
                hdr.items[1] = pack.items[1];
                hdr.h.count = (bit<8>) pack.mark;
            }
            6: {
                points.write(0, { 0x12, 0x34 });
                point_t[2] both = { { 1, 2 }, { 3, 4 } };
                points.read(both[hdr.h.index], 0);
                hdr.items[0].value = both[0].x;
                hdr.items[1].value = both[0].y;
                hdr.items[2].value = both[1].x + both[1].y;
            }
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
