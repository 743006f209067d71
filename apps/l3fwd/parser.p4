// The parser of the router. What only serves to recognise flows (ports) is read ahead and may be missing.

#include "headers.p4"

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            ETHERTYPE_ARP: parse_arp;
            default: whole;
        }
    }

    state parse_arp {
        packet.extract(hdr.arp);
        transition whole;
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.VersionWrong);
        verify(hdr.ipv4.header_words >= 5, error.HeaderLengthWrong);
        transition select(hdr.ipv4.header_words) {
            5: ipv4_whole;
            default: parse_ipv4_options;
        }
    }

    state parse_ipv4_options {
        packet.extract(hdr.ipv4_options, (bit<32>)(hdr.ipv4.header_words - 5) << 5);
        transition ipv4_whole;
    }

    // All fragments of a datagram are one flow, and only the first has ports.
    state ipv4_whole {
        meta.is_whole = true;
        transition select(hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, 0, PROTOCOL_TCP): read_ports;
            (0, 0, PROTOCOL_UDP): read_ports;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.VersionWrong);
        meta.is_whole = true;
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP: read_ports;
            PROTOCOL_UDP: read_ports;
            PROTOCOL_ICMPV6: read_icmpv6_type;
            default: accept;
        }
    }

    state read_ports {
        meta.ports = packet.lookahead<bit<32>>();
        transition accept;
    }

    state read_icmpv6_type {
        meta.icmpv6_type = packet.lookahead<bit<8>>();
        transition accept;
    }

    state whole {
        meta.is_whole = true;
        transition accept;
    }
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.arp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.ipv6);
    }
}
