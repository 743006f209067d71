// Small packets of port 1 wait for each other and leave by port 2 as one; at the other end of the link they are taken
// apart again.

#include <core.p4>
#include <v1model.p4>
#include <wirespeed.p4>

header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
// Before each packet in a buffer: how many bytes it has.
header record_t { bit<4> kind; bit<12> bytes; }
struct headers_t { ethernet_t outer; record_t record; ethernet_t ethernet; }
struct metadata_t { }

const bit<16> PILED = 0x88b6;

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        transition select(sm.instance_type) {
            INSTANCE_TYPE_PILE: accept;
            INSTANCE_TYPE_RECORD: record;
            default: ethernet;
        }
    }
    state record { packet.extract(hdr.record); transition ethernet; }
    state ethernet { packet.extract(hdr.ethernet); transition accept; }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) { apply { } }

// Port 1 is where small packets come from, port 2 the link that buffers take; at the other end of it runs the same program.
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        bit<16> pile;
        bit<16> packets;
        pile_read(pile, packets);
        if (sm.instance_type == INSTANCE_TYPE_PILE) {
            hdr.outer = { 0x020000000002, packets ++ 32w0, PILED };
            sm.egress_spec = 2;
        } else if (sm.instance_type == INSTANCE_TYPE_RECORD) {
            hdr.record.setInvalid();
            sm.egress_spec = 1;
        } else if (sm.ingress_port == 1) {
            sm.egress_spec = 2;
        } else if (hdr.ethernet.type == PILED && sm.instance_type == 0) {
            scatter_records(14, hdr.ethernet.source[47:32]);
        } else {
            mark_to_drop(sm);
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.ingress_port == 1 && sm.instance_type == 0) {
            hdr.record = { 0, (bit<12>)sm.packet_length };
            // Up to 1,400 bytes, and no packet waits longer than 500 microseconds.
            pile_gather(0, 1400, 500);
        }
    }
}

control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.outer); packet.emit(hdr.record); packet.emit(hdr.ethernet); }
}

V1Switch(P(), NoChecksum(), I(), E(), NoChecksum(), D()) main;
