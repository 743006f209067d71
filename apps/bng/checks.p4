// Gives a reason to what is no whole packet for the gateway: before anything is looked up about its sender.

#include "headers.p4"

control GatewayVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.outer.isValid(),
            { hdr.outer.version, hdr.outer.header_words, hdr.outer.class, hdr.outer.ecn, hdr.outer.total_length,
              hdr.outer.identification, hdr.outer.reserved, hdr.outer.do_not_fragment, hdr.outer.more_fragments,
              hdr.outer.fragment_offset, hdr.outer.ttl, hdr.outer.protocol, hdr.outer.source,
              hdr.outer.destination },
            hdr.outer.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.class, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.reserved, hdr.ipv4.do_not_fragment, hdr.ipv4.more_fragments,
              hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Check(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action access(mac_address_t mac) {
        meta.side = Side.ACCESS;
        meta.mac = mac;
    }

    action core(mac_address_t mac) {
        meta.side = Side.CORE;
        meta.mac = mac;
    }

    action no_interface() {
        meta.reason = NO_INTERFACE;
    }

    // The gateway's interfaces: to subscribers, and to the Internet.
    table interfaces {
        key = {
            meta.port: exact @name("port");
        }
        actions = {
            access;
            core;
            @defaultonly no_interface;
        }
        size = 512;
        default_action = no_interface();
    }

    action check_parser() {
        error problem = standard_metadata.parser_error;
        if (problem == error.VersionWrong || problem == error.HeaderLengthWrong) {
            meta.reason = WRONG_HEADER;
        } else if (problem == error.GreOptions) {
            meta.reason = GRE_OPTIONS;
        } else {
            meta.reason = CUT_OFF;
        }
    }

    action check_lengths() {
        bit<32> tunnel = 0;
        bit<32> room = standard_metadata.packet_length - 14;
        if (hdr.packet_out.isValid()) {
            room = room - 2;
        }
        if (hdr.outer.isValid()) {
            tunnel = hdr.gre_key.isValid() ? 32w28 : 32w24;
            if ((bit<32>)hdr.outer.total_length > room) {
                meta.reason = WRONG_LENGTH;
            }
            room = (bit<32>)hdr.outer.total_length;
        }
        bit<16> transport = 0;
        if (hdr.tcp.isValid()) {
            transport = 20;
        } else if (hdr.quoted.isValid()) {
            transport = 36;
        } else if (hdr.udp.isValid() || hdr.icmp.isValid()) {
            transport = 8;
        }
        if ((bit<32>)hdr.ipv4.total_length + tunnel > room || hdr.ipv4.total_length < 20 + transport) {
            meta.reason = WRONG_LENGTH;
        } else if (hdr.udp.isValid() && (hdr.udp.length < 8 || hdr.udp.length > hdr.ipv4.total_length - 20)) {
            meta.reason = WRONG_LENGTH;
        }
    }

    // Addresses that no packet has which comes from, or goes to, the Internet.
    action check_addresses() {
        bit<8> source = hdr.ipv4.source[31:24];
        bit<8> destination = hdr.ipv4.destination[31:24];
        if (source == 0 || source == 127 || source >= 224 || destination == 0 || destination == 127
                || destination >= 224) {
            meta.reason = MARTIAN;
        }
    }

    action check_protocol() {
        bit<8> protocol = hdr.ipv4.protocol;
        bool is_tunnel = protocol == PROTOCOL_GRE || protocol == PROTOCOL_IPV4 || protocol == PROTOCOL_IPV6;
        if (hdr.outer.isValid() && (is_tunnel || meta.side == Side.CORE)) {
            meta.reason = WRONG_TUNNEL;
        }
    }

    apply {
        bool is_arp_for_all = hdr.arp.isValid() && hdr.ethernet.destination == 0xFFFFFFFFFFFF;
        bool is_fragment = hdr.ipv4.isValid() && (hdr.ipv4.more_fragments == 1 || hdr.ipv4.fragment_offset != 0)
            || hdr.outer.isValid() && (hdr.outer.more_fragments == 1 || hdr.outer.fragment_offset != 0);
        interfaces.apply();
        if (meta.reason != NONE) {
            // No interface of the gateway.
        } else if (!meta.is_whole) {
            check_parser();
        } else if (!is_arp_for_all && hdr.ethernet.destination != meta.mac) {
            meta.reason = OTHER_STATION;
        } else if (hdr.ethernet.source[40:40] == 1) {
            // No station has a group address.
            meta.reason = MARTIAN;
        } else if (standard_metadata.checksum_error == 1) {
            meta.reason = WRONG_CHECKSUM;
        } else if (is_fragment) {
            // Only the first fragment has ports.
            meta.reason = FRAGMENT;
        } else if (hdr.ipv4.isValid()) {
            check_lengths();
            if (meta.reason == NONE) {
                check_addresses();
            }
            if (meta.reason == NONE) {
                check_protocol();
            }
        } else if (!hdr.arp.isValid()) {
            meta.reason = OTHER_PROTOCOL;
        }
    }
}

// Answers ARP requests for the gateway, and in place of subscribers.
control ArpProxy(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action answer() {
        hdr.ethernet.destination = hdr.arp.sender_mac;
        hdr.ethernet.source = meta.mac;
        hdr.arp.operation = ARP_REPLY;
        ipv4_address_t own = hdr.arp.target_ip;
        hdr.arp.target_mac = hdr.arp.sender_mac;
        hdr.arp.target_ip = hdr.arp.sender_ip;
        hdr.arp.sender_mac = meta.mac;
        hdr.arp.sender_ip = own;
        standard_metadata.egress_spec = meta.port;
    }

    action of_others() {
        meta.reason = ARP_OTHERS;
    }

    // Addresses that are answered for: those of the gateway, and the public ones of subscribers.
    table arp_proxy {
        key = {
            meta.port: exact @name("port");
            hdr.arp.target_ip: lpm @name("address");
        }
        actions = {
            answer;
            @defaultonly of_others;
        }
        size = 4096;
        default_action = of_others();
    }

    apply {
        bool is_ipv4 = hdr.arp.hardware_type == 1 && hdr.arp.protocol_type == ETHERTYPE_IPV4
            && hdr.arp.hardware_length == 6 && hdr.arp.protocol_length == 4;
        if (!is_ipv4) {
            meta.reason = OTHER_PROTOCOL;
        } else if (hdr.arp.sender_mac[40:40] == 1) {
            meta.reason = MARTIAN;
        } else if (hdr.arp.operation == ARP_REPLY && hdr.ethernet.destination == meta.mac) {
            meta.reason = ARP;
        } else if (hdr.arp.operation != ARP_REQUEST || hdr.arp.sender_ip == hdr.arp.target_ip) {
            // An announcement asks nothing.
            meta.reason = ARP_OTHERS;
        } else {
            arp_proxy.apply();
        }
    }
}
