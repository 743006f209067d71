// From outside into a tunnel: finds the service, a server for the flow, and the server's end point.
//
// The servers of a service share its address, so that only the Ethernet addresses and the TTL of a packet change.

#include "headers.p4"

control Inbound(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    direct_counter(CounterType.packets_and_bytes) to_services4;
    direct_counter(CounterType.packets_and_bytes) to_services6;
    direct_counter(CounterType.packets_and_bytes) to_servers;

    action serve4(service_t service) {
        meta.service = service;
        to_services4.count();
    }

    action serve6(service_t service) {
        meta.service = service;
        to_services6.count();
    }

    action no_service4() {
        meta.reason = NO_SERVICE;
        to_services4.count();
    }

    action no_service6() {
        meta.reason = NO_SERVICE;
        to_services6.count();
    }

    // Of protocols without ports, the port is 0.
    table services4 {
        key = {
            hdr.ipv4.destination: exact @name("address") @format(IPV4_ADDRESS);
            meta.protocol: exact @name("protocol");
            meta.destination_port: exact @name("port");
        }
        actions = {
            serve4;
            @defaultonly no_service4;
        }
        size = 262144;
        counters = to_services4;
        default_action = no_service4();
    }

    table services6 {
        key = {
            hdr.ipv6.destination: exact @name("address");
            meta.protocol: exact @name("protocol");
            meta.destination_port: exact @name("port");
        }
        actions = {
            serve6;
            @defaultonly no_service6;
        }
        size = 262144;
        counters = to_services6;
        default_action = no_service6();
    }

    action use_server(server_t server) {
        meta.server = server;
    }

    // The server gets no flows that it does not have. What it has is reported, for `flows`.
    action drain(server_t server) {
        meta.server = server;
        meta.is_draining = true;
    }

    // Flows that keep their server whatever becomes of the group.
    table flows {
        key = {
            meta.service: exact @name("service");
            meta.client: exact @name("client");
            meta.source_port: exact @name("client_port");
        }
        actions = {
            use_server;
            @defaultonly NoAction;
        }
        size = 1048576;
        default_action = NoAction();
        support_timeout = true;
    }

    // A hash of the flow picks one of the group.
    action_selector(HashAlgorithm.identity, 1048576, 32) members;

    table balancing {
        key = {
            meta.service: exact @name("service");
            meta.flow: selector;
        }
        actions = {
            use_server;
            drain;
            @defaultonly NoAction;
        }
        implementation = members;
        size = 262144;
    }

    // `source` is the gateway's Ethernet address in the segment.
    action server(end_point_t end_point, vni_t vni, mac_address_t source, mac_address_t destination) {
        meta.end_point = end_point;
        meta.vni = vni;
        meta.inner_source = source;
        meta.inner_destination = destination;
        to_servers.count();
    }

    action no_server() {
        meta.reason = NO_SERVER;
        to_servers.count();
    }

    table servers {
        key = {
            meta.server: exact @name("server");
        }
        actions = {
            server;
            @defaultonly no_server;
        }
        size = 262144;
        counters = to_servers;
        default_action = no_server();
    }

    action hash_flow() {
        if (hdr.ipv4.isValid()) {
            hash(meta.flow, HashAlgorithm.crc32, 32w0,
                 { meta.client[31:0], hdr.ipv4.destination, meta.protocol, meta.source_port, meta.destination_port },
                 64w0x100000000);
        } else {
            hash(meta.flow, HashAlgorithm.crc32, 32w0,
                 { meta.client, hdr.ipv6.destination, meta.protocol, meta.source_port, meta.destination_port },
                 64w0x100000000);
        }
        // Alone, the last bits of a CRC are the same for every second port of a client, and such are those of Linux.
        meta.flow = meta.flow ^ (meta.flow >> 16);
    }

    // The new headers, but for what `tunnel` has set; the length of the frame includes padding, which stays in it.
    action encapsulate(bit<6> dscp, bit<2> ecn) {
        bit<16> frame_length = (bit<16>)standard_metadata.packet_length;
        hdr.outer_ipv4.version = 4;
        hdr.outer_ipv4.header_words = 5;
        hdr.outer_ipv4.dscp = dscp;
        hdr.outer_ipv4.ecn = ecn;
        hdr.outer_ipv4.total_length = frame_length + (bit<16>)FRAME_OVERHEAD;
        hdr.outer_ipv4.identification = 0;
        hdr.outer_ipv4.reserved = 0;
        hdr.outer_ipv4.dont_fragment = 1;
        hdr.outer_ipv4.more_fragments = 0;
        hdr.outer_ipv4.fragment_offset = 0;
        hdr.outer_ipv4.ttl = OUTER_TTL;
        hdr.outer_ipv4.protocol = PROTOCOL_UDP;
        hdr.outer_udp.setValid();
        // One of the dynamic ports; other bits of the hash than those that distinguish a few servers.
        hdr.outer_udp.source = 2w3 ++ meta.flow[31:18];
        hdr.outer_udp.destination = PORT_VXLAN;
        hdr.outer_udp.length = frame_length + 16;
        hdr.outer_udp.checksum = 0;
        hdr.vxlan.setValid();
        hdr.vxlan.reserved_flags = 0;
        hdr.vxlan.has_vni = 1;
        hdr.vxlan.reserved = 0;
        hdr.vxlan.vni = meta.vni;
        hdr.vxlan.reserved_end = 0;
        hdr.ethernet.source = meta.inner_source;
        hdr.ethernet.destination = meta.inner_destination;
    }

    // `mtu` is the longest IP packet on the way to the end point.
    action tunnel(port_t port, mac_address_t mac, mac_address_t next_mac, ipv4_address_t source,
                  ipv4_address_t destination, bit<16> mtu) {
        if (standard_metadata.packet_length + FRAME_OVERHEAD > (bit<32>)mtu) {
            meta.reason = TOO_BIG;
            meta.mtu = mtu - PACKET_OVERHEAD;
        } else {
            standard_metadata.egress_spec = port;
            hdr.outer_ethernet.setValid();
            hdr.outer_ethernet = { next_mac, mac, ETHERTYPE_IPV4 };
            hdr.outer_ipv4.setValid();
            hdr.outer_ipv4.source = source;
            hdr.outer_ipv4.destination = destination;
        }
    }

    action unresolved() {
        meta.reason = UNRESOLVED;
    }

    table end_points {
        key = {
            meta.end_point: exact @name("end_point");
        }
        actions = {
            tunnel;
            @defaultonly unresolved;
        }
        size = 131072;
        default_action = unresolved();
    }

    apply {
        bit<8> ttl = 0;
        bool is_fragment = false;
        if (hdr.ipv4.isValid()) {
            ttl = hdr.ipv4.ttl;
            is_fragment = hdr.ipv4.more_fragments == 1 || hdr.ipv4.fragment_offset != 0;
        } else {
            ttl = hdr.ipv6.hop_limit;
            is_fragment = hdr.ipv6.next_header == PROTOCOL_FRAGMENT;
        }
        if (is_fragment) {
            // It would need the ports of the first one.
            meta.reason = FRAGMENT;
        } else if (hdr.ipv4.isValid()) {
            services4.apply();
        } else {
            services6.apply();
        }
        if (meta.reason == NONE && ttl <= 1) {
            meta.reason = TTL_EXPIRED;
        }
        if (meta.reason == NONE) {
            hash_flow();
            if (!flows.apply().hit) {
                balancing.apply();
                if (meta.is_draining) {
                    digest<draining_flow_t>(1, { meta.service, meta.client, meta.source_port, meta.server });
                }
            }
            servers.apply();
        }
        if (meta.reason == NONE) {
            meta.number = meta.end_point;
            end_points.apply();
        }
        if (meta.reason == NONE) {
            if (hdr.ipv4.isValid()) {
                encapsulate(hdr.ipv4.dscp, hdr.ipv4.ecn);
            } else {
                encapsulate(hdr.ipv6.dscp, hdr.ipv6.ecn);
            }
        }
    }
}
