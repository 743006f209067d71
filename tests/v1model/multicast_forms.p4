// Multicast: several nodes on one port, replica ids that prune and rewrite, a node in two groups, changes between packets,
// clones to a group, a node without ports; each replica has its own headers and metadata.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<16> group; bit<8> session; bit<8> note; bit<8> count; }
struct headers { h_t h; }
struct metadata { @field_list(1) bit<8> kept; }

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
        standard_metadata.mcast_grp = hdr.h.group;
        hdr.h.note = 0x01;
        meta.kept = 0x70;
        if (hdr.h.session != 0) {
            clone_preserving_field_list(CloneType.I2E, (bit<32>) hdr.h.session, 1);
        }
        if (hdr.h.session == 9) {
            mark_to_drop(standard_metadata);
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<bit<8>>(1) replicas;
    apply {
        bit<8> n;
        replicas.read(n, 0);
        n = n + 1;
        replicas.write(0, n);
        hdr.h.count = n;
        hdr.h.note = hdr.h.note + (bit<8>) standard_metadata.egress_rid + meta.kept;
        meta.kept = 1;
        // Not back to where it came from.
        if (standard_metadata.egress_port == standard_metadata.ingress_port && standard_metadata.instance_type == 5) {
            mark_to_drop(standard_metadata);
        }
        if (standard_metadata.instance_type == 1) {
            hdr.h.group = (bit<16>) standard_metadata.mcast_grp;
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
