/* The limit: the jobs of the use cases in apps by hand, in place, with the usual optimisations: forwarding by address,
 * routing of IPv4 and IPv6, a data centre gateway with VXLAN, a broadband gateway with GRE and address translation.
 *
 * Each function does for its packets what the program does for the same ones, including the checks of headers, lengths,
 * addresses and checksums, the hashes of flows that choose members of groups, meters, counters and the times of bindings;
 * other packets are dropped. Tables are hash tables with open addressing, at most half full, and a table with a slot for
 * each /24 for routes of IPv4. Each tenant has such tables of its own. CRCs take up to sixteen bytes at a time, each by a table of its own. The next packets are
 * prefetched. There is no architecture and no metadata, and there are no messages to a controller.
 */
#include "bytes.h"
#include "large.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define AHEAD 8u
#define TABLES 8u
#define ARGS 6u
#define CRC_BYTES 16u /* that are looked up at once */
#define CLOCK_FRAMES 256u /* that have the same time */
#define TENANT_TABLES 64u
#define LONGER (1u << 31) /* in a slot: the rest numbers slots for addresses of the /24 */

/* A packet, with headroom before its bytes. */
struct frame {
    uint8_t *bytes;
    uint32_t length;
    uint32_t port; /* the port that it arrives at, then the one that it leaves; 0 if it is not sent */
};

struct entry {
    uint64_t key[2];
    uint64_t args[ARGS];
    uint32_t is_used;
    uint32_t number; /* of its state */
};

/* What packets change: of a subscriber, a service, a server or a binding. Of pairs, the first is committed, the second is
 * peak. Without rates, a meter marks nothing. */
struct state {
    uint64_t packets, bytes;
    uint64_t time_ns; /* when a packet last used it */
    uint64_t tokens[2], rates[2]; /* nanobytes, bytes in a second */
    uint32_t bursts[2];
};

_Static_assert(sizeof(struct state) == 64, "a line of the cache");

struct table {
    struct entry *entries;
    uint32_t mask;
    uint32_t count;
    uint32_t *slots; /* by the upper 24 bits of an address: a value plus 1 */
    uint32_t lengths; /* of prefixes of IPv6, a bit for each */
};

/* The prefixes of a tenant, of any length. */
struct prefixes {
    uint32_t *slots; /* by the upper 24 bits of an address: a value plus 1, or LONGER */
    uint32_t *longer; /* 256 for each /24 with longer prefixes: a value plus 1 */
    uint32_t blocks;
};

struct limit {
    struct table tables[TABLES];
    struct prefixes prefixes[TENANT_TABLES]; /* by the first argument of a tenant's entry */
    uint32_t prefixes_count;
    uint32_t crc32[CRC_BYTES][256]; /* [k][byte]: the effect of a byte that k more bytes follow */
    uint16_t crc16[CRC_BYTES][256];
};

EXPORT struct limit *limit_new(uint32_t entries)
{
    struct limit *limit = calloc(1, sizeof *limit);
    uint32_t bits = 6;
    while ((1u << bits) < 2 * entries)
        bits++;
    for (uint32_t table = 0; table < TABLES; table++) {
        limit->tables[table].entries = large(sizeof(struct entry) << bits);
        limit->tables[table].mask = (1u << bits) - 1;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte, half = byte;
        for (int bit = 0; bit < 8; bit++) {
            value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
            half = half >> 1 ^ (half & 1 ? 0xa001u : 0);
        }
        limit->crc32[0][byte] = value;
        limit->crc16[0][byte] = (uint16_t)half;
    }
    for (uint32_t k = 1; k < CRC_BYTES; k++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t value = limit->crc32[k - 1][byte], half = limit->crc16[k - 1][byte];
            limit->crc32[k][byte] = value >> 8 ^ limit->crc32[0][value & 0xff];
            limit->crc16[k][byte] = (uint16_t)(half >> 8 ^ limit->crc16[0][half & 0xff]);
        }
    return limit;
}

EXPORT void limit_free(struct limit *limit)
{
    for (uint32_t table = 0; table < TABLES; table++) {
        free(limit->tables[table].entries);
        free(limit->tables[table].slots);
    }
    for (uint32_t tenant = 0; tenant < limit->prefixes_count; tenant++) {
        free(limit->prefixes[tenant].slots);
        free(limit->prefixes[tenant].longer);
    }
    free(limit);
}

