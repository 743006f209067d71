//! What generated C sees of a table. `runtime/c` declares the same layouts.

#![allow(unsafe_code, reason = "a handle crosses threads together with the snapshot that it points at")]

use crate::snapshot::Snapshot;

/// The `action` of a default entry that does nothing because the program names no default action.
pub const NO_ACTION: u32 = u32::MAX;

/// The head of an entry. The action's data follow it at once, in 64-bit words placed by [`crate::ActionLayout`]; there
/// are always as many words as the table's largest action takes.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHeader {
    /// Position in the table's actions, or [`NO_ACTION`].
    pub action: u32,
    /// 1 for an entry, 0 for the default.
    pub hit: u32,
    /// The entry's handle: its cell in direct counters and meters. 0 in the default entry.
    pub index: u32,
    /// Zero.
    pub reserved: u32,
}

/// Words that an [`EntryHeader`] takes.
pub const HEADER_WORDS: usize = size_of::<EntryHeader>() / size_of::<u64>();

/// Looks up `count` keys (rows of key words, end to end) and writes as many pointers to entries; a key that matches
/// nothing gives the default entry, so that every pointer is valid. `count` may be any number; bursts of up to
/// [`base::limits::BURST_PACKETS_MAX`] are worked on together.
///
/// # Safety
/// `table` and all results are valid until the [`crate::Guard`] that gave `table` is dropped. `keys` must point to
/// `count` rows, `results` to room for `count` pointers.
pub type LookupFunction =
    unsafe extern "C" fn(table: *const Snapshot, keys: *const u64, count: u32, results: *mut *const EntryHeader);

/// How C calls a table: `handle.function(handle.context, keys, count, results)`. Fetched at the begin of a burst, since
/// function and context change when the control plane changes the table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LookupHandle {
    /// The lookup of the table's engine.
    pub function: LookupFunction,
    /// Its first argument.
    pub context: *const Snapshot,
}

// SAFETY: a handle is an address; whoever follows it promises that the snapshot is alive and unchanged, and a snapshot
// may be read by any thread.
unsafe impl Send for LookupHandle {}
// SAFETY: as above.
unsafe impl Sync for LookupHandle {}
