// Loops run in branches of parser states and in functions that parsers call; break and continue, and a table of lengths.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> n;
}

header byte_t {
    bit<8> v;
}

header out_t {
    bit<8> sum;
    bit<8> odd;
    bit<8> steps;
}

struct metadata {
    bit<8> sum;
    bit<8> odd;
    bit<8> steps;
}

struct headers {
    h_t h;
    byte_t[4] bytes;
    out_t result;
}

bit<8> count_ones(in bit<8> value) {
    bit<8> n = 0;
    for (bit<8> i in 8w0 .. 7) {
        if (((value >> i) & 1) == 0) {
            continue;
        }
        n = n + 1;
        if (n == 5) {
            break;
        }
    }
    return n;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.h);
        if (hdr.h.n != 0) {
            for (bit<8> i = 0; i < hdr.h.n; i = i + 1) {
                byte_t next = packet.lookahead<byte_t>();
                if (next.v == 0xff) {
                    break;
                }
                meta.steps = meta.steps + 1;
                packet.extract(hdr.bytes.next);
                if (hdr.bytes.last.v[0:0] == 0) {
                    continue;
                }
                meta.odd = meta.odd + 1;
            }
        }
        transition select(hdr.h.n) {
            0: accept;
            default: add;
        }
    }

    state add {
        if (hdr.h.n != 0) {
            for (bit<8> step in 8w1 .. 3) {
                for (byte_t b in hdr.bytes) {
                    meta.sum = meta.sum + count_ones(b.v);
                }
            }
        }
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        hdr.result.setValid();
        hdr.result.sum = meta.sum;
        hdr.result.odd = meta.odd;
        hdr.result.steps = meta.steps;
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
