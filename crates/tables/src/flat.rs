//! The engine of lpm tables whose keys have at most 32 bits in all: a trie whose slots say the answer themselves.
//!
//! A key is a bit string as in [`crate::lpm`]. Its first bits index the root, further eights of bits index nodes; a
//! slot holds the cell of the longest entry that covers it, or leads to a node. An entry is written to all slots that
//! it covers, so that a lookup reads one slot per level and compares nothing: two for most prefixes of IPv4, one when
//! the table is so large that the root has 24 bits. Entries of less than [`SHORT_BITS`] bits would fill very many
//! slots; they are kept apart, for keys that nothing else matches.

use crate::cells::{Cell, Cells};
use crate::layout::{KeyField, KeyLayout};
use crate::lpm::{Piece, pieces};
use std::collections::BTreeMap;
use std::hint::select_unpredictable;

/// In a slot: the rest is a node, not a cell.
pub(crate) const NODE: u32 = 1 << 31;

/// Bits that a node reads.
pub(crate) const STRIDE_BITS: u32 = 8;

/// Bits of the root, and the number of entries up to which it is used: 256 KiB, 64 MiB.
const ROOTS: [(u32, usize); 2] = [(16, 50_000), (24, usize::MAX)];

/// Entries with less bits are kept apart.
pub(crate) const SHORT_BITS: u32 = 8;

/// The most bits of a key.
pub(crate) const KEY_BITS_MAX: u32 = 32;

/// The engine.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    pieces: Vec<Piece>,
    key_words: usize,
    string_bits: u32,
    root_bits: u32,
    root: Vec<u32>,
    /// The first is empty, for keys that need none.
    nodes: Vec<[u32; 1 << STRIDE_BITS]>,
    free_nodes: Vec<u32>,
    /// The longest of the short entries for each value of the first bits.
    short: Vec<Cell>,
    /// Entries by length and leading bits: what takes over when one of them is removed.
    entries: BTreeMap<(u32, u32), Cell>,
}

/// What a lookup reads. A slot of the root or of a node that leads to a node names one of `nodes`.
pub(crate) struct Slots<'a> {
    /// By the first `root_bits` bits.
    pub root: &'a [u32],
    pub root_bits: u32,
    pub nodes: &'a [[u32; 1 << STRIDE_BITS]],
    /// By the first `SHORT_BITS` bits, for keys that nothing else matches.
    pub short: &'a [Cell],
}

impl Flat {
    pub fn new(key: &[KeyField], layout: &KeyLayout) -> Flat {
        let pieces = pieces(key, layout);
        let string_bits = pieces.iter().map(|piece| piece.width_bits).sum();
        let mut flat = Flat {
            pieces,
            key_words: layout.words(),
            string_bits,
            root_bits: 0,
            root: Vec::new(),
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            short: Vec::new(),
            entries: BTreeMap::new(),
        };
        flat.clear();
        flat
    }

    pub fn clear(&mut self) {
        self.set_root(ROOTS[0].0);
    }

    /// An empty trie with a root of this many bits, or of the whole string if that is shorter.
    fn set_root(&mut self, bits: u32) {
        self.root_bits = bits.min(self.string_bits);
        self.root = vec![0; 1 << self.root_bits];
        self.nodes = vec![[0; 1 << STRIDE_BITS]];
        self.free_nodes = Vec::new();
        self.short = vec![0; 1 << SHORT_BITS];
        self.entries.clear();
    }

    /// Prepares for `additional` more entries.
    pub fn reserve(&mut self, cells: &Cells, additional: usize) {
        self.fit_root(cells, self.entries.len() + additional);
    }

