// Varbit fields where values are taken apart: in what deparsers hand on to later parsers, in headers and alone; in
// registers with a first value; in digests; in a checksum that keeps the first bytes.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8> how;
    bit<8> length;
}

header options_t {
    varbit<48> bits;
    bit<8>     mark;
}

header result_t {
    bit<64> value;
}

struct headers_t {
    note_t    note;
    options_t options;
    options_t handed;
    options_t alone;
    result_t  result;
}

struct normal_t {
    bit<8>     number;
    options_t  options;
    varbit<48> bits;
}

struct again_t {
    varbit<48> bits;
}

struct cell_t {
    options_t  options;
    varbit<16> bits;
    bit<8>     number;
}

struct empty_t {
}

struct metadata_t {
    varbit<48> bits;
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in again_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        packet.extract(hdr.options, (bit<32>) hdr.note.length * 8);
        meta.bits = resubmit_meta.bits;
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    Register<cell_t, bit<8>>(4, { number = 7, ... }) cells;
    apply {
        send_to_port(ostd, (PortId_t) 1);
        ostd.resubmit = hdr.note.how == 1 && istd.packet_path == PSA_PacketPath_t.NORMAL;
        if (istd.packet_path == PSA_PacketPath_t.RESUBMIT) {
            hdr.alone.setValid();
            hdr.alone.bits = meta.bits;
            hdr.alone.mark = 0xaa;
        }
        if (hdr.note.how == 2) {
            cell_t cell = cells.read(0);
            hdr.options.mark = hdr.options.mark + cell.number;
            hdr.alone = cell.options;
            cell.options = hdr.options;
            cell.number = cell.number + 1;
            cells.write(0, cell);
        }
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t clone_i2e_meta, out again_t resubmit_meta,
                            out normal_t normal_meta, inout headers_t hdr, in metadata_t meta,
                            in psa_ingress_output_metadata_t istd) {
    Digest<options_t>() seen;
    Digest<again_t>() alone;
    Checksum<bit<64>>(PSA_HashAlgorithm_t.IDENTITY) identity;
    apply {
        seen.pack(hdr.options);
        alone.pack({ hdr.options.bits });
        if (psa_resubmit(istd)) {
            resubmit_meta.bits = hdr.options.bits;
        }
        if (psa_normal(istd) && hdr.note.how == 0) {
            normal_meta.number = 0x10;
            normal_meta.options = hdr.options;
            normal_meta.bits = hdr.options.bits;
            hdr.options.mark = 0;
        }
        if (hdr.note.how == 3) {
            identity.update({ hdr.note.how, hdr.note.length });
            identity.update({ hdr.options.bits, hdr.options.mark });
            identity.update(8w0xee);
            hdr.result.setValid();
            hdr.result.value = identity.get();
        }
        packet.emit(hdr);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                        in psa_egress_parser_input_metadata_t istd, in normal_t normal_meta, in empty_t clone_i2e_meta,
                        in empty_t clone_e2e_meta) {
    state start {
        packet.extract(hdr.note);
        hdr.handed = normal_meta.options;
        hdr.handed.mark = hdr.handed.mark + normal_meta.number;
        transition select(hdr.note.how) {
            0: alone;
            default: accept;
        }
    }
    state alone {
        hdr.alone.setValid();
        hdr.alone.bits = normal_meta.bits;
        transition accept;
    }
}

control egress(inout headers_t hdr, inout empty_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t clone_e2e_meta, out empty_t recirculate_meta,
                           inout headers_t hdr, in empty_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        packet.emit(hdr);
    }
}

PSA_Switch(IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()), PacketReplicationEngine(),
           EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()), BufferingQueueingEngine()) main;
