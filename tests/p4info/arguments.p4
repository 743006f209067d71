// Controls, a parser and objects that are made as arguments of constructors: they are called as the parameters.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

control Inner(inout headers_t hdr, inout standard_metadata_t std)(bit<32> size, counter shared) {
    counter(size, CounterType.bytes) own;
    meter(16, MeterType.packets) rate;
    @brief("what was seen") register<bit<8>>(size) seen;
    action count(bit<9> port) {
        own.count(1);
        shared.count((bit<32>)port);
    }
    table t {
        key = { hdr.ethernet.dst: exact; }
        actions = { count; NoAction; }
        default_action = NoAction;
    }
    apply {
        bit<2> colour;
        t.apply();
        rate.execute_meter(0, colour);
        seen.write(0, (bit<8>)colour);
    }
}

control Outer(inout headers_t hdr, inout standard_metadata_t std)(Inner first, @name("other") Inner second) {
    table own {
        actions = { NoAction; }
        default_action = NoAction;
    }
    apply {
        own.apply();
        first.apply(hdr, std);
        second.apply(hdr, std);
    }
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std)(Inner passed) {
    Outer(Inner(8, counter(4, CounterType.packets)), Inner(16, counter(2, CounterType.packets))) outer;
    apply {
        outer.apply(hdr, std);
        passed.apply(hdr, std);
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(Inner(1, counter(1, CounterType.bytes))), MyEgress(),
    MyComputeChecksum(), MyDeparser()) main;
