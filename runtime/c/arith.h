/* Arithmetic on values of at most 64 bits.
 *
 * A value of `width` bits is a uint64_t whose bits above the width are zero; signed values are two's complement in the
 * same form. Results keep to this where the function takes the width or the greatest value; others are masked by the
 * caller.
 */
#ifndef WIRESPEED_ARITH_H
#define WIRESPEED_ARITH_H

#include <stdint.h>

static inline uint64_t ws_mask(uint32_t width)
{
    return width >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
}

/* The value as a signed number. */
static inline int64_t ws_signed(uint64_t value, uint32_t width)
{
    if (width == 0)
        return 0;
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

static inline uint64_t ws_shl(uint64_t value, uint64_t amount)
{
    return amount >= 64 ? 0 : value << amount;
}

static inline uint64_t ws_shr(uint64_t value, uint64_t amount)
{
    return amount >= 64 ? 0 : value >> amount;
}

/* Copies of the sign enter. */
static inline uint64_t ws_sar(uint64_t value, uint64_t amount, uint32_t width)
{
    return (uint64_t)(ws_signed(value, width) >> (amount >= 64 ? 63 : amount)) & ws_mask(width);
}

/* By zero gives zero. */
static inline uint64_t ws_div(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : a / b;
}

/* By zero gives zero. */
static inline uint64_t ws_rem(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : a % b;
}

static inline uint64_t ws_add_saturating(uint64_t a, uint64_t b, uint32_t width)
{
    uint64_t max = ws_mask(width);
    return a > max - b ? max : a + b;
}

static inline uint64_t ws_sub_saturating(uint64_t a, uint64_t b)
{
    return a < b ? 0 : a - b;
}

static inline uint64_t ws_clamp_signed(__int128 value, uint32_t width)
{
    if (width == 0)
        return 0;
    __int128 half = (__int128)1 << (width - 1);
    if (value >= half)
        value = half - 1;
    if (value < -half)
        value = -half;
    return (uint64_t)value & ws_mask(width);
}

static inline uint64_t ws_add_saturating_signed(uint64_t a, uint64_t b, uint32_t width)
{
    return ws_clamp_signed((__int128)ws_signed(a, width) + ws_signed(b, width), width);
}

static inline uint64_t ws_sub_saturating_signed(uint64_t a, uint64_t b, uint32_t width)
{
    return ws_clamp_signed((__int128)ws_signed(a, width) - ws_signed(b, width), width);
}

/* The bits where the mask has ones, moved together, the lowest first. */
static inline uint64_t ws_gather(uint64_t a, uint64_t mask)
{
#if defined(__BMI2__)
    return __builtin_ia32_pext_di(a, mask);
#else
    uint64_t gathered = 0;
    for (uint32_t to = 0; mask != 0; to++, mask &= mask - 1)
        gathered |= (a >> __builtin_ctzll(mask) & 1) << to;
    return gathered;
#endif
}

/* The lowest bits, in order, where the mask has ones. */
static inline uint64_t ws_scatter(uint64_t a, uint64_t mask)
{
#if defined(__BMI2__)
    return __builtin_ia32_pdep_di(a, mask);
#else
    uint64_t scattered = 0;
    for (uint32_t from = 0; mask != 0; from++, mask &= mask - 1)
        scattered |= (a >> from & 1) << __builtin_ctzll(mask);
    return scattered;
#endif
}

#endif
