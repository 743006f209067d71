//! The engine of lpm tables whose keys have at most 32 bits in all: a DIR-style trie whose slots hold the results.
//!
//! A key is a bit string as in [`crate::lpm`]. Its first bits index the root, further eights of bits index nodes; a
//! slot holds the cell of the longest entry that covers it, and that entry's length, or leads to a node. An entry is
//! written to all slots that it covers, so that a lookup reads one slot per level and compares nothing: two for most
//! prefixes of IPv4, one when the table is so large that the root has 24 bits. Entries of less than [`SHORT_BITS`] bits
//! would fill very many slots; they are stored separately, for keys without another match.
//!
//! A table that has become too large for its root, or far too small, gets a new trie. Each change copies a few entries
//! to it, in the order of their bits, and it replaces the old one when it has all. Until then lookups use the old one.
//!
//! Of all entries that cover a slot no two have the same length, so that the length in a slot identifies its entry:
//! cells may be shared by entries.

use crate::abi::RootHandle;
use crate::cells::Cell;
use crate::layout::{KeyField, KeyLayout};
use crate::lpm::{Piece, pieces};
use crate::memory::{Large, prefer_large_pages};
use crate::spec::{Handle, TableKind};
use base::OrderedMap;
use base::limits::TABLE_ENTRIES_MAX;
use std::hint::select_unpredictable;

/// In a slot: the other bits are a node, not a cell.
pub(crate) const NODE: u32 = 1 << 31;

/// In any other slot: the lower bits are a cell, the ones above the length of its entry.
const CELL_BITS: u32 = 25;

/// The cell in a slot that leads to no node.
pub(crate) const CELL: u32 = (1 << CELL_BITS) - 1;

const _: () = assert!(TABLE_ENTRIES_MAX <= CELL as usize && KEY_BITS_MAX < 1 << (31 - CELL_BITS));

/// Bits that a node reads.
pub(crate) const STRIDE_BITS: u32 = 8;

/// The most nodes whose slots vectors can number, in signed numbers of 32 bits.
#[cfg(target_arch = "x86_64")]
pub(crate) const NODES_MAX: usize = 1 << (31 - STRIDE_BITS);

/// Bits of the root, and the number of entries up to which it is used: 1 KiB, 256 KiB, 64 MiB. Without entries it is
/// small, since a process may have thousands of switches whose tables are mostly empty.
const ROOTS: [(u32, usize); 3] = [(8, 0), (16, 50_000), (24, usize::MAX)];

/// The number of root slots that fit the L2 cache: those of a larger root are prefetched.
const NEAR_ROOT_SLOTS: usize = 1 << 18;

/// Entries with fewer bits are stored separately.
pub(crate) const SHORT_BITS: u32 = 8;

/// The most bits of a key.
pub(crate) const KEY_BITS_MAX: u32 = 32;

/// Whether the engine serves a table.
pub(crate) fn serves(kind: TableKind, key: &[KeyField]) -> bool {
    kind == TableKind::Lpm && key.iter().map(|field| field.width_bits).sum::<u32>() <= KEY_BITS_MAX
}

/// Slots of a new trie that each change writes, a few more for the last entry.
const SLOTS_AT_ONCE: usize = 1 << 12;

/// The engine.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    pieces: Vec<Piece>,
    key_words: usize,
    tries: Tries,
    /// Bit string and length of entries, by handle.
    prefixes: Vec<(u32, u8)>,
    /// New entries of a batch: the bit string above what will be in its slots. So their order is that of the trie's
    /// slots, each of which is touched once.
    waiting: Vec<u64>,
}

/// Entries by bit string, in the trie that lookups use and in the one that will replace it.
#[derive(Clone, Debug)]
pub(crate) struct Tries {
    string_bits: u32,
    trie: Trie,
    successor: Option<Box<Successor>>,
    /// To find the next shorter one when an entry is removed.
    entries: OrderedMap<EntryKey, Cell>,
}

/// An entry's leading bits with zeros behind them, and its length: an entry precedes those that it covers.
type EntryKey = (u32, u32);

/// The trie that lookups use.
#[derive(Clone, Debug)]
struct Trie {
    root_bits: u32,
    root: Large<u32>,
    /// The first is empty, for keys that need none.
    nodes: Large<[u32; 1 << STRIDE_BITS]>,
    free_nodes: Vec<u32>,
    /// The slots of short entries, for each value of the first bits.
    short: Vec<u32>,
}

