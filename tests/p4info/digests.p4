// Digests: known by the type that they tell, or by a number; one in two places is one.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

struct pair_t {
    bit<8> low;
    bit<8> high;
}

struct learn_t {
    bit<48> address;
    bit<9> port;
    pair_t pair;
}

@name("renamed_t") struct other_t {
    bool flag;
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action learn() {
        digest<learn_t>(1, { hdr.ethernet.src, std.ingress_port, { 1, 2 } });
    }
    table t {
        key = { hdr.ethernet.src: exact; }
        actions = { learn; NoAction; }
    }
    apply {
        t.apply();
        if (hdr.ipv4.isValid()) {
            digest<learn_t>(1, { hdr.ethernet.dst, 3, { 3, 4 } });
        } else {
            digest<other_t>(2, { true });
        }
        digest(3, { hdr.ethernet.type, std.ingress_port });
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
