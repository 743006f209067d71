// Types with names: new types with and without a translation, enums with and without values, errors; values of no bits.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("example.org/port", bit<32>)
type bit<9> port_id_t;

@p4runtime_translation("example.org/vrf", string) @other
type bit<10> vrf_t;

@p4runtime_translation("", 16)
type bit<12> vlan_t;
// Not translated itself: its values have the bits that they have in the switch.
type vlan_t tag_t;

type bit<48> mac_t;
@name("outer") type mac_t outer_mac_t;
typedef bit<8> plain_t;

enum colour_t { red, green }
@name("proto") enum bit<8> protocol_t { tcp = 6, udp = 17 }

header ethernet_t {
    mac_t dst;
    mac_t src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct meta_t {
    port_id_t port;
    vrf_t vrf;
    vlan_t vlan;
    tag_t tag;
    outer_mac_t outer;
    plain_t plain;
    protocol_t protocol;
    colour_t colour;
    int<4> signed;
}

parser MyParser(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    register<protocol_t>(4) protocols;
    register<mac_t>(4) macs;

    action set(port_id_t port, bit<0> nothing, vrf_t vrf, vlan_t vlan, tag_t tag, outer_mac_t outer, plain_t plain, protocol_t protocol) {
        meta.port = port;
        meta.vrf = vrf;
        meta.vlan = vlan;
        meta.tag = tag;
        meta.outer = outer;
        meta.plain = plain;
        meta.protocol = protocol;
    }
    table t {
        key = {
            meta.port: exact;
            meta.vrf: exact;
            meta.vlan: ternary;
            meta.outer: exact;
            meta.plain: exact;
            meta.protocol: exact;
            meta.signed: exact;
            hdr.ethernet.dst: exact;
            std.parser_error: exact;
        }
        actions = { set; NoAction; }
        default_action = set((port_id_t)3, 0, (vrf_t)1, (vlan_t)2, (tag_t)(vlan_t)6, (outer_mac_t)(mac_t)4, 5, protocol_t.udp);
    }
    apply {
        protocols.write(0, meta.protocol);
        macs.write(0, hdr.ethernet.src);
        t.apply();
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
