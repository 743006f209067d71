// A user plane of a mobile core: tunnels (GTP-U) are entered downlink and left uplink, per session with a meter and a counter;
// without a session packets are buffered at the host's port; the outer UDP packet gets its checksums.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> UDP = 17;
const bit<16> GTPU = 2152;

typedef bit<32> ipv4_addr_t;
typedef bit<32> teid_t;

enum bit<8> Direction { uplink = 1, downlink = 2 }

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_length;
    bit<16> id;
    bit<3>  flags;
    bit<13> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    ipv4_addr_t src;
    ipv4_addr_t dst;
}

header udp_t { bit<16> src_port; bit<16> dst_port; bit<16> length; bit<16> checksum; }

header gtpu_t {
    bit<3> version;
    bit<1> pt;
    bit<1> spare;
    bit<1> ex_flag;
    bit<1> seq_flag;
    bit<1> npdu_flag;
    bit<8> message;
    bit<16> length;
    teid_t teid;
}

struct headers {
    ethernet_t ethernet;
    ipv4_t outer_ipv4;
    udp_t outer_udp;
    gtpu_t gtpu;
    ipv4_t ipv4;
    udp_t udp;
}

struct session_t {
    bool found;
    bit<16> id;
    bit<2> color;
    Direction direction;
}

struct metadata {
    session_t session;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: outer;
            default: reject;
        }
    }
    state outer {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol, hdr.ipv4.fragment) {
            (UDP, 0): udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst_port, packet.lookahead<gtpu_t>().version, packet.lookahead<gtpu_t>().message) {
            (GTPU, 1, 0xff): gtpu;
            default: accept;
        }
    }
    state gtpu {
        // What was read is the outer one.
        hdr.outer_ipv4 = hdr.ipv4;
        hdr.outer_udp = hdr.udp;
        hdr.udp.setInvalid();
        packet.extract(hdr.gtpu);
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            UDP: inner_udp;
            default: accept;
        }
    }
    state inner_udp {
        packet.extract(hdr.udp);
        transition accept;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5, { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp,
            hdr.ipv4.ecn, hdr.ipv4.total_length, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.fragment, hdr.ipv4.ttl,
            hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst }, hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    counter(16, CounterType.packets_and_bytes) sessions;
    direct_meter<bit<2>>(MeterType.packets) rates;

    action set_session(bit<16> id) {
        meta.session.found = true;
        meta.session.id = id;
        sessions.count((bit<32>) id);
        rates.read(meta.session.color);
    }

    table uplink_sessions {
        key = {
            hdr.outer_ipv4.dst : exact @name("n3");
            hdr.gtpu.teid      : exact @name("teid");
        }
        actions = { set_session; NoAction; }
        const default_action = NoAction;
        meters = rates;
    }

    direct_meter<bit<2>>(MeterType.packets) down_rates;

    action set_down_session(bit<16> id) {
        meta.session.found = true;
        meta.session.id = id;
        sessions.count((bit<32>) id);
        down_rates.read(meta.session.color);
    }

    table downlink_sessions {
        key = { hdr.ipv4.dst : exact @name("ue"); }
        actions = { set_down_session; NoAction; }
        const default_action = NoAction;
        meters = down_rates;
    }

    action decapsulate() {
        hdr.outer_ipv4.setInvalid();
        hdr.outer_udp.setInvalid();
        hdr.gtpu.setInvalid();
    }

    action encapsulate(ipv4_addr_t src, ipv4_addr_t dst, teid_t teid, bit<6> dscp) {
        hdr.outer_ipv4 = {
            version = 4, ihl = 5, dscp = dscp, ecn = hdr.ipv4.ecn,
            total_length = hdr.ipv4.total_length + 36,
            id = 0, flags = 2, fragment = 0, ttl = 64, protocol = UDP, checksum = 0,
            src = src, dst = dst
        };
        hdr.outer_udp = { src_port = GTPU, dst_port = GTPU, length = hdr.ipv4.total_length + 16, checksum = 0 };
        hdr.gtpu.setValid();
        hdr.gtpu.version = 1;
        hdr.gtpu.pt = 1;
        hdr.gtpu.message = 0xff;
        hdr.gtpu.length = hdr.ipv4.total_length;
        hdr.gtpu.teid = teid;
    }

    action buffer() {
        standard_metadata.egress_spec = 64;
        exit;
    }

    table forwarding {
        key = {
            meta.session.id        : exact @name("session");
            meta.session.direction : exact @name("direction");
        }
        actions = { decapsulate; encapsulate; buffer; }
        const default_action = buffer();
    }

    action forward(bit<48> mac, bit<9> port) {
        hdr.ethernet.dst = mac;
        standard_metadata.egress_spec = port;
    }

    action drop() { mark_to_drop(standard_metadata); }

    table routes {
        key = { hdr.outer_ipv4.isValid() ? hdr.outer_ipv4.dst : hdr.ipv4.dst : lpm @name("dst"); }
        actions = { forward; drop; }
        default_action = drop;
    }

    apply {
        if (!hdr.ipv4.isValid() || standard_metadata.checksum_error == 1) {
            drop();
            exit;
        }
        if (hdr.gtpu.isValid()) {
            meta.session.direction = Direction.uplink;
            uplink_sessions.apply();
        } else {
            meta.session.direction = Direction.downlink;
            downlink_sessions.apply();
        }
        if (meta.session.found) {
            if (meta.session.color == 2) {
                drop();
                return;
            }
            forwarding.apply();
            if (meta.session.color == 1) {
                hdr.ipv4.ecn = 3;
            }
        }
        if (routes.apply().hit) {
            if (hdr.outer_ipv4.isValid()) {
                hdr.outer_ipv4.ttl = hdr.outer_ipv4.ttl - 1;
            } else {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            }
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp,
            hdr.ipv4.ecn, hdr.ipv4.total_length, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.fragment, hdr.ipv4.ttl,
            hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst }, hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.outer_ipv4.isValid(), { hdr.outer_ipv4.version, hdr.outer_ipv4.ihl, hdr.outer_ipv4.dscp,
            hdr.outer_ipv4.ecn, hdr.outer_ipv4.total_length, hdr.outer_ipv4.id, hdr.outer_ipv4.flags,
            hdr.outer_ipv4.fragment, hdr.outer_ipv4.ttl, hdr.outer_ipv4.protocol, hdr.outer_ipv4.src,
            hdr.outer_ipv4.dst }, hdr.outer_ipv4.checksum, HashAlgorithm.csum16);
        // With the pseudo-header, over everything that follows, the bytes that were not parsed included.
        update_checksum_with_payload(hdr.outer_udp.isValid(), { hdr.outer_ipv4.src, hdr.outer_ipv4.dst, 8w0,
            hdr.outer_ipv4.protocol, hdr.outer_udp.length, hdr.outer_udp.src_port, hdr.outer_udp.dst_port,
            hdr.outer_udp.length, hdr.gtpu, hdr.ipv4, hdr.udp }, hdr.outer_udp.checksum, HashAlgorithm.csum16);
    }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
