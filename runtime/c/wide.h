/* Arithmetic on values over 64 bits.
 *
 * A value of `width` bits is an array of ceil(width / 64) limbs, lowest first; the bits above the width are zero on
 * entry and on return. Widths go up to WS_WIDTH_MAX. A destination never overlaps an operand unless a function allows it.
 */
#ifndef WIRESPEED_WIDE_H
#define WIRESPEED_WIDE_H

#include "arith.h"

#include <stdint.h>
#include <string.h>

#define WS_WIDTH_MAX 32768u
#define WS_LIMBS(width) (((width) + 63u) / 64u)

/* Generated code calls these functions with constant widths. WS_EACH_LIMB, before loops over limbs, unrolls the loop,
 * so that limbs stay in registers; loops would pass them through memory, where a vector load stalls on the words stored
 * before. A file with so many calls that compiling all of that would take minutes defines WS_COMPACT: the functions are
 * then called, and their loops are loops. WS_WIDE_LONG is for functions that the compiler may call in any file. */
#if defined(WS_COMPACT)
#define WS_WIDE static __attribute__((noinline, unused))
#define WS_WIDE_LONG WS_WIDE
#define WS_EACH_LIMB
#else
#define WS_WIDE static inline __attribute__((always_inline))
#define WS_WIDE_LONG static inline
#define WS_EACH_LIMB _Pragma("GCC unroll 16")
#endif

/* Four limbs are one vector where the processor has such. A value of this width, as a chunk of 32 bytes is, stays one from
 * its load to its store: between, no limb is written by itself, since a vector that is read then waits for the limbs. */
typedef uint64_t ws_four __attribute__((vector_size(32), aligned(1), may_alias));
#define WS_FOUR(place) (*(ws_four *)(place))
#define WS_FOUR_OF(place) (*(const ws_four *)(place))

#if defined(__AVX2__)
#define WS_IS_FOUR(width) (WS_LIMBS(width) == 4)
#else
#define WS_IS_FOUR(width) 0
#endif

/* Two limbs are a number that the compiler can compute with. */
typedef unsigned __int128 ws_two;
#define WS_IS_TWO(width) (WS_LIMBS(width) == 2)
#define WS_TWO_OF(place) ((ws_two)(place)[1] << 64 | (place)[0])

WS_WIDE void ws_two_put(uint64_t *d, ws_two value, uint32_t width)
{
    d[0] = (uint64_t)value;
    d[1] = (uint64_t)(value >> 64) & ws_mask(width - 64);
}

/* Lanes of two vectors, the first vector's numbered first. */
#if defined(__clang__)
#define WS_LANES(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define WS_LANES(type, a, b, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#endif

WS_WIDE uint32_t ws_four_is_zero(ws_four value)
{
#if defined(__AVX2__)
    typedef long long ws_signed __attribute__((vector_size(32)));
    return (uint32_t)__builtin_ia32_ptestz256((ws_signed)value, (ws_signed)value);
#else
    return (value[0] | value[1] | value[2] | value[3]) == 0;
#endif
}

/* Clears the bits above the width. */
WS_WIDE void ws_four_trim(uint64_t *d, uint32_t width)
{
    if (width % 64 != 0)
        WS_FOUR(d) &= (ws_four){~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), ws_mask(width % 64)};
}