/// A new trie that will replace the present one.
#[derive(Clone, Debug)]
struct Successor {
    trie: Trie,
    /// The new trie has the entries before this one only.
    next: EntryKey,
}

/// The data that lookups read. A slot of the root or of a node that leads to a node refers to one of `nodes`.
pub(crate) struct Slots<'a> {
    /// By the first `root_bits` bits.
    pub root: &'a [u32],
    pub root_bits: u32,
    pub nodes: &'a [[u32; 1 << STRIDE_BITS]],
    /// By the first `SHORT_BITS` bits, for keys that nothing else matches.
    pub short: &'a [u32],
}

/// The slot of an entry.
fn entry_slot(len: u32, cell: Cell) -> u32 {
    len << CELL_BITS | cell
}

/// The length of the entry in a slot that leads to no node.
fn len_of(slot: u32) -> u32 {
    slot >> CELL_BITS
}

impl Flat {
    pub fn new(key: &[KeyField], layout: &KeyLayout) -> Flat {
        let pieces = pieces(key, layout);
        let string_bits = pieces.iter().map(|piece| piece.width_bits).sum();
        let (tries, prefixes, waiting) = (Tries::new(string_bits), Vec::new(), Vec::new());
        Flat { pieces, key_words: layout.words(), tries, prefixes, waiting }
    }

    pub fn clear(&mut self) {
        self.prefixes = Vec::new();
        self.waiting = Vec::new();
        self.tries = Tries::new(self.tries.string_bits);
    }

    /// Forgets entries with this handle and greater ones, which are gone.
    pub fn shrink(&mut self, handles: u32) {
        self.prefixes.truncate(handles as usize);
        self.prefixes.shrink_to_fit();
    }

    /// Prepares for `additional` more entries.
    pub fn reserve(&mut self, additional: usize) {
        self.waiting.reserve_exact(additional);
        self.tries.reserve(self.waiting.len() + additional);
    }

    /// Must follow a batch of changes before the next lookup.
    pub fn commit(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable();
        for entry in waiting {
            let (string, slot) = ((entry >> 32) as u32, entry as u32);
            self.tries.insert(string, len_of(slot), slot & CELL);
        }
    }

    /// The bit string of a row, its first bit the highest.
    #[inline(always)]
    fn string(&self, row: &[u64]) -> u32 {
        let (mut string, mut end) = (0u64, 0);
        for piece in &self.pieces {
            string |= row[piece.word] >> piece.shift_bits << (64 - piece.width_bits) >> end;
            end += piece.width_bits;
        }
        (string >> 32) as u32
    }

    /// Adds an entry with this key, of this many leading bits, that runs a cell.
    pub fn insert(&mut self, handle: Handle, row: &[u64], len: u32, cell: Cell) {
        let (string, position) = (self.string(row), handle.0 as usize);
        self.prefixes.resize(self.prefixes.len().max(position + 1), (0, 0));
        self.prefixes[position] = (string, len as u8);
        self.waiting.push(u64::from(leading(string, len)) << 32 | u64::from(entry_slot(len, cell)));
    }

    /// The cell of an entry.
    pub fn cell(&mut self, handle: Handle) -> Cell {
        self.commit();
        let (string, len) = self.prefix(handle);
        self.tries.entries[&(leading(string, len), len)]
    }

    /// Changes the cell of an entry.
    pub fn modify(&mut self, handle: Handle, cell: Cell) {
        self.commit();
        let (string, len) = self.prefix(handle);
        self.tries.write(string, len, cell);
    }

    fn prefix(&self, handle: Handle) -> (u32, u32) {
        let (string, len) = self.prefixes[handle.0 as usize];
        (string, u32::from(len))
    }

    /// Removes an entry.
    pub fn remove(&mut self, handle: Handle) {
        self.commit();
        let (string, len) = self.prefix(handle);
        self.tries.remove(string, len);
    }

    /// The key's only field, in its only word: the common case.
    #[inline(always)]
    pub fn one_piece(&self) -> Option<Piece> {
        match (&self.pieces[..], self.key_words) {
            (&[piece], 1) => Some(piece),
            _ => None,
        }
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        self.tries.bytes()
    }

