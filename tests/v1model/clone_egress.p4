// Egress clones are the packet as it is after egress; they pass egress once more.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata {
    @field_list(3)
    bit<8> count;
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
        standard_metadata.egress_spec = 2;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 0) {
            hdr.h.b = hdr.h.b + 1;
            meta.count = 5;
            if (hdr.h.a[0:0] == 1) {
                clone_preserving_field_list(CloneType.E2E, 7, 3);
            }
            if (hdr.h.a[1:1] == 1) {
                mark_to_drop(standard_metadata);
            }
            hdr.h.a = 0xaa;
        } else if (standard_metadata.instance_type == 2) {
            hdr.h.b = hdr.h.b + (meta.count << 4);
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
