// Structs, tuples, lists and named arguments; copies are by value.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> area;
    bit<8> same;
}

struct point_t {
    bit<8> x;
    bit<8> y;
}

struct line_t {
    point_t from_;
    point_t to_;
}

bit<8> area(in line_t line) {
    return (line.to_.x - line.from_.x) * (line.to_.y - line.from_.y);
}

struct metadata {
    line_t line;
}

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
        point_t origin = { 1, 1 };
        point_t corner = { y = hdr.h.b, x = hdr.h.a };
        meta.line = { origin, corner };
        line_t saved = meta.line;
        meta.line.from_.x = 0;
        hdr.h.area = area(saved) + area(line = meta.line);
        tuple<bit<8>, bit<8>> pair = { hdr.h.a, hdr.h.b };
        if (saved.to_ == corner && saved != meta.line) {
            hdr.h.same = pair[1];
        }
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
