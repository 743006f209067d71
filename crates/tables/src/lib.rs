//! Match engines and their snapshots.
//!
//! What enters: [`TableSpec`]s of a program, and [`Operation`]s of the control plane. What leaves: for each burst of
//! keys the entries they match, as pointers to [`EntryHeader`]s with their action data behind them.
//!
//! * [`layout`]: where key fields and action parameters lie in 64-bit words.
//! * [`spec`], [`error`]: the control plane's description of tables and entries, and errors.
//! * [`profile`]: the store of an action profile: members and groups that entries refer to.
//! * [`table`]: the authoritative store of one table's entries. [`mod@reference`] looks up in it by the definition.
//! * [`snapshot`]: one table for lookups: the cells of its entries and the engine that finds them.
//! * [`set`]: all tables of a program. Updates are applied there in atomic batches; each worker's [`Reader`] enters a
//!   consistent state of all tables for a burst, without a lock.
//! * [`transaction`]: a batch of operations on tables and profiles, which can be undone step by step.
//! * [`hash_index`]: the index of exact tables, also for other rows of words.
//! * [`arrivals`]: new entries, for the owners of counters by entry.
//! * [`abi`]: the layouts that generated C uses.

pub mod abi;
pub mod arrivals;
pub mod error;
pub mod hash_index;
pub mod layout;
pub mod profile;
pub mod reference;
pub mod set;
pub mod snapshot;
pub mod spec;
pub mod table;
pub mod transaction;

mod bucket;
mod building;
mod canonical;
mod cells;
mod cuts;
mod exact;
mod flat;
#[cfg(target_arch = "x86_64")]
mod gather;
mod intervals;
mod leaves;
mod left_right;
#[cfg(target_arch = "x86_64")]
mod linear;
mod lpm;
mod members;
mod memory;
mod networks;
mod probing;
mod ranges;
mod ranked;
mod shape;
mod shared;
#[cfg(target_arch = "x86_64")]
mod sixteen;
mod slots;
mod ternary;
mod trees;
mod words;

pub use abi::{
    EntryHeader, HEADER_WORDS, LookupFunction, LookupHandle, NO_ACTION, ProfileHandle, RootHandle, RowsHandle,
    WordsHandle,
};
pub use arrivals::{Arrival, Arrivals};
pub use cells::prefetch;
pub use error::{Problem, TableError};
pub use exact::ROW_WORDS_MAX;
pub use layout::{ActionLayout, KeyField, KeyLayout, PackedLayout, Slot};
pub use memory::in_large_pages;
pub use profile::{Group, Profile, ProfileOperation, ProfileSpec};
pub use set::{ApplyError, Guard, Operation, Outcome, Reader, TableSet, Update};
pub use snapshot::{Part, Snapshot};
pub use spec::{
    ActionCall, ActionSpec, Attributes, Entry, EntrySpec, Handle, InitialEntry, ProfileUse, TO_GROUP, TO_MEMBER,
    TableKind, TableSpec, Target,
};
pub use table::Table;
pub use transaction::{Mark, Transaction};
