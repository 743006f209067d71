// The strings and numbers of structured annotations are constant expressions: `@name[...]` and `@id[...]` of objects,
// keys, parameters and fields of a controller's header.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

const string PREFIX = "k";
const bit<32> BASE = 0x10;

@controller_header("packet_in") @id[BASE + 0x10]
header packet_in_t {
    @id[BASE + 1] bit<9> port;
    bit<7> unused;
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    @id[2 * BASE] action a(@id[1 + 1] bit<32> index, bit<9> port) {
        meta.index = index;
        meta.port = port;
    }
    @checked[BASE + 2, -1, 1 == 1]
    table t {
        key = {
            hdr.ipv4.dst: exact @name[PREFIX ++ "1"] @id[1 + 2];
            hdr.ipv4.ttl + 1: ternary @name[PREFIX ++ PREFIX ++ "2"];
        }
        actions = { a; NoAction; }
        default_action = NoAction;
    }
    apply {
        t.apply();
    }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
