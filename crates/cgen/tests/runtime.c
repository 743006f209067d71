/* Tests of the runtime headers alone, compiled with the address and undefined-behaviour sanitizers. */
#define WS_CRC32
#define WS_CRC16
#define WS_CRC_CCITT
#include "wirespeed.h"
#include "deparse.h"
#include "hash.h"
#include "rows.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

typedef unsigned __int128 u128;

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* A number of up to 128 bits, often near a boundary. */
static u128 random_wide(uint32_t width)
{
    u128 value = (u128)random_number() << 64 | random_number();
    switch (random_number() % 5) {
    case 0:
        value = random_number() % 4;
        break;
    case 1:
        value = ~(u128)(random_number() % 4);
        break;
    case 2:
        value = (u128)1 << random_number() % width;
        break;
    }
    return width == 128 ? value : value & (((u128)1 << width) - 1);
}

static void put(uint64_t *limbs, u128 value)
{
    limbs[0] = (uint64_t)value;
    limbs[1] = (uint64_t)(value >> 64);
}

static u128 get(const uint64_t *limbs)
{
    return (u128)limbs[1] << 64 | limbs[0];
}

static u128 cut(u128 value, uint32_t width)
{
    return width == 128 ? value : value & (((u128)1 << width) - 1);
}

static __int128 as_signed(u128 value, uint32_t width)
{
    return (__int128)(value << (128 - width)) >> (128 - width);
}

static void test_wide_against_int128(void)
{
    for (uint32_t round = 0; round < 40000; round++) {
        uint32_t width = 65 + (uint32_t)(random_number() % 64), amount = (uint32_t)(random_number() % 150);
        u128 x = random_wide(width), y = random_wide(width);
        uint64_t a[2], b[2], d[2], e[2];
        put(a, x);
        put(b, y);
        ws_wide_add(d, a, b, width);
        CHECK(get(d) == cut(x + y, width));
        ws_wide_sub(d, a, b, width);
        CHECK(get(d) == cut(x - y, width));
        ws_wide_mul(d, a, b, width);
        CHECK(get(d) == cut(x * y, width));
        ws_wide_divide(d, e, a, b, width);
        CHECK(get(d) == (y == 0 ? 0 : x / y) && get(e) == (y == 0 ? 0 : x % y));
        ws_wide_neg(d, a, width);
        CHECK(get(d) == cut(-x, width));
        ws_wide_shl(d, a, amount, width);
        CHECK(get(d) == (amount >= width ? 0 : cut(x << amount, width)));
        ws_wide_bit(d, amount, width);
        CHECK(get(d) == (amount >= width ? 0 : (u128)1 << amount));
        ws_wide_shr(d, a, amount, width);
        CHECK(get(d) == (amount >= width ? 0 : x >> amount));
        ws_wide_sar(d, a, amount, width);
        CHECK(get(d) == cut((u128)(as_signed(x, width) >> (amount > 127 ? 127 : amount)), width));
        ws_wide_choose(d, amount % 2 == 0 ? 0 : amount, a, b, width);
        CHECK(get(d) == (amount % 2 == 0 ? y : x));
        CHECK(ws_wide_compare(a, b, width) == (x > y) - (x < y));
        __int128 s = as_signed(x, width), t = as_signed(y, width);
        CHECK(ws_wide_compare_signed(a, b, width) == (s > t) - (s < t));
    }
}

/* (a * b + c) / b == a and the rest is c, at every width, for c below b. */
static void test_division_undoes_multiplication(void)
{
    enum { LIMBS = WS_WIDTH_MAX / 64 };
    static uint64_t a[LIMBS], b[LIMBS], c[LIMBS], product[LIMBS], sum[LIMBS], quotient[LIMBS], rest[LIMBS];
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t width = round == 0 ? WS_WIDTH_MAX : 128 + (uint32_t)(random_number() % 4000);
        uint32_t half = width / 2 - 1;
        ws_wide_zero(a, width);
        ws_wide_zero(b, width);
        for (uint32_t i = 0; i < WS_LIMBS(half); i++) {
            a[i] = round % 3 == 0 ? ~UINT64_C(0) : random_number();
            b[i] = round % 4 == 0 ? ~UINT64_C(0) : random_number();
        }
        ws_wide_trim(a, half);
        ws_wide_trim(b, half);
        for (uint32_t i = WS_LIMBS(half); i < WS_LIMBS(width); i++)
            a[i] = b[i] = 0;
        if (ws_wide_is_zero(b, width))
            b[0] = 1;
        ws_wide_shr(c, b, 1, width);
        ws_wide_mul(product, a, b, width);
        ws_wide_add(sum, product, c, width);
        ws_wide_divide(quotient, rest, sum, b, width);
        CHECK(ws_wide_eq(quotient, a, width) && ws_wide_eq(rest, c, width));
    }
}

