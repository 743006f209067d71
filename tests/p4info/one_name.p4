// Two actions of one absolute name that do the same are one action for a controller, which a table lists once.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    @name(".same") action first() { meta.index = 1; }
    @name(".same") action second() { meta.index = 1; }
    table t {
        key = { meta.port: exact; }
        actions = { first; second; NoAction; }
        default_action = NoAction;
    }
    apply { t.apply(); }
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
