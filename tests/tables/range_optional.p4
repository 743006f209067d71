// Ranges and optional keys, in entries of the program with priorities.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<32> key;
    bit<16> more;
    bit<8>  flags;
    bit<8>  result;
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
    action set(bit<8> value) {
        hdr.h.result = value;
    }

    table ports {
        key = {
            hdr.h.more: range;
            hdr.h.flags: optional;
        }
        actions = { set; NoAction; }
        const default_action = NoAction();
        const entries = {
            (1000 .. 2000, 6): set(1);
            (1500 .. 1500, _): set(2);
            (0 .. 1023, 17): set(3);
            (_, 1): set(4);
            (0xff00 .. 0xffff, default): set(5);
        }
    }

    table choice {
        key = {
            hdr.h.flags: optional @name("which");
            hdr.h.key: exact;
        }
        actions = { set; NoAction; }
        default_action = NoAction();
    }

    apply {
        ports.apply();
        if (hdr.h.result == 0) {
            choice.apply();
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
