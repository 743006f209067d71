// Recirculation: ingress again with the bytes as deparsed.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

header label_t {
    bit<8> value;
}

struct metadata {
    @field_list(1)
    bit<8> passes;
}

struct headers {
    h_t h;
    label_t label;
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
        if (standard_metadata.instance_type == 4) {
            hdr.h.b = hdr.h.b + meta.passes;
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.h.a != 0 && meta.passes < 3) {
            meta.passes = meta.passes + 1;
            hdr.h.a = hdr.h.a - 1;
            if (hdr.h.a == 0) {
                // The packet that comes back begins with the label.
                hdr.label.setValid();
                hdr.label.value = 0;
            }
            recirculate_preserving_field_list(1);
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.label);
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
