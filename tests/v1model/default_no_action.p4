// `NoAction` as a label of a `switch`, where it is the default of a table that does not list it.
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> key;
    bit<8> ran;
}

struct headers_t {
    byte_t byte;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.byte);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action one() { }
    action two() { }

    table t {
        key = { hdr.byte.key: exact; }
        actions = { one; two; }
        const entries = {
            1: one();
            2: two();
        }
    }

    apply {
        sm.egress_spec = 1;
        switch (t.apply().action_run) {
            one: { hdr.byte.ran = 0x11; }
            NoAction: { hdr.byte.ran = 0xDD; }
            default: { hdr.byte.ran = 0x22; }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.byte); }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
