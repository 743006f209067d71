// Packets that are copied or take another pass. Each packet is forwarded to port 2, and OPERATION happens to those
// whose identification has no bit of MASK:
//
// 0 nothing more; 1 and 2 that many passes by recirculation; 3 one by resubmission; 4 a clone from ingress to egress;
// 5 a clone from egress to egress; 6 two replicas of a multicast group; 7 a digest; 8 truncation to 60 bytes.

#include <core.p4>
#include <v1model.p4>

const bit<32> CLONE = 5;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

header ipv4_t {
    bit<4> version;
    bit<4> header_words;
    bit<8> traffic_class;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
}

struct metadata_t {
    @field_list(1)
    bit<8> passes;
}

struct seen_t {
    bit<48> source;
    bit<9> port;
}

parser CopiesParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control CopiesVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CopiesIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 2;
        hdr.ethernet.source = hdr.ethernet.destination;
        if (hdr.ipv4.isValid() && hdr.ipv4.identification & MASK == 0) {
#if OPERATION == 3
            if (meta.passes == 0) {
                meta.passes = 1;
                resubmit_preserving_field_list(1);
            }
#elif OPERATION == 4
            clone(CloneType.I2E, CLONE);
#elif OPERATION == 6
            standard_metadata.mcast_grp = 1;
#elif OPERATION == 7
            digest<seen_t>(1, { hdr.ethernet.source, standard_metadata.ingress_port });
#elif OPERATION == 8
            truncate(60);
#endif
        }
    }
}

control CopiesEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        if (hdr.ipv4.isValid() && hdr.ipv4.identification & MASK == 0) {
#if OPERATION == 1 || OPERATION == 2
            if (meta.passes < OPERATION) {
                meta.passes = meta.passes + 1;
                recirculate_preserving_field_list(1);
            }
#elif OPERATION == 5
            if (standard_metadata.instance_type == 0) {
                clone(CloneType.E2E, CLONE);
            }
#endif
        }
    }
}

control CopiesComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CopiesDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(CopiesParser(), CopiesVerifyChecksum(), CopiesIngress(), CopiesEgress(), CopiesComputeChecksum(),
         CopiesDeparser()) main;
