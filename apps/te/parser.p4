// The parser and the deparser: Ethernet, IP of both versions, TCP and UDP. Fragments and IPv4 options are left alone.

parser FabricParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV6: ipv6;
            ETHERTYPE_IPV4: ipv4;
#ifdef PROBES
            ETHERTYPE_PROBE: probe;
#endif
#ifdef OVERLAY
            ETHERTYPE_OVERLAY: overlay;
#endif
            default: accept;
        }
    }

#ifdef PROBES
    state probe {
        packet.extract(hdr.probe);
        transition accept;
    }
#endif

#ifdef OVERLAY
    state overlay {
        packet.extract(hdr.overlay);
        transition select(hdr.overlay.ethertype) {
            ETHERTYPE_IPV6: ipv6;
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
#endif

    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP: tcp;
            PROTOCOL_UDP: udp;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.header_words, hdr.ipv4.fragment_offset, hdr.ipv4.flags[0:0], hdr.ipv4.protocol) {
            (5, 0, 0, PROTOCOL_TCP): tcp;
            (5, 0, 0, PROTOCOL_UDP): udp;
            default: accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }

    state tcp {
        packet.extract(hdr.tcp);
#ifdef FAKES
        meta.option_words = (bit<8>) hdr.tcp.header_words |-| 5;
        transition select(hdr.tcp.flags & TCP_SYN) {
            TCP_SYN: more_options;
            default: accept;
        }
    }

    // The shift of windows is in a word of its own, before or behind a NOP, as all systems in use send it.
    state more_options {
        transition select(meta.option_words) {
            0: accept;
            default: option;
        }
    }

    state option {
        packet.extract(hdr.options.next);
        meta.option_words = meta.option_words - 1;
        transition select(hdr.options.last.value) {
            0x01030300 &&& 0xffffff00: shift_last;
            0x03030000 &&& 0xffff0000: shift_before;
            default: more_options;
        }
    }

    state shift_last {
        meta.shift = hdr.options.last.value[3:0];
        transition more_options;
    }

    state shift_before {
        meta.shift = hdr.options.last.value[11:8];
        transition more_options;
    }
#else
        transition accept;
    }
#endif
}

control NoVerification(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control FabricDeparser(packet_out packet, in headers_t hdr) {
    apply {
#ifdef REPORTS
        packet.emit(hdr.report);
#endif
        packet.emit(hdr.ethernet);
#ifdef PROBES
        packet.emit(hdr.probe);
#endif
#ifdef OVERLAY
        packet.emit(hdr.overlay);
#endif
        packet.emit(hdr.ipv6);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.tcp);
#ifdef FAKES
        packet.emit(hdr.options);
#endif
    }
}
