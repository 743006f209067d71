// `switch` with parameters of the constructor as labels; of two equal ones the first counts.
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

control Chooser(inout h_t h)(bit<8> first, bit<8> second) {
    apply {
        switch (h.a) {
            first: { h.b = 1; }
            second:
            second + 1: { h.b = 2; }
            8w0xff: { h.b = 3; }
            default: { h.b = 4; }
        }
    }
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
    Chooser(10, 20) one;
    Chooser(second = 30, first = 31) other;
    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.h.b == 0) {
            one.apply(hdr.h);
        } else {
            other.apply(hdr.h);
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
