/* What generated code and the switch share: the packet, the environment of a burst, the program's self-description.
 *
 * `crates/cgen/src/abi.rs` mirrors every struct here; both sides assert sizes and offsets. A change here raises
 * WS_ABI_VERSION.
 *
 * A packet is one chunk of memory, aligned to a cache line, and position independent: all places in it are offsets from
 * its start, so that copying the chunk copies the packet with its headers and metadata.
 *
 *   [struct ws_packet][program context][headroom][packet bytes][tailroom]
 */
#ifndef WIRESPEED_H
#define WIRESPEED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WS_ABI_VERSION 23u

/* A program may contain comparisons with constant results; the generated C then does, too. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wtautological-compare"

/* Packets in a burst at most: one bit each in a 64-bit mask. */
#define WS_BURST_MAX 64u

/* Slots of intrinsic variables, as `ir::v1model::Slot` numbers them. */
#define WS_INTRINSIC_SLOTS 32u

/* An assertion of the program failed: the core drops the packet. */
#define WS_FLAG_ASSERT_FAILED 1u
/* The deparsed headers did not fit the chunk: the core drops the packet. */
#define WS_FLAG_NO_SPACE 2u
/* Set by the core before a parser runs: the metadata are prepared, the parser must not make them zero. */
#define WS_FLAG_KEEP_METADATA 4u

struct ws_packet {
    uint32_t data;           /* offset of the first byte */
    uint32_t length;         /* bytes of the packet */
    uint32_t payload;        /* offset of the first byte that the parser did not extract */
    uint32_t ingress_length; /* bytes as received in this pass */
    uint32_t flags;          /* WS_FLAG_... */
    uint32_t ingress_port;   /* where it was received */
    uint64_t time_ns;        /* when it was received, or released by a queue with a rate */
    uint32_t capacity;       /* bytes of the chunk */
    uint32_t index;          /* the core's index of the packet */
    uint64_t core[2];        /* the core's own; generated code does not access them */
    uint64_t decided;        /* what was decided about it at the last point: abi.rs, Decided */
    uint64_t intrinsic[WS_INTRINSIC_SLOTS];
};

_Static_assert(sizeof(struct ws_packet) == 320, "whole cache lines");
_Static_assert(offsetof(struct ws_packet, time_ns) == 24, "abi.rs");
_Static_assert(offsetof(struct ws_packet, core) == 40, "abi.rs");
_Static_assert(offsetof(struct ws_packet, intrinsic) == 64, "abi.rs: the first cache line has what every packet needs");

/* The bytes of a received packet, wherever they lie. A program that relocates headers in place writes to the headroom,
 * too, and sets `bytes` to the new first byte. Every program sets `length` to the new length. */
struct ws_frame {
    uint8_t *bytes;
    uint32_t length;
    uint32_t port;    /* where it was received; where a replica leaves */
    uint64_t time_ns; /* when it was received */
    uint32_t headroom; /* bytes before `bytes` that may be written */
    uint32_t rid;     /* a replica's number */
};

_Static_assert(sizeof(struct ws_frame) == sizeof(void *) + 24, "abi.rs");

/* The result of the fast path for a packet: below WS_VERDICTS the port on which it leaves, or one of these. */
#define WS_VERDICTS 0xfffffff0u
#define WS_DROP_INGRESS 0xfffffff0u   /* the program dropped it in ingress */
#define WS_DROP_EGRESS 0xfffffff1u    /* the program dropped it in egress */
#define WS_PUNT_INGRESS 0xfffffff2u   /* the core continues with it after ingress */
#define WS_PUNT_EGRESS 0xfffffff3u    /* the core continues with it after egress */
#define WS_DROP_TOO_LONG 0xfffffff4u  /* its deparsed headers did not fit the chunk */
#define WS_ASSERTION_FAILED 0xfffffff5u /* the core drops it: an assertion of the program failed */

/* The summary of the verdicts of a burst: how many packets have each of these, eight bits for each number. */
#define WS_DROPS_INGRESS 0x1u
#define WS_DROPS_EGRESS 0x100u
#define WS_DROPS_TOO_LONG 0x10000u
#define WS_PUNTS 0x1000000u /* the core continues with the packet, or an assertion failed */

