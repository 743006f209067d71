/* A router in the style of courses on P4. */
#include <core.p4>
#include <v1model.p4>

#define MAX_HOPS 9
#define FIELD(w, n) bit<w> n;
#define CAT(a, b) a##b

const bit<16> TYPE_IPV4 = 0x800;
typedef bit<9>  egressSpec_t;
typedef bit<48> macAddr_t;
typedef bit<32> ip4Addr_t;

header ethernet_t {
    macAddr_t dstAddr;
    macAddr_t srcAddr;
    FIELD(16, etherType)
}

header ipv4_t {
    bit<4>    version;
    bit<4>    ihl;
    bit<8>    diffserv;
    bit<16>   totalLen;
    bit<16>   identification;
    bit<3>    flags;
    bit<13>   fragOffset;
    bit<8>    ttl;
    bit<8>    protocol;
    bit<16>   CAT(hdr, Checksum);
    ip4Addr_t srcAddr;
    ip4Addr_t dstAddr;
}

struct metadata { bit<14> ecmp_select; @field_list(1) bit<8> remaining; }
struct headers { ethernet_t ethernet; ipv4_t ipv4; ipv4_t[MAX_HOPS] hops; }

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start { transition parse_ethernet; }
    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.etherType) {
            TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 { packet.extract(hdr.ipv4); transition accept; }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) { apply { } }

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(1024) seen;
    counter(64, CounterType.packets_and_bytes) ports;
    direct_counter(CounterType.packets) per_entry;

    action drop() { mark_to_drop(standard_metadata); }
    action ipv4_forward(macAddr_t dstAddr, egressSpec_t port) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.srcAddr = hdr.ethernet.dstAddr;
        hdr.ethernet.dstAddr = dstAddr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table ipv4_lpm {
        key = { hdr.ipv4.dstAddr: lpm; }
        actions = { ipv4_forward; drop; NoAction; }
        size = 1024;
        default_action = drop();
        counters = per_entry;
    }
    apply {
        if (hdr.ipv4.isValid()) {
            ipv4_lpm.apply();
            hash(meta.ecmp_select, HashAlgorithm.crc16, (bit<1>) 0,
                 { hdr.ipv4.srcAddr, hdr.ipv4.dstAddr, hdr.ipv4.protocol }, 14w4);
            bit<32> value;
            seen.read(value, (bit<32>) meta.ecmp_select);
            seen.write((bit<32>) meta.ecmp_select, value + 1);
            ports.count((bit<32>) standard_metadata.ingress_port);
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { clone_preserving_field_list(CloneType.E2E, 5, 1); }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.ttl },
                        hdr.ipv4.hdrChecksum, HashAlgorithm.csum16);
    }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
