// Structure-valued expressions: by name, by position, with defaults and invalid headers, nested, chosen, compared,
// returned.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

header e_t {
    bit<8> v;
}

enum color_t { red, green, blue }

enum bit<8> level_t { low = 4, high = 9 }

type bit<8> port_t;

struct inner_t {
    bit<8> x;
    bool flag;
    color_t color;
}

struct outer_t {
    inner_t first;
    tuple<bit<8>, bit<4>> pair;
    e_t e;
    level_t level;
    port_t port;
    error err;
}

struct metadata { }

struct headers {
    h_t h;
    e_t e;
    e_t f;
}

inner_t make(in bit<8> x) {
    return { x = x, flag = true, color = color_t.blue };
}

outer_t nested(in bit<8> x, in bool valid) {
    e_t e = { x };
    if (!valid) {
        e = (e_t) {#};
    }
    return { first = make(x), pair = { x + 1, 4w3 }, e = e, level = level_t.high, port = (port_t) x, err = error.NoMatch };
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
        standard_metadata.egress_spec = 2;
        outer_t o = nested(hdr.h.a, hdr.h.b == 0);
        outer_t p = { first = { x = hdr.h.a, ... }, level = level_t.high, ... };
        outer_t q = o;
        outer_t z = ...;
        bit<8> seen = 0;
        seen[0:0] = o == q ? 1w1 : 0;
        q.err = error.NoError;
        seen[1:1] = o == q ? 1w1 : 0;
        seen[2:2] = p.e.isValid() || z.e.isValid() ? 1w1 : 0;
        seen[3:3] = o.first == (inner_t) { hdr.h.a, true, color_t.blue } ? 1w1 : 0;
        seen[4:4] = p.first.flag || p.first.color != color_t.red || z.first.x != 0 ? 1w1 : 0;
        seen[5:5] = o.e.isValid() ? 1w1 : 0;
        seen[6:6] = o.pair == { hdr.h.a + 1, 4w3 } ? 1w1 : 0;
        seen[7:7] = z.err == error.NoError && z.level != level_t.low && o.err == error.NoMatch ? 1w1 : 0;
        inner_t chosen = hdr.h.a == 1 ? o.first : p.first;
        hdr.h.c = chosen.flag ? chosen.x : 0x80;
        hdr.e = o.e;
        hdr.f = hdr.h.b == 2 ? (e_t) { 0x42 } : o.e;
        hdr.h.d = (bit<8>) o.level + (bit<8>) o.port + o.pair[0];
        hdr.h.b = seen;
        if (hdr.h == { hdr.h.a, seen, hdr.h.c, hdr.h.d }) {
            hdr.h.a = 0xf0;
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
