// Errors of both parsers: the packet goes on, and the control of the same pipeline learns of the error.
#include <core.p4>
#include <psa.p4>

header a_t {
    bit<8> length;
    bit<8> ingress_error;
    bit<8> egress_error;
}

header b_t {
    bit<16> value;
}

struct headers_t {
    a_t a;
    b_t b;
}

struct empty_t {
}

error { Odd }

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.a);
        verify(hdr.a.length[0:0] == 0, error.Odd);
        transition select(hdr.a.length) {
            0: accept;
            _: more;
        }
    }
    state more {
        packet.extract(hdr.b);
        transition accept;
    }
}

control number(in error e, out bit<8> result) {
    apply {
        if (e == error.NoError) {
            result = 0;
        } else if (e == error.PacketTooShort) {
            result = 1;
        } else if (e == error.Odd) {
            result = 2;
        } else {
            result = 9;
        }
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    number() n;
    apply {
        n.apply(istd.parser_error, hdr.a.ingress_error);
        send_to_port(ostd, (PortId_t) 2);
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t clone_i2e_meta, out empty_t resubmit_meta,
                            out empty_t normal_meta, inout headers_t hdr, in empty_t meta,
                            in psa_ingress_output_metadata_t istd) {
    apply {
        packet.emit(hdr.a);
        packet.emit(hdr.b);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                        in psa_egress_parser_input_metadata_t istd, in empty_t normal_meta, in empty_t clone_i2e_meta,
                        in empty_t clone_e2e_meta) {
    state start {
        packet.extract(hdr.a);
        packet.extract(hdr.b);
        transition accept;
    }
}

control egress(inout headers_t hdr, inout empty_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    number() n;
    apply {
        n.apply(istd.parser_error, hdr.a.egress_error);
        if (hdr.b.isValid()) {
            hdr.b.value = 0xbbbb;
        }
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t clone_e2e_meta, out empty_t recirculate_meta,
                           inout headers_t hdr, in empty_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        packet.emit(hdr);
    }
}

IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()) ip;
EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
