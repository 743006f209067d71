// The program into which `bench cascade` inserts tables, one after the other.

#include <core.p4>
#include <v1model.p4>

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
}

parser CascadeParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control CascadeVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CascadeIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // TABLES
    apply {
        standard_metadata.egress_spec = 2;
        // APPLICATIONS
    }
}

control CascadeEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control CascadeComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CascadeDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(CascadeParser(), CascadeVerifyChecksum(), CascadeIngress(), CascadeEgress(), CascadeComputeChecksum(),
         CascadeDeparser()) main;
