// A parser calls others, one of them twice; VLAN tags, and a state that is visited again.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header vlan_t {
    bit<3> pcp;
    bit<1> cfi;
    bit<12> vid;
    bit<16> type;
}

struct metadata {
    bit<16> type;
}

struct headers {
    ethernet_t ethernet;
    vlan_t outer;
    vlan_t inner;
}

parser VlanParser(packet_in packet, out vlan_t vlan, inout bit<16> type, in bit<16> wanted) {
    state start {
        transition select(type == wanted) {
            true: parse;
            default: accept;
        }
    }

    state parse {
        packet.extract(vlan);
        type = vlan.type;
        transition accept;
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    VlanParser() vlan_parser;
    bit<16> type;

    state start {
        packet.extract(hdr.ethernet);
        type = hdr.ethernet.type;
        vlan_parser.apply(packet, hdr.outer, type, 0x88a8);
        vlan_parser.apply(packet, hdr.inner, type, 0x8100);
        meta.type = type;
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.inner.isValid()) {
            standard_metadata.egress_spec = (bit<9>) hdr.inner.vid;
            hdr.ethernet.type = meta.type;
            hdr.inner.setInvalid();
            hdr.outer.setInvalid();
        } else if (!hdr.outer.isValid()) {
            hdr.outer = { 5, 0, 0x123, hdr.ethernet.type };
            hdr.ethernet.type = 0x88a8;
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
        packet.emit(hdr.ethernet);
        packet.emit(hdr.outer);
        packet.emit(hdr.inner);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
