// Heavy hitters: a count-min sketch of three rows of registers, each with its own hash, and a threshold at which a flow's
// packets are cloned to the monitor and marked.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<32> ROW_CELLS = 64;
const bit<16> THRESHOLD = 3;

#define SKETCH_ROW(num, algorithm) register<bit<16>>(ROW_CELLS) row##num; \
    action count_row##num() { \
        hash(meta.index##num, HashAlgorithm.algorithm, 32w0, \
             { hdr.ipv4.srcAddr, hdr.ipv4.dstAddr, hdr.ipv4.protocol }, ROW_CELLS); \
        row##num.read(meta.count##num, meta.index##num); \
        meta.count##num = meta.count##num |+| 1; \
        row##num.write(meta.index##num, meta.count##num); \
    }

header ethernet_t {
    bit<48> dstAddr;
    bit<48> srcAddr;
    bit<16> etherType;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> totalLen;
    bit<16> identification;
    bit<3>  flags;
    bit<13> fragOffset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdrChecksum;
    bit<32> srcAddr;
    bit<32> dstAddr;
}

struct metadata {
    bit<32> index0;
    bit<32> index1;
    bit<32> index2;
    bit<16> count0;
    bit<16> count1;
    bit<16> count2;
    @field_list(1)
    bit<16> least;
}

struct headers {
    ethernet_t ethernet;
    ipv4_t ipv4;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.etherType) {
            TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    SKETCH_ROW(0, crc32)
    SKETCH_ROW(1, crc16)
    SKETCH_ROW(2, xor16)

    apply {
        standard_metadata.egress_spec = 2;
        if (hdr.ipv4.isValid()) {
            count_row0();
            count_row1();
            count_row2();
            meta.least = meta.count0;
            if (meta.count1 < meta.least) {
                meta.least = meta.count1;
            }
            if (meta.count2 < meta.least) {
                meta.least = meta.count2;
            }
            if (meta.least >= THRESHOLD) {
                hdr.ipv4.dscp = 1;
                if (meta.least == THRESHOLD) {
                    clone_preserving_field_list(CloneType.I2E, 10, 1);
                }
            }
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == 1) {
            hdr.ethernet.srcAddr = (bit<48>) meta.least;
            truncate(14);
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
