// Ports are any numbers of 32 bits: unicast, multicast and clones to them, reception from them.
#include <core.p4>
#include <bmv2/psa.p4>

header note_t {
    PortIdInHeader_t to;
    PortIdInHeader_t from;
    bit<8>           how;
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
    apply {
        hdr.note.from = psa_PortId_int_to_header(istd.ingress_port);
        if (hdr.note.how == 0) {
            send_to_port(ostd, psa_PortId_header_to_int(hdr.note.to));
        } else if (hdr.note.how == 1) {
            multicast(ostd, (MulticastGroup_t) 7);
        } else if (hdr.note.how == 2) {
            ostd.clone = true;
            ostd.clone_session_id = PSA_CLONE_SESSION_TO_CPU;
        } else {
            send_to_port(ostd, PSA_PORT_CPU);
        }
    }
}

#include "main.inc"
