/* The limit: ZipLine's encoder and decoder, hand-written, in place, with the usual optimisations, for chunks of 32
 * bytes and the Hamming code of 255 bits. It does nothing else.
 *
 * Tables hold codewords instead of bases, so that no bit moves within a word and the decoder computes no parity. A
 * syndrome is the xor of the contributions of the chunk's bytes, or comes from a few carry-less multiplications where
 * the processor has them. Identifiers are looked up in a hash table with open addressing, at most half full, whose keys
 * are stored apart from its slots. Later memory accesses are prefetched one step ahead. There is no architecture, no
 * metadata, no counters.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX2__) && defined(__PCLMUL__) && defined(__AES__)
#include <immintrin.h>
#define HAS_VECTORS
#endif

#define EXPORT __attribute__((visibility("default")))
#define BURST 64u
#define ETHERNET 14u
#define CHUNK 32u
#define REFERENCE 3u
#define SHORTER (CHUNK - REFERENCE)
#define CODE 0x11du    /* x^8 + x^4 + x^3 + x^2 + 1 */
#define IDENTIFIERS 32768u

/* EtherTypes in network byte order. */
#define TYPE_IPV4 0x0008u
#define TYPE_REFERENCE 0xb688u

/* A packet, with headroom for a chunk before its bytes. */
struct frame {
    uint8_t *bytes;
    uint32_t length;
    uint32_t port; /* the port that it leaves; 0 if it is not sent */
};

typedef uint64_t chunk_t __attribute__((vector_size(32), aligned(1), may_alias));

struct slot {
    uint32_t hash;
    uint32_t number; /* the identifier plus 1; 0 if empty */
};

struct zipline {
    chunk_t *words; /* the codeword of each identifier */
    uint8_t *is_used;
    struct slot *slots;
    uint32_t last;
    uint8_t shares[CHUNK][256]; /* the contribution of a byte at a position to the syndrome */
    chunk_t wrong[256];         /* the error bit of a syndrome */
#ifdef HAS_VECTORS
    __m128i powers[3]; /* of x, by 64 bits; and the constants for quotients */
#endif
};

static chunk_t load(const uint8_t *p)
{
    return *(const chunk_t *)p;
}

/* The remainder of this power of x. */
static uint32_t power(uint32_t exponent)
{
    uint32_t rest = 1;
    while (exponent-- > 0) {
        rest <<= 1;
        rest ^= rest & 0x100 ? CODE : 0;
    }
    return rest;
}

/* A chunk in which only the bit of this power of x is set. */
static chunk_t bit(uint32_t exponent)
{
    uint8_t bytes[CHUNK] = {0};
    bytes[CHUNK - 1 - exponent / 8] = (uint8_t)(1u << exponent % 8);
    return load(bytes);
}

/* The chunk without the bit before the word. */
static chunk_t word_of(const uint8_t *p)
{
    const union {
        uint8_t bytes[CHUNK];
        chunk_t chunk;
    } word = {{0x7f, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
               255,  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}};
    return load(p) & word.chunk;
}

#ifdef HAS_VECTORS
static inline __attribute__((always_inline)) uint32_t syndrome(const struct zipline *it, chunk_t word)
{
    const long long first = 0x0001020304050607, second = 0x08090a0b0c0d0e0f;
    const __m256i turn = _mm256_set_epi64x(first, second, first, second);
    const __m256i halves = _mm256_shuffle_epi8((__m256i)word, turn);
    const __m128i upper = _mm256_castsi256_si128(halves), lower = _mm256_extracti128_si256(halves, 1);
    __m128i sum = _mm_clmulepi64_si128(upper, it->powers[0], 0x00) ^ _mm_clmulepi64_si128(upper, it->powers[0], 0x11);
    sum ^= _mm_clmulepi64_si128(lower, it->powers[1], 0x11) ^ _mm_move_epi64(lower);
    sum ^= _mm_clmulepi64_si128(sum, it->powers[1], 0x11);
    const __m128i above = _mm_srli_epi64(sum, 8), quotient = _mm_clmulepi64_si128(above, it->powers[2], 0x00);
    sum ^= _mm_clmulepi64_si128(above, it->powers[2], 0x10) ^ _mm_clmulepi64_si128(quotient, it->powers[2], 0x11);
    return (uint8_t)_mm_cvtsi128_si32(sum);
}

