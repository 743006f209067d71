/* The limit: hand-written VXLAN encapsulation and decapsulation that does nothing else, in place, with the usual
 * optimisations.
 *
 * For each packet: its destination address is looked up in a hash table with open addressing, at most half full. The
 * entry contains the complete outer headers except for the source address, the lengths and their contribution to the
 * checksum. Later memory accesses are prefetched one step ahead. There is no architecture, no metadata, no counters.
 */
#include "bytes.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define BURST 64u
#define OUTER 50u

/* A packet, with headroom for the outer headers before its bytes. */
struct frame {
    uint8_t *bytes;
    uint32_t length;
    uint32_t port; /* the port that it leaves; 0 if it is not sent */
};

struct entry {
    uint64_t address; /* 0 if empty */
    uint8_t outer[OUTER];
    uint8_t puts_on;
    uint32_t sum; /* of the outer IPv4 header without its length */
    uint32_t port;
};

struct tunnels {
    struct entry *entries;
    uint32_t shift;
    uint32_t mask;
};

static uint32_t slot_of(const struct tunnels *tunnels, uint64_t address)
{
    return (uint32_t)((address * 0x9e3779b97f4a7c15u) >> tunnels->shift);
}

EXPORT struct tunnels *limit_new(uint32_t addresses)
{
    struct tunnels *tunnels = malloc(sizeof *tunnels);
    uint32_t bits = 4;
    while ((1u << bits) < 2 * addresses)
        bits++;
    tunnels->entries = calloc((size_t)1 << bits, sizeof *tunnels->entries);
    tunnels->shift = 64 - bits;
    tunnels->mask = (1u << bits) - 1;
    return tunnels;
}

EXPORT void limit_free(struct tunnels *tunnels)
{
    free(tunnels->entries);
    free(tunnels);
}

/* Frames to this address get these outer headers or, without headers, lose theirs. Addresses must be distinct. */
EXPORT void limit_tunnel(struct tunnels *tunnels, uint64_t address, const uint8_t *outer, uint32_t port)
{
    uint32_t slot = slot_of(tunnels, address);
    while (tunnels->entries[slot].address != 0)
        slot = (slot + 1) & tunnels->mask;
    struct entry *entry = tunnels->entries + slot;
    entry->address = address;
    entry->port = port;
    entry->puts_on = outer != NULL;
    if (outer == NULL)
        return;
    memcpy(entry->outer, outer, OUTER);
    for (uint32_t at = 14; at < 34; at += 2)
        entry->sum += at == 16 || at == 24 ? 0 : load16(outer + at);
}

static void put_on(struct frame *frame, const struct entry *entry)
{
    uint8_t *outer = frame->bytes - OUTER;
    uint8_t source[6];
    memcpy(source, frame->bytes + 6, sizeof source);
    memcpy(outer, entry->outer, OUTER);
    memcpy(outer + 6, source, sizeof source);
    uint32_t sum = entry->sum + frame->length + 36;
    sum = (sum >> 16) + (sum & 0xffff);
    sum += sum >> 16;
    store16(outer + 16, frame->length + 36);
    store16(outer + 24, ~sum);
    store16(outer + 38, frame->length + 16);
    frame->bytes = outer;
    frame->length += OUTER;
}

/* Whether the frame is a VXLAN packet that contains a frame. */
static int is_vxlan(const struct frame *frame)
{
    const uint8_t *bytes = frame->bytes;
    return frame->length >= OUTER + 14 && load16(bytes + 12) == 0x800 && bytes[23] == 17 && load16(bytes + 36) == 4789;
}

/* Returns how many frames are to be sent. */
EXPORT uint64_t limit_run(const struct tunnels *tunnels, struct frame *frames, uint64_t count)
{
    uint64_t sent = 0;
    for (uint64_t start = 0; start < count; start += BURST) {
        const uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        struct frame *now = frames + start;
        uint64_t addresses[BURST];
        uint32_t slots[BURST];
        for (uint32_t i = 0; i < burst; i++) {
            if (start + i + BURST < count)
                __builtin_prefetch(now[i + BURST].bytes);
            uint64_t word;
            memcpy(&word, now[i].bytes, sizeof word);
            addresses[i] = __builtin_bswap64(word) >> 16;
            slots[i] = slot_of(tunnels, addresses[i]);
            __builtin_prefetch(now[i].bytes - OUTER, 1);
        }
        for (uint32_t i = 0; i < burst; i++) {
            const struct entry *entry = tunnels->entries + slots[i];
            for (uint32_t slot = slots[i]; entry->address != 0 && entry->address != addresses[i];) {
                slot = (slot + 1) & tunnels->mask;
                entry = tunnels->entries + slot;
            }
            now[i].port = 0;
            if (entry->address == 0)
                continue;
            if (entry->puts_on) {
                put_on(now + i, entry);
            } else if (is_vxlan(now + i)) {
                now[i].bytes += OUTER;
                now[i].length -= OUTER;
            } else {
                continue;
            }
            now[i].port = entry->port;
            sent++;
        }
    }
    return sent;
}
