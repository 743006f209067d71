// A value set that the control plane fills steers the parser.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> kind;
}

header extra_t {
    bit<8> value;
}

struct metadata { }

struct headers {
    h_t h;
    extra_t extra;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    value_set<bit<16>>(4) kinds;

    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) {
            kinds: parse_extra;
            0x0001: parse_extra;
            default: accept;
        }
    }

    state parse_extra {
        packet.extract(hdr.extra);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = hdr.extra.isValid() ? 9w2 : 3;
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
        packet.emit(hdr.extra);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
