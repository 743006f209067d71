// A group of an action selector that has lost its members runs the action that the table names for it.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8> which;
    bit<8> key;
    bit<8> choice;
    bit<8> ran;
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
    ActionSelector(PSA_HashAlgorithm_t.IDENTITY, 32w16, 32w8) members;
    ActionSelector(PSA_HashAlgorithm_t.CRC16, 32w16, 32w4) others;

    action forward(PortId_t port) {
        send_to_port(ostd, port);
    }
    action instead(bit<8> value, PortId_t port) {
        hdr.note.ran = value;
        send_to_port(ostd, port);
    }
    action leave() {
        hdr.note.ran = 0xee;
        exit;
    }
    table named {
        key = {
            hdr.note.key    : exact;
            hdr.note.choice : selector;
        }
        actions = { forward; instead; NoAction; }
        psa_empty_group_action = instead(0x77, (PortId_t) 9);
        psa_implementation = members;
    }
    table leaving {
        key = {
            hdr.note.key    : exact;
            hdr.note.choice : selector;
        }
        actions = { forward; leave; @defaultonly NoAction; }
        const default_action = NoAction;
        psa_implementation = others;
        psa_empty_group_action = leave();
    }

    apply {
        if (hdr.note.which == 0) {
            switch (named.apply().action_run) {
                instead: {
                    hdr.note.ran = hdr.note.ran + 1;
                }
                NoAction: {
                    hdr.note.ran = 0x55;
                    send_to_port(ostd, (PortId_t) 1);
                }
            }
        } else {
            send_to_port(ostd, (PortId_t) 1);
            if (leaving.apply().hit) {
                hdr.note.ran = 0x11;
            }
        }
    }
}

#include "main.inc"
