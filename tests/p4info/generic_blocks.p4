// Parsers and controls with type parameters: every instance shows controllers the types that it was made for.
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

struct meta_t {
    bit<9> port;
}

type bit<9> port_t;

struct pair_t<T> {
    T first;
    T second;
}

parser Choose<T>(packet_in packet, in T value, out bool is_known) {
    value_set<pair_t<T>>(4) pairs;
    value_set<T>(4) values;
    state start {
        transition select(value, value) {
            pairs: known;
            (values, _): known;
            default: unknown;
        }
    }
    state known {
        is_known = true;
        transition accept;
    }
    state unknown {
        is_known = false;
        transition accept;
    }
}

parser MyParser(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    Choose<bit<48>>() addresses;
    Choose<bit<16>>() types;
    state start {
        packet.extract(hdr.ethernet);
        bool is_known;
        addresses.apply(packet, hdr.ethernet.dst, is_known);
        types.apply(packet, hdr.ethernet.type, is_known);
        transition accept;
    }
}

control Remember<T>(in T value)(register<T> in_it) {
    register<T>(8) own;
    apply {
        own.write(0, value);
        in_it.write(0, value);
    }
}

control Lookup<K, V>(in K key_value, inout V result) {
    Remember<K>(register<K>(2)) keys;
    action found(V value) {
        result = value;
    }
    table t {
        key = {
            key_value: exact @name("value");
        }
        actions = {
            found;
            NoAction;
        }
        default_action = NoAction;
    }
    apply {
        keys.apply(key_value);
        t.apply();
    }
}

control Twice<A>(inout A value) {
    Lookup<A, A>() inner;
    apply {
        inner.apply(value, value);
    }
}

control Tell<T>(in T value) {
    apply {
        digest<pair_t<T>>(1, { value, value });
    }
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    Lookup<bit<48>, port_t>() by_address;
    Twice<bit<16>>() twice;
    apply {
        port_t port = 0;
        by_address.apply(hdr.ethernet.dst, port);
        twice.apply(hdr.ethernet.type);
        Tell<bit<16>>.apply(hdr.ethernet.type);
        std.egress_spec = (bit<9>) port;
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
