// Parsers: select of every kind, value sets, sub-parsers, stacks, errors.
#include <core.p4>

header E { bit<48> d; bit<48> s; bit<16> t; }
header V { bit<8> len; varbit<320> data; }
header L { bit<20> label; bit<3> tc; bit<1> bos; bit<8> ttl; }
struct H { E e; V v; L[4] labels; }
struct Key { bit<16> t; bit<8> len; }
error { BadLength }

parser Sub(packet_in p, out V v)(bit<8> limit) {
    state start {
        v.len = p.lookahead<bit<8>>();
        verify(v.len < limit, error.BadLength);
        p.extract(v, (bit<32>)v.len * 8);
        transition accept;
    }
}

parser P(packet_in p, out H h, inout bit<8> meta) {
    value_set<bit<16>>(4) types;
    value_set<Key>(8) keys;
    value_set<tuple<bit<16>, bit<8>>>(8) tuples;
    Sub(40) sub;
    bit<8> count = 0;
    const bit<16> vlan = 0x8100;
    state start {
        p.extract(h.e);
        bit<8> local = 1;
        transition select(h.e.t, local) {
            (0x0800, 1): labels;
            (0x0800 &&& 0xff00, 1 .. 3): labels;
            (vlan, _): skip;
            (types, default): skip;
            keys: variable;
            tuples: variable;
            default: accept;
        }
    }
    state labels {
        p.extract(h.labels.next);
        if (h.labels.last.ttl == 0) { meta = 1; } else { meta = (bit<8>)h.labels.lastIndex; }
        count = count + 1;
        transition select(h.labels.last.bos, h.labels.lastIndex) {
            (0, _): labels;
            (1, 0 .. 3): accept;
        }
    }
    state skip {
        p.advance(32);
        meta = (bit<8>)p.length();
        transition select(h.e.t) {
            types: variable;
            0x1 &&& 0x1: reject;
            _: accept;
        }
    }
    state variable {
        sub.apply(p, h.v);
        transition select({ h.e.t == 3 } == { true }, h.e.isValid()) {
            (true, false): accept;
            (_, _): reject;
        }
    }
}
