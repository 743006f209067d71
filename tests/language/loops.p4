// `for` over a range and over conditions, `break` and `continue`.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> sum;
    bit<8> odd;
    bit<8> bits;
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
        bit<8> sum = 0;
        for (bit<8> i in 1 .. hdr.h.a) {
            if (i == hdr.h.b) {
                break;
            }
            sum = sum + i;
            if (i[0:0] == 0) {
                continue;
            }
            hdr.h.odd = hdr.h.odd + 1;
        }
        hdr.h.sum = sum;
        for (bit<8> rest = hdr.h.b; rest != 0; rest = rest & (rest - 1)) {
            hdr.h.bits = hdr.h.bits + 1;
        }
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
