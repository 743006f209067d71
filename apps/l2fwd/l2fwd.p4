// An Ethernet switch: forwards to the port where the destination lives, floods what it does not know.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_address_t;
typedef bit<9> port_t;

header ethernet_t {
    mac_address_t destination;
    mac_address_t source;
    bit<16> ethertype;
}

struct headers_t {
    ethernet_t ethernet;
}

// What a controller needs to learn where an address lives.
struct learn_t {
    mac_address_t source;
    port_t port;
}

struct metadata_t {
}

parser SwitchParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
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

    action forward(port_t port) {
        standard_metadata.egress_spec = port;
    }

    // Copies go to all ports of the group but, see SwitchEgress, the one that the frame came from.
    action flood(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    action learn() {
        digest<learn_t>(1, { hdr.ethernet.source, standard_metadata.ingress_port });
    }

    // Sources that are known where they are; for any other, the default action may be set to `learn`.
    table source_known {
        key = {
            hdr.ethernet.source: exact;
            standard_metadata.ingress_port: exact;
        }
        actions = {
            NoAction;
            learn;
        }
        size = 65536;
        default_action = NoAction();
    }

    table destination {
        key = {
            hdr.ethernet.destination: exact;
        }
        actions = {
            forward;
            flood;
            drop;
        }
        size = 65536;
        default_action = flood(1);
    }

    apply {
        if (!hdr.ethernet.isValid()) {
            // Shorter than an Ethernet header.
            drop();
        } else if ((hdr.ethernet.destination & 0xFFFFFFFFFFF0) == 0x0180C2000000) {
            // Addresses of the link itself (pause frames, spanning tree, LLDP): a switch does not forward them.
            drop();
        } else {
            source_known.apply();
            destination.apply();
        }
    }
}

control SwitchEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        // Nothing goes back to where it came from.
        if (standard_metadata.egress_port == standard_metadata.ingress_port) {
            mark_to_drop(standard_metadata);
        }
    }
}

control SwitchComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SwitchDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(SwitchParser(), SwitchVerifyChecksum(), SwitchIngress(), SwitchEgress(), SwitchComputeChecksum(),
         SwitchDeparser()) main;
