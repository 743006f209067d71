// Short-circuit operators do not evaluate what they need not; the conditional operator neither.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

bool noting(inout bit<8> log, in bit<8> number, in bool result) {
    log = log * 10 + number;
    return result;
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
        bit<8> log = 0;
        if (noting(log, 1, hdr.h.a > 5) && noting(log, 2, hdr.h.a > 50)) {
            log = log + 100;
        }
        if (noting(log, 3, hdr.h.a > 5) || noting(log, 4, false)) {
            log = log + 1;
        }
        hdr.h.b = hdr.h.a == 0 ? 8w255 : log;
        standard_metadata.egress_spec = !(hdr.h.a == 9) ? 9w2 : 3;
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
