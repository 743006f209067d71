// Resubmission: ingress again with the bytes as received; kept metadata tell the passes apart; a budget ends endless ones.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata {
    @field_list(1)
    bit<8> passes;
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
        standard_metadata.egress_spec = 2;
        hdr.h.b = hdr.h.b + 1 + meta.lost;
        meta.lost = 0x80;
        if (meta.passes < hdr.h.a) {
            meta.passes = meta.passes + 1;
            resubmit_preserving_field_list(1);
        } else if (hdr.h.a != 0) {
            hdr.h.a = meta.passes | (bit<8>) (standard_metadata.instance_type << 4);
        }
        if (hdr.h.a == 0xff) {
            resubmit_preserving_field_list(0);
        }
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
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
