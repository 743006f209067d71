// Egress: monitoring (algorithm 1), marks, and the decision whether a sender is to be faster or slower.

// No other switch is to control the rate of this packet's flow.
control ForbidControl(inout headers_t hdr) {
    apply {
        if (hdr.ipv6.isValid()) {
            hdr.ipv6.traffic_class = hdr.ipv6.traffic_class | NOT_CONTROLLED;
        } else {
            hdr.ipv4.traffic_class = hdr.ipv4.traffic_class | NOT_CONTROLLED;
        }
    }
}

control P4teEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<19>>(512) old_depths;
    register<bit<2>>(512) old_colours;
    direct_meter<bit<2>>(MeterType.METERED) utilisation;
    Mark() mark;
    ForbidControl() forbid_control;

    bit<19> delta = 0;
    bit<19> mark_from = 0x7ffff;
    bit<1> controls_rates = 0;

    // How much longer or shorter a queue has become when its length is reported, and whether rates are controlled.
    action set_monitoring(bit<19> packets, bit<1> has_rate_control) {
        delta = packets;
        controls_rates = has_rate_control;
    }

    table monitoring {
        actions = {
            set_monitoring;
        }
        default_action = set_monitoring(2, 0);
    }

    // Packets that find this many in the queue are marked.
    action set_marks(bit<19> packets) {
        mark_from = packets;
        utilisation.read(meta.colour);
    }

    table links {
        key = {
            standard.egress_port: exact;
        }
        actions = {
            set_marks;
            NoAction;
        }
        default_action = NoAction();
        meters = utilisation;
        size = 512;
    }

    action report() {
        hdr.report.setValid();
        hdr.report.port = (bit<16>) meta.port;
        hdr.report.queue_event = meta.queue_event;
        hdr.report.utilisation_event = meta.utilisation_event;
        hdr.report.depth = (bit<32>) meta.depth;
        hdr.report.colour = (bit<8>) meta.colour;
        truncate(REPORT_BYTES);
    }

    action report_colour() {
        meta.role = COLOUR_REPORT;
        recirculate_preserving_field_list(1);
    }

    // An order to the sender of this packet. The leaf of the sender makes an acknowledgment of it; the number in it says
    // at which byte the rate was controlled.
    action answer() {
        meta.role = FAKE_ACKNOWLEDGMENT;
        bit<16> port = hdr.tcp.source;
        hdr.tcp.source = hdr.tcp.destination;
        hdr.tcp.destination = port;
        hdr.tcp.acknowledgment = hdr.tcp.sequence;
        hdr.tcp.sequence = 0;
        hdr.tcp.header_words = 5;
        hdr.tcp.reserved = 0;
        hdr.tcp.flags = TCP_ACK;
        hdr.tcp.window = 0;
        hdr.tcp.urgent = 0;
        recirculate_preserving_field_list(1);
    }

    action answer_v6() {
        bit<128> address = hdr.ipv6.source;
        hdr.ipv6.source = hdr.ipv6.destination;
        hdr.ipv6.destination = address;
        hdr.ipv6.payload_length = 20;
        hdr.ipv6.hop_limit = 64;
        hdr.ipv6.traffic_class = (hdr.ipv6.traffic_class & CLASS_MASK) | meta.verdict;
    }

    action answer_v4() {
        bit<32> address = hdr.ipv4.source;
        hdr.ipv4.source = hdr.ipv4.destination;
        hdr.ipv4.destination = address;
        hdr.ipv4.total_length = 40;
        hdr.ipv4.ttl = 64;
        hdr.ipv4.traffic_class = (hdr.ipv4.traffic_class & CLASS_MASK) | meta.verdict;
    }

    // Algorithm 1, lines 1 to 11: whether the queue has become longer or shorter by delta.
    action note_depth() {
        old_depths.write((bit<32>) standard.egress_port, meta.depth);
    }

    apply {
        if (standard.instance_type == CLONED_IN_EGRESS) {
            if (standard.egress_rid == FOR_CONTROLLER) {
                report();
            } else if (standard.egress_rid == FOR_COLOURS) {
                report_colour();
            } else {
                answer();
                if (hdr.ipv6.isValid()) {
                    answer_v6();
                } else {
                    answer_v4();
                }
            }
            return;
        }
        monitoring.apply();
        meta.port = standard.egress_port;
        meta.depth = standard.QUEUE_DEPTH;
        bit<19> last_depth;
        old_depths.read(last_depth, (bit<32>) standard.egress_port);
        if (meta.depth >= last_depth + delta) {
            meta.queue_event = INCREASE;
            note_depth();
        } else if (last_depth >= delta && meta.depth <= last_depth - delta) {
            meta.queue_event = DECREASE;
            note_depth();
        }

        // Lines 12 to 20: whether the port has another colour.
        bit<2> last_colour;
        old_colours.read(last_colour, (bit<32>) standard.egress_port);
        meta.colour = GREEN;
        links.apply();
        old_colours.write((bit<32>) standard.egress_port, meta.colour);
#ifdef COLOURS_AS_RELEASED
        if (meta.colour != GREEN) {
            meta.utilisation_event = INCREASE;
        }
#else
        if (last_colour < meta.colour) {
            meta.utilisation_event = INCREASE;
        } else if (last_colour > meta.colour) {
            meta.utilisation_event = DECREASE;
        }
#endif
        mark.apply(hdr, standard.enq_qdepth >= mark_from);

        // Lines 21 to 25: who is to know of it. Section 4.3.1: whose rate is to change.
        bit<32> session = 0;
        if (meta.queue_event != 0) {
#ifdef COLOURS_AS_RELEASED
            session = TO_CONTROLLER | TO_COLOURS;
#else
            session = TO_CONTROLLER;
#endif
        }
        if (meta.utilisation_event != 0) {
            session = TO_CONTROLLER | TO_COLOURS;
        }
        bool may_control = controls_rates == 1 && meta.role == 0 && hdr.tcp.isValid()
            && meta.addresses.payload_bytes > 0 && (meta.addresses.traffic_class & NOT_CONTROLLED) == 0
            && meta.incoming_colour != GREEN;
        if (may_control && (meta.colour == RED || meta.colour == GREEN)) {
            meta.verdict = meta.colour == RED ? FAKE : FAKE | WIDER;
            session = session | TO_SENDER;
            if (!meta.leaves_network) {
                forbid_control.apply(hdr);
            }
        }
        if (session != 0) {
            clone_preserving_field_list(CloneType.E2E, session, 1);
        }
        // Nothing of the packet that a fake acknowledgment was made of goes with it.
        if (meta.is_finished || (meta.addresses.traffic_class & FAKE) != 0) {
            truncate(hdr.ipv6.isValid() ? 32w74 : 32w54);
        }
    }
}