static uint32_t hash_of(chunk_t word)
{
    const __m256i all = (__m256i)word;
    const __m128i once = _mm_aesenc_si128(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    return (uint32_t)_mm_cvtsi128_si32(_mm_aesenc_si128(once, once));
}
#else
static uint32_t syndrome(const struct zipline *it, chunk_t word)
{
    uint8_t bytes[CHUNK];
    uint32_t sum = 0;
    memcpy(bytes, &word, CHUNK);
    for (uint32_t i = 0; i < CHUNK; i++)
        sum ^= it->shares[i][bytes[i]];
    return sum;
}

static uint32_t hash_of(chunk_t word)
{
    const uint64_t first = (word[0] ^ word[2] >> 7) * 0x9e3779b97f4a7c15u;
    const uint64_t second = (word[1] ^ word[3] >> 9) * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)((first + second) >> 32);
}
#endif

EXPORT struct zipline *limit_new(uint32_t identifiers)
{
    struct zipline *it = aligned_alloc(64, (sizeof *it + 63) / 64 * 64);
    memset(it, 0, sizeof *it);
    uint32_t bits = 4;
    while ((1u << bits) < 2 * identifiers)
        bits++;
    it->slots = calloc((size_t)1 << bits, sizeof *it->slots);
    it->last = (1u << bits) - 1;
    it->words = aligned_alloc(64, IDENTIFIERS * sizeof *it->words);
    it->is_used = calloc(IDENTIFIERS, 1);
    for (uint32_t i = 0; i < CHUNK; i++)
        for (uint32_t byte = 0; byte < 256; byte++)
            for (uint32_t at = 0; at < 8; at++)
                it->shares[i][byte] ^= (uint8_t)(byte >> at & 1 ? power(8 * (CHUNK - 1 - i) + at) : 0);
    for (uint32_t exponent = 0; exponent < 255; exponent++)
        it->wrong[power(exponent)] = bit(exponent);
#ifdef HAS_VECTORS
    /* The quotient of x^72 and the code, without its highest bit. */
    uint64_t quotient = 0, rest = CODE & 0xff;
    for (uint32_t i = 0; i < 64; i++) {
        const uint64_t top = rest >> 7 & 1;
        quotient = quotient << 1 | top;
        rest = (rest << 1 ^ (top ? CODE : 0)) & 0xff;
    }
    it->powers[0] = _mm_set_epi64x(power(192), power(128));
    it->powers[1] = _mm_set_epi64x(power(64), 0);
    it->powers[2] = _mm_set_epi64x(CODE & 0xff, (long long)quotient);
#endif
    return it;
}

EXPORT void limit_free(struct zipline *it)
{
    free(it->slots);
    free(it->words);
    free(it->is_used);
    free(it);
}

/* Assigns the identifier to the chunk's basis. Bases and identifiers must be distinct. */
EXPORT void limit_basis(struct zipline *it, const uint8_t *chunk, uint32_t identifier)
{
    chunk_t word = word_of(chunk);
    word ^= it->wrong[syndrome(it, word)];
    const uint32_t hash = hash_of(word);
    uint32_t place = hash & it->last;
    while (it->slots[place].number != 0)
        place = (place + 1) & it->last;
    it->slots[place] = (struct slot){hash, identifier + 1};
    it->words[identifier] = word;
    it->is_used[identifier] = 1;
}

static int is_same(chunk_t a, chunk_t b)
{
    const chunk_t other = a ^ b;
#ifdef HAS_VECTORS
    return _mm256_testz_si256((__m256i)other, (__m256i)other);
#else
    return (other[0] | other[1] | other[2] | other[3]) == 0;
#endif
}

/* The number in the slot of a word, or 0. */
static inline uint32_t number_of(const struct zipline *it, chunk_t word, uint32_t hash)
{
    for (uint32_t place = hash & it->last;; place = (place + 1) & it->last) {
        const struct slot slot = it->slots[place];
        if (slot.number == 0 || (slot.hash == hash && is_same(it->words[slot.number - 1], word)))
            return slot.number;
    }
}

static uint32_t ethertype(const uint8_t *bytes)
{
    uint16_t type;
    memcpy(&type, bytes + 12, sizeof type);
    return type;
}

