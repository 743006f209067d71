// Tunnels as students write them: depending on its destination address, a frame is forwarded, encapsulated in a VXLAN
// or GRE packet, or decapsulated. Headers are copied, made valid and made invalid; the outer checksum is computed.

#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x800;
const bit<8> PROTOCOL_UDP = 17;
const bit<8> PROTOCOL_GRE = 47;
const bit<16> PORT_VXLAN = 4789;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

header ipv4_t {
    bit<4> version;
    bit<4> header_words;
    bit<8> traffic_class;
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

header udp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header vxlan_t {
    bit<8> flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8> reserved_too;
}

header gre_t {
    bit<16> flags;
    bit<16> protocol;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    gre_t gre;
    vxlan_t vxlan;
    ethernet_t inner_ethernet;
    ipv4_t inner_ipv4;
    udp_t inner_udp;
}

struct metadata_t {
}

parser TunnelParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            PROTOCOL_UDP: udp;
            PROTOCOL_GRE: gre;
            default: accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.destination_port) {
            PORT_VXLAN: vxlan;
            default: accept;
        }
    }

    state vxlan {
        packet.extract(hdr.vxlan);
        packet.extract(hdr.inner_ethernet);
        transition select(hdr.inner_ethernet.ethertype) {
            TYPE_IPV4: inner_ipv4;
            default: accept;
        }
    }

    state gre {
        packet.extract(hdr.gre);
        transition select(hdr.gre.protocol) {
            TYPE_IPV4: inner_ipv4;
            default: accept;
        }
    }

    state inner_ipv4 {
        packet.extract(hdr.inner_ipv4);
        transition select(hdr.inner_ipv4.protocol) {
            PROTOCOL_UDP: inner_udp;
            default: accept;
        }
    }

    state inner_udp {
        packet.extract(hdr.inner_udp);
        transition accept;
    }
}

control TunnelVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control TunnelIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action outer(bit<8> protocol, bit<16> bytes, bit<48> next_hop, bit<32> from, bit<32> to) {
        hdr.inner_ipv4 = hdr.ipv4;
        hdr.inner_udp = hdr.udp;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.setValid();
        hdr.ipv4.version = 4;
        hdr.ipv4.header_words = 5;
        hdr.ipv4.traffic_class = 0;
        hdr.ipv4.total_length = (bit<16>)standard_metadata.packet_length + bytes;
        hdr.ipv4.identification = 0;
        hdr.ipv4.flags = 2;
        hdr.ipv4.fragment_offset = 0;
        hdr.ipv4.ttl = 64;
        hdr.ipv4.protocol = protocol;
        hdr.ipv4.source = from;
        hdr.ipv4.destination = to;
        hdr.ethernet.ethertype = TYPE_IPV4;
    }

    // The frame follows 20 bytes of IPv4, 8 of UDP and 8 of VXLAN.
    action into_vxlan(bit<24> vni, bit<48> next_hop, bit<32> from, bit<32> to, bit<9> port) {
        hdr.inner_ethernet = hdr.ethernet;
        outer(PROTOCOL_UDP, 36, next_hop, from, to);
        hdr.udp.setValid();
        hdr.udp.source_port = 49152;
        hdr.udp.destination_port = PORT_VXLAN;
        hdr.udp.length = (bit<16>)standard_metadata.packet_length + 16;
        hdr.udp.checksum = 0;
        hdr.vxlan.setValid();
        hdr.vxlan.flags = 8;
        hdr.vxlan.reserved = 0;
        hdr.vxlan.vni = vni;
        hdr.vxlan.reserved_too = 0;
        standard_metadata.egress_spec = port;
    }

    // The payload of the Ethernet header now follows 20 bytes of IPv4 and 4 of GRE.
    action into_gre(bit<48> next_hop, bit<32> from, bit<32> to, bit<9> port) {
        outer(PROTOCOL_GRE, 10, next_hop, from, to);
        hdr.udp.setInvalid();
        hdr.gre.setValid();
        hdr.gre.flags = 0;
        hdr.gre.protocol = TYPE_IPV4;
        standard_metadata.egress_spec = port;
    }

    action inner() {
        hdr.ipv4 = hdr.inner_ipv4;
        hdr.udp = hdr.inner_udp;
        hdr.inner_ipv4.setInvalid();
        hdr.inner_udp.setInvalid();
    }

    action out_of_vxlan(bit<9> port) {
        hdr.ethernet = hdr.inner_ethernet;
        hdr.inner_ethernet.setInvalid();
        hdr.vxlan.setInvalid();
        inner();
        standard_metadata.egress_spec = port;
    }

    action out_of_gre(bit<48> next_hop, bit<9> port) {
        hdr.ethernet.destination = next_hop;
        hdr.gre.setInvalid();
        inner();
        standard_metadata.egress_spec = port;
    }

    table address {
        key = {
            hdr.ethernet.destination: exact;
        }
        actions = {
            forward;
            into_vxlan;
            into_gre;
            out_of_vxlan;
            out_of_gre;
            drop;
        }
        default_action = drop();
    }

    apply {
        address.apply();
    }
}

control TunnelEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control TunnelComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.inner_ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control TunnelDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.gre);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.inner_ethernet);
        packet.emit(hdr.inner_ipv4);
        packet.emit(hdr.inner_udp);
    }
}

V1Switch(TunnelParser(), TunnelVerifyChecksum(), TunnelIngress(), TunnelEgress(), TunnelComputeChecksum(),
         TunnelDeparser()) main;
