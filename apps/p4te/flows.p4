// What a leaf knows of the flows of its hosts, for the control of their rates: where it was controlled last, and what its
// receiver has acknowledged. From that it makes real acknowledgments of the orders that switches send.
//
// A flow's slot is a hash. The flow that came last has it; a second hash shows whether it is this one, so that no flow gets
// the numbers of others.

control Flows(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(FLOWS) signatures;
    // The sequence number at which the rate was controlled last.
    register<bit<32>>(FLOWS) controlled_at;
    // What the receiver has acknowledged, its own sequence number, its window as announced (0: not known yet) and the
    // shift of its windows.
    register<bit<32>>(FLOWS) acknowledgments;
    register<bit<32>>(FLOWS) sequences;
    register<bit<16>>(FLOWS) windows;
    register<bit<4>>(FLOWS) shifts;
    // Fake acknowledgments for hosts: narrower, wider, and those of flows that are not known.
    counter(3, CounterType.packets) fakes;

    bit<32> flow = 0;
    bit<32> signature = 0;
    bit<32> control_window = 0;

    // The rate of a flow is controlled at most once in this many bytes; 0 for never.
    action set_control_window(bit<32> bytes) {
        control_window = bytes;
    }

    table rate_control {
        actions = {
            set_control_window;
        }
        default_action = set_control_window(0);
    }

    // A packet of the flow's sender.
    action as_sent() {
        hash(flow, HashAlgorithm.crc16, 32w0,
             { meta.addresses.source, meta.addresses.destination, meta.addresses.source_port,
               meta.addresses.destination_port }, (bit<32>) FLOWS);
        hash(signature, HashAlgorithm.crc32, 32w0,
             { meta.addresses.source, meta.addresses.destination, meta.addresses.source_port,
               meta.addresses.destination_port }, 32w0xffffffff);
    }

    // A packet for the flow's sender.
    action as_answered() {
        hash(flow, HashAlgorithm.crc16, 32w0,
             { meta.addresses.destination, meta.addresses.source, meta.addresses.destination_port,
               meta.addresses.source_port }, (bit<32>) FLOWS);
        hash(signature, HashAlgorithm.crc32, 32w0,
             { meta.addresses.destination, meta.addresses.source, meta.addresses.destination_port,
               meta.addresses.source_port }, 32w0xffffffff);
    }

    // Adds to the marks of a packet.
    action forbid_control() {
        meta.addresses.traffic_class = meta.addresses.traffic_class | NOT_CONTROLLED;
    }

    // A flow of a host has the slot from now on.
    action begin() {
        signatures.write(flow, signature);
        controlled_at.write(flow, hdr.tcp.sequence - control_window);
        windows.write(flow, 0);
        shifts.write(flow, 0);
    }

    action note_acknowledgment() {
        acknowledgments.write(flow, hdr.tcp.acknowledgment);
        sequences.write(flow, hdr.tcp.sequence + (bit<32>) meta.addresses.payload_bytes);
        windows.write(flow, hdr.tcp.window);
    }

    // The numbers that the sender knows from its receiver, so that nothing counts as received that is not.
    action finish(bit<16> window) {
        hdr.tcp.window = window;
        meta.is_finished = true;
        controlled_at.write(flow, hdr.tcp.acknowledgment);
        acknowledgments.read(hdr.tcp.acknowledgment, flow);
        sequences.read(hdr.tcp.sequence, flow);
        hdr.tcp.sequence = hdr.tcp.sequence + SEQUENCE_STEP;
    }

    // Answers for a host are noted; orders for it become acknowledgments.
    action drop_order() {
        fakes.count(2);
        mark_to_drop(standard);
    }

    apply {
        rate_control.apply();
        bit<32> owner;
        if (meta.is_from_host) {
            // The marks of the network are not the host's.
            meta.addresses.traffic_class = meta.addresses.traffic_class & ~(FAKE | WIDER | NOT_CONTROLLED);
            if (hdr.tcp.isValid() && control_window != 0) {
                as_sent();
                signatures.read(owner, flow);
                if (owner != signature) {
                    begin();
                }
                bit<32> since;
                controlled_at.read(since, flow);
                if (hdr.tcp.sequence - since < control_window) {
                    forbid_control();
                }
            }
        }
        if (meta.is_down && hdr.tcp.isValid() && control_window != 0) {
            as_answered();
            signatures.read(owner, flow);
            bit<16> window;
            windows.read(window, flow);
            if ((meta.addresses.traffic_class & FAKE) != 0) {
                bit<4> shift;
                shifts.read(shift, flow);
                bit<32> asked = (bit<32>) window >> 1;
                bit<32> least = (bit<32>) WINDOW_MIN >> shift;
                bit<32> number = 0;
                if ((meta.addresses.traffic_class & WIDER) != 0) {
                    asked = (bit<32>) window + ((bit<32>) window >> 2);
                    number = 1;
                }
                asked = asked < least ? least : asked;
                asked = asked > 0xffff ? 32w0xffff : asked;
                if (owner == signature && window != 0) {
                    fakes.count(number);
                    finish((bit<16>) asked);
                } else {
                    drop_order();
                }
            } else if (owner == signature && (hdr.tcp.flags & TCP_SYN) != 0) {
                shifts.write(flow, meta.shift);
            } else if (owner == signature && (hdr.tcp.flags & TCP_ACK) != 0) {
                bit<32> known;
                acknowledgments.read(known, flow);
                // Not what others have overtaken.
                if (window == 0 || hdr.tcp.acknowledgment - known < 0x80000000) {
                    note_acknowledgment();
                }
            }
        }
    }
}
