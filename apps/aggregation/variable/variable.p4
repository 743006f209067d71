// Small packets of any number and of different sizes become one packet, and such a packet small ones again: the design of
// Wang, Li and Lin, "Aggregating and disaggregating packets with various sizes of payload in P4 switches at 100 Gbps line
// rate" (2020). Numbers in brackets are those of its figure 4.
//
// A small packet's payload, up to eleven words of 32 bits, waits in a column of a ring buffer: word i in pool_i, its length
// in pool_len, and a bit that says that the column is used. When enough bytes wait, a small packet that has been stored
// becomes a worker packet: it goes round, takes a column each time, and puts its words before what it has taken. When it
// is long enough, or nothing waits, it leaves. Taking apart is the same backwards: each time round, a clone of the packet
// is cut to its first message.
//
// With PACKED defined, several small packets share a column (section 8, future work): packed.p4.

#include <core.p4>
#include <v1model.p4>
#include "../headers.p4"

// Columns of the ring buffer, a power of two.
#ifndef COLUMNS
#define COLUMNS 4096
#endif

// What goes round passes through the queue of this port. Nothing is sent there, so that no rate that is set for a route's
// port holds workers up, and no full queue drops them with all that they carry.
#ifndef ROUND_PORT
#define ROUND_PORT 509
#endif

// The type, the first byte behind the UDP header.
const bit<8> SMALL = 0x01;
const bit<8> AGGREGATED = 0x02;
const bit<8> CONTROL = 0x0c;
const bit<8> WORKER = 0x0f;

// What may follow the Aggregation header in a packet of 1,500 bytes: 20 of IPv4, 8 of UDP, 1 of the type and 4 of the
// Aggregation header come before.
const bit<32> AGGREGATE_BYTES_MAX = 1467;
// A worker that has so much leaves. With a greater number aggregates of short messages are fuller, and the longest message must
// be shorter: it and its Len must fit between this and AGGREGATE_BYTES_MAX. Columns that are shared allow no greater number.
#ifndef ENOUGH_BYTES
#ifdef PACKED
// One column more, of up to 11 words in as many messages, fits below this.
#define ENOUGH_BYTES 1413
#else
// One message more, of up to 44 bytes, fits below this.
#define ENOUGH_BYTES 1423
#endif
#endif
// As many messages, of 5 bytes each with Len, as fit.
const bit<16> NUM_MAX = 293;
// UDP's header, the type and the Aggregation header.
const bit<16> UDP_BYTES_BEFORE = 13;
// UDP's header and the type.
const bit<16> CONTROL_UDP_BYTES = 9;

// How often a small packet tries its column again before it is dropped, and a worker before it looks at another column. Who works
// is alone at the registers, so that a column which is still free then is one without a store.
const bit<8> TRIES_MAX = 16;
const bit<8> WORKER_TRIES_MAX = 1;
// Small packets that go round behind workers at once: more would leave no time to the workers, and no room in their queue.
const bit<32> WAITING_MAX = 64;
// Free columns that a worker finds before it leaves with what it has. With a try each, and with as many messages as it can take,
// it stays far below the passes that a switch grants a packet.
const bit<16> FREE_COLUMNS_MAX = 256;
// After this many ticks in which workers are registered and no column was taken there is none: they were lost.
const bit<8> SILENT_TICKS_MAX = 20;

header type_t {
    bit<8> value;
}

// Makes the frame of a small packet 64 bytes long.
header padding_t {
    bit<8> length_bytes;
    varbit<120> bytes;
}

// The padding of small packets that are made here, by the words of their message: 1, 2, 3 or 4.
header filler15_t { bit<120> zero; }
header filler11_t { bit<88> zero; }
header filler7_t { bit<56> zero; }
header filler3_t { bit<24> zero; }

header aggregation_t {
    // Small packets.
    bit<16> num;
    // Bytes of their Len and Msg headers.
    bit<16> length_bytes;
}

header len_t {
    bit<8> words;
}

header msg_t {
    bit<32> data;
}

// Bytes behind the IP packet, with which a card has made the frame 60 bytes long.
header rest_t {
    varbit<368> bytes;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    type_t type;
    padding_t padding;
    filler15_t filler15;
    filler11_t filler11;
    filler7_t filler7;
    filler3_t filler3;
    aggregation_t aggregation;
    len_t len;
    msg_t[11] msg;
#ifdef PACKED
    // Before the words but the first that begin a message.
    len_t[10] more_len;
#endif
    rest_t rest;
}

