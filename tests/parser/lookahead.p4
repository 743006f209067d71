// `lookahead` shows bytes without taking them; `advance` skips them.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

header tag_t {
    bit<4> kind;
    bit<12> value;
}

struct metadata {
    bit<16> seen;
}

struct headers {
    h_t h;
    tag_t[3] tags;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition next_tag;
    }

    state next_tag {
        transition select(packet.lookahead<bit<4>>()) {
            0xa: parse_tag;
            0xb: skip;
            default: accept;
        }
    }

    state parse_tag {
        packet.extract(hdr.tags.next);
        transition next_tag;
    }

    state skip {
        bit<16> skipped = packet.lookahead<bit<16>>();
        meta.seen = meta.seen + skipped;
        packet.advance(16);
        transition next_tag;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        hdr.h.b = meta.seen[7:0];
        if (standard_metadata.parser_error == error.StackOutOfBounds) {
            standard_metadata.egress_spec = 3;
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
        packet.emit(hdr.tags);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
