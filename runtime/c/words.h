/* Searches in exact tables whose keys are one word, without a call: `tables::words` defines how slots are filled.
 *
 * What enters: keys, and the table's handle. What leaves: entries or, where a table has them, packed results: the
 * action and data of an entry in so few bits that they fit its slot (`tables::PackedLayout`). Keys of a burst are
 * searched eight at a time where the processor can, with the same results. The few keys that are not in the first slot
 * of their search are searched one by one after all others.
 */
#ifndef WIRESPEED_WORDS_H
#define WIRESPEED_WORDS_H

#include "wirespeed.h"

/* Bits of a slot's second word with the place of the entry; above them is its packed result. */
#define WS_PLACE_BITS 36u
#define WS_PLACES ((UINT64_C(1) << WS_PLACE_BITS) - 1)

/* The last slot of the largest table that fits the nearest caches: slots of larger ones are prefetched. */
#define WS_NEAR_LAST ((UINT64_C(1) << 16) - 1)

/* The packed result of an entry or default action. 0 also means the default action. */
typedef uint32_t ws_pack(const struct ws_entry *entry);

/* The entry for a key of a table without slots. */
static __attribute__((noinline)) WS_UNUSED const struct ws_entry *ws_ask_word(const struct ws_lookup *table,
                                                                              uint64_t key)
{
    const struct ws_entry *entry;
    table->function(table->context, &key, 1, &entry);
    return entry;
}

/* The slot where the search for a key begins. */
static inline uint64_t ws_word_place(const struct ws_words *words, uint64_t key)
{
    return __builtin_bswap64(key * words->factor) & words->last;
}

/* Whether prefetching the slot of each key, before a burst of them is searched, pays. */
static inline WS_UNUSED uint32_t ws_is_far(const struct ws_lookup *table)
{
    return table->words.last > WS_NEAR_LAST;
}

/* Prefetches the first slot of the search for a key. */
static inline WS_UNUSED void ws_fetch_word(const struct ws_lookup *table, uint64_t key)
{
    __builtin_prefetch(table->words.slots + ws_word_place(&table->words, key));
}

/* The second word of the slot with the key, in a search from slot `place` on; 0 if there is none. */
static inline uint64_t ws_follow_word(const struct ws_words *words, uint64_t key, uint64_t place)
{
    const struct ws_slot *slot = words->slots + place;
    while (WS_UNLIKELY(slot->key != key && slot->entry != 0)) {
        place = (place + 1) & words->last;
        slot = words->slots + place;
    }
    return slot->entry;
}

/* The entry of a slot; of a free one, the default entry. */
static inline const struct ws_entry *ws_slot_entry(const struct ws_words *words, uint64_t entry)
{
    return (const struct ws_entry *)(words->entries + (entry & WS_PLACES));
}

static inline uint32_t ws_slot_packed_result(uint64_t entry)
{
    return (uint32_t)(entry >> WS_PLACE_BITS);
}

/* The packed result of the default action. */
static inline WS_UNUSED uint32_t ws_default_packed_result(const struct ws_lookup *table, ws_pack *pack)
{
    return table->words.slots == NULL ? 0 : pack((const struct ws_entry *)table->words.entries);
}

/* The entry with this key, or the default entry. */
static inline WS_UNUSED const struct ws_entry *ws_find_word(const struct ws_lookup *table, uint64_t key)
{
    const struct ws_words *words = &table->words;
    if (WS_UNLIKELY(words->slots == NULL))
        return ws_ask_word(table, key);
    return ws_slot_entry(words, ws_follow_word(words, key, ws_word_place(words, key)));
}

/* The packed result of the entry with this key, or of the default action. */
static inline WS_UNUSED uint32_t ws_find_packed_result(const struct ws_lookup *table, uint64_t key, ws_pack *pack)
{
    const struct ws_words *words = &table->words;
    if (WS_UNLIKELY(words->slots == NULL))
        return pack(ws_ask_word(table, key));
    const uint64_t entry = ws_follow_word(words, key, ws_word_place(words, key));
    return entry != 0 ? ws_slot_packed_result(entry) : pack((const struct ws_entry *)words->entries);
}

/* The same two for narrow keys, each of which has a slot of its own. */
static inline WS_UNUSED const struct ws_entry *ws_find_narrow(const struct ws_lookup *table, uint64_t key)
{
    if (WS_UNLIKELY(table->words.slots == NULL))
        return ws_ask_word(table, key);
    return ws_slot_entry(&table->words, table->words.slots[key].entry);
}

static inline WS_UNUSED uint32_t ws_find_narrow_packed_result(const struct ws_lookup *table, uint64_t key,
                                                              ws_pack *pack)
{
    if (WS_UNLIKELY(table->words.slots == NULL))
        return pack(ws_ask_word(table, key));
    const uint64_t entry = table->words.slots[key].entry;
    return entry != 0 ? ws_slot_packed_result(entry) : pack((const struct ws_entry *)table->words.entries);
}

/* The results of a burst: the addresses of entries or, if `packed_results` is not null, packed results. */
struct ws_found {
    const struct ws_entry **entries;
    uint32_t *packed_results;
};

static inline void ws_note_word(const struct ws_words *words, struct ws_found found, uint32_t i, uint64_t entry)
{
    if (found.packed_results != NULL)
        found.packed_results[i] = ws_slot_packed_result(entry);
    else
        found.entries[i] = ws_slot_entry(words, entry);
}

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
/* Without the compiler's header of all vector instructions, which takes longer to read than most programs take to
 * compile. */
typedef uint64_t ws_eight __attribute__((vector_size(64)));
typedef long long ws_eight_signed __attribute__((vector_size(64)));
typedef char ws_eight_bytes __attribute__((vector_size(64)));
typedef uint32_t ws_eight_halves __attribute__((vector_size(32)));