static void test_saturation(void)
{
    uint64_t max[2] = { ~UINT64_C(0), 0xf }, one[2] = { 1, 0 }, least[2] = { 0, 8 }, d[2];
    ws_wide_add_saturating(d, max, one, 68);
    CHECK(d[0] == max[0] && d[1] == max[1]);
    ws_wide_sub_saturating(d, one, max, 68);
    CHECK(d[0] == 0 && d[1] == 0);
    ws_wide_sub_saturating_signed(d, least, one, 68);
    CHECK(d[0] == 0 && d[1] == 8);
    ws_wide_add_saturating_signed(d, least, max, 68);
    CHECK(d[0] == 0 && d[1] == 8);
    CHECK(ws_add_saturating(~UINT64_C(0), 1, 64) == ~UINT64_C(0));
    CHECK(ws_add_saturating_signed(0x7f, 1, 8) == 0x7f);
    CHECK(ws_sub_saturating_signed(0x80, 1, 8) == 0x80);
    CHECK(ws_sar(0x80, 200, 8) == 0xff && ws_shl(1, 64) == 0 && ws_div(1, 0) == 0);
}

/* Bits that a mask picks, one by one. */
static void test_gathers_and_scatters(void)
{
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t width = 1 + (uint32_t)(random_number() % 300), at = 0;
        uint64_t value[5], mask[5], gathered[5], scattered[5];
        for (uint32_t i = 0; i < 5; i++) {
            value[i] = random_number();
            mask[i] = round % 4 == 0 ? ~UINT64_C(0) : random_number() & random_number();
        }
        ws_wide_trim(value, width);
        ws_wide_trim(mask, width);
        ws_wide_gather(gathered, value, mask, width);
        ws_wide_scatter(scattered, gathered, mask, width);
        for (uint32_t bit = 0; bit < width; bit++) {
            uint64_t is_picked = ws_wide_get(mask, bit, 1), here = ws_wide_get(value, bit, 1);
            CHECK(ws_wide_get(scattered, bit, 1) == (here & is_picked));
            if (is_picked)
                CHECK(ws_wide_get(gathered, at++, 1) == here);
        }
        for (; at < width; at++)
            CHECK(ws_wide_get(gathered, at, 1) == 0);
        CHECK(ws_gather(value[0], mask[0]) == gathered[0] || width > 64);
        CHECK(ws_scatter(gathered[0], mask[0]) == scattered[0]);
    }
}

/* What is stored at any bit offset is loaded again, and the bits around it stay. */
static void test_loads_and_stores(void)
{
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t width = 1 + (uint32_t)(random_number() % 300), offset = (uint32_t)(random_number() % 40);
        uint32_t size = (offset + width + 7) / 8;
        uint8_t *bytes = malloc(size);
        uint64_t value[5], loaded[5];
        for (uint32_t i = 0; i < 5; i++)
            value[i] = random_number();
        ws_wide_trim(value, width);
        for (uint32_t fill = 0; fill < 256; fill += 255) {
            memset(bytes, (int)fill, size);
            ws_wide_store(bytes, offset, width, value);
            ws_wide_load(loaded, bytes, offset, width);
            CHECK(ws_wide_eq(loaded, value, width));
            ws_lookahead(loaded, bytes, bytes + size, offset, width);
            CHECK(ws_wide_eq(loaded, value, width));
            for (uint32_t bit = 0; bit < 8 * size; bit++)
                if (bit < offset || bit >= offset + width)
                    CHECK((bytes[bit / 8] >> (7 - bit % 8) & 1) == (fill & 1));
        }
        free(bytes);
    }
    uint8_t two[2] = { 0xab, 0xcd };
    uint64_t ahead[1];
    ws_lookahead(ahead, two, two + 2, 8, 16);
    CHECK(ahead[0] == 0xcd00);
}

