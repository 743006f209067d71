// Registers whose cells have varbit fields, in headers and in structs: a cell keeps their lengths. A digest of such
// values.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> op;
    bit<8> index;
    bit<8> length;
}

header options_t {
    bit<4>     before;
    varbit<40> bits;
    bit<4>     after;
}

struct pack_t {
    bit<3>     mark;
    varbit<40> bits;
}

struct note_t {
    bit<8>    op;
    options_t options;
    pack_t    pack;
}

struct metadata { }

struct headers {
    h_t       h;
    options_t options;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.options, (bit<32>) hdr.h.length * 8);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<options_t>(2) headers_kept;
    register<pack_t>(2) packs_kept;

    apply {
        bit<32> index = (bit<32>) hdr.h.index;
        pack_t pack = { 5, hdr.options.bits };
        switch (hdr.h.op) {
            0: {
                headers_kept.write(index, hdr.options);
                packs_kept.write(index, pack);
            }
            1: {
                headers_kept.read(hdr.options, index);
            }
            2: {
                packs_kept.read(pack, index);
                hdr.options.bits = pack.bits;
                hdr.options.after = 1w1 ++ pack.mark;
            }
            3: {
                hdr.options.setInvalid();
                headers_kept.write(index, hdr.options);
            }
        }
        digest<note_t>(1, { hdr.h.op, hdr.options, pack });
        standard_metadata.egress_spec = 2;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
