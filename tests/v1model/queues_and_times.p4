// Time in packets' metadata, in microseconds; the queue by priority: without further queues only 0 exists, and a packet for
// another is dropped.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> priority;
    bit<48> arrived;
    bit<32> enqueued;
    bit<32> waited;
    bit<48> left;
    bit<8> depths;
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
        standard_metadata.priority = (bit<3>) hdr.h.priority;
        hdr.h.arrived = standard_metadata.ingress_global_timestamp;
        // Not known yet.
        hdr.h.depths = (bit<8>) (standard_metadata.enq_timestamp | standard_metadata.deq_timedelta);
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.h.enqueued = standard_metadata.enq_timestamp;
        hdr.h.waited = standard_metadata.deq_timedelta;
        hdr.h.left = standard_metadata.egress_global_timestamp;
        hdr.h.depths = hdr.h.depths | (bit<8>) (standard_metadata.enq_qdepth | standard_metadata.deq_qdepth);
        hdr.h.priority = (bit<8>) standard_metadata.priority;
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
