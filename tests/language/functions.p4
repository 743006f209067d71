// Functions with in, out and inout parameters, early returns, and results in expressions.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> greatest;
    bit<8> half;
    bit<8> even;
}

bit<8> maximum(in bit<8> left, in bit<8> right) {
    if (left > right) {
        return left;
    }
    return right;
}

void swap(inout bit<8> left, inout bit<8> right) {
    bit<8> saved = left;
    left = right;
    right = saved;
}

bool halve(in bit<8> value, out bit<8> half) {
    half = value >> 1;
    if (value[0:0] == 1) {
        return false;
    }
    return true;
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
        hdr.h.greatest = maximum(hdr.h.a, maximum(right = hdr.h.b, left = 7));
        swap(hdr.h.a, hdr.h.b);
        if (halve(hdr.h.a, hdr.h.half)) {
            hdr.h.even = 1;
        }
        swap(hdr.h.a, hdr.h.a);
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
