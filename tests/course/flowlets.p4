// Flowlet switching: a flow keeps its path while its packets follow each other closely, and draws a new one after a pause; the
// time of the last packet and the path are in registers, chosen by a hash of the flow; a queue with a rate tells by its depth
// that it is congested, and ECN is marked.
#include <core.p4>
#include <v1model.p4>

const bit<48> PAUSE_US = 500000;
#define FLOWS 256

header h_t {
    bit<32> src;
    bit<32> dst;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<8>  path;
    bit<16> depth;
}
struct headers { h_t h; }
struct flowlet_t {
    bit<48> last;
    bit<8> path;
    bool known;
}
struct metadata {
    flowlet_t flowlet;
    bit<32> cell;
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
    register<flowlet_t>(FLOWS) flowlets;
    register<bit<8>>(1) next_path;

    action new_path() {
        next_path.read(meta.flowlet.path, 0);
        next_path.write(0, (meta.flowlet.path + 1) & 3);
    }

    action leave(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table paths {
        key = { meta.flowlet.path: exact; }
        actions = { leave; NoAction; }
        const default_action = NoAction();
        const entries = {
            0: leave(10);
            1: leave(11);
            2: leave(12);
            3: leave(13);
        }
    }

    apply {
        @atomic {
            hash(meta.cell, HashAlgorithm.crc16, 32w0, { hdr.h.src, hdr.h.dst }, (bit<32>) FLOWS);
            flowlets.read(meta.flowlet, meta.cell);
            bit<48> now = standard_metadata.ingress_global_timestamp;
            if (!meta.flowlet.known || now - meta.flowlet.last > PAUSE_US) {
                new_path();
            }
            meta.flowlet.last = now;
            meta.flowlet.known = true;
            flowlets.write(meta.cell, meta.flowlet);
        }
        hdr.h.path = meta.flowlet.path;
        paths.apply();
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.h.depth = (bit<16>) standard_metadata.enq_qdepth;
        if (hdr.h.ecn != 0 && standard_metadata.enq_qdepth >= 2) {
            hdr.h.ecn = 3;
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
