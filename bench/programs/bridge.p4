// A plain bridge: packets are sent to the port of their destination address; unknown destinations are dropped.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
}

parser BridgeParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control BridgeVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control BridgeIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table address {
        key = {
            hdr.ethernet.destination: exact;
        }
        actions = {
            forward;
            drop;
        }
        size = 2097152;
        default_action = drop();
    }

    apply {
        address.apply();
    }
}

control BridgeEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control BridgeComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control BridgeDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(BridgeParser(), BridgeVerifyChecksum(), BridgeIngress(), BridgeEgress(), BridgeComputeChecksum(),
         BridgeDeparser()) main;
