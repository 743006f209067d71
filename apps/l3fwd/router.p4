// An IPv4 and IPv6 router: longest prefix match, groups of gateways, and a controller for what is not forwarded.
//
// A packet that is forwarded has its TTL or hop limit lowered, its checksum updated and both Ethernet addresses
// replaced. All others have a reason, by which they are counted; with some reasons they go to the controller, as far as
// a meter for their port and reason allows.

#include <core.p4>
#include <v1model.p4>
#include "parser.p4"

control RouterVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4_options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

// Gives a reason to what must not be routed.
control Check(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action interface(mac_address_t mac) {
        meta.mac = mac;
    }

    action no_interface() {
        meta.reason = NO_INTERFACE;
    }

    // The router's interfaces.
    table interfaces {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            interface;
            @defaultonly no_interface;
        }
        size = 512;
        default_action = no_interface();
    }

    action check_arp() {
        if (hdr.arp.hardware_type != 1 || hdr.arp.protocol_type != ETHERTYPE_IPV4 || hdr.arp.hardware_length != 6
                || hdr.arp.protocol_length != 4) {
            meta.reason = OTHER_PROTOCOL;
        }
    }

    action check_ipv4() {
        bit<32> header_length = (bit<32>)hdr.ipv4.header_words << 2;
        bit<32> length = (bit<32>)hdr.ipv4.total_length;
        bit<32> fragment_start = (bit<32>)hdr.ipv4.fragment_offset << 3;
        bit<8> source_net = hdr.ipv4.source[31:24];
        bit<8> net = hdr.ipv4.destination[31:24];
        if (standard_metadata.checksum_error == 1) {
            meta.reason = WRONG_CHECKSUM;
        } else if (length < header_length || length + 14 > standard_metadata.packet_length) {
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
        if ((bit<32>)hdr.ipv6.payload_length + 54 > standard_metadata.packet_length) {
            meta.reason = WRONG_LENGTH;
        } else if (hdr.ipv6.source[127:120] == 0xFF || hdr.ipv6.source == 1) {
            meta.reason = MARTIAN_SOURCE;
        } else if (hdr.ipv6.destination == 0 || hdr.ipv6.destination == 1) {
            meta.reason = MARTIAN_DESTINATION;
        }
    }

    apply {
        interfaces.apply();
        bool is_group = hdr.ethernet.destination[40:40] == 1;
        if (meta.reason != NONE) {
            // No interface of the router.
        } else if (!meta.is_whole) {
            bool is_wrong = standard_metadata.parser_error == error.VersionWrong
                || standard_metadata.parser_error == error.HeaderLengthWrong;
            meta.reason = is_wrong ? WRONG_HEADER : CUT_OFF;
        } else if (!is_group && hdr.ethernet.destination != meta.mac) {
            meta.reason = OTHER_STATION;
        } else if (hdr.arp.isValid()) {
            check_arp();
        } else if (hdr.ipv4.isValid()) {
            // What a link's broadcast or multicast brings is not for other links, nor are groups.
            if (is_group || hdr.ipv4.destination[31:28] == 0xE) {
                meta.reason = MULTICAST;
            } else {
                check_ipv4();
            }
        } else if (hdr.ipv6.isValid()) {
            if (is_group && hdr.ipv6.destination[127:120] != 0xFF) {
                meta.reason = MULTICAST;
            } else {
                check_ipv6();
            }
        } else {
            meta.reason = OTHER_PROTOCOL;
        }
    }
}

