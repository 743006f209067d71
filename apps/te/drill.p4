// Like DRILL (Ghorbani et al., SIGCOMM 2017): each packet goes to the port with the shortest queue among two at random and
// the best one of the packet before. The lengths of queues are not visible in ingress; here they are estimated by what
// was sent to each port and the rate at which it leaves.

control Drill(inout metadata_t meta, inout standard_metadata_t standard, out bit<9> port) {
    register<bit<64>>(512) backlogs;
    register<bit<48>>(512) updated_at;
    register<bit<9>>(1) best;

    bit<16> ports = 0;
    bit<9> candidate = 0;
    bit<32> drain = 0;
    bit<64> backlog = 0;
    bit<48> now = standard.ingress_global_timestamp;

    // How many ports lead up.
    action set_ports(bit<16> count) {
        ports = count;
    }

    table choices {
        actions = {
            set_ports;
        }
        default_action = set_ports(0);
    }

    action set_candidate(bit<9> out_port) {
        candidate = out_port;
    }

    // The ports that lead up, by numbers from 0 on.
    table candidates {
        key = {
            meta.choice: exact;
        }
        actions = {
            set_candidate;
            NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    action set_drain(bit<32> per_microsecond) {
        drain = per_microsecond;
    }

    // What leaves by a port, in parts of 1/1024 of a byte a microsecond.
    table drains {
        key = {
            candidate: exact;
        }
        actions = {
            set_drain;
            NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    // The backlog of the candidate as of now.
    action estimate() {
        bit<48> then;
        backlogs.read(backlog, (bit<32>) candidate);
        updated_at.read(then, (bit<32>) candidate);
        backlog = backlog |-| (bit<64>) (now - then) * (bit<64>) drain;
    }

    action note(bit<64> length) {
        backlogs.write((bit<32>) port, length + ((bit<64>) standard.packet_length << 10));
        updated_at.write((bit<32>) port, now);
        best.write(0, port);
    }

    apply {
        choices.apply();
        bit<64> least = 0xffffffffffffffff;
        bit<9> last;
        best.read(last, 0);
        port = 0;
        if (ports != 0) {
            random(meta.choice, 16w0, ports - 1);
            candidates.apply();
            drains.apply();
            estimate();
            port = candidate;
            least = backlog;
            random(meta.choice, 16w0, ports - 1);
            candidates.apply();
            drains.apply();
            estimate();
            if (backlog < least) {
                port = candidate;
                least = backlog;
            }
            if (last != 0) {
                candidate = last;
                drains.apply();
                estimate();
                if (backlog < least) {
                    port = candidate;
                    least = backlog;
                }
            }
            note(least);
        }
    }
}
