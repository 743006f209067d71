// Select keys that are structs: their fields count one by one, also beside other keys, in structs and in value sets.
#include <core.p4>
#include <v1model.p4>

struct inner_t {
    bit<4> high;
    bit<4> low;
}

struct pair_t {
    inner_t first;
    bit<8>  second;
}

struct flat_t {
    bit<8> second;
    bit<8> third;
}

header h_t {
    inner_t first;
    bit<8>  second;
    bit<8>  third;
}

header mark_t {
    bit<8> v;
}

struct metadata { }

struct headers {
    h_t    h;
    mark_t mark;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    value_set<flat_t>(4) flats;
    pair_t both;

    state start {
        packet.extract(hdr.h);
        both = { hdr.h.first, hdr.h.second };
        hdr.mark.setValid();
        transition select(both) {
            (pair_t){ { 1, 2 }, 3 }: one;
            default: flat;
        }
    }

    state flat {
        flat_t rest = { hdr.h.second, hdr.h.third };
        transition select(rest) {
            flats: two;
            default: more;
        }
    }

    state more {
        transition select(hdr.h.first, hdr.h.third) {
            ({ 4, 5 }, 0 .. 9): three;
            (_, 7): four;
            default: last;
        }
    }

    state last {
        transition select({ hdr.h.first, hdr.h.second }) {
            { { 8, 8 }, 8 }: one;
        }
    }

    state one {
        hdr.mark.v = 1;
        transition accept;
    }

    state two {
        hdr.mark.v = 2;
        transition accept;
    }

    state three {
        hdr.mark.v = 3;
        transition accept;
    }

    state four {
        hdr.mark.v = 4;
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.parser_error == error.NoMatch) {
            hdr.mark.v = 0xee;
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
