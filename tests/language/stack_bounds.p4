// Stacks at their bounds: `next` of a full one, `last` and `lastIndex` of an empty one, pushes and pops beyond the
// size, copies with their `next`, indices out of range.
#include <core.p4>
#include <v1model.p4>

header op_t { bit<8> k; bit<8> n; bit<8> r1; bit<8> r2; bit<32> li; }
header h8 { bit<8> v; }

struct metadata {
    bit<8> n;
}

struct headers {
    op_t op;
    h8[3] s;
    h8[2] t;
}


parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.op);
        meta.n = hdr.op.n;
        transition select(hdr.op.k) {
            0x20: lastempty;
            0x21: lastindex_empty;
            0x22: fill4;
            0x23: reading_next;
            0x24: copy_stack;
            0x25: next_by_assign;
            0x26: overflow_push;
            default: loop;
        }
    }
    state loop {
        transition select(meta.n) {
            0: accept;
            default: one;
        }
    }
    state one {
        packet.extract(hdr.s.next);
        meta.n = meta.n - 1;
        hdr.op.li = hdr.s.lastIndex;
        transition loop;
    }
    @noWarn("uninitialized") state lastempty {
        hdr.op.r1 = 1;
        hdr.op.r2 = hdr.s.last.v;
        hdr.op.r1 = 2;
        transition accept;
    }
    state lastindex_empty {
        hdr.op.r1 = 1;
        hdr.op.li = hdr.s.lastIndex;
        hdr.op.r1 = 2;
        transition accept;
    }
    state fill4 {
        packet.extract(hdr.s[0]);
        packet.extract(hdr.s[1]);
        packet.extract(hdr.s.next);
        transition accept;
    }
    state reading_next {
        packet.extract(hdr.s.next);
        hdr.s.next.setValid();
        hdr.s.next.v = 0x77;
        packet.extract(hdr.s.next);
        hdr.op.r1 = hdr.s.last.v;
        hdr.op.li = hdr.s.lastIndex;
        transition accept;
    }
    state copy_stack {
        packet.extract(hdr.s.next);
        packet.extract(hdr.s.next);
        h8[3] x = hdr.s;
        packet.extract(x.next);
        hdr.op.r1 = x.last.v;
        hdr.op.li = x.lastIndex;
        hdr.s[0].setInvalid();
        hdr.op.r2 = x[0].v;
        transition accept;
    }
    state next_by_assign {
        packet.extract(hdr.s.next);
        hdr.s.push_front(1);
        hdr.op.li = hdr.s.lastIndex;
        hdr.s[0].setValid();
        hdr.s[0].v = 0x55;
        packet.extract(hdr.s.next);
        hdr.s.pop_front(2);
        hdr.op.r1 = (bit<8>) hdr.s.lastIndex;
        packet.extract(hdr.s.next);
        transition accept;
    }
    state overflow_push {
        packet.extract(hdr.s.next);
        packet.extract(hdr.s.next);
        packet.extract(hdr.s.next);
        hdr.s.push_front(2);
        hdr.op.li = hdr.s.lastIndex;
        packet.extract(hdr.s.next);
        hdr.op.r1 = 1;
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.parser_error != error.NoError) {
            hdr.op.k = 0xE0;
            if (standard_metadata.parser_error == error.StackOutOfBounds) hdr.op.k = 0xE1;
            if (standard_metadata.parser_error == error.PacketTooShort) hdr.op.k = 0xE2;
            if (standard_metadata.parser_error == error.NoMatch) hdr.op.k = 0xE3;
        }
        switch (hdr.op.k) {
            1: { hdr.s.push_front(1); }
            2: { hdr.s.push_front(5); }
            3: { hdr.s.pop_front(5); }
            4: { hdr.s.push_front(1); hdr.s[0].setValid(); }
            5: { hdr.s.pop_front(1); }
            6: { hdr.s[hdr.op.r1].v = hdr.op.r2; }
            7: { hdr.op.r2 = hdr.s[hdr.op.r1].v; }
            8: { hdr.s[hdr.op.r1].setInvalid(); }
            9: { hdr.s[1] = hdr.s[0]; hdr.s[0].setInvalid(); }
            10: { hdr.op.r1 = (bit<8>) hdr.s.size; }
            11: { hdr.s.push_front(3); hdr.s[2].setValid(); hdr.s[2].v = 0x99;}
            12: { hdr.t[1] = hdr.s[2]; hdr.s[2] = hdr.t[0]; }
            13: { hdr.s[hdr.op.r1] = hdr.s[hdr.op.r2]; }
            14: { h8 x = hdr.s[hdr.op.r1]; hdr.s[hdr.op.r1] = hdr.s[hdr.op.r2]; hdr.s[hdr.op.r2] = x; }
            15: { h8[3] c = hdr.s; hdr.op.r1 = (c == hdr.s) ? 8w1 : 0; c[1].v = 0xff; hdr.op.r2 = (c == hdr.s) ? 8w1 : 0; }
            16: { hdr.s[2].setInvalid(); h8[3] c = hdr.s; c[2].v = 0xff; hdr.op.r2 = (c == hdr.s) ? 8w1 : 0; }
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
