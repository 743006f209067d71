/* The limit: the jobs of the programs in apps/aggregation by hand, with the usual optimisations: the gateway, eight
 * messages of sixteen bytes in a packet, messages of 4 to 44 bytes.
 *
 * Each function does for its packets what the program does for the same ones: the checks of versions, lengths, the time
 * to live and checksums, the route by destination, counters, what is delayed and for how long, the order of a flow's
 * packets that are delayed and that are not, the sequence numbers of aggregates. Routes have a slot for each /24, other
 * tables are hash tables with open addressing, or indexed; a gateway's classes are a list. Frames that leave are
 * written to consecutive memory, as to a driver's ring: payload that is taken apart is copied once, payload that is
 * buffered twice, as in the switch. The next frames are prefetched. Copies of up to 64 bytes have no branches: 64 bytes
 * behind each frame may be read, and behind what is sent, written.
 *
 * There is no architecture, no metadata and no IPv6; the other two designs drop packets with IPv4 options and those too
 * short for UDP. What is stored in the variable design leaves when the program's workers would take it, which are done
 * before the next packet comes, so that there are no workers.
 *
 * The file has more than 1,000 lines because it is compiled alone, and the designs share checks, tables and copies.
 */
#include "bytes.h"
#include "large.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define AHEAD 8u
#define SLACK 64u /* bytes that may be read behind a frame */
#define PORTS 512u
#define TUNNELS 1024u
#define CLASSES 64u
#define KEYS 4096u /* slots of hash tables, which have at most half as many entries */
#define CRC_BYTES 8u
#define NEVER UINT64_MAX

/* A packet that has arrived. */
struct frame {
    const uint8_t *bytes;
    uint32_t length;
    uint32_t port;
};

struct place {
    uint64_t start;
    uint32_t length;
    uint32_t port;
};

/* What leaves. */
struct output {
    uint8_t *bytes;
    struct place *places;
    uint64_t used, capacity;
    uint64_t count, places_capacity;
};

struct counter {
    uint64_t packets, bytes;
};

struct entry {
    uint64_t key[2];
    uint32_t value;
    uint32_t is_used;
};

struct table {
    struct entry entries[KEYS];
    uint32_t count;
};

struct link {
    uint8_t addresses[12];
    uint32_t is_used;
};

struct class {
    uint32_t network, mask;
    uint32_t port_first, port_last;
    uint32_t tunnel, payload_bytes_max, wait_us;
};

#define ETHERNET 14u
#define IPV4 20u
#define UDP 8u
#define HEADERS (ETHERNET + IPV4 + UDP)
#define AGGREGATE 16u
#define TUNNEL_HEADERS (HEADERS + AGGREGATE)
#define RECORD 20u /* over IPv4, without payload */
#define RECORD_MAX 45u /* of any packet */
#define PAYLOAD_MAX 4000u
#define TUNNEL_PORT 4761u
#define AHEAD_MAX 65536u
#define STRAYS_MAX 32u

/* The sending end of a tunnel, and its buffer. */
struct tunnel {
    uint8_t *buffer; /* the headers, then records; NULL if there is no such tunnel */
    uint32_t used, packets; /* bytes of records */
    uint32_t records_bytes_max;
    uint32_t header_sum, udp_sum; /* of the headers without lengths, numbers and checksums */
    uint32_t port, sequence;
    uint32_t sends_one_alone, waited_in_vain;
    uint64_t due_us, gathered_us;
    uint64_t pairs[4];
    struct counter gathered, not_delayed, sent_alone, aggregates_out;
};

/* The receiving end. */
struct peer {
    uint32_t epoch, next, epoch_before, next_before;
    uint32_t stray_epoch, stray_next, strays;
    uint64_t lost, aggregates_in;
};

#define N 8u
#define MESSAGE 16u
#define FLAG 6u
#define MESSAGE_FRAME 64u
#define FIXED_HEADERS (HEADERS + FLAG)
#define COLLECTIONS 256u
#define WAIT_US 1000000u

struct collection {
    uint8_t payloads[N][MESSAGE];
    uint8_t watch[MESSAGE_FRAME + SLACK]; /* the message whose headers carry what is held too long */
    uint32_t held;
    uint64_t due_us; /* NEVER without a watch */
    uint64_t messages_in, merged;
    struct counter packets_out;
};

#define WORDS_MAX 11u
#define STORED_MAX 1467u
#define STORED_ENOUGH 1423u
#define NUMBER_MAX 293u
#define VARIABLE_HEADERS (HEADERS + 5)
#define STORE_SLOTS 512u /* more than the messages of 5 bytes that are stored */
#define STORE_SLOT_BYTES 48u

/* Stored messages, each behind its length. */
struct store {
    uint8_t slots[STORE_SLOTS][STORE_SLOT_BYTES];
    uint32_t first, messages, bytes;
    uint32_t ready_messages, ready_bytes; /* the oldest that are enough; 0 if all are not */
    uint64_t stored, taken;
    struct counter aggregates_out;
};

struct limit {
    struct output *out;
    uint32_t *slots; /* by the upper 24 bits of an address: a port plus 1 */
    struct link links[PORTS];
    uint64_t dropped[16];
    uint64_t now_us, next_due_us;
    /* gateway */
    uint32_t hops, epoch;
    struct class classes[CLASSES];
    uint32_t classes_count;
    struct tunnel tunnels[TUNNELS];
    struct table peer_numbers;
    struct peer peers[TUNNELS];
    uint16_t tunnel_of_pair[65536];
    uint16_t crc16[CRC_BYTES][256]; /* [k][byte]: the effect of a byte that k more bytes follow */
    struct counter restored;
    /* fixed and variable */
    struct table together, apart;
    struct collection collections[COLLECTIONS];
    struct store store;
    uint8_t is_timer[PORTS];
};

