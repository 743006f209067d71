// mark_to_drop, and what undoes it; egress drops for good; port 511 is the drop port.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata { }

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
        if (hdr.h.a == 1) {
            mark_to_drop(standard_metadata);
        } else if (hdr.h.a == 2) {
            mark_to_drop(standard_metadata);
            standard_metadata.egress_spec = 3;
        } else if (hdr.h.a == 3) {
            standard_metadata.egress_spec = 511;
        } else if (hdr.h.a == 4) {
            standard_metadata.mcast_grp = 1;
            mark_to_drop(standard_metadata);
        } else if (hdr.h.a == 5) {
            mark_to_drop(standard_metadata);
            standard_metadata.mcast_grp = 1;
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.h.a == 6) {
            mark_to_drop(standard_metadata);
        } else if (hdr.h.a == 7) {
            // Too late to choose another port.
            standard_metadata.egress_spec = 4;
        } else if (hdr.h.a == 8) {
            hdr.h.b = (bit<8>) standard_metadata.egress_spec;
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
