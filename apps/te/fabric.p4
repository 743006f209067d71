// The baselines that P4TE is compared with: leaves and spines run this program. A macro selects how an upward packet
// gets its path: ECMP (a hash of the flow; also without any macro), FLOWLET (a hash of the flow and the number of its
// flowlet), LETFLOW (at random for each flowlet), CONGA (the least congested path to the destination's leaf for each
// flowlet), HULA (the best hop to it), POLLED (the port that a controller has set for it), DRILL (the shortest of three
// queues for each packet).

#include <core.p4>
#include <v1model.p4>

#ifdef HULA
#define PROBES
#define FLOWLETS
#define LEAVES
#endif
#ifdef CONGA
#define OVERLAY
#define FLOWLETS
#define LEAVES
#endif
#ifdef POLLED
#define FLOWLETS
#define LEAVES
#endif
#ifdef LETFLOW
#define FLOWLETS
#endif
#ifdef FLOWLET
#define FLOWLETS
#endif

// Flows that are distinguished.
#ifndef FLOWS
#define FLOWS 65536
#endif

// The queue of probes; switches with several queues serve the greatest first.
#ifndef PROBE_PRIORITY
#define PROBE_PRIORITY 0
#endif

#include "headers.p4"

const bit<16> ETHERTYPE_PROBE = 0x88b5;
const bit<16> ETHERTYPE_OVERLAY = 0x88b6;

// The utilisation of the most loaded link from here to a leaf.
header probe_t {
    bit<16> leaf;
    bit<32> utilisation;
}

// Between leaves: where a packet comes from and by which uplink, the greatest congestion on its way, and what arrived by
// an uplink of the other leaf.
header overlay_t {
    bit<16> source;
    bit<8> path;
    bit<8> congestion;
    bit<8> feedback_path;
    bit<8> feedback;
    bit<16> ethertype;
}

struct headers_t {
    ethernet_t ethernet;
    probe_t probe;
    overlay_t overlay;
    ipv6_t ipv6;
    ipv4_t ipv4;
    udp_t udp;
    tcp_t tcp;
}

struct metadata_t {
    addresses_t addresses;
    bit<16> choice;
    // The leaf of the destination.
    bit<16> leaf;
    // What a port carries.
    bit<32> utilisation;
}

#include "parser.p4"
#include "addresses.p4"
#include "checksums.p4"
#include "estimator.p4"
#ifdef HULA
#include "hula.p4"
#endif
#ifdef CONGA
#include "conga.p4"
#endif
#ifdef POLLED
#include "polled.p4"
#endif
#ifdef DRILL
#include "drill.p4"
#endif

control FabricIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
#ifdef FLOWLETS
    register<bit<48>>(FLOWS) last_seen;
    register<bit<9>>(FLOWS) last_port;
#endif
#ifdef FLOWLET
    register<bit<16>>(FLOWS) flowlet_numbers;
#endif
    action_selector(HashAlgorithm.identity, 512, 16) paths;
    ReadAddresses() read_addresses;
    Hop() hop;
#ifdef HULA
    Estimator() estimator;
    Hula() hula;
#endif
#ifdef CONGA
    Estimator() estimator;
    Conga() conga;
#endif
#ifdef POLLED
    Polled() polled;
#endif
#ifdef DRILL
    Drill() drill;
#endif

    bit<48> gap = 0;
    bit<32> flow = 0;
    bit<9> port = 0;

    action deliver(bit<9> out_port, bit<48> source, bit<48> destination) {
        standard.egress_spec = out_port;
        hdr.ethernet.source = source;
        hdr.ethernet.destination = destination;
    }

    table down {
        key = {
            meta.addresses.destination: lpm;
        }
        actions = {
            deliver;
            NoAction;
        }
        default_action = NoAction();
        size = 4096;
    }

    action use_port(bit<9> out_port) {
        port = out_port;
    }

    // All ports that lead up.
    table up {
        key = {
            meta.addresses.destination: ternary;
            meta.choice: selector;
        }
        actions = {
            use_port;
            NoAction;
        }
        implementation = paths;
        size = 1024;
    }

