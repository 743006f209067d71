// switch on values of every type, with labels that fall through, and on the action of a table, inside each other.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

enum kind_t { one, two, three }

enum bit<8> rep_t { x = 1, y = 2 }

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
    action first() {
        hdr.h.b = 1;
    }

    action second(bit<8> x) {
        hdr.h.b = x;
    }

    action third() { }

    table t {
        key = {
            hdr.h.a: exact;
        }
        actions = {
            first;
            second;
            third;
            NoAction;
        }
        default_action = third();
        const entries = {
            1: first();
            2: second(0x22);
            3: NoAction();
        }
    }

    // Zero where a case below gives it no value.
    @noWarn("uninitialized") kind_t kind;
    int<8> s = (int<8>) hdr.h.a;

    apply {
        standard_metadata.egress_spec = 2;
        switch (t.apply().action_run) {
            first:
            second: {
                switch (hdr.h.b) {
                    1: { hdr.h.c = 0x10; }
                    2:
                    0x22: { hdr.h.c = 0x20; }
                }
            }
            NoAction: {
                kind = kind_t.three;
                return;
            }
            default: {
                kind = kind_t.two;
            }
        }
        switch (kind) {
            kind_t.one: { hdr.h.d = hdr.h.d + 1; }
            kind_t.two:
            kind_t.three: { hdr.h.d = hdr.h.d + 2; }
        }
        switch ((rep_t) hdr.h.a) {
            rep_t.x: { hdr.h.d = hdr.h.d | 0x10; }
            rep_t.y:
            default: { hdr.h.d = hdr.h.d | 0x20; }
        }
        switch (s) {
            -1: { hdr.h.d = hdr.h.d | 0x40; }
            8s5: { hdr.h.d = hdr.h.d | 0x80; }
            default: { }
        }
        switch ((bit<1>) (hdr.h.a == 2)) {
            1: { hdr.h.c = hdr.h.c + 1; }
            0: { hdr.h.c = hdr.h.c + 2; }
        }
        switch (standard_metadata.parser_error) {
            error.NoError: { hdr.h.c = hdr.h.c + 4; }
            error.NoMatch: { hdr.h.c = hdr.h.c + 8; }
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
