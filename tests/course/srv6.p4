// Segment routing over IPv6 (SRH): endpoints take the next segment from a stack of addresses at a run-time index, the last
// one may remove the header; transit is plain routing; a policy pushes a list of segments.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV6 = 0x86dd;
const bit<8> PROTOCOL_ROUTING = 43;
#define MAX_SEGMENTS 4

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv6_t {
    bit<4>   version;
    bit<8>   traffic_class;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

header srh_t {
    bit<8>  next_header;
    bit<8>  length;
    bit<8>  routing_type;
    bit<8>  segments_left;
    bit<8>  last_entry;
    bit<8>  flags;
    bit<16> tag;
}

header segment_t {
    bit<128> sid;
}

struct metadata {
    bit<8> left_to_parse;
    bit<128> next_sid;
}

struct headers {
    ethernet_t ethernet;
    ipv6_t ipv6;
    srh_t srh;
    segment_t[MAX_SEGMENTS] segments;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_ROUTING: parse_srh;
            default: accept;
        }
    }

    state parse_srh {
        packet.extract(hdr.srh);
        meta.left_to_parse = hdr.srh.last_entry + 1;
        transition select(hdr.srh.routing_type) {
            4: parse_segment;
            default: accept;
        }
    }

    state parse_segment {
        packet.extract(hdr.segments.next);
        meta.left_to_parse = meta.left_to_parse - 1;
        transition select(meta.left_to_parse) {
            0: accept;
            default: parse_segment;
        }
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply { }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    direct_counter(CounterType.packets) sid_counter;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(bit<48> mac, bit<9> port) {
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = mac;
        standard_metadata.egress_spec = port;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    table routes {
        key = { hdr.ipv6.dst: lpm; }
        actions = { forward; drop; }
        const default_action = drop();
    }

    action end() {
        hdr.srh.segments_left = hdr.srh.segments_left - 1;
        hdr.ipv6.dst = hdr.segments[hdr.srh.segments_left].sid;
        sid_counter.count();
    }

    // Penultimate segment pop.
    action end_psp() {
        bit<16> removed = ((bit<16>) hdr.srh.last_entry + 1) * 16 + 8;
        end();
        hdr.ipv6.next_header = hdr.srh.next_header;
        hdr.ipv6.payload_length = hdr.ipv6.payload_length - removed;
        hdr.srh.setInvalid();
        hdr.segments.pop_front(MAX_SEGMENTS);
    }

    table my_sids {
        key = { hdr.ipv6.dst: ternary; }
        actions = { end; end_psp; NoAction; }
        default_action = NoAction();
        counters = sid_counter;
    }

    action push_two(bit<128> first, bit<128> second) {
        hdr.srh.setValid();
        hdr.srh.next_header = hdr.ipv6.next_header;
        hdr.srh.routing_type = 4;
        hdr.srh.segments_left = 2;
        hdr.srh.last_entry = 2;
        hdr.srh.length = 6;
        hdr.segments.push_front(3);
        hdr.segments[0].setValid();
        hdr.segments[0].sid = hdr.ipv6.dst;
        hdr.segments[1] = { second };
        hdr.segments[2].setValid();
        hdr.segments[2].sid = first;
        hdr.ipv6.dst = first;
        hdr.ipv6.next_header = PROTOCOL_ROUTING;
        hdr.ipv6.payload_length = hdr.ipv6.payload_length + 56;
    }

    table policies {
        key = {
            hdr.ipv6.flow_label: exact;
            hdr.ipv6.dst[127:96]: exact @name("prefix");
        }
        actions = { push_two; @defaultonly NoAction; }
        const default_action = NoAction();
    }

    apply {
        if (!hdr.ipv6.isValid() || standard_metadata.parser_error != error.NoError) {
            drop();
            return;
        }
        if (hdr.srh.isValid() && hdr.srh.segments_left != 0) {
            my_sids.apply();
        } else if (!hdr.srh.isValid()) {
            policies.apply();
        }
        if (hdr.ipv6.hop_limit == 1) {
            drop();
        } else {
            routes.apply();
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
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.srh);
        packet.emit(hdr.segments);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
