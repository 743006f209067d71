// Everything on one port, in the order in which it was queued: a clone from ingress before its original, a clone from egress
// after it, the replicas in the order of their nodes, a packet that goes round at last.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> op; bit<8> kind; }
struct headers { h_t h; }
struct metadata { }

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
        standard_metadata.egress_spec = 5;
        if (standard_metadata.instance_type == 4) {
            hdr.h.op = 0xff;
            return;
        }
        if (hdr.h.op[0:0] == 1) { clone(CloneType.I2E, 1); }
        if (hdr.h.op[1:1] == 1) { standard_metadata.mcast_grp = 1; }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.h.op == 0xff) { return; }
        hdr.h.kind = ((bit<8>) standard_metadata.egress_rid << 4) + (bit<8>) standard_metadata.instance_type;
        if (hdr.h.op[2:2] == 1 && standard_metadata.instance_type != 2) { clone(CloneType.E2E, 2); }
        if (hdr.h.op[3:3] == 1 && standard_metadata.instance_type == 0) { recirculate_preserving_field_list(0); }
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
