// Values without bits exist: as variables, fields, operands and arguments.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

header z_t {
    bit<0> x;
    bit<4> y;
    bit<0> w;
    bit<4> v;
}

struct metadata {
    bit<0> nothing;
}

struct headers {
    h_t h;
    z_t z;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.z);
        transition select(hdr.z.x, hdr.z.y) {
            (0, 5): accept;
            default: reject;
        }
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action add(bit<0> n, bit<8> x) {
        hdr.h.a = x + (bit<8>) n;
    }

    table t {
        key = {
            hdr.h.b: exact;
        }
        actions = {
            add;
        }
        const default_action = add(0, 3);
    }

    apply {
        standard_metadata.egress_spec = 2;
        t.apply();
        hdr.z.x = hdr.z.w;
        hdr.z.v = 1;
        bit<0> q = meta.nothing;
        hdr.h.b = hdr.h.a ++ meta.nothing;
        if (q == meta.nothing) {
            hdr.h.c = 7;
        }
        meta.nothing = q + ~q;
        hdr.h.d = (bit<8>) q;
        if (q != 0) {
            hdr.h.d = 0xff;
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
