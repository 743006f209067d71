// N messages of sensors become one packet, and such a packet N messages again: the design of Lin, Wang, Huang and Wu, "The
// SDN Approach for the Aggregation/Disaggregation of Sensor Data" (2018), for N from 1 to 8.
//
// A message is a UDP packet with a flag of six bytes and sixteen bytes of payload (figure 6 a). The first switch keeps the
// payloads of N - 1 messages in registers; the one that comes then carries all of them on, as an N-packet (figure 6 d). The
// second switch lets one message out of it at a time while the rest goes round (section 3), or all at once as replicas
// of a multicast group (the paper's future work). Both are this program: the tables say which switch does what.
//
// What waits leaves within WAIT_US, and when the switch stops: a message that finds no watch in its collection becomes the
// watch, too. A copy of it waits in a buffer (wirespeed.p4), comes back, and carries on what waits then as a short N-packet,
// which says how many messages it has. That is one packet for each collection and WAIT_US; all others take the fast way.

#include <core.p4>
#include <v1model.p4>
#include <wirespeed.p4>
#include "../headers.p4"

#ifndef N
#define N 8
#endif
#if N < 1 || N > 8
#error "N is 1 to 8"
#endif

// How long a message waits for others, in microseconds: one second, and at most 16.
#ifndef WAIT_US
#define WAIT_US 1000000
#endif

// The flag's type. The first byte of a short N-packet's padding is the number of its messages; zeros follow them.
const bit<8> MESSAGE = 0xfa;
const bit<8> N_PACKET = 0xfc;
const bit<8> SHORT_N_PACKET = 0xfd;

const bit<16> PAYLOAD_BYTES = 16;
const bit<16> ETHERNET_BYTES = 14;
const bit<16> IPV4_BYTES = 20;
// UDP's header and the flag.
const bit<16> FLAG_UDP_BYTES = 14;
const bit<16> MESSAGE_UDP_BYTES = FLAG_UDP_BYTES + PAYLOAD_BYTES;
const bit<16> N_PACKET_UDP_BYTES = FLAG_UDP_BYTES + N * PAYLOAD_BYTES;
// A message from the Ethernet header on.
const bit<16> MESSAGE_BYTES = ETHERNET_BYTES + IPV4_BYTES + MESSAGE_UDP_BYTES;

// A watch, and an N-packet that goes round, pass through the queue of this port. Nothing is sent there, so that no rate that is set for
// the server's port holds it up, and no full queue drops it.
#ifndef ROUND_PORT
#define ROUND_PORT 509
#endif

// Where messages are collected apart: one collection, and one buffer for its watch, for each server, say.
#define COLLECTIONS 256

header flag_t {
    bit<8> type;
    // Makes the frame of a message 64 bytes long.
    bit<40> padding;
}

header msg_t {
    bit<128> payload;
}

header agg_t {
    bit<128> msg1;
#if N >= 2
    bit<128> msg2;
#endif
#if N >= 3
    bit<128> msg3;
#endif
#if N >= 4
    bit<128> msg4;
#endif
#if N >= 5
    bit<128> msg5;
#endif
#if N >= 6
    bit<128> msg6;
#endif
#if N >= 7
    bit<128> msg7;
#endif
#if N >= 8
    bit<128> msg8;
#endif
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    flag_t flag;
    msg_t msg;
    agg_t agg;
}

struct metadata_t {
    // Which message of an N-packet is let out, from 0.
    @field_list(1)
    bit<32> part;
    // How many messages there are in it.
    @field_list(1)
    bit<32> messages;
    // Whether messages are let out of this N-packet, and whether it goes round.
    @field_list(1)
    bool is_split;
    bool goes_round;
    // This message is its collection's watch from now on.
    bool is_watch;
    bit<16> watched;
    // It has become an N-packet, whose UDP checksum is computed anew, as it has one; or a message, the first of what it was.
    bool is_new;
    bool has_checksum;
    bool is_part;
    bool part_has_checksum;
}

parser FixedParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.flags[0:0], hdr.ipv4.fragment_offset,
                          hdr.ipv4.protocol) {
            (4, 5, 0, 0, PROTOCOL_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.length_bytes) {
            FLAG_UDP_BYTES .. 0xffff: parse_flag;
            default: accept;
        }
    }

    state parse_flag {
        packet.extract(hdr.flag);
        transition select(hdr.flag.type, hdr.udp.length_bytes, hdr.ipv4.total_length) {
            (MESSAGE, MESSAGE_UDP_BYTES, IPV4_BYTES + MESSAGE_UDP_BYTES): parse_msg;
            (N_PACKET, N_PACKET_UDP_BYTES, IPV4_BYTES + N_PACKET_UDP_BYTES): parse_agg;
            (SHORT_N_PACKET, N_PACKET_UDP_BYTES, IPV4_BYTES + N_PACKET_UDP_BYTES): parse_agg;
            default: accept;
        }
    }

    state parse_msg {
        packet.extract(hdr.msg);
        transition accept;
    }

    state parse_agg {
        packet.extract(hdr.agg);
        transition accept;
    }
}

control FixedVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.header_words == 5,
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        // With its checksum, what is whole sums up to 0, whichever form of 0 the checksum has.
        verify_checksum((hdr.msg.isValid() || hdr.agg.isValid()) && hdr.udp.checksum != 0,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.udp.checksum, hdr.flag.type,
              hdr.flag.padding, hdr.msg.payload, hdr.agg },
            16w0, HashAlgorithm.csum16);
    }
}

control FixedIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // Payloads that wait: N - 1 at most in each collection, which has room for 8.
    register<bit<128>>(COLLECTIONS * 8) payloads;
    register<bit<32>>(COLLECTIONS) waiting;
    // In which start of the switch they came. With --state, those of another start may have gone on since they were stored.
    register<bit<32>>(COLLECTIONS) start_of_waiting;
    @start_number register<bit<32>>(1) this_start;
    // When the watch of each collection began; 0 if there is none. One that has not come back in twice its time was lost.
    register<bit<48>>(COLLECTIONS) watch_since_us;

    // Messages that came, and those of them that left in N-packets; `waiting` says how many are held.
    counter(COLLECTIONS, CounterType.packets) messages_in;
    register<bit<64>>(COLLECTIONS) messages_merged;
    counter(COLLECTIONS, CounterType.packets_and_bytes) n_packets_out;
    // 0: a frame that ends too early, 1: a wrong IPv4 checksum, 2: no route, 3: the time to live is over, 4: lengths that are
    // not those of an N-packet, 5: a wrong UDP checksum of a message or an N-packet, which would be a good one afterwards, 6:
    // something else than IPv4, ARP and IPv6 among it.
    counter(7, CounterType.packets) dropped;

    bit<32> collection = 0;
    bit<16> header_sum = 0;

    action collect(bit<8> collection_number) {
        collection = (bit<32>)collection_number;
    }

    // The first switch: whose messages are collected, and where.
    table collecting {
        key = {
            hdr.ipv4.destination: exact;
            hdr.udp.destination_port: exact;
        }
        actions = { collect; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    // Messages leave by the port of a mirror session.
    action split_by_recirculation(bit<32> session) {
        meta.is_split = hdr.agg.isValid() && standard_metadata.checksum_error == 0;
        if (meta.is_split && meta.part + 1 < meta.messages) {
            clone_preserving_field_list(CloneType.I2E, session, 1);
            meta.goes_round = true;
        }
    }

    // Messages are replicas, number 1 to N, of a group.
    action split_by_multicast(bit<16> group) {
        meta.is_split = hdr.agg.isValid() && standard_metadata.checksum_error == 0;
        if (meta.is_split) {
            standard_metadata.mcast_grp = group;
        }
    }

    // The second switch: whose N-packets are taken apart, and how.
    table splitting {
        key = {
            hdr.ipv4.destination: exact;
            hdr.udp.destination_port: exact;
        }
        actions = { split_by_recirculation; split_by_multicast; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    action send(port_t port) {
        standard_metadata.egress_spec = port;
    }

    action no_route() {
        mark_to_drop(standard_metadata);
        dropped.count(2);
    }

    table route {
        key = { hdr.ipv4.destination: lpm; }
        actions = { send; no_route; }
        default_action = no_route();
        size = 1024;
    }

    // Keeps this message's payload, which ends the message here.
    action keep(bit<32> position, bit<32> start) {
        payloads.write((collection << 3) + position, hdr.msg.payload);
        waiting.write(collection, position + 1);
        start_of_waiting.write(collection, start);
        mark_to_drop(standard_metadata);
    }

    // The message is the watch, too.
    action watch() {
        watch_since_us.write(collection, standard_metadata.ingress_global_timestamp | 1);
        meta.is_watch = true;
        meta.watched = (bit<16>)collection;
        standard_metadata.egress_spec = ROUND_PORT;
    }

    // This message carries those on that wait.
    action aggregate() {
        hdr.flag.type = N_PACKET;
        hdr.agg.setValid();
#if N >= 2
        payloads.read(hdr.agg.msg1, collection << 3);
#endif
#if N >= 3
        payloads.read(hdr.agg.msg2, (collection << 3) + 1);
#endif
#if N >= 4
        payloads.read(hdr.agg.msg3, (collection << 3) + 2);
#endif
#if N >= 5
        payloads.read(hdr.agg.msg4, (collection << 3) + 3);
#endif
#if N >= 6
        payloads.read(hdr.agg.msg5, (collection << 3) + 4);
#endif
#if N >= 7
        payloads.read(hdr.agg.msg6, (collection << 3) + 5);
#endif
#if N >= 8
        payloads.read(hdr.agg.msg7, (collection << 3) + 6);
#endif
        hdr.udp.length_bytes = N_PACKET_UDP_BYTES;
        hdr.ipv4.total_length = IPV4_BYTES + N_PACKET_UDP_BYTES;
        waiting.write(collection, 0);
        meta.is_new = true;
        n_packets_out.count(collection);
    }

    // The message itself is the last.
    action add_last() {
#if N == 1
        hdr.agg.msg1 = hdr.msg.payload;
#elif N == 2
        hdr.agg.msg2 = hdr.msg.payload;
#elif N == 3
        hdr.agg.msg3 = hdr.msg.payload;
#elif N == 4
        hdr.agg.msg4 = hdr.msg.payload;
#elif N == 5
        hdr.agg.msg5 = hdr.msg.payload;
#elif N == 6
        hdr.agg.msg6 = hdr.msg.payload;
#elif N == 7
        hdr.agg.msg7 = hdr.msg.payload;
#else
        hdr.agg.msg8 = hdr.msg.payload;
#endif
    }

    // Only the first messages are there.
    action blank(bit<32> messages) {
        hdr.flag.type = SHORT_N_PACKET;
        hdr.flag.padding = messages[7:0] ++ 32w0;
#if N >= 2
        if (messages < 2) { hdr.agg.msg2 = 0; }
#endif
#if N >= 3
        if (messages < 3) { hdr.agg.msg3 = 0; }
#endif
#if N >= 4
        if (messages < 4) { hdr.agg.msg4 = 0; }
#endif
#if N >= 5
        if (messages < 5) { hdr.agg.msg5 = 0; }
#endif
#if N >= 6
        if (messages < 6) { hdr.agg.msg6 = 0; }
#endif
#if N >= 7
        if (messages < 7) { hdr.agg.msg7 = 0; }
#endif
#if N >= 8
        if (messages < 8) { hdr.agg.msg8 = 0; }
#endif
    }

    // Counts messages that leave together, this one no more apart.
    action count_merged(bit<32> messages) {
        hdr.msg.setInvalid();
        bit<64> merged;
        messages_merged.read(merged, collection);
        messages_merged.write(collection, merged + (bit<64>)messages);
    }

    apply {
        if (standard_metadata.checksum_error == 1) {
            sum_header(hdr.ipv4, header_sum);
        }
        bool is_watch = standard_metadata.instance_type == INSTANCE_TYPE_PILE;
        if (is_watch) {
            bit<16> pile;
            bit<16> packets;
            pile_read(pile, packets);
            collection = (bit<32>)pile;
            watch_since_us.write(collection, 0);
        }
        if (standard_metadata.parser_error != error.NoError) {
            dropped.count(0);
            mark_to_drop(standard_metadata);
        } else if (header_sum != 0) {
            dropped.count(1);
            mark_to_drop(standard_metadata);
        } else if (!hdr.ipv4.isValid()) {
            dropped.count(6);
            mark_to_drop(standard_metadata);
        } else if (hdr.ipv4.ttl <= 1) {
            dropped.count(3);
            mark_to_drop(standard_metadata);
        } else if (route.apply().hit) {
            if (hdr.msg.isValid()) {
                if (is_watch || collecting.apply().hit) {
                    if (standard_metadata.checksum_error == 1) {
                        dropped.count(5);
                        mark_to_drop(standard_metadata);
                    } else @atomic {
                        bit<32> position;
                        bit<32> start;
                        bit<32> came_in_start;
                        bit<48> since_us;
                        waiting.read(position, collection);
                        this_start.read(start, 0);
                        start_of_waiting.read(came_in_start, collection);
                        if (came_in_start != start) {
                            position = 0;
                        }
                        if (is_watch && position == 0) {
                            mark_to_drop(standard_metadata);
                        } else if (is_watch) {
                            aggregate();
                            blank(position);
                            count_merged(position);
                        } else if (position < N - 1) {
                            messages_in.count(collection);
                            keep(position, start);
                            watch_since_us.read(since_us, collection);
                            if (since_us == 0
                                || (standard_metadata.ingress_global_timestamp | 1) - since_us > 2 * WAIT_US) {
                                watch();
                            }
                        } else {
                            messages_in.count(collection);
                            aggregate();
                            add_last();
                            count_merged(N);
                        }
                    }
                }
            } else if (hdr.udp.isValid()) {
                meta.messages = N;
                if (hdr.agg.isValid() && hdr.flag.type == SHORT_N_PACKET) {
                    meta.messages = (bit<32>)hdr.flag.padding[39:32];
                }
                if (!splitting.apply().hit) {
                } else if (hdr.agg.isValid() && (meta.messages == 0 || meta.messages > N)) {
                    dropped.count(4);
                    mark_to_drop(standard_metadata);
                } else if (meta.is_split) {
                } else if (hdr.agg.isValid()) {
                    dropped.count(5);
                    mark_to_drop(standard_metadata);
                } else if (hdr.udp.length_bytes + IPV4_BYTES != hdr.ipv4.total_length
                    || (hdr.flag.isValid() && (hdr.flag.type == N_PACKET || hdr.flag.type == SHORT_N_PACKET))) {
                    dropped.count(4);
                    mark_to_drop(standard_metadata);
                }
            }
            if (meta.goes_round) {
                standard_metadata.egress_spec = ROUND_PORT;
            }
        }
    }
}

control FixedEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // The message is the first of the N-packet then, behind which the packet is cut: no header has to move.
    action become_message() {
        meta.is_part = true;
        if (hdr.flag.type == SHORT_N_PACKET) {
            hdr.flag.padding = 0;
        }
        hdr.flag.type = MESSAGE;
        hdr.udp.length_bytes = MESSAGE_UDP_BYTES;
        hdr.ipv4.total_length = IPV4_BYTES + MESSAGE_UDP_BYTES;
    }

    // The link's addresses.
    action rewrite(mac_address_t source, mac_address_t destination) {
        hdr.ethernet.source = source;
        hdr.ethernet.destination = destination;
    }

    table link {
        key = { standard_metadata.egress_port: exact; }
        actions = { rewrite; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    apply {
        bool has_messages = hdr.msg.isValid() || hdr.agg.isValid();
        if (meta.is_watch) {
            truncate((bit<32>)MESSAGE_BYTES);
            pile_gather(meta.watched, 2 * MESSAGE_BYTES, WAIT_US);
        } else if (meta.goes_round && standard_metadata.instance_type != CLONED_IN_INGRESS) {
            meta.part = meta.part + 1;
            recirculate_preserving_field_list(1);
        } else {
            if (hdr.agg.isValid() && (meta.is_split || standard_metadata.instance_type == CLONED_IN_INGRESS)) {
                if (standard_metadata.instance_type == REPLICATED) {
                    meta.part = (bit<32>)standard_metadata.egress_rid - 1;
                }
                become_message();
                if (meta.part >= meta.messages) { mark_to_drop(standard_metadata); }
#if N >= 2
                else if (meta.part == 1) { hdr.agg.msg1 = hdr.agg.msg2; }
#endif
#if N >= 3
                else if (meta.part == 2) { hdr.agg.msg1 = hdr.agg.msg3; }
#endif
#if N >= 4
                else if (meta.part == 3) { hdr.agg.msg1 = hdr.agg.msg4; }
#endif
#if N >= 5
                else if (meta.part == 4) { hdr.agg.msg1 = hdr.agg.msg5; }
#endif
#if N >= 6
                else if (meta.part == 5) { hdr.agg.msg1 = hdr.agg.msg6; }
#endif
#if N >= 7
                else if (meta.part == 6) { hdr.agg.msg1 = hdr.agg.msg7; }
#endif
#if N >= 8
                else if (meta.part == 7) { hdr.agg.msg1 = hdr.agg.msg8; }
#endif
            }
            // Bytes behind the IP packet belong to the frame that came.
            if (has_messages) {
                truncate((bit<32>)(ETHERNET_BYTES + hdr.ipv4.total_length));
            }
            take_hops(hdr.ipv4.ttl, hdr.ipv4.checksum, 1);
            link.apply();
        }
        meta.has_checksum = meta.is_new && hdr.udp.checksum != 0;
        meta.part_has_checksum = meta.is_part && hdr.udp.checksum != 0;
    }
}

control FixedComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.header_words == 5,
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(meta.has_checksum,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.flag.type, hdr.flag.padding,
              hdr.agg },
            hdr.udp.checksum, HashAlgorithm.csum16);
        update_checksum(meta.part_has_checksum,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.flag.type, hdr.flag.padding,
              hdr.agg.msg1 },
            hdr.udp.checksum, HashAlgorithm.csum16);
        // A checksum of 0 is none: one that comes to 0 is sent as its other form, the sum over nothing (RFC 768).
        update_checksum((meta.has_checksum || meta.part_has_checksum) && hdr.udp.checksum == 0, { 16w0 },
            hdr.udp.checksum, HashAlgorithm.csum16);
    }
}

control FixedDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.flag);
        packet.emit(hdr.msg);
        packet.emit(hdr.agg);
    }
}

V1Switch(FixedParser(), FixedVerifyChecksum(), FixedIngress(), FixedEgress(), FixedComputeChecksum(),
         FixedDeparser()) main;
