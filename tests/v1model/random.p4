// Random numbers lie within their bounds, both included; a range of one is that number.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> low;
    bit<8> high;
    bit<8> within;
    bit<8> fixed;
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
        bit<8> value;
        random(value, hdr.h.low, hdr.h.high);
        hdr.h.within = (value >= hdr.h.low && value <= hdr.h.high) ? 8w1 : 0;
        random<bit<8>>(hdr.h.fixed, hdr.h.low, hdr.h.low);
        standard_metadata.egress_spec = 2;
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