/* A table entry or default action; the action's data follow in 64-bit words. */
struct ws_entry {
    uint32_t action; /* position in the table's actions */
    uint32_t hit;    /* 1 for an entry, 0 for the default action */
    uint32_t index;  /* cell in direct counters and meters */
    uint32_t reserved;
    uint64_t data[]; /* each parameter in ceil(width / 64) words, lowest first */
};

_Static_assert(sizeof(struct ws_entry) == 16, "tables::EntryHeader");

/* The actions of entries that refer to a member, or a group of members, of the table's action profile; the handle is
 * their one word of data. And that of entries without an action. */
#define WS_TO_MEMBER 0xfffffffeu
#define WS_TO_GROUP 0xfffffffdu
#define WS_NO_ACTION 0xffffffffu

/* A group of members of an action profile. */
struct ws_group {
    uint32_t first; /* in the choices */
    uint32_t count;
};

_Static_assert(sizeof(struct ws_group) == 8, "tables::Group");

/* A slot of an exact table whose keys are one word. */
struct ws_slot {
    uint64_t key;
    uint64_t entry; /* words from the default entry to the key's, below its packed result (words.h); 0 if free */
};

/* The index of such a table: open addressing, with a power of two of slots that are not all full. No slots if the table
 * is looked up by its function. */
struct ws_words {
    const struct ws_slot *slots;
    uint64_t last;           /* the number of the last slot */
    uint64_t factor;         /* the hash: keys are multiplied by it */
    const uint64_t *entries; /* the default entry, then the others */
    uint64_t gathers;        /* 1 if vector instructions that gather are fast, else 0 */
};

_Static_assert(sizeof(struct ws_words) == 2 * sizeof(void *) + 24, "tables::WordsHandle");

/* The index of an exact table whose keys are a few words: open addressing by hash, with a power of two of slots that
 * are not all full. No slots if the table is looked up by its function. */
struct ws_rows {
    const uint64_t *slots;   /* a hash above the number of the entry; 0 if the slot is free */
    uint64_t last;           /* the number of the last slot */
    const uint64_t *secrets; /* xored with the words of a key before hashing */
    const uint64_t *entries; /* the default entry, which has number 0, then the others */
    const uint64_t *keys;    /* the words of the key in the default entry's place */
    uint64_t entry_words;    /* words from one entry to the next */
};

_Static_assert(sizeof(struct ws_rows) == 4 * sizeof(void *) + 16, "tables::RowsHandle");

/* The first slots that a search for a prefix reads, if there are so many that prefetching each as soon as its key is
 * known, before a burst of keys is searched, pays; else none. */
struct ws_root {
    const uint32_t *slots;
    uint64_t shift; /* bits of the key below those that number the slot */
    uint64_t last;  /* the number of the last slot: a power of two less one */
};

_Static_assert(sizeof(struct ws_root) == sizeof(void *) + 16, "tables::RootHandle");

/* The lookup function of a table: `count` rows of key words in, as many pointers to entries out, never null. The result
 * is the number of keys that matched an entry. */
struct ws_lookup {
    uint32_t (*function)(const void *context, const uint64_t *keys, uint32_t count, const struct ws_entry **results);
    const void *context;
    /* The table's action profile, if it has one: members, which look like entries, from handle 0; words from one to the
     * next; groups by handle; the handles of their members. */
    const uint64_t *members;
    uint64_t member_words;
    const struct ws_group *groups;
    const uint32_t *choices;
    struct ws_words words;
    struct ws_rows rows;
    struct ws_root root;
};

_Static_assert(sizeof(struct ws_lookup) == 12 * sizeof(void *) + 64, "tables::LookupHandle");

/* A CRC whose parameters the control plane sets. The remainder is stored with its bits reversed if data are processed
 * lowest bit first. */
struct ws_crc {
    uint32_t tables[4][256]; /* [k][byte] is the effect of a byte that k more bytes follow */
    uint32_t start;
    uint32_t final_xor;
    uint32_t width;
    uint32_t is_reflected; /* data are processed lowest bit first */
    uint32_t is_reversed;  /* the bits of the remainder are reversed at the end */
    uint32_t reserved;
};

_Static_assert(sizeof(struct ws_crc) == 4120, "abi.rs");

/* A register array: each cell takes ceil(width / 64) words. In front of the words, backwards, there is a mark for each 64
 * of them: a byte that is set where one of them was written. */
struct ws_cells {
    uint64_t *words;
    uint64_t size; /* cells */
};

struct ws_count {
    uint64_t packets;
    uint64_t bytes;
};

