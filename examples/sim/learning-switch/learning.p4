// A switch for Ethernet that reports unknown addresses to a controller, and floods frames to unknown ones.

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

struct metadata_t { }

// What the controller learns.
struct learn_t {
    mac_address_t source;
    port_t port;
}

parser SwitchParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control SwitchVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SwitchIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action learn() {
        digest<learn_t>(1, { hdr.ethernet.source, standard.ingress_port });
    }

    action forward(port_t port) {
        standard.egress_spec = port;
    }

    action flood() {
        standard.mcast_grp = 1;
    }

    // Addresses that are known at their ports. An entry that no frame hits for its timeout is reported.
    table sources {
        key = {
            hdr.ethernet.source: exact;
            standard.ingress_port: exact;
        }
        actions = {
            NoAction;
            learn;
        }
        default_action = learn();
        size = 4096;
        support_timeout = true;
    }

    table destinations {
        key = {
            hdr.ethernet.destination: exact;
        }
        actions = {
            forward;
            flood;
        }
        default_action = flood();
        size = 4096;
    }

    apply {
        sources.apply();
        destinations.apply();
    }
}

control SwitchEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);
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
