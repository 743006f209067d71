// In-band telemetry: hops push metadata onto a stack as the header's instruction bits ask, within the budget of hops; the
// last hop removes everything and sends a report by a clone from egress to egress.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> INT_PORT = 5000;
const int MAX_HOPS = 3;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_length;
    bit<16> id;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

header int_shim_t {
    bit<4> version;
    bit<4> remaining_hops;
    bit<8> words;       // Of four bytes, in the stack.
    bit<1> with_switch;
    bit<1> with_ports;
    bit<1> with_queue;
    bit<13> reserved;
}

header switch_id_t { bit<32> id; }
header ports_t { bit<16> ingress; bit<16> egress; }
header queue_t { bit<8> queue; bit<24> depth; }
header word_t { bit<32> data; }
header report_t { bit<16> words; bit<16> switch_id; }

struct headers {
    ethernet_t ethernet;
    report_t report;
    ipv4_t ipv4;
    udp_t udp;
    int_shim_t int_shim;
    switch_id_t switch_id;
    ports_t ports;
    queue_t queue;
    word_t[9] stack;
}

struct metadata {
    bit<8> words_to_parse;
    bit<16> added;
    // For the report.
    @field_list(1)
    bit<16> switch_id;
    bit<1> is_sink;
}

parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: parse_ipv4;
            _: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, PROTOCOL_UDP): parse_udp;
            (_, _): accept;
        }
    }
    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            INT_PORT: parse_int;
            default: accept;
        }
    }
    state parse_int {
        packet.extract(hdr.int_shim);
        meta.words_to_parse = hdr.int_shim.words;
        transition parse_words;
    }
    state parse_words {
        transition select(meta.words_to_parse) {
            0: accept;
            default: parse_word;
        }
    }
    state parse_word {
        packet.extract(hdr.stack.next);
        meta.words_to_parse = meta.words_to_parse - 1;
        transition parse_words;
    }
}

control MyVerifyChecksum(inout headers hdr, inout metadata meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_length, hdr.ipv4.id, hdr.ipv4.fragment,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    action to_host(bit<9> port) {
        forward(port);
        meta.is_sink = 1;
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { forward; to_host; @defaultonly NoAction; }
        default_action = NoAction();
    }
    apply {
        if (!hdr.ipv4.isValid() || standard_metadata.checksum_error == 1
            || standard_metadata.parser_error != error.NoError) {
            mark_to_drop(standard_metadata);
        } else if (!routes.apply().hit) {
            mark_to_drop(standard_metadata);
        }
    }
}

control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    action set_switch_id(bit<16> id) {
        meta.switch_id = id;
    }
    table identity {
        actions = { set_switch_id; }
        default_action = set_switch_id(0);
    }
    apply {
        if (standard_metadata.instance_type == 2) {
            // The report: everything, behind a header of its own.
            hdr.report.setValid();
            hdr.report = { (bit<16>) hdr.int_shim.words, meta.switch_id };
            hdr.ethernet.type = 0xbeef;
            return;
        }
        if (!hdr.int_shim.isValid()) {
            return;
        }
        identity.apply();
        if (hdr.int_shim.remaining_hops != 0) {
            hdr.int_shim.remaining_hops = hdr.int_shim.remaining_hops - 1;
            if (hdr.int_shim.with_switch == 1) {
                hdr.switch_id.setValid();
                hdr.switch_id.id = (bit<32>) meta.switch_id;
                meta.added = meta.added + 1;
            }
            if (hdr.int_shim.with_ports == 1) {
                hdr.ports.setValid();
                hdr.ports.ingress = (bit<16>) standard_metadata.ingress_port;
                hdr.ports.egress = (bit<16>) standard_metadata.egress_port;
                meta.added = meta.added + 1;
            }
            if (hdr.int_shim.with_queue == 1) {
                hdr.queue = { (bit<8>) standard_metadata.priority, (bit<24>) standard_metadata.deq_qdepth };
                meta.added = meta.added + 1;
            }
            hdr.int_shim.words = hdr.int_shim.words + (bit<8>) meta.added;
            hdr.udp.length = hdr.udp.length + (meta.added << 2);
            hdr.ipv4.total_length = hdr.ipv4.total_length + (meta.added << 2);
        }
        if (meta.is_sink == 1) {
            clone_preserving_field_list(CloneType.E2E, 9, 1);
        }
    }
}

control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_length, hdr.ipv4.id, hdr.ipv4.fragment,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control MyDeparser(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
