// Tables whose entries share the members of an action profile; one profile is made in place and goes by its table.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
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
    action_profile(8) shared;

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action mark(bit<8> value, bit<128> wide) {
        hdr.h.b = value + wide[127:120];
    }

    table first {
        key = { hdr.h.a: exact; }
        actions = { send; mark; }
        implementation = shared;
        size = 16;
    }

    table second {
        key = { hdr.h.a: lpm; }
        actions = { mark; send; }
        implementation = shared;
    }

    table own {
        key = { hdr.h.b: exact; }
        actions = { mark; }
        implementation = action_profile(4);
    }

    apply {
        standard_metadata.egress_spec = 9;
        first.apply();
        second.apply();
        own.apply();
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
