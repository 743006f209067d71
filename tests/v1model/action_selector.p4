// Entries name members of an action selector, or groups of members of which a hash picks one.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct metadata { }

struct headers {
    h_t h;
    h_t inner;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a) {
            0xff: inner;
            default: accept;
        }
    }
    state inner {
        packet.extract(hdr.inner);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action_selector(HashAlgorithm.identity, 4, 32) hops;

    action send(bit<9> port, bit<8> mark) {
        standard_metadata.egress_spec = port;
        hdr.h.b = mark;
    }

    action nothing() {
    }

    direct_counter(CounterType.packets) hits;

    table balance {
        key = {
            hdr.h.a: exact;
            hdr.h.b: selector;
            hdr.inner.b: selector;
        }
        actions = { send; nothing; NoAction; }
        implementation = hops;
        counters = hits;
    }

    // Shares the members, with another list of actions.
    table second {
        key = {
            hdr.h.a: ternary;
            hdr.h.b: selector;
            hdr.inner.b: selector;
        }
        actions = { nothing; @defaultonly NoAction; send; }
        implementation = hops;
        default_action = NoAction();
    }

    apply {
        standard_metadata.egress_spec = 9;
        if (balance.apply().miss) {
            switch (second.apply().action_run) {
                send: { hdr.h.a = 0xaa; }
                nothing: { hdr.h.a = 0xbb; }
                default: { hdr.h.a = 0xcc; }
            }
        }
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
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