struct metadata_t {
    // The column that a packet tries again, and how often it has.
    @field_list(1, 3)
    bit<32> column;
    @field_list(1, 3)
    bit<8> tries;
    // It goes round until it tries again.
    bool waits;
    // Free columns that a worker has found.
    @field_list(1, 2)
    bit<16> free_columns;
    // Its UDP checksum is looked at. That of what goes round was when it came; and bytes behind an aggregate would be taken
    // for a part of it.
    bool is_looked_at;
    // The packet goes round.
    bool goes_round;
    // It is taken apart, into packets for this mirror session.
    bool is_split;
    bit<32> session;
    // It has become an aggregate, or a small packet; and its UDP checksum is computed anew, as it has one.
    bool is_new;
    bool has_checksum;
    // The first message's Len and Msg headers.
    bit<16> message_bytes;
}

parser VariableParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
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
            0 .. 8: accept;
            default: parse_type;
        }
    }

    // Only a packet that goes round here may be a worker.
    state parse_type {
        packet.extract(hdr.type);
        transition select(hdr.type.value, standard_metadata.instance_type) {
            (SMALL, _): parse_padding;
            (AGGREGATED, _): parse_aggregated;
            (CONTROL, _): parse_rest;
            (WORKER, RECIRCULATED): parse_worker;
            (WORKER, RESUBMITTED): parse_worker;
            default: accept;
        }
    }

    // Behind a packet of which nothing else is left.
    state parse_rest {
        bit<32> rest_bytes = standard_metadata.packet_length - (bit<32>)hdr.ipv4.total_length - 14;
        transition select(hdr.aggregation.isValid(), rest_bytes) {
            (false, 1 .. 46): extract_rest;
            default: accept;
        }
    }

    state extract_rest {
        bit<32> rest_bytes = standard_metadata.packet_length - (bit<32>)hdr.ipv4.total_length - 14;
        packet.extract(hdr.rest, rest_bytes << 3);
        transition accept;
    }

    state parse_padding {
        meta.is_looked_at = hdr.udp.checksum != 0 && standard_metadata.instance_type == NORMAL;
        packet.extract(hdr.padding, (bit<32>)packet.lookahead<bit<8>>() << 3);
        transition parse_len;
    }

    state parse_worker {
        packet.extract(hdr.aggregation);
        transition accept;
    }

    state parse_aggregated {
        meta.is_looked_at = hdr.udp.checksum != 0 && standard_metadata.instance_type == NORMAL
            && standard_metadata.packet_length == (bit<32>)hdr.ipv4.total_length + 14;
        packet.extract(hdr.aggregation);
        transition parse_len;
    }

    state parse_len {
        packet.extract(hdr.len);
        transition select(hdr.len.words) {
            1: msg1;
            2: msg2;
            3: msg3;
            4: msg4;
            5: msg5;
            6: msg6;
            7: msg7;
            8: msg8;
            9: msg9;
            10: msg10;
            11: msg11;
            default: accept;
        }
    }

    state msg1 { packet.extract(hdr.msg[0]); transition parse_rest; }
    state msg2 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); transition parse_rest; }
    state msg3 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); transition parse_rest; }
    state msg4 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); packet.extract(hdr.msg[3]); transition parse_rest; }
    state msg5 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); packet.extract(hdr.msg[3]); packet.extract(hdr.msg[4]); transition parse_rest; }
    state msg6 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); packet.extract(hdr.msg[3]); packet.extract(hdr.msg[4]); packet.extract(hdr.msg[5]); transition parse_rest; }
    state msg7 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); packet.extract(hdr.msg[3]); packet.extract(hdr.msg[4]); packet.extract(hdr.msg[5]); packet.extract(hdr.msg[6]); transition parse_rest; }
    state msg8 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); packet.extract(hdr.msg[3]); packet.extract(hdr.msg[4]); packet.extract(hdr.msg[5]); packet.extract(hdr.msg[6]); packet.extract(hdr.msg[7]); transition parse_rest; }
    state msg9 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); packet.extract(hdr.msg[3]); packet.extract(hdr.msg[4]); packet.extract(hdr.msg[5]); packet.extract(hdr.msg[6]); packet.extract(hdr.msg[7]); packet.extract(hdr.msg[8]); transition parse_rest; }
    state msg10 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); packet.extract(hdr.msg[3]); packet.extract(hdr.msg[4]); packet.extract(hdr.msg[5]); packet.extract(hdr.msg[6]); packet.extract(hdr.msg[7]); packet.extract(hdr.msg[8]); packet.extract(hdr.msg[9]); transition parse_rest; }
    state msg11 { packet.extract(hdr.msg[0]); packet.extract(hdr.msg[1]); packet.extract(hdr.msg[2]); packet.extract(hdr.msg[3]); packet.extract(hdr.msg[4]); packet.extract(hdr.msg[5]); packet.extract(hdr.msg[6]); packet.extract(hdr.msg[7]); packet.extract(hdr.msg[8]); packet.extract(hdr.msg[9]); packet.extract(hdr.msg[10]); transition parse_rest; }
}

control VariableVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.header_words == 5,
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        // With its checksum, what is whole sums up to 0, whichever form of 0 the checksum has.
        verify_checksum(hdr.padding.isValid() && meta.is_looked_at,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.udp.checksum, hdr.type.value,
              hdr.padding.length_bytes, hdr.padding.bytes, hdr.len.words, hdr.msg[0].data, hdr.msg[1].data,
              hdr.msg[2].data, hdr.msg[3].data, hdr.msg[4].data, hdr.msg[5].data, hdr.msg[6].data, hdr.msg[7].data,
              hdr.msg[8].data, hdr.msg[9].data, hdr.msg[10].data },
            16w0, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.aggregation.isValid() && meta.is_looked_at,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.udp.checksum, hdr.type.value,
              hdr.aggregation.num, hdr.aggregation.length_bytes, hdr.len.words, hdr.msg[0].data, hdr.msg[1].data,
              hdr.msg[2].data, hdr.msg[3].data, hdr.msg[4].data, hdr.msg[5].data, hdr.msg[6].data, hdr.msg[7].data,
              hdr.msg[8].data, hdr.msg[9].data, hdr.msg[10].data },
            16w0, HashAlgorithm.csum16);
    }
}

control VariableIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // The ring buffer (figure 6).
    register<bit<32>>(COLUMNS) pool_0;
    register<bit<32>>(COLUMNS) pool_1;
    register<bit<32>>(COLUMNS) pool_2;
    register<bit<32>>(COLUMNS) pool_3;
    register<bit<32>>(COLUMNS) pool_4;
    register<bit<32>>(COLUMNS) pool_5;
    register<bit<32>>(COLUMNS) pool_6;
    register<bit<32>>(COLUMNS) pool_7;
    register<bit<32>>(COLUMNS) pool_8;
    register<bit<32>>(COLUMNS) pool_9;
    register<bit<32>>(COLUMNS) pool_10;
#ifdef PACKED
    // Words of the column at the enqueue pointer that are used; 11 if nothing more may go there.
    register<bit<8>>(1) used_words;
#else
    register<bit<8>>(COLUMNS) pool_len;