/* A counter array. */
struct ws_counts {
    struct ws_count *cells;
    uint64_t size;
};

/* A cell of a meter. The core reads and writes it; generated code counts green packets while it has no rates. */
struct ws_meter_cell {
    unsigned char buckets[40];
    uint32_t bursts[2];
    struct ws_count green;
    unsigned char others[64];
};
_Static_assert(sizeof(struct ws_meter_cell) == 128, "abi.rs");
_Static_assert(offsetof(struct ws_meter_cell, bursts) == 40, "abi.rs");
_Static_assert(offsetof(struct ws_meter_cell, green) == 48, "abi.rs");

/* In place of the first burst of a cell without rates. */
#define WS_METER_UNSET 0x40000001u

/* A meter array. While several workers run, each counts the green packets of cells without rates in `green`. */
struct ws_meters {
    struct ws_meter_cell *cells;
    struct ws_count *green; /* or null */
    uint64_t size;
};

/* How often a table was looked up, and how often an entry was hit. */
struct ws_use {
    uint64_t lookups;
    uint64_t hits;
};

/* The lock for the registers that workers share. */
struct ws_guard {
    uint32_t is_taken; /* 1 while a worker holds it; accessed by atomic operations only */
    uint32_t reserved;
    uint64_t time_ns; /* the latest time of a packet that held it; only the holder accesses this */
};

_Static_assert(offsetof(struct ws_guard, time_ns) == 8, "abi.rs");

/* The environment of a burst. Arrays are indexed by the IR's numbers. Values of digests, log messages and value sets
 * are words: ceil(width / 64) for each value, lowest first, one value after the other. */
struct ws_env {
    void *core; /* first argument of every callback */
    const struct ws_lookup *tables;
    const struct ws_cells *registers;
    const struct ws_counts *counters;
    const struct ws_counts *direct_counters;
    const struct ws_meters *meters;
    /* The colour of a packet with this number of bytes as received: 0 green, 1 yellow, 2 red. `index` is below the
       meter's size; `before` is the colour so far. */
    uint32_t (*meter)(void *core, uint32_t meter, uint64_t index, uint32_t bytes, uint32_t before);
    uint32_t (*direct_meter)(void *core, uint32_t meter, uint64_t index, uint32_t bytes, uint32_t before);
    /* A uniform number, both ends included; `low <= high`. */
    uint64_t (*random)(void *core, uint64_t low, uint64_t high);
    void (*digest)(void *core, uint32_t digest, const struct ws_packet *packet, const uint64_t *words);
    void (*log)(void *core, uint32_t site, const struct ws_packet *packet, const uint64_t *words);
    void (*assert_failed)(void *core, uint32_t site, const struct ws_packet *packet);
    /* 1 if the keys are in the set, else 0. */
    uint32_t (*value_set)(void *core, uint32_t value_set, const uint64_t *keys);
    const struct ws_crc *calculations;
    /* A plug-in's function. Inputs take ceil(width / 64) words each; the outputs are one joined value. */
    void (*call_extern)(void *core, uint32_t function, uint32_t instance, const uint64_t *inputs, uint64_t *outputs);
    /* Adds an entry with the words of keys, arguments and profile; 1 if it could be added, else 0. */
    uint32_t (*add_entry)(void *core, uint32_t table, uint32_t action, const uint64_t *words);
    /* Starts the timer of an entry anew, with the time of a profile or, with 256, of its present one. */
    void (*set_timer)(void *core, uint32_t table, uint32_t index, uint32_t profile);
    struct ws_use *uses; /* one for each table */
    /* For each table that supports idle timeouts, when an entry was last hit, by the entry's index. */
    const struct ws_cells *last_hits;
    uint64_t now_ns;
    struct ws_guard *guard; /* null if no other worker runs */
    void (*wait)(struct ws_guard *guard); /* waits until it is free, and takes it */
    uint32_t first_byte; /* where in its chunk a received packet begins */
};

_Static_assert(sizeof(struct ws_env) == 21 * sizeof(void *) + 16, "abi.rs");

