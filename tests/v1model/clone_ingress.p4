// Ingress clones are the packet as received; field lists carry metadata over; sessions lead to ports or groups.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata {
    @field_list(1)
    bit<8> kept;
    @field_list(1, 2)
    bit<8> both;
    bit<8> lost;
}

struct headers {
    h_t h;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.h.a == 1) {
            clone(CloneType.I2E, 5);
        } else if (hdr.h.a == 2) {
            meta.kept = 0x10;
            meta.both = 0x20;
            meta.lost = 0x40;
            clone_preserving_field_list(CloneType.I2E, 5, 1);
            // The values at the end of ingress count.
            meta.both = 0x21;
        } else if (hdr.h.a == 3) {
            clone(CloneType.I2E, 99);
            clone_preserving_field_list(CloneType.I2E, 6, 2);
            meta.both = 0x33;
            mark_to_drop(standard_metadata);
            hdr.h.b = 0xdd;
            return;
        } else if (hdr.h.a == 4) {
            clone(CloneType.I2E, 77);
        }
        hdr.h.b = hdr.h.b + 1;
        standard_metadata.egress_spec = 2;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1) {
            hdr.h.a = 0xc0 | (bit<8>) standard_metadata.egress_rid;
            hdr.h.b = hdr.h.b | meta.kept | meta.both | meta.lost;
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