enum table_number { ROUTE, LINK, CLASS, TUNNEL, PEER, HOPS, TOGETHER, APART, TIMER };

enum reason {
    NOT_WHOLE, WRONG_CHECKSUM, NO_ROUTE, TIME_OVER, NOT_IP, UNKNOWN_VERSION, LENGTHS_LIE, NOT_RECORDS, LATE, OLD_EPOCH,
    BAD_RECORD, NESTED, NO_TUNNEL, UNKNOWN_PEER, NOT_FOR_ROUTERS
};

static void store64(uint8_t *p, uint64_t value)
{
    const uint64_t turned = __builtin_bswap64(value);
    memcpy(p, &turned, sizeof turned);
}

/* Copies up to 64 bytes more than it has to. */
static inline void copy(uint8_t *to, const uint8_t *from, uint32_t count)
{
    memcpy(to, from, 64);
    if (__builtin_expect(count > 64, 0))
        memcpy(to + 64, from + 64, count - 64);
}

static inline uint32_t folded(uint32_t sum)
{
    sum = (sum >> 16) + (sum & 0xffff);
    return (sum >> 16) + (sum & 0xffff);
}

static inline uint32_t folded64(uint64_t sum)
{
    sum = (sum >> 32) + (uint32_t)sum;
    sum = (sum >> 32) + (uint32_t)sum;
    return folded((uint32_t)(sum >> 16) + (uint32_t)(sum & 0xffff));
}

typedef uint32_t words_t __attribute__((vector_size(32)));

/* The sum of these bytes as 16-bit words, at most 65,535 bytes. */
static uint32_t sum_of(const uint8_t *bytes, uint32_t count)
{
    words_t low = {0}, high = {0};
    uint64_t sum = 0;
    if (count >= 128) {
        for (; count >= 32; bytes += 32, count -= 32) {
            words_t words;
            memcpy(&words, bytes, sizeof words);
            low += words & 0xffff;
            high += words >> 16;
        }
        for (uint32_t lane = 0; lane < 8; lane++)
            sum += (uint64_t)low[lane] + high[lane];
    }
    for (; count >= 4; bytes += 4, count -= 4) {
        uint32_t word;
        memcpy(&word, bytes, sizeof word);
        sum += word;
    }
    if (count >= 2) {
        uint16_t word;
        memcpy(&word, bytes, sizeof word);
        sum += word;
        bytes += 2;
        count -= 2;
    }
    if (count > 0)
        sum += bytes[0];
    return __builtin_bswap16((uint16_t)folded64(sum));
}

static inline uint32_t sum_of_header(const uint8_t *ip)
{
    uint64_t sum = 0;
    for (int word = 0; word < 5; word++)
        sum += load32(ip + 4 * word);
    return folded64(sum);
}

/* The sum of a UDP packet and what stands for its IPv4 header. */
static uint32_t sum_of_udp(const uint8_t *ip, uint32_t udp_bytes)
{
    return folded(sum_of(ip + 12, UDP + udp_bytes) + 17 + udp_bytes);
}

/* A checksum of 0 would say that there is none (RFC 768). */
static inline void store_checksum(uint8_t *ip, uint32_t sum)
{
    sum = folded(sum);
    store16(ip + 26, sum == 0xffff ? 0xffff : ~sum);
}

static void store_udp_checksum(uint8_t *ip, uint32_t udp_bytes)
{
    store16(ip + 26, 0);
    store_checksum(ip, sum_of_udp(ip, udp_bytes));
}

/* Gives an IPv4 header another length and takes hops from its time to live (RFC 1624). */
static void change_header(uint8_t *ip, uint32_t total, uint32_t hops)
{
    const uint32_t sum = (~load16(ip + 10) & 0xffff) + (~load16(ip + 2) & 0xffff) + total + (~(hops << 8) & 0xffff);
    store16(ip + 2, total);
    ip[8] -= (uint8_t)hops;
    store16(ip + 10, ~folded(sum));
}

static uint32_t slot_of(uint64_t high, uint64_t low)
{
    return (uint32_t)(((low ^ high * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu) >> 40) & (KEYS - 1);
}

static const struct entry *find(const struct table *table, uint64_t high, uint64_t low)
{
    for (uint32_t slot = slot_of(high, low);; slot = (slot + 1) & (KEYS - 1)) {
        const struct entry *entry = table->entries + slot;
        if (!entry->is_used)
            return NULL;
        if (entry->key[1] == low && entry->key[0] == high)
            return entry;
    }
}

static void add(struct table *table, uint64_t high, uint64_t low, uint32_t value)
{
    uint32_t slot = slot_of(high, low);
    if (table->count++ == KEYS / 2)
        abort();
    while (table->entries[slot].is_used)
        slot = (slot + 1) & (KEYS - 1);
    table->entries[slot] = (struct entry){{high, low}, value, 1};
}

EXPORT struct limit *limit_new(uint32_t start_number)
{
    struct limit *limit = large(sizeof *limit);
    limit->slots = large(sizeof *limit->slots << 24);
    limit->epoch = start_number;
    limit->hops = 1;
    limit->next_due_us = NEVER;
    for (uint32_t collection = 0; collection < COLLECTIONS; collection++)
        limit->collections[collection].due_us = NEVER;
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? 0xa001u : 0);
        limit->crc16[0][byte] = (uint16_t)value;
    }
    for (uint32_t k = 1; k < CRC_BYTES; k++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            const uint32_t value = limit->crc16[k - 1][byte];
            limit->crc16[k][byte] = (uint16_t)(value >> 8 ^ limit->crc16[0][value & 0xff]);
        }
    return limit;
}

