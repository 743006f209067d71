// From a tunnel to the outside: the tenant's sources and routes, and congestion that the tunnel met (RFC 6040).

#include "headers.p4"

control Outbound(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action permit() { }

    action spoofed() {
        meta.reason = SPOOFED;
    }

    // What the servers of a tenant may send from: its services.
    table sources4 {
        key = {
            meta.network: exact @name("network");
            hdr.ipv4.source: lpm @name("source");
        }
        actions = {
            permit;
            @defaultonly spoofed;
        }
        size = 262144;
        default_action = spoofed();
    }

    table sources6 {
        key = {
            meta.network: exact @name("network");
            hdr.ipv6.source: lpm @name("source");
        }
        actions = {
            permit;
            @defaultonly spoofed;
        }
        size = 262144;
        default_action = spoofed();
    }

    action via(hop_t hop) {
        meta.hop = hop;
    }

    action discard() {
        meta.reason = DISCARDED;
    }

    action no_route() {
        meta.reason = NO_ROUTE;
    }

    // For the gateway itself: its address in the tenant's network.
    action local() {
        meta.reason = LOCAL;
    }

    table routes4 {
        key = {
            meta.network: exact @name("network");
            hdr.ipv4.destination: lpm @name("destination");
        }
        actions = {
            via;
            discard;
            local;
            @defaultonly no_route;
        }
        size = 1048576;
        default_action = no_route();
    }

    table routes6 {
        key = {
            meta.network: exact @name("network");
            hdr.ipv6.destination: lpm @name("destination");
        }
        actions = {
            via;
            discard;
            local;
            @defaultonly no_route;
        }
        size = 1048576;
        default_action = no_route();
    }

    // `mtu` is the longest IP packet on the link.
    action forward(port_t port, mac_address_t source, mac_address_t destination, bit<16> mtu) {
        if (standard_metadata.packet_length > (bit<32>)mtu + 64) {
            meta.reason = TOO_BIG;
            meta.mtu = mtu;
        } else {
            standard_metadata.egress_spec = port;
            hdr.ethernet.source = source;
            hdr.ethernet.destination = destination;
        }
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

    // Congestion in the tunnel is congestion on the path; a packet that cannot be marked is dropped.
    action check_congestion(bit<2> ecn) {
        if (hdr.outer_ipv4.ecn == ECN_EXPERIENCED && ecn == ECN_NONE) {
            meta.reason = CONGESTED;
        }
    }

    action mark_ipv4() {
        // ~sum + ~m + m' (RFC 1624); the mark is in the last bits of a word.
        bit<17> sum = (bit<17>)(~hdr.ipv4.checksum) + (bit<17>)(ECN_EXPERIENCED - hdr.ipv4.ecn);
        hdr.ipv4.checksum = ~(sum[15:0] + (bit<16>)sum[16:16]);
        hdr.ipv4.ecn = ECN_EXPERIENCED;
    }

    action decapsulate() {
        hdr.outer_ethernet.setInvalid();
        hdr.outer_ipv4.setInvalid();
        hdr.outer_udp.setInvalid();
        hdr.vxlan.setInvalid();
    }

    apply {
        bit<8> ttl = 0;
        if (hdr.ipv4.isValid()) {
            ttl = hdr.ipv4.ttl;
            sources4.apply();
            if (meta.reason == NONE) {
                check_congestion(hdr.ipv4.ecn);
            }
            if (meta.reason == NONE) {
                routes4.apply();
            }
        } else {
            ttl = hdr.ipv6.hop_limit;
            sources6.apply();
            if (meta.reason == NONE) {
                check_congestion(hdr.ipv6.ecn);
            }
            if (meta.reason == NONE) {
                routes6.apply();
            }
        }
        if (meta.reason == NONE && ttl <= 1) {
            meta.reason = TTL_EXPIRED;
        }
        if (meta.reason == NONE) {
            meta.number = meta.hop;
            next_hops.apply();
        }
        if (meta.reason == NONE) {
            if (hdr.outer_ipv4.ecn == ECN_EXPERIENCED) {
                if (hdr.ipv4.isValid()) {
                    mark_ipv4();
                } else {
                    hdr.ipv6.ecn = ECN_EXPERIENCED;
                }
            }
            decapsulate();
        }
    }
}