// Finds the way of a packet, or the reason why there is none.
control Routing(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // The router itself.
    action local() {
        meta.way = Way.LOCAL;
    }

    // The destination is on a link of the router.
    action attached() {
        meta.way = Way.ATTACHED;
    }

    action via(group_t group) {
        meta.way = Way.GROUP;
        meta.group = group;
    }

    action discard() {
        meta.way = Way.DISCARD;
    }

    table route4 {
        key = {
            meta.target: lpm @name("destination");
        }
        actions = {
            via;
            attached;
            local;
            discard;
            @defaultonly NoAction;
        }
        size = 1048576;
        default_action = NoAction();
    }

    table route6 {
        key = {
            hdr.ipv6.destination: lpm @name("destination");
        }
        actions = {
            via;
            attached;
            local;
            discard;
            @defaultonly NoAction;
        }
        size = 1048576;
        default_action = NoAction();
    }

    action use_hop(hop_t hop) {
        meta.hop = hop;
    }

    // A hash of the flow picks the gateway.
    action_selector(HashAlgorithm.identity, 65536, 16) gateways;

    table groups {
        key = {
            meta.group: exact @name("group");
            meta.flow: selector;
        }
        actions = {
            use_hop;
            @defaultonly NoAction;
        }
        implementation = gateways;
        size = 16384;
    }

    action forward(port_t port, mac_address_t source, mac_address_t destination) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = source;
        hdr.ethernet.destination = destination;
    }

    action unresolved() {
        meta.reason = UNRESOLVED;
    }

    table next_hops {
        key = {
            meta.hop: exact @name("hop");
        }
        actions = {
            forward;
            @defaultonly unresolved;
        }
        size = 65536;
        default_action = unresolved();
    }

    table neighbours4 {
        key = {
            hdr.ipv4.destination: exact @name("destination") @format(IPV4_ADDRESS);
        }
        actions = {
            forward;
            @defaultonly unresolved;
        }
        size = 65536;
        default_action = unresolved();
        // Neighbours without traffic are forgotten.
        support_timeout = true;
    }

    table neighbours6 {
        key = {
            hdr.ipv6.destination: exact @name("destination");
        }
        actions = {
            forward;
            @defaultonly unresolved;
        }
        size = 65536;
        default_action = unresolved();
        support_timeout = true;
    }

    action hash_flow() {
        if (hdr.ipv4.isValid()) {
            hash(meta.flow, HashAlgorithm.crc16, 16w0,
                 { hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, meta.ports }, 32w65536);
        } else {
            hash(meta.flow, HashAlgorithm.crc16, 16w0,
                 { hdr.ipv6.source, hdr.ipv6.destination, hdr.ipv6.next_header, hdr.ipv6.flow_label, meta.ports },
                 32w65536);
        }
    }

    // The reason of a packet for the router itself.
    action receive() {
        bool is_nd = meta.icmpv6_type >= ND_FIRST && meta.icmpv6_type <= ND_LAST && hdr.ipv6.hop_limit == 255;
        if (hdr.arp.isValid()) {
            meta.reason = ARP;
        } else if (hdr.ipv4.isValid() && (hdr.ipv4.more_fragments == 1 || hdr.ipv4.fragment_offset != 0)) {
            // The router's own services need no long datagrams, and nothing is put together again.
            meta.reason = FRAGMENT;
        } else {
            meta.reason = hdr.ipv6.isValid() && is_nd ? ND : LOCAL;
        }
    }

    // Addresses that have a meaning on one link only, and the unspecified one.
    action check_scope() {
        if (hdr.ipv6.destination[127:120] == 0xFF) {
            meta.reason = MULTICAST;
        } else if (hdr.ipv6.destination[127:118] == 0x3FA) {
            meta.reason = MARTIAN_DESTINATION;
        } else if (hdr.ipv6.source[127:118] == 0x3FA || hdr.ipv6.source == 0) {
            meta.reason = MARTIAN_SOURCE;
        }
    }

    action lower_ttl() {
        // ~sum + ~m + m' with m' = m - 0x0100 (RFC 1624).
        bit<17> sum = (bit<17>)(~hdr.ipv4.checksum) + 0xFEFF;
        hdr.ipv4.checksum = ~(sum[15:0] + (bit<16>)sum[16:16]);
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    action lower_hop_limit() {
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    apply {
        bool is_own = hdr.packet_out.isValid() && hdr.packet_out.mode == MODE_OWN;
        bit<8> ttl = 0;
        if (hdr.ipv6.isValid()) {
            ttl = hdr.ipv6.hop_limit;
            route6.apply();
        } else {
            meta.target = hdr.arp.isValid() ? hdr.arp.target_ip : hdr.ipv4.destination;
            ttl = hdr.ipv4.ttl;
            route4.apply();
        }
        if (meta.way == Way.LOCAL) {
            receive();
        } else if (hdr.arp.isValid()) {
            // Of others.
            meta.reason = OTHER_STATION;
        } else if (hdr.ipv6.isValid()) {
            check_scope();
        }
        if (meta.reason != NONE) {
            // For the router, or without a receiver.
        } else if (meta.way == Way.DISCARD) {
            meta.reason = DISCARDED;
        } else if (meta.way == Way.NONE) {
            meta.reason = NO_ROUTE;
        } else if (!is_own && ttl <= 1) {
            meta.reason = TTL_EXPIRED;
        } else if (meta.way == Way.GROUP) {
            hash_flow();
            groups.apply();
            next_hops.apply();
        } else if (hdr.ipv4.isValid()) {
            neighbours4.apply();
        } else {
            neighbours6.apply();
        }
        if (meta.reason == NONE && !is_own) {
            if (hdr.ipv4.isValid()) {
                lower_ttl();
            } else {
                lower_hop_limit();
            }
        }
    }
}

// What becomes of packets with a reason.
control Report(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // By reason: packets that were not forwarded, and those of them that the meter kept from the controller.
    counter(32, CounterType.packets_and_bytes) reasons;
    counter(8, CounterType.packets_and_bytes) kept;

    // By port and reason: floods do not reach the controller. Without rates everything does.
    meter(4096, MeterType.packets) to_controller;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action punt() {
        hdr.packet_in.setValid();
        hdr.packet_in = { standard_metadata.ingress_port, meta.reason, meta.hop };
        standard_metadata.egress_spec = CPU_PORT;
    }

    apply {
        reasons.count((bit<32>)meta.reason);
        if (meta.reason >= FIRST_DROP) {
            drop();
        } else {
            bit<2> colour = 0;
            to_controller.execute_meter((bit<32>)(standard_metadata.ingress_port ++ meta.reason[2:0]), colour);
            if (colour == 2) {
                kept.count((bit<32>)meta.reason);
                drop();
            } else {
                punt();
            }
        }
    }
}

control RouterIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Check() check;
    Routing() routing;
    Report() report;

    apply {
        if (hdr.packet_out.isValid() && hdr.packet_out.mode == MODE_PORT) {
            standard_metadata.egress_spec = hdr.packet_out.port;
        } else {
            if (!hdr.packet_out.isValid()) {
                check.apply(hdr, meta, standard_metadata);
            } else if (!hdr.ipv4.isValid() && !hdr.ipv6.isValid()) {
                meta.reason = OTHER_PROTOCOL;
            }
            if (meta.reason == NONE) {
                routing.apply(hdr, meta, standard_metadata);
            }
            if (meta.reason != NONE) {
                report.apply(hdr, meta, standard_metadata);
            }
        }
        hdr.packet_out.setInvalid();
    }
}

control RouterEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

// Lowering the TTL has updated it.
control RouterComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

V1Switch(RouterParser(), RouterVerifyChecksum(), RouterIngress(), RouterEgress(), RouterComputeChecksum(),
         RouterDeparser()) main;
