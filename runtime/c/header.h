/* Headers in place: numbers in network order, stacks whose elements move. */
#ifndef WIRESPEED_HEADER_H
#define WIRESPEED_HEADER_H

#include "wide.h"
#include "wirespeed.h"

static inline uint64_t ws_load8(const uint8_t *p)
{
    return p[0];
}

static inline uint64_t ws_load16(const uint8_t *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap16(value);
#endif
    return value;
}

static inline uint64_t ws_load32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    return value;
}

static inline uint64_t ws_load64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static inline void ws_store8(uint8_t *p, uint64_t value)
{
    p[0] = (uint8_t)value;
}

static inline void ws_store16(uint8_t *p, uint64_t value)
{
    uint16_t narrow = (uint16_t)value;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    narrow = __builtin_bswap16(narrow);
#endif
    memcpy(p, &narrow, sizeof narrow);
}

static inline void ws_store32(uint8_t *p, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    narrow = __builtin_bswap32(narrow);
#endif
    memcpy(p, &narrow, sizeof narrow);
}

static inline void ws_store64(uint8_t *p, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(p, &value, sizeof value);
}

static inline uint64_t ws_bit(const uint64_t *words, uint32_t bit)
{
    return words[bit / 64] >> (bit % 64) & 1;
}

static inline void ws_bit_set(uint64_t *words, uint32_t bit, uint64_t value)
{
    words[bit / 64] = (words[bit / 64] & ~(UINT64_C(1) << (bit % 64))) | value << (bit % 64);
}

/* `width` bits from bit `offset` of `bytes`; bits from `end` on are zero. */
static inline void ws_lookahead(uint64_t *d, const uint8_t *bytes, const uint8_t *end, uint32_t offset, uint32_t width)
{
    ws_wide_zero(d, width);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t from = offset + i, to = width - 1 - i;
        if ((uint64_t)(end - bytes) <= from / 8)
            return;
        d[to / 64] |= (uint64_t)(bytes[from / 8] >> (7 - from % 8) & 1) << (to % 64);
    }
}

#define WS_STACK_MAX 1024u

/* Moves the items of an array `count` places up (or down) and around. */
static inline void ws_rotate(uint32_t *items, uint32_t size, uint32_t count, uint32_t up)
{
    uint32_t around[WS_STACK_MAX], rest = size - count;
    if (up) {
        memcpy(around, items + rest, count * sizeof *items);
        memmove(items + count, items, rest * sizeof *items);
        memcpy(items, around, count * sizeof *items);
    } else {
        memcpy(around, items, count * sizeof *items);
        memmove(items, items + count, rest * sizeof *items);
        memcpy(items + rest, around, count * sizeof *items);
    }
}

/* Moves the valid bits of a stack, which begin a word, `count` places up (or down); invalid elements enter. */
static inline void ws_move_valid(uint64_t *words, uint32_t size, uint32_t count, uint32_t up)
{
    uint64_t old[WS_STACK_MAX / 64];
    ws_wide_copy(old, words, size);
    if (up)
        ws_wide_shl(words, old, count, size);
    else
        ws_wide_shr(words, old, count, size);
}

#endif