#endif
    // A used column has the number of the start of the switch.
    register<bit<32>>(COLUMNS) bitmap;
    // The next column to store into, and to take from. Who reads one always moves it on.
    register<bit<32>>(1) enqueue_pointer;
    register<bit<32>>(1) dequeue_pointer;
    // Bytes that wait: Len and Msg headers.
    register<bit<32>>(1) byte_counter;
    // Worker packets.
    register<bit<32>>(1) worker_counter;
    // Small packets that go round until they try their column again.
    register<bit<32>>(1) waiting_counter;
    // Where the dequeue pointer was at the last tick, and ticks since it moved, while workers were at it.
    register<bit<32>>(1) pointer_at_tick;
    register<bit<8>>(1) silent_ticks;
    // What starts of the switch before this one have left is forgotten, with --state too: it may have gone on since then.
    @start_number register<bit<32>>(1) this_start;
    register<bit<32>>(1) start_of_content;

    counter(1, CounterType.packets) stored;
    counter(1, CounterType.packets) taken;
    counter(1, CounterType.packets_and_bytes) aggregates_out;
    // The pointer problem (section 5.5), each try: 0 of small packets, 1 of workers.
    counter(2, CounterType.packets) resubmissions;
    // 0: a frame that ends too early, 1: a wrong IPv4 checksum, 2: no route, 3: the time to live is over, 4: the ring
    // buffer is full, 5: a message without words or with too many, 6: Num or Len is not true, 7: of the timer's or a
    // worker's type and from elsewhere, 8: a wrong UDP checksum, which would be a good one afterwards.
    counter(9, CounterType.packets) dropped;

    bit<32> column = 0;
    bit<32> workers_max = 0;
    bit<32> start = 0;
    bit<16> header_sum = 0;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard_metadata);
    }

    action end() {
        mark_to_drop(standard_metadata);
    }

    // How many workers there may be at once. Too many keep each other from working (figure 12).
    action limit(bit<32> workers) {
        workers_max = workers;
    }

    table limits {
        actions = { limit; }
        default_action = limit(1000);
    }

    // The first switch: whose small packets are aggregated. All of them get the headers of the packet that carries them, so
    // they must be for the same server, and there is room for no second one.
    table aggregated {
        key = {
            hdr.ipv4.destination: exact;
            hdr.udp.destination_port: exact;
        }
        actions = { NoAction; }
        size = 1;
    }

    // Where the timer's packets come from.
    table timers {
        key = { standard_metadata.ingress_port: exact; }
        actions = { NoAction; }
        size = 512;
    }

    // Small packets leave by the port of a mirror session.
    action take_apart(bit<32> session) {
        meta.is_split = true;
        meta.session = session;
    }

    // The first message leaves, and the others go round.
    action let_out() {
        hdr.aggregation.num = hdr.aggregation.num - 1;
        hdr.aggregation.length_bytes = hdr.aggregation.length_bytes - meta.message_bytes;
        if (hdr.aggregation.num != 0) {
            clone(CloneType.I2E, meta.session);
            meta.goes_round = true;
        }
    }

    // The second switch: whose aggregates are taken apart.
    table disaggregated {
        key = {
            hdr.ipv4.destination: exact;
            hdr.udp.destination_port: exact;
        }
        actions = { take_apart; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    action send(port_t port) {
        standard_metadata.egress_spec = port;
    }

    table route {
        key = { hdr.ipv4.destination: lpm; }
        actions = { send; drop; }
        default_action = drop(2);
        size = 1024;
    }

    action remove_message() {
        hdr.len.setInvalid();
        hdr.msg[0].setInvalid();
        hdr.msg[1].setInvalid();
        hdr.msg[2].setInvalid();
        hdr.msg[3].setInvalid();
        hdr.msg[4].setInvalid();
        hdr.msg[5].setInvalid();
        hdr.msg[6].setInvalid();
        hdr.msg[7].setInvalid();
        hdr.msg[8].setInvalid();
        hdr.msg[9].setInvalid();
        hdr.msg[10].setInvalid();
    }

    action forget_former_start() {
        bit<32> before;
        this_start.read(start, 0);
        start_of_content.read(before, 0);
        if (before != start) {
            start_of_content.write(0, start);
            enqueue_pointer.write(0, 0);
            dequeue_pointer.write(0, 0);
            byte_counter.write(0, 0);
            worker_counter.write(0, 0);
            waiting_counter.write(0, 0);
#ifdef PACKED
            used_words.write(0, 0);
#endif
        }
    }

    // The packet becomes a worker and goes round (12).
    action start_aggregation(bit<32> workers) {
        worker_counter.write(0, workers + 1);
        hdr.type.value = WORKER;
        hdr.padding.setInvalid();
        hdr.rest.setInvalid();
        remove_message();
        hdr.aggregation.setValid();
        meta.goes_round = true;
    }

    // The worker becomes an aggregate and leaves (21).
    action stop_aggregation() {
        bit<32> workers;
        worker_counter.read(workers, 0);
        if (workers != 0) {
            worker_counter.write(0, workers - 1);
        }
        hdr.type.value = AGGREGATED;
        meta.is_new = true;
    }

    // The worker has found a free column, and continues with the next unless it has found many.
    action skip_column() {
        meta.free_columns = meta.free_columns + 1;
        if (meta.free_columns < FREE_COLUMNS_MAX) {
            meta.goes_round = true;
        } else {
            stop_aggregation();
        }
    }

    // Nothing waits: the pointers meet, so that no worker looks for what comes next.
    action meet() {
        bit<32> next;
        enqueue_pointer.read(next, 0);
#ifdef PACKED
        // That of shared columns is where was stored last.
        used_words.write(0, 11);
        next = (next + 1) & (COLUMNS - 1);
#endif
        dequeue_pointer.write(0, next);
    }

    // The packet tries the same column again (22), at once.
    action resubmit_for(bit<32> kind) {
        resubmissions.count(kind);
        meta.column = column;
        meta.tries = meta.tries + 1;
        resubmit_preserving_field_list(1);
    }

    // The column of a small packet is used (5). It is resubmitted with the column (22). In this switch that is the next thing that
    // happens, and no worker gets to the column before: so then the packet goes round behind the workers, as long as there are any
    // who could free it.
    action wait_for_column() {
        bit<32> waiting;
        bit<32> workers;
        waiting_counter.read(waiting, 0);
        worker_counter.read(workers, 0);
        if (meta.tries == 0) {
            resubmit_for(0);
        } else if (meta.tries < TRIES_MAX && workers != 0 && waiting < WAITING_MAX) {
            waiting_counter.write(0, waiting + 1);
            resubmissions.count(0);
            meta.column = column;
            meta.tries = meta.tries + 1;
            meta.waits = true;
            meta.goes_round = true;
        } else {
            drop(4);
        }
    }

    // A small packet is there again (3): it keeps to its column (23).
    action come_again() {
        bit<32> waiting;
        column = meta.column;
        waiting_counter.read(waiting, 0);
        if (standard_metadata.instance_type == RECIRCULATED && waiting != 0) {
            waiting_counter.write(0, waiting - 1);
        }
    }

#ifdef PACKED
#include "packed.p4"
#else
    // Table 0 to table 10, pushing (9).
    action push() {
        pool_len.write(column, hdr.len.words);
        if (hdr.len.words >= 1) { pool_0.write(column, hdr.msg[0].data); }
        if (hdr.len.words >= 2) { pool_1.write(column, hdr.msg[1].data); }
        if (hdr.len.words >= 3) { pool_2.write(column, hdr.msg[2].data); }
        if (hdr.len.words >= 4) { pool_3.write(column, hdr.msg[3].data); }
        if (hdr.len.words >= 5) { pool_4.write(column, hdr.msg[4].data); }
        if (hdr.len.words >= 6) { pool_5.write(column, hdr.msg[5].data); }
        if (hdr.len.words >= 7) { pool_6.write(column, hdr.msg[6].data); }
        if (hdr.len.words >= 8) { pool_7.write(column, hdr.msg[7].data); }
        if (hdr.len.words >= 9) { pool_8.write(column, hdr.msg[8].data); }
        if (hdr.len.words >= 10) { pool_9.write(column, hdr.msg[9].data); }
        if (hdr.len.words >= 11) { pool_10.write(column, hdr.msg[10].data); }
    }

    // Table 0 to table 10, popping (17 to 19).
    action pop() {
        hdr.len.setValid();
        pool_len.read(hdr.len.words, column);
        if (hdr.len.words >= 1) { hdr.msg[0].setValid(); pool_0.read(hdr.msg[0].data, column); }
        if (hdr.len.words >= 2) { hdr.msg[1].setValid(); pool_1.read(hdr.msg[1].data, column); }
        if (hdr.len.words >= 3) { hdr.msg[2].setValid(); pool_2.read(hdr.msg[2].data, column); }
        if (hdr.len.words >= 4) { hdr.msg[3].setValid(); pool_3.read(hdr.msg[3].data, column); }
        if (hdr.len.words >= 5) { hdr.msg[4].setValid(); pool_4.read(hdr.msg[4].data, column); }
        if (hdr.len.words >= 6) { hdr.msg[5].setValid(); pool_5.read(hdr.msg[5].data, column); }
        if (hdr.len.words >= 7) { hdr.msg[6].setValid(); pool_6.read(hdr.msg[6].data, column); }
        if (hdr.len.words >= 8) { hdr.msg[7].setValid(); pool_7.read(hdr.msg[7].data, column); }
        if (hdr.len.words >= 9) { hdr.msg[8].setValid(); pool_8.read(hdr.msg[8].data, column); }
        if (hdr.len.words >= 10) { hdr.msg[9].setValid(); pool_9.read(hdr.msg[9].data, column); }
        if (hdr.len.words >= 11) { hdr.msg[10].setValid(); pool_10.read(hdr.msg[10].data, column); }
    }

    // A small packet is stored (3 to 12).
    action store() {
        bit<32> used_in;
        bit<32> waiting;
        bit<32> workers;
        if (meta.tries != 0) {
            come_again();
        } else {
            enqueue_pointer.read(column, 0);
            enqueue_pointer.write(0, (column + 1) & (COLUMNS - 1));
        }
        bitmap.read(used_in, column);
        if (used_in != start) {
            bitmap.write(column, start);
            push();
            stored.count(0);
            byte_counter.read(waiting, 0);
            waiting = waiting + (bit<32>)meta.message_bytes;
            byte_counter.write(0, waiting);
            worker_counter.read(workers, 0);
            if (waiting > AGGREGATE_BYTES_MAX && workers < workers_max) {
                start_aggregation(workers);
            } else {
                end();
            }
        } else {
            wait_for_column();
        }
    }

    // A worker takes a small packet (13 to 21).
    action work() {
        bit<32> used_in;
        bit<32> waiting;
        byte_counter.read(waiting, 0);
        if (waiting == 0) {
            stop_aggregation();
        } else {
            if (standard_metadata.instance_type == RESUBMITTED) {
                column = meta.column;
            } else {
                dequeue_pointer.read(column, 0);
                dequeue_pointer.write(0, (column + 1) & (COLUMNS - 1));
            }
            bitmap.read(used_in, column);
            if (used_in == start) {
                bitmap.write(column, 0);
                pop();
                taken.count(0);
                meta.message_bytes = 1 + ((bit<16>)hdr.len.words << 2);
                byte_counter.write(0, waiting - (bit<32>)meta.message_bytes);
                if (waiting == (bit<32>)meta.message_bytes) { meet(); }
                hdr.aggregation.num = hdr.aggregation.num + 1;
                hdr.aggregation.length_bytes = hdr.aggregation.length_bytes + meta.message_bytes;
                if (hdr.aggregation.length_bytes < ENOUGH_BYTES) {
                    meta.goes_round = true;
                } else {
                    stop_aggregation();
                }
            } else if (meta.tries < WORKER_TRIES_MAX) {
                resubmit_for(1);
            } else {
                skip_column();
            }
        }
    }
#endif

    // Workers that take nothing for long are gone: a queue was full, or the switch was stopped at its limits.
    action look_for_workers(inout bit<32> workers) {
        bit<32> pointer;
        bit<32> before;
        bit<8> ticks;
        dequeue_pointer.read(pointer, 0);
        pointer_at_tick.read(before, 0);
        silent_ticks.read(ticks, 0);
        ticks = pointer == before ? ticks + 1 : 0;
        if (ticks == SILENT_TICKS_MAX) {
            ticks = 0;
            workers = 0;
            worker_counter.write(0, 0);
        }
        pointer_at_tick.write(0, pointer);
        silent_ticks.write(0, ticks);
    }

    // The timer's packet takes what has waited too long, unless somebody is at it.
    action flush() {
        bit<32> waiting;
        bit<32> workers;
        byte_counter.read(waiting, 0);
        worker_counter.read(workers, 0);
        if (workers != 0) {
            look_for_workers(workers);
        } else {
            // Those that the counter still knows were lost.
            waiting_counter.write(0, 0);
        }
        if (waiting != 0 && workers == 0) {
            start_aggregation(0);
        } else {
            end();
        }
    }

    apply {
        bool is_stored = false;
        bool is_ours = false;
        if (standard_metadata.checksum_error == 1) {
            sum_header(hdr.ipv4, header_sum);
        }
        // Only what goes round here is read as a worker.
        bool is_worker = hdr.type.isValid() && hdr.type.value == WORKER && hdr.aggregation.isValid();
        if (hdr.type.isValid() && !is_worker) {
            is_stored = aggregated.apply().hit;
            disaggregated.apply();
            is_ours = is_stored || meta.is_split;
        }
        if (standard_metadata.parser_error != error.NoError && (is_ours || !hdr.type.isValid())) {
            drop(0);
        } else if (header_sum != 0) {
            drop(1);
        } else if (!hdr.ipv4.isValid()) {
            end();
        } else if (hdr.ipv4.ttl <= 1) {
            drop(3);
        } else if (route.apply().hit && hdr.type.isValid()) {
            meta.message_bytes = 1 + ((bit<16>)hdr.len.words << 2);
            if (is_worker) {
                @atomic {
                    forget_former_start();
                    work();
                }
                if (hdr.type.value == AGGREGATED && hdr.aggregation.num == 0) {
                    end();
                } else if (hdr.type.value == AGGREGATED) {
                    aggregates_out.count(0);
                }
            } else if (hdr.type.value == CONTROL && hdr.udp.length_bytes == CONTROL_UDP_BYTES && timers.apply().hit) {
                @atomic {
                    forget_former_start();
                    flush();
                }
            } else if (!is_ours) {
                // It only looks like a message, an aggregate or the timer's packet.
            } else if (hdr.type.value == CONTROL || hdr.type.value == WORKER) {
                drop(7);
            } else if (hdr.len.isValid() && !hdr.msg[0].isValid()) {
                drop(5);
            } else if (hdr.padding.isValid()) {
                if (hdr.udp.length_bytes != meta.message_bytes + (bit<16>)hdr.padding.length_bytes + 10
                    || hdr.ipv4.total_length != hdr.udp.length_bytes + 20
                    || (standard_metadata.packet_length != (bit<32>)hdr.ipv4.total_length + 14 && !hdr.rest.isValid())) {
                    drop(6);
                } else if (standard_metadata.checksum_error == 1) {
                    drop(8);
                } else if (is_stored) {
                    limits.apply();
                    @atomic {
                        forget_former_start();
                        store();
                    }
                }
            } else if (hdr.aggregation.isValid()) {
                if (standard_metadata.packet_length < (bit<32>)hdr.ipv4.total_length + 14) {
                    drop(0);
                } else if (hdr.udp.length_bytes != hdr.aggregation.length_bytes + UDP_BYTES_BEFORE
                    || hdr.ipv4.total_length != hdr.udp.length_bytes + 20
                    || hdr.aggregation.num == 0
                    || hdr.aggregation.num > NUM_MAX
                    || (hdr.aggregation.num << 2) + hdr.aggregation.num > hdr.aggregation.length_bytes
                    || (bit<32>)hdr.aggregation.num * 45 < (bit<32>)hdr.aggregation.length_bytes
                    || meta.message_bytes > hdr.aggregation.length_bytes
                    || (hdr.aggregation.num == 1) != (meta.message_bytes == hdr.aggregation.length_bytes)) {
                    drop(6);
                } else if (standard_metadata.checksum_error == 1) {
                    drop(8);
                } else if (meta.is_split) {
                    let_out();
                    if (meta.goes_round) {
                        remove_message();
                    }
                }
            }
        }
        if (meta.goes_round) {
            standard_metadata.egress_spec = ROUND_PORT;
        }
    }
}

control VariableEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
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

    // What is left is a small packet of the first message.
    action become_small() {
        meta.is_new = true;
        hdr.type.value = SMALL;
        hdr.aggregation.setInvalid();
        hdr.padding.setValid();
        if (hdr.len.words == 1) {
            hdr.padding.length_bytes = 15;
            hdr.filler15.setValid();
        } else if (hdr.len.words == 2) {
            hdr.padding.length_bytes = 11;
            hdr.filler11.setValid();
        } else if (hdr.len.words == 3) {
            hdr.padding.length_bytes = 7;
            hdr.filler7.setValid();
        } else if (hdr.len.words == 4) {
            hdr.padding.length_bytes = 3;
            hdr.filler3.setValid();
        }
        // UDP's header, type, PLen and Len.
        hdr.udp.length_bytes = 11 + (bit<16>)hdr.padding.length_bytes + ((bit<16>)hdr.len.words << 2);
        hdr.ipv4.total_length = 20 + hdr.udp.length_bytes;
    }

    apply {
        // What is none of ours may only look as if it were.
        if (hdr.aggregation.isValid() && (standard_metadata.instance_type == CLONED_IN_INGRESS || meta.is_split
                                          || meta.is_new || hdr.type.value == WORKER)) {
            hdr.udp.length_bytes = hdr.aggregation.length_bytes + UDP_BYTES_BEFORE;
            hdr.ipv4.total_length = 20 + hdr.udp.length_bytes;
            if (standard_metadata.instance_type == CLONED_IN_INGRESS || hdr.aggregation.num == 0 && hdr.len.isValid()) {
                become_small();
            }
            // What is behind the IP packet belongs to the frame that came.
            truncate((bit<32>)hdr.ipv4.total_length + 14);
        }
        meta.has_checksum = meta.is_new && hdr.udp.checksum != 0;
        if (meta.waits) {
            recirculate_preserving_field_list(3);
        } else if (meta.goes_round) {
            recirculate_preserving_field_list(2);
        } else {
            take_hops(hdr.ipv4.ttl, hdr.ipv4.checksum, 1);
            link.apply();
        }
    }
}

control VariableComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.header_words == 5,
            { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.traffic_class, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
              hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        // Headers that are not there are left out. Behind a small packet there may be the rest of what it was taken from, which is
        // not sent.
        update_checksum(hdr.padding.isValid() && meta.has_checksum,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.type.value,
              hdr.padding.length_bytes, hdr.padding.bytes, hdr.filler15.zero, hdr.filler11.zero, hdr.filler7.zero,
              hdr.filler3.zero, hdr.len.words, hdr.msg[0].data, hdr.msg[1].data, hdr.msg[2].data, hdr.msg[3].data,
              hdr.msg[4].data, hdr.msg[5].data, hdr.msg[6].data, hdr.msg[7].data, hdr.msg[8].data, hdr.msg[9].data,
              hdr.msg[10].data },
            hdr.udp.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.aggregation.isValid() && meta.has_checksum,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length_bytes,
              hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length_bytes, hdr.type.value,
              hdr.aggregation.num, hdr.aggregation.length_bytes, hdr.len.words, hdr.msg[0].data,
#ifdef PACKED
              hdr.more_len[0].words, hdr.msg[1].data, hdr.more_len[1].words, hdr.msg[2].data,
              hdr.more_len[2].words, hdr.msg[3].data, hdr.more_len[3].words, hdr.msg[4].data,
              hdr.more_len[4].words, hdr.msg[5].data, hdr.more_len[5].words, hdr.msg[6].data,
              hdr.more_len[6].words, hdr.msg[7].data, hdr.more_len[7].words, hdr.msg[8].data,
              hdr.more_len[8].words, hdr.msg[9].data, hdr.more_len[9].words, hdr.msg[10].data },