EXPORT void limit_free(struct limit *limit)
{
    for (uint32_t tunnel = 0; tunnel < TUNNELS; tunnel++)
        free(limit->tunnels[tunnel].buffer);
    free(limit->slots);
    free(limit);
}

/* A route of at most 24 bits. They must come from the shortest to the longest. */
static void add_route(struct limit *limit, uint32_t network, uint32_t prefix_len, uint32_t port)
{
    for (uint32_t slot = network >> 8, count = 1u << (24 - prefix_len); count > 0; slot++, count--)
        limit->slots[slot] = port + 1;
}

static void add_tunnel(struct limit *limit, const uint32_t *args)
{
    struct tunnel *tunnel = limit->tunnels + args[0];
    if (args[2] < TUNNEL_HEADERS - ETHERNET + RECORD_MAX || tunnel->buffer != NULL)
        abort();
    tunnel->port = args[1];
    tunnel->records_bytes_max = args[2] - (TUNNEL_HEADERS - ETHERNET);
    tunnel->sends_one_alone = args[6];
    tunnel->due_us = NEVER;
    uint8_t *headers = tunnel->buffer = calloc(1, TUNNEL_HEADERS + tunnel->records_bytes_max + SLACK);
    uint8_t *ip = headers + ETHERNET, *udp = ip + IPV4;
    memcpy(headers, limit->links[tunnel->port].addresses, 12);
    store16(headers + 12, 0x800);
    store32(ip, 0x45000000);
    store32(ip + 4, 0x4000);
    store32(ip + 8, 64u << 24 | 17u << 16);
    store32(ip + 12, args[3]);
    store32(ip + 16, args[4]);
    store32(udp, TUNNEL_PORT << 16 | TUNNEL_PORT);
    store32(udp + 8, 1u << 24 | args[5]);
    store32(udp + 16, limit->epoch);
    tunnel->header_sum = sum_of_header(ip);
    tunnel->udp_sum = folded(sum_of(ip + 12, 8 + UDP + AGGREGATE) + 17);
}

/* Adds an entry; see enum table_number. Keys are new, and the table is not full. Links come before tunnels. */
EXPORT void limit_add(struct limit *limit, uint32_t table, const uint32_t *args)
{
    switch (table) {
    case ROUTE:
        add_route(limit, args[0], args[1], args[2]);
        break;
    case LINK:
        store32(limit->links[args[0]].addresses, args[1]);
        store32(limit->links[args[0]].addresses + 4, args[2]);
        store32(limit->links[args[0]].addresses + 8, args[3]);
        limit->links[args[0]].is_used = 1;
        break;
    case CLASS:
        if (limit->classes_count == CLASSES)
            abort();
        limit->classes[limit->classes_count++] =
            (struct class){args[0], args[1], args[2], args[3], args[4], args[5], args[6]};
        break;
    case TUNNEL:
        add_tunnel(limit, args);
        break;
    case PEER:
        add(&limit->peer_numbers, args[2], (uint64_t)args[0] << 32 | args[1], args[3]);
        break;
    case HOPS:
        limit->hops = args[0];
        break;
    case TOGETHER:
    case APART:
        add(table == TOGETHER ? &limit->together : &limit->apart, args[1], args[0], args[2]);
        break;
    case TIMER:
        limit->is_timer[args[0]] = 1;
        break;
    }
}

static void drop(struct limit *limit, uint32_t reason)
{
    limit->dropped[reason]++;
}

static void count(struct counter *counter, uint32_t bytes)
{
    counter->packets++;
    counter->bytes += bytes;
}

/* Where the next frame that leaves is written, with space for 64 bytes more; NULL without space. */
static inline uint8_t *place_for(struct output *out, uint32_t length)
{
    const int fits = out->count < out->places_capacity && out->used + length + SLACK <= out->capacity;
    return fits ? out->bytes + out->used : NULL;
}

static inline void send(struct output *out, uint32_t length, uint32_t port)
{
    out->places[out->count++] = (struct place){out->used, length, port};
    out->used += (length + 63) & ~63u;
}

static inline uint32_t route(const struct limit *limit, const uint8_t *destination)
{
    return limit->slots[load32(destination) >> 8];
}

static inline void rewrite(const struct limit *limit, uint8_t *ethernet, uint32_t port)
{
    if (limit->links[port].is_used)
        memcpy(ethernet, limit->links[port].addresses, 12);
}

/* 224.0.0.0/4 are groups, 255.255.255.255 is all of the link, 169.254.0.0/16 are of one link. */
static inline int is_of_link(uint32_t source, uint32_t destination)
{
    return destination >> 28 == 0xe || destination == 0xffffffff || destination >> 16 == 0xa9fe ||
           source >> 16 == 0xa9fe;
}

static inline uint32_t pair_of(const struct limit *limit, const uint8_t *addresses)
{
    uint32_t crc = 0;
    for (uint32_t i = 0; i < CRC_BYTES; i++)
        crc ^= limit->crc16[CRC_BYTES - 1 - i][addresses[i]];
    return crc;
}

