// `switch` on a value: fallthrough labels, default, and none that fits.
#include <core.p4>
#include <v1model.p4>

enum bit<8> Kind {
    FIRST = 1,
    SECOND = 2,
    LAST = 0xff
}

header h_t {
    Kind a;
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
        switch (hdr.h.a) {
            Kind.FIRST:
            Kind.SECOND: { hdr.h.b = 12; }
            Kind.LAST: { hdr.h.b = 99; }
            default: { hdr.h.b = 77; }
        }
        switch (hdr.h.b + 1) {
            13: { standard_metadata.egress_spec = 3; }
            100: { }
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
