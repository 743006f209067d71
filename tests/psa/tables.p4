// What tables have in PSA: direct counters and meters, profiles, selectors, the actions of psa.p4, idle timeouts.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8> which;
    bit<8> key;
    bit<8> color;
    bit<8> before;
}

struct headers_t {
    note_t note;
}

#include "plain.inc"

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    DirectCounter<bit<32>>(PSA_CounterType_t.PACKETS) hits;
    DirectMeter(PSA_MeterType_t.PACKETS) rate;
    Meter<bit<8>>(4, PSA_MeterType_t.PACKETS) rates;
    ActionProfile(16) profile;
    ActionSelector(PSA_HashAlgorithm_t.IDENTITY, 16, 8) selector;

    PSA_MeterColor_t color = PSA_MeterColor_t.RED;

    action counted(bit<8> port) {
        hits.count();
        send_to_port(ostd, (PortId_t) (PortIdUint_t) port);
    }
    action metered() {
        color = rate.execute();
    }
    action metered_after() {
        color = rate.execute(PSA_MeterColor_t.YELLOW);
    }
    action forward(bit<8> port) {
        send_to_port(ostd, (PortId_t) (PortIdUint_t) port);
    }

    table to {
        key = { hdr.note.key : exact; }
        actions = { forward; ingress_drop(ostd); counted; NoAction; }
        default_action = NoAction;
        psa_direct_counter = hits;
        psa_idle_timeout = PSA_IdleTimeout_t.NOTIFY_CONTROL;
    }
    table meters {
        key = { hdr.note.key : exact; }
        actions = { metered; metered_after; }
        const entries = {
            1 : metered();
            2 : metered_after();
        }
        psa_direct_meter = rate;
    }
    table shared_table {
        key = { hdr.note.key : exact; }
        actions = { forward; NoAction; }
        psa_implementation = profile;
    }
    table selected {
        key = {
            hdr.note.key    : exact;
            hdr.note.before : selector;
        }
        actions = { forward; NoAction; }
        psa_implementation = selector;
        psa_empty_group_action = NoAction();
    }

    action number(in PSA_MeterColor_t c) {
        if (c == PSA_MeterColor_t.RED) {
            hdr.note.color = 0x0d;
        } else if (c == PSA_MeterColor_t.YELLOW) {
            hdr.note.color = 0x0e;
        } else {
            hdr.note.color = 0x09;
        }
    }

    apply {
        if (hdr.note.which == 0) {
            to.apply();
        } else if (hdr.note.which == 1) {
            meters.apply();
            number(color);
            send_to_port(ostd, (PortId_t) 1);
        } else if (hdr.note.which == 2) {
            PSA_MeterColor_t before = PSA_MeterColor_t.GREEN;
            if (hdr.note.before == 1) {
                before = PSA_MeterColor_t.YELLOW;
            } else if (hdr.note.before == 2) {
                before = PSA_MeterColor_t.RED;
            }
            if (hdr.note.before == 3) {
                number(rates.execute(hdr.note.key));
            } else {
                number(rates.execute(hdr.note.key, before));
            }
            send_to_port(ostd, (PortId_t) 1);
        } else if (hdr.note.which == 3) {
            shared_table.apply();
        } else {
            selected.apply();
        }
    }
}

#include "main.inc"
