// Headers that travel with packets from and to controllers: structs within them are flat, hidden fields are left out.
#include <core.p4>
#include <v1model.p4>
#include "headers.inc"

struct where_t {
    @brief("nobody sees this") bit<9> port;
    @padding bit<7> unused;
}

@controller_header("packet_in") @brief("from the switch")
header packet_in_t {
    where_t where;
    @id(9) @format(MAC_ADDRESS) bit<48> mac;
    @hidden bit<4> secret;
    bit<4> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> pad;
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {}
}

#include "rest.inc"

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
