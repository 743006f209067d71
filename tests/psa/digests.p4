// Digests: of structs, headers, stacks, single values; from both deparsers, and none from a packet that is dropped.
#include <core.p4>
#include <psa.p4>

header note_t {
    bit<8> how;
    bit<8> value;
}

header item_t {
    bit<4> high;
    bit<4> low;
}

struct headers_t {
    note_t    note;
    item_t[2] items;
}

struct inner_t {
    bool             flag;
    PSA_PacketPath_t path;
}

struct learn_t {
    PortId_t port;
    inner_t  inner;
    bit<100> wide;
}

struct metadata_t {
    learn_t learn;
    bool    sends;
}

struct empty_t {
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta,
                         in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                         in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.note);
        packet.extract(hdr.items.next);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        meta.learn = { istd.ingress_port, { hdr.note.value == 1, istd.packet_path }, 100w7 };
        meta.sends = hdr.note.how != 0;
        if (hdr.note.how != 2) {
            send_to_port(ostd, (PortId_t) 1);
        }
    }
}

Digest<tuple<bit<8>, bool>>() shared_digest;

control IngressDeparserImpl(packet_out packet, out empty_t clone_i2e_meta, out empty_t resubmit_meta,
                            out empty_t normal_meta, inout headers_t hdr, in metadata_t meta,
                            in psa_ingress_output_metadata_t istd) {
    Digest<learn_t>() learned;
    Digest<headers_t>() parsed;
    Digest<bit<8>>() single;
    apply {
        if (meta.sends) {
            learned.pack(meta.learn);
            parsed.pack(hdr);
            single.pack(hdr.note.value);
        }
        shared_digest.pack({ hdr.note.how, true });
        packet.emit(hdr);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout empty_t meta,
                        in psa_egress_parser_input_metadata_t istd, in empty_t normal_meta, in empty_t clone_i2e_meta,
                        in empty_t clone_e2e_meta) {
    state start {
        packet.extract(hdr.note);
        transition accept;
    }
}

control egress(inout headers_t hdr, inout empty_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        ostd.drop = hdr.note.how == 3;
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t clone_e2e_meta, out empty_t recirculate_meta,
                           inout headers_t hdr, in empty_t meta, in psa_egress_output_metadata_t istd,
                           in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        shared_digest.pack({ hdr.note.how, false });
        packet.emit(hdr);
    }
}

PSA_Switch(IngressPipeline(IngressParserImpl(), ingress(), IngressDeparserImpl()), PacketReplicationEngine(),
           EgressPipeline(EgressParserImpl(), egress(), EgressDeparserImpl()), BufferingQueueingEngine()) main;
