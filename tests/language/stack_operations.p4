// Stacks: push, pop, run-time indexes, lastIndex, size; what is out of range does no harm.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<4> count;
    bit<4> operation;
    bit<8> index;
}

header item_t {
    bit<8> value;
}

struct metadata {
    bit<4> remaining;
}

struct headers {
    h_t h;
    item_t[4] items;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        meta.remaining = hdr.h.count;
        transition more;
    }

    state more {
        transition select(meta.remaining) {
            0: accept;
            default: item;
        }
    }

    state item {
        packet.extract(hdr.items.next);
        meta.remaining = meta.remaining - 1;
        transition more;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.h.operation == 1) {
            hdr.items.push_front(1);
            hdr.items[0] = { 0xaa };
        } else if (hdr.h.operation == 2) {
            hdr.items.pop_front(2);
        } else if (hdr.h.operation == 3) {
            hdr.items[hdr.h.index].value = 0xbb;
        } else if (hdr.h.operation == 4) {
            hdr.h.index = hdr.items[hdr.h.index].value;
        } else if (hdr.h.operation == 5) {
            hdr.items.push_front(7);
        } else if (hdr.h.operation == 6) {
            hdr.items[1].setInvalid();
            hdr.h.index = (bit<8>) hdr.items.size;
        } else if (hdr.h.operation == 7) {
            hdr.items[3] = hdr.items[0];
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
        packet.emit(hdr.h);
        packet.emit(hdr.items);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
