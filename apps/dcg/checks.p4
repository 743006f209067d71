// Gives a reason to what must not pass: the headers around a tunnel, then those of the frame.

#include "headers.p4"

control DcgVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.outer_ipv4.isValid(),
            { hdr.outer_ipv4.version, hdr.outer_ipv4.header_words, hdr.outer_ipv4.dscp, hdr.outer_ipv4.ecn,
              hdr.outer_ipv4.total_length, hdr.outer_ipv4.identification, hdr.outer_ipv4.reserved,
              hdr.outer_ipv4.dont_fragment, hdr.outer_ipv4.more_fragments, hdr.outer_ipv4.fragment_offset,
              hdr.outer_ipv4.ttl, hdr.outer_ipv4.protocol, hdr.outer_ipv4.source, hdr.outer_ipv4.destination },
            hdr.outer_ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.reserved, hdr.ipv4.dont_fragment, hdr.ipv4.more_fragments,
              hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination,
              meta.options_sum },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

// The interface, and whether all headers are there.
control CheckArrival(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action outside(mac_address_t mac) {
        meta.network = OUTSIDE;
        meta.mac = mac;
    }

    action underlay(mac_address_t mac) {
        meta.network = UNDERLAY;
        meta.mac = mac;
    }

    action no_interface() {
        meta.reason = NO_INTERFACE;
    }

    // The gateway's interfaces.
    table interfaces {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            outside;
            underlay;
            @defaultonly no_interface;
        }
        size = 512;
        default_action = no_interface();
    }

    apply {
        interfaces.apply();
        if (meta.reason != NONE) {
            // No interface of the gateway.
        } else if (!meta.is_whole) {
            bool is_wrong = standard_metadata.parser_error == error.VersionWrong
                || standard_metadata.parser_error == error.HeaderLengthWrong;
            meta.reason = is_wrong ? WRONG_HEADER : CUT_OFF;
        } else if (standard_metadata.checksum_error == 1) {
            meta.reason = WRONG_CHECKSUM;
        }
        meta.frame_length = standard_metadata.packet_length;
    }
}

// The headers of a tunnel: from an end point that is known, in one of its segments.
control CheckTunnel(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    direct_counter(CounterType.packets_and_bytes) from_segments;

    action own() { }

    action not_own() {
        meta.reason = OTHER_STATION;
    }

    // The addresses at which the gateway's tunnels end.
    table own_end_points {
        key = {
            hdr.outer_ipv4.destination: exact @name("destination") @format(IPV4_ADDRESS);
        }
        actions = {
            own;
            @defaultonly not_own;
        }
        size = 64;
        default_action = not_own();
    }

    action known() { }

    action unknown_end_point() {
        meta.reason = UNKNOWN_END_POINT;
    }

    table known_end_points {
        key = {
            hdr.outer_ipv4.source: exact @name("source") @format(IPV4_ADDRESS);
        }
        actions = {
            known;
            @defaultonly unknown_end_point;
        }
        size = 131072;
        default_action = unknown_end_point();
    }

    // `mac` is the gateway's Ethernet address in the segment.
    action tenant(network_t network, mac_address_t mac) {
        meta.network = network;
        meta.mac = mac;
        from_segments.count();
    }

    action unknown_segment() {
        meta.reason = UNKNOWN_SEGMENT;
        from_segments.count();
    }

    table segments {
        key = {
            hdr.outer_ipv4.source: exact @name("source") @format(IPV4_ADDRESS);
            hdr.vxlan.vni: exact @name("vni");
        }
        actions = {
            tenant;
            @defaultonly unknown_segment;
        }
        size = 262144;
        counters = from_segments;
        default_action = unknown_segment();
    }

    action check_outer() {
        bit<32> length = (bit<32>)hdr.outer_ipv4.total_length;
        if (hdr.outer_ethernet.destination != meta.mac) {
            meta.reason = OTHER_STATION;
        } else if (meta.network != UNDERLAY) {
            meta.reason = TUNNEL_OUTSIDE;
        } else if (hdr.outer_ipv4.more_fragments == 1 || hdr.outer_ipv4.fragment_offset != 0) {
            meta.reason = FRAGMENT;
        } else if (length + 14 > standard_metadata.packet_length || length < FRAME_OVERHEAD
                || (bit<32>)hdr.outer_udp.length + 20 != length) {
            meta.reason = WRONG_LENGTH;
        } else if (hdr.vxlan.has_vni == 0) {
            meta.reason = WRONG_VXLAN;
        }
        meta.frame_length = length - FRAME_OVERHEAD;
    }

    apply {
        check_outer();
        if (meta.reason == NONE) {
            own_end_points.apply();
        }
        if (meta.reason == NONE) {
            known_end_points.apply();
        }
        if (meta.reason == NONE) {
            segments.apply();
        }
    }
}

