// Direct objects: two counters of one table; a meter that only the actions execute, with and without a colour.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8> key;
    bit<8> before;
    bit<8> color;
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
    DirectCounter<bit<64>>(PSA_CounterType_t.PACKETS) packets_of_entry;
    DirectCounter<bit<64>>(PSA_CounterType_t.BYTES) bytes_of_entry;
    DirectMeter(PSA_MeterType_t.PACKETS) rate;

    PSA_MeterColor_t before = PSA_MeterColor_t.GREEN;
    PSA_MeterColor_t color = PSA_MeterColor_t.GREEN;

    action blind() {
        packets_of_entry.count();
        bytes_of_entry.count();
        color = rate.execute();
    }
    action aware() {
        color = rate.execute(before);
    }
    action neither() {
    }
    table metered {
        key = { hdr.note.key : exact; }
        actions = { blind; aware; neither; }
        default_action = aware();
        psa_direct_counter = { packets_of_entry, bytes_of_entry };
        psa_direct_meter = rate;
    }

    apply {
        if (hdr.note.before == 1) {
            before = PSA_MeterColor_t.YELLOW;
        } else if (hdr.note.before == 2) {
            before = PSA_MeterColor_t.RED;
        }
        metered.apply();
        if (color == PSA_MeterColor_t.GREEN) {
            hdr.note.color = 0x09;
        } else if (color == PSA_MeterColor_t.YELLOW) {
            hdr.note.color = 0x0e;
        } else {
            hdr.note.color = 0x0d;
        }
        send_to_port(ostd, (PortId_t) 1);
    }
}

#include "main.inc"
