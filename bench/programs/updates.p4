// Two tables that a controller fills together: a packet that finds its key in only one of them has seen half a batch.
#include <core.p4>
#include <v1model.p4>

header key_t {
    bit<32> key;
}

struct headers_t {
    key_t key;
}

struct metadata_t { }

parser ReadKey(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.key);
        transition accept;
    }
}

control Nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Forward(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action to(bit<9> port) {
        standard_metadata.egress_spec = port;
    }
    table first {
        key = { hdr.key.key: exact; }
        actions = { to; NoAction; }
        default_action = NoAction();
        size = 300000;
    }
    table second {
        key = { hdr.key.key: exact; }
        actions = { to; NoAction; }
        default_action = NoAction();
        size = 300000;
    }
    apply {
        standard_metadata.egress_spec = 1;
        bool in_first = first.apply().hit;
        bit<9> port = standard_metadata.egress_spec;
        bool in_second = second.apply().hit;
        if (in_first != in_second || port != standard_metadata.egress_spec) {
            standard_metadata.egress_spec = 9;
        }
    }
}

control Done(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control Emit(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.key);
    }
}

V1Switch(ReadKey(), Nothing(), Forward(), Done(), Nothing(), Emit()) main;
