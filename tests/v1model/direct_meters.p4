// A direct meter measures on every hit and writes the field that its table's actions read it into, whichever of them runs; a
// miss leaves the field alone; bytes are those of the packet as it came.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> a; bit<8> b; }
header more_t { bit<64> x; }
struct headers { h_t h; more_t more; }
struct metadata { bit<8> color; bit<8> other; }

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
    direct_meter<bit<8>>(MeterType.bytes) rates;
    meter(4, MeterType.bytes) array;

    action measure() { rates.read(meta.color); }
    action pass() { }
    action grow() { hdr.more.setValid(); }

    table metered {
        key = { hdr.h.a: exact; }
        actions = { measure; pass; grow; NoAction; }
        default_action = measure();
        meters = rates;
    }

    apply {
        standard_metadata.egress_spec = 2;
        meta.color = 0x77;
        metered.apply();
        hdr.h.b = meta.color;
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    meter(2, MeterType.bytes) late;
    apply {
        bit<8> color = 9;
        if (hdr.h.a == 3) {
            late.execute_meter(1, color);
            hdr.h.b = color;
        } else if (hdr.h.a == 4) {
            // There is no such cell: as it was.
            late.execute_meter(2, color);
            hdr.h.b = color;
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.h);
        packet.emit(hdr.more);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
