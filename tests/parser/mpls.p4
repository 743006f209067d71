// A stack of labels until the bottom, in a loop of states; then a choice by several keys.
#include <core.p4>
#include <v1model.p4>

header mpls_t {
    bit<20> label;
    bit<3> class;
    bit<1> bos;
    bit<8> ttl;
}

header ip_version_t {
    bit<4> version;
    bit<4> rest;
}

struct metadata { }

struct headers {
    mpls_t[8] mpls;
    ip_version_t ip;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.mpls.next);
        transition select(hdr.mpls.last.bos, hdr.mpls.lastIndex, hdr.mpls.last.ttl) {
            (0, 0 .. 6, _): start;
            (1, _, 0 .. 1): accept;
            (1, default, default): parse_ip;
        }
    }

    state parse_ip {
        packet.extract(hdr.ip);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.parser_error != error.NoError) {
            mark_to_drop(standard_metadata);
        } else if (hdr.ip.isValid()) {
            standard_metadata.egress_spec = (bit<9>) hdr.ip.version;
            hdr.mpls.pop_front(1);
        } else {
            standard_metadata.egress_spec = 1;
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
        packet.emit(hdr.mpls);
        packet.emit(hdr.ip);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
