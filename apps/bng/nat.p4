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

// Whether a packet has what bindings are about; `echo` is the type of ICMP echo that goes this way, and `quoted` that of
// those which errors going this way are about.
bool is_translated(in headers_t hdr, in bit<8> echo, in bit<8> quoted) {
    bool is_echo = hdr.icmp.isValid() && hdr.icmp.type == echo && hdr.icmp.code == 0;
    bool is_error = hdr.quoted_ports.isValid() || (hdr.quoted_echo.isValid() && hdr.quoted_echo.type == quoted);
    return hdr.tcp.isValid() || hdr.udp.isValid() || is_echo || is_error;
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
            meta.source: exact @name("address") @format(IPV4_ADDRESS);
            meta.protocol: exact @name("protocol");
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
        if (!is_translated(hdr, ICMP_ECHO_REQUEST, ICMP_ECHO_REPLY)) {
            meta.reason = NOT_TRANSLATED;
        } else {
            bindings_up.apply();
            if (meta.reason == NO_BINDING && hdr.quoted.isValid()) {
                // About a packet that has not come through here.
                meta.reason = NOT_TRANSLATED;
            }
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
            meta.protocol: exact @name("protocol");
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
        bool is_of_another = hdr.quoted.isValid() && hdr.quoted.source != hdr.ipv4.destination;
        if (is_of_another || !is_translated(hdr, ICMP_ECHO_REPLY, ICMP_ECHO_REQUEST)) {
            meta.reason = NOT_TRANSLATED;
        } else {
            bindings_down.apply();
        }
    }
}

// Rewrites what an ICMP error quotes: it is a packet that went the other way, so its source is the error's destination.
control RewriteQuoted(inout headers_t hdr, in metadata_t meta) {
    apply {
        ipv4_address_t source = meta.is_download ? meta.new_destination : hdr.quoted.source;
        ipv4_address_t destination = meta.side == Side.ACCESS ? meta.new_source : hdr.quoted.destination;
        bit<32> addresses = replaced(hdr.quoted.source[31:16], source[31:16])
            + replaced(hdr.quoted.source[15:0], source[15:0])
            + replaced(hdr.quoted.destination[31:16], destination[31:16])
            + replaced(hdr.quoted.destination[15:0], destination[15:0]);
        bit<32> ports = replaced(meta.source_port, meta.new_source_port)
            + replaced(meta.destination_port, meta.new_destination_port);
        bit<16> checksum = updated(hdr.quoted.checksum, addresses);
        // All words that change, for the checksum of the error.
        bit<32> changes = addresses + replaced(hdr.quoted.checksum, checksum);
        hdr.quoted.source = source;
        hdr.quoted.destination = destination;
        hdr.quoted.checksum = checksum;
        if (hdr.quoted_echo.isValid()) {
            // Its checksum takes up what its identifier changes.
            bit<16> identifier = hdr.quoted_echo.type == ICMP_ECHO_REQUEST ? meta.new_destination_port
                : meta.new_source_port;
            hdr.quoted_echo.checksum = updated(hdr.quoted_echo.checksum,
                                               replaced(hdr.quoted_echo.identifier, identifier));
            hdr.quoted_echo.identifier = identifier;
        } else {
            changes = changes + ports;
            hdr.quoted_ports.source_port = meta.new_destination_port;
            hdr.quoted_ports.destination_port = meta.new_source_port;
            if (hdr.quoted.protocol == PROTOCOL_UDP && hdr.quoted_ports.fourth != 0) {
                bit<16> of_udp = updated(hdr.quoted_ports.fourth, addresses + ports);
                of_udp = of_udp == 0 ? 16w0xFFFF : of_udp;
                changes = changes + replaced(hdr.quoted_ports.fourth, of_udp);
                hdr.quoted_ports.fourth = of_udp;
            }
        }
        hdr.icmp.checksum = updated(hdr.icmp.checksum, changes);
    }
}

// Writes new addresses, ports and checksums, and lowers the TTL.
control Rewrite(inout headers_t hdr, inout metadata_t meta) {
    RewriteQuoted() quoted;

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
            // The access network was congested, and the receiver must learn of it (RFC 6040).
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
        } else if (hdr.quoted.isValid()) {
            quoted.apply(hdr, meta);
        } else {
            // Of an echo, both are the identifier, and one of them has changed.
            bit<16> identifier = hdr.icmp.type == ICMP_ECHO_REQUEST ? meta.new_source_port : meta.new_destination_port;
            hdr.icmp.checksum = updated(hdr.icmp.checksum, replaced(hdr.icmp.identifier, identifier));
            hdr.icmp.identifier = identifier;
        }
    }
}
