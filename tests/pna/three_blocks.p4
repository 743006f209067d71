// The working draft: three blocks, states of an addition instead of a bool, and its own forms of functions.
#include <core.p4>
#include <bmv2/pna.p4>

header flow_t {
    bit<8>  how;
    bit<8>  key;
    bit<8>  result;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {
}

parser MainParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                      in pna_main_parser_input_metadata_t istd) {
    state start {
        packet.extract(hdr.flow);
        transition accept;
    }
}

control MainControlImpl(inout headers_t hdr, inout metadata_t meta, in pna_main_input_metadata_t istd,
                        inout pna_main_output_metadata_t ostd) {
    action hit(bit<8> mark) {
        hdr.flow.result = mark;
    }

    action miss() {
        AddEntryErrorStatus_t status = add_entry_if(hdr.flow.how == 1, "hit", { hdr.flow.key + 1 },
                                                    (ExpireTimeProfileId_t) 0);
        hdr.flow.result = status == ADD_ENTRY_SUCCESS ? 8w0xa0 : 8w0xa1;
    }

    table flows {
        key = {
            SelectByDirection(is_net_port(istd.input_port), hdr.flow.key, 8w0) : exact @name("key");
        }
        actions = {
            hit;
            miss;
        }
        add_on_miss = true;
        default_action = miss;
        size = 2;
    }

    apply {
        flows.apply();
        if (istd.recirculated) {
            hdr.flow.how[7:7] = 1;
        }
        send_to_port(istd.input_port);
    }
}

control MainDeparserImpl(packet_out packet, inout headers_t hdr, in metadata_t meta,
                         in pna_main_output_metadata_t ostd) {
    apply {
        packet.emit(hdr);
    }
}

PNA_NIC(MainParserImpl(), MainControlImpl(), MainDeparserImpl()) main;
