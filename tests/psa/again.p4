// Resubmission and recirculation: bytes, the structs that are handed on, the port of recirculation, the limit of passes.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8> how;
    bit<8> port;
    bit<8> path;
    bit<8> seen;
}

struct headers_t {
    note_t note;
}

struct metadata_t {
    bit<8> seen;
    bit<8> lost;
}

struct again_t {
    bit<8> rounds;
    bit<8> value;
}

struct empty_t {
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in again_t resubmit_meta,
                         in again_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        meta.seen = resubmit_meta.rounds + (recirculate_meta.rounds << 4);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        // Nothing of the pass before is left.
        assert(meta.lost == 0);
        meta.lost = 1;
        hdr.note.seen = meta.seen;
        hdr.note.port = (bit<8>) (PortIdUint_t) istd.ingress_port;
        if (istd.packet_path == PSA_PacketPath_t.RESUBMIT) {
            hdr.note.path = hdr.note.path | 1;
        } else if (istd.packet_path == PSA_PacketPath_t.RECIRCULATE) {
            hdr.note.path = hdr.note.path | 2;
        } else if (istd.packet_path == PSA_PacketPath_t.NORMAL) {
            hdr.note.path = hdr.note.path | 4;
        }
        send_to_port(ostd, (PortId_t) 1);
        if (hdr.note.how == 1 && meta.seen < 3) {
            ostd.resubmit = true;
        } else if (hdr.note.how == 2 && meta.seen < 0x30) {
            send_to_port(ostd, PSA_PORT_RECIRCULATE);
        } else if (hdr.note.how == 3) {
            // For ever, as far as the program goes.
            ostd.resubmit = true;
        } else if (hdr.note.how == 4) {
            send_to_port(ostd, PSA_PORT_RECIRCULATE);
        } else if (hdr.note.how == 5) {
            // A packet that is dropped is not resubmitted.
            ostd.resubmit = true;
            ingress_drop(ostd);
        }
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t clone_i2e_meta, out again_t resubmit_meta,
                            out empty_t normal_meta, inout headers_t hdr, in metadata_t meta,
                            in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_resubmit(istd)) {
            resubmit_meta.rounds = meta.seen + 1;
        }
        packet.emit(hdr);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                        in psa_egress_parser_input_metadata_t istd, in empty_t normal_meta, in empty_t clone_i2e_meta,
                        in empty_t clone_e2e_meta) {
    state start {
        packet.extract(hdr.note);
        meta.seen = hdr.note.seen >> 4;
        transition accept;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t clone_e2e_meta, out again_t recirculate_meta,
                           inout headers_t hdr, in metadata_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_recirculate(istd, edstd)) {
            recirculate_meta = { meta.seen + 1, 0 };
        }
        packet.emit(hdr);
    }
}

IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()) ip;
EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