/* Sends the packet that a record stands for. */
static inline void restore(struct limit *limit, const uint8_t *record, uint32_t payload, uint32_t hops,
                           uint32_t in_port, struct counter *counter)
{
    const uint32_t source = load32(record + 6), destination = load32(record + 10), ports = load32(record + 14);
    if ((ports & 0xffff) == TUNNEL_PORT)
        return drop(limit, NESTED);
    if (record[3] <= hops)
        return drop(limit, TIME_OVER);
    const uint32_t port = limit->slots[destination >> 8] - 1;
    if (is_of_link(source, destination) && (hops != 0 || port == in_port))
        return drop(limit, NOT_FOR_ROUTERS);
    if (port == UINT32_MAX)
        return drop(limit, NO_ROUTE);
    const uint32_t total = IPV4 + UDP + payload;
    uint8_t *bytes = place_for(limit->out, ETHERNET + total);
    if (bytes == NULL)
        return;
    const uint32_t flags = (uint32_t)(record[0] & 0x10) << 10, ttl = (uint32_t)(record[3] - hops) << 8 | 17;
    const uint64_t first = (0x4500u | record[2]) << 16 | total, second = load16(record + 4) << 16 | flags;
    const uint32_t sum = folded64(first + second + ((uint64_t)ttl << 16) + source + destination);
    memcpy(bytes, limit->links[port].addresses, 12);
    store16(bytes + 12, 0x800);
    store64(bytes + 14, first << 32 | second);
    store64(bytes + 22, (uint64_t)ttl << 48 | (uint64_t)(~sum & 0xffff) << 32 | source);
    store64(bytes + 30, (uint64_t)destination << 32 | ports);
    store32(bytes + 38, (UDP + payload) << 16 | load16(record + 18));
    copy(bytes + HEADERS, record + RECORD, payload);
    count(counter, RECORD + payload);
    send(limit->out, ETHERNET + total, port);
}

/* The buffer of a tunnel leaves. */
static void leave(struct limit *limit, struct tunnel *tunnel)
{
    uint8_t *headers = tunnel->buffer, *ip = headers + ETHERNET, *udp = ip + IPV4;
    const uint32_t used = tunnel->used, packets = tunnel->packets, udp_bytes = UDP + AGGREGATE + used;
    tunnel->used = tunnel->packets = 0;
    tunnel->due_us = NEVER;
    memset(tunnel->pairs, 0, sizeof tunnel->pairs);
    tunnel->waited_in_vain = packets == 1;
    if (tunnel->sends_one_alone && packets == 1) {
        return restore(limit, headers + TUNNEL_HEADERS, used - RECORD, 0, 0, &tunnel->sent_alone);
    }
    count(&tunnel->aggregates_out, used);
    const uint32_t sequence = tunnel->sequence++, length = TUNNEL_HEADERS + used;
    uint8_t *to = place_for(limit->out, length);
    if (to == NULL)
        return;
    store16(ip + 2, IPV4 + udp_bytes);
    store16(ip + 10, ~folded(tunnel->header_sum + IPV4 + udp_bytes));
    store16(udp + 4, udp_bytes);
    store32(udp + 12, packets << 16 | used);
    store32(udp + 20, sequence);
    const uint64_t changing = (uint64_t)2 * udp_bytes + packets + used + sequence;
    const uint32_t sum = folded64(changing + tunnel->udp_sum + sum_of(headers + TUNNEL_HEADERS, used));
    store16(udp + 6, sum == 0xffff ? 0xffff : ~sum);
    memcpy(to, headers, length);
    send(limit->out, length, tunnel->port);
}

/* Sends the aggregates that are due. */
static void leave_due(struct limit *limit)
{
    if (limit->now_us < limit->next_due_us)
        return;
    limit->next_due_us = NEVER;
    for (struct tunnel *tunnel = limit->tunnels; tunnel < limit->tunnels + TUNNELS; tunnel++) {
        if (tunnel->packets != 0 && tunnel->due_us <= limit->now_us)
            leave(limit, tunnel);
        if (tunnel->packets != 0 && tunnel->due_us < limit->next_due_us)
            limit->next_due_us = tunnel->due_us;
    }
}

/* The packet joins the aggregate of its tunnel. */
static void gather(struct limit *limit, const struct frame *frame, const struct class *class, uint32_t payload,
                   uint32_t pair)
{
    struct tunnel *tunnel = limit->tunnels + class->tunnel;
    const uint8_t *ip = frame->bytes + ETHERNET;
    const uint32_t record_bytes = RECORD + payload;
    uint64_t wait_us = class->wait_us;
    if (tunnel->waited_in_vain) {
        if (limit->now_us - tunnel->gathered_us > wait_us) {
            wait_us = 0;
            count(&tunnel->not_delayed, frame->length);
        } else {
            tunnel->waited_in_vain = 0;
        }
    }
    tunnel->gathered_us = limit->now_us;
    count(&tunnel->gathered, frame->length);
    if (tunnel->used + record_bytes > tunnel->records_bytes_max || tunnel->packets == UINT16_MAX)
        leave(limit, tunnel);
    tunnel->pairs[pair >> 6 & 3] |= 1ull << (pair & 63);
    limit->tunnel_of_pair[pair] = (uint16_t)class->tunnel;
    uint8_t *record = tunnel->buffer + TUNNEL_HEADERS + tunnel->used;
    const uint64_t kind = 4u | (ip[6] >> 6 & 1);
    /* Up to the source, then both addresses and the ports. */
    store64(record, kind << 60 | (uint64_t)(RECORD - 2 + payload) << 48 | (uint64_t)ip[1] << 40 |
                        (uint64_t)(ip[8] - limit->hops) << 32 | (uint64_t)load16(ip + 4) << 16);
    memcpy(record + 6, ip + 12, 12);
    memcpy(record + 18, ip + 26, 2);
    copy(record + RECORD, ip + IPV4 + UDP, payload);
    tunnel->used += record_bytes;
    tunnel->packets++;
    const uint64_t due_us = limit->now_us + wait_us;
    if (due_us < tunnel->due_us) {
        tunnel->due_us = due_us;
        if (due_us < limit->next_due_us)
            limit->next_due_us = due_us;
    }
    if (tunnel->used == tunnel->records_bytes_max || wait_us == 0)
        leave(limit, tunnel);
}

