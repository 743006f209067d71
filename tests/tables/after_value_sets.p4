// A table whose keys wait for one another, behind a parser that asks value sets: what is copied for a value set and where
// the keys of the table are have names of their own in the generated code.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> destination; bit<48> source; bit<16> kind; }
struct headers_t { ethernet_t ethernet; }
struct metadata_t { bit<8> sets; }

parser P(packet_in packet, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    value_set<bit<16>>(4) first;
    value_set<bit<16>>(4) second;
    value_set<bit<16>>(4) third;
    value_set<bit<16>>(4) fourth;
    state start { packet.extract(h.ethernet); transition select(h.ethernet.kind) { first: found; default: try_second; } }
    state try_second { transition select(h.ethernet.kind) { second: found; default: try_third; } }
    state try_third { transition select(h.ethernet.kind) { third: found; default: try_fourth; } }
    state try_fourth { transition select(h.ethernet.kind) { fourth: found; default: accept; } }
    state found { m.sets = 1; transition accept; }
}
control V(inout headers_t h, inout metadata_t m) { apply { } }
control I(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    direct_meter<bit<2>>(MeterType.bytes) rate;
    action drop() { mark_to_drop(s); }
    action forward(bit<9> port) { s.egress_spec = port; }
    action mark() { h.ethernet.source = 0; }
    table kinds { key = { h.ethernet.kind: ternary; } actions = { mark; NoAction; } }
    table bridge {
        key = { h.ethernet.destination: exact; }
        actions = { forward; drop; }
        default_action = drop;
        meters = rate;
    }
    apply {
        kinds.apply();
        bridge.apply();
    }
}
control E(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t h, inout metadata_t m) { apply { } }
control D(packet_out packet, in headers_t h) { apply { packet.emit(h); } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