static uint64_t bit_of(const uint64_t *value, uint32_t bit)
{
    return value[bit / 64] >> bit % 64 & 1;
}

/* Values of four limbs, which may be vectors, bit by bit. */
static void test_four_limbs(void)
{
    for (uint32_t round = 0; round < 5000; round++) {
        uint32_t width = 193 + (uint32_t)(random_number() % 64), place = (uint32_t)(random_number() % 300);
        uint32_t low = (uint32_t)(random_number() % (257 - width)), above = (uint32_t)(random_number() % (257 - width));
        uint64_t a[4], b[4], d[9][4], few[1] = {random_number() & ws_mask(above)}, first = round % 2;
        for (uint32_t i = 0; i < 4; i++) {
            a[i] = random_number();
            b[i] = random_number();
        }
        ws_wide_trim(b, width);
        ws_wide_slice(d[0], width, a, low);
        ws_wide_trim(a, width);
        ws_wide_and(d[1], a, b, width);
        ws_wide_or(d[2], a, b, width);
        ws_wide_xor(d[3], a, b, width);
        ws_wide_not(d[4], a, width);
        ws_wide_choose(d[5], first, a, b, width);
        ws_wide_bit(d[6], place, width);
        ws_wide_copy(d[7], a, width);
        ws_wide_concat(d[8], a, width, few, above);
        for (uint32_t i = 0; i < width; i++) {
            uint64_t x = bit_of(a, i), y = bit_of(b, i);
            CHECK(bit_of(d[1], i) == (x & y) && bit_of(d[2], i) == (x | y) && bit_of(d[3], i) == (x ^ y));
            CHECK(bit_of(d[4], i) != x && bit_of(d[5], i) == (first ? x : y));
            CHECK(bit_of(d[6], i) == (i == place) && bit_of(d[7], i) == x && bit_of(d[8], i + above) == x);
            CHECK(i + low >= width || bit_of(d[0], i) == bit_of(a, i + low));
        }
        for (uint32_t i = 0; i < above; i++)
            CHECK(bit_of(d[8], i) == bit_of(few, i));
        for (uint32_t of = 0; of < 8; of++)
            for (uint32_t i = width; i < 256; i++)
                CHECK(bit_of(d[of], i) == 0);
        for (uint32_t i = width + above; i < 256; i++)
            CHECK(bit_of(d[8], i) == 0);
        ws_wide_zero(d[0], width);
        CHECK(ws_wide_is_zero(d[0], width));
    }
}

/* Bytes that are hashed in registers have the same hash as in memory, however they come there. */
static void test_short_hashes(void)
{
    for (uint32_t round = 0; round < 2000; round++) {
        uint8_t bytes[16];
        const uint32_t count = (uint32_t)(random_number() % 17);
        for (uint32_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)random_number();
        struct ws_short plain = {0, 0}, turned = {0, 0};
        for (uint32_t at = 0, size; at < count; at += size) {
            size = at == 0 ? 4 : 1 + (uint32_t)(random_number() % 8);
            size = size < count - at ? size : count - at;
            /* Bits above the bytes are ignored. */
            uint64_t number = random_number();
            for (uint32_t i = at; i < at + size; i++)
                number = number << 8 | bytes[i];
            plain = ws_short_add(plain, number, size);
            turned = ws_short_add(turned, at == 0 ? ~number : number, size);
        }
        CHECK(ws_hash_crc16_short(plain) == ws_hash_crc16(bytes, count, bytes, 0));
        if (count >= 4)
            CHECK(ws_hash_crc32_short(turned) == ws_hash_crc32(bytes, count, bytes, 0));
    }
}

