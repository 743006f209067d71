// From version 20200408 of v1model on, arrays have the type of their index.
#define V1MODEL_VERSION 20200408
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

type bit<32> slot_t;

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    counter<slot_t>(8, CounterType.packets) c;
    meter<slot_t>(8, MeterType.bytes) m;
    register<bit<8>, slot_t>(8) r;
    counter<bit<32>>(4, CounterType.bytes) plain;
    table t {
        key = { std.ingress_port: exact; }
        actions = { NoAction; }
    }
    apply {
        c.count((slot_t)1);
        m.execute_meter((slot_t)1, meta.index);
        r.write((slot_t)1, 1);
        plain.count(1);
        t.apply();
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