    /// What a lookup reads.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn slots(&self) -> Slots<'_> {
        self.tries.slots()
    }

    /// Where a search begins, if that is far.
    pub fn root_handle(&self) -> RootHandle {
        self.one_piece().map_or(RootHandle::NONE, |piece| self.tries.root_handle(piece))
    }

    /// Looks keys up.
    #[inline(always)]
    pub fn find(&self, keys: &[u64], found: &mut [Cell]) {
        match self.one_piece() {
            Some(piece) => self.tries.find(piece, keys, found),
            _ => {
                let rows = keys.chunks_exact(self.key_words);
                self.tries.find_strings(rows.map(|row| self.string(row)), found);
            }
        }
    }
}

impl Tries {
    /// Without entries, whose strings have this many bits.
    pub fn new(string_bits: u32) -> Tries {
        let trie = Trie::new(ROOTS[0].0.min(string_bits));
        Tries { string_bits, trie, successor: None, entries: OrderedMap::new() }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Prepares for `additional` more entries: at once, if they are many compared to the present ones.
    fn reserve(&mut self, additional: usize) {
        let bits = self.bits_for(self.len() + additional);
        if bits > self.trie.root_bits && additional > self.len() {
            self.successor = None;
            self.trie = Trie::new(bits);
            self.entries.iter().for_each(|(&(string, len), &cell)| self.trie.write(string, len, cell));
        }
    }

    /// Bits of the root for this many entries.
    fn bits_for(&self, entries: usize) -> u32 {
        ROOTS.iter().find(|(_, most)| entries <= *most).map_or(0, |(bits, _)| *bits).min(self.string_bits)
    }

    /// Starts a new trie if one is due, or continues with it.
    fn advance(&mut self) {
        let larger = self.bits_for(self.len());
        // Far from the number at which it grows, so that it does not alternate; a table that was in use is not taken
        // for an empty one.
        let smaller = self.bits_for((self.len() * 4).max(1));
        let bits = if larger > self.trie.root_bits { larger } else { smaller.min(self.trie.root_bits) };
        self.successor.take_if(|successor| successor.trie.root_bits != bits);
        if bits == self.trie.root_bits {
            return;
        }
        let start = || Box::new(Successor { trie: Trie::new(bits), next: (0, 0) });
        let Successor { trie, next } = &mut **self.successor.get_or_insert_with(start);
        let mut slots = 0;
        for (&key @ (string, len), &cell) in self.entries.range(*next..) {
            if slots >= SLOTS_AT_ONCE {
                *next = key;
                return;
            }
            trie.write(string, len, cell);
            slots += 1 << bits.saturating_sub(len);
        }
        if let Some(successor) = self.successor.take() {
            self.trie = successor.trie;
        }
    }

    /// Applies a change to all tries that have an entry.
    fn each(&mut self, key: EntryKey, mut body: impl FnMut(&mut Trie)) {
        body(&mut self.trie);
        if let Some(successor) = &mut self.successor
            && key < successor.next
        {
            body(&mut successor.trie);
        }
    }

    /// Adds an entry of this many leading bits of a string, that runs a cell.
    pub fn insert(&mut self, string: u32, len: u32, cell: Cell) {
        self.write(string, len, cell);
        self.advance();
    }

    fn write(&mut self, string: u32, len: u32, cell: Cell) {
        let key = (leading(string, len), len);
        self.entries.insert(key, cell);
        self.each(key, |trie| trie.write(string, len, cell));
    }

    /// Removes an entry.
    pub fn remove(&mut self, string: u32, len: u32) {
        let key = (leading(string, len), len);
        self.entries.remove(&key);
        // Short entries are stored separately in both tries, so the next shorter one is the same, and the new trie has
        // it, since it precedes this one.
        let is_short = self.trie.is_short(len);
        let shorter = (0..len).rev().take_while(|&shorter| self.trie.is_short(shorter) == is_short);
        let slot = |shorter| Some(entry_slot(shorter, *self.entries.get(&(leading(string, shorter), shorter))?));
        let heir = shorter.filter_map(slot).next().unwrap_or(0);
        self.each(key, |trie| {
            trie.change(string, len, &|old| if old != 0 && len_of(old) == len { heir } else { old });
        });
        self.advance();
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        self.trie.bytes() + self.successor.as_ref().map_or(0, |successor| successor.trie.bytes())
    }

    /// What a lookup reads.
    #[inline(always)]
    pub fn slots(&self) -> Slots<'_> {
        let Trie { root_bits, root, nodes, short, .. } = &self.trie;
        Slots { root, root_bits: *root_bits, nodes, short }
    }

