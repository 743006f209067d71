/* The limit: a hand-written bridge that does nothing else, in place, with the usual optimisations.
 *
 * For each packet of a burst: its destination address is looked up in a hash table with open addressing, at most half
 * full, with an address and its port in one word. Later memory accesses are prefetched one
 * step ahead. There is no architecture, no metadata, no counters. Like the switch it is given a list of frames, checks
 * the length of each, sets the port on which it leaves, and counts what is sent.
 */
#include "large.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define BURST 64u
#define AHEAD 8u
#define ETHERNET 14u

/* A packet. */
struct frame {
    uint8_t *bytes;
    uint32_t length;
    uint32_t port; /* the port that it leaves; 0 if it is not sent */
};

struct bridge {
    uint64_t *slots;  /* the address in the upper 48 bits, the port below; 0 if empty */
    uint32_t shift;
    uint32_t mask;
};

static uint32_t slot_of(const struct bridge *bridge, uint64_t address)
{
    return (uint32_t)((address * 0x9e3779b97f4a7c15u) >> bridge->shift);
}

EXPORT struct bridge *limit_new(uint32_t addresses)
{
    struct bridge *bridge = malloc(sizeof *bridge);
    uint32_t bits = 4;
    while ((1u << bits) < 2 * addresses)
        bits++;
    bridge->slots = large(sizeof *bridge->slots << bits);
    bridge->shift = 64 - bits;
    bridge->mask = (1u << bits) - 1;
    return bridge;
}

EXPORT void limit_free(struct bridge *bridge)
{
    free(bridge->slots);
    free(bridge);
}

/* Addresses must be distinct and not 0; ports begin with 1. */
EXPORT void limit_address(struct bridge *bridge, uint64_t address, uint32_t port)
{
    uint32_t slot = slot_of(bridge, address);
    while (bridge->slots[slot] != 0)
        slot = (slot + 1) & bridge->mask;
    bridge->slots[slot] = address << 16 | port;
}

/* Sets the ports of `count` frames; returns how many are to be sent. */
EXPORT uint64_t limit_run(const struct bridge *bridge, struct frame *frames, uint64_t count)
{
    uint64_t sent = 0;
    for (uint64_t start = 0; start < count; start += BURST) {
        uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        struct frame *now = frames + start;
        uint64_t addresses[BURST];
        uint32_t slots[BURST];
        for (uint32_t i = 0; i < burst; i++) {
            if (start + i + AHEAD < count)
                __builtin_prefetch(now[i + AHEAD].bytes);
            uint64_t word = 0;
            if (now[i].length >= ETHERNET)
                memcpy(&word, now[i].bytes, sizeof word);
            addresses[i] = __builtin_bswap64(word) >> 16;
            slots[i] = slot_of(bridge, addresses[i]);
            __builtin_prefetch(bridge->slots + slots[i]);
        }
        for (uint32_t i = 0; i < burst; i++) {
            uint64_t found = bridge->slots[slots[i]];
            for (uint32_t slot = slots[i]; found != 0 && found >> 16 != addresses[i];) {
                slot = (slot + 1) & bridge->mask;
                found = bridge->slots[slot];
            }
            now[i].port = (uint32_t)(found & 0xffff);
            sent += now[i].port != 0;
        }
    }
    return sent;
}