WS_WIDE void ws_wide_zero(uint64_t *d, uint32_t width)
{
    if (WS_IS_FOUR(width)) {
        WS_FOUR(d) = (ws_four){0, 0, 0, 0};
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = 0;
}

WS_WIDE void ws_wide_copy(uint64_t *d, const uint64_t *a, uint32_t width)
{
    if (WS_IS_FOUR(width)) {
        WS_FOUR(d) = WS_FOUR_OF(a);
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = a[i];
}

/* Clears the bits above the width. */
WS_WIDE void ws_wide_trim(uint64_t *d, uint32_t width)
{
    if (width % 64 != 0)
        d[width / 64] &= ws_mask(width % 64);
}

WS_WIDE uint32_t ws_wide_is_zero(const uint64_t *a, uint32_t width)
{
    uint64_t any = 0;
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        any |= a[i];
    return any == 0;
}

WS_WIDE uint32_t ws_wide_is_negative(const uint64_t *a, uint32_t width)
{
    return width != 0 && (a[(width - 1) / 64] >> ((width - 1) % 64) & 1);
}

/* The value, or the greatest 64-bit number if it does not fit. */
WS_WIDE uint64_t ws_wide_to_u64(const uint64_t *a, uint32_t width)
{
    WS_EACH_LIMB
    for (uint32_t i = 1; i < WS_LIMBS(width); i++)
        if (a[i] != 0)
            return ~UINT64_C(0);
    return a[0];
}

WS_WIDE void ws_wide_from_u64(uint64_t *d, uint64_t a, uint32_t width)
{
    ws_wide_zero(d, width);
    d[0] = a;
}

WS_WIDE uint32_t ws_wide_eq(const uint64_t *a, const uint64_t *b, uint32_t width)
{
    uint64_t difference = 0;
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

/* Copies the first or the second. */
WS_WIDE void ws_wide_choose(uint64_t *d, uint64_t first, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    uint64_t mask = 0 - (uint64_t)(first != 0);
    if (WS_IS_FOUR(width)) {
        WS_FOUR(d) = (WS_FOUR_OF(a) & mask) | (WS_FOUR_OF(b) & ~mask);
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = (a[i] & mask) | (b[i] & ~mask);
}

/* Less than, equal to or greater than zero, as `a` is less than, equal to or greater than `b`. */
WS_WIDE_LONG int32_t ws_wide_compare(const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (WS_IS_TWO(width))
        return (WS_TWO_OF(a) > WS_TWO_OF(b)) - (WS_TWO_OF(a) < WS_TWO_OF(b));
    WS_EACH_LIMB
    for (uint32_t i = WS_LIMBS(width); i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

WS_WIDE_LONG int32_t ws_wide_compare_signed(const uint64_t *a, const uint64_t *b, uint32_t width)
{
    uint32_t negative = ws_wide_is_negative(a, width);
    if (negative != ws_wide_is_negative(b, width))
        return negative ? -1 : 1;
    return ws_wide_compare(a, b, width);
}

WS_WIDE void ws_wide_not(uint64_t *d, const uint64_t *a, uint32_t width)
{
    if (WS_IS_FOUR(width)) {
        WS_FOUR(d) = ~WS_FOUR_OF(a);
        ws_four_trim(d, width);
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = ~a[i];
    ws_wide_trim(d, width);
}

WS_WIDE void ws_wide_and(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (WS_IS_FOUR(width)) {
        WS_FOUR(d) = WS_FOUR_OF(a) & WS_FOUR_OF(b);
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = a[i] & b[i];
}

WS_WIDE void ws_wide_or(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (WS_IS_FOUR(width)) {
        WS_FOUR(d) = WS_FOUR_OF(a) | WS_FOUR_OF(b);
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = a[i] | b[i];
}

WS_WIDE void ws_wide_xor(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (WS_IS_FOUR(width)) {
        WS_FOUR(d) = WS_FOUR_OF(a) ^ WS_FOUR_OF(b);
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = a[i] ^ b[i];
}

/* Returns the carry out of the width. */
WS_WIDE uint32_t ws_wide_add_carry(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (WS_IS_TWO(width)) {
        ws_two left = WS_TWO_OF(a), all = left + WS_TWO_OF(b);
        ws_two_put(d, all, width);
        return width == 128 ? all < left : (uint32_t)(all >> width % 128 & 1);
    }
    unsigned __int128 sum = 0;
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++) {
        sum += (unsigned __int128)a[i] + b[i];
        d[i] = (uint64_t)sum;
        sum >>= 64;
    }
    uint32_t carry = (uint32_t)sum;
    if (width % 64 != 0)
        carry = (uint32_t)(d[width / 64] >> (width % 64) & 1);
    ws_wide_trim(d, width);
    return carry;
}

/* Returns the borrow. */
WS_WIDE uint32_t ws_wide_sub_borrow(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (WS_IS_TWO(width)) {
        ws_two left = WS_TWO_OF(a), right = WS_TWO_OF(b);
        ws_two_put(d, left - right, width);
        return left < right;
    }
    uint64_t borrow = 0;
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++) {
        unsigned __int128 difference = (unsigned __int128)a[i] - b[i] - borrow;
        d[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    ws_wide_trim(d, width);
    return (uint32_t)borrow;
}

WS_WIDE void ws_wide_add(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    (void)ws_wide_add_carry(d, a, b, width);
}

WS_WIDE void ws_wide_sub(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    (void)ws_wide_sub_borrow(d, a, b, width);
}

WS_WIDE void ws_wide_neg(uint64_t *d, const uint64_t *a, uint32_t width)
{
    uint64_t carry = 1;
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++) {
        d[i] = ~a[i] + carry;
        carry = carry && d[i] == 0;
    }
    ws_wide_trim(d, width);
}

WS_WIDE_LONG void ws_wide_add_saturating(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (ws_wide_add_carry(d, a, b, width)) {
        memset(d, 0xff, WS_LIMBS(width) * sizeof *d);
        ws_wide_trim(d, width);
    }
}

WS_WIDE_LONG void ws_wide_sub_saturating(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (ws_wide_sub_borrow(d, a, b, width))
        ws_wide_zero(d, width);
}

/* The least signed value, or the greatest. */
WS_WIDE_LONG void ws_wide_extreme_signed(uint64_t *d, uint32_t least, uint32_t width)
{
    uint64_t top = UINT64_C(1) << ((width - 1) % 64);
    memset(d, least ? 0 : 0xff, WS_LIMBS(width) * sizeof *d);
    if (least)
        d[(width - 1) / 64] = top;
    else
        d[(width - 1) / 64] = top - 1;
}

WS_WIDE_LONG void ws_wide_add_saturating_signed(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    uint32_t negative = ws_wide_is_negative(a, width);
    ws_wide_add(d, a, b, width);
    if (negative == ws_wide_is_negative(b, width) && negative != ws_wide_is_negative(d, width))
        ws_wide_extreme_signed(d, negative, width);
}

WS_WIDE_LONG void ws_wide_sub_saturating_signed(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    uint32_t negative = ws_wide_is_negative(a, width);
    ws_wide_sub(d, a, b, width);
    if (negative != ws_wide_is_negative(b, width) && negative != ws_wide_is_negative(d, width))
        ws_wide_extreme_signed(d, negative, width);
}

WS_WIDE_LONG void ws_wide_mul(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    if (WS_IS_TWO(width)) {
        ws_two_put(d, WS_TWO_OF(a) * WS_TWO_OF(b), width);
        return;
    }
    uint32_t limbs = WS_LIMBS(width);
    ws_wide_zero(d, width);
    for (uint32_t i = 0; i < limbs; i++) {
        uint64_t carry = 0;
        for (uint32_t j = 0; i + j < limbs; j++) {
            unsigned __int128 sum = (unsigned __int128)a[i] * b[j] + d[i + j] + carry;
            d[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    }
    ws_wide_trim(d, width);
}

/* Digits of 32 bits, lowest first, for division. Returns how many count. */
WS_WIDE_LONG uint32_t ws_wide_digits(uint32_t *digits, const uint64_t *a, uint32_t width)
{
    uint32_t count = 2 * WS_LIMBS(width);
    for (uint32_t i = 0; i < count; i++)
        digits[i] = (uint32_t)(a[i / 2] >> (32 * (i % 2)));
    while (count > 0 && digits[count - 1] == 0)
        count--;
    return count;
}

/* Computes quotient digit `j` and reduces the remainder `u`, by the normalised divisor `v` of `n` digits (Knuth, volume
 * 2, 4.3.1, algorithm D, steps D3 to D6). */
WS_WIDE_LONG uint32_t ws_wide_quotient_digit(uint32_t *u, const uint32_t *v, uint32_t n, uint32_t j)
{
    uint64_t top = (uint64_t)u[j + n] << 32 | u[j + n - 1];
    uint64_t guess = top / v[n - 1], rest = top % v[n - 1];
    while (guess >> 32 != 0 || (n > 1 && guess * v[n - 2] > (rest << 32 | u[j + n - 2]))) {
        guess--;
        rest += v[n - 1];
        if (rest >> 32 != 0)
            break;
    }
    uint64_t carry = 0;
    int64_t borrow = 0;
    for (uint32_t i = 0; i < n; i++) {
        carry += guess * v[i];
        int64_t difference = (int64_t)u[i + j] - (int64_t)(carry & 0xffffffffu) + borrow;
        u[i + j] = (uint32_t)difference;
        borrow = difference >> 32;
        carry >>= 32;
    }
    int64_t difference = (int64_t)u[j + n] - (int64_t)carry + borrow;
    u[j + n] = (uint32_t)difference;
    if (difference < 0) {
        uint64_t sum = 0;
        guess--;
        for (uint32_t i = 0; i < n; i++) {
            sum += (uint64_t)u[i + j] + v[i];
            u[i + j] = (uint32_t)sum;
            sum >>= 32;
        }
        u[j + n] += (uint32_t)sum;
    }
    return (uint32_t)guess;
}

/* Quotient and remainder, unsigned; both zero if b is zero. */
WS_WIDE_LONG void ws_wide_divide(uint64_t *quotient, uint64_t *remainder, const uint64_t *a, const uint64_t *b,
                                  uint32_t width)
{
    if (WS_IS_TWO(width)) {
        ws_two divisor = WS_TWO_OF(b);
        ws_two_put(quotient, divisor == 0 ? 0 : WS_TWO_OF(a) / divisor, width);
        ws_two_put(remainder, divisor == 0 ? 0 : WS_TWO_OF(a) % divisor, width);
        return;
    }
    uint32_t u[WS_WIDTH_MAX / 32 + 2], v[WS_WIDTH_MAX / 32];
    uint32_t m = ws_wide_digits(u, a, width), n = ws_wide_digits(v, b, width);
    ws_wide_zero(quotient, width);
    ws_wide_zero(remainder, width);
    if (n == 0)
        return;
    if (m < n) {
        ws_wide_copy(remainder, a, width);
        return;
    }
    uint32_t shift = (uint32_t)__builtin_clz(v[n - 1]);
    for (uint32_t i = n; i-- > 0;)
        v[i] = v[i] << shift | (i > 0 && shift != 0 ? v[i - 1] >> (32 - shift) : 0);
    u[m] = shift != 0 ? u[m - 1] >> (32 - shift) : 0;
    for (uint32_t i = m; i-- > 0;)
        u[i] = u[i] << shift | (i > 0 && shift != 0 ? u[i - 1] >> (32 - shift) : 0);
    for (uint32_t j = m - n + 1; j-- > 0;)
        quotient[j / 2] |= (uint64_t)ws_wide_quotient_digit(u, v, n, j) << (32 * (j % 2));
    for (uint32_t i = 0; i < n; i++) {
        uint64_t digit = u[i] >> shift | (shift != 0 ? (uint64_t)u[i + 1] << (32 - shift) : 0);
        remainder[i / 2] |= (digit & 0xffffffffu) << (32 * (i % 2));
    }
}

WS_WIDE_LONG void ws_wide_div(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    uint64_t remainder[WS_WIDTH_MAX / 64];
    ws_wide_divide(d, remainder, a, b, width);
}

WS_WIDE_LONG void ws_wide_rem(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t width)
{
    uint64_t quotient[WS_WIDTH_MAX / 64];
    ws_wide_divide(quotient, d, a, b, width);
}

WS_WIDE void ws_wide_shl(uint64_t *d, const uint64_t *a, uint64_t amount, uint32_t width)
{
    if (amount >= width) {
        ws_wide_zero(d, width);
        return;
    }
    if (WS_IS_TWO(width)) {
        ws_two_put(d, WS_TWO_OF(a) << amount, width);
        return;
    }
    uint32_t limbs = (uint32_t)amount / 64, bits = (uint32_t)amount % 64;
    WS_EACH_LIMB
    for (uint32_t i = WS_LIMBS(width); i-- > 0;) {
        uint64_t limb = i >= limbs ? a[i - limbs] << bits : 0;
        if (bits != 0 && i > limbs)
            limb |= a[i - limbs - 1] >> (64 - bits);
        d[i] = limb;
    }
    ws_wide_trim(d, width);
}

/* 1 shifted left. Limbs are compared with the position, so that there are no dependent stores and no branches. */
WS_WIDE void ws_wide_bit(uint64_t *d, uint64_t amount, uint32_t width)
{
    if (WS_IS_FOUR(width)) {
        const ws_four is_limb = (ws_four)((ws_four){0, 1, 2, 3} == amount / 64);
        WS_FOUR(d) = is_limb & UINT64_C(1) << amount % 64;
        ws_four_trim(d, width);
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = (0 - (uint64_t)(amount / 64 == i)) & UINT64_C(1) << amount % 64;
    ws_wide_trim(d, width);
}

WS_WIDE void ws_wide_shr(uint64_t *d, const uint64_t *a, uint64_t amount, uint32_t width)
{
    if (amount >= width) {
        ws_wide_zero(d, width);
        return;
    }
    if (WS_IS_TWO(width)) {
        ws_two_put(d, WS_TWO_OF(a) >> amount, width);
        return;
    }
    uint32_t limbs = (uint32_t)amount / 64, bits = (uint32_t)amount % 64, count = WS_LIMBS(width);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t limb = i + limbs < count ? a[i + limbs] >> bits : 0;
        if (bits != 0 && i + limbs + 1 < count)
            limb |= a[i + limbs + 1] << (64 - bits);
        d[i] = limb;
    }
}

/* Copies of the sign enter. */
WS_WIDE_LONG void ws_wide_sar(uint64_t *d, const uint64_t *a, uint64_t amount, uint32_t width)
{
    if (!ws_wide_is_negative(a, width)) {
        ws_wide_shr(d, a, amount, width);
        return;
    }
    uint64_t inverted[WS_WIDTH_MAX / 64];
    ws_wide_not(inverted, a, width);
    ws_wide_shr(d, inverted, amount, width);
    ws_wide_not(d, d, width);
}

/* `width` bits (at most 64) from bit `low`; low + width is at most the operand's width. */
WS_WIDE uint64_t ws_wide_get(const uint64_t *a, uint32_t low, uint32_t width)
{
    if (width == 0)
        return 0;
    uint32_t limb = low / 64, bits = low % 64;
    uint64_t value = a[limb] >> bits;
    if (bits + width > 64)
        value |= a[limb + 1] << (64 - bits);
    return value & ws_mask(width);
}

/* The bits where the mask has ones, moved together; and put back to where it has them. Limbs end where their masks do. */
WS_WIDE_LONG void ws_wide_gather(uint64_t *d, const uint64_t *a, const uint64_t *mask, uint32_t width)
{
    uint32_t at = 0;
    ws_wide_zero(d, width);
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++) {
        uint64_t part = ws_gather(a[i], mask[i]);
        d[at / 64] |= part << at % 64;
        if (at % 64 != 0)
            d[at / 64 + 1] |= part >> (64 - at % 64);
        at += (uint32_t)__builtin_popcountll(mask[i]);
    }
}

WS_WIDE_LONG void ws_wide_scatter(uint64_t *d, const uint64_t *a, const uint64_t *mask, uint32_t width)
{
    uint32_t at = 0;
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++) {
        uint64_t part = a[at / 64] >> at % 64;
        if (at % 64 != 0)
            part |= a[at / 64 + 1] << (64 - at % 64);
        d[i] = ws_scatter(part, mask[i]);
        at += (uint32_t)__builtin_popcountll(mask[i]);
    }
}

/* Sets `width` bits (at most 64) from bit `low`. */
WS_WIDE void ws_wide_put(uint64_t *d, uint32_t low, uint32_t width, uint64_t value)
{
    if (width == 0)
        return;
    uint32_t limb = low / 64, bits = low % 64;
    uint64_t mask = ws_mask(width);
    d[limb] = (d[limb] & ~(mask << bits)) | value << bits;
    if (bits + width > 64)
        d[limb + 1] = (d[limb + 1] & ~(mask >> (64 - bits))) | value >> (64 - bits);
}

/* The bits from `low`, as many as the destination has. */
WS_WIDE void ws_wide_slice(uint64_t *d, uint32_t width, const uint64_t *a, uint32_t low)
{
    if (WS_IS_FOUR(width) && low > 0 && low + width <= 256) {
        const ws_four value = WS_FOUR_OF(a), above = WS_LANES(ws_four, value, ((ws_four){0, 0, 0, 0}), 1, 2, 3, 4);
        WS_FOUR(d) = value >> low | above << (64 - low);
        ws_four_trim(d, width);
        return;
    }
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = ws_wide_get(a, low + 64 * i, width - 64 * i < 64 ? width - 64 * i : 64);
}

/* Replaces the bits from `low` by a part of `part_width` bits. */
WS_WIDE void ws_wide_set_slice(uint64_t *d, uint32_t low, const uint64_t *part, uint32_t part_width)
{
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(part_width); i++)
        ws_wide_put(d, low + 64 * i, part_width - 64 * i < 64 ? part_width - 64 * i : 64, part[i]);
}

/* Cut, or extended with zeros. */
WS_WIDE void ws_wide_resize(uint64_t *d, uint32_t width, const uint64_t *a, uint32_t a_width)
{
    WS_EACH_LIMB
    for (uint32_t i = 0; i < WS_LIMBS(width); i++)
        d[i] = i < WS_LIMBS(a_width) ? a[i] : 0;
    ws_wide_trim(d, width);
}

/* Cut, or extended with the sign. */
WS_WIDE void ws_wide_resize_signed(uint64_t *d, uint32_t width, const uint64_t *a, uint32_t a_width)
{
    ws_wide_resize(d, width, a, a_width);
    if (width > a_width && ws_wide_is_negative(a, a_width)) {
        if (a_width % 64 != 0)
            d[a_width / 64] |= ~ws_mask(a_width % 64);
        for (uint32_t i = WS_LIMBS(a_width); i < WS_LIMBS(width); i++)
            d[i] = ~UINT64_C(0);
        ws_wide_trim(d, width);
    }
}

/* a above b. */
WS_WIDE void ws_wide_concat(uint64_t *d, const uint64_t *a, uint32_t a_width, const uint64_t *b, uint32_t b_width)
{
    if (WS_IS_FOUR(a_width) && WS_IS_FOUR(a_width + b_width) && b_width > 0) {
        const ws_four value = WS_FOUR_OF(a), below = WS_LANES(ws_four, value, ((ws_four){0, 0, 0, 0}), 4, 0, 1, 2);
        WS_FOUR(d) = value << b_width | below >> (64 - b_width) | (ws_four){b[0], 0, 0, 0};
        return;
    }
    ws_wide_resize(d, a_width + b_width, b, b_width);
    ws_wide_set_slice(d, b_width, a, a_width);
}

#endif
