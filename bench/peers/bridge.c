/* The limit: a bridge written by hand for nothing else, in place, with the tricks of the trade.
 *
 * For each packet of a burst: its destination address is looked up in a hash table with open addressing, at most half
 * full, an address and its port in one word. What the next step will touch is
 * fetched a step ahead. No architecture, no metadata, no counters. It knows where frames lie and that they are long
 * enough, where the switch is given a list of frames and tests each length; like the switch it leaves the port of each
 * frame in a list, and counts what is sent.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define BURST 64u
#define AHEAD 8u

struct bridge {
    uint64_t *slots;  /* the address in the upper 48 bits, below it the port; 0 for none */
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
    bridge->slots = calloc((size_t)1 << bits, sizeof *bridge->slots);
    bridge->shift = 64 - bits;
    bridge->mask = (1u << bits) - 1;
    return bridge;
}

EXPORT void limit_free(struct bridge *bridge)
{
    free(bridge->slots);
    free(bridge);
}

/* No address comes twice, and none is 0; ports begin with 1. */
EXPORT void limit_address(struct bridge *bridge, uint64_t address, uint32_t port)
{
    uint32_t slot = slot_of(bridge, address);
    while (bridge->slots[slot] != 0)
        slot = (slot + 1) & bridge->mask;
    bridge->slots[slot] = address << 16 | port;
}

/* Forwards `count` frames that lie `stride` bytes apart; returns how many are to be sent. `ports` gets the port of each, or
 * 0. */
EXPORT uint64_t limit_run(const struct bridge *bridge, uint8_t *frames, uint64_t stride, uint64_t count, uint32_t *ports)
{
    uint64_t sent = 0;
    for (uint64_t start = 0; start < count; start += BURST) {
        uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        const uint8_t *first = frames + start * stride;
        uint64_t addresses[BURST];
        uint32_t slots[BURST];
        for (uint32_t i = 0; i < burst; i++) {
            const uint8_t *frame = first + i * stride;
            __builtin_prefetch(frame + AHEAD * stride);
            uint64_t word;
            memcpy(&word, frame, sizeof word);
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
            uint32_t port = (uint32_t)(found & 0xffff);
            sent += port != 0;
            ports[start + i] = port;
        }
    }
    return sent;
}
