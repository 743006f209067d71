// Each instance of a control has tables of its own, with control-plane names of their own; actions and names may be
// renamed.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

struct metadata { }

struct headers {
    h_t h;
}

action shared(inout bit<8> x, bit<8> y) {
    x = x ^ y;
}

control Inner(inout bit<8> x, in bit<8> key_value)(bit<8> step) {
    action add(bit<8> y) {
        x = x + y + step;
    }

    @name("renamed") action sub(bit<8> y) {
        x = x - y;
    }

    table t {
        key = {
            key_value: exact @name("k");
            x[3:0]: ternary @name("low");
        }
        actions = {
            add;
            sub;
            shared(x);
            NoAction;
        }
        default_action = add(0);
    }

    @name("named_table") table other {
        key = {
            x: exact;
        }
        actions = {
            sub;
            @defaultonly NoAction;
        }
    }

    apply {
        t.apply();
        other.apply();
    }
}

control Outer(inout bit<8> x, in bit<8> k) {
    Inner(1) first;
    @name("last") Inner(2) second;

    apply {
        first.apply(x, k);
        second.apply(x, k);
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
    Outer() left;
    Inner(0x10) right;

    apply {
        standard_metadata.egress_spec = 2;
        left.apply(hdr.h.b, hdr.h.a);
        right.apply(hdr.h.c, hdr.h.a);
        left.apply(hdr.h.d, hdr.h.a);
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
