// Headers among the metadata that nothing makes valid keep what is written to them, from block to block, in parameters,
// copies, keys of tables and inputs of hashes. They are never valid. (metadata_headers.p4 has those that may be.)
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<16> c;
}

header words_t {
    bit<4> high;
    bit<4> low;
    bit<128> wide;
}

struct inner_t {
    words_t words;
}

struct metadata {
    h_t given;
    h_t copied;
    h_t never_written;
    inner_t inner;
    words_t[2] stack;
    @field_list(1)
    h_t kept;
    h_t lost;
    // This one is made valid by some packets, and keeps what others write.
    h_t sometimes;
}

struct headers {
    h_t h;
    h_t unused;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        meta.given.a = hdr.h.a;
        transition select(meta.given.a) {
            0xff: sometimes;
            default: accept;
        }
    }
    state sometimes {
        packet.extract(meta.sometimes);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

bit<8> sum(in h_t given) {
    return given.a + given.b;
}

control Fill(inout h_t given, inout inner_t inner) {
    apply {
        given.b = 0x20;
        inner.words.low = 3;
        inner.words.high = 4;
        inner.words.wide[127:120] = 0x99;
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    Fill() fill;

    action add(inout h_t given, in bit<8> more) {
        given.a = given.a + more;
    }
    action matched() {
        hdr.h.c = 0xaaaa;
    }
    table by_field {
        key = { meta.copied.b: exact; }
        actions = { matched; NoAction; }
        const default_action = NoAction();
        const entries = { 0x20: matched(); }
    }

    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.h.a == 1) {
            fill.apply(meta.given, meta.inner);
            hdr.h.a = meta.given.b;
            hdr.h.b = meta.inner.words.high ++ meta.inner.words.low;
            hdr.h.c = meta.inner.words.wide[127:112];
        } else if (hdr.h.a == 2) {
            meta.given.b = 0x20;
            meta.copied = meta.given;
            meta.given.b = 0;
            by_field.apply();
            hdr.h.b = sum(meta.copied);
        } else if (hdr.h.a == 3) {
            meta.given.b = 7;
            add(meta.given, meta.given.b);
            // An invalid header: what it is assigned to becomes invalid, and is equal to another invalid one.
            hdr.h.b = meta.given.isValid() ? 8w1 : (meta.given == meta.never_written ? meta.given.a : 2);
            hdr.h.c = meta.never_written.c;
        } else if (hdr.h.a == 4) {
            hash(hdr.h.c, HashAlgorithm.identity, 16w0, { meta.given.a, hdr.unused.a, hdr.h.a }, 32w65536);
            hdr.unused.b = 5;
            hdr.h.b = hdr.unused.b;
        } else if (hdr.h.a == 5) {
            meta.stack[0].low = 1;
            meta.stack[1].low = 2;
            meta.stack[1].high = 3;
            hdr.h.b = meta.stack[1].high ++ (meta.stack[0].low + meta.stack[1].low);
        } else if (hdr.h.a == 6) {
            meta.kept.a = 6;
            meta.lost.a = 7;
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        } else if (hdr.h.a == 7) {
            hdr.unused = meta.given;
            hdr.h = meta.given;
        } else if (hdr.h.a == 8) {
            meta.sometimes.a = 8;
            hdr.h.b = meta.sometimes.a;
        } else if (hdr.h.a == 0xff) {
            meta.sometimes.a = meta.sometimes.a + 1;
            hdr.h = meta.sometimes;
        } else if (hdr.h.a == 9) {
            meta.given.setInvalid();
            hdr.h.b = meta.given.a;
        }
        meta.lost.b = 0x40;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.h.a == 6) {
            hdr.h.b = meta.lost.b | meta.kept.a;
            hdr.h.c = meta.lost.a ++ meta.given.a;
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
