// Select keys that are tuples, and value sets beside other keys, also of tuples in tuples.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
}

header mark_t {
    bit<8> v;
}

struct pair_t {
    bit<8> x;
    @match(ternary)
    bit<8> y;
}

struct metadata { }

struct headers {
    h_t h;
    mark_t mark;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    value_set<bit<8>>(4) ports;
    value_set<pair_t>(4) pairs;
    value_set<tuple<bit<8>, bit<8>>>(4) tuples;
    value_set<tuple<tuple<bit<8>, bit<8>>, bit<8>>>(4) nested;

    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a, hdr.h.b, hdr.h.c) {
            (ports, 1, _): one;
            (2, ports, 0 .. 3): two;
            (ports, ports, ports): three;
            default: next;
        }
    }

    state next {
        pair_t p = { hdr.h.a, hdr.h.b };
        transition select(p.x, p.y) {
            pairs: four;
            default: more;
        }
    }

    state more {
        transition select(hdr.h.b, hdr.h.c) {
            tuples: five;
            (0x40 &&& 0xf0, _): six;
            (_, 7): six;
            default: last;
        }
    }

    state last {
        transition select({ hdr.h.a, hdr.h.b }, hdr.h.c) {
            nested: seven;
        }
    }

    state one {
        hdr.mark.setValid();
        hdr.mark.v = 1;
        transition accept;
    }

    state two {
        hdr.mark.setValid();
        hdr.mark.v = 2;
        transition accept;
    }

    state three {
        hdr.mark.setValid();
        hdr.mark.v = 3;
        transition accept;
    }

    state four {
        hdr.mark.setValid();
        hdr.mark.v = 4;
        transition accept;
    }

    state five {
        hdr.mark.setValid();
        hdr.mark.v = 5;
        transition accept;
    }

    state six {
        hdr.mark.setValid();
        hdr.mark.v = 6;
        transition accept;
    }

    state seven {
        hdr.mark.setValid();
        hdr.mark.v = 7;
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
            hdr.mark.setValid();
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
