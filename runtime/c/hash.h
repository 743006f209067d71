/* Hash and checksum functions over bytes.
 *
 * A hash runs over the program's inputs and then, optionally, over the packet's payload: two ranges. The tables of a
 * CRC exist if the program defines WS_CRC32, WS_CRC16 or WS_CRC_CCITT before including this file; they are filled when
 * the shared object is loaded.
 */
#ifndef WIRESPEED_HASH_H
#define WIRESPEED_HASH_H

#include "header.h"

/* Ones' complement sums do not depend on the order of the two bytes of words, as long as it is the same for all words.
 * So bytes are summed as the machine loads them ("native" sums), and swapped once at the end. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WS_SUM_FIRST_BYTE 0u
#define WS_SUM_SECOND_BYTE 8u
#else
#define WS_SUM_FIRST_BYTE 8u
#define WS_SUM_SECOND_BYTE 0u
#endif

/* An invalid sum: additions to it do not clear its highest bit. */
#define WS_SUM_LOST (UINT32_C(1) << 31)

/* Adds to a native sum, with an end-around carry, since 2^64 is 1 modulo 65,535. Only the sum of zeros becomes zero. */
static inline WS_UNUSED uint64_t ws_sum_add(uint64_t sum, uint64_t summand)
{
#if defined(__x86_64__)
    /* Compilers make twice as many instructions from the other form. */
    __asm__("addq %1, %0\n\tadcq $0, %0" : "+r"(sum) : "rm"(summand) : "cc");
    return sum;
#else
    sum += summand;
    return sum + (sum < summand);
#endif
}

static inline WS_UNUSED uint64_t ws_sum_load64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline WS_UNUSED uint64_t ws_sum_load32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline WS_UNUSED uint64_t ws_sum_load16(const uint8_t *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* The native sum of bytes, the first of which is the first of a word. */
static inline uint64_t ws_sum_bytes(const uint8_t *bytes, uint64_t count)
{
    uint64_t sum = 0;
    for (; count >= 4; bytes += 4, count -= 4)
        sum += ws_sum_load32(bytes);
    if (count >= 2) {
        sum += ws_sum_load16(bytes);
        bytes += 2;
        count -= 2;
    }
    if (count != 0)
        sum += (uint64_t)bytes[0] << WS_SUM_FIRST_BYTE;
    return sum;
}

/* A word as a summand, small enough that sums of many do not overflow. */
static inline WS_UNUSED uint64_t ws_sum_word(uint64_t word)
{
    return (word >> 32) + (word & 0xffffffffu);
}

/* The sum as a 16-bit ones' complement number; 0 only if the sum is. */
static inline uint64_t ws_sum_fold(uint64_t sum)
{
    /* A carry out of the lower half reaches the upper one, from which the result is taken. */
    uint32_t half = (uint32_t)((sum + (sum >> 32 | sum << 32)) >> 32);
    return (half + (half >> 16 | half << 16)) >> 16;
}

/* The same for a sum of at most 32 bits. */
static inline WS_UNUSED uint64_t ws_sum_fold_short(uint32_t sum)
{
    return (sum + (sum >> 16 | sum << 16)) >> 16;
}

/* A folded sum from native to network order, or back. */
static inline uint64_t ws_sum_turn(uint64_t folded)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap16((uint16_t)folded);
#else
    return folded;
#endif
}

/* A native sum as a 16-bit number. */
static inline uint64_t ws_sum_network(uint64_t native)
{
    return ws_sum_turn(ws_sum_fold(native));
}

/* The checksum of a folded native sum. */
static inline WS_UNUSED uint64_t ws_checksum(uint64_t folded)
{
    return ws_sum_turn((uint16_t)~folded);
}

/* A summand of at most 64 bits, whole words in network order, as a native one. */
static inline WS_UNUSED uint64_t ws_sum_native(uint64_t words)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(words);
#else
    return words;
#endif
}

/* The folded native sum of the complement of an old value and of a new value: up to 64 bits each, whole words in
 * network order. */
static inline WS_UNUSED uint64_t ws_sum_change(uint64_t taken, uint64_t added)
{
    return ws_sum_fold(ws_sum_add(ws_sum_native(taken), ws_sum_native(added)));
}

/* The native sum whose complement is the checksum at this address. */
static inline WS_UNUSED uint32_t ws_sum_of_checksum(const uint8_t *checksum)
{
    return (uint16_t)~ws_sum_load16(checksum);
}

