// Registers: of one bit, of a word, wide; beyond the end a read leaves the result alone and a write does nothing.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> operation;
    bit<8> index;
    bit<96> value;
    bit<16> count;
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
    register<bit<96>>(4) wide;
    register<bit<16>>(4) counts;
    register<bit<1>>(4) seen;
    register<int<8>>(1) level;

    apply {
        bit<32> index = (bit<32>) hdr.h.index;
        bit<1> was_seen;
        standard_metadata.egress_spec = 2;
        if (hdr.h.operation == 1) {
            wide.write(index, hdr.h.value);
        } else if (hdr.h.operation == 2) {
            wide.read(hdr.h.value, index);
        } else if (hdr.h.operation == 3) {
            @atomic {
                bit<16> count;
                counts.read(count, index);
                count = count + 1;
                counts.write(index, count);
                hdr.h.count = count;
            }
        } else if (hdr.h.operation == 4) {
            seen.read(was_seen, index);
            hdr.h.count = (bit<16>) was_seen;
            seen.write(index, 1);
        } else if (hdr.h.operation == 5) {
            int<8> now;
            level.read(now, 0);
            now = now |-| 100;
            level.write(0, now);
            hdr.h.count = (bit<16>) (int<16>) now;
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
        packet.emit(hdr.h);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