/* Whether an aggregate is neither late nor a stray; counts those that are missing before it. */
static int is_in_order(struct limit *limit, struct peer *peer, uint32_t epoch, uint32_t sequence)
{
    const int is_same = epoch == peer->epoch, is_before = epoch == peer->epoch_before;
    const uint32_t ahead = sequence - (is_same ? peer->next : peer->next_before);
    const int is_late = (is_same || is_before) && ahead >> 31;
    int is_believed = !is_late && !is_before && !(is_same && ahead >= AHEAD_MAX);
    if (!is_late && !is_believed) {
        const int continues = epoch == peer->stray_epoch && sequence - peer->stray_next < AHEAD_MAX;
        peer->strays = continues ? peer->strays + 1 : 1;
        is_believed = peer->strays == STRAYS_MAX;
        peer->stray_epoch = epoch;
        peer->stray_next = sequence + 1;
    }
    if (!is_believed) {
        drop(limit, is_same ? LATE : OLD_EPOCH);
        return 0;
    }
    peer->strays = 0;
    if (is_same || is_before)
        peer->lost += ahead;
    if (!is_same) {
        peer->epoch_before = peer->epoch;
        peer->next_before = peer->next;
        peer->epoch = epoch;
    }
    peer->next = sequence + 1;
    return 1;
}

/* Whether these bytes are this many records; prefetches the routes of those over IPv4. */
static int is_records(const struct limit *limit, const uint8_t *records, uint32_t bytes, uint32_t number)
{
    uint32_t at = 0;
    for (; number > 0; number--) {
        if (at + 2 > bytes)
            return 0;
        const uint32_t rest = load16(records + at) & 0xfff;
        if (rest == 0 || at + 2 + rest > bytes)
            return 0;
        if (rest >= RECORD - 2)
            __builtin_prefetch(limit->slots + (load32(records + at + 10) >> 8));
        at += 2 + rest;
    }
    return at == bytes;
}

/* An aggregate from another gateway is taken apart. */
static void take_apart(struct limit *limit, const struct frame *frame, struct peer *peer)
{
    const uint8_t *ip = frame->bytes + ETHERNET, *aggregate = ip + IPV4 + UDP, *record = aggregate + AGGREGATE;
    const uint32_t udp_bytes = load16(ip + 24), packets = load16(aggregate + 4), bytes = load16(aggregate + 6);
    if (load16(ip + 2) != IPV4 + udp_bytes)
        return drop(limit, LENGTHS_LIE);
    if (load16(ip + 26) != 0 && sum_of_udp(ip, udp_bytes) != 0xffff)
        return drop(limit, WRONG_CHECKSUM);
    if (aggregate[0] != 1)
        return drop(limit, UNKNOWN_VERSION);
    if (udp_bytes != UDP + AGGREGATE + bytes)
        return drop(limit, LENGTHS_LIE);
    if (packets == 0 || load32(aggregate + 8) == 0)
        return drop(limit, NOT_RECORDS);
    if (!is_in_order(limit, peer, load32(aggregate + 8), load32(aggregate + 12)))
        return;
    if (!is_records(limit, record, bytes, packets))
        return drop(limit, NOT_RECORDS);
    peer->aggregates_in++;
    for (uint32_t number = 0; number < packets; number++) {
        const uint32_t rest = load16(record) & 0xfff;
        if (record[0] >> 5 == 2 && rest >= RECORD - 2)
            restore(limit, record, rest + 2 - RECORD, limit->hops, frame->port, &limit->restored);
        else
            drop(limit, BAD_RECORD);
        record += 2 + rest;
    }
}

/* The packet must not overtake those of its hosts that are held. */
static void overtake_none(struct limit *limit, uint32_t number, uint32_t pair)
{
    struct tunnel *tunnel = limit->tunnels + number;
    if (tunnel->buffer != NULL && tunnel->pairs[pair >> 6 & 3] >> (pair & 63) & 1)
        leave(limit, tunnel);
}

static const struct class *class_of(const struct limit *limit, uint32_t destination, uint32_t port)
{
    for (uint32_t number = 0; number < limit->classes_count; number++) {
        const struct class *class = limit->classes + number;
        if ((destination & class->mask) == class->network && port >= class->port_first && port <= class->port_last)
            return class;
    }
    return NULL;
}

/* A packet is forwarded as it is, but for its hops. */
static void forward(struct limit *limit, const struct frame *frame, uint32_t total, uint32_t hops)
{
    const uint32_t length = ETHERNET + total, port = route(limit, frame->bytes + 30) - 1;
    if (port == UINT32_MAX)
        return drop(limit, NO_ROUTE);
    uint8_t *bytes = place_for(limit->out, length);
    if (bytes == NULL)
        return;
    copy(bytes, frame->bytes, length);
    change_header(bytes + ETHERNET, total, hops);
    rewrite(limit, bytes, port);
    send(limit->out, length, port);
}