    fn fit_root(&mut self, cells: &Cells, entries: usize) {
        let bits = ROOTS.iter().find(|(_, most)| entries <= *most).map_or(0, |(bits, _)| *bits).min(self.string_bits);
        if bits > self.root_bits {
            self.set_root(bits);
            for cell in cells.live() {
                self.add(cells, cell);
            }
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

    fn entry(&self, cells: &Cells, cell: Cell) -> (u32, u32) {
        let tail = cells.tail(cell);
        (self.string(&tail[..self.key_words]), tail[2 * self.key_words] as u32)
    }

    /// Adds a cell that is live and whose tail is set.
    pub fn insert(&mut self, cells: &Cells, cell: Cell) {
        let old_bits = self.root_bits;
        self.fit_root(cells, self.entries.len() + 1);
        // Another root was filled with all live cells, this one included.
        if self.root_bits == old_bits {
            self.add(cells, cell);
        }
    }

    fn add(&mut self, cells: &Cells, cell: Cell) {
        let (string, len) = self.entry(cells, cell);
        self.entries.insert((len, leading(string, len)), cell);
        let at = 2 * self.key_words;
        self.change(string, len, &|old| {
            let stays = old != 0 && cells.tail(old)[at] as u32 > len;
            if stays { old } else { cell }
        });
    }

    /// Removes a cell whose tail is still set.
    pub fn remove(&mut self, cells: &Cells, cell: Cell) {
        let (string, len) = self.entry(cells, cell);
        self.entries.remove(&(len, leading(string, len)));
        let is_short = self.is_short(len);
        let heir = (0..len)
            .rev()
            .take_while(|&shorter| self.is_short(shorter) == is_short)
            .find_map(|shorter| self.entries.get(&(shorter, leading(string, shorter))).copied())
            .unwrap_or(0);
        self.change(string, len, &|old| if old == cell { heir } else { old });
    }

    /// Whether entries of this length are kept apart.
    fn is_short(&self, len: u32) -> bool {
        len < SHORT_BITS && self.root_bits > SHORT_BITS
    }

    /// Changes the answer in all slots that a prefix covers.
    fn change(&mut self, string: u32, len: u32, answer: &dyn Fn(Cell) -> Cell) {
        if self.is_short(len) {
            let range = covered(top(string, 0, SHORT_BITS), SHORT_BITS, len);
            self.short[range].iter_mut().for_each(|slot| *slot = answer(*slot));
            return;
        }
        let index = top(string, 0, self.root_bits);
        if len <= self.root_bits {
            for slot in covered(index, self.root_bits, len) {
                let old = self.root[slot];
                self.root[slot] = self.changed(old, answer);
            }
        } else {
            let old = self.root[index];
            self.root[index] = self.changed_below(old, string, len, self.root_bits, answer);
        }
    }

    /// What a slot is after a change of all answers under it.
    fn changed(&mut self, slot: u32, answer: &dyn Fn(Cell) -> Cell) -> u32 {
        if slot & NODE == 0 {
            return answer(slot);
        }
        let node = (slot & !NODE) as usize;
        for position in 0..1 << STRIDE_BITS {
            let old = self.nodes[node][position];
            self.nodes[node][position] = self.changed(old, answer);
        }
        slot
    }

    /// What a slot before bit `position` is after a change of the answers under a longer prefix.
    fn changed_below(&mut self, slot: u32, string: u32, len: u32, position: u32, answer: &dyn Fn(Cell) -> Cell) -> u32 {
        let node = if slot & NODE == 0 { self.new_node(slot) } else { slot & !NODE } as usize;
        let index = top(string, position, STRIDE_BITS);
        if len <= position + STRIDE_BITS {
            for slot in covered(index, STRIDE_BITS, len - position) {
                let old = self.nodes[node][slot];
                self.nodes[node][slot] = self.changed(old, answer);
            }
        } else {
            let old = self.nodes[node][index];
            self.nodes[node][index] = self.changed_below(old, string, len, position + STRIDE_BITS, answer);
        }
        let slots = &self.nodes[node];
        if slots[0] & NODE == 0 && slots.iter().all(|slot| *slot == slots[0]) {
            let only = slots[0];
            self.free_nodes.push(node as u32);
            return only;
        }
        node as u32 | NODE
    }

    /// A node that says everywhere what a slot said.
    fn new_node(&mut self, slot: u32) -> u32 {
        let slots = [slot; 1 << STRIDE_BITS];
        match self.free_nodes.pop() {
            Some(node) => {
                self.nodes[node as usize] = slots;
                node
            }
            None => {
                self.nodes.push(slots);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// The key's only field, in its only word: what most tables have.
    #[inline(always)]
    pub fn one_piece(&self) -> Option<Piece> {
        match (&self.pieces[..], self.key_words) {
            (&[piece], 1) => Some(piece),
            _ => None,
        }
    }

    /// What a lookup reads.
    #[inline(always)]
    pub fn slots(&self) -> Slots<'_> {
        Slots { root: &self.root, root_bits: self.root_bits, nodes: &self.nodes, short: &self.short }
    }

    /// Finds keys. They do not wait for each other, so that the processor overlaps what they wait for. Whether the
    /// root's slot leads to a node is not branched on: which prefixes are long is not to be guessed.
    #[inline(always)]
    pub fn find(&self, keys: &[u64], found: &mut [Cell]) {
        match self.one_piece() {
            Some(piece) => {
                let shift = 32 - piece.width_bits;
                let string = |key: &u64| ((key >> piece.shift_bits) << shift) as u32;
                self.find_strings(keys.iter().map(string), found);
            }
            _ => self.find_strings(keys.chunks_exact(self.key_words).map(|row| self.string(row)), found),
        }
    }

    #[inline(always)]
    fn find_strings(&self, strings: impl Iterator<Item = u32>, found: &mut [Cell]) {
        // Held in registers: the compiler does not know that what is written leaves them alone.
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
            *found = select_unpredictable(slot == 0, other, slot);
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

/// The first `len` bits of a string.
fn leading(string: u32, len: u32) -> u32 {
    top(string, 0, len) as u32
}

/// Those of the slots with numbers of `bits` bits that a prefix of `len` bits of `slot` covers.
fn covered(slot: usize, bits: u32, len: u32) -> std::ops::Range<usize> {
    let start = slot >> (bits - len) << (bits - len);
    start..start + (1 << (bits - len))
}
