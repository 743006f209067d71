// Shapes that programs take: objects of the outermost scope, objects as arguments of constructors and controls, checksum
// controls with conditions and locals, headers and stacks in metadata, deparsers that decide.
#include <core.p4>
#include <v1model.p4>

typedef standard_metadata_t std_t;

header h_t {
    bit<8> op;
    bit<16> sum;
    bit<8> n;
}

header item_t { bit<8> v; }

struct headers {
    h_t h;
    item_t[2] items;
}

struct metadata {
    item_t kept;
    item_t[2] stack;
    bit<16> sum;
    bool reverse;
}

register<bit<8>>(4) shared;
counter(4, CounterType.packets) calls;

control Bump(register<bit<8>> cells)(bit<32> index, bit<8> step) {
    apply {
        bit<8> value;
        cells.read(value, index);
        cells.write(index, value + step);
        calls.count(index);
    }
}

control Twice(inout headers hdr, inout std_t standard_metadata)(register<bit<8>> cells, bit<32> index) {
    Bump(index, 2) first;
    Bump(index + 1, 5) second;
    apply {
        first.apply(cells);
        second.apply(cells);
        first.apply(shared);
        cells.read(hdr.h.n, index + 1);
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        packet.extract(meta.kept);
        meta.stack[1].setValid();
        meta.stack[1].v = meta.kept.v + 1;
        transition select(hdr.h.op) {
            9: accept;
            default: items;
        }
    }
    state items {
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    bit<16> zero = 0;
    apply {
        if (hdr.h.op == 1) {
            bit<16> wanted = hdr.h.sum;
            verify_checksum(hdr.items[0].isValid(), { zero, hdr.items[0].v }, wanted, HashAlgorithm.csum16);
        } else {
            verify_checksum(hdr.h.op == 2, { hdr.h.n }, hdr.h.sum, HashAlgorithm.csum16);
        }
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    Twice(shared, 1) twice;

    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.checksum_error == 1) {
            standard_metadata.egress_spec = 3;
        }
        twice.apply(hdr, standard_metadata);
        hdr.items[0] = meta.kept;
        hdr.items[1] = meta.stack[1];
        meta.stack.pop_front(1);
        if (meta.stack[0].isValid() && !meta.stack[1].isValid()) {
            hdr.items[0].v = meta.stack[0].v + 1;
        }
        meta.reverse = hdr.h.op == 3;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.reverse) {
            hdr.h.op = 0x80;
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        bit<16> total = 0;
        for (item_t item in hdr.items) {
            total = total + (bit<16>) item.v;
        }
        if (hdr.h.op != 4) {
            update_checksum(total != 0, { total }, hdr.h.sum, HashAlgorithm.identity);
        }
    }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        if (hdr.h.op == 0x80) {
            packet.emit(hdr.items[1]);
            packet.emit(hdr.items[0]);
            packet.emit(hdr.h);
        } else {
            packet.emit(hdr);
        }
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
