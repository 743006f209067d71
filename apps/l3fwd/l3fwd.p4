// An IPv4 router: longest prefix match, TTL, header checksum, and answers to ARP requests for its own addresses.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_address_t;
typedef bit<32> ipv4_address_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP = 0x0806;
const bit<16> ARP_HARDWARE_ETHERNET = 1;
const bit<16> ARP_REQUEST = 1;
const bit<16> ARP_REPLY = 2;

error {
    Ipv4VersionWrong,
    Ipv4HeaderLengthWrong
}

header ethernet_t {
    mac_address_t destination;
    mac_address_t source;
    bit<16> ethertype;
}

header arp_t {
    bit<16> hardware_type;
    bit<16> protocol_type;
    bit<8> hardware_length;
    bit<8> protocol_length;
    bit<16> operation;
    mac_address_t sender_mac;
    ipv4_address_t sender_ip;
    mac_address_t target_mac;
    ipv4_address_t target_ip;
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
    ipv4_address_t source;
    ipv4_address_t destination;
}

// Up to ten words behind the fixed part.
header ipv4_options_t {
    varbit<320> options;
}

struct headers_t {
    ethernet_t ethernet;
    arp_t arp;
    ipv4_t ipv4;
    ipv4_options_t ipv4_options;
}

struct metadata_t {
}

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_ARP: parse_arp;
            default: accept;
        }
    }

    state parse_arp {
        packet.extract(hdr.arp);
        transition accept;
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.Ipv4VersionWrong);
        verify(hdr.ipv4.header_words >= 5, error.Ipv4HeaderLengthWrong);
        transition select(hdr.ipv4.header_words) {
            5: accept;
            default: parse_ipv4_options;
        }
    }

    state parse_ipv4_options {
        packet.extract(hdr.ipv4_options, (bit<32>)(hdr.ipv4.header_words - 5) << 5);
        transition accept;
    }
}

control RouterVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4_options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control RouterIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    // To the next router or to the host itself; both addresses of the Ethernet header are those of the next link.
    action forward(port_t port, mac_address_t source, mac_address_t destination) {
        hdr.ethernet.source = source;
        hdr.ethernet.destination = destination;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        standard_metadata.egress_spec = port;
    }

    table route {
        key = {
            hdr.ipv4.destination: lpm;
        }
        actions = {
            forward;
            drop;
        }
        size = 1048576;
        default_action = drop();
    }

    action arp_reply(mac_address_t mac) {
        hdr.ethernet.destination = hdr.arp.sender_mac;
        hdr.ethernet.source = mac;
        ipv4_address_t asked = hdr.arp.target_ip;
        hdr.arp.operation = ARP_REPLY;
        hdr.arp.target_mac = hdr.arp.sender_mac;
        hdr.arp.target_ip = hdr.arp.sender_ip;
        hdr.arp.sender_mac = mac;
        hdr.arp.sender_ip = asked;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
    }

    // The router's own addresses.
    table local_address {
        key = {
            hdr.arp.target_ip: exact;
        }
        actions = {
            arp_reply;
            drop;
        }
        size = 1024;
        default_action = drop();
    }

    apply {
        if (standard_metadata.parser_error != error.NoError) {
            drop();
        } else if (hdr.arp.isValid()) {
            if (hdr.arp.hardware_type == ARP_HARDWARE_ETHERNET && hdr.arp.protocol_type == ETHERTYPE_IPV4
                    && hdr.arp.hardware_length == 6 && hdr.arp.protocol_length == 4
                    && hdr.arp.operation == ARP_REQUEST) {
                local_address.apply();
            } else {
                drop();
            }
        } else if (!hdr.ipv4.isValid() || standard_metadata.checksum_error == 1) {
            drop();
        } else if (hdr.ethernet.destination[40:40] == 1) {
            // A link's broadcast or multicast is not for other links.
            drop();
        } else if (hdr.ipv4.ttl <= 1) {
            drop();
        } else {
            route.apply();
        }
    }
}

control RouterEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control RouterComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4_options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.arp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
    }
}

V1Switch(RouterParser(), RouterVerifyChecksum(), RouterIngress(), RouterEgress(), RouterComputeChecksum(),
         RouterDeparser()) main;
