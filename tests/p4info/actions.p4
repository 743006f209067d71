// Actions: those of the outermost scope come first, in the order of their use; of an action that is only called the
// control plane gives nothing; parameters with a direction are the program's.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

const bit<16> LIMIT = 0x10;

action second(inout headers_t hdr, bit<8> ttl) {
    hdr.ipv4.ttl = ttl;
}

action first() {}

// All of it stands where the macro is used.
#define WEIGHTS(least, most) @weights[low=least, high=most]

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action only_called(bit<9> port) {
        meta.port = port;
    }
    action called_by_an_action() {
        meta.port = 4;
    }
    @brief("Sends the packet on.")
    @description("To a port,\nand no further.")
    @cost(3, "per packet")
    WEIGHTS(1, 0x10)
    @marks["a", 2, true, "b" ++ "c", 8w255 + 1, -(LIMIT >> 1), LIMIT < 4]
    @empty[]
    action documented(@id(7) @brief("where to") bit<9> port, @name("index") @unit["k" ++ "B"] bit<32> i, bool flag, @refers_to(t, k) int<8> n) {
        called_by_an_action();
        std.egress_spec = port;
        meta.index = i;
        hdr.ipv4.ttl = (bit<8>)n;
        if (flag) {
            hdr.ipv4.protocol = 1;
        }
    }
    action called_and_listed(bit<32> index) {
        meta.index = index;
    }

    table t {
        key = { hdr.ipv4.protocol: exact @below[limit = LIMIT]; }
        actions = {
            first;
            documented;
            second(hdr);
            called_and_listed;
            @proto_id(1) @rank[LIMIT / 3] NoAction;
        }
    }

    apply {
        only_called(3);
        called_and_listed(9);
        t.apply();
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
