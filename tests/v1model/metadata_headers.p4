// Headers among the metadata keep what is written to them, whether they are valid or not: those that only some packets
// make valid, elements of stacks at a run-time index, members of unions. Headers of the packet do not.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> kind;
    bit<8> i;
    bit<8> a;
    bit<8> b;
    bit<16> c;
}

header m_t {
    bit<8> a;
    bit<4> high;
    bit<4> low;
}

header wide_t {
    bit<128> value;
}

header_union union_t {
    m_t m;
    wide_t w;
}

struct metadata {
    m_t one;
    m_t other;
    m_t parsed;
    wide_t wide;
    m_t[3] stack;
    m_t[2] layers;
    union_t either;
}

struct headers {
    h_t h;
    m_t packet;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        meta.parsed.low = 5;
        transition select(hdr.h.kind) {
            0x10 &&& 0xf0: parsed;
            0x20 &&& 0xf0: layers;
            default: accept;
        }
    }
    state parsed {
        packet.extract(meta.parsed);
        transition accept;
    }
    state layers {
        packet.extract(meta.layers.next);
        transition select(meta.layers.last.low) {
            0: accept;
            default: layers;
        }
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

bit<8> sum(in m_t given) {
    return given.a + (given.high ++ given.low);
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<m_t>(2) kept;

    action matched() {
        hdr.h.c = 0xaaaa;
    }
    table by_field {
        key = { meta.one.a: exact; }
        actions = { matched; NoAction; }
        const default_action = NoAction();
        const entries = { 0x20: matched(); }
    }
    table by_element {
        key = { meta.stack[hdr.h.i + 1].a: exact @name("a"); }
        actions = { matched; NoAction; }
        const default_action = NoAction();
        const entries = { 0x30: matched(); }
    }
    action add(inout m_t given, in bit<8> more) {
        given.a = given.a + more;
        given.low = given.low + 1;
    }
    action remove_and_add(inout m_t given) {
        given.setInvalid();
        given.a = given.a + 1;
    }

    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.h.kind == 1) {
            // Written while invalid; zero once it becomes valid; kept when it ends.
            meta.one.a = 7;
            hdr.h.a = meta.one.a;
            meta.one.setValid();
            hdr.h.b = meta.one.a;
            meta.one.a = 9;
            meta.one.setValid();
            meta.one.setInvalid();
            meta.one.high = 3;
        } else if (hdr.h.kind == 2) {
            meta.one.a = 0x20;
            by_field.apply();
            hdr.h.a = sum(meta.one);
            add(meta.one, hdr.h.i);
            add(meta.one, 1);
        } else if (hdr.h.kind == 3) {
            // Copies among the metadata are of contents and validity.
            meta.other.setValid();
            meta.other.a = 4;
            meta.one = meta.other;
            hdr.h.a = meta.one.isValid() ? meta.one.a : 0;
            meta.other.setInvalid();
            meta.other.a = 5;
            meta.one = meta.other;
            hdr.h.b = meta.one.isValid() ? 8w0 : meta.one.a;
        } else if (hdr.h.kind == 4) {
            // From and to the packet.
            hdr.packet.setValid();
            hdr.packet.a = 6;
            meta.one = hdr.packet;
            meta.one.low = 2;
            hdr.packet = meta.one;
            meta.other.a = 3;
            hdr.h.a = meta.one.a;
        } else if (hdr.h.kind == 5) {
            hdr.packet.a = 6;
            meta.one.a = 1;
            meta.one = hdr.packet;
            hdr.h.a = meta.one.a;
            hdr.h.b = hdr.packet.a;
            meta.one.a = 2;
            hdr.packet = meta.one;
        } else if (hdr.h.kind == 6) {
            // A run-time index; beyond the end there is nothing.
            meta.stack[hdr.h.i].a = hdr.h.a;
            meta.stack[hdr.h.i].low = 3;
            meta.stack[hdr.h.i].a[7:4] = 0xc;
            hdr.h.b = meta.stack[hdr.h.i].a;
            meta.stack[meta.stack[hdr.h.i].low - 1].high = 1;
            hdr.h.c = meta.stack[0].a ++ (meta.stack[1].low ++ meta.stack[2].high);
        } else if (hdr.h.kind == 7) {
            meta.stack[2].a = 0x30;
            by_element.apply();
            meta.stack[hdr.h.i].setValid();
            meta.stack[hdr.h.i].a = 1;
            meta.stack[0] = meta.stack[hdr.h.i];
            hdr.h.a = meta.stack[0].isValid() ? meta.stack[0].a : 0xff;
            meta.one.a = 8;
            meta.stack[hdr.h.i] = meta.one;
            meta.other = meta.stack[hdr.h.i];
            hdr.h.b = meta.other.a;
        } else if (hdr.h.kind == 8) {
            meta.stack[0].a = 1;
            meta.stack[1].a = 2;
            meta.stack[2].a = 3;
            if (hdr.h.i == 0) {
                meta.stack.push_front(1);
            } else {
                meta.stack.pop_front(2);
            }
            hdr.h.a = meta.stack[0].a;
            hdr.h.b = meta.stack[1].a;
            hdr.h.c[7:0] = meta.stack[2].a;
        } else if (hdr.h.kind == 9) {
            meta.either.m.setValid();
            meta.either.m.a = 1;
            meta.either.w.setValid();
            meta.either.w.value[15:0] = 0x1234;
            hdr.h.a = meta.either.m.isValid() ? 8w0 : meta.either.m.a;
            meta.either.m.setValid();
            hdr.h.b = meta.either.m.a + 5;
            hdr.h.c = meta.either.w.value[15:0];
        } else if (hdr.h.kind == 10) {
            meta.one.a = 3;
            kept.write(1, meta.one);
            meta.other.setValid();
            kept.read(meta.other, 1);
            hdr.h.a = meta.other.a;
            hdr.h.b = meta.other.isValid() ? 8w1 : 8w0;
            // Hashes leave out the fields of a header that can be valid and is not.
            hash(hdr.h.c, HashAlgorithm.identity, 16w0, { meta.one.a, hdr.h.i, meta.wide.value }, 32w65536);
        } else if (hdr.h.kind == 11) {
            meta.one.setValid();
            meta.one = { 3, 4, 5 };
            remove_and_add(meta.one);
            hdr.h.a = meta.one.a;
            m_t local = meta.one;
            local.low = 1;
            meta.other = local;
            hdr.h.b = meta.other.high ++ meta.other.low;
            hdr.h.c = meta.one.isValid() || meta.other.isValid() ? 16w1 : 16w0;
        } else if (hdr.h.kind == 0x10) {
            hdr.h.a = meta.parsed.a;
            meta.parsed.setInvalid();
            meta.parsed.a = meta.parsed.a + 1;
            hdr.h.b = meta.parsed.high ++ meta.parsed.low;
        } else if (hdr.h.kind == 0x20) {
            hdr.h.a = meta.layers[0].a;
            meta.layers[0].setInvalid();
            meta.layers[hdr.h.i].a = meta.layers[hdr.h.i].a + 1;
            hdr.h.b = meta.layers[0].isValid() ? 8w0 : meta.layers[0].a;
            hdr.h.c = meta.layers[1].a ++ (meta.layers[1].isValid() ? 8w1 : 8w0);
        } else {
            hdr.h.a = meta.parsed.high ++ meta.parsed.low;
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.h.kind == 1) {
            hdr.h.c = meta.one.a ++ (meta.one.high ++ meta.one.low);
        } else if (hdr.h.kind == 2) {
            hdr.h.b = meta.one.a + (bit<8>) meta.one.low;
        } else if (hdr.h.kind == 4) {
            hdr.h.b = meta.other.a;
        } else if (hdr.h.kind == 0x10) {
            hdr.h.c = meta.parsed.a ++ (meta.parsed.isValid() ? 8w1 : 8w0);
        } else if (hdr.h.kind == 12) {
            meta.one.setValid();
            meta.wide.setValid();
        }
    }
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
