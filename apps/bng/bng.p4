// A broadband network gateway: subscribers reach the Internet through GRE tunnels and share public IPv4 addresses.
//
// A packet is forwarded up (out of a subscriber's tunnel, its source translated), down (its destination translated, into
// a subscriber's tunnel), or both: from one subscriber to another. All others have a reason, by which they are counted;
// with some reasons they go to the controller, unchanged, as far as a meter for their subscriber and reason allows.

#include <core.p4>
#include <v1model.p4>
#include "parser.p4"
#include "checks.p4"
#include "nat.p4"
#include "subscribers.p4"

// Finds the next hop.
control Routing(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action via(hop_t hop) {
        meta.hop = hop;
    }

    action no_route() {
        meta.reason = NO_ROUTE;
    }

    // To tunnel ends, and to the Internet: two networks, whose addresses may overlap.
    table access_routes {
        key = {
            meta.tunnel_destination: lpm @name("destination");
        }
        actions = {
            via;
            @defaultonly no_route;
        }
        size = 131072;
        default_action = no_route();
    }

    table core_routes {
        key = {
            hdr.ipv4.destination: lpm @name("destination");
        }
        actions = {
            via;
            @defaultonly no_route;
        }
        size = 1048576;
        default_action = no_route();
    }

    action forward(port_t port, mac_address_t source, mac_address_t destination) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = source;
        hdr.ethernet.destination = destination;
    }

    action no_next_hop() {
        meta.reason = NO_NEXT_HOP;
    }

    table next_hops {
        key = {
            meta.hop: exact @name("hop");
        }
        actions = {
            forward;
            @defaultonly no_next_hop;
        }
        size = 65536;
        default_action = no_next_hop();
    }

    apply {
        if (meta.is_download) {
            access_routes.apply();
        } else {
            core_routes.apply();
        }
        if (meta.reason == NONE) {
            next_hops.apply();
        }
    }
}

// Decides what becomes of a packet that has passed the checks.
control Subscribers(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Sender() sender;
    Receiver() receiver;
    TranslateSource() translate_source;
    TranslateDestination() translate_destination;
    Rates() rates;
    Routing() routing;

    // The gateway itself.
    action local() {
        meta.reason = LOCAL;
    }

    // Public addresses of subscribers.
    action pool() {
        meta.is_download = true;
    }

    table addresses {
        key = {
            hdr.ipv4.destination: lpm @name("destination");
        }
        actions = {
            local;
            pool;
            @defaultonly NoAction;
        }
        size = 4096;
        default_action = NoAction();
    }

    action check_way() {
        if (meta.side == Side.CORE && !meta.is_download) {
            meta.reason = NOT_OURS;
        } else if (meta.side == Side.ACCESS && !hdr.outer.isValid()) {
            meta.reason = NOT_TUNNELLED;
        }
    }

    apply {
        meta.new_source = hdr.ipv4.source;
        meta.new_destination = hdr.ipv4.destination;
        meta.new_source_port = meta.source_port;
        meta.new_destination_port = meta.destination_port;
        if (hdr.outer.isValid()) {
            sender.apply(hdr, meta);
        }
        if (meta.reason == NONE) {
            addresses.apply();
        }
        if (meta.reason == NONE) {
            check_way();
        }
        if (meta.reason == NONE && hdr.ipv4.ttl <= 1) {
            meta.reason = TTL_EXPIRED;
        }
        if (meta.reason == NONE && meta.side == Side.ACCESS) {
            translate_source.apply(hdr, meta);
        }
        if (meta.reason == NONE && meta.is_download) {
            translate_destination.apply(hdr, meta);
            if (meta.reason == NONE) {
                receiver.apply(hdr, meta);
            }
        }
        if (meta.reason == NONE) {
            rates.apply(meta);
        }
        if (meta.reason == NONE) {
            routing.apply(hdr, meta, standard_metadata);
        }
    }
}

// What becomes of packets with a reason.
control Report(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // By reason: packets that were not forwarded, and those of them that the meter kept from the controller.
    counter(32, CounterType.packets_and_bytes) reasons;
    counter(8, CounterType.packets_and_bytes) kept;

    // By reason and the low bits of the subscriber's number: a subscriber who floods holds up few others. Of ARP answers,
    // by port and the low bits of the sender's address. Without rates everything goes to the controller.
    meter(65536, MeterType.packets) to_controller;
    meter(131072, MeterType.packets) arp_to_controller;

    // What all of them may send together, so that no queue on the way fills up: of ARP answers by port, of all others in
    // the last cell. So whatever subscribers do, next hops are found.
    meter(512, MeterType.packets) to_controller_in_all;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action punt() {
        hdr.packet_in.setValid();
        hdr.packet_in = { meta.port, meta.reason, meta.sender };
        standard_metadata.egress_spec = CPU_PORT;
    }

    apply {
        reasons.count((bit<32>)meta.reason);
        if (meta.reason >= FIRST_DROP) {
            drop();
        } else {
            bit<2> colour = 0;
            if (meta.reason == ARP) {
                arp_to_controller.execute_meter((bit<32>)(meta.port ++ hdr.arp.sender_ip[7:0]), colour);
            } else {
                to_controller.execute_meter((bit<32>)(meta.sender[12:0] ++ meta.reason[2:0]), colour);
            }
            // What is kept away by one does not use up the other.
            bit<2> colour_in_all = 0;
            if (colour != RED) {
                bit<9> cell = meta.reason == ARP ? meta.port : IN_ALL;
                to_controller_in_all.execute_meter((bit<32>)cell, colour_in_all);
            }
            if (colour == RED || colour_in_all == RED) {
                kept.count((bit<32>)meta.reason);
                drop();
            } else {
                punt();
            }
        }
    }
}

control GatewayIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Check() check;
    ArpProxy() arp;
    Subscribers() subscribers;
    Account() account;
    Rewrite() rewrite;
    Encapsulate() encapsulate;
    Report() report;

    apply {
        if (hdr.packet_out.isValid() && hdr.packet_out.mode == MODE_PORT) {
            standard_metadata.egress_spec = hdr.packet_out.port;
        } else {
            check.apply(hdr, meta, standard_metadata);
            if (meta.reason != NONE) {
                // Not a whole packet for the gateway.
            } else if (hdr.arp.isValid()) {
                arp.apply(hdr, meta, standard_metadata);
            } else {
                subscribers.apply(hdr, meta, standard_metadata);
                if (meta.reason == NONE) {
                    account.apply(meta);
                    rewrite.apply(hdr, meta);
                    encapsulate.apply(hdr, meta);
                }
            }
            if (meta.reason != NONE) {
                report.apply(hdr, meta, standard_metadata);
            }
        }
        hdr.packet_out.setInvalid();
    }
}

control GatewayEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

// That of the inner header is updated by Rewrite.
control GatewayComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.outer.isValid(),
            { hdr.outer.version, hdr.outer.header_words, hdr.outer.class, hdr.outer.ecn, hdr.outer.total_length,
              hdr.outer.identification, hdr.outer.reserved, hdr.outer.do_not_fragment, hdr.outer.more_fragments,
              hdr.outer.fragment_offset, hdr.outer.ttl, hdr.outer.protocol, hdr.outer.source,
              hdr.outer.destination },
            hdr.outer.checksum, HashAlgorithm.csum16);
    }
}

V1Switch(GatewayParser(), GatewayVerifyChecksum(), GatewayIngress(), GatewayEgress(), GatewayComputeChecksum(),
         GatewayDeparser()) main;
