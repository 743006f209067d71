// A data centre gateway: services of the outside on servers behind VXLAN tunnels (RFC 7348).
//
// Inbound, a packet to a service goes to one of its servers, in a tunnel. Outbound, what comes out of tunnels is routed
// to the outside. All that is not forwarded has a reason, by which it is counted; with some reasons it goes to the
// controller, as it arrived, as far as a meter for its port and reason allows.

#include <core.p4>
#include <v1model.p4>
#include "parser.p4"
#include "checks.p4"
#include "inbound.p4"
#include "outbound.p4"

// What is for the gateway itself, or has no receiver: ARP, and packets to its addresses.
control Own(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action own() {
        meta.reason = hdr.arp.isValid() ? ARP : LOCAL;
    }

    // The gateway's addresses, by network: 0 outside, 0xffffff the underlay, others those of tenants.
    table own_addresses4 {
        key = {
            meta.network: exact @name("network");
            meta.target: exact @name("address") @format(IPV4_ADDRESS);
        }
        actions = {
            own;
            @defaultonly NoAction;
        }
        size = 65536;
        default_action = NoAction();
    }

    // Outside: the underlay has no IPv6, and tenants' packets have been routed.
    table own_addresses6 {
        key = {
            meta.network: exact @name("network");
            hdr.ipv6.destination: exact @name("address");
        }
        actions = {
            own;
            @defaultonly NoAction;
        }
        size = 512;
        default_action = NoAction();
    }

    action answer() {
        meta.reason = NONE;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
        hdr.ethernet.destination = hdr.ethernet.source;
        hdr.ethernet.source = meta.mac;
        hdr.arp.operation = ARP_REPLY;
        hdr.arp.target_mac = hdr.arp.sender_mac;
        hdr.arp.target_ip = hdr.arp.sender_ip;
        hdr.arp.sender_mac = meta.mac;
        hdr.arp.sender_ip = meta.target;
    }

    // Through the tunnel through which the request came.
    action return_tunnel() {
        mac_address_t mac = hdr.outer_ethernet.destination;
        ipv4_address_t address = hdr.outer_ipv4.destination;
        hdr.outer_ethernet.destination = hdr.outer_ethernet.source;
        hdr.outer_ethernet.source = mac;
        hdr.outer_ipv4.destination = hdr.outer_ipv4.source;
        hdr.outer_ipv4.source = address;
        hdr.outer_ipv4.ecn = ECN_NONE;
        hdr.outer_ipv4.ttl = OUTER_TTL;
        hdr.outer_udp.checksum = 0;
    }

    apply {
        meta.target = hdr.arp.isValid() ? hdr.arp.target_ip : hdr.ipv4.destination;
        if (meta.reason == NONE) {
            meta.reason = hdr.ipv6.isValid() ? OTHER_PROTOCOL : OTHER_STATION;
        }
        if (hdr.ipv4.isValid() && (hdr.ipv4.more_fragments == 1 || hdr.ipv4.fragment_offset != 0)) {
            // The gateway's own services need no long datagrams, and nothing is put together again.
            meta.reason = FRAGMENT;
        } else if (hdr.ipv6.isValid()) {
            own_addresses6.apply();
        } else {
            own_addresses4.apply();
        }
        if (meta.reason == ARP && hdr.arp.operation == ARP_REQUEST) {
            answer();
            if (hdr.vxlan.isValid()) {
                return_tunnel();
            }
        }
    }
}

// The packet crosses the gateway.
control LowerTtl(inout headers_t hdr) {
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
        if (hdr.ipv4.isValid()) {
            lower_ttl();
        } else {
            lower_hop_limit();
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

    action report() {
        hdr.packet_in.setValid();
        hdr.packet_in = { standard_metadata.ingress_port, meta.reason, meta.mtu, meta.number };
        standard_metadata.egress_spec = CPU_PORT;
    }

    apply {
        bool is_rigid = hdr.ipv6.isValid() || hdr.ipv4.dont_fragment == 1;
        if (meta.reason == TOO_BIG && !is_rigid) {
            meta.reason = NEEDS_FRAGMENTS;
        }
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
                report();
            }
        }
    }
}

control DcgIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    CheckArrival() check_arrival;
    CheckTunnel() check_tunnel;
    CheckFrame() check_frame;
    Inbound() inbound;
    Outbound() outbound;
    Own() own;
    LowerTtl() lower_ttl;
    Report() report;

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.port;
            hdr.packet_out.setInvalid();
        } else {
            bool is_ip = false;
            check_arrival.apply(hdr, meta, standard_metadata);
            if (meta.reason == NONE && hdr.vxlan.isValid()) {
                check_tunnel.apply(hdr, meta, standard_metadata);
            }
            if (meta.reason == NONE) {
                check_frame.apply(hdr, meta);
            }
            if (meta.reason == NONE) {
                is_ip = !hdr.arp.isValid() && meta.network != UNDERLAY;
                bool may_be_own = !is_ip;
                if (is_ip && meta.network == OUTSIDE) {
                    inbound.apply(hdr, meta, standard_metadata);
                    may_be_own = meta.reason == NO_SERVICE;
                } else if (is_ip) {
                    outbound.apply(hdr, meta, standard_metadata);
                }
                if (may_be_own) {
                    own.apply(hdr, meta, standard_metadata);
                }
            }
            if (meta.reason != NONE) {
                report.apply(hdr, meta, standard_metadata);
            } else if (is_ip) {
                lower_ttl.apply(hdr);
            }
        }
    }
}

control DcgEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

// Of the packet in a tunnel, what changes is taken into account where it changes.
control DcgComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.outer_ipv4.isValid(),
            { hdr.outer_ipv4.version, hdr.outer_ipv4.header_words, hdr.outer_ipv4.dscp, hdr.outer_ipv4.ecn,
              hdr.outer_ipv4.total_length, hdr.outer_ipv4.identification, hdr.outer_ipv4.reserved,
              hdr.outer_ipv4.dont_fragment, hdr.outer_ipv4.more_fragments, hdr.outer_ipv4.fragment_offset,
              hdr.outer_ipv4.ttl, hdr.outer_ipv4.protocol, hdr.outer_ipv4.source, hdr.outer_ipv4.destination },
            hdr.outer_ipv4.checksum, HashAlgorithm.csum16);
    }
}

V1Switch(DcgParser(), DcgVerifyChecksum(), DcgIngress(), DcgEgress(), DcgComputeChecksum(), DcgDeparser()) main;
