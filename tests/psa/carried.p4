// Structs of every kind that deparsers hand on: headers, stacks, unions, tuples, enums, errors, numbers of any width; a
// header alone. The pipelines have types of their own.
#include <core.p4>
#include <bmv2/psa.p4>

header frame_t {
    bit<48> to;
    bit<48> from;
    bit<16> kind;
}

header_union one_of_t {
    frame_t frame;
}

header round_t {
    bit<16> value;
}

struct ingress_headers_t {
    frame_t frame;
}

struct ingress_metadata_t {
    bit<8> mark;
}

struct egress_headers_t {
    frame_t    frame;
    frame_t[2] more;
}

struct egress_metadata_t {
    bit<16> mark;
    bool    flag;
}

struct normal_t {
    frame_t                 frame;
    bit<8>                  number;
    frame_t[2]              frames;
    tuple<bit<8>, frame_t>  both;
    error                   reason;
    PSA_PacketPath_t        path;
}

struct clone_i2e_t {
    one_of_t either;
    bit<200> wide;
    int<7>   negative;
}

struct clone_e2e_t {
    bool             flag;
    PSA_MeterColor_t color;
}

struct resubmit_t {
    PortId_t          port;
    egress_metadata_t inner;
}

parser IngressParserImpl(packet_in packet, out ingress_headers_t hdr, inout ingress_metadata_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in resubmit_t resubmit_meta,
                         in round_t recirculate_meta) {
    state start {
        transition select(istd.packet_path) {
            PSA_PacketPath_t.RECIRCULATE: recirculated;
            PSA_PacketPath_t.RESUBMIT: resubmitted;
            default: frame;
        }
    }
    state recirculated {
        meta.mark = recirculate_meta.isValid() ? recirculate_meta.value[7:0] : 0;
        transition frame;
    }
    state resubmitted {
        meta.mark = (bit<8>) (PortIdUint_t) resubmit_meta.port + (resubmit_meta.inner.flag ? 8w1 : 0);
        transition frame;
    }
    state frame {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control ingress(inout ingress_headers_t hdr, inout ingress_metadata_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        hdr.frame.kind[7:0] = meta.mark;
        ostd.clone = hdr.frame.to == 1;
        ostd.clone_session_id = (CloneSessionId_t) 3;
        ostd.resubmit = hdr.frame.to == 2 && istd.packet_path == PSA_PacketPath_t.NORMAL;
        if (hdr.frame.to == 3 && istd.packet_path != PSA_PacketPath_t.RECIRCULATE) {
            send_to_port(ostd, PSA_PORT_RECIRCULATE);
        } else {
            send_to_port(ostd, (PortId_t) 1);
        }
    }
}

control IngressDeparserImpl(packet_out packet, out clone_i2e_t clone_i2e_meta, out resubmit_t resubmit_meta,
                            out normal_t normal_meta, inout ingress_headers_t hdr, in ingress_metadata_t meta,
                            in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_clone_i2e(istd)) {
            clone_i2e_meta.either.frame = hdr.frame;
            clone_i2e_meta.wide = 200w0x123;
            clone_i2e_meta.negative = -5;
        }
        if (psa_resubmit(istd)) {
            resubmit_meta = { (PortId_t) 0x44, { 1, true } };
        }
        if (psa_normal(istd)) {
            normal_meta.number = 7;
            normal_meta.frames[1].setValid();
            normal_meta.frames[1].kind = 0xbeef;
            normal_meta.both = { 8w9, hdr.frame };
            normal_meta.reason = error.HeaderTooShort;
            normal_meta.path = PSA_PacketPath_t.CLONE_E2E;
        }
        packet.emit(hdr);
    }
}

parser EgressParserImpl(packet_in packet, out egress_headers_t hdr, inout egress_metadata_t meta,
                        in psa_egress_parser_input_metadata_t istd, in normal_t normal_meta,
                        in clone_i2e_t clone_i2e_meta, in clone_e2e_t clone_e2e_meta) {
    state start {
        packet.extract(hdr.frame);
        hdr.more[0] = normal_meta.frames[1];
        meta.flag = clone_e2e_meta.flag || normal_meta.frame.isValid();
        transition select(istd.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: cloned;
            default: normal;
        }
    }
    state cloned {
        hdr.more[1] = clone_i2e_meta.either.frame;
        meta.mark = clone_i2e_meta.wide[15:0] + (bit<16>) (bit<7>) clone_i2e_meta.negative;
        transition accept;
    }
    state normal {
        meta.mark = (bit<16>) normal_meta.number + ((bit<16>) normal_meta.both[0] << 4)
                    + (normal_meta.reason == error.HeaderTooShort ? 16w0x100 : 0)
                    + (normal_meta.path == PSA_PacketPath_t.CLONE_E2E ? 16w0x1000 : 0);
        transition accept;
    }
}

control egress(inout egress_headers_t hdr, inout egress_metadata_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        assert(!meta.flag);
        hdr.frame.from = (bit<48>) meta.mark;
    }
}

control EgressDeparserImpl(packet_out packet, out clone_e2e_t clone_e2e_meta, out round_t recirculate_meta,
                           inout egress_headers_t hdr, in egress_metadata_t meta,
                           in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_recirculate(istd, edstd)) {
            recirculate_meta.setValid();
            recirculate_meta.value = 0x77;
        }
        packet.emit(hdr.frame);
        packet.emit(hdr.more);
    }
}

PSA_Switch(IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()), PacketReplicationEngine(),
           EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()), BufferingQueueingEngine()) main;
