/* The limits of table lookups: hand-written code for a single table, on keys in an array.
 *
 * Exact match of 48-bit addresses as in bridge.c, and IPv4 longest prefix match as in router.c: the result, a port, is
 * in the slot itself.
 */
#include "large.h"
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define BURST 64u

struct addresses {
    uint64_t *slots;  /* the address in the upper 48 bits, the port below; 0 if empty */
    uint32_t shift;
    uint32_t mask;
};

static uint32_t slot_of(const struct addresses *addresses, uint64_t address)
{
    return (uint32_t)((address * 0x9e3779b97f4a7c15u) >> addresses->shift);
}

EXPORT struct addresses *exact_new(uint32_t count)
{
    struct addresses *addresses = malloc(sizeof *addresses);
    uint32_t bits = 4;
    while ((1u << bits) < 2 * count)
        bits++;
    addresses->slots = large(sizeof *addresses->slots << bits);
    addresses->shift = 64 - bits;
    addresses->mask = (1u << bits) - 1;
    return addresses;
}

EXPORT void exact_free(struct addresses *addresses)
{
    free(addresses->slots);
    free(addresses);
}

/* Addresses must be distinct and not 0; ports begin with 1. */
EXPORT void exact_add(struct addresses *addresses, uint64_t address, uint32_t port)
{
    uint32_t slot = slot_of(addresses, address);
    while (addresses->slots[slot] != 0)
        slot = (slot + 1) & addresses->mask;
    addresses->slots[slot] = address << 16 | port;
}

/* Returns the sum of the ports of `count` keys. */
EXPORT uint64_t exact_run(const struct addresses *addresses, const uint64_t *keys, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t start = 0; start < count; start += BURST) {
        uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        const uint64_t *first = keys + start;
        uint32_t slots[BURST];
        for (uint32_t i = 0; i < burst; i++) {
            slots[i] = slot_of(addresses, first[i]);
            __builtin_prefetch(addresses->slots + slots[i]);
        }
        for (uint32_t i = 0; i < burst; i++) {
            uint64_t found = addresses->slots[slots[i]];
            for (uint32_t slot = slots[i]; found != 0 && found >> 16 != first[i];) {
                slot = (slot + 1) & addresses->mask;
                found = addresses->slots[slot];
            }
            sum += found & 0xffff;
        }
    }
    return sum;
}

/* A slot for each /24: a port, 0 for none. */
EXPORT uint16_t *prefixes_new(void)
{
    return large(sizeof(uint16_t) << 24);
}

EXPORT void prefixes_free(uint16_t *slots)
{
    free(slots);
}

/* Prefixes must be added from the shortest to the longest, which has at most 24 bits. */
EXPORT void prefixes_add(uint16_t *slots, uint32_t network, uint32_t prefix_len, uint32_t port)
{
    uint32_t first = network >> 8, count = 1u << (24 - prefix_len);
    for (uint32_t slot = first; slot < first + count; slot++)
        slots[slot] = (uint16_t)port;
}

/* Returns the sum of the ports of `count` keys. */
EXPORT uint64_t prefixes_run(const uint16_t *slots, const uint64_t *keys, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t start = 0; start < count; start += BURST) {
        uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        for (uint32_t i = 0; i < burst; i++)
            __builtin_prefetch(slots + ((uint32_t)keys[start + i] >> 8));
        for (uint32_t i = 0; i < burst; i++)
            sum += slots[(uint32_t)keys[start + i] >> 8];
    }
    return sum;
}