// The frame that arrived, or the one in the tunnel.
control CheckFrame(inout headers_t hdr, inout metadata_t meta) {
    action check_arp() {
        if (hdr.arp.hardware_type != 1 || hdr.arp.protocol_type != ETHERTYPE_IPV4 || hdr.arp.hardware_length != 6
                || hdr.arp.protocol_length != 4) {
            meta.reason = OTHER_PROTOCOL;
        } else if (meta.frame_length < 42) {
            meta.reason = WRONG_LENGTH;
        }
    }

    action check_ipv4() {
        bit<32> header_length = (bit<32>)hdr.ipv4.header_words << 2;
        bit<32> length = (bit<32>)hdr.ipv4.total_length;
        bit<32> fragment_start = (bit<32>)hdr.ipv4.fragment_offset << 3;
        bit<8> source_net = hdr.ipv4.source[31:24];
        bit<8> net = hdr.ipv4.destination[31:24];
        if (length < header_length || length + 14 > meta.frame_length) {
            meta.reason = WRONG_LENGTH;
        } else if (source_net == 0 || source_net == 127 || source_net >= 224) {
            meta.reason = MARTIAN_SOURCE;
        } else if (net == 0 || net == 127 || net >= 240) {
            meta.reason = MARTIAN_DESTINATION;
        } else if (fragment_start + length > 65535
                || (hdr.ipv4.fragment_offset == 1 && hdr.ipv4.protocol == PROTOCOL_TCP)) {
            // Beyond the longest datagram, or over the flags of a TCP header (RFC 1858).
            meta.reason = FRAGMENT;
        }
    }

    action check_ipv6() {
        bool is_nd = hdr.ipv6.next_header == PROTOCOL_ICMPV6 && hdr.ipv6.hop_limit == 255
            && meta.icmpv6_type >= ND_FIRST && meta.icmpv6_type <= ND_LAST;
        if ((bit<32>)hdr.ipv6.payload_length + 54 > meta.frame_length) {
            meta.reason = WRONG_LENGTH;
        } else if (is_nd) {
            meta.reason = ND;
        } else if (hdr.ipv6.destination[127:120] == 0xFF) {
            meta.reason = MULTICAST;
        } else if (hdr.ipv6.source[127:120] == 0xFF || hdr.ipv6.source[127:118] == 0x3FA || hdr.ipv6.source <= 1) {
            meta.reason = MARTIAN_SOURCE;
        } else if (hdr.ipv6.destination[127:118] == 0x3FA || hdr.ipv6.destination <= 1) {
            meta.reason = MARTIAN_DESTINATION;
        }
    }

    // A tunnel in the tunnel.
    action check_nesting(bit<8> protocol) {
        if (protocol == PROTOCOL_IPV4 || protocol == PROTOCOL_IPV6 || protocol == PROTOCOL_GRE
                || (protocol == PROTOCOL_UDP && meta.destination_port == PORT_VXLAN)) {
            meta.reason = NESTED;
        }
    }

    apply {
        bool is_group = hdr.ethernet.destination[40:40] == 1;
        if (!is_group && hdr.ethernet.destination != meta.mac) {
            meta.reason = OTHER_STATION;
        } else if (hdr.arp.isValid()) {
            check_arp();
        } else if (hdr.ipv4.isValid()) {
            if (is_group || hdr.ipv4.destination[31:28] == 0xE) {
                meta.reason = MULTICAST;
            } else {
                check_ipv4();
            }
            if (meta.reason == NONE) {
                check_nesting(hdr.ipv4.protocol);
            }
        } else if (hdr.ipv6.isValid()) {
            if (is_group && hdr.ipv6.destination[127:120] != 0xFF) {
                meta.reason = MULTICAST;
            } else {
                check_ipv6();
            }
            if (meta.reason == NONE) {
                check_nesting(hdr.ipv6.next_header);
            }
        } else {
            meta.reason = OTHER_PROTOCOL;
        }
    }
}