static inline void gateway(struct limit *limit, const struct frame *frame)
{
    const uint8_t *bytes = frame->bytes, *ip = bytes + ETHERNET, *udp = ip + IPV4;
    if (frame->length < ETHERNET + IPV4 || load16(bytes + 12) != 0x800)
        return drop(limit, frame->length < ETHERNET || load16(bytes + 12) == 0x800 ? NOT_WHOLE : NOT_IP);
    const uint32_t header = 4u * (ip[0] & 15), total = load16(ip + 2), fragment = load16(ip + 6);
    if (ip[0] >> 4 != 4 || header < IPV4 || total < header || frame->length < ETHERNET + total)
        return drop(limit, NOT_WHOLE);
    if (header == IPV4 && sum_of_header(ip) != 0xffff)
        return drop(limit, WRONG_CHECKSUM);
    const int is_simple = header == IPV4 && (fragment & 0xbfff) == 0, is_udp = ip[9] == 17;
    const int has_ports = is_simple ? frame->length >= HEADERS : total >= header + UDP;
    const int shows_ports = is_udp && (fragment & 0x1fff) == 0 && has_ports;
    if (is_udp && is_simple && !has_ports)
        return drop(limit, NOT_WHOLE);
    udp += header - IPV4;
    const uint32_t port = shows_ports ? load16(udp + 2) : 0, udp_bytes = shows_ports ? load16(udp + 4) : 0;
    const int is_aggregate = is_simple && port == TUNNEL_PORT && udp_bytes >= UDP + AGGREGATE;
    if (is_aggregate) {
        const struct entry *peer = find(&limit->peer_numbers, load16(udp + 10), load64(ip + 12));
        if (peer != NULL)
            return take_apart(limit, frame, limit->peers + peer->value);
    }
    const uint32_t source = load32(ip + 12), destination = load32(ip + 16);
    if (ip[8] <= limit->hops)
        return drop(limit, TIME_OVER);
    const int of_link = is_of_link(source, destination);
    if (of_link && limit->hops != 0)
        return drop(limit, NOT_FOR_ROUTERS);
    const int may_join = shows_ports && port != TUNNEL_PORT && !of_link;
    const struct class *class = may_join ? class_of(limit, destination, port) : NULL;
    if (class != NULL) {
        const struct tunnel *tunnel = limit->tunnels + class->tunnel;
        const uint32_t payload = udp_bytes - UDP, pair = pair_of(limit, ip + 12);
        if (tunnel->buffer != NULL) {
            if (is_simple && total == IPV4 + udp_bytes && udp_bytes >= UDP && payload <= class->payload_bytes_max &&
                payload <= PAYLOAD_MAX && payload + RECORD_MAX <= tunnel->records_bytes_max)
                return gather(limit, frame, class, payload, pair);
            overtake_none(limit, class->tunnel, pair);
        }
    } else if (is_udp && !shows_ports) {
        const uint32_t pair = pair_of(limit, ip + 12);
        overtake_none(limit, limit->tunnel_of_pair[pair], pair);
    }
    if (is_aggregate && route(limit, ip + 16) == frame->port + 1)
        return drop(limit, UNKNOWN_PEER);
    if (of_link && route(limit, ip + 16) == frame->port + 1)
        return drop(limit, NOT_FOR_ROUTERS);
    forward(limit, frame, total, limit->hops);
}

static const struct entry *of_server(const struct table *table, const uint8_t *ip)
{
    return find(table, load16(ip + 22), load32(ip + 16));
}

/* The start of the checks of both other programs: the length of an IPv4 packet with a UDP header, or 0. */
static inline uint32_t udp_packet(struct limit *limit, const struct frame *frame)
{
    const uint8_t *bytes = frame->bytes, *ip = bytes + ETHERNET;
    if (frame->length < HEADERS || load16(bytes + 12) != 0x800 || ip[0] != 0x45) {
        drop(limit, NOT_WHOLE);
        return 0;
    }
    if (sum_of_header(ip) != 0xffff) {
        drop(limit, WRONG_CHECKSUM);
        return 0;
    }
    const uint32_t total = load16(ip + 2);
    if (ip[8] <= 1 || total < IPV4 || ETHERNET + total > frame->length) {
        drop(limit, ip[8] <= 1 ? TIME_OVER : NOT_WHOLE);
        return 0;
    }
    if (route(limit, ip + 16) == 0) {
        drop(limit, NO_ROUTE);
        return 0;
    }
    return total;
}

/* The messages of a collection leave with the headers of this frame, which is sent to its own destination. */
static void leave_collection(struct limit *limit, struct collection *collection, const uint8_t *from, uint32_t messages)
{
    const uint32_t port = route(limit, from + 30) - 1, length = FIXED_HEADERS + N * MESSAGE;
    uint8_t *bytes = place_for(limit->out, length), *ip = bytes + ETHERNET;
    collection->held = 0;
    collection->merged += messages;
    count(&collection->packets_out, MESSAGE_FRAME);
    if (bytes == NULL)
        return;
    memcpy(bytes, from, FIXED_HEADERS);
    memcpy(bytes + FIXED_HEADERS, collection->payloads, N * MESSAGE);
    bytes[HEADERS] = 0xfc;
    if (messages < N) {
        bytes[HEADERS] = 0xfd;
        bytes[HEADERS + 1] = (uint8_t)messages;
        memset(bytes + HEADERS + 2, 0, 4);
        memset(bytes + FIXED_HEADERS + messages * MESSAGE, 0, (N - messages) * MESSAGE);
    }
    change_header(ip, length - ETHERNET, 1);
    store16(ip + 24, length - ETHERNET - IPV4);
    if (load16(ip + 26) != 0)
        store_udp_checksum(ip, length - ETHERNET - IPV4);
    rewrite(limit, bytes, port);
    send(limit->out, length, port);
}

/* A message is held, or is the last that its collection needs. */
static inline void collect(struct limit *limit, const struct frame *frame, struct collection *collection)
{
    collection->messages_in++;
    memcpy(collection->payloads[collection->held], frame->bytes + FIXED_HEADERS, MESSAGE);
    if (++collection->held == N)
        return leave_collection(limit, collection, frame->bytes, N);
    if (collection->due_us == NEVER) {
        memcpy(collection->watch, frame->bytes, MESSAGE_FRAME);
        collection->due_us = limit->now_us + WAIT_US;
        if (collection->due_us < limit->next_due_us)
            limit->next_due_us = collection->due_us;
    }
}

