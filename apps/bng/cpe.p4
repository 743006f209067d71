// A home gateway (customer premises equipment) for the gateway of bng.p4: what comes from the home goes into a GRE
// tunnel, what comes out of the tunnel goes to the home. It stands for the router in a subscriber's home, or for the
// kernel of one, where that has GRE.

#include <core.p4>
#include <v1model.p4>
#include "headers.p4"

const port_t HOME = 1;
const port_t ACCESS = 2;

struct cpe_headers_t {
    ethernet_t ethernet;
    arp_t arp;
    ipv4_t outer;
    gre_t gre;
    gre_key_t gre_key;
    ipv4_t ipv4;
}

struct cpe_metadata_t {
    bool is_whole;
}

parser HomeParser(packet_in packet, out cpe_headers_t hdr, inout cpe_metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(standard_metadata.ingress_port, hdr.ethernet.ethertype) {
            (_, ETHERTYPE_ARP): parse_arp;
            (HOME, ETHERTYPE_IPV4): parse_ipv4;
            (ACCESS, ETHERTYPE_IPV4): parse_outer;
            default: accept;
        }
    }

    state parse_arp {
        packet.extract(hdr.arp);
        transition whole;
    }

    state parse_outer {
        packet.extract(hdr.outer);
        transition select(hdr.outer.header_words, hdr.outer.protocol) {
            (5, PROTOCOL_GRE): parse_gre;
            default: accept;
        }
    }

    state parse_gre {
        packet.extract(hdr.gre);
        transition select(hdr.gre.options, hdr.gre.protocol) {
            (GRE_PLAIN, ETHERTYPE_IPV4): parse_ipv4;
            (GRE_KEY, ETHERTYPE_IPV4): parse_key;
            default: accept;
        }
    }

    state parse_key {
        packet.extract(hdr.gre_key);
        transition parse_ipv4;
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version) {
            4: whole;
            default: accept;
        }
    }

    state whole {
        meta.is_whole = true;
        transition accept;
    }
}

control HomeVerifyChecksum(inout cpe_headers_t hdr, inout cpe_metadata_t meta) {
    apply { }
}

control HomeIngress(inout cpe_headers_t hdr, inout cpe_metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action lower_ttl() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        bit<17> sum = (bit<17>)(~hdr.ipv4.checksum) + 0xFEFF;
        hdr.ipv4.checksum = ~(sum[15:0] + (bit<16>)sum[16:16]);
    }

    action answer(mac_address_t mac) {
        ipv4_address_t own = hdr.arp.target_ip;
        hdr.ethernet.destination = hdr.arp.sender_mac;
        hdr.ethernet.source = mac;
        hdr.arp.operation = ARP_REPLY;
        hdr.arp.target_mac = hdr.arp.sender_mac;
        hdr.arp.target_ip = hdr.arp.sender_ip;
        hdr.arp.sender_mac = mac;
        hdr.arp.sender_ip = own;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
    }

    // The address that the home's hosts have as their gateway, and that of the tunnel's end.
    table addresses {
        key = {
            hdr.arp.operation: exact @name("operation");
            hdr.arp.target_ip: exact @name("address") @format(IPV4_ADDRESS);
        }
        actions = {
            answer;
            drop;
        }
        size = 16;
        default_action = drop();
    }

    action use_tunnel(mac_address_t own_mac, mac_address_t gateway_mac, ipv4_address_t own, ipv4_address_t gateway) {
        lower_ttl();
        hdr.ethernet.source = own_mac;
        hdr.ethernet.destination = gateway_mac;
        hdr.outer.setValid();
        hdr.outer = { 4, 5, hdr.ipv4.class, hdr.ipv4.ecn, hdr.ipv4.total_length + 24, 0, 0, 1, 0, 0, 64, PROTOCOL_GRE,
                      0, own, gateway };
        hdr.gre.setValid();
        hdr.gre = { GRE_PLAIN, ETHERTYPE_IPV4 };
        standard_metadata.egress_spec = ACCESS;
    }

    action use_tunnel_with_key(mac_address_t own_mac, mac_address_t gateway_mac, ipv4_address_t own,
                               ipv4_address_t gateway, bit<32> key) {
        use_tunnel(own_mac, gateway_mac, own, gateway);
        hdr.outer.total_length = hdr.ipv4.total_length + 28;
        hdr.gre.options = GRE_KEY;
        hdr.gre_key.setValid();
        hdr.gre_key.key = key;
    }

    // The tunnel: its default action.
    table tunnel {
        actions = {
            use_tunnel;
            use_tunnel_with_key;
            drop;
        }
        default_action = drop();
    }

    action to_host(mac_address_t own_mac, mac_address_t mac) {
        lower_ttl();
        hdr.ethernet.source = own_mac;
        hdr.ethernet.destination = mac;
        hdr.outer.setInvalid();
        hdr.gre.setInvalid();
        hdr.gre_key.setInvalid();
        standard_metadata.egress_spec = HOME;
    }

    table hosts {
        key = {
            hdr.ipv4.destination: exact @name("address") @format(IPV4_ADDRESS);
        }
        actions = {
            to_host;
            drop;
        }
        size = 256;
        default_action = drop();
    }

    apply {
        if (!meta.is_whole) {
            drop();
        } else if (hdr.arp.isValid()) {
            addresses.apply();
        } else if (hdr.ipv4.ttl <= 1) {
            drop();
        } else if (hdr.outer.isValid()) {
            hosts.apply();
        } else {
            tunnel.apply();
        }
    }
}

control HomeEgress(inout cpe_headers_t hdr, inout cpe_metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control HomeComputeChecksum(inout cpe_headers_t hdr, inout cpe_metadata_t meta) {
    apply {
        update_checksum(hdr.outer.isValid(),
            { hdr.outer.version, hdr.outer.header_words, hdr.outer.class, hdr.outer.ecn, hdr.outer.total_length,
              hdr.outer.identification, hdr.outer.reserved, hdr.outer.do_not_fragment, hdr.outer.more_fragments,
              hdr.outer.fragment_offset, hdr.outer.ttl, hdr.outer.protocol, hdr.outer.source,
              hdr.outer.destination },
            hdr.outer.checksum, HashAlgorithm.csum16);
    }
}

control HomeDeparser(packet_out packet, in cpe_headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.arp);
        packet.emit(hdr.outer);
        packet.emit(hdr.gre);
        packet.emit(hdr.gre_key);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(HomeParser(), HomeVerifyChecksum(), HomeIngress(), HomeEgress(), HomeComputeChecksum(),
         HomeDeparser()) main;