    /// Where the search for a string that is this piece of a key begins, if that is far.
    pub fn root_handle(&self, piece: Piece) -> RootHandle {
        let Slots { root, root_bits, .. } = self.slots();
        if root.len() <= NEAR_ROOT_SLOTS || piece.width_bits < root_bits {
            return RootHandle::NONE;
        }
        let shift_bits = u64::from(piece.shift_bits + piece.width_bits - root_bits);
        RootHandle { slots: root.as_ptr(), shift_bits, last: root.len() as u64 - 1 }
    }

    /// Looks strings up that are this piece of keys of one word.
    #[inline(always)]
    pub fn find(&self, piece: Piece, keys: &[u64], found: &mut [Cell]) {
        let shift = 32 - piece.width_bits;
        let string = |key: &u64| ((key >> piece.shift_bits) << shift) as u32;
        self.find_strings(keys.iter().map(string), found);
    }

    /// Looks strings up. The lookups are independent, so that the processor overlaps their cache misses. There is no
    /// branch on whether the root's slot leads to a node, which would be mispredicted.
    #[inline(always)]
    fn find_strings(&self, strings: impl Iterator<Item = u32>, found: &mut [Cell]) {
        // Held in registers: the compiler cannot prove that stores do not change them.
        let Slots { root, root_bits, nodes, short } = self.slots();
        for (string, found) in strings.zip(found) {
            let mut slot = root[top(string, 0, root_bits)];
            let is_node = slot & NODE != 0;
            // There is always a node 0, which leads nowhere.
            let node = select_unpredictable(is_node, slot & !NODE, 0);
            let below = nodes[node as usize][top(string, root_bits, STRIDE_BITS)];
            slot = select_unpredictable(is_node, below, slot);
            let mut position = root_bits + STRIDE_BITS;
            while slot & NODE != 0 {
                slot = nodes[(slot & !NODE) as usize][top(string, position, STRIDE_BITS)];
                position += STRIDE_BITS;
            }
            let other = short[(string >> (32 - SHORT_BITS)) as usize];
            *found = select_unpredictable(slot == 0, other, slot) & CELL;
        }
    }
}

impl Trie {
    /// An empty trie with a root of this many bits.
    fn new(root_bits: u32) -> Trie {
        let root = vec![0; 1 << root_bits].into();
        let nodes = vec![[0; 1 << STRIDE_BITS]].into();
        Trie { root_bits, root, nodes, free_nodes: Vec::new(), short: vec![0; 1 << SHORT_BITS] }
    }

    fn bytes(&self) -> usize {
        let slots = self.root.capacity() + self.short.capacity();
        slots * size_of::<u32>() + self.nodes.capacity() * size_of::<[u32; 1 << STRIDE_BITS]>()
    }

    /// Writes an entry to the slots where it is the longest.
    fn write(&mut self, string: u32, len: u32, cell: Cell) {
        let new = entry_slot(len, cell);
        if len <= self.root_bits && !self.is_short(len) {
            // No slot leads to a node, or has a longer entry, if none has a greater number than these.
            let slots = &mut self.root[covered(top(string, 0, self.root_bits), self.root_bits, len)];
            if slots.iter().fold(0, |most, slot| most.max(*slot)) < entry_slot(len + 1, 0) {
                slots.fill(new);
                return;
            }
        }
        self.change(string, len, &|old| if old != 0 && len_of(old) > len { old } else { new });
    }

    /// Whether entries of this length are stored separately.
    fn is_short(&self, len: u32) -> bool {
        len < SHORT_BITS && self.root_bits > SHORT_BITS
    }

    /// Changes the result in all slots that a prefix covers.
    fn change(&mut self, string: u32, len: u32, update: &dyn Fn(u32) -> u32) {
        if self.is_short(len) {
            let range = covered(top(string, 0, SHORT_BITS), SHORT_BITS, len);
            self.short[range].iter_mut().for_each(|slot| *slot = update(*slot));
            return;
        }
        let index = top(string, 0, self.root_bits);
        if len <= self.root_bits {
            for slot in covered(index, self.root_bits, len) {
                let old = self.root[slot];
                self.root[slot] = self.changed(old, update);
            }
        } else {
            let old = self.root[index];
            self.root[index] = self.changed_below(old, string, len, self.root_bits, update);
        }
    }