/* Exported as `ws_program`. */
struct ws_program_info {
    uint32_t abi_version;
    uint32_t context_size;    /* bytes between struct ws_packet and the headroom */
    uint32_t metadata_offset; /* from the start of the chunk */
    uint32_t metadata_size;
    uint32_t block_count;     /* exported as ws_block_0, ws_block_1, ...: blocks, then decisions at points */
    uint32_t fast_path;       /* 1 if there is a ws_fast_path, 2 if it works in place */
    uint32_t again_path;      /* 1 if there is a ws_again_path */
    uint32_t replica_path;    /* 1 if there is a ws_replica_path */
};

_Static_assert(sizeof(struct ws_program_info) == 32, "abi.rs");

/* A block over a burst of at most WS_BURST_MAX packets. */
typedef void ws_block(const struct ws_env *env, struct ws_packet *const *packets, uint32_t count);

/* The fast path of received packets, from the parser to the deparser, exported as `ws_fast_path`: `verdicts` gets one
 * for each packet. A program that works in place reads the bytes from `frames` and writes to a packet's chunk only what
 * the core needs to continue with it, but not the packet's bytes; other programs read all from the chunk and have no
 * frames. The result is the summary of the verdicts, sixteen bits for each number.
 */
typedef uint64_t ws_fast_path_plan(const struct ws_env *env, struct ws_packet *const *packets, struct ws_frame *frames,
                                 uint32_t count, uint32_t *verdicts);

/* The same for one burst, with eight bits for each number. There are as many frames `coming`, whose first bytes it
 * prefetches. */
typedef uint32_t ws_fast_path_burst(const struct ws_env *env, struct ws_packet *const *packets, struct ws_frame *frames,
                                   const struct ws_frame *coming, uint32_t count, uint32_t *verdicts);

/* Programs may compare any values, including constants: a constant result is not a fault of the generated code. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wsign-compare"
#endif

#define WS_UNUSED __attribute__((unused))
/* Sixteen bytes that are loaded and stored at once. */
typedef uint8_t ws_sixteen __attribute__((vector_size(16)));
#define WS_EXPORT __attribute__((visibility("default")))

/* Marks that the word at this position was written. Whoever clears the mark and then copies the words has either the new
 * value, or the mark again. */
static inline WS_UNUSED void ws_mark_written(uint64_t *words, uint64_t position)
{
    __atomic_store_n((uint8_t *)words - 1 - (position >> 6), 1, __ATOMIC_RELEASE);
}

/* WS_LONG is for a function so long that expensive optimisations would take minutes, WS_HUGE for one so long that any
 * would. Clang has no attribute for the first. Of the passes of O1 that WS_LONG disables, points-to analysis and
 * constant propagation take a quarter of the time and hardly change the machine code of long programs. WS_CALLING is
 * for a function with many calls for wide values: analysing what each may change would take as long as all other
 * passes. */
#if defined(__clang__)
#define WS_LONG
#define WS_CALLING
#define WS_HUGE __attribute__((optnone, noinline))
#else
#define WS_LONG                                                                                                        \
    __attribute__((optimize("O1", "no-strict-aliasing", "no-tree-dominator-opts", "no-tree-fre", "no-tree-pta",        \
                            "no-tree-ccp")))
#define WS_CALLING __attribute__((optimize("no-strict-aliasing", "no-tree-fre")))
#define WS_HUGE __attribute__((optimize("O0", "no-strict-aliasing")))
#endif
/* A part of a control that is divided because it is long. The parts of a very long program are in several translation
 * units, which are compiled from the same file: WS_UNIT is the number of one. Without it, the file is one unit. */
#if defined(WS_UNIT)
#define WS_IN_UNIT(number) (WS_UNIT == (number))
#define WS_PART __attribute__((noinline, visibility("hidden")))
#else
#define WS_IN_UNIT(number) 1
#define WS_PART static __attribute__((noinline))
#endif
#define WS_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define WS_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* Keeps a loop that adds to a variable from being vectorised. */
#define WS_ONE_BY_ONE(variable) __asm__("" : "+r"(variable))

/* The byte at an offset of the chunk. */
static inline uint8_t *ws_at(struct ws_packet *packet, uint32_t offset)
{
    return (uint8_t *)packet + offset;
}

/* The member of a table's action profile that an entry refers to. */
static inline WS_UNUSED const struct ws_entry *ws_member(const struct ws_lookup *table, uint64_t handle)
{
    return (const struct ws_entry *)(table->members + handle * table->member_words);
}

/* The member that the hash selects from the group that an entry refers to; for an empty group, an entry without an
 * action. */
