// Generic structs and headers: each instance has a number, in the order in which the program writes them, also in one
// macro.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

struct pair<T> {
    T first;
    T second;
}

struct boxed<T> {
    pair<T> inside;
    bit<8> tag;
}

struct pair_0 {
    bit<1> taken;
}

#define LATER_AND_LATEST register<pair<bit<48>>>(1) later; register<pair<bit<32>>>(1) latest;

struct unused_t {
    pair<bit<3>> of_bits;
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    register<boxed<bit<16>>>(4) boxes;
    register<pair<pair<bit<8>>>>(4) pairs;
    register<pair<bit<8>>>(4) bytes;
    LATER_AND_LATEST
    apply {
        boxed<bit<16>> it;
        boxes.read(it, 0);
        boxes.write(1, it);
        pair<pair<bit<8>>> two;
        pairs.read(two, 0);
        bytes.write(0, two.first);
        later.write(0, { 1, 2 });
        latest.write(0, { 1, 2 });
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
