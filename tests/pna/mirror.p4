// Mirrored packets: slots, sessions, the bytes behind the deparser, and the port to controllers.
#include <core.p4>
#include <pna.p4>

header request_t {
    bit<8> how;
    bit<8> slot;
    bit<8> session;
    bit<8> mark;
}

struct headers_t {
    request_t request;
}

struct metadata_t {
}

#include "main.inc"

parser MainParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                      in pna_main_parser_input_metadata_t istd) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control MainControlImpl(inout headers_t hdr, inout metadata_t meta, in pna_main_input_metadata_t istd,
                        inout pna_main_output_metadata_t ostd) {
    apply {
        send_to_port((PortId_t) 1);
        if (hdr.request.how[0:0] == 1) {
            mirror_packet((MirrorSlotId_t) hdr.request.slot,
                          (MirrorSessionId_t) (MirrorSessionIdUint_t) (bit<16>) hdr.request.session);
        }
        if (hdr.request.how[1:1] == 1) {
            mirror_packet((MirrorSlotId_t) 2, (MirrorSessionId_t) 6);
        }
        if (hdr.request.how[2:2] == 1) {
            mirror_packet((MirrorSlotId_t) 3, PNA_MIRROR_SESSION_TO_CPU);
        }
        if (hdr.request.how[7:7] == 1) {
            drop_packet();
        }
        if (hdr.request.how[6:6] == 1 && (PassNumberUint_t) istd.pass < 2) {
            recirculate();
        }
        hdr.request.mark = hdr.request.mark + 1;
    }
}

PNA_NIC(MainParserImpl(), PreControlImpl(), MainControlImpl(), MainDeparserImpl()) main;