/* A CRC of 16 or 32 bits, bit by bit. */
static uint32_t crc_by_bits(uint32_t width, uint32_t polynomial, uint32_t is_reflected, uint32_t crc, const uint8_t *bytes,
                            uint32_t count)
{
    for (uint32_t i = 0; i < 8 * count; i++) {
        const uint32_t bit = bytes[i / 8] >> (is_reflected ? i % 8 : 7 - i % 8) & 1;
        const uint32_t carry = (is_reflected ? crc & 1 : crc >> (width - 1)) ^ bit;
        crc = is_reflected ? crc >> 1 : crc << 1 & (uint32_t)ws_mask(width);
        crc ^= carry ? polynomial : 0;
    }
    return crc;
}

/* The hash of a custom CRC with tables that are filled here. */
static uint64_t custom_hash(uint32_t width, uint32_t polynomial, uint32_t is_reflected, const uint8_t *bytes, uint32_t count)
{
    static struct ws_crc crc;
    crc = (struct ws_crc){ .start = 0x1234, .width = width, .is_reflected = is_reflected };
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            const uint8_t followed[4] = { (uint8_t)byte, 0, 0, 0 };
            crc.tables[k][byte] = crc_by_bits(width, polynomial, is_reflected, 0, followed, k + 1);
        }
    const uint32_t split = count / 3;
    const uint64_t hash = ws_hash_custom(&crc, bytes, split, bytes + split, count - split);
    crc.is_reversed = 1;
    const uint64_t reversed = ws_hash_custom(&crc, bytes, split, bytes + split, count - split);
    for (uint32_t bit = 0; bit < width; bit++)
        CHECK((hash >> bit & 1) == (reversed >> (width - 1 - bit) & 1));
    CHECK(reversed <= ws_mask(width));
    return hash;
}

/* Hashes that process several bytes at once are those bit by bit, and word by word. */
static void check_long_hashes(uint32_t count)
{
    uint8_t bytes[40];
    uint32_t xored = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)random_number();
        xored ^= (uint32_t)bytes[i] << (i % 2 == 0 ? 8 : 0);
    }
    CHECK(ws_hash_xor16(bytes, count, bytes, 0) == xored);
    CHECK(ws_hash_crc16(bytes, count, bytes, 0) == crc_by_bits(16, 0xa001, 1, 0, bytes, count));
    CHECK(ws_hash_crc32(bytes, count, bytes, 0) == (uint32_t)~crc_by_bits(32, 0xedb88320, 1, 0xffffffff, bytes, count));
    CHECK(ws_hash_crc_ccitt(bytes, count, bytes, 0) == crc_by_bits(16, 0x1021, 0, 0xffff, bytes, count));
    for (uint32_t is_reflected = 0; is_reflected < 2; is_reflected++) {
        const uint32_t narrow = is_reflected ? 0xd015 : 0xa80b, wide = is_reflected ? 0x82f63b78 : 0x1edc6f41;
        CHECK(custom_hash(16, narrow, is_reflected, bytes, count) ==
              crc_by_bits(16, narrow, is_reflected, 0x1234, bytes, count));
        CHECK(custom_hash(32, wide, is_reflected, bytes, count) == crc_by_bits(32, wide, is_reflected, 0x1234, bytes, count));
    }
}

/* Appends a bit to those in `bytes`. */
static void append_bit(uint8_t *bytes, uint32_t *bits, uint64_t bit)
{
    bytes[*bits / 8] |= (uint8_t)((bit & 1) << (7 - *bits % 8));
    *bits += 1;
}

/* Values of any width and bits from any offset are joined as if bit by bit, and no other byte is written. */
static void test_joined(void)
{
    for (uint32_t round = 0; round < 2000; round++) {
        uint8_t buffer[128 + 8], expected[128] = { 0 }, header[24];
        uint64_t limbs[3];
        uint32_t bits = 0;
        struct ws_joined joined = { buffer, 0, 0 };
        for (uint32_t i = 0; i < 24; i++)
            header[i] = (uint8_t)random_number();
        for (uint32_t piece = 0; piece < 1 + round % 5; piece++) {
            const uint32_t kind = (uint32_t)(random_number() % 3), offset = (uint32_t)(random_number() % 24);
            const uint32_t width = (uint32_t)(random_number() % (kind == 0 ? 65 : 24 * 8 - 23));
            for (uint32_t limb = 0; limb < 3; limb++)
                limbs[limb] = random_number() & (width > 64 * limb ? ws_mask(width - 64 * limb) : 0);
            if (kind == 0)
                ws_join(&joined, limbs[0], width);
            else if (kind == 1)
                ws_join_wide(&joined, limbs, width);
            else
                ws_join_bits(&joined, header, offset, width);
            for (uint32_t i = 0; i < width; i++) {
                const uint32_t from = offset + i;
                append_bit(expected, &bits,
                           kind == 2 ? header[from / 8] >> (7 - from % 8) : limbs[(width - 1 - i) / 64] >> (width - 1 - i) % 64);
            }
        }
        CHECK(ws_join_end(&joined) == (bits + 7) / 8);
        CHECK(memcmp(buffer, expected, (bits + 7) / 8) == 0);
    }
}

