// A gateway that sends small UDP packets of devices that know nothing of it in large ones, to another gateway, and takes
// those apart that come from there. The wire format and the reasons are in docs/design/aggregation-gateway.md.
//
//   small packet of a class ─► record ─► waits in the buffer of its tunnel
//   buffer ─► tunnel's headers and sequence number before the records ─► the other gateway
//   aggregate from the other gateway ─► checked ─► its records ─► packets as they were ─► route
//   everything else ─► route
//
// Each gateway counts as a router for what it forwards, whether it is aggregated or not: what comes out of the second
// one is, byte for byte, what two routers in their place would have sent.

#include <core.p4>
#include <v1model.p4>
#include <wirespeed.p4>
#include "../headers.p4"

// Tunnels, and other gateways that aggregates come from.
#ifndef TUNNELS
#define TUNNELS 1024
#endif

// Values of the hash of two addresses.
#define PAIRS 65536

// The UDP port of gateways.
#ifndef TUNNEL_PORT
#define TUNNEL_PORT 4761
#endif

// Records pass through the queue of this port before they wait. Nothing is sent there, so that no rate that is set for a
// tunnel's port holds them up as well.
#ifndef GATHERING_PORT
#define GATHERING_PORT 509
#endif

// An aggregate that bytes follow comes without them from this buffer, which is no tunnel's.
#ifndef CUTTING_PILE
#define CUTTING_PILE 0xffff
#endif

typedef bit<128> ipv6_address_t;

const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<8> VERSION = 1;

// IPv6's extensions.
const bit<8> HOP_OPTIONS = 0;
const bit<8> ROUTING = 43;
const bit<8> FRAGMENT = 44;
const bit<8> AUTHENTICATION = 51;
const bit<8> DESTINATION_OPTIONS = 60;

// Bytes of headers.
const bit<16> ETHERNET_BYTES = 14;
const bit<16> IPV4_BYTES = 20;
const bit<16> IPV6_BYTES = 40;
const bit<16> UDP_BYTES = 8;
const bit<16> AGGREGATE_BYTES = 16;
// Of a record, behind its length.
const bit<12> RECORD4_REST_BYTES = 18;
const bit<12> RECORD6_REST_BYTES = 43;
// Of a record with all that it may have beside payload.
const bit<16> RECORD_BYTES = 45;
// Of payload, so that a record's length has room.
const bit<16> PAYLOAD_BYTES_MAX = 4000;

// Of what a tunnel puts before records.
const bit<16> OVER_IPV4_BYTES = IPV4_BYTES + UDP_BYTES + AGGREGATE_BYTES;
const bit<16> OVER_IPV6_BYTES = IPV6_BYTES + UDP_BYTES + AGGREGATE_BYTES;

// Why packets go no further, the index of the counter `dropped`. The first five may be anybody's packets.
const bit<32> NOT_WHOLE = 0;
const bit<32> WRONG_CHECKSUM = 1;
const bit<32> NO_ROUTE = 2;
const bit<32> TIME_OVER = 3;
const bit<32> NOT_IP = 4;
// Aggregates.
const bit<32> UNKNOWN_VERSION = 5;
const bit<32> LENGTHS_LIE = 6;
const bit<32> NOT_RECORDS = 7;
const bit<32> LATE = 8;
const bit<32> OLD_EPOCH = 9;
// Records.
const bit<32> BAD_RECORD = 10;
const bit<32> NESTED = 11;
// A buffer whose tunnel is gone.
const bit<32> NO_TUNNEL = 12;
// An aggregate that would go back to where it came from, as no peer is known that sends such.
const bit<32> UNKNOWN_PEER = 13;
// For a group, or for one link only: no router would send it on.
const bit<32> NOT_FOR_ROUTERS = 14;
// 15 is for entries of the routes that drop: for the gateway itself, say.

// Entries that cannot be true, the index of the counter `wrong_entries`.
const bit<32> TUNNEL_NUMBER = 0;
const bit<32> MTU = 1;
const bit<32> PEER_NUMBER = 2;

// A number so far ahead is not believed at once.
const bit<32> AHEAD_MAX = 65536;
// Of this many strays in the order of their numbers, with nothing else of the tunnel between them, the last is believed.
const bit<8> STRAYS_MAX = 32;

#include "parser.p4"

