/* Puts emitted headers before the payload.
 *
 * Headers that are already in place are not touched: a packet whose headers keep their sizes costs nothing, removing a
 * header moves only those before it, and headers that the program made are copied to their places. All go through a
 * small buffer only where headers of the packet itself must move, since sources and destinations may overlap.
 */
#ifndef WIRESPEED_DEPARSE_H
#define WIRESPEED_DEPARSE_H

#include "wirespeed.h"

/* An emitted header: its bytes in the chunk. */
struct ws_segment {
    uint32_t offset;
    uint32_t size;
};

/* Copies a few bytes between places that do not overlap, without the cost of a call. */
static inline WS_UNUSED void ws_copy_few(uint8_t *to, const uint8_t *from, uint32_t count)
{
    if (count >= 16) {
        for (uint32_t at = 0; at + 16 < count; at += 16)
            memcpy(to + at, from + at, 16);
        memcpy(to + count - 16, from + count - 16, 16);
    } else if (count >= 8) {
        memcpy(to, from, 8);
        memcpy(to + count - 8, from + count - 8, 8);
    } else {
        for (uint32_t at = 0; at < count; at++)
            to[at] = from[at];
    }
}

/* Writes `total` bytes before offset `at`; the chunk is free from `floor` to `at`. If that is not enough space, the
 * bytes from `at` on move towards the end of the chunk. */
static inline void ws_prepend(struct ws_packet *packet, const uint8_t *bytes, uint32_t total, uint32_t at, uint32_t floor)
{
    uint32_t end = packet->data + packet->length;
    if (WS_UNLIKELY(at - floor < total)) {
        uint32_t missing = total - (at - floor);
        if (packet->capacity - end < missing) {
            packet->flags |= WS_FLAG_NO_SPACE;
            return;
        }
        memmove(ws_at(packet, at + missing), ws_at(packet, at), end - at);
        at += missing;
        end += missing;
        packet->payload += missing;
    }
    memcpy(ws_at(packet, at - total), bytes, total);
    packet->data = at - total;
    packet->length = end - packet->data;
}

/* Writes the segments, in order, before the payload. `bounce` has space for all of them. */
static inline void ws_deparse(struct ws_packet *packet, const struct ws_segment *segments, uint32_t count, uint8_t *bounce,
                              uint32_t floor)
{
    uint32_t at = packet->payload, total = 0;
    while (count > 0 && segments[count - 1].offset + segments[count - 1].size == at)
        at = segments[--count].offset;
    if (WS_LIKELY(count == 0)) {
        packet->length = packet->data + packet->length - at;
        packet->data = at;
        return;
    }
    /* The greatest end of a segment. Segments are copied directly to their places only if none is overwritten before it
     * is copied. */
    uint32_t last = floor;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = segments[i].offset + segments[i].size;
        last = end > last ? end : last;
        total += segments[i].size;
        /* A vector load would stall until all segments have been written. */
        WS_ONE_BY_ONE(total);
    }
    uint32_t direct = last <= at && at - last >= total;
    uint8_t *to = direct ? ws_at(packet, at - total) : bounce;
    for (uint32_t i = 0; i < count; i++) {
        ws_copy_few(to, ws_at(packet, segments[i].offset), segments[i].size);
        to += segments[i].size;
    }
    if (direct) {
        packet->length = packet->data + packet->length - (at - total);
        packet->data = at - total;
    } else {
        ws_prepend(packet, bounce, total, at, floor);
    }
}

/* The most bytes of headers that are copied when they are emitted, because the program changes headers between its
 * emits. */
#define WS_STAGED_MAX 65536u

struct ws_staged {
    uint32_t size;
    uint8_t bytes[WS_STAGED_MAX];
};

static inline WS_UNUSED void ws_stage(struct ws_staged *staged, struct ws_packet *packet, uint32_t offset, uint32_t size)
{
    if (WS_STAGED_MAX - staged->size < size) {
        packet->flags |= WS_FLAG_NO_SPACE;
        return;
    }
    memcpy(staged->bytes + staged->size, ws_at(packet, offset), size);
    staged->size += size;
}

#endif
