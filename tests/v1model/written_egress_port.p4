// A packet leaves on the port of its queue: egress may overwrite `egress_port`, but that moves no packet.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata {
    @field_list(1)
    bit<9> port;
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
        standard_metadata.egress_port = 6;
        standard_metadata.egress_spec = 2;
        if (hdr.h.a[1:1] == 1) {
            standard_metadata.mcast_grp = 1;
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.h.b = standard_metadata.egress_port[7:0];
        if (hdr.h.a[0:0] == 1 && standard_metadata.instance_type != 2) {
            clone_preserving_field_list(CloneType.E2E, 7, 1);
        }
        if (hdr.h.a[7:7] == 1) {
            standard_metadata.egress_port = 511;
        } else {
            standard_metadata.egress_port[2:0] = 5;
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
