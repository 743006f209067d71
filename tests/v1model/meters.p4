// Meters by index and by entry: green, then yellow, then red; time fills the buckets again.
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
    meter(4, MeterType.packets) flows;
    direct_meter<bit<2>>(MeterType.bytes) entries;
    bit<2> color = 3;

    action mark() {
        entries.read(color);
    }

    table metered {
        key = { hdr.h.a: exact; }
        actions = { mark; NoAction; }
        default_action = NoAction();
        meters = entries;
    }

    apply {
        bit<8> result = 9;
        if (hdr.h.a < 0x80) {
            flows.execute_meter((bit<32>) hdr.h.a, result);
            hdr.h.b = result;
        } else {
            metered.apply();
            hdr.h.b = (bit<8>) color;
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
