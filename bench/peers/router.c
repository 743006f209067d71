/* The limit: hand-written IPv4 routing that does nothing else, in place, with the usual optimisations.
 *
 * Each packet of a burst must be IPv4 without options, with a correct checksum and a TTL above 1. The destination is
 * looked up in a table with a slot for each /24 (no route of the benchmark is longer). The Ethernet addresses are
 * replaced, the TTL is decremented, the checksum is updated incrementally (RFC 1624). Later memory accesses are
 * prefetched one step ahead. There is no architecture, no metadata, no counters. Like the switch it is given a list of
 * frames, checks the length of each, sets the port on which it leaves, and counts what is sent.
 */
#include "large.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define BURST 64u
#define AHEAD 8u
#define HEADERS 34u /* Ethernet and IPv4 */

/* A packet. */
struct frame {
    uint8_t *bytes;
    uint32_t length;
    uint32_t port; /* the port that it leaves; 0 if it is not sent */
};

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
    router->slots = large(sizeof *router->slots << 24);
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

/* Whether the header's checksum is correct: the ones' complement sum that includes it is all ones. */
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

/* Whether the frame is IPv4 without options, long enough, and may be forwarded. */
static int is_good(const struct frame *frame)
{
    const uint8_t *bytes = frame->bytes;
    return frame->length >= HEADERS && bytes[12] == 8 && bytes[13] == 0 && bytes[14] == 0x45 && bytes[22] > 1 &&
           is_right(bytes + 14);
}

/* Forwards `count` frames; returns how many are to be sent. */
EXPORT uint64_t limit_run(const struct router *router, struct frame *frames, uint64_t count)
{
    uint64_t sent = 0;
    for (uint64_t start = 0; start < count; start += BURST) {
        uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        struct frame *now = frames + start;
        uint32_t slots[BURST];
        const struct hop *hops[BURST];
        for (uint32_t i = 0; i < burst; i++) {
            if (start + i + AHEAD < count)
                __builtin_prefetch(now[i + AHEAD].bytes, 1);
            slots[i] = is_good(now + i) ? __builtin_bswap32(load32(now[i].bytes + 30)) >> 8 : 0;
            __builtin_prefetch(router->slots + slots[i]);
        }
        for (uint32_t i = 0; i < burst; i++) {
            hops[i] = router->hops + router->slots[slots[i]];
            __builtin_prefetch(hops[i]);
        }
        for (uint32_t i = 0; i < burst; i++) {
            uint8_t *frame = now[i].bytes;
            now[i].port = hops[i]->port;
            if (now[i].port != 0) {
                memcpy(frame, hops[i]->addresses, 12);
                frame[22]--;
                uint16_t checksum;
                memcpy(&checksum, frame + 24, sizeof checksum);
                uint32_t sum = checksum + 1u;
                checksum = (uint16_t)(sum + (sum >> 16));
                memcpy(frame + 24, &checksum, sizeof checksum);
                sent++;
            }
        }
    }
    return sent;
}