/* A folded sum of bytes that begin at an odd offset: halves of words are exchanged. */
static inline uint64_t ws_sum_odd(uint64_t sum)
{
    return sum >> 8 | (sum & 0xff) << 8;
}

static inline WS_UNUSED uint64_t ws_hash_csum16(const uint8_t *a, uint64_t a_count, const uint8_t *b, uint64_t b_count)
{
    uint64_t sum = ws_sum_network(ws_sum_bytes(a, a_count)), rest = ws_sum_network(ws_sum_bytes(b, b_count));
    return ~ws_sum_fold(sum + (a_count % 2 != 0 ? ws_sum_odd(rest) : rest)) & 0xffff;
}

static inline uint64_t ws_xor_bytes(const uint8_t *bytes, uint64_t count)
{
    uint64_t words = 0;
    for (; count >= 8; bytes += 8, count -= 8)
        words ^= ws_load64(bytes);
    words ^= words >> 32;
    uint64_t value = (words ^ words >> 16) & 0xffff;
    for (; count >= 2; bytes += 2, count -= 2)
        value ^= ws_load16(bytes);
    return count != 0 ? value ^ (uint64_t)bytes[0] << 8 : value;
}

static inline WS_UNUSED uint64_t ws_hash_xor16(const uint8_t *a, uint64_t a_count, const uint8_t *b, uint64_t b_count)
{
    uint64_t value = ws_xor_bytes(a, a_count), rest = ws_xor_bytes(b, b_count);
    return value ^ (a_count % 2 != 0 ? rest >> 8 | (rest & 0xff) << 8 : rest);
}

static inline WS_UNUSED uint64_t ws_hash_identity(const uint8_t *a, uint64_t a_count, const uint8_t *b, uint64_t b_count)
{
    uint64_t value = 0;
    uint32_t left = 8;
    for (; a_count > 0 && left > 0; a_count--, left--)
        value = value << 8 | *a++;
    for (; b_count > 0 && left > 0; b_count--, left--)
        value = value << 8 | *b++;
    return value;
}

/* Tables for eight bytes at a time: [k][byte] is the effect of a byte that k more bytes follow. */
typedef uint32_t ws_crc_tables[8][256];

static inline WS_UNUSED void ws_crc_fill_reflected(ws_crc_tables tables, uint32_t reversed_polynomial)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (uint32_t bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? reversed_polynomial : 0);
        tables[0][byte] = crc;
    }
    for (uint32_t k = 1; k < 8; k++)
        for (uint32_t byte = 0; byte < 256; byte++)
            tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xff];
}

static inline WS_UNUSED void ws_crc_fill_ccitt(ws_crc_tables tables)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte << 8;
        for (uint32_t bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
        tables[0][byte] = crc;
    }
    for (uint32_t k = 1; k < 8; k++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = tables[k - 1][byte];
            tables[k][byte] = (crc << 8 ^ tables[0][crc >> 8]) & 0xffff;
        }
}

