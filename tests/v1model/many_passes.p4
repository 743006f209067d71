// Loops through the switch: a number is computed by resubmitting and by recirculating, more than 255 times, with kept fields
// of all types; the header grows and shrinks on the way; state that outlives the packet counts the passes.
#include <core.p4>
#include <v1model.p4>

enum bit<2> Mode { fast = 1, slow = 2 }
header h_t { bit<8> op; bit<16> n; bit<64> result; }
header byte_t { bit<8> v; }
struct headers { h_t h; byte_t[4] bytes; }
struct metadata {
    @field_list(1) bit<64> a;
    @field_list(1) bit<64> b;
    @field_list(1, 2) bit<16> left;
    @field_list(1) bool started;
    @field_list(1) Mode mode;
    @field_list(1) int<8> signed;
    bit<8> lost;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.op) {
            3: bytes;
            default: accept;
        }
    }
    state bytes {
        packet.extract(hdr.bytes.next);
        transition select(hdr.bytes.last.v) {
            0: accept;
            default: bytes;
        }
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(4) passes;
    apply {
        bit<32> count;
        passes.read(count, (bit<32>) hdr.h.op);
        passes.write((bit<32>) hdr.h.op, count + 1);
        standard_metadata.egress_spec = 2;
        if (hdr.h.op == 1) {
            // Fibonacci's numbers, by resubmission.
            if (!meta.started) {
                meta.started = true;
                meta.left = hdr.h.n;
                meta.b = 1;
                meta.mode = Mode.slow;
                meta.signed = -100;
            }
            if (meta.left == 0) {
                hdr.h.result = meta.a;
                hdr.h.op = 0x40 + (bit<8>) (bit<2>) meta.mode + meta.lost;
                hdr.h.n = (bit<16>) (int<16>) meta.signed;
            } else {
                bit<64> next = meta.a + meta.b;
                meta.a = meta.b;
                meta.b = next;
                meta.left = meta.left - 1;
                meta.signed = meta.signed + 1;
                meta.lost = 0x80;
                resubmit_preserving_field_list(1);
            }
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.h.op == 2 && hdr.h.n != 0) {
            // The sum of 1 to n, by recirculation: all of it is in the header.
            hdr.h.result = hdr.h.result + (bit<64>) hdr.h.n;
            hdr.h.n = hdr.h.n - 1;
            recirculate_preserving_field_list(0);
        } else if (hdr.h.op == 3 && hdr.bytes[0].v != 0) {
            // Takes the first byte off and adds it.
            hdr.h.result = hdr.h.result + (bit<64>) hdr.bytes[0].v;
            hdr.bytes.pop_front(1);
            recirculate_preserving_field_list(2);
        }
    }
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