static void test_hashes(void)
{
    test_short_hashes();
    const uint8_t *check = (const uint8_t *)"123456789";
    for (uint32_t split = 0; split <= 9; split++) {
        CHECK(ws_hash_crc32(check, split, check + split, 9 - split) == 0xcbf43926);
        CHECK(ws_hash_crc16(check, split, check + split, 9 - split) == 0xbb3d);
        CHECK(ws_hash_crc_ccitt(check, split, check + split, 9 - split) == 0x29b1);
        CHECK(ws_hash_identity(check, split, check + split, 9 - split) == UINT64_C(0x3132333435363738));
        CHECK(ws_hash_csum16(check, split, check + split, 9 - split) == ws_hash_csum16(check, 9, check, 0));
        CHECK(ws_hash_xor16(check, split, check + split, 9 - split) == ws_hash_xor16(check, 9, check, 0));
    }
    const uint8_t words[8] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };
    CHECK(ws_hash_csum16(words, 8, words, 0) == (~0xddf2u & 0xffff));
    CHECK(ws_hash_csum16(words, 0, words, 0) == 0xffff);

    for (uint32_t count = 0; count < 40; count++)
        check_long_hashes(count);
    test_joined();
}

static void test_stacks(void)
{
    uint32_t items[5] = { 1, 2, 3, 4, 5 };
    ws_rotate(items, 5, 2, 1);
    CHECK(items[0] == 4 && items[1] == 5 && items[2] == 1 && items[4] == 3);
    ws_rotate(items, 5, 2, 0);
    CHECK(items[0] == 1 && items[4] == 5);
    ws_rotate(items, 5, 5, 1);
    CHECK(items[0] == 1 && items[4] == 5);
    uint64_t valid[2] = { UINT64_C(1) << 63, 1 };
    ws_move_valid(valid, 70, 1, 1);
    CHECK(valid[0] == 0 && valid[1] == 3);
    ws_move_valid(valid, 70, 65, 0);
    CHECK(valid[0] == 1 && valid[1] == 0);
}

/* A chunk of 576 bytes: headroom from 320 on, 20 bytes of packet at `data`. */
static struct ws_packet *chunk(uint32_t data, uint32_t payload)
{
    struct ws_packet *packet = aligned_alloc(64, 576);
    memset(packet, 0, 576);
    packet->data = data;
    packet->length = 20;
    packet->payload = data + payload;
    packet->capacity = 576;
    for (uint32_t i = 0; i < 20; i++)
        *ws_at(packet, data + i) = (uint8_t)('a' + i);
    return packet;
}

static void check_packet(struct ws_packet *packet, const char *text)
{
    CHECK(packet->length == strlen(text));
    CHECK(memcmp(ws_at(packet, packet->data), text, packet->length) == 0);
    free(packet);
}

