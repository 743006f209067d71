// Arguments are copied in and out: aliases see the old value inside the call, and the last parameter to be copied
// out wins. An index is evaluated once, before the call.
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

struct two_t {
    bit<8> x;
    bit<8> y;
}

struct metadata {
    two_t two;
    bit<8> index;
}

struct headers {
    h_t h;
    e_t[3] es;
}

bit<8> bump(inout bit<8> x) {
    x = x + 1;
    return x;
}

bit<8> both(inout bit<8> x, inout bit<8> y) {
    x = x + 1;
    y = y + 2;
    return x + y;
}

void swap(inout bit<8> x, inout bit<8> y) {
    bit<8> t = x;
    x = y;
    y = t;
}

void whole(inout two_t p, inout bit<8> part) {
    p.x = p.x + 1;
    part = part + 0x10;
}

void only_out(out bit<8> x, in bit<8> y) {
    x = y + 1;
}

void header_out(out e_t e, in bit<8> v) {
    if (!e.isValid()) {
        e.setValid();
        e.v = v;
    }
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
    action change_all(inout bit<8> x) {
        // The action sees the control's storage beside its copy.
        x = x + 1;
        hdr.h.a = 0x77;
        x = x + hdr.h.b;
    }

    action moves(inout bit<8> x, in bit<8> old) {
        meta.index = 2;
        x = old + 1;
    }

    apply {
        standard_metadata.egress_spec = 2;
        // The same place twice: both parameters start from it, the second is copied out last.
        bit<8> s = both(hdr.h.a, hdr.h.a);
        hdr.h.b = s;
        swap(hdr.h.c, hdr.h.d);
        meta.two.x = 1;
        meta.two.y = 2;
        whole(meta.two, meta.two.x);
        hdr.h.c = hdr.h.c + meta.two.x;
        meta.index = 0;
        hdr.es[0].setValid();
        hdr.es[0].v = 0x20;
        hdr.es[2].setValid();
        hdr.es[2].v = 0x22;
        moves(hdr.es[meta.index].v, hdr.es[meta.index].v);
        header_out(hdr.es[2], 0x55);
        header_out(hdr.es[1], hdr.es[0].v);
        only_out(hdr.h.d, hdr.h.d);
        bit<8> q = bump(hdr.h.a) + hdr.h.a + bump(hdr.h.a);
        hdr.es[1].v = q;
        @noWarn("unused") bit<8> z = hdr.h.a;
        change_all(hdr.h.a);
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
