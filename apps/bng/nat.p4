// Network address and port translation: finds what becomes of a packet, and rewrites it.

#include "headers.p4"

// The part of a sum in ones' complement that replaces a word (RFC 1624).
bit<32> replaced(in bit<16> before, in bit<16> after) {
    return (bit<32>)(~before) + (bit<32>)after;
}

// A checksum after `changes`: a sum of at most 16 words.
bit<16> updated(in bit<16> checksum, in bit<32> changes) {
    bit<32> sum = (bit<32>)(~checksum) + changes;
    sum = (bit<32>)sum[15:0] + (bit<32>)sum[31:16];
    return ~(sum[15:0] + sum[31:16]);
}

// From the inner address and port of a subscriber to a public one.
control TranslateSource(inout headers_t hdr, inout metadata_t meta) {
    action to_public(ipv4_address_t address, bit<16> port) {
        meta.new_source = address;
        meta.new_source_port = port;
    }

    action no_binding() {
        meta.reason = NO_BINDING;
    }

    // Subscribers may have the same inner addresses.
    table bindings_up {
        key = {
            meta.sender: exact @name("subscriber");
            hdr.ipv4.source: exact @name("address") @format(IPV4_ADDRESS);
            hdr.ipv4.protocol: exact @name("protocol");
            meta.source_port: exact @name("port");
        }
        actions = {
            to_public;
            @defaultonly no_binding;
        }
        size = 1048576;
        default_action = no_binding();
        // A binding that is idle for long is given to others.
        support_timeout = true;
    }

    apply {
        bool is_echo = hdr.icmp.isValid() && hdr.icmp.type == ICMP_ECHO_REQUEST && hdr.icmp.code == 0;
        if (hdr.tcp.isValid() || hdr.udp.isValid() || is_echo) {
            bindings_up.apply();
        } else {
            meta.reason = NOT_TRANSLATED;
        }
    }
}

// From a public address and port to the subscriber who has it.
control TranslateDestination(inout headers_t hdr, inout metadata_t meta) {
    action to_inner(subscriber_t subscriber, ipv4_address_t address, bit<16> port) {
        meta.receiver = subscriber;
        meta.new_destination = address;
        meta.new_destination_port = port;
    }

    action unsolicited() {
        meta.reason = UNSOLICITED;
    }

    table bindings_down {
        key = {
            hdr.ipv4.destination: exact @name("address") @format(IPV4_ADDRESS);
            hdr.ipv4.protocol: exact @name("protocol");
            meta.destination_port: exact @name("port");
        }
        actions = {
            to_inner;
            @defaultonly unsolicited;
        }
        size = 1048576;
        default_action = unsolicited();
        support_timeout = true;
    }

    apply {
        bool is_echo = hdr.icmp.isValid() && hdr.icmp.type == ICMP_ECHO_REPLY && hdr.icmp.code == 0;
        if (hdr.tcp.isValid() || hdr.udp.isValid() || is_echo) {
            bindings_down.apply();
        } else {
            meta.reason = NOT_TRANSLATED;
        }
    }
}

// Writes new addresses, ports and checksums, and lowers the TTL.
control Rewrite(inout headers_t hdr, inout metadata_t meta) {
    apply {
        bit<32> addresses = replaced(hdr.ipv4.source[31:16], meta.new_source[31:16])
            + replaced(hdr.ipv4.source[15:0], meta.new_source[15:0])
            + replaced(hdr.ipv4.destination[31:16], meta.new_destination[31:16])
            + replaced(hdr.ipv4.destination[15:0], meta.new_destination[15:0]);
        bit<32> ports = replaced(meta.source_port, meta.new_source_port)
            + replaced(meta.destination_port, meta.new_destination_port);
        hdr.ipv4.source = meta.new_source;
        hdr.ipv4.destination = meta.new_destination;
        bit<32> changes = addresses + 0xFEFF;       // the TTL: less 0x0100
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        if (hdr.outer.isValid() && hdr.outer.ecn == ECN_CONGESTED) {
            // The access network was congested, and the receiver must be told (RFC 6040).
            changes = changes + (bit<32>)(ECN_CONGESTED - hdr.ipv4.ecn);
            hdr.ipv4.ecn = ECN_CONGESTED;
        }
        hdr.ipv4.checksum = updated(hdr.ipv4.checksum, changes);
        if (hdr.tcp.isValid()) {
            hdr.tcp.source_port = meta.new_source_port;
            hdr.tcp.destination_port = meta.new_destination_port;
            hdr.tcp.checksum = updated(hdr.tcp.checksum, addresses + ports);
        } else if (hdr.udp.isValid()) {
            hdr.udp.source_port = meta.new_source_port;
            hdr.udp.destination_port = meta.new_destination_port;
            if (hdr.udp.checksum != 0) {
                // Zero is no checksum, so a sum of zero is written as its other form.
                bit<16> checksum = updated(hdr.udp.checksum, addresses + ports);
                hdr.udp.checksum = checksum == 0 ? 16w0xFFFF : checksum;
            }
        } else {
            // Of an echo, both are the identifier, and one of them has changed.
            bit<16> identifier = hdr.icmp.type == ICMP_ECHO_REQUEST ? meta.new_source_port : meta.new_destination_port;
            hdr.icmp.checksum = updated(hdr.icmp.checksum, replaced(hdr.icmp.identifier, identifier));
            hdr.icmp.identifier = identifier;
        }
    }
}