static void test_deparser(void)
{
    uint8_t bounce[64];
    /* In place: nothing moves. */
    struct ws_packet *packet = chunk(364, 6);
    struct ws_segment both[2] = { { 364, 4 }, { 368, 2 } };
    ws_deparse(packet, both, 2, bounce, 320);
    CHECK(packet->data == 364);
    check_packet(packet, "abcdefghijklmnopqrst");
    /* The second header is taken off: the first moves up to the payload. */
    packet = chunk(364, 6);
    ws_deparse(packet, both, 1, bounce, 320);
    check_packet(packet, "abcdghijklmnopqrst");
    /* A long one is taken off, so that the first has a place that nothing else is in. */
    packet = chunk(364, 12);
    struct ws_segment apart[2] = { { 364, 4 }, { 368, 2 } };
    ws_deparse(packet, apart, 2, bounce, 320);
    CHECK(packet->data == 370);
    check_packet(packet, "abcdefmnopqrst");
    /* They would be written over each other. */
    packet = chunk(364, 9);
    ws_deparse(packet, apart, 2, bounce, 320);
    check_packet(packet, "abcdefjklmnopqrst");
    /* Exchanged, and one of them twice. */
    packet = chunk(364, 6);
    struct ws_segment mixed[3] = { { 368, 2 }, { 364, 4 }, { 368, 2 } };
    ws_deparse(packet, mixed, 3, bounce, 320);
    check_packet(packet, "efabcdefghijklmnopqrst");
    /* No headroom: the payload moves. */
    packet = chunk(320, 6);
    memcpy(ws_at(packet, 544), "XY", 2);
    struct ws_segment pushed[2] = { { 544, 2 }, { 320, 6 } };
    ws_deparse(packet, pushed, 2, bounce, 320);
    check_packet(packet, "XYabcdefghijklmnopqrst");
    /* No headroom at all: the packet stays as it is, with a flag. */
    packet = chunk(320, 6);
    packet->capacity = 341;
    ws_deparse(packet, pushed, 2, bounce, 320);
    CHECK(packet->flags == WS_FLAG_NO_SPACE);
    check_packet(packet, "abcdefghijklmnopqrst");
}

/* x^power on division by x^width + polynomial. */
static uint64_t power_of_x(uint32_t power, uint32_t width, uint64_t polynomial)
{
    uint64_t remainder = 1;
    while (power-- > 0)
        remainder = (remainder << 1 ^ (remainder >> (width - 1) & 1 ? polynomial : 0)) & ws_mask(width);
    return remainder;
}

/* The remainder is the sum of those of all powers that the value has, for every width. */
static void test_remainders(void)
{
    for (uint32_t round = 0; round < 300; round++) {
        uint32_t width = 1 + round % 32, count = 1 + (uint32_t)(random_number() % 4);
        uint64_t polynomial = random_number() & ws_mask(width), limbs[4], constants[5], quotient = 0, left = 1, sum = 0;
        for (uint32_t bit = 0; bit < 64; bit++) {
            uint64_t is_over = left >> (width - 1) & 1;
            quotient = quotient << 1 | is_over;
            left = (left << 1 ^ (is_over ? polynomial : 0)) & ws_mask(width);
        }
        constants[0] = quotient << width;
        constants[1] = polynomial;
        for (uint32_t i = 1; i < 4; i++)
            constants[1 + i] = power_of_x(64 * i, width, polynomial);
        for (uint32_t i = 0; i < count; i++)
            limbs[i] = random_number();
        for (uint32_t bit = 0; bit < 64 * count; bit++)
            sum ^= limbs[bit / 64] >> bit % 64 & 1 ? power_of_x(bit, width, polynomial) : 0;
        CHECK(ws_remainder(constants, width, limbs, count) == sum);
    }
}

/* A table of words: entries of a header and one word of data, the default entry before all others. */
#define SLOTS 64u
#define ENTRY_WORDS 4u

static struct ws_slot slots[SLOTS];
static uint64_t entries[(SLOTS + 1) * ENTRY_WORDS];

static uint32_t pack_of(const struct ws_entry *entry)
{
    return entry->action | entry->hit << 4 | (uint32_t)entry->data[0] << 5;
}

static const struct ws_entry *entry_of(uint64_t key)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (slots[slot].entry != 0 && slots[slot].key == key)
            return (const struct ws_entry *)(entries + (slot + 1) * ENTRY_WORDS);
    return (const struct ws_entry *)entries;
}

static uint32_t look_up(const void *context, const uint64_t *keys, uint32_t count, const struct ws_entry **results)
{
    uint32_t hits = 0;
    (void)context;
    for (uint32_t i = 0; i < count; i++) {
        results[i] = entry_of(keys[i]);
        hits += results[i]->hit;
    }
    return hits;
}

