// HULA: the best next hop to each leaf, as probes of the leaves report it.
//
// A probe goes from its leaf away from it. It arrives by the port by which packets to the leaf would leave, so this
// port's own utilisation (`meta.utilisation`) is the last link of their way.

// What is to be done.
const bit<2> TAKE_PROBE = 0;
const bit<2> CHECK_PORT = 1;
const bit<2> FIND_BEST = 2;

// Multicast groups: of probes of the own controller, and of those from a port.
const bit<16> FROM_CONTROLLER = 1;
const bit<16> FROM_PORT = 1000;

control Hula(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard, in bit<2> task,
             inout bit<9> port) {
    // When a port has brought a probe.
    register<bit<48>>(512) port_seen;
    register<bit<9>>(1024) best_port;
    register<bit<32>>(1024) best_utilisation;
    register<bit<48>>(1024) best_seen;

    bit<16> own_leaf = 0;
    bit<48> age = 0;
    bit<32> scale = 256;
    bit<48> now = standard.ingress_global_timestamp;

    // The own number, 0 for none; after how many microseconds without probes a way is not believed any more.
    action set_hula(bit<16> leaf, bit<48> microseconds) {
        own_leaf = leaf;
        age = microseconds;
    }

    table hula {
        actions = {
            set_hula;
        }
        default_action = set_hula(0, 1000000);
    }

    // Slower links are fuller with the same bytes: 256 for the fastest.
    action set_scale(bit<32> factor) {
        scale = factor;
    }

    table capacities {
        key = {
            port: exact;
        }
        actions = {
            set_scale;
            NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    action note_best(bit<32> utilisation) {
        best_port.write((bit<32>) hdr.probe.leaf, standard.ingress_port);
        best_utilisation.write((bit<32>) hdr.probe.leaf, utilisation);
        best_seen.write((bit<32>) hdr.probe.leaf, now);
    }

    apply {
        hula.apply();
        bit<48> seen;
        if (task == CHECK_PORT) {
            port_seen.read(seen, (bit<32>) port);
            port = now - seen > age ? 9w0 : port;
        } else if (task == FIND_BEST) {
            best_port.read(port, (bit<32>) meta.leaf);
            best_seen.read(seen, (bit<32>) meta.leaf);
            port = now - seen > age ? 9w0 : port;
        } else if (standard.ingress_port == CPU_PORT) {
            hdr.probe.leaf = own_leaf;
            hdr.probe.utilisation = 0;
            standard.mcast_grp = FROM_CONTROLLER;
        } else if (hdr.probe.leaf == own_leaf || hdr.probe.leaf >= 1024) {
            mark_to_drop(standard);
        } else {
            port = standard.ingress_port;
            port_seen.write((bit<32>) port, now);
            capacities.apply();
            bit<32> utilisation = (bit<32>) (((bit<64>) meta.utilisation * (bit<64>) scale) >> 8);
            utilisation = utilisation > hdr.probe.utilisation ? utilisation : hdr.probe.utilisation;
            bit<9> known;
            bit<32> least;
            best_port.read(known, (bit<32>) hdr.probe.leaf);
            best_utilisation.read(least, (bit<32>) hdr.probe.leaf);
            best_seen.read(seen, (bit<32>) hdr.probe.leaf);
            if (known == port || known == 0 || utilisation < least || now - seen > age) {
                note_best(utilisation);
                hdr.probe.utilisation = utilisation;
                standard.mcast_grp = FROM_PORT + (bit<16>) port;
            } else {
                mark_to_drop(standard);
            }
        }
    }
}