    /// A slot after a change of all results under it.
    fn changed(&mut self, slot: u32, update: &dyn Fn(u32) -> u32) -> u32 {
        if slot & NODE == 0 {
            return update(slot);
        }
        let node = (slot & !NODE) as usize;
        for position in 0..1 << STRIDE_BITS {
            let old = self.nodes[node][position];
            self.nodes[node][position] = self.changed(old, update);
        }
        slot
    }

    /// A slot before bit `position` after a change of the results under a longer prefix.
    fn changed_below(&mut self, slot: u32, string: u32, len: u32, position: u32, update: &dyn Fn(u32) -> u32) -> u32 {
        let node = if slot & NODE == 0 { self.new_node(slot) } else { slot & !NODE } as usize;
        let index = top(string, position, STRIDE_BITS);
        if len <= position + STRIDE_BITS {
            for slot in covered(index, STRIDE_BITS, len - position) {
                let old = self.nodes[node][slot];
                self.nodes[node][slot] = self.changed(old, update);
            }
        } else {
            let old = self.nodes[node][index];
            self.nodes[node][index] = self.changed_below(old, string, len, position + STRIDE_BITS, update);
        }
        let slots = &self.nodes[node];
        if slots[0] & NODE == 0 && slots.iter().all(|slot| *slot == slots[0]) {
            let only = slots[0];
            self.free_nodes.push(node as u32);
            return only;
        }
        node as u32 | NODE
    }

    /// A node whose slots all have the former content of a slot.
    fn new_node(&mut self, slot: u32) -> u32 {
        let slots = [slot; 1 << STRIDE_BITS];
        match self.free_nodes.pop() {
            Some(node) => {
                self.nodes[node as usize] = slots;
                node
            }
            None => {
                let capacity = self.nodes.capacity();
                self.nodes.push(slots);
                if self.nodes.capacity() > capacity {
                    prefer_large_pages(&self.nodes);
                }
                self.nodes.len() as u32 - 1
            }
        }
    }
}

/// `width` bits of a string from `position`. Bits after its end are zero.
#[inline(always)]
fn top(string: u32, position: u32, width: u32) -> usize {
    let rest = u64::from(string) << 32 << position;
    // Two shifts, since one of 64 is not allowed.
    (rest >> (63 - width) >> 1) as usize
}

/// The first `len` bits of a string, with zeros behind them.
fn leading(string: u32, len: u32) -> u32 {
    string & u32::MAX.checked_shl(32 - len).unwrap_or(0)
}

/// Those of the slots with numbers of `bits` bits that a prefix of `len` bits of `slot` covers.
fn covered(slot: usize, bits: u32, len: u32) -> std::ops::Range<usize> {
    let start = slot >> (bits - len) << (bits - len);
    start..start + (1 << (bits - len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{MatchKind, Rng};

    /// This many prefixes of 20 bits.
    fn filled(width_bits: u32, entries: u32) -> Flat {
        let key = [KeyField { name: String::new(), width_bits, kind: MatchKind::Lpm }];
        let mut flat = Flat::new(&key, &KeyLayout::new(&key));
        for handle in 0..entries {
            let network = u64::from(handle) << (width_bits - 20);
            flat.insert(Handle(handle), &[network], 20, handle % 100 + 1);
        }
        flat.commit();
        flat
    }

    #[test]
    fn what_is_fetched_of_a_large_root_is_where_the_search_begins() {
        assert!(filled(32, 1000).root_handle().slots.is_null());
        let mut rng = Rng::new(4);
        for width_bits in [24, 27, 32] {
            let flat = filled(width_bits, 60_000);
            let (handle, slots) = (flat.root_handle(), flat.tries.slots());
            assert_eq!(handle.slots, slots.root.as_ptr());
            for _ in 0..1000 {
                let key = rng.below(1 << width_bits);
                let slot = (key >> handle.shift_bits & handle.last) as usize;
                assert_eq!(slot, top(flat.string(&[key]), 0, slots.root_bits));
            }
        }
    }
}
