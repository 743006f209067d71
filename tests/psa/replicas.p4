// Replicas: the instance and the class of service that each sees, recirculation of one of them, clones to a group.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8>  round;
    bit<8>  path;
    bit<16> instance;
    bit<8>  service;
}

struct headers_t {
    note_t note;
}

struct metadata_t {
    bit<8> of_ingress;
}

struct empty_t {
}

struct round_t {
    bit<8> round;
    PSA_PacketPath_t path;
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in round_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        hdr.note.round = recirculate_meta.round;
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        ostd.class_of_service = (ClassOfService_t) hdr.note.service;
        if (istd.packet_path == PSA_PacketPath_t.RECIRCULATE) {
            send_to_port(ostd, (PortId_t) 3);
        } else {
            multicast(ostd, (MulticastGroup_t) 1);
            // A group is stronger than a port.
            ostd.egress_port = (PortId_t) 9;
        }
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t clone_i2e_meta, out empty_t resubmit_meta,
                            out bit<8> normal_meta, inout headers_t hdr, in metadata_t meta,
                            in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_normal(istd)) {
            normal_meta = 0x5a;
        }
        packet.emit(hdr);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                        in psa_egress_parser_input_metadata_t istd, in bit<8> normal_meta, in empty_t clone_i2e_meta,
                        in empty_t clone_e2e_meta) {
    state start {
        meta.of_ingress = normal_meta;
        transition select(packet.lookahead<bit<8>>()) {
            0xee: accept;
            _: note;
        }
    }
    state note {
        packet.extract(hdr.note);
        transition accept;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        if (istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            hdr.note.path = hdr.note.path | 0x80;
        } else if (istd.packet_path == PSA_PacketPath_t.NORMAL_MULTICAST) {
            hdr.note.path = hdr.note.path | 0x40;
        }
        if (meta.of_ingress != 0x5a) {
            hdr.note.path = 0xff;
        }
        hdr.note.instance = hdr.note.instance + (EgressInstanceUint_t) istd.instance;
        hdr.note.service = (ClassOfServiceUint_t) istd.class_of_service;
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t clone_e2e_meta, out round_t recirculate_meta,
                           inout headers_t hdr, in metadata_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_recirculate(istd, edstd)) {
            recirculate_meta.round = hdr.note.round + 1;
        }
        packet.emit(hdr);
    }
}

PSA_Switch(IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()), PacketReplicationEngine(),
           EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()), BufferingQueueingEngine()) main;
