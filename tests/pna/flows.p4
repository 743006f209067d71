// A table whose default action adds entries: what is in them, when they match, and when there is no room.
#include <core.p4>
#include <pna.p4>

header flow_t {
    bit<8>  how;
    bit<16> key;
    bit<32> other;
    bit<8>  result;
    bit<32> id;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {
    bit<32> data;
}

struct learned_t {
    PortId_t port;
    bit<8>   mark;
}

#include "main.inc"

parser MainParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                      in pna_main_parser_input_metadata_t istd) {
    state start {
        packet.extract(hdr.flow);
        transition accept;
    }
}

control MainControlImpl(inout headers_t hdr, inout metadata_t meta, in pna_main_input_metadata_t istd,
                        inout pna_main_output_metadata_t ostd) {
    DirectCounter<bit<32>>(PNA_CounterType_t.PACKETS) hits;

    action known(PortId_t port, bit<8> mark) {
        hits.count();
        hdr.flow.result = mark;
        send_to_port(port);
    }

    action seen() {
        hits.count();
        hdr.flow.result = 0x99;
        send_to_port((PortId_t) 2);
    }

    action learn() {
        hits.count();
        bool added;
        if (hdr.flow.how == 2) {
            // It leaves before it is changed: the key is the one that was looked up.
            hdr.flow.key = 0xffff;
            added = add_entry("seen", {}, (ExpireTimeProfileId_t) 0);
        } else {
            added = add_entry("known", (learned_t) { port = istd.input_port, mark = hdr.flow.key[7:0] },
                              (ExpireTimeProfileId_t) 1);
        }
        if (added) {
            hdr.flow.result = 1;
            hdr.flow.id = (FlowIdUint_t) allocate_flow_id();
        } else {
            hdr.flow.result = 2;
        }
        send_to_port((PortId_t) 1);
    }

    table flows {
        key = {
            hdr.flow.key   : exact;
            hdr.flow.other : exact;
        }
        actions = {
            @tableonly known;
            @tableonly seen;
            @defaultonly learn;
        }
        add_on_miss = true;
        pna_direct_counter = hits;
        const default_action = learn();
        size = 4;
    }

    apply {
        if (hdr.flow.isValid()) {
            flows.apply();
        }
        if (hdr.flow.how == 3 && istd.pass == 0) {
            recirculate();
        }
    }
}

PNA_NIC(MainParserImpl(), PreControlImpl(), MainControlImpl(), MainDeparserImpl()) main;
