//! The layouts of a table that generated C uses. `runtime/c` declares the same.

#![allow(unsafe_code, reason = "a handle crosses threads together with the snapshot that it points at")]

use crate::cells::prefetch;
use crate::snapshot::Snapshot;
use crate::words;

/// The `action` of a default entry that does nothing because the program names no default action.
pub const NO_ACTION: u32 = u32::MAX;

/// The `action` of an entry, or default entry, that runs the member of the table's action profile whose handle is its
/// one word of data.
pub const TO_MEMBER: u32 = u32::MAX - 1;

/// The `action` of an entry, or default entry, that runs one of the members of the group whose handle is its one word
/// of data.
pub const TO_GROUP: u32 = u32::MAX - 2;

/// The header of an entry. The action's data follow it directly, in 64-bit words placed by [`crate::ActionLayout`];
/// there are always as many words as the table's largest action takes.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHeader {
    /// Position in the table's actions, or [`NO_ACTION`].
    pub action: u32,
    /// 1 for an entry, 0 for the default.
    pub hit: u32,
    /// The entry's handle: its cell in direct counters and meters. 0 in the default entry, and in all entries of a
    /// table whose lookups do not identify the entry ([`crate::Table::names_entries`]).
    pub index: u32,
    /// Zero.
    pub reserved: u32,
}

/// Words that an [`EntryHeader`] takes.
pub const HEADER_WORDS: usize = size_of::<EntryHeader>() / size_of::<u64>();

/// Looks up `count` keys (rows of key words, end to end) and writes as many pointers to entries; a key without a match
/// gets the default entry, so that every pointer is valid. Returns how many keys matched an entry. `count` may be any
/// number; bursts of up to [`base::limits::BURST_PACKETS_MAX`] are processed together.
///
/// # Safety
/// `table` and all results are valid until the [`crate::Guard`] that gave `table` is dropped. `keys` must point to
/// `count` rows, `results` to space for `count` pointers.
pub type LookupFunction =
    unsafe extern "C" fn(table: *const Snapshot, keys: *const u64, count: u32, results: *mut *const EntryHeader) -> u32;

/// How C calls a table: `handle.function(handle.context, keys, count, results)`. Acquired at the begin of a burst,
/// since function and context change when the control plane changes the table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LookupHandle {
    /// The lookup of the table's engine.
    pub function: LookupFunction,
    /// Its first argument.
    pub context: *const Snapshot,
    /// The members that entries refer to.
    pub profile: ProfileHandle,
    /// The index of one-word keys, if generated code can search it itself.
    pub words: WordsHandle,
    /// The index of keys of a few words.
    pub rows: RowsHandle,
    /// The first slots of searches for prefixes, if they exceed the nearest caches.
    pub root: RootHandle,
}

/// How C looks a key up in an exact table whose keys are one word, without a call: the slots of the module `words`, and
/// the cells that they refer to. All zero for other tables, which are looked up by their function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct WordsHandle {
    pub(crate) slots: *const words::Slot,
    /// The number of the last slot: a power of two less one.
    pub(crate) last: u64,
    /// The factor of the keys' hash.
    pub(crate) factor: u64,
    /// The default entry, before all others.
    pub(crate) entries: *const EntryHeader,
    /// 1 if vector instructions that gather are fast, else 0.
    pub(crate) gathers: u64,
}

impl WordsHandle {
    /// The handle of a table that is looked up by its function.
    pub const NONE: WordsHandle =
        WordsHandle { slots: std::ptr::null(), last: 0, factor: 0, entries: std::ptr::null(), gathers: 0 };
}

/// How C looks a key up in an exact table whose keys are a few words, without a call: the slots of the module
/// `hash_index`, and the cells that they refer to, with the keys in them. All zero for other tables, which are looked
/// up by their function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RowsHandle {
    /// A hash above a cell's number.
    pub(crate) slots: *const u64,
    /// The number of the last slot: a power of two less one.
    pub(crate) last: u64,
    /// The secrets that are xored with each word of a key before hashing: the lower half, then the upper.
    pub(crate) secrets: *const u64,
    /// The default entry, before all others.
    pub(crate) entries: *const EntryHeader,
    /// The place of its key, if it had one.
    pub(crate) keys: *const u64,
    /// Words from one cell to the next.
    pub(crate) entry_words: u64,
}

impl RowsHandle {
    /// The handle of a table that is looked up by its function.
    pub const NONE: RowsHandle = RowsHandle {
        slots: std::ptr::null(),
        last: 0,
        secrets: std::ptr::null(),
        entries: std::ptr::null(),
        keys: std::ptr::null(),
        entry_words: 0,
    };
}

/// The root of a trie that is so large that its slots should be prefetched as soon as each key is known, since the
/// lookup of a burst would stall on all of them. Generated code does this. All zero for other tables.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RootHandle {
    pub(crate) slots: *const u32,
    /// Bits of the key below those that number the slot.
    pub(crate) shift_bits: u64,
    /// The number of the last slot: a power of two less one.
    pub(crate) last: u64,
}

impl RootHandle {
    /// The handle of a table without prefetching.
    pub const NONE: RootHandle = RootHandle { slots: std::ptr::null(), shift_bits: 0, last: 0 };

    /// Prefetches the first slot of a search, if the table is large, as generated code does.
    #[inline]
    pub fn fetch(&self, key: u64) {
        if !self.slots.is_null() {
            prefetch(self.slots.wrapping_add((key >> self.shift_bits & self.last) as usize));
        }
    }
}

/// How C finds members of a table's action profile. All pointers are null if the table has none. Entries refer only to
/// existing members and groups.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProfileHandle {
    /// The member of handle 0; like an entry, a member is an [`EntryHeader`] followed by its data.
    pub members: *const EntryHeader,
    /// Words from one member to the next.
    pub member_words: u64,
    /// The groups, by handle.
    pub groups: *const Group,
    /// Handles of members, those of each group together and ascending.
    pub choices: *const u32,
}

impl ProfileHandle {
    /// The handle of a table without a profile.
    pub const NONE: ProfileHandle = ProfileHandle {
        members: std::ptr::null(),
        member_words: 0,
        groups: std::ptr::null(),
        choices: std::ptr::null(),
    };
}

/// The members of a group.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The first of them in [`ProfileHandle::choices`].
    pub first: u32,
    /// The number of members; may be 0.
    pub count: u32,
}

// SAFETY: a handle is an address; code that dereferences it guarantees that the snapshot is alive and unchanged, and a
// snapshot may be read by any thread.
unsafe impl Send for LookupHandle {}
// SAFETY: as above.
unsafe impl Sync for LookupHandle {}
