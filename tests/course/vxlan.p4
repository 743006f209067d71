// A VXLAN gateway: frames of a tenant are put into UDP, and taken out again.
#include <core.p4>
#include <v1model.p4>

typedef bit<9>  egressSpec_t;
typedef bit<48> macAddr_t;
typedef bit<32> ip4Addr_t;

#define ETH_HDR_SIZE 14
#define IPV4_HDR_SIZE 20
#define UDP_HDR_SIZE 8
#define VXLAN_HDR_SIZE 8
#define UDP_PORT_VXLAN 4789

header ethernet_t {
    macAddr_t dstAddr;
    macAddr_t srcAddr;
    bit<16>   etherType;
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
    bit<16>   hdrChecksum;
    ip4Addr_t srcAddr;
    ip4Addr_t dstAddr;
}

header udp_t {
    bit<16> srcPort;
    bit<16> dstPort;
    bit<16> length_;
    bit<16> checksum;
}

header vxlan_t {
    bit<8>  flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8>  reserved_2;
}

struct metadata {
    bit<24> vni;
    ip4Addr_t vtep;
}

struct headers {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    udp_t      udp;
    vxlan_t    vxlan;
    ethernet_t inner_ethernet;
    ipv4_t     inner_ipv4;
    udp_t      inner_udp;
}

parser MyParser(packet_in packet,
                out headers hdr,
                inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.etherType) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            17: parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dstPort) {
            UDP_PORT_VXLAN: parse_vxlan;
            default: accept;
        }
    }

    state parse_vxlan {
        packet.extract(hdr.vxlan);
        transition parse_inner_ethernet;
    }

    state parse_inner_ethernet {
        packet.extract(hdr.inner_ethernet);
        transition select(hdr.inner_ethernet.etherType) {
            0x0800: parse_inner_ipv4;
            default: accept;
        }
    }

    state parse_inner_ipv4 {
        packet.extract(hdr.inner_ipv4);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control vxlan_ingress_upstream(inout headers hdr,
                               inout metadata meta,
                               inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action vxlan_decap() {
        hdr.ethernet = hdr.inner_ethernet;
        hdr.ipv4 = hdr.inner_ipv4;
        hdr.udp.setInvalid();
        hdr.vxlan.setInvalid();
        hdr.inner_ethernet.setInvalid();
        hdr.inner_ipv4.setInvalid();
    }

    table t_vxlan_term {
        key = {
            hdr.inner_ethernet.dstAddr: exact;
            hdr.vxlan.vni: exact;
        }
        actions = {
            NoAction;
            vxlan_decap;
        }
    }

    action forward(egressSpec_t port) {
        standard_metadata.egress_spec = port;
    }

    table t_forward_l2 {
        key = {
            hdr.ethernet.dstAddr: exact;
        }
        actions = {
            forward;
            drop;
        }
        default_action = drop();
    }

    apply {
        if (hdr.vxlan.isValid()) {
            if (t_vxlan_term.apply().hit) {
                t_forward_l2.apply();
            } else {
                drop();
            }
        }
    }
}

control vxlan_ingress_downstream(inout headers hdr,
                                 inout metadata meta,
                                 inout standard_metadata_t standard_metadata) {
    action set_vni(bit<24> vni) {
        meta.vni = vni;
    }

    table t_vxlan_segment {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            @defaultonly NoAction;
            set_vni;
        }
        default_action = NoAction();
    }

    action set_vtep(ip4Addr_t vtep, egressSpec_t port) {
        meta.vtep = vtep;
        standard_metadata.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    table t_vtep {
        key = {
            meta.vni: exact;
            hdr.ethernet.dstAddr: exact;
        }
        actions = {
            set_vtep;
            drop;
        }
        default_action = drop();
    }

    apply {
        if (!hdr.vxlan.isValid()) {
            t_vxlan_segment.apply();
            if (meta.vni != 0) {
                t_vtep.apply();
            }
        }
    }
}

control MyIngress(inout headers hdr,
                  inout metadata meta,
                  inout standard_metadata_t standard_metadata) {
    vxlan_ingress_upstream() upstream;
    vxlan_ingress_downstream() downstream;

    apply {
        if (hdr.vxlan.isValid()) {
            upstream.apply(hdr, meta, standard_metadata);
        } else {
            downstream.apply(hdr, meta, standard_metadata);
        }
    }
}

control MyEgress(inout headers hdr,
                 inout metadata meta,
                 inout standard_metadata_t standard_metadata) {
    action vxlan_encap(macAddr_t smac, macAddr_t dmac, ip4Addr_t source) {
        hdr.inner_ethernet = hdr.ethernet;
        hdr.inner_ipv4 = hdr.ipv4;
        hdr.inner_udp = hdr.udp;

        hdr.ethernet.setValid();
        hdr.ethernet.srcAddr = smac;
        hdr.ethernet.dstAddr = dmac;
        hdr.ethernet.etherType = 0x0800;

        hdr.ipv4.setValid();
        hdr.ipv4.version = 4;
        hdr.ipv4.ihl = 5;
        hdr.ipv4.diffserv = 0;
        hdr.ipv4.totalLen = (bit<16>) standard_metadata.packet_length + (IPV4_HDR_SIZE + UDP_HDR_SIZE + VXLAN_HDR_SIZE);
        hdr.ipv4.identification = 0x1513;
        hdr.ipv4.flags = 0;
        hdr.ipv4.fragOffset = 0;
        hdr.ipv4.ttl = 64;
        hdr.ipv4.protocol = 17;
        hdr.ipv4.srcAddr = source;
        hdr.ipv4.dstAddr = meta.vtep;
        hdr.ipv4.hdrChecksum = 0;

        hdr.udp.setValid();
        // The source port spreads tunnels over paths.
        hash(hdr.udp.srcPort, HashAlgorithm.crc16, (bit<13>) 0, { hdr.inner_ethernet }, (bit<32>) 65536);
        hdr.udp.dstPort = UDP_PORT_VXLAN;
        hdr.udp.length_ = hdr.ipv4.totalLen - IPV4_HDR_SIZE;
        hdr.udp.checksum = 0;

        hdr.vxlan.setValid();
        hdr.vxlan.reserved = 0;
        hdr.vxlan.reserved_2 = 0;
        hdr.vxlan.flags = 0x08;
        hdr.vxlan.vni = meta.vni;
    }

    table t_send_frame {
        key = {
            standard_metadata.egress_port: exact;
        }
        actions = {
            vxlan_encap;
            NoAction;
        }
        default_action = NoAction();
    }

    apply {
        if (meta.vtep != 0) {
            t_send_frame.apply();
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid(),
            { hdr.ipv4.version,
              hdr.ipv4.ihl,
              hdr.ipv4.diffserv,
              hdr.ipv4.totalLen,
              hdr.ipv4.identification,
              hdr.ipv4.flags,
              hdr.ipv4.fragOffset,
              hdr.ipv4.ttl,
              hdr.ipv4.protocol,
              hdr.ipv4.srcAddr,
              hdr.ipv4.dstAddr },
            hdr.ipv4.hdrChecksum,
            HashAlgorithm.csum16);
    }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.inner_ethernet);
        packet.emit(hdr.inner_ipv4);
        packet.emit(hdr.inner_udp);
    }
}

V1Switch(
    MyParser(),
    MyVerifyChecksum(),
    MyIngress(),
    MyEgress(),
    MyComputeChecksum(),
    MyDeparser()
) main;
