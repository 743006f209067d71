// The forms in which tests may be written: cases, blanks, comments, quotes, radixes, stars, prefixes, names cut short, names
// with dots and indexes, keys left out, entries with names, priorities, relations.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<16> b;
    bit<32> c;
}

header tag_t {
    bit<8> v;
}

struct inner_t {
    bit<8> x;
}

struct metadata {
    inner_t inner;
}

struct headers {
    h_t h;
    tag_t[2] tags;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a) {
            0xf0 &&& 0xf0: tags;
            default: accept;
        }
    }
    state tags {
        packet.extract(hdr.tags.next);
        packet.extract(hdr.tags.next);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    counter(4, CounterType.packets_and_bytes) seen;
    direct_counter(CounterType.packets) hits;

    action set(bit<9> port, bit<32> value) {
        standard_metadata.egress_spec = port;
        hdr.h.c = value;
    }

    action reset() {
        hdr.h.c = 0;
        standard_metadata.egress_spec = 7;
    }

    action send_to(bit<9> egress_port) {
        standard_metadata.egress_spec = egress_port;
    }

    table exact_keys {
        key = {
            hdr.h.a: exact;
            hdr.tags[1].v: exact;
            hdr.tags[0].isValid(): exact;
            meta.inner.x: exact @name("inner_x");
        }
        actions = { set; reset; send_to; @defaultonly NoAction; }
        counters = hits;
    }

    table masks {
        key = {
            hdr.h.b: ternary;
            hdr.h.c[23:16]: ternary @name("part");
            hdr.h.a: optional;
        }
        actions = { set; reset; NoAction; }
        default_action = NoAction;
    }

    table prefixes {
        key = { hdr.h.c: lpm; hdr.h.a: exact; }
        actions = { send_to; NoAction; }
    }

    table nothing {
        actions = { reset; send_to; }
        default_action = send_to(9);
    }

    apply {
        seen.count((bit<32>) hdr.h.a[1:0]);
        nothing.apply();
        if (!exact_keys.apply().hit) {
            if (!prefixes.apply().hit) {
                masks.apply();
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