/* Four bytes as a number, the first one lowest. */
static inline WS_UNUSED uint32_t ws_load32_low(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The effect of four bytes, the first one lowest. */
static inline WS_UNUSED uint32_t ws_crc_step(const uint32_t (*t)[256], uint32_t bytes)
{
    return t[3][bytes & 0xff] ^ t[2][bytes >> 8 & 0xff] ^ t[1][bytes >> 16 & 0xff] ^ t[0][bytes >> 24];
}

static inline WS_UNUSED uint32_t ws_crc_reflected(const ws_crc_tables t, uint32_t crc, const uint8_t *p, uint64_t count)
{
    for (; count >= 8; p += 8, count -= 8) {
        uint32_t low = crc ^ ws_load32_low(p);
        crc = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^ t[4][low >> 24] ^ t[3][p[4]] ^ t[2][p[5]] ^
              t[1][p[6]] ^ t[0][p[7]];
    }
    if (count >= 4) {
        crc = ws_crc_step(t, crc ^ ws_load32_low(p));
        p += 4;
        count -= 4;
    }
    for (; count > 0; count--)
        crc = crc >> 8 ^ t[0][(crc ^ *p++) & 0xff];
    return crc;
}

static inline WS_UNUSED uint32_t ws_crc_forward16(const ws_crc_tables t, uint32_t crc, const uint8_t *p, uint64_t count)
{
    for (; count >= 8; p += 8, count -= 8)
        crc = t[7][crc >> 8 ^ p[0]] ^ t[6][(crc & 0xff) ^ p[1]] ^ t[5][p[2]] ^ t[4][p[3]] ^ t[3][p[4]] ^ t[2][p[5]] ^
              t[1][p[6]] ^ t[0][p[7]];
    if (count >= 4) {
        crc = t[3][crc >> 8 ^ p[0]] ^ t[2][(crc & 0xff) ^ p[1]] ^ t[1][p[2]] ^ t[0][p[3]];
        p += 4;
        count -= 4;
    }
    for (; count > 0; count--)
        crc = (crc << 8 ^ t[0][crc >> 8 ^ *p++]) & 0xffff;
    return crc;
}

/* The first four bytes of the data of a hash that is continued: its value for the data before. */
static inline WS_UNUSED uint32_t ws_hash_before(const uint8_t *bytes)
{
    return (uint32_t)ws_load16(bytes) << 16 | (uint32_t)ws_load16(bytes + 2);
}

/* At most sixteen bytes to be hashed, in registers: the last byte is the highest of `high`, and missing bytes are zero.
 * For a CRC that starts with zero, leading zeros do not matter; a CRC that starts with ones takes the first four bytes
 * inverted. */
struct ws_short {
    uint64_t low, high;
};

/* Adds bytes, one to eight of them, as a number in network order. */
static inline WS_UNUSED struct ws_short ws_short_add(struct ws_short to, uint64_t number, uint32_t bytes)
{
    const uint32_t free = 64 - 8 * bytes;
    const uint64_t turned = __builtin_bswap64(number << free);
    if (bytes == 8)
        return (struct ws_short){to.high, turned};
    return (struct ws_short){to.low >> 8 * bytes | to.high << free, to.high >> 8 * bytes | turned << free};
}

#if defined(__PCLMUL__)
typedef long long ws_crc_pair __attribute__((vector_size(16)));

/* The constants of a CRC of `width` bits by multiplication: polynomials whose highest power of x is the lowest bit. In
 * order: x^(63 + width) and x^(width - 1), by which words are multiplied, and x^63, all three modulo the polynomial and
 * of 64 bits; the quotient of x^64 and the polynomial, of 65 - width bits; the polynomial. A product has one power of x
 * more than its bits allow. */
struct ws_crc_factors {
    uint64_t words[2], rest, quotient, polynomial;
    uint32_t width;
};

static inline WS_UNUSED uint32_t ws_crc_short(struct ws_crc_factors factors, struct ws_short bytes)
{
    const long long below = (long long)(UINT64_MAX >> factors.width);
    const ws_crc_pair data = {(long long)bytes.low, (long long)bytes.high};
    const ws_crc_pair words = {(long long)factors.words[0], (long long)factors.words[1]};
    const ws_crc_pair others = {(long long)factors.rest, (long long)factors.quotient};
    const ws_crc_pair polynomial = {(long long)factors.polynomial, 0};
    const ws_crc_pair sum = __builtin_ia32_pclmulqdq128(data, words, 0) ^ __builtin_ia32_pclmulqdq128(data, words, 0x11);
    /* Its upper half remains to be divided. */
    const ws_crc_pair left = sum ^ __builtin_ia32_pclmulqdq128(sum, others, 0);
    const ws_crc_pair quotient = __builtin_ia32_pclmulqdq128(left & (ws_crc_pair){0, below}, others, 0x11);
    const ws_crc_pair product = __builtin_ia32_pclmulqdq128(quotient & (ws_crc_pair){below, 0}, polynomial, 0);
    return (uint32_t)((uint64_t)(left[1] ^ product[0]) >> (64 - factors.width));
}
#else
/* The same by tables. */
static inline WS_UNUSED uint32_t ws_crc_short_by(const ws_crc_tables tables, struct ws_short bytes)
{
    uint8_t spelled[16];
    for (uint32_t i = 0; i < 16; i++)
        spelled[i] = (uint8_t)((i < 8 ? bytes.low : bytes.high) >> 8 * (i % 8));
    return ws_crc_reflected(tables, 0, spelled, sizeof spelled);
}
#endif

#ifdef WS_CRC32
static ws_crc_tables ws_crc32_tables;

__attribute__((constructor)) static void ws_crc32_fill(void)
{
    ws_crc_fill_reflected(ws_crc32_tables, 0xedb88320u);
}

static inline uint64_t ws_crc32_from(uint32_t crc, const uint8_t *a, uint64_t a_count, const uint8_t *b, uint64_t b_count)
{
    crc = ws_crc_reflected((const uint32_t(*)[256])ws_crc32_tables, crc, a, a_count);
    return (uint32_t)~ws_crc_reflected((const uint32_t(*)[256])ws_crc32_tables, crc, b, b_count);
}

static inline WS_UNUSED uint64_t ws_hash_crc32(const uint8_t *a, uint64_t a_count, const uint8_t *b, uint64_t b_count)
{
    return ws_crc32_from(0xffffffffu, a, a_count, b, b_count);
}

/* The same for at most sixteen bytes, of which the first four are inverted. */
static inline WS_UNUSED uint64_t ws_hash_crc32_short(struct ws_short bytes)
{
#if defined(__PCLMUL__)
    const struct ws_crc_factors factors = {
        {0xccaa009e00000000u, 0x100000000u}, 0xb8bc676500000000u, 0x1f7011641u, 0x1db710641u, 32};
    return (uint32_t)~ws_crc_short(factors, bytes);
#else
    return (uint32_t)~ws_crc_short_by((const uint32_t(*)[256])ws_crc32_tables, bytes);
#endif
}

static inline WS_UNUSED uint64_t ws_hash_crc32_continued(const uint8_t *a, uint64_t a_count, const uint8_t *b,
                                                         uint64_t b_count)
{
    return ws_crc32_from(~ws_hash_before(a), a + 4, a_count - 4, b, b_count);
}
#endif

#ifdef WS_CRC16
static ws_crc_tables ws_crc16_tables;

__attribute__((constructor)) static void ws_crc16_fill(void)
{
    ws_crc_fill_reflected(ws_crc16_tables, 0xa001u);
}

static inline uint64_t ws_crc16_from(uint32_t crc, const uint8_t *a, uint64_t a_count, const uint8_t *b, uint64_t b_count)
{
    crc = ws_crc_reflected((const uint32_t(*)[256])ws_crc16_tables, crc, a, a_count);
    return ws_crc_reflected((const uint32_t(*)[256])ws_crc16_tables, crc, b, b_count);
}

static inline WS_UNUSED uint64_t ws_hash_crc16(const uint8_t *a, uint64_t a_count, const uint8_t *b, uint64_t b_count)
{
    return ws_crc16_from(0, a, a_count, b, b_count);
}

/* The same for at most sixteen bytes. */
static inline WS_UNUSED uint64_t ws_hash_crc16_short(struct ws_short bytes)
{
#if defined(__PCLMUL__)
    const struct ws_crc_factors factors = {
        {0xccc1000000000000u, 0x1000000000000u}, 0xd101000000000000u, 0x1ebffcfffbfffu, 0x14003u, 16};
    return ws_crc_short(factors, bytes);
#else
    return ws_crc_short_by((const uint32_t(*)[256])ws_crc16_tables, bytes);
#endif
}

static inline WS_UNUSED uint64_t ws_hash_crc16_continued(const uint8_t *a, uint64_t a_count, const uint8_t *b,
                                                         uint64_t b_count)
{
    return ws_crc16_from(ws_hash_before(a) & 0xffff, a + 4, a_count - 4, b, b_count);
}
#endif

#ifdef WS_CRC_CCITT
static ws_crc_tables ws_crc_ccitt_tables;

__attribute__((constructor)) static void ws_crc_ccitt_fill(void)
{
    ws_crc_fill_ccitt(ws_crc_ccitt_tables);
}

static inline uint64_t ws_hash_crc_ccitt(const uint8_t *a, uint64_t a_count, const uint8_t *b, uint64_t b_count)
{
    uint32_t crc = ws_crc_forward16((const uint32_t(*)[256])ws_crc_ccitt_tables, 0xffff, a, a_count);
    return ws_crc_forward16((const uint32_t(*)[256])ws_crc_ccitt_tables, crc, b, b_count);
}
#endif

static inline uint32_t ws_crc_custom(const struct ws_crc *crc, uint32_t remainder, const uint8_t *p, uint64_t count)
{
    const uint32_t(*const t)[256] = crc->tables;
    if (crc->is_reflected) {
        for (; count >= 4; p += 4, count -= 4)
            remainder = ws_crc_step(t, remainder ^ ws_load32_low(p));
        for (; count > 0; count--)
            remainder = remainder >> 8 ^ t[0][(remainder ^ *p++) & 0xff];
        return remainder;
    }
    const uint32_t mask = (uint32_t)ws_mask(crc->width), top = crc->width - 8;
    for (; count >= 4; p += 4, count -= 4)
        remainder = ws_crc_step(t, __builtin_bswap32(remainder << (32 - crc->width) ^ (uint32_t)ws_load32(p)));
    for (; count > 0; count--)
        remainder = (remainder << 8 ^ t[0][(remainder >> top ^ *p++) & 0xff]) & mask;
    return remainder;
}

/* Converts the remainder to the result of the CRC, or back. */
static inline uint32_t ws_crc_turned(const struct ws_crc *crc, uint32_t remainder)
{
    if (!crc->is_reversed)
        return remainder;
    uint32_t turned = __builtin_bswap32(remainder);
    turned = (turned >> 4 & 0x0f0f0f0fu) | (turned & 0x0f0f0f0fu) << 4;
    turned = (turned >> 2 & 0x33333333u) | (turned & 0x33333333u) << 2;
    turned = (turned >> 1 & 0x55555555u) | (turned & 0x55555555u) << 1;
    return turned >> (32 - crc->width);
}

static inline uint64_t ws_hash_from(const struct ws_crc *crc, uint32_t remainder, const uint8_t *a, uint64_t a_count,
                                    const uint8_t *b, uint64_t b_count)
{
    remainder = ws_crc_custom(crc, ws_crc_custom(crc, remainder, a, a_count), b, b_count);
    return (ws_crc_turned(crc, remainder) ^ crc->final_xor) & ws_mask(crc->width);
}

static inline WS_UNUSED uint64_t ws_hash_custom(const struct ws_crc *crc, const uint8_t *a, uint64_t a_count, const uint8_t *b,
                                                uint64_t b_count)
{
    return ws_hash_from(crc, crc->start, a, a_count, b, b_count);
}

/* Continues the hash whose value is in the first four bytes. */
static inline WS_UNUSED uint64_t ws_hash_continued(const struct ws_crc *crc, const uint8_t *a, uint64_t a_count,
                                                   const uint8_t *b, uint64_t b_count)
{
    uint32_t remainder = ws_crc_turned(crc, (ws_hash_before(a) ^ crc->final_xor) & (uint32_t)ws_mask(crc->width));
    return ws_hash_from(crc, remainder, a + 4, a_count - 4, b, b_count);
}

/* The remainder of the limbs, lowest first, on division by x^width + constants[1]. cgen's remainder.rs defines the
 * constants. */
#if defined(__PCLMUL__)
typedef long long ws_pair __attribute__((vector_size(16)));
typedef unsigned long long ws_plain_pair __attribute__((vector_size(16)));

/* Values stay in vector registers until the end: moving them out and back takes longer than a multiplication. The last
 * argument of a multiplication selects halves: 0x01 the first operand's upper half, 0x10 the second's. */
static inline WS_UNUSED uint64_t ws_remainder(const uint64_t *constants, uint32_t width, const uint64_t *limbs,
                                              uint32_t count)
{
    const ws_pair divisor = {(long long)constants[1], 0}, powers = {(long long)constants[2], (long long)constants[0]};
    ws_pair sum = {(long long)limbs[0], 0};
    if (WS_IS_FOUR(64 * count)) {
        const ws_four all = WS_FOUR_OF(limbs);
        const ws_pair lower = {(long long)all[0], (long long)all[1]}, upper = {(long long)all[2], (long long)all[3]};
        const ws_pair far = {(long long)constants[3], (long long)constants[4]};
        sum = lower & (ws_pair){-1, 0};
        sum ^= __builtin_ia32_pclmulqdq128(lower, powers, 0x01) ^ __builtin_ia32_pclmulqdq128(upper, far, 0) ^
               __builtin_ia32_pclmulqdq128(upper, far, 0x11);
    } else {
        WS_EACH_LIMB
        for (uint32_t i = 1; i < count; i++) {
            const ws_pair limb = {(long long)limbs[i], 0}, power = {(long long)constants[1 + i], 0};
            sum ^= __builtin_ia32_pclmulqdq128(limb, power, 0);
        }
    }
    /* The upper half has fewer bits than the width, at most 32: their product fits the lower half. */
    sum ^= __builtin_ia32_pclmulqdq128(sum, powers, 0x01);
    const ws_pair above = (ws_pair)((ws_plain_pair)sum >> (unsigned long long)width);
    const ws_pair quotient = __builtin_ia32_pclmulqdq128(above, powers, 0x10);
    sum ^= __builtin_ia32_pclmulqdq128(above, divisor, 0) ^ __builtin_ia32_pclmulqdq128(quotient, divisor, 0x01);
    return (uint64_t)sum[0] & ws_mask(width);
}
#else
/* The product of two polynomials over the field of two elements. */
struct ws_product {
    uint64_t low, high;
};

static inline struct ws_product ws_multiply(uint64_t a, uint64_t b)
{
    struct ws_product product = {0, 0};
    for (uint32_t bit = 0; bit < 64; bit++) {
        uint64_t taken = 0 - (b >> bit & 1);
        product.low ^= (a << bit) & taken;
        product.high ^= (bit != 0 ? a >> (64 - bit) : 0) & taken;
    }
    return product;
}

static inline WS_UNUSED uint64_t ws_remainder(const uint64_t *constants, uint32_t width, const uint64_t *limbs,
                                              uint32_t count)
{
    uint64_t low = limbs[0], high = 0;
    WS_EACH_LIMB
    for (uint32_t i = 1; i < count; i++) {
        struct ws_product product = ws_multiply(limbs[i], constants[1 + i]);
        low ^= product.low;
        high ^= product.high;
    }
    /* Above the lower limb there are fewer bits than the width, at most 32: their product fits a limb. */
    low ^= ws_multiply(high, constants[2]).low;
    uint64_t above = low >> width, quotient = above ^ ws_multiply(above, constants[0]).high;
    return (low ^ ws_multiply(quotient, constants[1]).low) & ws_mask(width);
}
#endif

/* Joins values of any width, most significant bit first. Whole words are stored; the bits after them wait, as a number.
 * The buffer has room for eight bytes more than the values take. */
struct ws_joined {
    uint8_t *bytes;
    uint64_t waiting, bits;
};

static inline void ws_join(struct ws_joined *joined, uint64_t value, uint32_t width)
{
    const uint32_t space = 64 - (uint32_t)(joined->bits % 64);
    if (width < space) {
        joined->waiting = joined->waiting << width | value;
    } else {
        const uint32_t left = width - space;
        ws_store64(joined->bytes + joined->bits / 64 * 8, joined->waiting << (space - 1) << 1 | value >> left);
        joined->waiting = value & ws_mask(left);
    }
    joined->bits += width;
}

static inline void ws_join_wide(struct ws_joined *joined, const uint64_t *value, uint32_t width)
{
    uint32_t top = width % 64;
    if (top != 0)
        ws_join(joined, value[width / 64], top);
    for (uint32_t i = width / 64; i-- > 0;)
        ws_join(joined, value[i], 64);
}

/* Joins `count` bits of a header from bit `offset`. */
static inline void ws_join_bits(struct ws_joined *joined, const uint8_t *bytes, uint32_t offset, uint32_t count)
{
    bytes += offset / 8;
    if (offset % 8 != 0 && count > 0) {
        const uint32_t rest = 8 - offset % 8, first = count < rest ? count : rest;
        ws_join(joined, ws_load8(bytes++) >> (rest - first) & ws_mask(first), first);
        count -= first;
    }
    for (; count >= 64; bytes += 8, count -= 64)
        ws_join(joined, ws_load64(bytes), 64);
    for (; count >= 8; bytes++, count -= 8)
        ws_join(joined, ws_load8(bytes), 8);
    if (count > 0)
        ws_join(joined, ws_load8(bytes) >> (8 - count), count);
}

/* Stores what waits, with zeros up to a whole word. Returns how many bytes the values take. */
static inline uint64_t ws_join_end(const struct ws_joined *joined)
{
    const uint32_t used = (uint32_t)(joined->bits % 64);
    if (used != 0)
        ws_store64(joined->bytes + joined->bits / 64 * 8, joined->waiting << (64 - used));
    return (joined->bits + 7) / 8;
}

#endif
