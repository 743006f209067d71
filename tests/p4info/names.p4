// Names, aliases and ids: nested controls stand where they are declared, or first of all if they are applied without a
// name; `@name` with a string that is known replaces the last part of a name, or with a dot in front all of it; `@id` gives the id.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

const string PREFIX = ".abso";

control Inner(inout meta_t meta)(bit<32> size) {
    counter(size, CounterType.packets) hits;
    action set(bit<32> index) {
        meta.index = index;
        hits.count(0);
    }
    table t {
        key = { meta.port: exact; }
        actions = { set; }
    }
    apply {
        t.apply();
    }
}

control Nameless(inout meta_t meta) {
    action go() {
        meta.port = 1;
    }
    table t {
        actions = { go; }
        default_action = go();
    }
    apply {
        t.apply();
    }
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    @name("renamed") action a() {
        meta.index = 1;
    }
    @name[PREFIX ++ "lute"] action b() {
        meta.index = 2;
    }
    @id(0x123456) action c() {
        meta.index = 3;
    }
    Inner(4) first;
    @name("zwei") Inner(8) second;
    Inner(16) not_applied;
    @id(0x02000001) @name(".top.level.t")
    table u {
        key = {
            hdr.ipv4.dst: exact @id(5);
            hdr.ipv4.src: exact;
            hdr.ipv4.ttl: exact @name(".ttl");
        }
        actions = { a; b; c; }
    }
    apply {
        second.apply(meta);
        first.apply(meta);
        Nameless.apply(meta);
        u.apply();
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
