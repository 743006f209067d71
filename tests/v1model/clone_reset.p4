// The metadata of a clone from ingress are reset after it has been parsed again: of what the parser has written to them,
// headers in them and its error included, nothing is left; its headers are.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

header note_t {
    bit<8> value;
}

struct metadata {
    bit<8> parsed;
    bit<8> depth;
    note_t note;
    @field_list(1)
    bit<8> kept;
}

struct headers {
    h_t h;
    note_t rest;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        meta.parsed = hdr.h.a;
        meta.kept = 0x77;
        standard_metadata.priority = 3;
        standard_metadata.mcast_grp = 9;
        transition select(hdr.h.b) {
            0: accept;
            1: noted;
            default: too_short;
        }
    }
    state noted {
        packet.extract(meta.note);
        meta.depth = 2;
        transition accept;
    }
    state too_short {
        packet.extract(hdr.rest);
        packet.extract(meta.note);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.mcast_grp = 0;
        standard_metadata.priority = 0;
        standard_metadata.egress_spec = 2;
        if (hdr.h.a == 1) {
            clone(CloneType.I2E, 5);
        } else {
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1) {
            hdr.h.a = meta.parsed | meta.depth;
            hdr.h.b = meta.kept;
            hdr.rest.setValid();
            hdr.rest.value = standard_metadata.mcast_grp[7:0] | (bit<8>) standard_metadata.priority;
            if (standard_metadata.parser_error != error.NoError) {
                hdr.rest.value = 0xee;
            }
            if (meta.note.isValid()) {
                hdr.rest.value = meta.note.value;
            }
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr);
        // The note belongs to the metadata.
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
