// A load balancer: the route names a group of next hops, the hash of the flow chooses one, and the flows of a hop that fails
// move. Where the table names a member directly there is no choice. One selector, shared by two tables with the same keys.
#include <core.p4>
#include <v1model.p4>

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_length;
    bit<16> id;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header ports_t { bit<16> src; bit<16> dst; }

struct headers { ipv4_t ipv4; ports_t ports; }
struct metadata { bit<16> vrf; }

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            6: ports;
            17: ports;
            default: accept;
        }
    }
    state ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action_selector(HashAlgorithm.crc32, 16, 8) next_hops;

    action via(bit<9> port, bit<32> gateway) {
        standard_metadata.egress_spec = port;
        hdr.ipv4.dst = gateway;
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    @mode("fair")
    table routes {
        key = {
            hdr.ipv4.dst: lpm;
            hdr.ipv4.src: selector;
            hdr.ipv4.protocol: selector;
            hdr.ports.src: selector;
            hdr.ports.dst: selector;
        }
        actions = { via; drop; }
        const default_action = drop();
        implementation = next_hops;
        size = 64;
    }

    apply {
        if (routes.apply().hit) {
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
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
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
