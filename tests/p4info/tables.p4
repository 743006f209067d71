// Tables: every match kind, scopes of actions, default actions, sizes, entries, ageing.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action drop() {
        mark_to_drop(std);
    }
    action forward(bit<9> port, bit<48> dst) {
        std.egress_spec = port;
        hdr.ethernet.dst = dst;
    }
    action unused() {}

    table all_kinds {
        key = {
            hdr.ethernet.dst: exact;
            hdr.ipv4.dst: lpm;
            hdr.ipv4.src: ternary;
            hdr.ethernet.type: range;
            hdr.ipv4.isValid(): optional @name("valid");
            hdr.ipv4.ttl[3:0]: exact;
        }
        actions = {
            forward;
            @tableonly drop;
            @defaultonly NoAction;
        }
        default_action = NoAction;
        size = 4096;
        support_timeout = true;
    }
    // Without a default action it is NoAction, which entries cannot name unless it is listed.
    table no_default {
        key = { std.ingress_port: exact; }
        actions = { drop; }
    }
    // A table without keys, whose default action nobody can change.
    table constant_default {
        actions = { forward; }
        const default_action = forward(3, 0x0A0B0C0D0E0F);
    }
    table constant_entries {
        key = { hdr.ipv4.protocol: exact; }
        actions = { drop; NoAction; }
        const entries = {
            6: drop();
        }
    }
    table initial_entries {
        key = { hdr.ipv4.protocol: exact; }
        actions = { drop; NoAction; }
        entries = {
            17: drop();
        }
        size = 0x100;
    }
    @hidden
    table hidden {
        actions = { forward; }
        default_action = forward(1, 2);
    }
    table not_applied {
        actions = { unused; }
        default_action = unused;
    }

    apply {
        all_kinds.apply();
        no_default.apply();
        constant_default.apply();
        constant_entries.apply();
        initial_entries.apply();
        hidden.apply();
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
