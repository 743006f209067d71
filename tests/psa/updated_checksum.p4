// A checksum that the ingress parser verifies and the egress deparser updates, of packets with a right and a wrong one.
// Only the parser of ingress says which they are: egress has an error of its own.

#include <core.p4>
#include <psa.p4>

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

struct empty_t {
}

error {
    WrongChecksum
}

parser SumIngressParser(packet_in packet, out headers_t hdr, inout empty_t meta,
                        in psa_ingress_parser_input_metadata_t istd, in empty_t resubmit_meta,
                        in empty_t recirculate_meta) {
    InternetChecksum() checksum;

    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        checksum.add({ hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
                       hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl,
                       hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination });
        verify(checksum.get() == hdr.ipv4.checksum, error.WrongChecksum);
        transition accept;
    }
}

control SumIngress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                   inout psa_ingress_output_metadata_t ostd) {
    action drop() {
        ingress_drop(ostd);
    }

    action forward(PortId_t port) {
        send_to_port(ostd, port);
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table right {
        key = {
            hdr.ipv4.destination: exact;
        }
        actions = {
            forward;
            drop;
        }
        default_action = drop();
        const entries = {
            0x0a010203: forward((PortId_t) 1);
        }
    }

    table wrong {
        key = {
            hdr.ipv4.destination: exact;
        }
        actions = {
            forward;
            drop;
        }
        default_action = drop();
        const entries = {
            0x0a010203: forward((PortId_t) 2);
        }
    }

    apply {
        if (hdr.ipv4.isValid() && istd.parser_error == error.NoError) {
            right.apply();
        } else if (hdr.ipv4.isValid()) {
            wrong.apply();
        } else {
            drop();
        }
    }
}

control SumIngressDeparser(packet_out packet, out empty_t clone_i2e_meta, out empty_t resubmit_meta,
                           out empty_t normal_meta, inout headers_t hdr, in empty_t meta,
                           in psa_ingress_output_metadata_t istd) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

parser SumEgressParser(packet_in packet, out headers_t hdr, inout empty_t meta,
                       in psa_egress_parser_input_metadata_t istd, in empty_t normal_meta,
                       in empty_t clone_i2e_meta, in empty_t clone_e2e_meta) {
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

control SumEgress(inout headers_t hdr, inout empty_t meta, in psa_egress_input_metadata_t istd,
                  inout psa_egress_output_metadata_t ostd) {
    action classify(bit<8> traffic_class) {
        hdr.ipv4.traffic_class = traffic_class;
    }

    table classes {
        key = {
            hdr.ipv4.destination: exact;
        }
        actions = {
            classify;
            NoAction;
        }
        default_action = NoAction();
        const entries = {
            0x0a010203: classify(8);
        }
    }

    apply {
        if (istd.parser_error == error.NoError) {
            classes.apply();
        }
    }
}

control SumEgressDeparser(packet_out packet, out empty_t clone_e2e_meta, out empty_t recirculate_meta,
                          inout headers_t hdr, in empty_t meta, in psa_egress_output_metadata_t istd,
                          in psa_egress_deparser_input_metadata_t edstd) {
    InternetChecksum() checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            checksum.add({ hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
                           hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl,
                           hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination });
            hdr.ipv4.checksum = checksum.get();
        }
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

PSA_Switch(IngressPipeline(SumIngressParser(), SumIngress(), SumIngressDeparser()),
           PacketReplicationEngine(),
           EgressPipeline(SumEgressParser(), SumEgress(), SumEgressDeparser()),
           BufferingQueueingEngine()) main;
