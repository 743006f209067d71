// Constants that are assigned before a table keep their values behind loops and tables that follow. The paths that do
// not look up the second table write the same variable anew, or end.
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8>  way;
    bit<8>  b;
    bit<16> c;
    bit<32> sum;
}

struct headers_t {
    data_t data;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

bit<8> log2(in bit<16> x) {
    for (bit<8> i in 0 .. 15) {
        if ((x >> i) == 1) {
            return i;
        }
    }
    return 0;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<8> value) {
        hdr.data.b = value;
    }

    table first {
        key = { hdr.data.c: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
        const entries = { 9: set(7); }
    }

    table second {
        key = { hdr.data.c: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
        const entries = { 5: set(0x55); }
    }

    table third {
        key = { hdr.data.c: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
        const entries = { 5: set(0x66); }
    }

    apply {
        sm.egress_spec = 1;
        first.apply();
        if (hdr.data.way == 0) {
            if (hdr.data.b != 7) {
                for (bit<8> i = 0; i < 3; i = i + 1) {
                    hdr.data.sum = hdr.data.sum + 1;
                }
                second.apply();
            }
        } else {
            if (hdr.data.b == 7) {
                return;
            }
            hdr.data.b = log2(hdr.data.c);
            if (hdr.data.b == 2) {
                third.apply();
            }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { }
}

control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.data); }
}

V1Switch(P(), V(), I(), E(), V(), D()) main;