// The checksums of aggregates count here; those of other UDP packets are none of the gateway's business. All that follows the
// headers is taken for payload, so nothing else may be there, and nothing may be missing.
control GatewayVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        // One that came to 0 was sent as its other form (RFC 768).
        bit<16> checksum = hdr.udp.checksum == 0xffff ? 0 : hdr.udp.checksum;
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.header_words == 5,
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum_with_payload(
            hdr.aggregate.isValid() && meta.is_whole && hdr.ipv4.isValid() && hdr.udp.checksum != 0,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.aggregate },
            checksum, HashAlgorithm.csum16);
        verify_checksum_with_payload(
            hdr.aggregate.isValid() && meta.is_whole && hdr.ipv6.isValid() && hdr.udp.checksum != 0,
            { hdr.ipv6.source, hdr.ipv6.destination, 16w0, hdr.ipv6.payload_length, 24w0, hdr.ipv6.next_header,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.aggregate },
            checksum, HashAlgorithm.csum16);
    }
}

control GatewayIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // What this gateway sends: its epoch, and the next aggregate's number in each tunnel.
    @start_number register<bit<32>>(1) epoch_out;
    register<bit<32>>(TUNNELS) sequence_out;
    // What came from each peer: the epoch and the next number, and the same of the epoch before.
    register<bit<32>>(TUNNELS) epoch_in;
    register<bit<32>>(TUNNELS) sequence_in;
    register<bit<32>>(TUNNELS) epoch_before;
    register<bit<32>>(TUNNELS) sequence_before;
    // The last stray: its epoch, the number behind it, and how many there were, each ahead of the one before.
    register<bit<32>>(TUNNELS) stray_epoch;
    register<bit<32>>(TUNNELS) stray_next;
    register<bit<8>>(TUNNELS) strays_in_row;
    // Numbers that are missing: of aggregates that never came, came too late, or were dropped for what they are.
    register<bit<64>>(TUNNELS) lost;
    // Which pairs of addresses have packets in each buffer: a bit for each of 256 parts of the pairs, 64 in a cell. And how many
    // packets, in the upper half, with the pair of the one that was gathered last.
    register<bit<64>>(TUNNELS * 4) pairs_waiting;
    register<bit<32>>(TUNNELS) packets_waiting;
    // When a packet was gathered last, in microseconds, and whether the last buffer that left had waited for others in vain.
    register<bit<48>>(TUNNELS) gathered_us;
    register<bit<1>>(TUNNELS) waited_in_vain;
    // The tunnel in which a packet of a pair was gathered last.
    register<bit<16>>(PAIRS) tunnel_of_pair;

    // By tunnel: small packets that became records, those of them that did not wait, those that went alone after all, and
    // aggregates.
    counter(TUNNELS, CounterType.packets_and_bytes) gathered;
    counter(TUNNELS, CounterType.packets_and_bytes) not_delayed;
    counter(TUNNELS, CounterType.packets_and_bytes) sent_alone;
    counter(TUNNELS, CounterType.packets_and_bytes) aggregates_out;
    // By peer: aggregates that were taken apart.
    counter(TUNNELS, CounterType.packets) aggregates_in;
    // The peer, from 1, whose aggregate is about to be taken apart; 0 when its first record has come. Records say nothing of
    // their aggregate, but they come right behind it.
    register<bit<32>>(1) peer_to_count;
    // Packets that came out of aggregates and are forwarded.
    counter(1, CounterType.packets_and_bytes) restored;
    counter(16, CounterType.packets) dropped;
    counter(3, CounterType.packets) wrong_entries;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard_metadata);
        meta.is_routed = false;
        meta.is_of_tunnel = false;
    }

    action send(port_t port) {
        standard_metadata.egress_spec = port;
    }

    // A router takes 1 from the time to live. With 0, gateways and tunnel are like a wire.
    action take(bit<8> hops) {
        meta.hops = hops;
    }

    table hops {
        actions = { take; }
        default_action = take(1);
    }

    // Whose packets are aggregated, in which tunnel, up to how many bytes of payload, and how long they may wait.
    action aggregate(bit<16> tunnel, bit<16> payload_bytes_max, bit<24> wait_us) {
        meta.is_of_tunnel = tunnel < TUNNELS;
        if (tunnel >= TUNNELS) { wrong_entries.count(TUNNEL_NUMBER); }
        meta.tunnel = tunnel;
        meta.payload_bytes_max = payload_bytes_max;
        meta.wait_us = wait_us;
    }

    table classes_ipv4 {
        key = {
            hdr.ipv4.destination: ternary;
            hdr.udp.destination_port: range;
        }
        actions = { aggregate; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    table classes_ipv6 {
        key = {
            hdr.ipv6.destination: ternary;
            hdr.udp.destination_port: range;
        }
        actions = { aggregate; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    // The buffer has left: it gets the tunnel's headers.
    action wrap(bit<16> remote) {
        bit<32> epoch;
        bit<32> sequence;
        bit<32> tunnel = (bit<32>)meta.tunnel;
        epoch_out.read(epoch, 0);
        sequence_out.read(sequence, tunnel);
        sequence_out.write(tunnel, sequence + 1);
        aggregates_out.count(tunnel);
        hdr.aggregate.setValid();
        hdr.aggregate.version = VERSION;
        hdr.aggregate.tunnel = remote;
        hdr.aggregate.packets = meta.packets;
        hdr.aggregate.length_bytes = (bit<16>)standard_metadata.packet_length;
        hdr.aggregate.epoch = epoch;
        hdr.aggregate.sequence = sequence;
        hdr.udp.setValid();
        hdr.udp.source_port = TUNNEL_PORT;
        hdr.udp.destination_port = TUNNEL_PORT;
        hdr.udp.length_bytes = UDP_BYTES + AGGREGATE_BYTES + hdr.aggregate.length_bytes;
        hdr.ethernet.setValid();
        meta.has_new_udp = true;
    }

    // Where there is none for a single record, nothing is gathered, and packets go as they are.
    action set_room(bit<16> mtu_bytes, bit<16> headers_bytes) {
        meta.records_bytes_max = 0;
        if (mtu_bytes >= headers_bytes + RECORD_BYTES) {
            meta.records_bytes_max = mtu_bytes - headers_bytes;
        } else {
            wrong_entries.count(MTU);
        }
    }

    // `remote` is the tunnel's number at the other gateway, `sends_one_alone` whether a packet that waited in vain goes
    // as it came.
    action over_ipv4(port_t port, bit<16> mtu_bytes, ipv4_address_t source, ipv4_address_t destination,
                     bit<16> remote, bit<1> sends_one_alone) {
        standard_metadata.egress_spec = port;
        set_room(mtu_bytes, OVER_IPV4_BYTES);
        meta.sends_one_alone = sends_one_alone == 1 && meta.packets == 1;
        if (standard_metadata.instance_type == INSTANCE_TYPE_PILE && !meta.sends_one_alone) {
            wrap(remote);
            hdr.ethernet.ethertype = ETHERTYPE_IPV4;
            hdr.ipv4.setValid();
            hdr.ipv4.version = 4;
            hdr.ipv4.header_words = 5;
            hdr.ipv4.total_length = IPV4_BYTES + hdr.udp.length_bytes;
            hdr.ipv4.flags = 0b010;
            hdr.ipv4.ttl = 64;
            hdr.ipv4.protocol = PROTOCOL_UDP;
            hdr.ipv4.source = source;
            hdr.ipv4.destination = destination;
            meta.has_new_ipv4 = true;
        }
    }

    action over_ipv6(port_t port, bit<16> mtu_bytes, ipv6_address_t source, ipv6_address_t destination,
                     bit<16> remote, bit<1> sends_one_alone) {
        standard_metadata.egress_spec = port;
        set_room(mtu_bytes, OVER_IPV6_BYTES);
        meta.sends_one_alone = sends_one_alone == 1 && meta.packets == 1;
        if (standard_metadata.instance_type == INSTANCE_TYPE_PILE && !meta.sends_one_alone) {
            wrap(remote);
            hdr.ethernet.ethertype = ETHERTYPE_IPV6;
            hdr.ipv6.setValid();
            hdr.ipv6.version = 6;
            hdr.ipv6.payload_length = hdr.udp.length_bytes;
            hdr.ipv6.hop_limit = 64;
            hdr.ipv6.next_header = PROTOCOL_UDP;
            hdr.ipv6.source = source;
            hdr.ipv6.destination = destination;
        }
    }

    // The tunnels that begin here.
    table tunnels {
        key = { meta.tunnel: exact; }
        actions = { over_ipv4; over_ipv6; NoAction; }
        default_action = NoAction();
        size = TUNNELS;
    }

    // Other gateways, by the ends of the tunnel and its number here; each has a state of its own.
    action is_peer(bit<32> peer) {
        meta.is_from_peer = peer < TUNNELS;
        if (peer >= TUNNELS) { wrong_entries.count(PEER_NUMBER); }
        meta.peer = peer;
    }

    table peers_ipv4 {
        key = {
            hdr.ipv4.source: exact;
            hdr.ipv4.destination: exact;
            hdr.aggregate.tunnel: exact;
        }
        actions = { is_peer; NoAction; }
        default_action = NoAction();
        size = TUNNELS;
    }

    table peers_ipv6 {
        key = {
            hdr.ipv6.source: exact;
            hdr.ipv6.destination: exact;
            hdr.aggregate.tunnel: exact;
        }
        actions = { is_peer; NoAction; }
        default_action = NoAction();
        size = TUNNELS;
    }

    table route_ipv4 {
        key = { hdr.ipv4.destination: lpm; }
        actions = { send; drop; }
        default_action = drop(NO_ROUTE);
        size = 4096;
    }

    table route_ipv6 {
        key = { hdr.ipv6.destination: lpm; }
        actions = { send; drop; }
        default_action = drop(NO_ROUTE);
        size = 4096;
    }

    // Where frames go that are not IP, such as ARP, by the port that they came from.
    table others {
        key = { standard_metadata.ingress_port: exact; }
        actions = { send; drop; }
        default_action = drop(NOT_IP);
        size = 512;
    }

    // 224.0.0.0/4 are groups, 255.255.255.255 is all of the link, 169.254.0.0/16 are of one link.
    action look_at_range4(in ipv4_address_t source, in ipv4_address_t destination) {
        meta.is_of_link = destination[31:28] == 0xe || destination == 0xffffffff || destination[31:16] == 0xa9fe
            || source[31:16] == 0xa9fe;
    }

    // ff00::/8 are groups, fe80::/10 are of one link.
    action look_at_range6(in ipv6_address_t source, in ipv6_address_t destination) {
        meta.is_of_link = destination[127:120] == 0xff || destination[127:118] == 0x3fa || source[127:118] == 0x3fa;
    }

    action forward_ipv4() {
        take_hops(hdr.ipv4.ttl, hdr.ipv4.checksum, meta.hops);
        meta.is_routed = true;
        look_at_range4(hdr.ipv4.source, hdr.ipv4.destination);
    }

    action forward_ipv6() {
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - meta.hops;
        meta.is_routed = true;
        look_at_range6(hdr.ipv6.source, hdr.ipv6.destination);
    }

    action make_record4() {
        hdr.record4.setValid();
        hdr.record4.kind = 4w4 | (bit<4>)hdr.ipv4.flags[1:1];
        hdr.record4.length_bytes = RECORD4_REST_BYTES + (bit<12>)(hdr.udp.length_bytes - UDP_BYTES);
        hdr.record4.traffic_class = hdr.ipv4.traffic_class;
        hdr.record4.ttl = hdr.ipv4.ttl;
        hdr.record4.identification = hdr.ipv4.identification;
        hdr.record4.source = hdr.ipv4.source;
        hdr.record4.destination = hdr.ipv4.destination;
        hdr.record4.source_port = hdr.udp.source_port;
        hdr.record4.destination_port = hdr.udp.destination_port;
        hdr.record4.checksum = hdr.udp.checksum;
        hdr.ipv4.setInvalid();
    }

    action make_record6() {
        hdr.record6.setValid();
        hdr.record6.kind = 6;
        hdr.record6.length_bytes = RECORD6_REST_BYTES + (bit<12>)(hdr.udp.length_bytes - UDP_BYTES);
        hdr.record6.traffic_class = hdr.ipv6.traffic_class;
        hdr.record6.flow_label = hdr.ipv6.flow_label;
        hdr.record6.hop_limit = hdr.ipv6.hop_limit;
        hdr.record6.source = hdr.ipv6.source;
        hdr.record6.destination = hdr.ipv6.destination;
        hdr.record6.source_port = hdr.udp.source_port;
        hdr.record6.destination_port = hdr.udp.destination_port;
        hdr.record6.checksum = hdr.udp.checksum;
        hdr.ipv6.setInvalid();
    }

    // The packet as it was when it became a record.
    action restore4() {
        hdr.ethernet.setValid();
        hdr.ethernet.ethertype = ETHERTYPE_IPV4;
        hdr.udp.setValid();
        hdr.udp.source_port = hdr.record4.source_port;
        hdr.udp.destination_port = hdr.record4.destination_port;
        hdr.udp.length_bytes = (bit<16>)(hdr.record4.length_bytes - RECORD4_REST_BYTES) + UDP_BYTES;
        hdr.udp.checksum = hdr.record4.checksum;
        hdr.ipv4.setValid();
        hdr.ipv4.version = 4;
        hdr.ipv4.header_words = 5;
        hdr.ipv4.traffic_class = hdr.record4.traffic_class;
        hdr.ipv4.total_length = IPV4_BYTES + hdr.udp.length_bytes;
        hdr.ipv4.identification = hdr.record4.identification;
        hdr.ipv4.flags = 1w0 ++ hdr.record4.kind[0:0] ++ 1w0;
        hdr.ipv4.ttl = hdr.record4.ttl;
        hdr.ipv4.protocol = PROTOCOL_UDP;
        hdr.ipv4.source = hdr.record4.source;
        hdr.ipv4.destination = hdr.record4.destination;
        look_at_range4(hdr.record4.source, hdr.record4.destination);
        hdr.record4.setInvalid();
        meta.has_new_ipv4 = true;
        meta.is_routed = true;
    }

    action restore6() {
        hdr.ethernet.setValid();
        hdr.ethernet.ethertype = ETHERTYPE_IPV6;
        hdr.udp.setValid();
        hdr.udp.source_port = hdr.record6.source_port;
        hdr.udp.destination_port = hdr.record6.destination_port;
        hdr.udp.length_bytes = (bit<16>)(hdr.record6.length_bytes - RECORD6_REST_BYTES) + UDP_BYTES;
        hdr.udp.checksum = hdr.record6.checksum;
        hdr.ipv6.setValid();
        hdr.ipv6.version = 6;
        hdr.ipv6.traffic_class = hdr.record6.traffic_class;
        hdr.ipv6.flow_label = hdr.record6.flow_label;
        hdr.ipv6.payload_length = hdr.udp.length_bytes;
        hdr.ipv6.next_header = PROTOCOL_UDP;
        hdr.ipv6.hop_limit = hdr.record6.hop_limit;
        hdr.ipv6.source = hdr.record6.source;
        hdr.ipv6.destination = hdr.record6.destination;
        look_at_range6(hdr.record6.source, hdr.record6.destination);
        hdr.record6.setInvalid();
        meta.is_routed = true;
    }

    // Counts aggregates that are missing before this one. Those behind the next of their epoch are dropped, whatever
    // comes: their packets have been delivered, or younger ones of their flows. Those of the epoch before, or with a
    // number far ahead, are strays as a rule, and one stray must not make strays of all that follow: where such keep
    // coming, each ahead of the one before, they are believed.
    action check_sequence() {
        bit<32> epoch;
        bit<32> before;
        bit<32> next;
        bit<32> next_before;
        bit<64> missing;
        epoch_in.read(epoch, meta.peer);
        epoch_before.read(before, meta.peer);
        sequence_in.read(next, meta.peer);
        sequence_before.read(next_before, meta.peer);
        bool is_same = hdr.aggregate.epoch == epoch;
        bool is_before = hdr.aggregate.epoch == before;
        bit<32> ahead = hdr.aggregate.sequence - (is_same ? next : next_before);
        bool is_late = (is_same || is_before) && ahead[31:31] == 1;
        bool is_stray = !is_late && (is_before || is_same && ahead >= AHEAD_MAX);
        bool is_believed = !is_late && !is_stray;
        if (is_stray) {
            bit<32> epoch_of_stray;
            bit<32> next_stray;
            bit<8> in_row;
            stray_epoch.read(epoch_of_stray, meta.peer);
            stray_next.read(next_stray, meta.peer);
            strays_in_row.read(in_row, meta.peer);
            if (hdr.aggregate.epoch == epoch_of_stray && hdr.aggregate.sequence - next_stray < AHEAD_MAX) {
                in_row = in_row + 1;
            } else {
                in_row = 1;
            }
            is_believed = in_row == STRAYS_MAX;
            stray_epoch.write(meta.peer, hdr.aggregate.epoch);
            stray_next.write(meta.peer, hdr.aggregate.sequence + 1);
            strays_in_row.write(meta.peer, in_row);
        }
        if (is_believed) {
            strays_in_row.write(meta.peer, 0);
            if (is_same || is_before) {
                lost.read(missing, meta.peer);
                lost.write(meta.peer, missing + (bit<64>)ahead);
            }
            if (!is_same) {
                epoch_before.write(meta.peer, epoch);
                sequence_before.write(meta.peer, next);
                epoch_in.write(meta.peer, hdr.aggregate.epoch);
            }
            sequence_in.write(meta.peer, hdr.aggregate.sequence + 1);
        } else {
            drop(is_same ? LATE : OLD_EPOCH);
            meta.is_from_peer = false;
        }
    }

    action cut() {
        meta.is_cut = true;
        meta.is_from_peer = false;
        standard_metadata.egress_spec = GATHERING_PORT;
    }

    // A record has come. With the first it is certain that its aggregate is made of records.
    action count_aggregate() {
        bit<32> peer;
        peer_to_count.read(peer, 0);
        if (peer != 0) {
            peer_to_count.write(0, 0);
            aggregates_in.count(peer - 1);
        }
    }

    action not_ours(bit<32> reason) {
        drop(reason);
        meta.is_from_peer = false;
    }

    action find_pair4() {
        hash(meta.pair, HashAlgorithm.crc16, 16w0, { hdr.ipv4.source, hdr.ipv4.destination }, (bit<32>)PAIRS);
    }

    action find_pair6() {
        hash(meta.pair, HashAlgorithm.crc16, 16w0, { hdr.ipv6.source, hdr.ipv6.destination }, (bit<32>)PAIRS);
    }

    // A packet of this pair goes to the buffer.
    action note_waiting() {
        bit<64> pairs;
        bit<32> packets;
        bit<32> cell = (bit<32>)(meta.tunnel ++ meta.pair[7:6]);
        pairs_waiting.read(pairs, cell);
        pairs_waiting.write(cell, pairs | 64w1 << meta.pair[5:0]);
        packets_waiting.read(packets, (bit<32>)meta.tunnel);
        packets_waiting.write((bit<32>)meta.tunnel, (packets[31:16] + 1) ++ meta.pair);
        tunnel_of_pair.write((bit<32>)meta.pair, meta.tunnel);
    }

    // The buffer has left. If it had not room for the packet that was gathered last, that one is the first of the next.
    action forget_waiting() {
        bit<32> packets;
        bit<32> first_cell = (bit<32>)(meta.tunnel ++ 2w0);
        packets_waiting.read(packets, (bit<32>)meta.tunnel);
        pairs_waiting.write(first_cell, 0);
        pairs_waiting.write(first_cell + 1, 0);
        pairs_waiting.write(first_cell + 2, 0);
        pairs_waiting.write(first_cell + 3, 0);
        if (packets[31:16] == meta.packets) {
            packets = 0;
        } else {
            pairs_waiting.write((bit<32>)(meta.tunnel ++ packets[7:6]), 64w1 << packets[5:0]);
            packets = 16w1 ++ packets[15:0];
        }
        packets_waiting.write((bit<32>)meta.tunnel, packets);
        waited_in_vain.write((bit<32>)meta.tunnel, (bit<1>)(meta.packets == 1));
    }

    // Where packets come so seldom that the last one waited in vain, and this one comes as late, it does not wait: it is a buffer
    // that leaves at once. The next that comes in time makes packets wait again.
    action choose_wait() {
        bit<48> before;
        bit<1> in_vain;
        bit<32> tunnel = (bit<32>)meta.tunnel;
        gathered_us.read(before, tunnel);
        gathered_us.write(tunnel, standard_metadata.ingress_global_timestamp);
        waited_in_vain.read(in_vain, tunnel);
        if (in_vain == 1) {
            if (standard_metadata.ingress_global_timestamp - before > (bit<48>)meta.wait_us) {
                meta.wait_us = 0;
                not_delayed.count(tunnel);
            } else {
                waited_in_vain.write(tunnel, 0);
            }
        }
    }

    // The packet goes alone, and must not overtake those of its flow: if there may be one in the buffer, that leaves first.
    action go_alone() {
        bit<64> pairs;
        pairs_waiting.read(pairs, (bit<32>)(meta.tunnel ++ meta.pair[7:6]));
        if (pairs >> meta.pair[5:0] & 1 == 1) {
            pile_release(meta.tunnel);
            meta.goes_alone = true;
            // When it comes again.
            meta.is_routed = false;
            resubmit_preserving_field_list(1);
        }
    }

    // An aggregate from another gateway is taken apart behind its headers.
    action take_apart(bit<16> headers_bytes) {
        peer_to_count.write(0, meta.peer + 1);
        scatter_records(ETHERNET_BYTES + headers_bytes, hdr.aggregate.packets);
    }

    apply {
        bit<16> before_records = OVER_IPV4_BYTES;
        hops.apply();
        if (standard_metadata.instance_type == INSTANCE_TYPE_RECORD) {
            @atomic { count_aggregate(); }
        }
        if (standard_metadata.parser_error != error.NoError) {
            if (standard_metadata.instance_type == INSTANCE_TYPE_RECORD) {
                drop(BAD_RECORD);
            } else {
                drop(NOT_WHOLE);
            }
        } else if (standard_metadata.checksum_error == 1) {
            drop(WRONG_CHECKSUM);
        } else if (standard_metadata.instance_type == INSTANCE_TYPE_NO_RECORDS) {
            drop(NOT_RECORDS);
        } else if (standard_metadata.instance_type == INSTANCE_TYPE_PILE && meta.tunnel != CUTTING_PILE) {
            @atomic { forget_waiting(); }
            meta.is_of_tunnel = true;
        } else if (standard_metadata.instance_type == INSTANCE_TYPE_RECORD) {
            if (hdr.record4.isValid()) {
                if (hdr.record4.destination_port == TUNNEL_PORT) {
                    drop(NESTED);
                } else if (hdr.record4.ttl <= meta.hops) {
                    drop(TIME_OVER);
                } else {
                    hdr.record4.ttl = hdr.record4.ttl - meta.hops;
                    restore4();
                }
            } else if (hdr.record6.isValid()) {
                if (hdr.record6.destination_port == TUNNEL_PORT) {
                    drop(NESTED);
                } else if (hdr.record6.hop_limit <= meta.hops) {
                    drop(TIME_OVER);
                } else {
                    hdr.record6.hop_limit = hdr.record6.hop_limit - meta.hops;
                    restore6();
                }
            } else {
                drop(BAD_RECORD);
            }
        } else if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.total_length < (bit<16>)hdr.ipv4.header_words << 2
                || standard_metadata.packet_length < (bit<32>)ETHERNET_BYTES + (bit<32>)hdr.ipv4.total_length) {
                drop(NOT_WHOLE);
            } else if (hdr.aggregate.isValid() && peers_ipv4.apply().hit && meta.is_from_peer) {
                if (meta.has_trailer) {
                    cut();
                } else if (hdr.ipv4.total_length != IPV4_BYTES + hdr.udp.length_bytes) {
                    not_ours(LENGTHS_LIE);
                }
            } else if (hdr.ipv4.ttl <= meta.hops) {
                drop(TIME_OVER);
            } else {
                forward_ipv4();
                if (hdr.udp.isValid() && hdr.udp.destination_port != TUNNEL_PORT && !meta.goes_alone
                    && !meta.is_of_link) {
                    classes_ipv4.apply();
                }
                if (meta.is_of_tunnel || meta.hides_ports) {
                    find_pair4();
                }
                meta.is_plain = hdr.ipv4.header_words == 5 && hdr.ipv4.flags & 0b101 == 0
                    && hdr.ipv4.total_length == IPV4_BYTES + hdr.udp.length_bytes;
            }
        } else if (hdr.ipv6.isValid()) {
            before_records = OVER_IPV6_BYTES;
            if (standard_metadata.packet_length
                < (bit<32>)(ETHERNET_BYTES + IPV6_BYTES) + (bit<32>)hdr.ipv6.payload_length) {
                drop(NOT_WHOLE);
            } else if (hdr.aggregate.isValid() && peers_ipv6.apply().hit && meta.is_from_peer) {
                if (meta.has_trailer) {
                    cut();
                } else if (hdr.ipv6.payload_length != hdr.udp.length_bytes) {
                    not_ours(LENGTHS_LIE);
                }
            } else if (hdr.ipv6.hop_limit <= meta.hops) {
                drop(TIME_OVER);
            } else {
                forward_ipv6();
                if (hdr.udp.isValid() && hdr.udp.destination_port != TUNNEL_PORT && !meta.goes_alone
                    && !meta.is_of_link) {
                    classes_ipv6.apply();
                }
                if (meta.is_of_tunnel || meta.hides_ports) {
                    find_pair6();
                }
                meta.is_plain = !hdr.extension.isValid() && !hdr.fragment.isValid()
                    && hdr.ipv6.payload_length == hdr.udp.length_bytes;
            }
        } else {
            others.apply();
        }

        // Where two gateways have routes for everything to each other, a group's packets would go to and fro.
        if (meta.is_of_link && meta.is_routed && meta.hops != 0) {
            drop(NOT_FOR_ROUTERS);
        }

        if (meta.is_from_peer) {
            if (hdr.aggregate.version != VERSION) {
                not_ours(UNKNOWN_VERSION);
            } else if (hdr.udp.length_bytes != UDP_BYTES + AGGREGATE_BYTES + hdr.aggregate.length_bytes
                       || standard_metadata.packet_length
                          != (bit<32>)(ETHERNET_BYTES + before_records) + (bit<32>)hdr.aggregate.length_bytes) {
                not_ours(LENGTHS_LIE);
            } else if (hdr.aggregate.packets == 0 || hdr.aggregate.epoch == 0) {
                not_ours(NOT_RECORDS);
            } else {
                @atomic { check_sequence(); }
                if (meta.is_from_peer) {
                    take_apart(before_records);
                }
            }
        } else if (meta.is_of_tunnel) {
            bool has_tunnel = tunnels.apply().hit;
            bit<16> payload_bytes = hdr.udp.length_bytes - UDP_BYTES;
            bool fits = meta.is_plain && hdr.udp.length_bytes >= UDP_BYTES && payload_bytes <= meta.payload_bytes_max
                && payload_bytes <= PAYLOAD_BYTES_MAX && payload_bytes + RECORD_BYTES <= meta.records_bytes_max;
            if (!has_tunnel) {
                if (standard_metadata.instance_type == INSTANCE_TYPE_PILE) {
                    drop(NO_TUNNEL);
                }
            } else if (standard_metadata.instance_type == INSTANCE_TYPE_PILE) {
                if (meta.sends_one_alone) {
                    sent_alone.count((bit<32>)meta.tunnel);
                    if (hdr.record4.isValid()) {
                        restore4();
                    } else {
                        restore6();
                    }
                }
            } else if (!fits) {
                @atomic { go_alone(); }
            } else {
                @atomic {
                    note_waiting();
                    choose_wait();
                }
                gathered.count((bit<32>)meta.tunnel);
                if (hdr.ipv4.isValid()) {
                    make_record4();
                    meta.record_bytes = 2 + (bit<16>)hdr.record4.length_bytes;
                } else {
                    make_record6();
                    meta.record_bytes = 2 + (bit<16>)hdr.record6.length_bytes;
                }
                hdr.ethernet.setInvalid();
                hdr.udp.setInvalid();
                standard_metadata.egress_spec = GATHERING_PORT;
                meta.is_routed = false;
                meta.waits = true;
            }
        } else if (meta.hides_ports && meta.is_routed && !meta.goes_alone) {
            @atomic {
                tunnel_of_pair.read(meta.tunnel, (bit<32>)meta.pair);
                go_alone();
            }
        }

        if (meta.is_routed) {
            if (hdr.ipv4.isValid()) {
                route_ipv4.apply();
            } else {
                route_ipv6.apply();
            }
            if (hdr.aggregate.isValid() && !meta.has_new_udp
                && standard_metadata.egress_spec == standard_metadata.ingress_port) {
                drop(UNKNOWN_PEER);
            }
            if (meta.is_of_link && standard_metadata.egress_spec == standard_metadata.ingress_port) {
                drop(NOT_FOR_ROUTERS);
            }
            if (meta.is_routed && standard_metadata.instance_type == INSTANCE_TYPE_RECORD) {
                restored.count(0);
            }
        }
    }
}

control GatewayEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
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

    // What is behind the IP packet, such as what fills up short frames, belongs to the frame that came and stays behind.
    apply {
        if (meta.waits) {
            truncate((bit<32>)meta.record_bytes);
            pile_gather(meta.tunnel, meta.records_bytes_max, meta.wait_us);
        } else if (hdr.ipv4.isValid()) {
            truncate((bit<32>)ETHERNET_BYTES + (bit<32>)hdr.ipv4.total_length);
        } else if (hdr.ipv6.isValid()) {
            truncate((bit<32>)(ETHERNET_BYTES + IPV6_BYTES) + (bit<32>)hdr.ipv6.payload_length);
        }
        if (meta.is_cut) {
            pile_gather(CUTTING_PILE, 0xffff, 0);
        } else if (hdr.ipv4.isValid() || hdr.ipv6.isValid()) {
            link.apply();
        }
    }
}

control GatewayComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(meta.has_new_ipv4,
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(meta.has_new_udp && hdr.ipv4.isValid(),
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.aggregate, hdr.record4,
              hdr.record6 },
            hdr.udp.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(meta.has_new_udp && hdr.ipv6.isValid(),
            { hdr.ipv6.source, hdr.ipv6.destination, 16w0, hdr.ipv6.payload_length, 24w0, hdr.ipv6.next_header,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.aggregate, hdr.record4,
              hdr.record6 },
            hdr.udp.checksum, HashAlgorithm.csum16);
        // 0 would say that there is none: it is sent as its other form, which is the sum over nothing (RFC 768).
        update_checksum(meta.has_new_udp && hdr.udp.checksum == 0, { 16w0 }, hdr.udp.checksum, HashAlgorithm.csum16);
    }
}

control GatewayDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.extension);
        packet.emit(hdr.fragment);
        packet.emit(hdr.udp);
        packet.emit(hdr.aggregate);
        packet.emit(hdr.record4);
        packet.emit(hdr.record6);
    }
}

V1Switch(GatewayParser(), GatewayVerifyChecksum(), GatewayIngress(), GatewayEgress(), GatewayComputeChecksum(),
         GatewayDeparser()) main;
