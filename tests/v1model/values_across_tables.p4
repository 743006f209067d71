// A variable that has one value for certain behind a table, is only read there, and is something else on another way to
// the same place.

#include <core.p4>
#include <v1model.p4>

header bytes_t {
    bit<8> kind;
    bit<8> more;
    bit<8> value;
    bit<8> first;
    bit<8> second;
}

struct headers {
    bytes_t bytes;
}

struct metadata {
    bit<8> x;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.bytes);
        transition accept;
    }
}

control Nothing(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    action send(bit<9> port) {
        standard.egress_spec = port;
    }

    table a {
        key = { hdr.bytes.kind: exact; }
        actions = { send; NoAction; }
        default_action = send(1);
    }

    table c {
        key = { hdr.bytes.kind: exact; }
        actions = { send; NoAction; }
        default_action = NoAction();
    }

    table d {
        key = { hdr.bytes.kind: exact; }
        actions = { send; NoAction; }
        default_action = send(3);
    }

    apply {
        meta.x = 5;
        a.apply();
        hdr.bytes.first = meta.x;
        if (hdr.bytes.kind == 2) {
            c.apply();
            meta.x = hdr.bytes.value;
            if (hdr.bytes.more == 1) {
                d.apply();
            }
        }
        hdr.bytes.second = meta.x;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.bytes);
    }
}

V1Switch(MyParser(), Nothing(), MyIngress(), MyEgress(), Nothing(), MyDeparser()) main;
