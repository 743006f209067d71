// Checksums: that of IPv4 after every hop.

control FabricChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
#ifdef FAKES
        // Of a fake acknowledgment, which has no options and no payload.
        update_checksum(meta.is_finished && hdr.ipv4.isValid(),
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, 16w20,
              hdr.tcp.source, hdr.tcp.destination, hdr.tcp.sequence, hdr.tcp.acknowledgment, hdr.tcp.header_words,
              hdr.tcp.reserved, hdr.tcp.flags, hdr.tcp.window, hdr.tcp.urgent },
            hdr.tcp.checksum, HashAlgorithm.csum16);
        update_checksum(meta.is_finished && hdr.ipv6.isValid(),
            { hdr.ipv6.source, hdr.ipv6.destination, 32w20, 24w0, hdr.ipv6.next_header,
              hdr.tcp.source, hdr.tcp.destination, hdr.tcp.sequence, hdr.tcp.acknowledgment, hdr.tcp.header_words,
              hdr.tcp.reserved, hdr.tcp.flags, hdr.tcp.window, hdr.tcp.urgent },
            hdr.tcp.checksum, HashAlgorithm.csum16);
#endif
    }
}
