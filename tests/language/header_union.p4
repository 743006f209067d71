// A union has one valid member: the others become invalid.
#include <core.p4>
#include <v1model.p4>

header kind_t {
    bit<8> kind;
}

header byte_t {
    bit<8> value;
}

header word_t {
    bit<16> value;
}

header_union number_t {
    byte_t small;
    word_t large;
}

struct metadata { }

struct headers {
    kind_t kind;
    number_t number;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            1: parse_small;
            2: parse_large;
            default: accept;
        }
    }

    state parse_small {
        packet.extract(hdr.number.small);
        transition accept;
    }

    state parse_large {
        packet.extract(hdr.number.large);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.number.small.isValid()) {
            bit<8> value = hdr.number.small.value;
            hdr.number.large.setValid();
            hdr.number.large.value = (bit<16>) value + 0x100;
            hdr.kind.kind = 2;
        } else if (hdr.number.large.isValid()) {
            bit<8> value = hdr.number.large.value[7:0];
            hdr.number.small.setValid();
            hdr.number.small.value = value;
            hdr.kind.kind = 1;
        }
        if (!hdr.number.isValid()) {
            hdr.kind.kind = 0xee;
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
        packet.emit(hdr.kind);
        packet.emit(hdr.number);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
