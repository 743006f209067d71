// Sub-parsers applied inside loops, which `break` and `continue` leave.
#include <core.p4>
#include <v1model.p4>

header k_t { bit<8> k; bit<8> n; }
header a_t { bit<8> x; }

struct metadata {
}

struct headers {
    k_t k;
    a_t[4] s;
}

parser Sub(packet_in packet, inout a_t[4] s, out bit<8> last)(bit<8> add) {
    state start {
        packet.extract(s.next);
        s[s.lastIndex].x = s.last.x + add;
        last = s.last.x;
        transition accept;
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    Sub(1) sub;
    state start {
        packet.extract(hdr.k);
        if (hdr.k.n != 0) {
            for (bit<8> i = 0; i < hdr.k.n; i = i + 1) {
                bit<8> l;
                if (i == 3 && hdr.k.k == 0x0d) { break; }
                sub.apply(packet, hdr.s, l);
                if (l == 0x10) { continue; }
                hdr.k.k = hdr.k.k + l;
            }
        }
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.parser_error == error.StackOutOfBounds) hdr.k.k = 0xe1;
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
