// What generators of tests write beyond the original form: names in quotes, ranges, masks, prefixes after a slash.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> a; bit<16> b; bit<8> c; bit<8> result; }
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
    action set(bit<8> value, bit<9> port) { hdr.h.result = value; standard_metadata.egress_spec = port; }
    table ranges {
        key = { hdr.h.a: range @name("a_range"); hdr.h.b: ternary @name("hdr.h.b[15:0]"); hdr.h.c: optional; }
        actions = { set; NoAction; }
        default_action = NoAction();
    }
    table prefixes {
        key = { hdr.h.b: lpm @name("key b"); hdr.h.isValid(): exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
    }
    apply {
        standard_metadata.egress_spec = 2;
        if (ranges.apply().miss) {
            prefixes.apply();
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
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
