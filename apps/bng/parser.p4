// The parser of the gateway: IPv4 in a GRE tunnel or without one, and the part of TCP, UDP and ICMP that is translated.

#include "headers.p4"

parser GatewayParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        meta.port = standard_metadata.ingress_port;
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        meta.port = hdr.packet_out.port;
        transition select(hdr.packet_out.mode) {
            MODE_PORT: whole;
            default: parse_ethernet;
        }
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: find_tunnel;
            ETHERTYPE_ARP: parse_arp;
            default: whole;
        }
    }

    state parse_arp {
        packet.extract(hdr.arp);
        transition whole;
    }

    state find_tunnel {
        // The protocol is the tenth byte.
        transition select(packet.lookahead<bit<80>>()[7:0]) {
            PROTOCOL_GRE: parse_outer;
            default: parse_ipv4;
        }
    }

    state parse_outer {
        packet.extract(hdr.outer);
        verify(hdr.outer.version == 4, error.VersionWrong);
        verify(hdr.outer.header_words == 5, error.HeaderLengthWrong);
        transition select(hdr.outer.more_fragments, hdr.outer.fragment_offset) {
            (0, 0): parse_gre;
            default: whole;
        }
    }

    state parse_gre {
        packet.extract(hdr.gre);
        verify(hdr.gre.options == GRE_PLAIN || hdr.gre.options == GRE_KEY, error.GreOptions);
        transition select(hdr.gre.options) {
            GRE_KEY: parse_gre_key;
            default: parse_content;
        }
    }

    state parse_gre_key {
        packet.extract(hdr.gre_key);
        transition parse_content;
    }

    state parse_content {
        transition select(hdr.gre.protocol) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: whole;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.VersionWrong);
        verify(hdr.ipv4.header_words == 5, error.HeaderLengthWrong);
        meta.protocol = hdr.ipv4.protocol;
        meta.source = hdr.ipv4.source;
        transition select(hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, 0, PROTOCOL_TCP): parse_tcp;
            (0, 0, PROTOCOL_UDP): parse_udp;
            (0, 0, PROTOCOL_ICMP): parse_icmp;
            default: whole;
        }
    }

    state parse_tcp {
        packet.extract(hdr.tcp);
        meta.source_port = hdr.tcp.source_port;
        meta.destination_port = hdr.tcp.destination_port;
        transition whole;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        meta.source_port = hdr.udp.source_port;
        meta.destination_port = hdr.udp.destination_port;
        transition whole;
    }

    state parse_icmp {
        packet.extract(hdr.icmp);
        meta.source_port = hdr.icmp.identifier;
        meta.destination_port = hdr.icmp.identifier;
        transition select(hdr.icmp.type) {
            ICMP_UNREACHABLE: parse_quoted;
            ICMP_TIME_EXCEEDED: parse_quoted;
            ICMP_WRONG_PARAMETER: parse_quoted;
            default: whole;
        }
    }

    state parse_quoted {
        packet.extract(hdr.quoted);
        meta.protocol = hdr.quoted.protocol;
        meta.source = hdr.quoted.destination;
        transition select(hdr.quoted.version, hdr.quoted.header_words, hdr.quoted.fragment_offset,
                          hdr.quoted.protocol) {
            (4, 5, 0, PROTOCOL_TCP): parse_quoted_ports;
            (4, 5, 0, PROTOCOL_UDP): parse_quoted_ports;
            (4, 5, 0, PROTOCOL_ICMP): parse_quoted_echo;
            default: whole;
        }
    }

    state parse_quoted_ports {
        packet.extract(hdr.quoted_ports);
        meta.source_port = hdr.quoted_ports.destination_port;
        meta.destination_port = hdr.quoted_ports.source_port;
        transition whole;
    }

    state parse_quoted_echo {
        packet.extract(hdr.quoted_echo);
        meta.source_port = hdr.quoted_echo.identifier;
        meta.destination_port = hdr.quoted_echo.identifier;
        transition whole;
    }

    state whole {
        meta.is_whole = true;
        transition accept;
    }
}

control GatewayDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.arp);
        packet.emit(hdr.outer);
        packet.emit(hdr.gre);
        packet.emit(hdr.gre_key);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
        packet.emit(hdr.icmp);
        packet.emit(hdr.quoted);
        packet.emit(hdr.quoted_ports);
        packet.emit(hdr.quoted_echo);
    }
}
