// `match_kind` and `error` are extended by the program; what only names them costs nothing.
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

match_kind {
    nearest,
    hashed
}

error {
    Odd,
    Even
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
    action set(bit<8> v) {
        hdr.h.b = v;
    }
    table t {
        key = {
            hdr.h.a : exact;
        }
        actions = {
            set;
        }
        default_action = set(0xee);
        const entries = {
            1 : set(0x11);
        }
    }
    apply {
        t.apply();
        error found = hdr.h.a[0:0] == 1 ? error.Odd : error.Even;
        if (found == error.Odd) {
            hdr.h.a = 0xff;
        }
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
