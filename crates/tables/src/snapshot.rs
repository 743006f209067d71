//! One table for lookups: the cells of its entries, and the engine that finds them.

#![allow(unsafe_code, reason = "the lookup is called by generated C with pointers")]

use crate::abi::{EntryHeader, LookupFunction, LookupHandle, ProfileHandle, RootHandle, RowsHandle, WordsHandle};
use crate::canonical::{self, PackedMatch};
use crate::cells::{Cell, Cells};
use crate::exact::{Exact, ROW_WORDS_MAX};
use crate::flat::{self, Flat};
#[cfg(target_arch = "x86_64")]
use crate::gather;
use crate::layout::PackedLayout;
use crate::lpm::{self, Lpm};
use crate::members::Members;
use crate::networks::Networks;
use crate::ranges::{self, Ranges};
use crate::ranked::rank_of;
use crate::shape::{self, Shape};
use crate::shared::Shared;
#[cfg(target_arch = "x86_64")]
use crate::sixteen;
use crate::spec::{Handle, TableKind};
use crate::table::{Change, Table};
use crate::ternary::Ternary;
use crate::words::{self, Words};
use base::MatchKind;
use base::limits::BURST_PACKETS_MAX;

/// A table's entries, ready for lookups.
#[derive(Clone, Debug)]
pub struct Snapshot {
    cells: Cells,
    engine: Engine,
    key_words: usize,
    /// Bits of the exact fields, in an lpm table.
    exact_bits: u32,
    kind: TableKind,
    /// Which cells entries share, if they do.
    shared: Option<Shared>,
    /// Members and groups of the table's action profile, if it has one.
    members: Option<Box<Members>>,
}

/// What finds an entry, for tests that must have reached it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The engine of the table, which has no parts.
    Engine,
    /// The decision tree of this number.
    Tree(usize),
    /// The list beside the trees.
    List,
}

/// The engines. An lpm table with a key too long for its own engine is served by the ternary one, its prefix lengths
/// being the priorities.
#[derive(Clone, Debug)]
enum Engine {
    Keyless,
    Exact(Exact),
    Words(Words),
    Flat(Flat),
    Networks(Networks),
    Lpm1(Lpm<1>),
    Lpm2(Lpm<2>),
    Lpm4(Lpm<4>),
    Ternary(Box<Ternary>),
    Ranges(Ranges),
}

#[cfg(target_arch = "x86_64")]
impl Engine {
    /// Whether bursts are looked up differently by processors that gather. The function for these has no other engines:
    /// each copy of an engine takes long to compile.
    fn gathers(&self) -> bool {
        matches!(self, Engine::Exact(_) | Engine::Flat(_) | Engine::Networks(_) | Engine::Ternary(_))
    }
}

impl Snapshot {
    /// A snapshot of the table. `seed` changes the hashes; results do not depend on it.
    pub fn new(table: &Table, seed: u64) -> Snapshot {
        let (key, layout) = (&table.spec().key, table.key_layout());
        let words = layout.words();
        let rows = canonical::rows_of(table.kind());
        let ternary_tail = Shape::tail_words(words, rows);
        let string_words = lpm::string_words(key);
        let fields = key.iter().zip(layout.slots());
        let range_slots = fields.filter(|(field, _)| field.kind == MatchKind::Range).map(|(_, slot)| *slot).collect();
        let shape = Shape::new(layout, range_slots);
        let (engine, tail_words) = match table.kind() {
            TableKind::Keyless => (Engine::Keyless, 0),
            TableKind::Exact if words::serves(TableKind::Exact, key) => {
                let stride_words = Cells::stride_for(table.data_words(), 0);
                (Engine::Words(Words::new(seed, layout, stride_words, packed_layout(table))), 0)
            }
            TableKind::Exact => (Engine::Exact(Exact::new(words, seed)), words),
            TableKind::Lpm if flat::serves(TableKind::Lpm, key) => (Engine::Flat(Flat::new(key, layout)), 0),
            TableKind::Lpm => match (Networks::new(TableKind::Lpm, key, layout), string_words) {
                (Some(engine), _) => (Engine::Networks(engine), lpm::tail_words(words)),
                (None, 0..=1) => (Engine::Lpm1(Lpm::new(key, layout)), lpm::tail_words(words)),
                (None, 2) => (Engine::Lpm2(Lpm::new(key, layout)), lpm::tail_words(words)),
                (None, 3..=lpm::LPM_WORDS_MAX) => (Engine::Lpm4(Lpm::new(key, layout)), lpm::tail_words(words)),
                _ => (Engine::Ternary(Box::new(Ternary::new(shape))), ternary_tail),
            },
            TableKind::Range if ranges::serves(table.spec()) => {
                let engine = Ranges::new(&shape.masked, &shape.range_slots[0], seed);
                (Engine::Ranges(engine), ranges::tail_words(words))
            }
            TableKind::Ternary | TableKind::Range => (Engine::Ternary(Box::new(Ternary::new(shape))), ternary_tail),
        };
        let cells = Cells::new(table.data_words(), tail_words);
        let exact_bits = lpm::string_len(key, 0);
        let members = table.spec().profile.is_some().then(|| Box::new(Members::new(table.data_words())));
        let shared = (!table.names_entries()).then(|| Shared::new(seed));
        let mut snapshot =
            Snapshot { cells, engine, key_words: words, exact_bits, kind: table.kind(), shared, members };
        for change in table.all_changes() {
            snapshot.apply(&change);
        }
        snapshot.commit();
        snapshot
    }

