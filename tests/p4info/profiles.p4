// Action profiles and selectors: their tables in the order of their names, sizes and what they count.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action_profile(32) shared;
    @max_group_size(4) action_selector(HashAlgorithm.crc16, 64, 16) choices;
    @selector_size_semantics("sum_of_weights") action_selector(HashAlgorithm.crc16, 8, 16) weights;
    @max_group_size(8) @selector_size_semantics("sum_of_members") @max_member_weight(100) @other
    action_selector(HashAlgorithm.crc32, 128, 16) members;

    action forward(bit<9> port) {
        std.egress_spec = port;
    }
    table z {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; NoAction; }
        implementation = shared;
    }
    table a {
        key = { hdr.ethernet.src: exact; }
        actions = { forward; NoAction; }
        implementation = shared;
    }
    table selecting {
        key = {
            hdr.ipv4.dst: lpm;
            hdr.ipv4.src: selector;
            hdr.ipv4.protocol: selector;
        }
        actions = { forward; NoAction; }
        implementation = choices;
    }
    table counting_members {
        key = {
            hdr.ipv4.src: selector;
            hdr.ipv4.dst: exact;
        }
        actions = { forward; NoAction; }
        implementation = members;
        size = 16;
    }
    // What is made in a property has the name that stands there, or the table's.
    table in_place {
        key = { hdr.ethernet.type: exact; hdr.ipv4.src: selector; }
        actions = { forward; NoAction; }
        @name("whole_name") @max_group_size(2) implementation = action_selector(HashAlgorithm.crc16, 8, 8);
        @name("hits") counters = direct_counter(CounterType.packets);
    }
    table nameless {
        key = { hdr.ipv4.protocol: exact; }
        actions = { forward; NoAction; }
        implementation = action_profile(2);
    }
    apply {
        in_place.apply();
        nameless.apply();
        z.apply();
        a.apply();
        selecting.apply();
        counting_members.apply();
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
