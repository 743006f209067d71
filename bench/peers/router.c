/* The limit: IPv4 routing written by hand for nothing else, in place, with the tricks of the trade.
 *
 * For each packet of a burst: it must be IPv4 without options, its checksum right, its TTL above 1. The destination is
 * looked up in a table with a slot for each /24 (no route of the benchmark is longer). The Ethernet addresses are
 * replaced, the TTL goes down, the checksum is corrected by what changed (RFC 1624). What the next step will touch is
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

struct hop {
    uint8_t addresses[12];
    uint32_t port;
};

struct router {
    uint16_t *slots;  /* by the upper 24 bits of the destination: a hop, 0 for none */
    struct hop *hops;
};

EXPORT struct router *limit_new(uint32_t hops)
{
    struct router *router = malloc(sizeof *router);
    router->slots = calloc(1u << 24, sizeof *router->slots);
    router->hops = calloc(hops, sizeof *router->hops);
    return router;
}

EXPORT void limit_free(struct router *router)
{
    free(router->slots);
    free(router->hops);
    free(router);
}

EXPORT void limit_hop(struct router *router, uint32_t hop, const uint8_t *addresses, uint32_t port)
{
    memcpy(router->hops[hop].addresses, addresses, 12);
    router->hops[hop].port = port;
}

/* Routes must come from the shortest to the longest. */
EXPORT void limit_route(struct router *router, uint32_t network, uint32_t prefix_len, uint32_t hop)
{
    uint32_t first = network >> 8, count = 1u << (24 - prefix_len);
    for (uint32_t slot = first; slot < first + count; slot++)
        router->slots[slot] = (uint16_t)hop;
}

static uint64_t load64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static uint32_t load32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* Whether the header's checksum is right: with it the ones' complement sum is all ones. */
static int is_right(const uint8_t *header)
{
    uint64_t a = load64(header), b = load64(header + 8), sum = a + b;
    sum += sum < b;
    sum = (sum >> 32) + (uint32_t)sum + load32(header + 16);
    sum = (sum >> 32) + (uint32_t)sum;
    sum = (sum >> 16) + (sum & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    return (uint16_t)(sum + (sum >> 16)) == 0xffff;
}

/* Routes `count` frames that lie `stride` bytes apart; returns how many are to be sent. `ports` gets the port of each, or
 * 0. */
EXPORT uint64_t limit_run(const struct router *router, uint8_t *frames, uint64_t stride, uint64_t count, uint32_t *ports)
{
    uint64_t sent = 0;
    for (uint64_t start = 0; start < count; start += BURST) {
        uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        uint8_t *first = frames + start * stride;
        uint32_t slots[BURST];
        const struct hop *hops[BURST];
        for (uint32_t i = 0; i < burst; i++) {
            uint8_t *frame = first + i * stride;
            __builtin_prefetch(frame + AHEAD * stride, 1);
            int is_good = frame[12] == 8 && frame[13] == 0 && frame[14] == 0x45 && frame[22] > 1 && is_right(frame + 14);
            slots[i] = is_good ? __builtin_bswap32(load32(frame + 30)) >> 8 : 0;
            __builtin_prefetch(router->slots + slots[i]);
        }
        for (uint32_t i = 0; i < burst; i++) {
            hops[i] = router->hops + router->slots[slots[i]];
            __builtin_prefetch(hops[i]);
        }
        for (uint32_t i = 0; i < burst; i++) {
            uint8_t *frame = first + i * stride;
            uint32_t port = hops[i]->port;
            if (port != 0) {
                memcpy(frame, hops[i]->addresses, 12);
                frame[22]--;
                uint16_t checksum;
                memcpy(&checksum, frame + 24, sizeof checksum);
                uint32_t sum = checksum + 1u;
                checksum = (uint16_t)(sum + (sum >> 16));
                memcpy(frame + 24, &checksum, sizeof checksum);
                sent++;
            }
            ports[start + i] = port;
        }
    }
    return sent;
}
