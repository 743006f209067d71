// What ingress reads of a packet, whichever version of IP it has, and what every hop changes.

control ReadAddresses(in headers_t hdr, inout addresses_t addresses) {
    apply {
        bit<16> headers_bytes = 0;
        if (hdr.ipv6.isValid()) {
            addresses.source = hdr.ipv6.source;
            addresses.destination = hdr.ipv6.destination;
            addresses.protocol = hdr.ipv6.next_header;
            addresses.traffic_class = hdr.ipv6.traffic_class;
            addresses.flow_label = hdr.ipv6.flow_label;
            addresses.payload_bytes = hdr.ipv6.payload_length;
        } else {
            addresses.source = IPV4_MAPPED | (bit<128>) hdr.ipv4.source;
            addresses.destination = IPV4_MAPPED | (bit<128>) hdr.ipv4.destination;
            addresses.protocol = hdr.ipv4.protocol;
            addresses.traffic_class = hdr.ipv4.traffic_class;
            addresses.flow_label = 0;
            addresses.payload_bytes = hdr.ipv4.total_length;
            headers_bytes = 20;
        }
        if (hdr.tcp.isValid()) {
            addresses.source_port = hdr.tcp.source;
            addresses.destination_port = hdr.tcp.destination;
            headers_bytes = headers_bytes + ((bit<16>) hdr.tcp.header_words << 2);
        } else if (hdr.udp.isValid()) {
            addresses.source_port = hdr.udp.source;
            addresses.destination_port = hdr.udp.destination;
        }
        addresses.payload_bytes = addresses.payload_bytes |-| headers_bytes;
    }
}

// Lowers the hop limit. A packet that has passed too many hops is to be dropped.
control Hop(inout headers_t hdr, out bool is_dead) {
    apply {
        is_dead = false;
        if (hdr.ipv6.isValid()) {
            hdr.ipv6.hop_limit = hdr.ipv6.hop_limit |-| 1;
            is_dead = hdr.ipv6.hop_limit == 0;
        } else {
            hdr.ipv4.ttl = hdr.ipv4.ttl |-| 1;
            is_dead = hdr.ipv4.ttl == 0;
        }
    }
}

// Marks a packet that found a long queue (RFC 3168).
control Mark(inout headers_t hdr, in bool is_long) {
    apply {
        if (is_long) {
            if (hdr.ipv6.isValid() && hdr.ipv6.traffic_class[1:0] != NOT_ECN_CAPABLE) {
                hdr.ipv6.traffic_class[1:0] = CONGESTION_EXPERIENCED;
            } else if (hdr.ipv4.isValid() && hdr.ipv4.traffic_class[1:0] != NOT_ECN_CAPABLE) {
                hdr.ipv4.traffic_class[1:0] = CONGESTION_EXPERIENCED;
            }
        }
    }
}