static void leave_collections_due(struct limit *limit)
{
    if (limit->now_us < limit->next_due_us)
        return;
    limit->next_due_us = NEVER;
    for (struct collection *it = limit->collections; it < limit->collections + COLLECTIONS; it++) {
        if (it->due_us <= limit->now_us && it->due_us != NEVER) {
            it->due_us = NEVER;
            if (it->held != 0)
                leave_collection(limit, it, it->watch, it->held);
        }
        if (it->due_us < limit->next_due_us)
            limit->next_due_us = it->due_us;
    }
}

/* The messages of an N-packet leave. */
static void take_messages(struct limit *limit, const struct frame *frame, uint32_t port)
{
    uint8_t headers[FIXED_HEADERS], *ip = headers + ETHERNET;
    const uint32_t is_short = frame->bytes[HEADERS] == 0xfd, messages = is_short ? frame->bytes[HEADERS + 1] : N;
    if (messages == 0 || messages > N)
        return drop(limit, NOT_IP);
    memcpy(headers, frame->bytes, sizeof headers);
    headers[HEADERS] = 0xfa;
    if (is_short)
        memset(headers + HEADERS + 1, 0, FLAG - 1);
    change_header(ip, MESSAGE_FRAME - ETHERNET, 1);
    store16(ip + 24, MESSAGE_FRAME - ETHERNET - IPV4);
    rewrite(limit, headers, port);
    const uint32_t has_checksum = load16(ip + 26), udp_bytes = MESSAGE_FRAME - ETHERNET - IPV4;
    store16(ip + 26, 0);
    const uint32_t sum_of_headers = sum_of(ip + 12, 8 + UDP + FLAG) + 17 + udp_bytes;
    for (uint32_t number = 0; number < messages; number++) {
        uint8_t *bytes = place_for(limit->out, MESSAGE_FRAME);
        if (bytes == NULL)
            return;
        memcpy(bytes, headers, sizeof headers);
        const uint8_t *message = frame->bytes + FIXED_HEADERS + number * MESSAGE;
        memcpy(bytes + FIXED_HEADERS, message, MESSAGE);
        if (has_checksum)
            store_checksum(bytes + ETHERNET, sum_of_headers + sum_of(message, MESSAGE));
        send(limit->out, MESSAGE_FRAME, port);
    }
}

static inline void fixed(struct limit *limit, const struct frame *frame)
{
    const uint8_t *ip = frame->bytes + ETHERNET, type = frame->bytes[HEADERS];
    const uint32_t total = udp_packet(limit, frame);
    if (total == 0)
        return;
    const uint32_t udp_bytes = load16(ip + 24);
    const int is_udp = ip[9] == 17 && (load16(ip + 6) & 0x3fff) == 0, has_length = udp_bytes + IPV4 == total;
    const int is_message = is_udp && has_length && type == 0xfa && total == MESSAGE_FRAME - ETHERNET;
    const int seems_packet = type == 0xfc || type == 0xfd;
    const int is_packet = has_length && seems_packet && total == FIXED_HEADERS - ETHERNET + N * MESSAGE;
    const struct table *servers = is_message ? &limit->together : &limit->apart;
    const struct entry *entry = is_udp ? of_server(servers, ip) : NULL;
    if (entry != NULL && !is_message && !is_packet && (seems_packet || !has_length))
        return drop(limit, NOT_IP);
    if (entry == NULL || (!is_message && !is_packet))
        return forward(limit, frame, total, 1);
    if (load16(ip + 26) != 0 && sum_of_udp(ip, udp_bytes) != 0xffff)
        return drop(limit, UNKNOWN_VERSION);
    if (is_message)
        collect(limit, frame, limit->collections + entry->value);
    else
        take_messages(limit, frame, entry->value);
}

/* The oldest messages leave, the latest of them first, with the headers of this frame, which is sent to its own
 * destination. */
static void leave_store(struct limit *limit, const uint8_t *from)
{
    struct store *store = &limit->store;
    const uint32_t messages = store->ready_messages != 0 ? store->ready_messages : store->messages;
    const uint32_t bytes = store->ready_messages != 0 ? store->ready_bytes : store->bytes;
    const uint32_t port = route(limit, from + 30) - 1, length = VARIABLE_HEADERS + bytes, first = store->first;
    uint8_t *to = place_for(limit->out, length), *ip = to + ETHERNET, *message = to + VARIABLE_HEADERS;
    store->first += messages;
    store->messages -= messages;
    store->bytes -= bytes;
    store->ready_messages = 0;
    store->taken += messages;
    count(&store->aggregates_out, length);
    if (to == NULL)
        return;
    memcpy(to, from, HEADERS);
    to[HEADERS] = 2;
    store32(to + HEADERS + 1, messages << 16 | bytes);
    for (uint32_t number = messages; number-- > 0;) {
        const uint8_t *slot = store->slots[(first + number) % STORE_SLOTS];
        memcpy(message, slot, STORE_SLOT_BYTES);
        message += 1 + 4 * slot[0];
    }
    change_header(ip, length - ETHERNET, 1);
    store16(ip + 24, length - ETHERNET - IPV4);
    if (load16(ip + 26) != 0)
        store_udp_checksum(ip, length - ETHERNET - IPV4);
    rewrite(limit, to, port);
    send(limit->out, length, port);
}

