// Header unions: making a member valid makes the others invalid, however that happens; comparison, copies, unions in
// structs, parameters and stacks.
#include <core.p4>
#include <v1model.p4>

header sel_t {
    bit<8> kind;
    bit<8> op;
    bit<8> seen;
}

header one_t {
    bit<8> x;
}

header two_t {
    bit<16> y;
}

header_union u_t {
    one_t one;
    two_t two;
}

struct holder_t {
    bit<8> n;
    u_t u;
}

struct metadata {
    holder_t holder;
}

struct headers {
    sel_t s;
    u_t u;
    u_t v;
    u_t[3] stack;
}

void make_one(inout u_t u, in bit<8> x) {
    u.one.setValid();
    u.one.x = x;
}

void out_union(out u_t u) {
    // Invalid here, whatever the argument was.
    if (!u.isValid()) {
        u.two.setValid();
        u.two.y = 0xabcd;
    }
}

u_t same(in u_t u) {
    return u;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.s);
        transition select(hdr.s.kind) {
            1: one;
            2: two;
            3: stack;
            default: accept;
        }
    }

    state one {
        packet.extract(hdr.u.one);
        transition accept;
    }

    state two {
        packet.extract(hdr.u.two);
        transition accept;
    }

    state stack {
        packet.extract(hdr.stack.next.one);
        packet.extract(hdr.stack.next.two);
        hdr.s.seen = hdr.s.seen + hdr.stack[0].one.x;
        hdr.s.seen = hdr.s.seen + hdr.stack.last.two.y[7:0];
        packet.extract(hdr.stack.next.one);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        one_t none;
        if (hdr.s.op == 0) {
            hdr.v = hdr.u;
            hdr.s.seen[0:0] = hdr.v == hdr.u ? 1w1 : 0;
            hdr.s.seen[1:1] = hdr.v.isValid() ? 1w1 : 0;
        } else if (hdr.s.op == 1) {
            hdr.u.one.setValid();
            hdr.u.one.x = 0x11;
        } else if (hdr.s.op == 2) {
            hdr.u.two = { 0x2222 };
        } else if (hdr.s.op == 3) {
            hdr.u.one = none;
        } else if (hdr.s.op == 4) {
            make_one(hdr.u, 0x44);
        } else if (hdr.s.op == 5) {
            meta.holder.u = hdr.u;
            make_one(meta.holder.u, 0x55);
            hdr.v = same(meta.holder.u);
            hdr.s.seen[0:0] = hdr.v != hdr.u ? 1w1 : 0;
            hdr.s.seen[1:1] = hdr.v == meta.holder.u ? 1w1 : 0;
        } else if (hdr.s.op == 6) {
            out_union(hdr.u);
        } else if (hdr.s.op == 7) {
            hdr.u.one.setInvalid();
        } else if (hdr.s.op == 8) {
            hdr.stack.push_front(1);
            hdr.stack[0].two.setValid();
            hdr.stack[0].two.y = 0x8888;
        } else if (hdr.s.op == 9) {
            hdr.stack.pop_front(2);
        } else if (hdr.s.op == 10) {
            bit<8> i = hdr.s.kind - 2;
            hdr.stack[i].one.setValid();
            hdr.stack[i].one.x = 0xaa;
            hdr.stack[2] = hdr.stack[i];
            hdr.stack[i + 9].two.setValid();
            hdr.s.seen = hdr.stack[i].isValid() && !hdr.stack[i + 2].isValid() ? 8w1 : 0;
        } else if (hdr.s.op == 11) {
            two_t t;
            t.setValid();
            t.y = 0xbbbb;
            hdr.u.two = t;
            one_t o = hdr.u.one;
            hdr.s.seen = o.isValid() ? 8w1 : 2;
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
