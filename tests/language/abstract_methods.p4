// An object whose abstract methods the program writes; they see what is declared around them.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> value;
    bit<8> twice;
    bit<8> offset;
}

struct metadata { }

struct headers {
    h_t h;
}

extern Pair {
    Pair();
    abstract bit<8> apply_to(in bit<8> value);
    abstract void swap(inout bit<8> left, inout bit<8> right);
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
    bit<8> offset = 7;
    Pair() pair = {
        bit<8> apply_to(in bit<8> value) {
            return value + value;
        }
        void swap(inout bit<8> left, inout bit<8> right) {
            bit<8> kept = left;
            left = right;
            right = kept;
        }
    };
    apply {
        hdr.h.twice = pair.apply_to(hdr.h.value);
        hdr.h.offset = offset;
        pair.swap(hdr.h.value, hdr.h.offset);
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