#else
              hdr.msg[1].data, hdr.msg[2].data, hdr.msg[3].data, hdr.msg[4].data, hdr.msg[5].data, hdr.msg[6].data,
              hdr.msg[7].data, hdr.msg[8].data, hdr.msg[9].data, hdr.msg[10].data },
#endif
            hdr.udp.checksum, HashAlgorithm.csum16);
        // A checksum of 0 is none: one that comes to 0 is sent as its other form, the sum over nothing (RFC 768).
        update_checksum(meta.has_checksum && hdr.udp.checksum == 0, { 16w0 }, hdr.udp.checksum, HashAlgorithm.csum16);
    }
}

control VariableDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.type);
        packet.emit(hdr.padding);
        packet.emit(hdr.filler15);
        packet.emit(hdr.filler11);
        packet.emit(hdr.filler7);
        packet.emit(hdr.filler3);
        packet.emit(hdr.aggregation);
        packet.emit(hdr.len);
#ifdef PACKED
        packet.emit(hdr.msg[0]);
        packet.emit(hdr.more_len[0]);
        packet.emit(hdr.msg[1]);
        packet.emit(hdr.more_len[1]);
        packet.emit(hdr.msg[2]);
        packet.emit(hdr.more_len[2]);
        packet.emit(hdr.msg[3]);
        packet.emit(hdr.more_len[3]);
        packet.emit(hdr.msg[4]);
        packet.emit(hdr.more_len[4]);
        packet.emit(hdr.msg[5]);
        packet.emit(hdr.more_len[5]);
        packet.emit(hdr.msg[6]);
        packet.emit(hdr.more_len[6]);
        packet.emit(hdr.msg[7]);
        packet.emit(hdr.more_len[7]);
        packet.emit(hdr.msg[8]);
        packet.emit(hdr.more_len[8]);
        packet.emit(hdr.msg[9]);
        packet.emit(hdr.more_len[9]);
        packet.emit(hdr.msg[10]);
#else
        packet.emit(hdr.msg);
#endif
        packet.emit(hdr.rest);
    }
}

V1Switch(VariableParser(), VariableVerifyChecksum(), VariableIngress(), VariableEgress(), VariableComputeChecksum(),
         VariableDeparser()) main;