static void refer(struct frame *frame, uint32_t identifier, uint32_t syndrome)
{
    uint8_t *const bytes = frame->bytes, *const to = bytes + SHORTER;
    const uint32_t reference = (uint32_t)(bytes[ETHERNET] & 0x80) << 8 | identifier;
    const uint32_t tail = TYPE_REFERENCE | (uint32_t)__builtin_bswap16((uint16_t)reference) << 16;
    uint64_t first;
    uint32_t second;
    memcpy(&first, bytes, sizeof first);
    memcpy(&second, bytes + 8, sizeof second);
    memcpy(to, &first, sizeof first);
    memcpy(to + 8, &second, sizeof second);
    memcpy(to + 12, &tail, sizeof tail);
    to[16] = (uint8_t)syndrome;
    frame->bytes = to;
    frame->length -= SHORTER;
}

/* Replaces chunks whose basis has an identifier by references. Returns how many frames are to be sent. */
EXPORT uint64_t limit_encode(const struct zipline *it, struct frame *frames, uint64_t count)
{
    for (uint64_t start = 0; start < count; start += BURST) {
        const uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        struct frame *const now = frames + start;
        chunk_t words[BURST];
        uint32_t hashes[BURST], rows = 0;
        uint8_t syndromes[BURST], list[BURST];
        for (uint32_t i = 0; i < burst; i++) {
            if (start + i + BURST < count)
                __builtin_prefetch(now[i + BURST].bytes);
            now[i].port = 2;
            if (now[i].length < ETHERNET + CHUNK || ethertype(now[i].bytes) != TYPE_IPV4)
                continue;
            const chunk_t word = word_of(now[i].bytes + ETHERNET);
            syndromes[rows] = (uint8_t)syndrome(it, word);
            words[rows] = word ^ it->wrong[syndromes[rows]];
            hashes[rows] = hash_of(words[rows]);
            __builtin_prefetch(it->slots + (hashes[rows] & it->last));
            list[rows++] = (uint8_t)i;
        }
        for (uint32_t row = 0; row < rows; row++) {
            const uint32_t number = number_of(it, words[row], hashes[row]);
            if (number != 0)
                refer(now + list[row], number - 1, syndromes[row]);
        }
    }
    return count;
}

static void restore(const struct zipline *it, struct frame *frame, uint32_t identifier)
{
    uint8_t *const bytes = frame->bytes, *const to = bytes - SHORTER;
    const uint8_t aside = bytes[ETHERNET] & 0x80;
    const chunk_t word = it->words[identifier] ^ it->wrong[bytes[ETHERNET + 2]];
    const uint16_t type = TYPE_IPV4;
    uint64_t first;
    uint32_t second;
    memcpy(&first, bytes, sizeof first);
    memcpy(&second, bytes + 8, sizeof second);
    memcpy(to, &first, sizeof first);
    memcpy(to + 8, &second, sizeof second);
    memcpy(to + 12, &type, sizeof type);
    *(chunk_t *)(to + ETHERNET) = word;
    to[ETHERNET] |= aside;
    frame->bytes = to;
    frame->length += SHORTER;
}

/* Replaces references by chunks. Returns how many frames are to be sent; those with unknown identifiers are dropped. */
EXPORT uint64_t limit_decode(const struct zipline *it, struct frame *frames, uint64_t count)
{
    uint64_t sent = 0;
    for (uint64_t start = 0; start < count; start += BURST) {
        const uint32_t burst = count - start < BURST ? (uint32_t)(count - start) : BURST;
        struct frame *const now = frames + start;
        uint32_t identifiers[BURST];
        for (uint32_t i = 0; i < burst; i++) {
            if (start + i + BURST < count)
                __builtin_prefetch(now[i + BURST].bytes);
            const uint8_t *const at = now[i].bytes + ETHERNET;
            const uint32_t is_reference =
                now[i].length >= ETHERNET + REFERENCE && ethertype(now[i].bytes) == TYPE_REFERENCE;
            identifiers[i] = is_reference ? (uint32_t)(at[0] & 0x7f) << 8 | at[1] : IDENTIFIERS;
            __builtin_prefetch(it->words + identifiers[i] % IDENTIFIERS);
        }
        for (uint32_t i = 0; i < burst; i++) {
            const uint32_t is_known = identifiers[i] == IDENTIFIERS || it->is_used[identifiers[i]];
            if (is_known && identifiers[i] != IDENTIFIERS)
                restore(it, now + i, identifiers[i]);
            now[i].port = is_known ? 2 : 0;
            sent += is_known;
        }
    }
    return sent;
}
