// Clones from ingress and from egress: bytes, metadata and headers that the deparsers hand on, clones of dropped packets.
#include <core.p4>
#include <bmv2/psa.p4>

header note_t {
    bit<8> kind;
    bit<8> how;
    bit<8> a;
    bit<8> b;
}

header tag_t {
    bit<8> value;
    bit<8> count;
}

struct headers_t {
    note_t note;
    tag_t  tag;
}

struct metadata_t {
    bit<8> kept;
    tag_t  tag;
}

struct ingress_clone_t {
    bit<8> mark;
    tag_t  tag;
}

struct normal_t {
    bit<8> mark;
}

struct empty_t {
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        meta.kept = 0x77;
        if (hdr.note.how & 1 != 0) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 8;
        }
        if (hdr.note.how & 2 == 0) {
            send_to_port(ostd, (PortId_t) 1);
        }
        // The clone does not see this.
        hdr.note.a = 0xee;
        meta.tag.setValid();
        meta.tag.value = 0x55;
        meta.tag.count = hdr.note.kind;
    }
}

control IngressDeparserImpl(packet_out packet, out ingress_clone_t clone_i2e_meta, out empty_t resubmit_meta,
                            out normal_t normal_meta, inout headers_t hdr, in metadata_t meta,
                            in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_clone_i2e(istd)) {
            clone_i2e_meta.mark = 0xc1;
            if (hdr.note.kind != 3) {
                clone_i2e_meta.tag = meta.tag;
            }
        }
        if (psa_normal(istd)) {
            normal_meta.mark = 0x11;
        }
        packet.emit(hdr.note);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                        in psa_egress_parser_input_metadata_t istd, in normal_t normal_meta,
                        in ingress_clone_t clone_i2e_meta, in tag_t clone_e2e_meta) {
    state start {
        packet.extract(hdr.note);
        transition select(istd.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: ingress_clone;
            PSA_PacketPath_t.CLONE_E2E: egress_clone;
            default: normal;
        }
    }
    state ingress_clone {
        hdr.tag = clone_i2e_meta.tag;
        meta.kept = meta.kept | clone_i2e_meta.mark;
        transition accept;
    }
    state egress_clone {
        hdr.tag = clone_e2e_meta;
        transition accept;
    }
    state normal {
        meta.kept = meta.kept | normal_meta.mark;
        transition accept;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        hdr.note.b = meta.kept;
        if (istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST && hdr.note.how & 4 != 0) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 9;
        }
        if (hdr.note.how & 8 != 0 && istd.packet_path != PSA_PacketPath_t.CLONE_E2E) {
            egress_drop(ostd);
        }
        if (istd.packet_path == PSA_PacketPath_t.CLONE_I2E) {
            hdr.note.kind = (bit<8>) (EgressInstanceUint_t) istd.instance;
        }
    }
}

control EgressDeparserImpl(packet_out packet, out tag_t clone_e2e_meta, out empty_t recirculate_meta,
                           inout headers_t hdr, in metadata_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_clone_e2e(istd)) {
            clone_e2e_meta = { 0xce, (bit<8>) (PortIdUint_t) edstd.egress_port };
        }
        packet.emit(hdr);
    }
}

PSA_Switch(IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()), PacketReplicationEngine(),
           EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()), BufferingQueueingEngine()) main;