static inline ws_eight ws_all_eight(uint64_t word)
{
    return (ws_eight){word, word, word, word, word, word, word, word};
}

#define WS_TURNED(at) at + 7, at + 6, at + 5, at + 4, at + 3, at + 2, at + 1, at
#define WS_TURNED_EIGHT                                                                                                \
    WS_TURNED(0), WS_TURNED(8), WS_TURNED(16), WS_TURNED(24), WS_TURNED(32), WS_TURNED(40), WS_TURNED(48), WS_TURNED(56)

/* The words with their bytes reversed. */
static inline ws_eight ws_turn_eight(ws_eight words)
{
#if defined(__clang__)
    return (ws_eight)__builtin_shufflevector((ws_eight_bytes)words, (ws_eight_bytes)words, WS_TURNED_EIGHT);
#else
    return (ws_eight)__builtin_shuffle((ws_eight_bytes)words, (ws_eight_bytes){WS_TURNED_EIGHT});
#endif
}

/* The words at these offsets, in words, from `base`. */
#define WS_GATHER_EIGHT(base, at)                                                                                      \
    ((ws_eight)__builtin_ia32_gatherdiv8di((ws_eight_signed){0}, base, (ws_eight_signed)(at), (char)0xff, 8))
/* A mask with one bit for each word that differs: comparisons of vectors return vectors. */
#define WS_DIFFER_EIGHT(a, b)                                                                                          \
    ((uint8_t)__builtin_ia32_cmpq512_mask((ws_eight_signed)(a), (ws_eight_signed)(b), 4, (char)0xff))

/* Finds the keys, a multiple of eight and at most 64; returns how many have an entry. */
static inline uint32_t ws_find_eights(const struct ws_words *words, const uint64_t *keys, uint32_t count,
                                      struct ws_found found)
{
    const ws_eight factor = ws_all_eight(words->factor), last = ws_all_eight(words->last);
    const ws_eight first = ws_all_eight((uint64_t)(uintptr_t)words->entries);
    uint64_t left = 0;
    uint32_t hits = 0;
    for (uint32_t i = 0; i + 8 <= count; i += 8) {
        ws_eight key;
        memcpy(&key, keys + i, sizeof key);
        const ws_eight place = ws_turn_eight(key * factor) & last;
        const ws_eight entry = WS_GATHER_EIGHT((const uint64_t *)words->slots + 1, place + place);
        const ws_eight there = WS_GATHER_EIGHT((const uint64_t *)words->slots, place + place);
        const uint32_t used = WS_DIFFER_EIGHT(entry, ws_all_eight(0));
        hits += (uint32_t)__builtin_popcount(used);
        left |= (uint64_t)(used & WS_DIFFER_EIGHT(there, key)) << i;
        if (found.packed_results != NULL) {
            const ws_eight_halves packed_results = __builtin_convertvector(entry >> WS_PLACE_BITS, ws_eight_halves);
            memcpy(found.packed_results + i, &packed_results, sizeof packed_results);
        } else {
            const ws_eight entries = first + ((entry & WS_PLACES) << 3);
            memcpy(found.entries + i, &entries, sizeof entries);
        }
    }
    for (; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(left);
        const uint64_t place = (ws_word_place(words, keys[i]) + 1) & words->last;
        const uint64_t entry = ws_follow_word(words, keys[i], place);
        hits -= entry == 0;
        ws_note_word(words, found, i, entry);
    }
    return hits;
}
#endif

/* Finds the keys of a burst; returns how many have an entry. The packed result of a key without an entry is 0. */
static inline uint32_t ws_find_burst(const struct ws_words *words, const uint64_t *keys, uint32_t count,
                                     struct ws_found found)
{
    uint64_t places[WS_BURST_MAX];
    uint32_t hits = 0;
#if defined(WS_GATHER_EIGHT)
    if (words->gathers) {
        const uint32_t done = count & ~7u;
        hits = ws_find_eights(words, keys, count, found);
        keys += done;
        count -= done;
        if (found.packed_results != NULL)
            found.packed_results += done;
        else
            found.entries += done;
    }
#endif
    for (uint32_t i = 0; i < count; i++) {
        places[i] = ws_word_place(words, keys[i]);
        __builtin_prefetch(words->slots + places[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t entry = ws_follow_word(words, keys[i], places[i]);
        hits += entry != 0;
        ws_note_word(words, found, i, entry);
    }
    return hits;
}

/* The entries of a burst's keys, or the default entry; returns how many keys have one of their own. */
static inline WS_UNUSED uint32_t ws_find_words(const struct ws_lookup *table, const uint64_t *keys, uint32_t count,
                                               const struct ws_entry **entries)
{
    if (WS_UNLIKELY(table->words.slots == NULL))
        return table->function(table->context, keys, count, entries);
    return ws_find_burst(&table->words, keys, count, (struct ws_found){entries, NULL});
}

/* The packed results of a burst's keys, 0 for those without an entry; returns how many have one. */
static inline WS_UNUSED uint32_t ws_find_packed_results(const struct ws_lookup *table, const uint64_t *keys,
                                                        uint32_t count, ws_pack *pack, uint32_t *packed_results)
{
    if (WS_LIKELY(table->words.slots != NULL))
        return ws_find_burst(&table->words, keys, count, (struct ws_found){NULL, packed_results});
    const struct ws_entry *entries[WS_BURST_MAX];
    const uint32_t hits = table->function(table->context, keys, count, entries);
    for (uint32_t i = 0; i < count; i++)
        packed_results[i] = pack(entries[i]);
    return hits;
}

#endif
