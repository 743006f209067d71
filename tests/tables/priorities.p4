// Priorities of entries: stated, from their order, by delta, and with the smallest first.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
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
    action mark(bit<8> x) {
        hdr.h.b = hdr.h.b + x;
    }

    @noWarn("unreachable") table first {
        key = {
            hdr.h.a: ternary;
        }
        actions = {
            mark;
        }
        default_action = mark(0);
        const entries = {
            0x10 &&& 0xf0: mark(1);
            0x11: mark(2);
            _: mark(3);
        }
    }

    table stated {
        key = {
            hdr.h.a: ternary;
        }
        actions = {
            mark;
        }
        default_action = mark(0);
        largest_priority_wins = true;
        priority_delta = 10;
        entries = {
            const priority = 10: 0x10 &&& 0xf0: mark(0x10);
            priority = 100: 0x11: mark(0x20);
            _: mark(0x30);
            const priority = 200: 0x12: mark(0x40);
        }
    }

    table smallest {
        key = {
            hdr.h.a: ternary;
            hdr.h.d: range;
        }
        actions = {
            mark;
            NoAction;
        }
        default_action = mark(0);
        largest_priority_wins = false;
        entries = {
            priority = 10: (0x10 &&& 0xf0, _): mark(0x80);
            priority = 5: (0x11, 0 .. 7): NoAction();
        }
    }

    @unknown @noWarn("unused")
    table unapplied {
        key = {
            hdr.h.a: exact;
        }
        actions = {
            mark;
        }
        default_action = mark(0);
        size = 0;
        nonsense = 5;
    }

    apply {
        standard_metadata.egress_spec = 2;
        first.apply();
        stated.apply();
        smallest.apply();
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
