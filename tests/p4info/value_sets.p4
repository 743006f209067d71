// Value sets of single values and of structs.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct meta_t {}

type bit<16> ether_type_t;

struct keys_t {
    @match(ternary) bit<48> dst;
    @id(8) @match(range) @brief("of the payload") bit<16> type;
    bit<48> src;
}

parser MyParser(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    value_set<bit<16>>(4) types;
    @id(1) value_set<keys_t>(8) keys;
    value_set<ether_type_t>(2) new_types;
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.dst, hdr.ethernet.type, hdr.ethernet.src) {
            keys: accept;
            default: next;
        }
    }
    state next {
        transition select(hdr.ethernet.type) {
            types: accept;
            default: last;
        }
    }
    state last {
        transition select((ether_type_t)hdr.ethernet.type) {
            new_types: accept;
            default: reject;
        }
    }
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {}
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
