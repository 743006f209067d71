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

static inline WS_UNUSED void ws_store48(uint8_t *p, uint64_t value)
{
    /* Byte-swapped once, and not in two parts. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value << 16);
    uint32_t first = (uint32_t)value;
    uint16_t last = (uint16_t)(value >> 32);
#else
    uint32_t first = (uint32_t)(value >> 16);
    uint16_t last = (uint16_t)value;
#endif
    memcpy(p, &first, sizeof first);
    memcpy(p + 4, &last, sizeof last);
}

static inline void ws_store64(uint8_t *p, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(p, &value, sizeof value);
}

/* Thirty-two bytes in reverse order. */
WS_WIDE void ws_four_turn(void *to, const void *from)
{
    typedef uint8_t ws_bytes __attribute__((vector_size(32), aligned(1), may_alias));
    const ws_bytes bytes = *(const ws_bytes *)from;
    *(ws_bytes *)to = WS_LANES(ws_bytes, bytes, bytes, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14,
                               13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

/* Loads the number of `width` bits from bit `offset` of the packet, most significant bit first. Limbs with eight bytes
 * of the number are loaded as words, and so is the highest of several; no other byte is read. */
WS_WIDE void ws_wide_load(uint64_t *d, const uint8_t *bytes, uint32_t offset, uint32_t width)
{
    int32_t first = (int32_t)(offset / 8), last = (int32_t)((offset + width - 1) / 8);
    uint32_t shift = 7 - (offset + width - 1) % 8;
    if (WS_IS_FOUR(width) && shift == 0 && last - first == 31) {
        ws_four_turn(d, bytes + first);
        ws_four_trim(d, width);
        return;
    }
    uint64_t four[4], *const limbs = WS_IS_FOUR(width) ? four : d;
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++) {
        int32_t low = last - 8 * (int32_t)i;
        uint64_t limb = 0;
        if (low - 7 >= first)
            limb = ws_load64(bytes + low - 7);
        else if (last - first >= 7 && low >= first)
            limb = ws_load64(bytes + first) >> (8 * (first + 7 - low));
        else
            for (int32_t j = 0; low - j >= first; j++)
                limb |= (uint64_t)bytes[low - j] << (8 * j);
        limb >>= shift;
        if (shift != 0 && low - 8 >= first)
            limb |= (uint64_t)bytes[low - 8] << (64 - shift);
        limbs[i] = limb;
    }
    ws_wide_trim(limbs, width);
    if (WS_IS_FOUR(width))
        WS_FOUR(d) = (ws_four){four[0], four[1], four[2], four[3]};
}

/* The number from its bit `low` on; what is above the width is zero. */
WS_WIDE uint64_t ws_wide_from(const uint64_t *a, uint32_t width, uint32_t low)
{
    uint64_t value = a[low / 64] >> (low % 64);
    if (low % 64 != 0 && low / 64 + 1 < WS_LIMBS(width))
        value |= a[low / 64 + 1] << (64 - low % 64);
    return value;
}

/* Stores the number to `width` bits from bit `offset` of the packet; the bits around them do not change. */
WS_WIDE void ws_wide_store(uint8_t *bytes, uint32_t offset, uint32_t width, const uint64_t *a)
{
    int32_t first = (int32_t)(offset / 8), last = (int32_t)((offset + width - 1) / 8), at = last;
    uint32_t shift = 7 - (offset + width - 1) % 8;
    if (WS_IS_FOUR(width) && shift == 0 && last - first == 31) {
        const uint64_t kept = UINT64_C(0xff) & ~(UINT64_C(0xff) >> offset % 8);
        const ws_four old = {bytes[first] & kept, 0, 0, 0};
        ws_four turned;
        ws_four_turn(&turned, a);
        WS_FOUR(bytes + first) = turned | old;
        return;
    }
    if (shift != 0) {
        uint32_t mask = 0xffu << shift & 0xff & (at == first ? 0xffu >> (offset % 8) : 0xff);
        bytes[at] = (uint8_t)((bytes[at] & ~mask) | ((uint32_t)(a[0] << shift) & mask));
        at--;
    }
    WS_EACH_LIMB
    for (; at - 7 >= first; at -= 8) {
        uint64_t value = ws_wide_from(a, width, 8 * (uint32_t)(last - at) - shift);
        uint64_t mask = ~UINT64_C(0) >> (at - 7 == first ? offset % 8 : 0);
        if (mask != ~UINT64_C(0))
            value = (ws_load64(bytes + first) & ~mask) | (value & mask);
        ws_store64(bytes + at - 7, value);
    }
    for (; at >= first; at--) {
        uint32_t mask = at == first ? 0xffu >> (offset % 8) : 0xff;
        uint32_t value = (uint32_t)ws_wide_from(a, width, 8 * (uint32_t)(last - at) - shift);
        bytes[at] = (uint8_t)((bytes[at] & ~mask) | (value & mask));
    }
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

/* Bit `at` of bytes in network order. */
static inline uint32_t ws_bit_of(const uint8_t *bytes, uint32_t at)
{
    return (uint32_t)(bytes[at / 8] >> (7 - at % 8)) & 1;
}

/* Whether `count` bits from bit `a_at` of `a` are those from bit `b_at` of `b`. */
static inline WS_UNUSED uint32_t ws_bits_equal(const uint8_t *a, uint32_t a_at, const uint8_t *b, uint32_t b_at, uint32_t count)
{
    if (a_at % 8 == 0 && b_at % 8 == 0 && count % 8 == 0)
        return count == 0 || memcmp(a + a_at / 8, b + b_at / 8, count / 8) == 0;
    for (uint32_t i = 0; i < count; i++)
        if (ws_bit_of(a, a_at + i) != ws_bit_of(b, b_at + i))
            return 0;
    return 1;
}

/* Copies `count` bits from bit `s_at` of `s` to bit `d_at` of `d`. They do not overlap. */
static inline void ws_bits_copy(uint8_t *d, uint32_t d_at, const uint8_t *s, uint32_t s_at, uint32_t count)
{
    if (d_at % 8 == 0 && s_at % 8 == 0 && count % 8 == 0) {
        if (count > 0)
            memcpy(d + d_at / 8, s + s_at / 8, count / 8);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t bit = (uint8_t)(0x80 >> (d_at + i) % 8);
        d[(d_at + i) / 8] = (uint8_t)(ws_bit_of(s, s_at + i) ? d[(d_at + i) / 8] | bit : d[(d_at + i) / 8] & ~bit);
    }
}

/* Copies the header `old` with another varbit field: `fixed` bits in all surround it, `at` of them before it. */
static inline WS_UNUSED void ws_varbit_put(uint8_t *d, const uint8_t *old, uint32_t at, uint32_t old_bytes, uint32_t fixed,
                                           const uint8_t *s, uint32_t s_at, uint32_t bytes)
{
    ws_bits_copy(d, 0, old, 0, at);
    ws_bits_copy(d, at, s, s_at, 8 * bytes);
    ws_bits_copy(d, at + 8 * bytes, old, at + 8 * old_bytes, fixed - at);
}

/* The number in the `bytes` bytes from bit `at` of `h`, extended to `width` bits. */
static inline WS_UNUSED void ws_varbit_get(uint64_t *d, uint32_t width, const uint8_t *h, uint32_t at, uint32_t bytes)
{
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = 0;
    if (bytes > 0)
        ws_wide_load(d, h, at, 8 * bytes);
}

/* The bytes of a varbit field of at most `width` bits whose length is set to `length` bits. */
static inline WS_UNUSED uint32_t ws_varbit_bytes(uint64_t length, uint32_t width)
{
    return (uint32_t)(length < width ? length : width) / 8;
}

/* The low `bytes` bytes of a number, the most significant first. */
static inline WS_UNUSED void ws_varbit_spell(uint8_t *d, const uint64_t *a, uint32_t bytes)
{
    if (bytes > 0)
        ws_wide_store(d, 0, 8 * bytes, a);
}

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
