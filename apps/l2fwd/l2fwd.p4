// An Ethernet switch with VLANs (IEEE 802.1Q): forwards to the port where the destination lives, floods what it does
// not know, and reports sources that it does not know to a controller.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_address_t;
typedef bit<9> port_t;
typedef bit<12> vlan_t;

const bit<16> ETHERTYPE_VLAN = 0x8100;

// The VLAN of all frames where no VLANs are set up.
const vlan_t VLAN_ALL = 1;

header ethernet_t {
    mac_address_t destination;
    mac_address_t source;
    bit<16> ethertype;
}

// Behind the addresses; `ethertype` is that of the frame, and ethernet.ethertype is ETHERTYPE_VLAN.
header vlan_tag_t {
    bit<3> priority;
    bit<1> drop_eligible;
    vlan_t vlan;
    bit<16> ethertype;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_tag_t tag;
}

// What a controller needs to learn where an address lives.
struct learn_t {
    mac_address_t source;
    vlan_t vlan;
    port_t port;
}

struct metadata_t {
    // The VLAN of the frame's tag; 0 without a tag, and for tags that have a priority only.
    vlan_t tag;
    // The VLAN that the frame belongs to.
    vlan_t vlan;
    // Whether its port is not in the VLAN of its tag.
    bool is_refused;
    // Whether its port is in a VLAN; tags are then the switch's business.
    bool is_member;
    bit<3> priority;
    bit<1> drop_eligible;
}

parser SwitchParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_VLAN: parse_tag;
            default: accept;
        }
    }

    state parse_tag {
        packet.extract(hdr.tag);
        meta.tag = hdr.tag.vlan;
        meta.priority = hdr.tag.priority;
        meta.drop_eligible = hdr.tag.drop_eligible;
        transition accept;
    }
}

control SwitchVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SwitchIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    // Tags are payload.
    action transparent() {
        meta.vlan = VLAN_ALL;
    }

    action refuse() {
        meta.is_refused = true;
        mark_to_drop(standard_metadata);
    }

    action member(vlan_t vlan) {
        meta.vlan = vlan;
        meta.is_member = true;
    }

    // The VLAN of a frame, by its port and its tag. Where VLANs are set up, the default action is `refuse`.
    table classify {
        key = {
            standard_metadata.ingress_port: exact;
            meta.tag: exact;
        }
        actions = {
            transparent;
            member;
            refuse;
        }
        size = 65536;
        default_action = transparent();
    }

    action forward(port_t port) {
        standard_metadata.egress_spec = port;
    }

    // Copies go to all ports of the group but, see SwitchEgress, the one that the frame came from.
    action flood(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    action learn() {
        digest<learn_t>(1, { hdr.ethernet.source, meta.vlan, standard_metadata.ingress_port });
    }

    // Sources that are known where they are; for any other, the default action may be set to `learn`.
    table source_known {
        key = {
            hdr.ethernet.source: exact;
            meta.vlan: exact;
            standard_metadata.ingress_port: exact;
        }
        actions = {
            NoAction;
            learn;
        }
        size = 65536;
        default_action = NoAction();
        // Addresses that are silent for long may have left.
        support_timeout = true;
    }

    table destination {
        key = {
            hdr.ethernet.destination: exact;
            meta.vlan: exact;
        }
        actions = {
            forward;
            drop;
            @defaultonly NoAction;
        }
        size = 65536;
        default_action = NoAction();
    }

    // The ports of a VLAN.
    table flooding {
        key = {
            meta.vlan: exact;
        }
        actions = {
            flood;
            drop;
        }
        size = 4096;
        default_action = flood(1);
    }

    apply {
        if (!hdr.ethernet.isValid() || standard_metadata.parser_error != error.NoError) {
            // Shorter than an Ethernet header, or than its tag.
            drop();
        } else if (hdr.ethernet.source[40:40] == 1) {
            // No station has a group address.
            drop();
        } else if ((hdr.ethernet.destination & 0xFFFFFFFFFFF0) == 0x0180C2000000) {
            // Addresses of the link itself (pause frames, spanning tree, LLDP): a switch does not forward them.
            drop();
        } else {
            classify.apply();
            if (!meta.is_refused) {
                if (meta.is_member && hdr.tag.isValid()) {
                    hdr.ethernet.ethertype = hdr.tag.ethertype;
                    hdr.tag.setInvalid();
                }
                source_known.apply();
                if (!destination.apply().hit) {
                    flooding.apply();
                }
            }
        }
    }
}

control SwitchEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action tag() {
        hdr.tag.setValid();
        hdr.tag.priority = meta.priority;
        hdr.tag.drop_eligible = meta.drop_eligible;
        hdr.tag.vlan = meta.vlan;
        hdr.tag.ethertype = hdr.ethernet.ethertype;
        hdr.ethernet.ethertype = ETHERTYPE_VLAN;
    }

    // The ports on which frames of a VLAN have tags.
    table tagged {
        key = {
            standard_metadata.egress_port: exact;
            meta.vlan: exact;
        }
        actions = {
            tag;
            @defaultonly NoAction;
        }
        size = 65536;
        default_action = NoAction();
    }

    apply {
        // Nothing goes back to where it came from.
        if (standard_metadata.egress_port == standard_metadata.ingress_port) {
            mark_to_drop(standard_metadata);
        } else if (meta.is_member) {
            tagged.apply();
        }
    }
}

control SwitchComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SwitchDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tag);
    }
}

V1Switch(SwitchParser(), SwitchVerifyChecksum(), SwitchIngress(), SwitchEgress(), SwitchComputeChecksum(),
         SwitchDeparser()) main;
