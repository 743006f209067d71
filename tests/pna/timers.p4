// Entries that expire: profiles, restarts, and hits that do not restart anything.
#include <core.p4>
#include <pna.p4>

header flow_t {
    bit<8>  how;
    bit<8>  key;
    bit<8>  profile;
    bit<8>  result;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {
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
    action hit() {
        hdr.flow.result = 1;
        if (hdr.flow.how == 1) {
            restart_expire_timer();
        } else if (hdr.flow.how == 2) {
            set_entry_expire_time((ExpireTimeProfileId_t) hdr.flow.profile);
        }
        update_expire_info(hdr.flow.how >= 3, hdr.flow.how == 4, (ExpireTimeProfileId_t) hdr.flow.profile);
        set_entry_expire_time_if(hdr.flow.how == 5, (ExpireTimeProfileId_t) hdr.flow.profile);
    }

    action miss() {
        hdr.flow.result = 2;
        add_entry("hit", {}, (ExpireTimeProfileId_t) hdr.flow.profile);
    }

    table flows {
        key = {
            hdr.flow.key : exact;
        }
        actions = {
            hit;
            @defaultonly miss;
        }
        add_on_miss = true;
        pna_idle_timeout = PNA_IdleTimeout_t.AUTO_DELETE;
        const default_action = miss();
        size = 1024;
    }

    apply {
        flows.apply();
        send_to_port((PortId_t) 1);
    }
}

PNA_NIC(MainParserImpl(), PreControlImpl(), MainControlImpl(), MainDeparserImpl()) main;