static inline WS_UNUSED const struct ws_entry *ws_group_member(const struct ws_lookup *table, uint64_t handle, uint64_t hash)
{
    static const struct ws_entry nothing = {WS_NO_ACTION, 1, 0, 0};
    struct ws_group group = table->groups[handle];
    if (group.count == 0)
        return &nothing;
    /* Most hashes have at most 32 bits, and a 32-bit division takes half the time. */
    const uint64_t choice = hash <= UINT32_MAX ? (uint32_t)hash % group.count : hash % group.count;
    return ws_member(table, table->choices[group.first + choice]);
}

/* Whether prefetching the first slots of searches for prefixes pays. */
static inline WS_UNUSED uint32_t ws_is_far_root(const struct ws_lookup *table)
{
    return table->root.slots != NULL;
}

/* Prefetches the first slot of the search for a prefix. */
/* Prefetches the cell of a counter that is about to count. */
static inline WS_UNUSED void ws_fetch_count(const struct ws_count *cell)
{
    __builtin_prefetch(cell, 1);
}

/* Prefetches the cell of a meter that is about to run. */
static inline WS_UNUSED void ws_fetch_meter(const struct ws_meters *meters, uint64_t index)
{
    /* The second line of a cell is for packets that are not green. While each worker counts by itself, cells without
       rates are only read: who fetched them to write would take them from the others. */
    if (meters->green != NULL) {
        __builtin_prefetch(meters->cells + index, 0);
        __builtin_prefetch(meters->green + index, 1);
    } else {
        __builtin_prefetch(meters->cells + index, 1);
    }
}

static inline WS_UNUSED void ws_add_shared(uint64_t *sum, uint64_t more)
{
    /* There is one writer, and others may read. */
    __atomic_store_n(sum, *sum + more, __ATOMIC_RELAXED);
}

/* Runs a meter as `env->meter` does, without a call for a green packet if the cell has no rates. */
static inline WS_UNUSED void ws_meter(const struct ws_env *env, uint32_t meter, uint64_t index, uint32_t bytes,
                                      uint32_t before, uint32_t *colour)
{
    const struct ws_meters *const meters = env->meters + meter;
    struct ws_meter_cell *const cell = meters->cells + index;
    if (before == 0 && __atomic_load_n(cell->bursts, __ATOMIC_RELAXED) == WS_METER_UNSET) {
        struct ws_count *const green = meters->green != NULL ? meters->green + index : &cell->green;
        ws_add_shared(&green->packets, 1);
        ws_add_shared(&green->bytes, bytes);
        *colour = 0;
    } else {
        *colour = env->meter(env->core, meter, index, bytes, before);
    }
}

static inline WS_UNUSED void ws_fetch_root(const struct ws_lookup *table, uint64_t key)
{
    __builtin_prefetch(table->root.slots + (key >> table->root.shift & table->root.last));
}

/* The summary of the verdicts of a burst, with sixteen bits for each number instead of eight. */
static inline WS_UNUSED uint64_t ws_exceptions(uint64_t burst)
{
    return (burst & 0xff) | (burst & 0xff00) << 8 | (burst & 0xff0000) << 16 | (burst & 0xff000000) << 24;
}

/* Runs the fast path for any number of packets, burst by burst: while one is processed, the next is prefetched. If
 * `stops`, a burst ends after a punted packet, and the call with it. */
static inline WS_UNUSED uint64_t ws_bursts(ws_fast_path_burst *run, uint32_t burst_max, uint32_t stops,
                                           const struct ws_env *env, struct ws_packet *const *packets,
                                           struct ws_frame *frames, uint32_t count, uint32_t *verdicts)
{
    uint64_t exceptions = 0;
    for (uint32_t first = 0; first < count; first += burst_max) {
        const uint32_t left = count - first;
        const uint32_t burst = left < burst_max ? left : burst_max;
        const struct ws_frame *coming = frames + first;
        if (left - burst >= burst)
            coming += burst;
        else
            for (uint32_t i = burst; i < left; i++)
                __builtin_prefetch(coming[i].bytes);
        const uint64_t more = run(env, packets + first, frames + first, coming, burst, verdicts + first);
        exceptions += ws_exceptions(more);
        if (stops && more >= WS_PUNTS)
            break;
    }
    return exceptions;
}

/* The mask of the first `count` packets. */
static inline uint64_t ws_all(uint32_t count)
{
    return count >= WS_BURST_MAX ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

#endif
