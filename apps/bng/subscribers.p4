// Subscribers: the tunnels that they send and receive by, their rates, and what they have sent and received.

#include "headers.p4"

// Whose tunnel a packet came by, and whether that subscriber may send it.
control Sender(inout headers_t hdr, inout metadata_t meta) {
    action subscriber(subscriber_t number, ipv4_address_t network, ipv4_address_t mask) {
        meta.sender = number;
        if (hdr.ipv4.source & mask != network) {
            meta.reason = WRONG_SOURCE;
        }
    }

    action unknown_tunnel() {
        meta.reason = UNKNOWN_TUNNEL;
    }

    // A tunnel has both its ends and, if there is one, a key.
    table tunnels {
        key = {
            hdr.outer.source: exact @name("source") @format(IPV4_ADDRESS);
            hdr.outer.destination: exact @name("destination") @format(IPV4_ADDRESS);
            hdr.gre_key.isValid(): exact @name("has_key");
            meta.key: exact @name("key");
        }
        actions = {
            subscriber;
            @defaultonly unknown_tunnel;
        }
        size = 131072;
        default_action = unknown_tunnel();
    }

    apply {
        meta.key = hdr.gre_key.isValid() ? hdr.gre_key.key : 0;
        tunnels.apply();
        if (meta.reason == NONE && hdr.outer.ecn == ECN_CONGESTED && hdr.ipv4.ecn == ECN_NONE) {
            // A congested link would have dropped it, had it come without a tunnel (RFC 6040).
            meta.reason = CONGESTED;
        }
    }
}

// The tunnel to the subscriber who receives a packet.
control Receiver(inout headers_t hdr, inout metadata_t meta) {
    action check_length(bit<16> mtu) {
        if (hdr.ipv4.total_length > mtu) {
            meta.reason = TOO_LONG;
        }
    }

    action tunnel(ipv4_address_t source, ipv4_address_t destination, bit<16> mtu) {
        meta.tunnel_source = source;
        meta.tunnel_destination = destination;
        meta.has_key = false;
        check_length(mtu);
    }

    action tunnel_with_key(ipv4_address_t source, ipv4_address_t destination, bit<16> mtu, bit<32> key) {
        meta.tunnel_source = source;
        meta.tunnel_destination = destination;
        meta.has_key = true;
        meta.key = key;
        check_length(mtu);
    }

    action no_subscriber() {
        meta.reason = NO_SUBSCRIBER;
    }

    table subscribers {
        key = {
            meta.receiver: exact @name("subscriber");
        }
        actions = {
            tunnel;
            tunnel_with_key;
            @defaultonly no_subscriber;
        }
        size = 131072;
        default_action = no_subscriber();
    }

    apply {
        subscribers.apply();
    }
}

// Holds subscribers to their rates. It is some lookups behind that of the subscriber, so the cell has time to arrive.
control Rates(inout metadata_t meta) {
    meter(SUBSCRIBERS, MeterType.bytes) upload_rate;
    meter(SUBSCRIBERS, MeterType.bytes) download_rate;

    apply {
        if (meta.side == Side.ACCESS) {
            upload_rate.execute_meter(meta.sender, meta.colour);
            if (meta.colour == RED) {
                meta.reason = UPLOAD_RATE;
            }
        }
        if (meta.reason == NONE && meta.is_download) {
            meta.colour = 0;
            download_rate.execute_meter(meta.receiver, meta.colour);
            if (meta.colour == RED) {
                meta.reason = DOWNLOAD_RATE;
            }
        }
    }
}

// Counts what is forwarded: dropped packets are on no account.
control Account(in metadata_t meta) {
    counter(SUBSCRIBERS, CounterType.packets_and_bytes) uploaded;
    counter(SUBSCRIBERS, CounterType.packets_and_bytes) downloaded;

    apply {
        if (meta.side == Side.ACCESS) {
            uploaded.count(meta.sender);
        }
        if (meta.is_download) {
            downloaded.count(meta.receiver);
        }
    }
}

// Takes the tunnel that a packet came by away, or puts it into that of the receiver.
control Encapsulate(inout headers_t hdr, in metadata_t meta) {
    action decapsulate() {
        hdr.outer.setInvalid();
        hdr.gre.setInvalid();
        hdr.gre_key.setInvalid();
    }

    action encapsulate() {
        hdr.outer.setValid();
        hdr.outer.version = 4;
        hdr.outer.header_words = 5;
        hdr.outer.class = hdr.ipv4.class;
        hdr.outer.ecn = hdr.ipv4.ecn;
        hdr.outer.total_length = hdr.ipv4.total_length + (meta.has_key ? 16w28 : 16w24);
        // Never fragmented, so it needs no number (RFC 6864).
        hdr.outer.identification = 0;
        hdr.outer.reserved = 0;
        hdr.outer.do_not_fragment = 1;
        hdr.outer.more_fragments = 0;
        hdr.outer.fragment_offset = 0;
        hdr.outer.ttl = 64;
        hdr.outer.protocol = PROTOCOL_GRE;
        hdr.outer.source = meta.tunnel_source;
        hdr.outer.destination = meta.tunnel_destination;
        hdr.gre.setValid();
        hdr.gre.options = meta.has_key ? GRE_KEY : GRE_PLAIN;
        hdr.gre.protocol = ETHERTYPE_IPV4;
    }

    action write_key() {
        hdr.gre_key.setValid();
        hdr.gre_key.key = meta.key;
    }

    apply {
        decapsulate();
        if (meta.is_download) {
            encapsulate();
            if (meta.has_key) {
                write_key();
            }
        }
    }
}
