// What a gateway reads: headers, aggregates and records, what it notes of a packet, and the parser. Part of gateway.p4.

header ipv6_t {
    bit<4> version;
    bit<8> traffic_class;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_address_t source;
    ipv6_address_t destination;
}

header options_t {
    varbit<320> bytes;
}

// Options for hops or the destination, or a route: up to 64 bytes.
header extension_t {
    bit<8> next_header;
    bit<8> length;
    bit<48> first;
    varbit<448> rest;
}

header fragment_t {
    bit<8> next_header;
    bit<8> reserved;
    bit<13> offset;
    bit<3> flags;
    bit<32> identification;
}

header aggregate_t {
    bit<8> version;
    bit<8> reserved;
    // Of the receiving gateway.
    bit<16> tunnel;
    bit<16> packets;
    // Of the records.
    bit<16> length_bytes;
    // One for each time that the sending gateway was started.
    bit<32> epoch;
    // Of the aggregate in its tunnel and epoch, from 0.
    bit<32> sequence;
}

// A UDP packet over IPv4, without what follows from the rest. The kind is 4, or 5 if it must not be fragmented.
header record4_t {
    bit<4> kind;
    bit<12> length_bytes;
    bit<8> traffic_class;
    bit<8> ttl;
    bit<16> identification;
    ipv4_address_t source;
    ipv4_address_t destination;
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> checksum;
}

// The same over IPv6. The kind is 6.
header record6_t {
    bit<4> kind;
    bit<12> length_bytes;
    bit<8> traffic_class;
    bit<4> reserved;
    bit<20> flow_label;
    bit<8> hop_limit;
    ipv6_address_t source;
    ipv6_address_t destination;
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> checksum;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    options_t options;
    ipv6_t ipv6;
    extension_t extension;
    fragment_t fragment;
    udp_t udp;
    aggregate_t aggregate;
    record4_t record4;
    record6_t record6;
}

struct metadata_t {
    // The packet is of a class, but goes alone. It is resubmitted behind the buffer.
    @field_list(1)
    bool goes_alone;
    // The tunnel, and what its buffer may be.
    bit<16> tunnel;
    bool is_of_tunnel;
    // A record has all that its headers say.
    bool is_plain;
    // It may be of a class, but its ports cannot be seen.
    bool hides_ports;
    // A hash of both addresses.
    bit<16> pair;
    bit<16> records_bytes_max;
    bit<16> payload_bytes_max;
    bit<24> wait_us;
    // A record that waits for others: its bytes.
    bool waits;
    bit<16> record_bytes;
    // Packets in a buffer; and whether one alone goes as it came.
    bit<16> packets;
    bool sends_one_alone;
    // The aggregate is from another gateway, whose state has this number.
    bool is_from_peer;
    bit<32> peer;
    // A packet for `route`.
    bool is_routed;
    // It is for a group, or for one link only.
    bool is_of_link;
    // Bytes follow the aggregate, and it has to be taken apart: first they are cut off. Or it is as long as it says.
    bool has_trailer;
    bool is_whole;
    bool is_cut;
    // Headers were made here that need checksums.
    bool has_new_ipv4;
    bool has_new_udp;
    // What is taken from the time to live.
    bit<8> hops;
}

error {
    NotIp
}

parser GatewayParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.instance_type) {
            INSTANCE_TYPE_PILE: parse_pile;
            INSTANCE_TYPE_RECORD: parse_record;
            default: parse_ethernet;
        }
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }

    // Fragments, and packets with options, go through as they are. Their ports, or if those cannot be seen their addresses,
    // say which buffer they must not overtake.
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.header_words >= 5, error.NotIp);
        transition select(hdr.ipv4.header_words, hdr.ipv4.flags & 0b101, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (5, 0, 0, PROTOCOL_UDP): parse_udp;
            (_, _, 0, PROTOCOL_UDP): parse_options;
            (_, _, _, PROTOCOL_UDP): hide_ports;
            default: accept;
        }
    }

    state hide_ports {
        meta.hides_ports = true;
        transition accept;
    }

    state parse_options {
        bit<16> header_bytes = (bit<16>)hdr.ipv4.header_words << 2;
        packet.extract(hdr.options, ((bit<32>)header_bytes - 20) << 3);
        transition select(hdr.ipv4.total_length >= header_bytes + UDP_BYTES) {
            true: parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.udp);
        transition accept;
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.NotIp);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_UDP: parse_udp;
            HOP_OPTIONS: parse_extension;
            ROUTING: parse_extension;
            DESTINATION_OPTIONS: parse_extension;
            FRAGMENT: parse_fragment;
            AUTHENTICATION: hide_ports;
            default: accept;
        }
    }

    state parse_extension {
        transition select(packet.lookahead<bit<16>>()) {
            0x0000 &&& 0x00f8: extract_extension;
            default: hide_ports;
        }
    }

    state extract_extension {
        packet.extract(hdr.extension, (bit<32>)packet.lookahead<bit<16>>()[7:0] << 6);
        transition select(hdr.extension.next_header) {
            PROTOCOL_UDP: parse_ports;
            FRAGMENT: parse_fragment;
            HOP_OPTIONS: hide_ports;
            ROUTING: hide_ports;
            AUTHENTICATION: hide_ports;
            DESTINATION_OPTIONS: hide_ports;
            default: accept;
        }
    }

    state parse_fragment {
        packet.extract(hdr.fragment);
        transition select(hdr.fragment.next_header, hdr.fragment.offset) {
            (PROTOCOL_UDP, 0): parse_ports;
            (PROTOCOL_UDP, _): hide_ports;
            (ROUTING, _): hide_ports;
            (AUTHENTICATION, _): hide_ports;
            (DESTINATION_OPTIONS, _): hide_ports;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.destination_port, hdr.udp.length_bytes) {
            (TUNNEL_PORT, 24 .. 65535): parse_aggregate;
            default: accept;
        }
    }

    state parse_aggregate {
        packet.extract(hdr.aggregate);
        bit<32> ip_bytes = (bit<32>)IPV6_BYTES + (bit<32>)hdr.ipv6.payload_length;
        if (hdr.ipv4.isValid()) {
            ip_bytes = (bit<32>)hdr.ipv4.total_length;
        }
        meta.has_trailer = standard_metadata.packet_length > (bit<32>)ETHERNET_BYTES + ip_bytes;
        meta.is_whole = standard_metadata.packet_length == (bit<32>)ETHERNET_BYTES + ip_bytes;
        transition accept;
    }

    // A packet that waited in vain for others may go as it came.
    state parse_pile {
        pile_read(meta.tunnel, meta.packets);
        transition select(meta.tunnel, meta.packets) {
            (CUTTING_PILE, _): parse_ethernet;
            (_, 1): parse_record;
            default: accept;
        }
    }

    state parse_record {
        transition select(packet.lookahead<bit<4>>()) {
            4: parse_record4;
            5: parse_record4;
            6: parse_record6;
            default: accept;
        }
    }

    state parse_record4 {
        packet.extract(hdr.record4);
        transition accept;
    }

    state parse_record6 {
        packet.extract(hdr.record6);
        transition accept;
    }
}
