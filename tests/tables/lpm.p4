// Longest prefixes with a second, exact key; keys that are expressions.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<32> key;
    bit<16> more;
    bit<8>  flags;
    bit<8>  result;
}

struct metadata { }

struct headers {
    h_t h;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action set(bit<8> value) {
        hdr.h.result = value;
    }

    table routes {
        key = {
            hdr.h.key: lpm;
            hdr.h.more & 0x00ff: exact @name("vrf");
        }
        actions = { set; NoAction; }
        default_action = NoAction();
    }

    apply {
        routes.apply();
        standard_metadata.egress_spec = 2;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
