// The right side of an assignment is whole before anything is written: parts change places. The same variable given
// twice to an action gets what is copied out last.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
    bit<8> e;
    bit<8> f;
}

struct metadata { }

struct headers {
    h_t h;
}

struct pair_t {
    bit<8> x;
    bit<8> y;
}

struct pairs_t {
    pair_t p;
    pair_t q;
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
    action add(inout bit<8> x, inout bit<8> y) {
        x = x + 1;
        y = y + 2;
        x = x + y;
    }

    action give(out bit<8> x, out bit<8> y) {
        x = 5;
        y = 6;
    }

    apply {
        pair_t s = { hdr.h.a, hdr.h.b };
        s = { s.y, s.x };
        tuple<bit<8>, bit<8>> t = { hdr.h.c, hdr.h.d };
        t = { t[1], t[0] };
        pairs_t w = { s, { t[0], t[1] } };
        w = { w.q, w.p };
        bit<8>[2] row = { 1, 2 };
        row = { row[1], row[0] };
        hdr.h = { w.p.x, w.p.y, w.q.x + row[0], w.q.y + row[1], hdr.h.f, hdr.h.e };
        add(hdr.h.e, hdr.h.e);
        give(hdr.h.f, hdr.h.f);
        standard_metadata.egress_spec = 1;
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
