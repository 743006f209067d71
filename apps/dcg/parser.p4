// The parser of the gateway. A VXLAN packet is recognised before anything is taken from it, so that the frame in a
// tunnel and a frame without one end up in the same headers.

#include "headers.p4"

parser DcgParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    bit<4> option_words = 0;

    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: recognise;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition accept;
    }

    state recognise {
        bit<112> ethernet = packet.lookahead<bit<112>>();
        transition select(ethernet[15:0]) {
            ETHERTYPE_IPV4: recognise_tunnel;
            default: parse_ethernet;
        }
    }

    state recognise_tunnel {
        start_t first = packet.lookahead<start_t>();
        transition select(first.version_and_words, first.protocol, first.destination_port) {
            (0x45, PROTOCOL_UDP, PORT_VXLAN): parse_tunnel;
            default: parse_ethernet;
        }
    }

    state parse_tunnel {
        packet.extract(hdr.outer_ethernet);
        packet.extract(hdr.outer_ipv4);
        packet.extract(hdr.outer_udp);
        packet.extract(hdr.vxlan);
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
        option_words = hdr.ipv4.header_words - 5;
        transition select(option_words) {
            0: parse_ipv4_payload;
            default: parse_ipv4_option;
        }
    }

    state parse_ipv4_option {
        packet.extract(hdr.options.next);
        meta.options_sum = meta.options_sum + (bit<48>)hdr.options.last.word;
        option_words = option_words - 1;
        transition select(option_words) {
            0: parse_ipv4_payload;
            default: parse_ipv4_option;
        }
    }

    // Only the first fragment of a packet has ports.
    state parse_ipv4_payload {
        meta.client = (bit<128>)hdr.ipv4.source;
        meta.protocol = hdr.ipv4.protocol;
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_TCP): read_ports;
            (0, PROTOCOL_UDP): read_ports;
            (0, PROTOCOL_ICMP): read_icmp_type;
            default: whole;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.VersionWrong);
        meta.client = hdr.ipv6.source;
        meta.protocol = hdr.ipv6.next_header;
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP: read_ports;
            PROTOCOL_UDP: read_ports;
            PROTOCOL_ICMPV6: read_icmpv6_type;
            default: whole;
        }
    }

    state read_ports {
        bit<32> ports = packet.lookahead<bit<32>>();
        meta.source_port = ports[31:16];
        meta.destination_port = ports[15:0];
        transition whole;
    }

    // Unreachable (among them "fragmentation needed"), time exceeded, parameter problem.
    state read_icmp_type {
        transition select(packet.lookahead<bit<8>>()) {
            3: read_quoted4;
            11: read_quoted4;
            12: read_quoted4;
            default: whole;
        }
    }

    // The error goes where the flow goes that caused it. Its client is the one to whom the quoted packet was sent.
    state read_quoted4 {
        quoted4_t quoted = packet.lookahead<quoted4_t>();
        transition select(quoted.version_and_words, quoted.fragment_offset, quoted.protocol) {
            (0x45, 0, PROTOCOL_TCP): use_quoted4;
            (0x45, 0, PROTOCOL_UDP): use_quoted4;
            default: whole;
        }
    }

    state use_quoted4 {
        quoted4_t quoted = packet.lookahead<quoted4_t>();
        meta.client = (bit<128>)quoted.destination;
        meta.protocol = quoted.protocol;
        meta.source_port = quoted.destination_port;
        meta.destination_port = quoted.source_port;
        transition whole;
    }

    // Unreachable, packet too big, time exceeded, parameter problem.
    state read_icmpv6_type {
        meta.icmpv6_type = packet.lookahead<bit<8>>();
        transition select(meta.icmpv6_type) {
            1 .. 4: read_quoted6;
            default: whole;
        }
    }

    state read_quoted6 {
        quoted6_t quoted = packet.lookahead<quoted6_t>();
        transition select(quoted.next_header) {
            PROTOCOL_TCP: use_quoted6;
            PROTOCOL_UDP: use_quoted6;
            default: whole;
        }
    }

    state use_quoted6 {
        quoted6_t quoted = packet.lookahead<quoted6_t>();
        meta.client = quoted.destination;
        meta.protocol = quoted.next_header;
        meta.source_port = quoted.destination_port;
        meta.destination_port = quoted.source_port;
        transition whole;
    }

    state whole {
        meta.is_whole = true;
        transition accept;
    }
}

control DcgDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.outer_ethernet);
        packet.emit(hdr.outer_ipv4);
        packet.emit(hdr.outer_udp);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.arp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
        packet.emit(hdr.ipv6);
    }
}
