// A router of a leaf-spine network: longest prefix, equal paths by a hash of the flow, TTL and header checksum. With
// MARK, ECN-capable packets that find this many in the queue are marked.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

header ipv4_t {
    bit<4> version;
    bit<4> header_words;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header ports_t {
    bit<16> source;
    bit<16> destination;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    ports_t ports;
}

struct metadata_t {
    bit<16> path;
}

parser FabricParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            6: parse_ports;
            17: parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control FabricVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control FabricIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(bit<9> port, bit<48> source, bit<48> destination) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = source;
        hdr.ethernet.destination = destination;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    // One of this many paths.
    action spread(bit<16> paths) {
        hash(meta.path, HashAlgorithm.crc16, (bit<16>) 0,
             { hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, hdr.ports.source, hdr.ports.destination },
             paths);
    }

    table route {
        key = {
            hdr.ipv4.destination: lpm;
        }
        actions = {
            forward;
            spread;
            drop;
        }
        size = 1024;
        default_action = drop();
    }

    table path {
        key = {
            meta.path: exact;
        }
        actions = {
            forward;
            drop;
        }
        size = 64;
        default_action = drop();
    }

    apply {
        if (hdr.ipv4.isValid() && standard_metadata.checksum_error == 0 && hdr.ipv4.ttl > 1) {
            switch (route.apply().action_run) {
                spread: {
                    path.apply();
                }
            }
        } else {
            drop();
        }
    }
}

control FabricEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
#ifdef MARK
        if (standard_metadata.enq_qdepth >= MARK && hdr.ipv4.ecn != 0) {
            hdr.ipv4.ecn = 3;
        }
#endif
    }
}

control FabricComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control FabricDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(FabricParser(), FabricVerifyChecksum(), FabricIngress(), FabricEgress(), FabricComputeChecksum(),
         FabricDeparser()) main;
