// Standard metadata: the ingress port, lengths in ingress and egress, times that pass.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> ingress_port;
    bit<32> length_in;
    bit<32> length_out;
    bit<8>  later;
}

header more_t {
    bit<32> value;
}

struct metadata { }

struct headers {
    h_t h;
    more_t more;
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
    register<bit<48>>(1) last;

    apply {
        bit<48> before;
        standard_metadata.egress_spec = 2;
        hdr.h.ingress_port = (bit<16>) standard_metadata.ingress_port;
        hdr.h.length_in = standard_metadata.packet_length;
        last.read(before, 0);
        last.write(0, standard_metadata.ingress_global_timestamp);
        hdr.h.later = standard_metadata.ingress_global_timestamp > before ? 8w1 : 0;
        hdr.more.setValid();
        hdr.more.value = 0xaabbccdd;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.h.length_out = standard_metadata.packet_length;
        if (standard_metadata.egress_global_timestamp >= standard_metadata.ingress_global_timestamp) {
            hdr.h.later[7:7] = 1;
        }
        if (standard_metadata.egress_port == 2 && standard_metadata.enq_qdepth == 0 && standard_metadata.deq_qdepth == 0) {
            hdr.h.later[6:6] = 1;
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.h);
        packet.emit(hdr.more);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
