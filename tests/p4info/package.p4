// What is known of the program as a whole.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {}
}

#include "rest.inc"

@pkginfo(name="router.p4", version="1.2", organization="Example", contact="a@example.org", url="https://example.org")
@platform_property(multicast_group_table_size=512, multicast_group_table_total_replicas=4096)
@brief("a router")
@release("spring")
V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