/* A message is stored behind those that were stored before. */
static inline void store_message(struct limit *limit, const uint8_t *from, const uint8_t *message, uint32_t bytes)
{
    struct store *store = &limit->store;
    memcpy(store->slots[(store->first + store->messages) % STORE_SLOTS], message, STORE_SLOT_BYTES);
    store->messages++;
    store->bytes += bytes;
    store->stored++;
    if (store->ready_messages == 0 && store->bytes >= STORED_ENOUGH) {
        store->ready_messages = store->messages;
        store->ready_bytes = store->bytes;
    }
    if (store->bytes > STORED_MAX)
        leave_store(limit, from);
}

/* Small packets are padded to 64 bytes with their check sequence. */
static uint32_t padding_of(uint32_t words)
{
    return words < 5 ? 19 - 4 * words : 0;
}

/* The messages of an aggregate leave, up to one that is wrong. */
static void take_small(struct limit *limit, const struct frame *frame, uint32_t port)
{
    const uint8_t *message = frame->bytes + VARIABLE_HEADERS;
    uint32_t left = load16(frame->bytes + HEADERS + 1), bytes = load16(frame->bytes + HEADERS + 3);
    if (left == 0 || left > NUMBER_MAX || load16(frame->bytes + 38) != UDP + 5 + bytes)
        return drop(limit, LENGTHS_LIE);
    const uint32_t sum_of_ends = sum_of(frame->bytes + 26, 12) + 17; /* addresses and ports */
    for (; left > 0; left--) {
        const uint32_t words = message[0], of_this = 1 + 4 * words;
        if (words == 0 || words > WORDS_MAX)
            return drop(limit, UNKNOWN_VERSION);
        if (5 * left > bytes || 45 * left < bytes || of_this > bytes || (left == 1) != (of_this == bytes))
            return drop(limit, LENGTHS_LIE);
        const uint32_t padding = padding_of(words), udp_bytes = UDP + 2 + padding + of_this;
        const uint32_t length = ETHERNET + IPV4 + udp_bytes;
        uint8_t *to = place_for(limit->out, length), *ip = to + ETHERNET;
        if (to == NULL)
            return;
        memcpy(to, frame->bytes, HEADERS);
        store16(to + HEADERS, 1u << 8 | padding);
        memset(to + HEADERS + 2, 0, 16);
        copy(to + HEADERS + 2 + padding, message, of_this);
        change_header(ip, length - ETHERNET, 1);
        store16(ip + 24, udp_bytes);
        if (load16(frame->bytes + 40) != 0) {
            /* The message begins at an odd byte if there is padding. */
            const uint32_t sum = sum_of(message, of_this);
            const uint32_t turned = padding & 1 ? __builtin_bswap16((uint16_t)sum) : sum;
            store_checksum(ip, sum_of_ends + 2 * udp_bytes + (1u << 8 | padding) + turned);
        }
        rewrite(limit, to, port);
        send(limit->out, length, port);
        message += of_this;
        bytes -= of_this;
    }
}

static inline void variable(struct limit *limit, const struct frame *frame)
{
    const uint8_t *ip = frame->bytes + ETHERNET, *udp = ip + IPV4, type = udp[UDP];
    const uint32_t total = udp_packet(limit, frame);
    if (total == 0)
        return;
    const uint32_t udp_bytes = load16(udp + 4);
    const int is_udp = ip[9] == 17 && (load16(ip + 6) & 0x3fff) == 0;
    const int is_ours = is_udp && udp_bytes > UDP + 4 && udp_bytes + IPV4 == total;
    if (is_udp && type == 0x0c && udp_bytes == UDP + 1 && limit->is_timer[frame->port & (PORTS - 1)]) {
        if (limit->store.messages != 0)
            leave_store(limit, frame->bytes);
        return;
    }
    const int is_small = is_ours && type == 1, is_aggregate = is_ours && type == 2;
    const struct table *servers = is_small ? &limit->together : &limit->apart;
    const struct entry *entry = is_small || is_aggregate ? of_server(servers, ip) : NULL;
    if (entry == NULL)
        return forward(limit, frame, total, 1);
    const uint32_t padding = udp[UDP + 1];
    if (is_small) {
        /* The length is read where it is in the packet, if it is. */
        const uint32_t words = padding <= 15 && UDP + 3 + padding <= udp_bytes ? udp[UDP + 2 + padding] : 0;
        if (words == 0 || words > WORDS_MAX || udp_bytes != UDP + 3 + padding + 4 * words)
            return drop(limit, words == 0 || words > WORDS_MAX ? UNKNOWN_VERSION : LENGTHS_LIE);
    }
    if (load16(ip + 26) != 0 && sum_of_udp(ip, udp_bytes) != 0xffff)
        return drop(limit, LATE);
    if (is_small)
        store_message(limit, frame->bytes, udp + UDP + 2 + padding, 1 + 4u * udp[UDP + 2 + padding]);
    else
        take_small(limit, frame, entry->value);
}

#define RUN(job, due)                                                                                           \
    EXPORT void limit_##job(struct limit *limit, const struct frame *frames, uint64_t count, uint64_t now_us,   \
                            struct output *out)                                                                 \
    {                                                                                                           \
        limit->out = out;                                                                                       \
        limit->now_us = now_us;                                                                                 \
        due;                                                                                                    \
        for (uint64_t i = 0; i < count; i++) {                                                                  \
            if (i + AHEAD < count) {                                                                            \
                __builtin_prefetch(frames[i + AHEAD].bytes);                                                    \
                __builtin_prefetch(frames[i + AHEAD].bytes + 64);                                               \
            }                                                                                                   \
            job(limit, frames + i);                                                                             \
        }                                                                                                       \
    }

RUN(gateway, leave_due(limit))
RUN(fixed, leave_collections_due(limit))
RUN(variable, (void)0)