static void fill_entry(uint32_t position, uint32_t hit)
{
    struct ws_entry *entry = (struct ws_entry *)(entries + position * ENTRY_WORDS);
    entry->action = (uint32_t)(random_number() % 15);
    entry->hit = hit;
    entry->data[0] = random_number() % (1 << 23);
}

/* This many keys, some of which have equal hashes, and one of which is 0. */
static void fill_words(const struct ws_words *words, uint32_t count)
{
    memset(slots, 0, sizeof slots);
    fill_entry(0, 0);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = random_number() % (i % 3 ? 64 : UINT64_MAX) * (i != 0);
        uint64_t place = ws_word_place(words, key);
        while (slots[place].entry != 0 && slots[place].key != key)
            place = (place + 1) & words->last;
        fill_entry((uint32_t)place + 1, 1);
        const uint64_t packed_result = pack_of((const struct ws_entry *)(entries + (place + 1) * ENTRY_WORDS));
        slots[place] = (struct ws_slot){key, packed_result << WS_PLACE_BITS | (place + 1) * ENTRY_WORDS};
    }
}

/* All searches find the same, also in a table without slots. */
static void test_words(void)
{
    const struct ws_words words = {slots, SLOTS - 1, random_number() | 1, entries, 1};
    for (uint32_t round = 0; round < 2000; round++) {
        fill_words(&words, round % SLOTS);
        const uint32_t count = (uint32_t)(random_number() % (WS_BURST_MAX + 1));
        uint64_t keys[WS_BURST_MAX];
        const struct ws_entry *expected[WS_BURST_MAX], *found[WS_BURST_MAX];
        uint32_t packed_results[WS_BURST_MAX];
        for (uint32_t i = 0; i < count; i++)
            keys[i] = random_number() % 2 ? slots[random_number() % SLOTS].key : random_number() % 64;
        const uint32_t hits = look_up(NULL, keys, count, expected);
        for (uint32_t engine = 0; engine < 3; engine++) {
            struct ws_lookup table = {.function = look_up, .words = words};
            table.words.gathers = engine;
            if (engine == 2)
                memset(&table.words, 0, sizeof table.words);
            const uint32_t none = ws_default_packed_result(&table, pack_of);
            CHECK(ws_find_words(&table, keys, count, found) == hits);
            CHECK(ws_find_packed_results(&table, keys, count, pack_of, packed_results) == hits);
            for (uint32_t i = 0; i < count; i++) {
                CHECK(found[i] == expected[i] && ws_find_word(&table, keys[i]) == expected[i]);
                CHECK((packed_results[i] != 0 ? packed_results[i] : none) == pack_of(expected[i]));
                CHECK(ws_find_packed_result(&table, keys[i], pack_of) == pack_of(expected[i]));
            }
        }
    }
}

/* Narrow keys have slots of their own. */
static void test_narrow_words(void)
{
    struct ws_lookup table = {.function = look_up, .words = {slots, SLOTS - 1, 0, entries, 1}};
    memset(slots, 0, sizeof slots);
    fill_entry(0, 0);
    for (uint64_t key = 0; key < SLOTS; key += 3) {
        fill_entry((uint32_t)key + 1, 1);
        const uint64_t packed_result = pack_of(entry_of(UINT64_MAX) + 2 * (key + 1));
        slots[key] = (struct ws_slot){key, packed_result << WS_PLACE_BITS | (key + 1) * ENTRY_WORDS};
    }
    for (uint64_t key = 0; key < SLOTS; key++) {
        CHECK(ws_find_narrow(&table, key) == entry_of(key));
        CHECK(ws_find_narrow_packed_result(&table, key, pack_of) == pack_of(entry_of(key)));
    }
}

/* A table of rows: entries of a header, one word of data, and the key. */
#define ROWS_MAX 3000u
#define ROW_SLOTS_MAX 8192u
#define ROW_WORDS_MAX 5u
#define ROW_ENTRY_WORDS 8u
#define ROW_KEY_AT 3u

static uint64_t row_slots[ROW_SLOTS_MAX];
static uint64_t row_entries[(ROWS_MAX + 1) * ROW_ENTRY_WORDS];

