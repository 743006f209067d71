// Generic structs, headers and functions, with type arguments written and inferred; controls with constructor
// parameters.
#include <core.p4>
#include <v1model.p4>

header h_t<T> {
    T a;
    bit<8> b;
}

header w_t {
    bit<8> v;
    bit<16> w;
}

struct pair_t<A, B> {
    A first;
    B second;
}

struct metadata {
    pair_t<bit<8>, pair_t<bit<16>, bit<8>>> m;
}

struct headers {
    h_t<bit<16>> h;
    h_t<bit<8>> g;
    w_t w;
}

T pick<T>(in bool first, in T a, in T b) {
    return first ? a : b;
}

pair_t<B, A> flip<A, B>(in pair_t<A, B> p) {
    return { first = p.second, second = p.first };
}

void put<T>(out T to, in T from) {
    to = from;
}

control Scale(inout bit<8> x)(bit<8> factor, bool twice) {
    apply {
        x = x * factor;
        if (twice) {
            x = x * factor;
        }
    }
}

control Twice(inout bit<8> x)(bit<8> factor) {
    Scale(factor, false) once;
    Scale(factor = factor + 1, twice = true) more;

    apply {
        once.apply(x);
        more.apply(x = x);
    }
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.b) {
            1: more;
            default: accept;
        }
    }

    state more {
        packet.extract(hdr.g);
        packet.extract<w_t>(hdr.w);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    Twice(2) twice;

    apply {
        standard_metadata.egress_spec = 2;
        meta.m = { first = 1, second = { first = 0x0203, second = 4 } };
        pair_t<pair_t<bit<16>, bit<8>>, bit<8>> f = flip(meta.m);
        hdr.h.a = pick(hdr.h.b == 1, f.first.first, 16w0xffff);
        if (hdr.g.isValid()) {
            hdr.g.a = f.second + f.first.second;
            put(hdr.g.b, pick<bit<8>>(false, 1, hdr.w.v));
            hdr.w.w = pick(true, hdr.w.w + 1, 0);
        }
        twice.apply(hdr.h.b);
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
