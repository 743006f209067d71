// A clone from ingress is parsed again: the parser sees the port of reception and no other metadata. A kept field then has
// the value of the end of ingress, and others are zero, whatever the parser writes to them.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

header from_host_t {
    bit<8> value;
}

struct metadata {
    @field_list(1)
    bit<8> kept;
    @field_list(2)
    bit<8> parsed;
}

struct headers {
    from_host_t from_host;
    h_t h;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        meta.parsed = meta.parsed + 1;
        meta.kept = meta.kept + 0x10;
        transition select(standard_metadata.ingress_port) {
            64: from_host;
            default: rest;
        }
    }
    state from_host {
        packet.extract(hdr.from_host);
        transition rest;
    }
    state rest {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        hdr.h.b = meta.kept;
        if (hdr.h.a == 2 && meta.parsed < 4) {
            meta.kept = meta.kept + 1;
            // The parser adds to what was kept.
            resubmit_preserving_field_list(2);
        }
        meta.kept = 7;
        clone_preserving_field_list(CloneType.I2E, 1, 1);
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1) {
            hdr.h.b = (bit<8>) standard_metadata.ingress_port;
            hdr.h.a = meta.kept ^ (meta.parsed << 4);
        }
    }
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