static uint32_t slot_of(const struct table *table, uint64_t high, uint64_t low)
{
    uint64_t hash = (low ^ high * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    return (uint32_t)(hash >> 32) & table->mask;
}

static const struct entry *find(const struct table *table, uint64_t high, uint64_t low)
{
    for (uint32_t slot = slot_of(table, high, low);; slot = (slot + 1) & table->mask) {
        const struct entry *entry = table->entries + slot;
        if (!entry->is_used)
            return NULL;
        if (entry->key[1] == low && entry->key[0] == high)
            return entry;
    }
}

/* Adds an entry; the table is not full. */
EXPORT void limit_add(struct limit *limit, uint32_t number, const uint64_t *key, const uint64_t *args, uint32_t count)
{
    struct table *table = limit->tables + number;
    uint32_t slot = slot_of(table, key[0], key[1]);
    while (table->entries[slot].is_used)
        slot = (slot + 1) & table->mask;
    struct entry *entry = table->entries + slot;
    memcpy(entry->key, key, sizeof entry->key);
    memcpy(entry->args, args, count * sizeof *args);
    entry->is_used = 1;
    entry->number = table->count++;
}

/* Adds a route of IPv4 of at most 24 bits. They must come from the shortest to the longest. */
EXPORT void limit_route4(struct limit *limit, uint32_t number, uint32_t network, uint32_t prefix_len, uint32_t value)
{
    struct table *table = limit->tables + number;
    if (table->slots == NULL)
        table->slots = large(sizeof *table->slots << 24);
    uint32_t first = network >> 8, count = 1u << (24 - prefix_len);
    for (uint32_t slot = first; slot < first + count; slot++)
        table->slots[slot] = value + 1;
}

/* Adds a prefix of IPv4 of a tenant, whose entry is in the table of this number. They must come from the shortest to
 * the longest. */
EXPORT void limit_tenant_route4(struct limit *limit, uint32_t number, uint32_t tenant, uint32_t network, uint32_t prefix_len,
                                uint32_t value)
{
    struct table *table = limit->tables + number;
    const struct entry *entry = find(table, 0, tenant);
    if (entry == NULL) {
        const uint64_t key[2] = {0, tenant}, index = limit->prefixes_count;
        if (index == TENANT_TABLES)
            abort();
        limit->prefixes[limit->prefixes_count++].slots = large(sizeof(uint32_t) << 24);
        limit_add(limit, number, key, &index, 1);
        entry = find(table, 0, tenant);
    }
    struct prefixes *prefixes = limit->prefixes + entry->args[0];
    uint32_t *slot = prefixes->slots + (network >> 8);
    if (prefix_len <= 24) {
        for (uint32_t count = 1u << (24 - prefix_len); count > 0; count--)
            *slot++ = value + 1;
        return;
    }
    if (!(*slot & LONGER)) {
        prefixes->longer = realloc(prefixes->longer, (prefixes->blocks + 1) * 256 * sizeof *prefixes->longer);
        for (uint32_t i = 0; i < 256; i++)
            prefixes->longer[256 * prefixes->blocks + i] = *slot;
        *slot = LONGER | prefixes->blocks++;
    }
    uint32_t *longer = prefixes->longer + 256 * (*slot & ~LONGER) + (network & 0xff);
    for (uint32_t count = 1u << (32 - prefix_len); count > 0; count--)
        *longer++ = value + 1;
}

/* Adds a route of IPv6 of at most 64 bits: an entry whose key is the prefix with its length below it. */
EXPORT void limit_route6(struct limit *limit, uint32_t number, uint64_t prefix, uint32_t prefix_len, uint64_t value)
{
    const uint64_t key[2] = {prefix_len, prefix};
    limit->tables[number].lengths |= 1u << (prefix_len / 4);
    limit_add(limit, number, key, &value, 1);
}

static uint64_t load48(const uint8_t *p)
{
    return (uint64_t)load32(p) << 16 | load16(p + 4);
}

static void store48(uint8_t *p, uint64_t value)
{
    store32(p, (uint32_t)(value >> 16));
    store16(p + 4, (uint32_t)value);
}

static uint32_t folded(uint32_t sum)
{
    sum = (sum >> 16) + (sum & 0xffff);
    return (sum >> 16) + (sum & 0xffff);
}

/* A checksum after changes: a sum of complements of old words and of new words (RFC 1624). */
static uint32_t updated(uint32_t checksum, uint32_t changes)
{
    return ~folded((~checksum & 0xffff) + changes) & 0xffff;
}

static uint32_t replaced(uint32_t before, uint32_t after)
{
    return (~before & 0xffff) + after;
}

static uint32_t replaced32(uint32_t before, uint32_t after)
{
    return replaced(before >> 16, after >> 16) + replaced(before & 0xffff, after & 0xffff);
}

static uint32_t sum_of_header(const uint8_t *ip)
{
    uint64_t sum = 0;
    for (int word = 0; word < 5; word++)
        sum += load32(ip + 4 * word);
    sum = (sum >> 32) + (uint32_t)sum;
    return folded((uint32_t)(sum >> 16) + (uint32_t)(sum & 0xffff));
}

static void lower_ttl(uint8_t *ip)
{
    ip[8]--;
    store16(ip + 10, updated(load16(ip + 10), 0xfeff));
}

static int is_martian(uint32_t address, uint32_t least_group)
{
    uint32_t first = address >> 24;
    return first == 0 || first == 127 || first >= least_group;
}

/* An IPv4 header without options that fits into the frame: no fragment, a TTL above 1, a right checksum. */
static int is_good4(const uint8_t *ip, uint32_t available)
{
    return available >= 28 && ip[0] == 0x45 && (load16(ip + 6) & 0x3fff) == 0 && ip[8] > 1 &&
           load16(ip + 2) <= available && load16(ip + 2) >= 20 && sum_of_header(ip) == 0xffff &&
           !is_martian(load32(ip + 12), 224) && !is_martian(load32(ip + 16), 224);
}

static uint32_t route4(const struct table *table, uint32_t address)
{
    return table->slots[address >> 8];
}

/* The value plus 1 of a tenant's longest prefix of an address, or 0. */
static uint32_t tenant_route4(const struct limit *limit, const struct table *table, uint64_t tenant, uint32_t address)
{
    const struct entry *entry = find(table, 0, tenant);
    if (entry == NULL)
        return 0;
    const struct prefixes *prefixes = limit->prefixes + entry->args[0];
    uint32_t slot = prefixes->slots[address >> 8];
    return slot & LONGER ? prefixes->longer[256 * (slot & ~LONGER) + (address & 0xff)] : slot;
}

static void count(struct state *states, const struct entry *entry, uint32_t bytes)
{
    states[entry->number].packets++;
    states[entry->number].bytes += bytes;
}

/* Whether a packet exceeds the peak rate of its sender or receiver (RFC 2698). */
static int is_red(struct state *state, uint32_t bytes, uint64_t now_ns)
{
    if (state->rates[1] == 0)
        return 0;
    const uint64_t elapsed = now_ns - state->time_ns, needed = (uint64_t)bytes * 1000000000u;
    for (int bucket = 0; bucket < 2; bucket++) {
        const uint64_t most = (uint64_t)state->bursts[bucket] * 1000000000u;
        const uint64_t filled = state->tokens[bucket] + elapsed * state->rates[bucket];
        state->tokens[bucket] = filled < most ? filled : most;
    }
    state->time_ns = now_ns;
    if (state->tokens[1] < needed)
        return 1;
    state->tokens[1] -= needed;
    state->tokens[0] -= state->tokens[0] < needed ? 0 : needed;
    return 0;
}

/* The CRC-16 of bytes, and the CRC-32 of at most sixteen, at least four. Their number is a constant. */
static inline __attribute__((always_inline)) uint32_t crc16(const struct limit *limit, const uint8_t *bytes, uint32_t count)
{
    uint32_t crc = 0;
    while (count > 0) {
        const uint32_t now = count % CRC_BYTES == 0 ? CRC_BYTES : count % CRC_BYTES;
        uint32_t next = 0;
        for (uint32_t i = 0; i < now; i++)
            next ^= limit->crc16[now - 1 - i][i < 2 ? bytes[i] ^ (crc >> 8 * i & 0xff) : bytes[i]];
        crc = next;
        bytes += now;
        count -= now;
    }
    return crc;
}

static inline __attribute__((always_inline)) uint32_t crc32(const struct limit *limit, const uint8_t *bytes, uint32_t count)
{
    uint32_t crc = 0;
    for (uint32_t i = 0; i < count; i++)
        crc ^= limit->crc32[count - 1 - i][i < 4 ? bytes[i] ^ 0xff : bytes[i]];
    return ~crc;
}

/* The member of a group for a flow. The group has their number before them. */
static uint64_t member(const struct entry *group, uint32_t hash)
{
    return group->args[1 + hash % (uint32_t)group->args[0]];
}

/* Writes the Ethernet addresses of a hop, and returns its port. */
static uint32_t hop_of(const struct table *hops, uint64_t hop, uint8_t *ethernet)
{
    const struct entry *entry = find(hops, 0, hop);
    if (entry == NULL)
        return 0;
    store48(ethernet + 6, entry->args[1]);
    store48(ethernet, entry->args[2]);
    return (uint32_t)entry->args[0];
}

/* Tables: 0 stations. */
static uint32_t l2fwd(const struct limit *limit, struct frame *frame, struct state *states, uint64_t now_ns)
{
    const uint8_t *bytes = frame->bytes;
    (void)states, (void)now_ns;
    if (frame->length < 14 || bytes[6] & 1 || (load48(bytes) & 0xfffffffffff0u) == 0x0180c2000000u)
        return 0;
    const struct entry *station = find(limit->tables, 0, load48(bytes));
    return station != NULL && station->args[0] != frame->port ? (uint32_t)station->args[0] : 0;
}

/* Tables: 0 interfaces, 1 routes to groups, 2 groups, 3 hops. */
static uint32_t l3fwd(const struct limit *limit, struct frame *frame, struct state *states, uint64_t now_ns)
{
    const struct table *tables = limit->tables;
    uint8_t *bytes = frame->bytes, *ip = bytes + 14;
    (void)states, (void)now_ns;
    const struct entry *interface = find(tables, 0, frame->port);
    if (interface == NULL || frame->length < 42 || load48(bytes) != interface->args[0])
        return 0;
    if (load16(bytes + 12) != 0x800 || !is_good4(ip, frame->length - 14))
        return 0;
    uint32_t number = route4(tables + 1, load32(ip + 16));
    const struct entry *group = number == 0 ? NULL : find(tables + 2, 0, number - 1);
    if (group == NULL)
        return 0;
    uint8_t flow[13];
    memcpy(flow, ip + 12, 8);
    flow[8] = ip[9];
    memset(flow + 9, 0, 4);
    if ((ip[9] == 6 || ip[9] == 17) && frame->length >= 38)
        memcpy(flow + 9, ip + 20, 4);
    uint32_t port = hop_of(tables + 3, member(group, crc16(limit, flow, sizeof flow)), bytes);
    if (port != 0)
        lower_ttl(ip);
    return port;
}

static uint32_t l3fwd6(const struct limit *limit, struct frame *frame, struct state *states, uint64_t now_ns)
{
    const struct table *tables = limit->tables;
    uint8_t *bytes = frame->bytes, *ip = bytes + 14;
    (void)states, (void)now_ns;
    const struct entry *interface = find(tables, 0, frame->port);
    if (interface == NULL || frame->length < 54 || load48(bytes) != interface->args[0])
        return 0;
    if (load16(bytes + 12) != 0x86dd || ip[0] >> 4 != 6 || load16(ip + 4) + 54 > frame->length || ip[7] <= 1 ||
        ip[8] == 0xff || ip[24] == 0xff || load16(ip + 24) >> 6 == 0x3fa)
        return 0;
    uint64_t address = load64(ip + 24);
    const struct entry *route = NULL;
    for (uint32_t lengths = tables[1].lengths; lengths != 0 && route == NULL;) {
        uint32_t length = 31 - (uint32_t)__builtin_clz(lengths);
        lengths &= ~(1u << length);
        route = find(tables + 1, 4 * length, address & ~(uint64_t)0 << (64 - 4 * length));
    }
    const struct entry *group = route == NULL ? NULL : find(tables + 2, 0, route->args[0]);
    if (group == NULL)
        return 0;
    uint8_t flow[40];
    memcpy(flow, ip + 8, 32);
    flow[32] = ip[6];
    uint32_t ports = (ip[6] == 6 || ip[6] == 17) && frame->length >= 58 ? load32(ip + 40) : 0;
    /* The label has twenty bits. */
    store32(flow + 33, load32(ip) << 12 | ports >> 20);
    store32(flow + 36, (load32(ip) << 12 | ports >> 20) << 24 | (ports & 0xfffff) << 4);
    uint32_t port = hop_of(tables + 3, member(group, crc16(limit, flow, sizeof flow)), bytes);
    if (port != 0)
        ip[7]--;
    return port;
}

/* Tables: 0 interfaces, 1 services, 2 groups, 3 servers, 4 end points. */
static uint32_t dcg_in(const struct limit *limit, struct frame *frame, struct state *states, uint64_t now_ns)
{
    const struct table *tables = limit->tables;
    uint8_t *bytes = frame->bytes, *ip = bytes + 14, *udp = ip + 20;
    (void)now_ns;
    const struct entry *interface = find(tables, 0, frame->port);
    if (interface == NULL || frame->length < 42 || load48(bytes) != interface->args[0] || bytes[6] & 1)
        return 0;
    if (load16(bytes + 12) != 0x800 || !is_good4(ip, frame->length - 14) || ip[9] != 17 || load16(udp + 2) == 4789)
        return 0;
    const struct entry *service = find(tables + 1, load32(ip + 16), (uint64_t)ip[9] << 16 | load16(udp + 2));
    const struct entry *group = service == NULL ? NULL : find(tables + 2, 0, service->args[0]);
    if (group == NULL)
        return 0;
    uint8_t key[13];
    memcpy(key, ip + 12, 8);
    key[8] = ip[9];
    memcpy(key + 9, udp, 4);
    uint32_t flow = crc32(limit, key, sizeof key);
    flow ^= flow >> 16;
    const struct entry *server = find(tables + 3, 0, member(group, flow));
    const struct entry *end = server == NULL ? NULL : find(tables + 4, 0, server->args[0]);
    if (end == NULL || frame->length + 36 > end->args[5])
        return 0;
    count(states, service, frame->length);
    count(states + tables[1].count, server, frame->length);
    lower_ttl(ip);
    store48(bytes, server->args[3]);
    store48(bytes + 6, server->args[2]);
    uint8_t *outer = bytes - 50;
    store48(outer, end->args[2]);
    store48(outer + 6, end->args[1]);
    store16(outer + 12, 0x800);
    uint8_t *around = outer + 14;
    store32(around, 0x45000000u | (uint32_t)ip[1] << 16 | (frame->length + 36));
    store32(around + 4, 0x4000);
    store32(around + 8, 64u << 24 | 17u << 16);
    store32(around + 12, (uint32_t)end->args[3]);
    store32(around + 16, (uint32_t)end->args[4]);
    store16(around + 10, ~sum_of_header(around));
    store32(around + 20, (0xc000u | flow >> 18) << 16 | 4789);
    store32(around + 24, (frame->length + 16) << 16);
    store32(around + 28, 0x08000000);
    store32(around + 32, (uint32_t)server->args[1] << 8);
    frame->bytes = outer;
    frame->length += 50;
    return (uint32_t)end->args[0];
}

/* Tables: 0 interfaces, 1 own end points, 2 known ones, 3 segments, 4 sources and 5 routes of tenants, 6 hops. */
static uint32_t dcg_out(const struct limit *limit, struct frame *frame, struct state *states, uint64_t now_ns)
{
    const struct table *tables = limit->tables;
    uint8_t *bytes = frame->bytes, *around = bytes + 14, *inner = bytes + 50, *ip = inner + 14;
    (void)now_ns;
    const struct entry *interface = find(tables, 0, frame->port);
    if (interface == NULL || frame->length < 92 || load48(bytes) != interface->args[0])
        return 0;
    if (load16(bytes + 12) != 0x800 || !is_good4(around, frame->length - 14) || around[9] != 17 ||
        load16(around + 22) != 4789 || load16(around + 2) < 36 || load16(around + 24) + 20 != load16(around + 2) ||
        !(around[28] & 8))
        return 0;
    uint32_t source = load32(around + 12);
    if (find(tables + 1, 0, load32(around + 16)) == NULL || find(tables + 2, 0, source) == NULL)
        return 0;
    const struct entry *segment = find(tables + 3, source, load32(around + 32) >> 8);
    if (segment == NULL || load48(inner) != segment->args[1] || inner[6] & 1)
        return 0;
    if (load16(inner + 12) != 0x800 || !is_good4(ip, frame->length - 64) || ip[9] == 4 || ip[9] == 41 || ip[9] == 47 ||
        (around[1] & 3) == 3 || (ip[9] == 17 && load16(ip + 22) == 4789))
        return 0;
    count(states, segment, frame->length);
    if (tenant_route4(limit, tables + 4, segment->args[0], load32(ip + 12)) == 0)
        return 0;
    uint32_t route = tenant_route4(limit, tables + 5, segment->args[0], load32(ip + 16));
    const struct entry *hop = route == 0 ? NULL : find(tables + 6, 0, route - 1);
    uint32_t port = hop == NULL || frame->length > hop->args[3] + 64 ? 0 : (uint32_t)hop->args[0];
    if (port != 0) {
        store48(inner + 6, hop->args[1]);
        store48(inner, hop->args[2]);
        lower_ttl(ip);
        frame->bytes = inner;
        frame->length -= 50;
    }
    return port;
}

/* Writes new values to an IPv4 header and the UDP header behind it. */
static void translate(uint8_t *ip, uint32_t at, uint32_t address, uint32_t port_at, uint32_t port)
{
    uint8_t *udp = ip + 20;
    uint32_t addresses = replaced32(load32(ip + at), address), ports = replaced(load16(udp + port_at), port);
    uint32_t checksum = load16(udp + 6);
    store16(ip + 10, updated(load16(ip + 10), addresses + 0xfeff));
    ip[8]--;
    store32(ip + at, address);
    store16(udp + port_at, port);
    if (checksum != 0) {
        checksum = updated(checksum, addresses + ports);
        store16(udp + 6, checksum == 0 ? 0xffff : checksum);
    }
}

/* Tables: 0 interfaces, 1 tunnels, 2 bindings, 3 routes, 4 hops, 6 public addresses. */
static uint32_t bng_up(const struct limit *limit, struct frame *frame, struct state *states, uint64_t now_ns)
{
    const struct table *tables = limit->tables;
    uint8_t *bytes = frame->bytes, *around = bytes + 14, *ip = bytes + 42, *udp = ip + 20;
    const struct entry *interface = find(tables, 0, frame->port);
    if (interface == NULL || frame->length < 70 || load48(bytes) != interface->args[0] || bytes[6] & 1)
        return 0;
    if (load16(bytes + 12) != 0x800 || around[0] != 0x45 || around[9] != 47 || (load16(around + 6) & 0x3fff) != 0 ||
        sum_of_header(around) != 0xffff || load32(around + 20) != 0x20000800u)
        return 0;
    uint32_t outer_length = load16(around + 2);
    if (outer_length + 14 > frame->length || !is_good4(ip, outer_length - 28) || ip[9] != 17 || load16(udp + 4) < 8 ||
        load16(udp + 4) > load16(ip + 2) - 20)
        return 0;
    const struct entry *tunnel = find(tables + 1, load64(around + 12), load32(around + 24));
    uint32_t source = load32(ip + 12);
    if (tunnel == NULL || (source & tunnel->args[2]) != tunnel->args[1] ||
        ((around[1] & 3) == 3 && (ip[1] & 3) == 0))
        return 0;
    uint32_t destination = load32(ip + 16);
    if (tables[6].slots != NULL && route4(tables + 6, destination) != 0)
        return 0;
    uint64_t subscriber = tunnel->args[0];
    struct state *state = states + tunnel->number;
    const struct entry *binding = find(tables + 2, subscriber << 32 | source, (uint64_t)ip[9] << 16 | load16(udp));
    if (binding == NULL)
        return 0;
    states[tables[1].count + binding->number].time_ns = now_ns;
    if (is_red(state, frame->length, now_ns))
        return 0;
    uint32_t hop = route4(tables + 3, destination);
    uint32_t port = hop == 0 ? 0 : hop_of(tables + 4, hop - 1, bytes + 28);
    if (port == 0)
        return 0;
    store16(bytes + 40, 0x800);
    count(states, tunnel, frame->length);
    translate(ip, 12, (uint32_t)binding->args[0], 0, (uint32_t)binding->args[1]);
    frame->bytes += 28;
    frame->length -= 28;
    return port;
}

/* Tables: 0 interfaces, 1 public addresses, 2 bindings, 3 subscribers, 4 routes to them, 5 hops. */
static uint32_t bng_down(const struct limit *limit, struct frame *frame, struct state *states, uint64_t now_ns)
{
    const struct table *tables = limit->tables;
    uint8_t *bytes = frame->bytes, *ip = bytes + 14, *udp = ip + 20;
    const struct entry *interface = find(tables, 0, frame->port);
    if (interface == NULL || frame->length < 42 || load48(bytes) != interface->args[0] || bytes[6] & 1)
        return 0;
    if (load16(bytes + 12) != 0x800 || !is_good4(ip, frame->length - 14) || ip[9] != 17 || load16(udp + 4) < 8 ||
        load16(udp + 4) > load16(ip + 2) - 20)
        return 0;
    uint32_t destination = load32(ip + 16), length = load16(ip + 2);
    if (route4(tables + 1, destination) == 0)
        return 0;
    const struct entry *binding = find(tables + 2, destination, (uint64_t)ip[9] << 16 | load16(udp + 2));
    if (binding == NULL)
        return 0;
    states[tables[3].count + binding->number].time_ns = now_ns;
    const struct entry *tunnel = find(tables + 3, 0, binding->args[0]);
    if (tunnel == NULL || length > tunnel->args[2] || is_red(states + tunnel->number, frame->length, now_ns))
        return 0;
    uint32_t hop = route4(tables + 4, (uint32_t)tunnel->args[1]);
    uint8_t *outer = bytes - 28, *around = outer + 14;
    uint32_t port = hop == 0 ? 0 : hop_of(tables + 5, hop - 1, outer);
    if (port == 0)
        return 0;
    count(states, tunnel, frame->length);
    translate(ip, 16, (uint32_t)binding->args[1], 2, (uint32_t)binding->args[2]);
    store16(outer + 12, 0x800);
    store32(around, 0x45000000u | (uint32_t)ip[1] << 16 | (length + 28));
    store32(around + 4, 0x4000);
    store32(around + 8, 64u << 24 | 47u << 16);
    store32(around + 12, (uint32_t)tunnel->args[0]);
    store32(around + 16, (uint32_t)tunnel->args[1]);
    store16(around + 10, ~sum_of_header(around));
    store32(around + 20, 0x20000800u);
    store32(around + 24, (uint32_t)tunnel->args[3]);
    frame->bytes = outer;
    frame->length += 28;
    return port;
}

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define RUN(job)                                                                                            \
    EXPORT uint64_t limit_##job(const struct limit *limit, struct state *states, struct frame *frames, uint64_t count) \
    {                                                                                                       \
        uint64_t sent = 0, now_ns = 0;                                                                      \
        for (uint64_t i = 0; i < count; i++) {                                                              \
            if (i % CLOCK_FRAMES == 0)                                                                      \
                now_ns = clock_ns();                                                                        \
            if (i + AHEAD < count)                                                                          \
                __builtin_prefetch(frames[i + AHEAD].bytes, 1);                                             \
            frames[i].port = job(limit, frames + i, states, now_ns);                                        \
            sent += frames[i].port != 0;                                                                    \
        }                                                                                                   \
        return sent;                                                                                        \
    }

RUN(l2fwd)
RUN(l3fwd)
RUN(l3fwd6)
RUN(dcg_in)
RUN(dcg_out)
RUN(bng_up)
RUN(bng_down)