/* Keys of the first words of a row; so few of them differ that some are met. */
static void random_row(uint64_t *key, uint32_t words, uint32_t count)
{
    for (uint32_t word = 0; word < words; word++)
        key[word] = 0;
    key[random_number() % words] = random_number() % 2 ? UINT64_MAX : random_number() % (count + 1) << 31;
}

static uint64_t row_of(const uint64_t *key, uint32_t words, uint32_t count)
{
    for (uint32_t row = 1; row <= count; row++)
        if (memcmp(row_entries + row * ROW_ENTRY_WORDS + ROW_KEY_AT, key, words * sizeof *key) == 0)
            return row * ROW_ENTRY_WORDS;
    return 0;
}

/* Fills a table with up to this many rows, all different; returns how many they are. */
static uint32_t fill_rows(const struct ws_rows *rows, uint32_t words, uint32_t count)
{
    uint32_t filled = 0;
    memset(row_slots, 0, sizeof row_slots);
    memset(row_entries, 0, sizeof row_entries);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key[ROW_WORDS_MAX];
        random_row(key, words, count);
        if (row_of(key, words, filled) != 0)
            continue;
        filled++;
        memcpy(row_entries + filled * ROW_ENTRY_WORDS + ROW_KEY_AT, key, words * sizeof *key);
        const uint64_t hash = ws_row_hash(rows->secrets, key, words);
        uint64_t place = hash & rows->last;
        while (row_slots[place] != 0)
            place = (place + 1) & rows->last;
        row_slots[place] = hash << 32 | filled;
    }
    return filled;
}

static uint32_t look_up_nothing(const void *context, const uint64_t *keys, uint32_t count,
                                const struct ws_entry **results)
{
    (void)keys;
    for (uint32_t i = 0; i < count; i++)
        results[i] = context;
    return 0;
}

static void check_rows(uint32_t words, uint32_t slots_log, uint32_t count)
{
    uint64_t secrets[ROW_WORDS_MAX], keys[WS_BURST_MAX * ROW_WORDS_MAX];
    const struct ws_entry *found[WS_BURST_MAX];
    for (uint32_t word = 0; word < ROW_WORDS_MAX; word++)
        secrets[word] = random_number();
    struct ws_lookup table = {.function = look_up_nothing, .context = row_entries};
    table.rows = (struct ws_rows){row_slots,  (UINT64_C(1) << slots_log) - 1, secrets, row_entries,
                                  row_entries + ROW_KEY_AT, ROW_ENTRY_WORDS};
    const uint32_t filled = fill_rows(&table.rows, words, count);
    const uint32_t keys_count = (uint32_t)(random_number() % (WS_BURST_MAX + 1));
    uint32_t hits = 0;
    for (uint32_t i = 0; i < keys_count; i++) {
        random_row(keys + i * words, words, count);
        hits += row_of(keys + i * words, words, filled) != 0;
    }
    CHECK(ws_find_rows(&table, keys, keys_count, words, found) == hits);
    for (uint32_t i = 0; i < keys_count; i++)
        CHECK((const uint64_t *)found[i] == row_entries + row_of(keys + i * words, words, filled));
    table.rows.slots = NULL;
    CHECK(ws_find_rows(&table, keys, keys_count, words, found) == 0);
    for (uint32_t i = 0; i < keys_count; i++)
        CHECK((const uint64_t *)found[i] == row_entries);
}

/* Rows are found however many words they have and however full the index is, near and far. */
static void test_rows(void)
{
    for (uint32_t round = 0; round < 200; round++) {
        for (uint32_t words = 2; words <= ROW_WORDS_MAX; words++)
            check_rows(words, 6, round % 64);
    }
    for (uint32_t words = 2; words <= ROW_WORDS_MAX; words++)
        check_rows(words, 13, ROWS_MAX);
}

int main(void)
{
    test_words();
    test_narrow_words();
    test_rows();
    test_wide_against_int128();
    test_division_undoes_multiplication();
    test_saturation();
    test_remainders();
    test_gathers_and_scatters();
    test_loads_and_stores();
    test_four_limbs();
    test_hashes();
    test_stacks();
    test_deparser();
    return 0;
}