#ifdef LEAVES
    action set_leaf(bit<16> leaf) {
        meta.leaf = leaf;
    }

    // Behind which leaf an address is.
    table leaves {
        key = {
            meta.addresses.destination: lpm;
        }
        actions = {
            set_leaf;
            NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }
#endif

    action set_gap(bit<48> microseconds) {
        gap = microseconds;
    }

    table flowlets {
        actions = {
            set_gap;
        }
        default_action = set_gap(40000);
    }

    // The choice of a flow, or of one of its flowlets.
    action choose(bit<16> number) {
        hash(meta.choice, HashAlgorithm.crc16, 16w0,
             { meta.addresses.source, meta.addresses.destination, meta.addresses.source_port,
               meta.addresses.destination_port, meta.addresses.protocol, number }, 32w0x10000);
    }

    apply {
#ifdef HULA
        if (hdr.probe.isValid()) {
            standard.priority = PROBE_PRIORITY;
            estimator.apply(meta, standard, standard.ingress_port, 0);
            hula.apply(hdr, meta, standard, TAKE_PROBE, port);
            return;
        }
#endif
        if (standard.parser_error != error.NoError || !(hdr.ipv6.isValid() || hdr.ipv4.isValid())) {
            mark_to_drop(standard);
            return;
        }
        bool is_dead;
        hop.apply(hdr, is_dead);
        if (is_dead) {
            mark_to_drop(standard);
            return;
        }
        read_addresses.apply(hdr, meta.addresses);
        if (down.apply().hit) {
#ifdef CONGA
            if (hdr.overlay.isValid()) {
                conga.apply(hdr, meta, standard, ARRIVE, port);
            }
#endif
        } else {
            flowlets.apply();
#ifdef LEAVES
            leaves.apply();
#endif
#ifdef FLOWLETS
            hash(flow, HashAlgorithm.crc32, 32w0,
                 { meta.addresses.source, meta.addresses.destination, meta.addresses.source_port,
                   meta.addresses.destination_port, meta.addresses.protocol }, (bit<32>) FLOWS);
            bit<48> before;
            last_seen.read(before, flow);
            last_seen.write(flow, standard.ingress_global_timestamp);
            last_port.read(port, flow);
            bool is_new = port == 0 || standard.ingress_global_timestamp - before >= gap;
#else
            bool is_new = true;
#endif
#ifdef HULA
            // A port that brings no probes leads nowhere.
            if (!is_new) {
                hula.apply(hdr, meta, standard, CHECK_PORT, port);
                is_new = port == 0;
            }
#endif
            if (is_new) {
                bit<16> number = 0;
#ifdef FLOWLET
                flowlet_numbers.read(number, flow);
                number = number + 1;
                flowlet_numbers.write(flow, number);
#endif
#ifdef LETFLOW
                random(meta.choice, 16w0, 16w0xffff);
#else
                choose(number);
#endif
                port = 0;
#ifdef HULA
                hula.apply(hdr, meta, standard, FIND_BEST, port);
#endif
#ifdef CONGA
                conga.apply(hdr, meta, standard, CHOOSE, port);
#endif
#ifdef POLLED
                polled.apply(meta, FIND_PORT, port);
#endif
#ifdef DRILL
                drill.apply(meta, standard, port);
#endif
                if (port == 0) {
                    up.apply();
                }
#ifdef FLOWLETS
                last_port.write(flow, port);
#endif
            }
            if (port == 0) {
                mark_to_drop(standard);
                return;
            }
            standard.egress_spec = port;
        }
#ifdef POLLED
        port = standard.egress_spec;
        polled.apply(meta, COUNT, port);
#endif
#ifdef HULA
        estimator.apply(meta, standard, standard.egress_spec, standard.packet_length);
#endif
#ifdef CONGA
        estimator.apply(meta, standard, standard.egress_spec, standard.packet_length);
        port = standard.egress_spec;
        conga.apply(hdr, meta, standard, LEAVE, port);
#endif
    }
}

control FabricEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Mark() mark;
    bit<19> mark_from = 0x7ffff;

    action set_marks(bit<19> packets) {
        mark_from = packets;
    }

    // Packets that find this many in the queue are marked.
    table marking {
        actions = {
            set_marks;
        }
        default_action = set_marks(0x7ffff);
    }

    apply {
        marking.apply();
        mark.apply(hdr, standard.enq_qdepth >= mark_from);
    }
}

V1Switch(FabricParser(), NoVerification(), FabricIngress(), FabricEgress(), FabricChecksums(), FabricDeparser()) main;
