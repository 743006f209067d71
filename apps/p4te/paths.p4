// Which way a packet takes: down by its address; up by algorithm 2, for each flowlet anew.

control Paths(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    // A flowlet's slot is a hash of its addresses and ports.
    register<bit<48>>(FLOWS) last_seen;
    register<bit<9>>(FLOWS) last_port;
    // The colour of each port's meter, as egress has reported it.
    register<bit<2>>(512) port_utilisations;

    action_selector(HashAlgorithm.crc16, 512, 16) queue_paths;
    action_selector(HashAlgorithm.crc32, 512, 16) utilisation_paths;

    bit<9> low_queue_port = 0;
    bit<9> low_utilisation_port = 0;
    bit<48> gap = 0;

    // A host, or a switch below.
    action deliver(bit<9> port, bit<48> source, bit<48> destination) {
        standard.egress_spec = port;
        hdr.ethernet.source = source;
        hdr.ethernet.destination = destination;
        meta.is_down = true;
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

    action low_queue(bit<9> port) {
        low_queue_port = port;
    }

    // Routing groups of ports with a similar queue; the shortest has the greatest priority. The time has flowlets of a
    // flow take different ports of a group.
    table up_by_queue {
        key = {
            meta.addresses.destination: ternary;
            meta.addresses.source: selector;
            meta.addresses.destination: selector;
            meta.addresses.source_port: selector;
            meta.addresses.destination_port: selector;
            standard.ingress_global_timestamp: selector;
        }
        actions = {
            low_queue;
            NoAction;
        }
        implementation = queue_paths;
        size = 1024;
    }

    action low_utilisation(bit<9> port) {
        low_utilisation_port = port;
    }

    // Routing groups of ports with the same colour; green has the greatest priority.
    table up_by_utilisation {
        key = {
            meta.addresses.destination: ternary;
            meta.addresses.source: selector;
            meta.addresses.destination: selector;
            meta.addresses.source_port: selector;
            meta.addresses.destination_port: selector;
            standard.ingress_global_timestamp: selector;
        }
        actions = {
            low_utilisation;
            NoAction;
        }
        implementation = utilisation_paths;
        size = 1024;
    }

    action set_gap(bit<48> microseconds) {
        gap = microseconds;
    }

    // After such a pause a flow takes another path.
    table flowlets {
        actions = {
            set_gap;
        }
        default_action = set_gap(40000);
    }

    apply {
        if (meta.role == COLOUR_REPORT) {
            port_utilisations.write((bit<32>) meta.port, meta.colour);
            mark_to_drop(standard);
            return;
        }
        if (down.apply().hit) {
            return;
        }
        up_by_queue.apply();
        up_by_utilisation.apply();
        flowlets.apply();

        bit<32> flow;
        hash(flow, HashAlgorithm.crc32, 32w0,
             { meta.addresses.source, meta.addresses.destination, meta.addresses.source_port,
               meta.addresses.destination_port, meta.addresses.flow_label, meta.addresses.protocol }, (bit<32>) FLOWS);
        bit<48> before;
        last_seen.read(before, flow);
        last_seen.write(flow, standard.ingress_global_timestamp);
        bit<9> port;
        last_port.read(port, flow);
        if (port == 0 || standard.ingress_global_timestamp - before >= gap) {
            bit<2> colour;
            if ((meta.addresses.traffic_class & CLASS_MASK) == CLASS_LARGE) {
                port_utilisations.read(colour, (bit<32>) low_utilisation_port);
                port = colour == GREEN ? low_utilisation_port : low_queue_port;
            } else {
                port_utilisations.read(colour, (bit<32>) low_queue_port);
                port = colour == GREEN ? low_queue_port : low_utilisation_port;
            }
            last_port.write(flow, port);
        }
        if (port == 0) {
            mark_to_drop(standard);
        } else {
            standard.egress_spec = port;
        }
    }
}
