// Actions with structs, enums, booleans and signed values as parameters of the control plane, and with arguments
// that the table binds.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

enum bit<8> kind_t { plain = 1, other = 3 }

type bit<8> port_t;

struct inner_t {
    bit<8> x;
    int<8> y;
}

struct args_t {
    bit<8> n;
    inner_t inner;
}

struct metadata { }

struct headers {
    h_t h;
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
    bit<8> side = 0x40;

    action take(args_t args, bool flag, kind_t kind, port_t port) {
        hdr.h.b = args.n + args.inner.x;
        hdr.h.c = (bit<8>) (args.inner.y >> 1);
        hdr.h.d = flag ? (bit<8>) kind : (bit<8>) port;
    }

    action bound(in bit<8> x, inout bit<8> y, out bit<8> z, bit<8> w) {
        y = y + x;
        z = w;
    }

    table t {
        key = {
            hdr.h.a: exact;
        }
        actions = {
            take;
            bound(hdr.h.a + 1, side, hdr.h.d);
        }
        default_action = take({ n = 1, inner = { 2, -4 } }, true, kind_t.other, (port_t) 9);
        const entries = {
            1: take({ 5, { x = 6, y = 8s0x40 } }, false, kind_t.plain, (port_t) 9);
            2: bound(hdr.h.a + 1, side, hdr.h.d, 0x66);
        }
    }

    apply {
        standard_metadata.egress_spec = 2;
        t.apply();
        hdr.h.a = side;
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
