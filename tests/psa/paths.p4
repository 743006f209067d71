// What both pipelines begin with: time stamps, parser errors, the defaults of the output metadata; a deparser that emits
// nothing.
#include <core.p4>
#include <psa.p4>

error {
    Odd
}

header note_t {
    bit<8> how;
    bit<8> ingress_error;
    bit<8> egress_error;
    bit<8> facts;
}

struct headers_t {
    note_t note;
}

struct ingress_t {
    Timestamp_t before;
    bit<8>      error_number;
}

struct egress_t {
    Timestamp_t at_ingress;
    bool        emits;
}

struct normal_t {
    Timestamp_t at_ingress;
}

struct empty_t {
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout ingress_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        verify(hdr.note.how != 1, error.Odd);
        transition select(hdr.note.how) {
            0 .. 0x7f: accept;
            0x80: reject;
        }
    }
}

control ingress(inout headers_t hdr, inout ingress_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        if (ostd.drop && !ostd.clone && !ostd.resubmit && ostd.class_of_service == (ClassOfService_t) 0
            && ostd.multicast_group == (MulticastGroup_t) 0) {
            hdr.note.facts = hdr.note.facts | 1;
        }
        if (istd.parser_error == error.NoError) {
            hdr.note.ingress_error = 0x10;
        } else if (istd.parser_error == error.Odd) {
            hdr.note.ingress_error = 0x11;
        } else if (istd.parser_error == error.NoMatch) {
            hdr.note.ingress_error = 0x12;
        } else if (istd.parser_error == error.PacketTooShort) {
            hdr.note.setValid();
            hdr.note.ingress_error = 0x13;
        }
        meta.before = istd.ingress_timestamp;
        if (hdr.note.how != 2) {
            send_to_port(ostd, (PortId_t) 1);
        }
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t clone_i2e_meta, out empty_t resubmit_meta,
                            out normal_t normal_meta, inout headers_t hdr, in ingress_t meta,
                            in psa_ingress_output_metadata_t istd) {
    apply {
        normal_meta.at_ingress = meta.before;
        if (hdr.note.how != 3) {
            packet.emit(hdr);
        }
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout egress_t meta,
                        in psa_egress_parser_input_metadata_t istd, in normal_t normal_meta, in empty_t clone_i2e_meta,
                        in empty_t clone_e2e_meta) {
    state start {
        meta.at_ingress = normal_meta.at_ingress;
        packet.extract(hdr.note);
        verify(hdr.note.how != 4, error.Odd);
        transition accept;
    }
}

control egress(inout headers_t hdr, inout egress_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        if (!ostd.drop && !ostd.clone && (TimestampUint_t) istd.egress_timestamp >= (TimestampUint_t) meta.at_ingress
            && istd.egress_port == (PortId_t) 1) {
            hdr.note.facts = hdr.note.facts | 2;
        }
        if (istd.parser_error == error.PacketTooShort) {
            hdr.note.setValid();
            hdr.note.facts = 0xaa;
        } else if (istd.parser_error == error.Odd) {
            hdr.note.egress_error = 0x11;
        }
        meta.emits = hdr.note.how != 5;
        if (hdr.note.how == 6) {
            egress_drop(ostd);
        }
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t clone_e2e_meta, out empty_t recirculate_meta,
                           inout headers_t hdr, in egress_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (meta.emits) {
            packet.emit(hdr.note);
        }
    }
}

PSA_Switch(IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()), PacketReplicationEngine(),
           EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()), BufferingQueueingEngine()) main;
