/* Searches in exact tables whose keys are a few words, without a call: `tables::exact` defines the hash, and
 * `tables::hash_index` how slots are filled.
 *
 * What enters: the keys of a burst, row by row, and the table's handle. What leaves: entries. All keys are hashed
 * before any is searched, so that the cache misses of a large table overlap.
 */
#ifndef WIRESPEED_ROWS_H
#define WIRESPEED_ROWS_H

#include "wide.h"
#include "wirespeed.h"

/* The last slot of the largest index that fits the nearest caches: slots of larger ones, and their entries, are
 * prefetched. */
#define WS_NEAR_ROWS_LAST ((UINT64_C(1) << 11) - 1)

/* The factor of a hash's sum. */
#define WS_ROW_FACTOR UINT64_C(0x9e3779b1)

/* Replaces words by the products of their halves. */
WS_WIDE void ws_four_halves(ws_four *words)
{
#if defined(__AVX2__) && !defined(__clang__)
    /* Where the processor can multiply whole words, GCC would do so, which takes three times as long. */
    typedef int ws_halves __attribute__((vector_size(32)));
    *words = (ws_four)__builtin_ia32_pmuludq256((ws_halves)*words, (ws_halves)(*words >> 32));
#else
    *words = (*words & UINT32_MAX) * (*words >> 32);
#endif
}

/* The hash of a key: all words are xored with secrets, and the sum of the products of their halves is mixed. */
WS_WIDE uint32_t ws_row_hash(const uint64_t *secrets, const uint64_t *key, uint32_t words)
{
    uint64_t sum = 0;
    if (WS_IS_FOUR(64 * words)) {
        ws_four product = WS_FOUR_OF(key) ^ WS_FOUR_OF(secrets);
        ws_four_halves(&product);
        product += WS_LANES(ws_four, product, product, 2, 3, 0, 1);
        sum = (product + WS_LANES(ws_four, product, product, 1, 0, 3, 2))[0];
    } else {
        WS_EACH_LIMB
        for (uint32_t i = 0; i < words; i++) {
            const uint64_t word = key[i] ^ secrets[i];
            sum += (word & UINT32_MAX) * (word >> 32);
        }
    }
    const uint64_t mixed = (uint32_t)(sum ^ sum >> 32) * WS_ROW_FACTOR;
    return (uint32_t)(mixed ^ mixed >> 32);
}

WS_WIDE uint32_t ws_is_row(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint64_t other = 0;
    if (WS_IS_FOUR(64 * words))
        return ws_four_is_zero(WS_FOUR_OF(a) ^ WS_FOUR_OF(b));
    WS_EACH_LIMB
    for (uint32_t i = 0; i < words; i++)
        other |= a[i] ^ b[i];
    return other == 0;
}

/* Words from the default entry to that of a key; 0 if there is none. */
WS_WIDE uint64_t ws_follow_row(const struct ws_rows *rows, const uint64_t *key, uint32_t words, uint32_t hash)
{
    for (uint64_t place = hash & rows->last;; place = (place + 1) & rows->last) {
        const uint64_t slot = rows->slots[place], entry = (uint32_t)slot * rows->entry_words;
        if (slot == 0)
            return 0;
        if (slot >> 32 == hash && ws_is_row(rows->keys + entry, key, words))
            return entry;
    }
}

/* The entries of a burst's keys of this many words, or the default entry; returns how many keys have one of their own. */
WS_WIDE uint32_t ws_find_rows(const struct ws_lookup *table, const uint64_t *keys, uint32_t count, uint32_t words,
                              const struct ws_entry **entries)
{
    const struct ws_rows rows = table->rows;
    uint32_t hashes[WS_BURST_MAX], hits = 0;
    if (WS_UNLIKELY(rows.slots == NULL))
        return table->function(table->context, keys, count, entries);
    const uint32_t is_far = rows.last > WS_NEAR_ROWS_LAST;
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = ws_row_hash(rows.secrets, keys + i * words, words);
        if (is_far)
            __builtin_prefetch(rows.slots + (hashes[i] & rows.last));
    }
    /* Rarely, the entry has another key, and its cache line is fetched in vain. */
    for (uint32_t i = 0; is_far && i < count; i++)
        __builtin_prefetch(rows.keys + (uint32_t)rows.slots[hashes[i] & rows.last] * rows.entry_words);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t entry = ws_follow_row(&rows, keys + i * words, words, hashes[i]);
        hits += entry != 0;
        entries[i] = (const struct ws_entry *)(rows.entries + entry);
    }
    return hits;
}

#endif