    /// Applies a change of the table.
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Reserve { entries } => self.reserve(*entries),
            Change::Insert { handle, packed, action, data } => {
                let cell = self.place(*handle, *action, data);
                self.insert(*handle, cell, packed);
            }
            Change::Remove { handle } => self.remove(*handle),
            Change::Shrink { handles } => self.shrink(*handles),
            Change::Modify { handle, action, data } => self.modify(*handle, *action, data),
            Change::Clear => self.clear(),
            Change::SetDefault { action, data } => self.cells.set_action(0, *action, data),
            Change::SetMember { member, action, data } => {
                self.members.iter_mut().for_each(|members| members.set_member(*member, *action, data));
            }
            Change::SetGroup { group, choices } => {
                self.members.iter_mut().for_each(|members| members.set_group(*group, choices));
            }
        }
    }

    /// Must follow a batch of changes.
    pub(crate) fn commit(&mut self) {
        match &mut self.engine {
            Engine::Flat(engine) => engine.commit(),
            Engine::Ternary(engine) => engine.commit(&self.cells),
            Engine::Ranges(engine) => engine.commit(),
            _ => {}
        }
    }

    fn reserve(&mut self, entries: usize) {
        if self.shared.is_none() {
            self.cells.reserve(self.cells.count() + entries);
        }
        match &mut self.engine {
            Engine::Exact(engine) => engine.reserve(entries),
            Engine::Words(engine) => engine.reserve(entries),
            Engine::Flat(engine) => engine.reserve(entries),
            Engine::Networks(engine) => engine.reserve(&self.cells, entries),
            Engine::Lpm1(engine) => engine.reserve(&self.cells, entries, |_| true),
            Engine::Lpm2(engine) => engine.reserve(&self.cells, entries, |_| true),
            Engine::Lpm4(engine) => engine.reserve(&self.cells, entries, |_| true),
            Engine::Ternary(engine) => engine.reserve(entries),
            Engine::Ranges(engine) => engine.reserve(entries),
            Engine::Keyless => {}
        }
    }

    /// The cell of an entry with this action and data.
    fn place(&mut self, handle: Handle, action: u32, data: &[u64]) -> Cell {
        match &mut self.shared {
            Some(shared) => shared.place(&mut self.cells, action, data),
            None => {
                self.cells.set_action(cell_of(handle), action, data);
                cell_of(handle)
            }
        }
    }

    fn modify(&mut self, handle: Handle, action: u32, data: &[u64]) {
        let cell = self.place(handle, action, data);
        if let Some(shared) = &mut self.shared {
            let old = match &mut self.engine {
                Engine::Flat(engine) => {
                    let old = engine.cell(handle);
                    engine.modify(handle, cell);
                    old
                }
                Engine::Words(engine) => {
                    let old = engine.cell(handle);
                    engine.modify(handle, &self.cells, cell);
                    old
                }
                _ => unreachable!("entries share cells in these engines alone"),
            };
            shared.release(&mut self.cells, old);
        }
    }

    fn shrink(&mut self, handles: u32) {
        match &mut self.engine {
            Engine::Flat(engine) => engine.shrink(handles),
            Engine::Words(engine) => engine.shrink(handles),
            _ => {}
        }
        match &mut self.shared {
            Some(shared) => shared.shrink(&mut self.cells),
            None => self.cells.shrink(cell_of(Handle(handles)) as usize),
        }
    }

    fn insert(&mut self, handle: Handle, cell: Cell, packed: &PackedMatch) {
        let PackedMatch { rows, priority, sequence, prefix_len } = packed;
        let cells = &mut self.cells;
        let lpm_len = [u64::from(self.exact_bits + prefix_len)];
        match &mut self.engine {
            Engine::Keyless => unreachable!("a table without a key takes no entries"),
            Engine::Exact(engine) => {
                cells.set_tail(cell, &[&rows[..self.key_words]]);
                engine.insert(cells, cell);
            }
            Engine::Words(engine) => engine.insert(handle, rows[0], cells, cell),
            Engine::Flat(engine) => {
                engine.insert(handle, &rows[..self.key_words], self.exact_bits + prefix_len, cell);
            }
            Engine::Networks(engine) => {
                cells.set_tail(cell, &[rows, &lpm_len]);
                engine.insert(cells, cell);
            }
            Engine::Lpm1(engine) => {
                cells.set_tail(cell, &[rows, &lpm_len]);
                engine.insert(cells, cell, |_| true);
            }
            Engine::Lpm2(engine) => {
                cells.set_tail(cell, &[rows, &lpm_len]);
                engine.insert(cells, cell, |_| true);
            }
            Engine::Lpm4(engine) => {
                cells.set_tail(cell, &[rows, &lpm_len]);
                engine.insert(cells, cell, |_| true);
            }
            Engine::Ternary(engine) => {
                let priority = if self.kind == TableKind::Lpm { *prefix_len as i32 } else { *priority };
                cells.set_tail(cell, &[rows, &shape::tail_end(rank_of(priority, *sequence))]);
                engine.insert(cells, cell);
            }
            Engine::Ranges(engine) => {
                cells.set_tail(cell, &[rows, &ranges::tail_end(rank_of(*priority, *sequence))]);
                engine.insert(cells, cell);
            }
        }
    }

    fn remove(&mut self, handle: Handle) {
        let (cell, cells) = (cell_of(handle), &mut self.cells);
        match &mut self.engine {
            Engine::Keyless => unreachable!("a table without a key has no entries"),
            Engine::Exact(engine) => engine.remove(cells, cell),
            Engine::Words(engine) => {
                let cell = engine.cell(handle);
                engine.remove(handle);
                if let Some(shared) = &mut self.shared {
                    return shared.release(cells, cell);
                }
            }
            Engine::Flat(engine) => {
                let cell = engine.cell(handle);
                engine.remove(handle);
                if let Some(shared) = &mut self.shared {
                    return shared.release(cells, cell);
                }
            }
            Engine::Networks(engine) => engine.remove(cells, cell),
            Engine::Lpm1(engine) => engine.remove(cells, cell),
            Engine::Lpm2(engine) => engine.remove(cells, cell),
            Engine::Lpm4(engine) => engine.remove(cells, cell),
            Engine::Ternary(engine) => engine.remove(cells, cell),
            Engine::Ranges(engine) => engine.remove(cells, cell),
        }
        cells.kill(cell);
    }

    fn clear(&mut self) {
        match &mut self.engine {
            Engine::Keyless => {}
            Engine::Exact(engine) => engine.clear(),
            Engine::Words(engine) => engine.clear(),
            Engine::Flat(engine) => engine.clear(),
            Engine::Networks(engine) => engine.clear(),
            Engine::Lpm1(engine) => engine.clear(),
            Engine::Lpm2(engine) => engine.clear(),
            Engine::Lpm4(engine) => engine.clear(),
            Engine::Ternary(engine) => engine.clear(),
            Engine::Ranges(engine) => engine.clear(),
        }
        self.cells.truncate();
        self.shared = self.shared.take().map(|shared| shared.emptied());
    }

    /// Bytes of memory that lookups read: entries with their actions' data, and their index.
    pub fn bytes(&self) -> usize {
        let engine = match &self.engine {
            Engine::Keyless => 0,
            Engine::Exact(engine) => engine.bytes(),
            Engine::Words(engine) => engine.bytes(),
            Engine::Flat(engine) => engine.bytes(),
            Engine::Networks(engine) => engine.bytes(),
            Engine::Lpm1(engine) => engine.bytes(),
            Engine::Lpm2(engine) => engine.bytes(),
            Engine::Lpm4(engine) => engine.bytes(),
            Engine::Ternary(engine) => engine.bytes(),
            Engine::Ranges(engine) => engine.bytes(),
        };
        self.cells.bytes() + engine
    }

    /// Words in a row of keys.
    pub fn key_words(&self) -> usize {
        self.key_words
    }

    /// A short description of the engine.
    pub fn engine_name(&self) -> &'static str {
        match &self.engine {
            Engine::Keyless => "no lookup: always the default action",
            Engine::Exact(_) => "hash",
            Engine::Words(_) => "hash whose slots hold the keys",
            Engine::Flat(_) => "trie whose first level is an array",
            Engine::Networks(_) => "tries of networks, whose first level is an array",
            Engine::Lpm1(_) | Engine::Lpm2(_) | Engine::Lpm4(_) => "trie",
            Engine::Ranges(_) => "winners of ranges, by a hash",
            Engine::Ternary(_) => "decision trees, linear while it is small",
        }
    }

    /// What finds an entry.
    pub fn part_of(&self, entry: Handle) -> Part {
        match &self.engine {
            Engine::Ternary(engine) => engine.part_of(cell_of(entry)),
            _ => Part::Engine,
        }
    }

    /// Whether changes continue a new index, which will replace the present one.
    pub fn is_building(&self) -> bool {
        matches!(&self.engine, Engine::Ternary(engine) if engine.is_building())
    }

    /// The entry that `key` (a row of key words) matches, or the default entry.
    pub fn lookup(&self, key: &[u64]) -> &EntryHeader {
        assert_eq!(key.len(), self.key_words, "a key has the words of the table's layout");
        self.cells.header(self.find_any(key))
    }

    /// The action data behind the entry that `key` matches.
    pub fn lookup_data(&self, key: &[u64]) -> &[u64] {
        assert_eq!(key.len(), self.key_words, "a key has the words of the table's layout");
        self.cells.data(self.find_any(key))
    }

    /// The lookup handle for generated code. Valid as long as this snapshot is neither moved nor changed.
    pub fn lookup_handle(&self) -> LookupHandle {
        let profile = self.members.as_ref().map_or(ProfileHandle::NONE, |members| members.handle());
        let (words, rows, root) = (self.words_handle(), self.rows_handle(), self.root_handle());
        LookupHandle { function: self.best_function(), context: self, profile, words, rows, root }
    }

    /// The lookup that is fastest on this processor.
    #[cfg(target_arch = "x86_64")]
    fn best_function(&self) -> LookupFunction {
        if !counts_bits() {
            return lookup_burst;
        }
        match &self.engine {
            Engine::Flat(engine)
                if sixteen::is_useful()
                    && engine.one_piece().is_some()
                    && sixteen::serves(engine.slots(), &self.cells) =>
            {
                lookup_burst_avx512
            }
            Engine::Networks(engine)
                if sixteen::is_useful() && engine.tries().all(|tries| sixteen::serves(tries.slots(), &self.cells)) =>
            {
                lookup_networks_avx512
            }
            engine if engine.gathers() && gather::is_useful() => lookup_burst_avx2,
            _ => lookup_burst_bmi,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn best_function(&self) -> LookupFunction {
        lookup_burst
    }

    fn rows_handle(&self) -> RowsHandle {
        match &self.engine {
            Engine::Exact(engine) if (2..=ROW_WORDS_MAX).contains(&engine.key_words()) => {
                let (hash, slots) = engine.parts();
                let (keys, stride_bytes) = self.cells.tails();
                RowsHandle {
                    slots: slots.as_ptr(),
                    last: slots.len() as u64 - 1,
                    secrets: hash.secrets().as_ptr(),
                    entries: self.cells.pointer(0),
                    keys,
                    entry_words: u64::from(stride_bytes) / size_of::<u64>() as u64,
                }
            }
            _ => RowsHandle::NONE,
        }
    }

    fn root_handle(&self) -> RootHandle {
        match &self.engine {
            Engine::Flat(engine) => engine.root_handle(),
            Engine::Networks(engine) => engine.root_handle(),
            _ => RootHandle::NONE,
        }
    }

    fn words_handle(&self) -> WordsHandle {
        let Engine::Words(engine) = &self.engine else { return WordsHandle::NONE };
        let (hash, slots) = engine.parts();
        let last = slots.len() as u64 - 1;
        let entries = self.cells.pointer(0);
        WordsHandle { slots: slots.as_ptr(), last, factor: hash.factor(), entries, gathers: gathers().into() }
    }

    /// Finds up to a burst of keys. With `GATHERS` the processor has AVX2, and the engine is one that uses it
    /// ([`Engine::gathers`]).
    #[inline(always)]
    fn find<const GATHERS: bool>(&self, keys: &[u64], found: &mut [Cell]) {
        match &self.engine {
            Engine::Ternary(engine) => engine.find::<GATHERS>(&self.cells, keys, found),
            Engine::Networks(engine) if GATHERS => engine.find::<true>(&self.cells, keys, found),
            #[cfg(target_arch = "x86_64")]
            Engine::Exact(engine) if GATHERS => {
                // SAFETY: the processor has AVX2, as the caller promises. Each slot names an entry, whose tail is its
                // key.
                let done = unsafe { gather::find_rows(engine, &self.cells, keys, found) };
                engine.find(&self.cells, &keys[done * self.key_words..], &mut found[done..]);
            }
            #[cfg(target_arch = "x86_64")]
            Engine::Flat(engine) if GATHERS => {
                // SAFETY: as above. The trie's slots are as they should be.
                let find = |piece| unsafe { gather::find(&engine.slots(), piece, keys, found) };
                let done = engine.one_piece().map_or(0, find);
                engine.find(&keys[done * self.key_words..], &mut found[done..]);
            }
            _ if GATHERS => unreachable!("an engine that does not gather"),
            _ => self.find_in_index(keys, found),
        }
    }

    /// The same in the engines whose keys have no masks of their own.
    #[inline(always)]
    fn find_in_index(&self, keys: &[u64], found: &mut [Cell]) {
        match &self.engine {
            Engine::Keyless => found.fill(0),
            Engine::Exact(engine) => engine.find(&self.cells, keys, found),
            Engine::Words(engine) => {
                found.iter_mut().zip(keys).for_each(|(found, key)| *found = engine.find_cell(*key));
            }
            Engine::Flat(engine) => engine.find(keys, found),
            Engine::Networks(engine) => engine.find::<false>(&self.cells, keys, found),
            Engine::Lpm1(engine) => engine.find(&self.cells, keys, found),
            Engine::Lpm2(engine) => engine.find(&self.cells, keys, found),
            Engine::Lpm4(engine) => engine.find(&self.cells, keys, found),
            Engine::Ranges(engine) => engine.find(&self.cells, keys, found),
            Engine::Ternary(_) => unreachable!("its keys have masks"),
        }
    }

    /// Finds one key on any processor.
    fn find_any(&self, key: &[u64]) -> Cell {
        self.find_one(key)
    }

    /// Finds one key.
    #[inline(always)]
    fn find_one(&self, key: &[u64]) -> Cell {
        match &self.engine {
            Engine::Ternary(engine) => engine.find_one(&self.cells, key),
            _ => {
                let mut found = [0];
                self.find_in_index(key, &mut found);
                found[0]
            }
        }
    }

    /// Finds one key for generated code, and returns how many matched an entry.
    #[inline(always)]
    fn find_pointer(&self, key: &[u64], result: &mut *const EntryHeader) -> u32 {
        let found = self.find_one(key);
        *result = self.cells.pointer(found);
        u32::from(found != 0)
    }

    /// Finds up to a burst of keys, and returns how many matched an entry. Code that runs packet by packet looks up one
    /// key at a time, which deserves a copy of the code.
    ///
    /// # Safety
    /// An x86 processor has the features of [`find_pointer_bmi`]; with `GATHERS`, what [`Snapshot::find`] says.
    #[inline(always)]
    unsafe fn find_pointers<const GATHERS: bool>(&self, keys: &[u64], results: &mut [*const EntryHeader]) -> u32 {
        if let Engine::Words(engine) = &self.engine {
            return engine.find(&self.cells, keys, results);
        }
        if let [result] = results {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: passed on from the caller.
            return unsafe { find_pointer_bmi(self, keys, result) };
            #[cfg(not(target_arch = "x86_64"))]
            return self.find_pointer(keys, result);
        }
        let mut found = [0; BURST_PACKETS_MAX];
        let found = &mut found[..results.len()];
        self.find::<GATHERS>(keys, found);
        self.cells.pointers(found, results)
    }
}

/// The layout of packed results, if slots can have them: a cell that is not shared may change without its slot, and one
/// that refers to members runs another action.
fn packed_layout(table: &Table) -> Option<PackedLayout> {
    let is_told = !table.names_entries() && table.spec().profile.is_none();
    let widths: Vec<Vec<u32>> = table.spec().actions.iter().map(|action| action.param_widths_bits.clone()).collect();
    PackedLayout::new(&widths).filter(|_| is_told)
}

/// Whether vector instructions that gather are fast.
fn gathers() -> bool {
    #[cfg(target_arch = "x86_64")]
    return gather::is_useful();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

fn cell_of(handle: Handle) -> Cell {
    handle.0 + 1
}

/// The lookup for any processor. See [`LookupFunction`].
///
/// # Safety
/// As [`LookupFunction`] says.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe extern "C" fn lookup_burst(
    table: *const Snapshot,
    keys: *const u64,
    count: u32,
    results: *mut *const EntryHeader,
) -> u32 {
    // SAFETY: passed on from the caller.
    unsafe { lookup_bursts::<false>(table, keys, count, results) }
}

/// The lookup for any processor. See [`LookupFunction`]. These processors are from before 2013: it looks up key by key,
/// since compiling all engines for bursts once more takes long.
///
/// # Safety
/// As [`LookupFunction`] says.
#[cfg(target_arch = "x86_64")]
pub unsafe extern "C" fn lookup_burst(
    table: *const Snapshot,
    keys: *const u64,
    count: u32,
    results: *mut *const EntryHeader,
) -> u32 {
    // SAFETY: `table` is valid, as the caller promises.
    let snapshot = unsafe { &*table };
    let words = snapshot.key_words;
    let mut hits = 0;
    for place in 0..count as usize {
        // SAFETY: the caller promises `count` rows at `keys` and room for `count` pointers at `results`. A table
        // without a key may come with any `keys`: no row is read.
        unsafe {
            let key = if words == 0 { &[] } else { std::slice::from_raw_parts(keys.add(place * words), words) };
            let found = snapshot.find_any(key);
            *results.add(place) = snapshot.cells.pointer(found);
            hits += u32::from(found != 0);
        }
    }
    hits
}

/// The lookup of one key for those below, which share it.
///
/// # Safety
/// The processor must have the features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,lzcnt")]
#[inline(never)]
unsafe fn find_pointer_bmi(snapshot: &Snapshot, key: &[u64], result: &mut *const EntryHeader) -> u32 {
    snapshot.find_pointer(key, result)
}

/// The lookup for x86 processors that count and isolate bits in one instruction (all since 2013).
///
/// # Safety
/// As [`LookupFunction`] says; the processor must have the features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,lzcnt")]
unsafe extern "C" fn lookup_burst_bmi(
    table: *const Snapshot,
    keys: *const u64,
    count: u32,
    results: *mut *const EntryHeader,
) -> u32 {
    // SAFETY: passed on from the caller.
    unsafe { lookup_bursts::<false>(table, keys, count, results) }
}

/// The lookup for x86 processors that have AVX2 besides, and gather fast (see [`gather`]).
///
/// # Safety
/// As [`LookupFunction`] says; the processor must have the features, and the table's engine be one that gathers
/// ([`Engine::gathers`]).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,lzcnt,avx2")]
unsafe extern "C" fn lookup_burst_avx2(
    table: *const Snapshot,
    keys: *const u64,
    count: u32,
    results: *mut *const EntryHeader,
) -> u32 {
    // SAFETY: passed on from the caller.
    unsafe { lookup_bursts::<true>(table, keys, count, results) }
}

/// The lookup of prefixes for x86 processors with AVX-512, and fast gathers (see [`sixteen`]).
///
/// # Safety
/// As [`LookupFunction`] says; the processor must have the features, and the table's engine be one that [`sixteen`]
/// serves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
unsafe extern "C" fn lookup_burst_avx512(
    table: *const Snapshot,
    keys: *const u64,
    count: u32,
    results: *mut *const EntryHeader,
) -> u32 {
    // SAFETY: `table` is valid, as the caller promises.
    let snapshot = unsafe { &*table };
    let Engine::Flat(engine) = &snapshot.engine else { unreachable!("of prefixes alone") };
    // SAFETY: the caller promises `count` rows, which are words, at `keys`, and room for as many pointers at `results`.
    let (keys, results) = unsafe {
        let count = count as usize;
        (std::slice::from_raw_parts(keys, count), std::slice::from_raw_parts_mut(results, count))
    };
    if let [result] = results {
        let mut found = [0];
        engine.find(keys, &mut found);
        *result = snapshot.cells.pointer(found[0]);
        return u32::from(found[0] != 0);
    }
    let Some(piece) = engine.one_piece() else { unreachable!("of one field alone") };
    // SAFETY: as the caller promises; the trie's slots are valid.
    unsafe { sixteen::find(&engine.slots(), piece, &snapshot.cells, keys, results) }
}

/// The same for prefixes of several networks, whose bursts are often for one of them.
///
/// # Safety
/// As [`lookup_burst_avx512`] says.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt,bmi1,bmi2,lzcnt")]
unsafe extern "C" fn lookup_networks_avx512(
    table: *const Snapshot,
    keys: *const u64,
    count: u32,
    results: *mut *const EntryHeader,
) -> u32 {
    // SAFETY: `table` is valid, as the caller promises.
    let snapshot = unsafe { &*table };
    let Engine::Networks(engine) = &snapshot.engine else { unreachable!("of networks alone") };
    // SAFETY: the caller promises `count` rows, which are words, at `keys`, and room for as many pointers at `results`.
    let (rows, places) = unsafe {
        let count = count as usize;
        (std::slice::from_raw_parts(keys, count), std::slice::from_raw_parts_mut(results, count))
    };
    match engine.trie_of(rows) {
        // SAFETY: as the caller promises; the trie's slots are valid.
        Some((tries, piece)) if count > 1 => unsafe {
            sixteen::find(&tries.slots(), piece, &snapshot.cells, rows, places)
        },
        // SAFETY: passed on from the caller.
        _ => unsafe { lookup_burst_avx2(table, keys, count, results) },
    }
}

/// Whether this processor counts and isolates bits in one instruction.
#[cfg(target_arch = "x86_64")]
fn counts_bits() -> bool {
    is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

/// # Safety
/// As [`LookupFunction`] and [`Snapshot::find_pointers`] say.
#[inline(always)]
unsafe fn lookup_bursts<const GATHERS: bool>(
    table: *const Snapshot,
    keys: *const u64,
    count: u32,
    results: *mut *const EntryHeader,
) -> u32 {
    // SAFETY: `table` is valid, as the caller promises.
    let snapshot = unsafe { &*table };
    let words = snapshot.key_words;
    let (mut start, mut hits) = (0, 0);
    while start < count as usize {
        let len = (count as usize - start).min(BURST_PACKETS_MAX);
        // SAFETY: the caller promises `count` rows at `keys` and room for `count` pointers at `results`; this burst is
        // rows and pointers `start` to `start + len`. A table without a key may come with any `keys`: no row is read.
        let (keys, results) = unsafe {
            let keys = if words == 0 { &[] } else { std::slice::from_raw_parts(keys.add(start * words), len * words) };
            (keys, std::slice::from_raw_parts_mut(results.add(start), len))
        };
        // SAFETY: passed on from the caller.
        hits += unsafe { snapshot.find_pointers::<GATHERS>(keys, results) };
        start += len;
    }
    hits
}
