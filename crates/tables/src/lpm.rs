//! The engine of lpm tables: a multibit trie.
//!
//! A key is read as one bit string, most significant bit first: the exact fields in order, then the lpm field; an entry
//! is then a prefix of such a string, and the longest one wins.
//!
//! * The first `root_bits` bits index a direct table, larger for more entries. A root slot has the longest entry of at
//!   most `root_bits` bits, and a link to what is longer. Entries shorter by more than `COARSE_BITS` would fill many
//!   slots; they go to a second, coarse table that is read only when nothing else matches.
//! * Below, a node reads six bits. It has a bit for each of the 63 prefixes of zero to five bits that end in it and one
//!   for each of its 64 children; both lists are packed, addressed by counting bits. Inserting or removing an entry
//!   changes one node.
//! * A part of the trie with a single entry has no nodes: its link is a leaf, and the entry's value and mask in its
//!   cell decide. So every node has at least two entries below it, for any width of the key.
//! * Bits that all entries below a node share are skipped, whole strides of them: the node has them, and a key with
//!   others leaves the trie there. So a table for many networks, of which one is in use, is as fast as one without.
//!
//! A table that has become too large for its root gets a new trie, to which every insertion adds some of the entries,
//! and which replaces the old one when it has all. Until then lookups use the old one.
//!
//! The tail of a cell is the entry's value and mask (rows of key words), then its length in the bit string.

use crate::cells::{Cell, Cells, prefetch};
use crate::layout::{KeyField, KeyLayout};
use crate::memory::{Large, prefer_large_pages};
use base::limits::BURST_PACKETS_MAX;
use base::{MatchKind, OrderedMap};
use std::hint::select_unpredictable;

/// Bits that a node reads.
const STRIDE_BITS: u32 = 6;

/// How much shorter than the root's index an entry may be to be put in the root itself.
const COARSE_BITS: u32 = 8;

/// The most bits that a node skips: strides.
const SKIPPED_BITS_MAX: u32 = 5 * STRIDE_BITS;

/// In a link: the rest is a cell, not a node.
const LEAF: u32 = 1 << 31;

/// Root sizes and the number of entries up to which each is used: 2 KiB, 128 KiB, 8 MiB. With 14 or 20 bits a 24-bit
/// prefix ends inside a node (two, or one, below the root) and not at the begin of the next.
const ROOTS: [(u32, usize); 3] = [(8, 32), (14, 8192), (20, usize::MAX)];

/// A node, or a leaf: then both bit sets are empty and `results` is the cell.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Bit `c`: there is a child for the six bits `c`.
    children: u64,
    /// Bit `1 << length | bits`: an entry ends here after `length` more bits.
    prefixes: u64,
    /// Where the children begin.
    first_child: u32,
    /// Where the cells of the prefixes begin.
    results: u32,
    /// Bits before the six that it reads, and their number. Keys below it have them.
    skipped: u32,
    skipped_bits: u32,
}

impl Node {
    fn leaf(cell: Cell) -> Node {
        Node { results: cell, ..Node::default() }
    }

    #[inline(always)]
    fn is_leaf(&self) -> bool {
        self.children | self.prefixes == 0
    }
}

/// The longest prefixes of a node's six bits: bit `1 << length | bits` for each length, by the upper five bits.
const ANCESTORS: [u64; 32] = {
    let mut table = [0; 32];
    let mut bits = 0;
    while bits < 32 {
        let mut prefix = 32 | bits;
        while prefix > 0 {
            table[bits] |= 1 << prefix;
            prefix >>= 1;
        }
        bits += 1;
    }
    table
};

/// The number of set bits below `bit`.
#[inline(always)]
fn rank(set: u64, bit: u32) -> u32 {
    (set & ((1 << bit) - 1)).count_ones()
}

/// Blocks of one to 64 neighbours in one vector; freed blocks are used again by their size.
#[derive(Clone, Debug)]
struct Blocks<T: Copy> {
    items: Large<T>,
    free: Vec<Vec<u32>>,
}

impl<T: Copy + Default> Blocks<T> {
    fn new() -> Blocks<T> {
        // Block 0 is unused, so that a link of 0 means none.
        Blocks { items: vec![T::default()].into(), free: vec![Vec::new(); 65] }
    }

    /// Capacities are even numbers, and multiples of four from four on, for fewer moves and fewer sizes.
    fn capacity(len: u32) -> u32 {
        match len {
            0..=1 => len,
            2..=4 => len.next_multiple_of(2),
            _ => len.next_multiple_of(4),
        }
    }

    fn allocate(&mut self, len: u32) -> u32 {
        if len == 0 {
            return 0;
        }
        let capacity = Self::capacity(len);
        self.free[capacity as usize].pop().unwrap_or_else(|| {
            let (start, room) = (self.items.len() as u32, self.items.capacity());
            self.items.resize(start as usize + capacity as usize, T::default());
            if self.items.capacity() > room {
                prefer_large_pages(&self.items);
            }
            start
        })
    }

    fn release(&mut self, start: u32, len: u32) {
        if len > 0 {
            self.free[Self::capacity(len) as usize].push(start);
        }
    }

    /// Inserts `item` at `at` into the block of `len` items; returns the block's start, which may be new.
    fn insert(&mut self, start: u32, len: u32, at: u32, item: T) -> u32 {
        let target = self.resized(start, len, len + 1, at);
        let (from, to) = ((start + at) as usize, (start + len) as usize);
        self.items.copy_within(from..to, (target + at + 1) as usize);
        if target != start {
            self.release(start, len);
        }
        self.items[(target + at) as usize] = item;
        target
    }

    /// Removes the item at `at` from the block of `len` items; returns the block's start.
    fn remove(&mut self, start: u32, len: u32, at: u32) -> u32 {
        let target = self.resized(start, len, len - 1, at);
        let (from, to) = ((start + at + 1) as usize, (start + len) as usize);
        if len > 1 {
            self.items.copy_within(from..to, (target + at) as usize);
        }
        if target != start {
            self.release(start, len);
        }
        target
    }

    /// A block for `new_len` items that has the first `keep` items of the old one.
    fn resized(&mut self, start: u32, len: u32, new_len: u32, keep: u32) -> u32 {
        if Self::capacity(len) == Self::capacity(new_len) {
            return start;
        }
        let target = self.allocate(new_len);
        if target != 0 {
            self.items.copy_within(start as usize..(start + keep) as usize, target as usize);
        }
        target
    }
}

/// A run of bits of the key, at most 64, and where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub word: usize,
    pub shift_bits: u32,
    pub width_bits: u32,
}

/// The bit string of a key, most significant bit of the first word first; bits after the end are zero.
type BitString<const WORDS: usize> = [u64; WORDS];

/// `width` (1 to 63) bits of the string from `position`.
#[inline(always)]
fn chunk<const WORDS: usize>(string: &BitString<WORDS>, position: u32, width: u32) -> usize {
    let (word, offset) = (position as usize / 64, position % 64);
    if WORDS == 1 {
        return if word == 0 { (string[0] << offset >> (64 - width)) as usize } else { 0 };
    }
    // Without a branch: keys of a burst are at different positions.
    let here = string.get(word).copied().unwrap_or(0);
    let next = string.get(word + 1).copied().unwrap_or(0);
    // Two shifts, since one of 64 is not allowed.
    ((here << offset | next >> 1 >> (63 - offset)) >> (64 - width)) as usize
}

/// The number of leading bits that two strings share.
fn shared_bits<const WORDS: usize>(one: &BitString<WORDS>, other: &BitString<WORDS>) -> u32 {
    let differ = (0..).zip(one.iter().zip(other)).find(|(_, (one, other))| one != other);
    differ.map_or(64 * WORDS as u32, |(word, (one, other))| 64 * word + (one ^ other).leading_zeros())
}

/// A slot of the root. An array, so that zeroed memory from the system needs no initialisation.
type RootSlot = [u32; 2];

/// In a root slot: the longest entry of at most `root_bits` bits (and not much shorter), or 0.
const BEST: usize = 0;

/// In a root slot: 0, a leaf's cell with [`LEAF`], or a node.
const LINK: usize = 1;

/// The state of a lookup.
#[derive(Clone, Copy)]
struct Walk {
    /// As in a root slot; 0 when the walk is over.
    link: u32,
    /// The best so far: an index into the results of the nodes, or 0.
    result: u32,
    /// The best of the root.
    best: Cell,
    /// Bits of the string before those that the next node reads.
    position: u32,
}

/// The engine for bit strings of up to `WORDS` words.
#[derive(Clone, Debug)]
pub(crate) struct Lpm<const WORDS: usize> {
    pieces: Vec<Piece>,
    key_words: usize,
    /// Whether the string is the key's words from the last to the first, as that of an IPv6 address is.
    is_whole_words: bool,
    string_bits: u32,
    root_bits: u32,
    root: Large<RootSlot>,
    coarse: Vec<Cell>,
    /// Bits of a root slot's number that the coarse table ignores.
    coarse_shift: u32,
    /// Entries of at most `root_bits` bits by length and leading bits, to find the next shorter one when an entry is
    /// removed.
    short: OrderedMap<(u32, u64), Cell>,
    nodes: Blocks<Node>,
    results: Blocks<Cell>,
    len: usize,
    successor: Option<Box<Successor<WORDS>>>,
}

/// A new trie that will replace the present one.
#[derive(Clone, Debug)]
struct Successor<const WORDS: usize> {
    lpm: Lpm<WORDS>,
    /// The new trie has the cells before this one only.
    next: Cell,
}

/// Cells that each insertion copies to a new trie.
const COPIED_AT_ONCE: u32 = 32;

/// Words of a key's bit string; above [`LPM_WORDS_MAX`] another engine is used.
pub(crate) fn string_words(key: &[KeyField]) -> usize {
    key.iter().map(|field| field.width_bits as usize).sum::<usize>().div_ceil(64)
}

/// The most words of bit string that this engine takes.
pub(crate) const LPM_WORDS_MAX: usize = 4;

/// Words of a cell's tail.
pub(crate) fn tail_words(key_words: usize) -> usize {
    2 * key_words + 1
}

/// The length of an entry in the bit string, for `tail_words`' last word.
pub(crate) fn string_len(key: &[KeyField], prefix_len: u32) -> u32 {
    let exact = key.iter().filter(|field| field.kind != MatchKind::Lpm).map(|field| field.width_bits).sum::<u32>();
    exact + prefix_len
}

/// The pieces of a key in the order of its bit string: the exact fields, then the lpm field.
pub(crate) fn pieces(key: &[KeyField], layout: &KeyLayout) -> Vec<Piece> {
    let mut slots: Vec<_> = key.iter().zip(layout.slots()).collect();
    slots.sort_by_key(|(field, _)| field.kind == MatchKind::Lpm);
    let mut pieces = Vec::new();
    for (_, slot) in slots {
        let whole_words = slot.width_bits / 64;
        let rest = slot.width_bits % 64;
        if rest > 0 {
            let word = slot.word + whole_words as usize;
            pieces.push(Piece { word, shift_bits: slot.shift_bits, width_bits: rest });
        }
        for index in (0..whole_words as usize).rev() {
            pieces.push(Piece { word: slot.word + index, shift_bits: slot.shift_bits, width_bits: 64 });
        }
    }
    pieces
}

impl<const WORDS: usize> Lpm<WORDS> {
    pub fn new(key: &[KeyField], layout: &KeyLayout) -> Lpm<WORDS> {
        let pieces = pieces(key, layout);
        let whole = |(index, piece): (usize, &Piece)| piece.width_bits == 64 && piece.word == WORDS - 1 - index;
        let is_whole_words = pieces.len() == WORDS && pieces.iter().enumerate().all(whole);
        Lpm::with_root(pieces, layout.words(), is_whole_words, ROOTS[0].0)
    }

    /// An empty trie with a root of this many bits, or of the whole string if that is shorter.
    fn with_root(pieces: Vec<Piece>, key_words: usize, is_whole_words: bool, bits: u32) -> Lpm<WORDS> {
        let string_bits = pieces.iter().map(|piece| piece.width_bits).sum();
        let root_bits = bits.min(string_bits);
        let coarse_shift = root_bits.min(COARSE_BITS);
        let root = vec![[0; 2]; 1 << root_bits].into();
        Lpm {
            pieces,
            key_words,
            is_whole_words,
            string_bits,
            root_bits,
            root,
            coarse: vec![0; 1 << (root_bits - coarse_shift)],
            coarse_shift,
            short: OrderedMap::new(),
            nodes: Blocks::new(),
            results: Blocks::new(),
            len: 0,
            successor: None,
        }
    }

    /// The same without entries, with another root.
    fn emptied(&self, root_bits: u32) -> Lpm<WORDS> {
        Lpm::with_root(self.pieces.clone(), self.key_words, self.is_whole_words, root_bits)
    }

    pub fn clear(&mut self) {
        *self = self.emptied(ROOTS[0].0);
    }

    /// Prepares for `additional` more entries: at once, if they are many compared to the present ones. Some cells may
    /// belong to another engine.
    pub fn reserve(&mut self, cells: &Cells, additional: usize, is_own: impl Fn(Cell) -> bool) {
        let bits = self.bits_for(self.len + additional);
        if bits > self.root_bits && additional > self.len {
            *self = self.emptied(bits);
            cells.live_from(1).filter(|cell| is_own(*cell)).for_each(|cell| self.add(cells, cell));
        }
    }

    /// Bits of the root for this many entries.
    fn bits_for(&self, entries: usize) -> u32 {
        ROOTS.iter().find(|(_, most)| entries <= *most).map_or(0, |(bits, _)| *bits).min(self.string_bits)
    }

    /// Starts a new trie if one is due, or continues with it.
    fn advance(&mut self, cells: &Cells, is_own: impl Fn(Cell) -> bool) {
        let bits = self.bits_for(self.len);
        if bits <= self.root_bits {
            self.successor = None;
            return;
        }
        self.successor.take_if(|successor| successor.lpm.root_bits != bits);
        let mut successor =
            self.successor.take().unwrap_or_else(|| Box::new(Successor { lpm: self.emptied(bits), next: 1 }));
        let end = (successor.next + COPIED_AT_ONCE).min(cells.count() as Cell);
        (successor.next..end)
            .filter(|&cell| cells.header(cell).hit == 1 && is_own(cell))
            .for_each(|cell| successor.lpm.add(cells, cell));
        successor.next = end;
        if end == cells.count() as Cell {
            *self = successor.lpm;
        } else {
            self.successor = Some(successor);
        }
    }

    #[inline(always)]
    fn string(&self, row: &[u64]) -> BitString<WORDS> {
        if self.is_whole_words {
            return std::array::from_fn(|word| row[WORDS - 1 - word]);
        }
        let mut string = [0; WORDS];
        let mut end = 0;
        for piece in &self.pieces {
            let value = row[piece.word] >> piece.shift_bits << (64 - piece.width_bits);
            if WORDS == 1 {
                string[0] |= value >> end;
            } else {
                let (word, offset) = (end as usize / 64, end % 64);
                string[word] |= value >> offset;
                if let (Some(next), 1..) = (string.get_mut(word + 1), offset) {
                    *next |= value << (64 - offset);
                }
            }
            end += piece.width_bits;
        }
        string
    }

    fn entry(&self, cells: &Cells, cell: Cell) -> (BitString<WORDS>, u32) {
        let tail = cells.tail(cell);
        (self.string(&tail[..self.key_words]), tail[2 * self.key_words] as u32)
    }

    /// Adds a cell that is live and whose tail is set. Some of the other cells may belong to another engine.
    pub fn insert(&mut self, cells: &Cells, cell: Cell, is_own: impl Fn(Cell) -> bool) {
        self.add(cells, cell);
        if let Some(successor) = &mut self.successor
            && cell < successor.next
        {
            successor.lpm.add(cells, cell);
        }
        self.advance(cells, is_own);
    }

    fn add(&mut self, cells: &Cells, cell: Cell) {
        self.len += 1;
        let (string, len) = self.entry(cells, cell);
        let slot = self.root_index(&string);
        if len <= self.root_bits {
            self.short.insert((len, leading(slot, self.root_bits, len)), cell);
            self.fill(slot, len, cell, |cells_len| cells_len <= len, cells);
            return;
        }
        let link = self.root[slot][LINK];
        self.root[slot][LINK] = if link == 0 {
            LEAF | cell
        } else if link & LEAF != 0 {
            let node = self.nodes.allocate(1);
            self.nodes.items[node as usize] = Node::leaf(link & !LEAF);
            self.insert_below(cells, node, self.root_bits, cell);
            node
        } else {
            self.insert_below(cells, link, self.root_bits, cell);
            link
        };
    }

    #[inline(always)]
    fn root_index(&self, string: &BitString<WORDS>) -> usize {
        if self.root_bits == 0 { 0 } else { chunk(string, 0, self.root_bits) }
    }

    /// Writes `cell` to the root slots (or coarse slots) under an entry of `len` bits that hold none, or one whose
    /// length `replaces` accepts.
    fn fill(&mut self, slot: usize, len: u32, cell: Cell, replaces: impl Fn(u32) -> bool, cells: &Cells) {
        let length_of = |cell: Cell| cells.tail(cell)[2 * self.key_words] as u32;
        let may_go = |old: Cell| old == 0 || replaces(length_of(old));
        if self.is_coarse(len) {
            let range = slots_under(slot >> COARSE_BITS, self.root_bits - COARSE_BITS, len);
            self.coarse[range].iter_mut().filter(|old| may_go(**old)).for_each(|old| *old = cell);
        } else {
            let range = slots_under(slot, self.root_bits, len);
            self.root[range].iter_mut().filter(|old| may_go(old[BEST])).for_each(|old| old[BEST] = cell);
        }
    }

    fn is_coarse(&self, len: u32) -> bool {
        len + COARSE_BITS <= self.root_bits
    }

    fn insert_below(&mut self, cells: &Cells, mut at: u32, mut position: u32, cell: Cell) {
        let (string, len) = self.entry(cells, cell);
        loop {
            if self.nodes.items[at as usize].is_leaf() {
                // A part with two entries gets nodes: first the present entry, as a part of its own.
                let other = self.nodes.items[at as usize].results;
                let (other_string, other_len) = self.entry(cells, other);
                let shared = shared_bits(&string, &other_string).min(len).min(other_len) - position;
                let skipped = (shared - shared % STRIDE_BITS).min(SKIPPED_BITS_MAX);
                self.nodes.items[at as usize] = self.node_with(&other_string, other_len, position, skipped, other);
            }
            self.part(at, &string, len, position);
            position += self.nodes.items[at as usize].skipped_bits;
            if len - position < STRIDE_BITS {
                self.add_prefix(at, prefix_bit(&string, len, position), cell);
                return;
            }
            let bits = chunk(&string, position, STRIDE_BITS) as u32;
            let node = self.nodes.items[at as usize];
            let child = rank(node.children, bits);
            if node.children >> bits & 1 == 0 {
                let count = node.children.count_ones();
                let first_child = self.nodes.insert(node.first_child, count, child, Node::leaf(cell));
                let node = &mut self.nodes.items[at as usize];
                node.children |= 1 << bits;
                node.first_child = first_child;
                return;
            }
            at = node.first_child + child;
            position += STRIDE_BITS;
        }
    }

    /// Has a node skip no more bits than those that it shares with an entry at `position`. What it skipped beyond them
    /// is skipped by a node below it.
    fn part(&mut self, at: u32, string: &BitString<WORDS>, len: u32, position: u32) {
        let node = self.nodes.items[at as usize];
        if node.skipped_bits == 0 {
            return;
        }
        let differ = chunk(string, position, node.skipped_bits) as u32 ^ node.skipped;
        let shared = (node.skipped_bits - (32 - differ.leading_zeros())).min(len - position);
        if shared == node.skipped_bits {
            return;
        }
        let skipped_bits = shared - shared % STRIDE_BITS;
        let below_bits = node.skipped_bits - skipped_bits - STRIDE_BITS;
        let below = Node { skipped: node.skipped & ((1 << below_bits) - 1), skipped_bits: below_bits, ..node };
        let bits = node.skipped >> below_bits & ((1 << STRIDE_BITS) - 1);
        let first_child = self.nodes.insert(0, 0, 0, below);
        let skipped = node.skipped >> below_bits >> STRIDE_BITS;
        self.nodes.items[at as usize] =
            Node { children: 1 << bits, first_child, skipped, skipped_bits, ..Node::default() };
    }

    /// A node at `position` with this entry alone, which skips this many bits.
    fn node_with(&mut self, string: &BitString<WORDS>, len: u32, position: u32, skipped_bits: u32, cell: Cell) -> Node {
        let skipped = if skipped_bits == 0 { 0 } else { chunk(string, position, skipped_bits) as u32 };
        let mut node = Node { skipped, skipped_bits, ..Node::default() };
        let position = position + skipped_bits;
        if len - position < STRIDE_BITS {
            node.prefixes = 1 << prefix_bit(string, len, position);
            node.results = self.results.insert(0, 0, 0, cell);
        } else {
            node.children = 1 << chunk(string, position, STRIDE_BITS);
            node.first_child = self.nodes.insert(0, 0, 0, Node::leaf(cell));
        }
        node
    }

    fn add_prefix(&mut self, at: u32, bit: u32, cell: Cell) {
        let node = self.nodes.items[at as usize];
        let (count, place) = (node.prefixes.count_ones(), rank(node.prefixes, bit));
        let results = self.results.insert(node.results, count, place, cell);
        let node = &mut self.nodes.items[at as usize];
        node.prefixes |= 1 << bit;
        node.results = results;
    }

    /// Removes a cell whose tail is still set.
    pub fn remove(&mut self, cells: &Cells, cell: Cell) {
        self.take(cells, cell);
        if let Some(successor) = &mut self.successor
            && cell < successor.next
        {
            successor.lpm.take(cells, cell);
        }
    }

    fn take(&mut self, cells: &Cells, cell: Cell) {
        self.len -= 1;
        let (string, len) = self.entry(cells, cell);
        let slot = self.root_index(&string);
        if len <= self.root_bits {
            self.remove_short(slot, len, cell);
            return;
        }
        let link = self.root[slot][LINK];
        if link & LEAF != 0 {
            self.root[slot][LINK] = 0;
            return;
        }
        self.remove_below(&string, len, link);
        let node = self.nodes.items[link as usize];
        if node.is_leaf() {
            self.nodes.release(link, 1);
            self.root[slot][LINK] = LEAF | node.results;
        }
    }

    fn remove_short(&mut self, slot: usize, len: u32, cell: Cell) {
        self.short.remove(&(len, leading(slot, self.root_bits, len)));
        let coarse = self.is_coarse(len);
        let heir = (0..len)
            .rev()
            .take_while(|&shorter| coarse || !self.is_coarse(shorter))
            .find_map(|shorter| self.short.get(&(shorter, leading(slot, self.root_bits, shorter))).copied())
            .unwrap_or(0);
        if coarse {
            let range = slots_under(slot >> COARSE_BITS, self.root_bits - COARSE_BITS, len);
            self.coarse[range].iter_mut().filter(|old| **old == cell).for_each(|old| *old = heir);
        } else {
            let range = slots_under(slot, self.root_bits, len);
            self.root[range].iter_mut().filter(|old| old[BEST] == cell).for_each(|old| old[BEST] = heir);
        }
    }

    fn remove_below(&mut self, string: &BitString<WORDS>, len: u32, top: u32) {
        let mut position = self.root_bits;
        let mut path = vec![top];
        loop {
            let at = path[path.len() - 1];
            let node = self.nodes.items[at as usize];
            position += node.skipped_bits;
            if len - position < STRIDE_BITS {
                let bit = prefix_bit(string, len, position);
                let count = node.prefixes.count_ones();
                let results = self.results.remove(node.results, count, rank(node.prefixes, bit));
                let node = &mut self.nodes.items[at as usize];
                node.prefixes &= !(1 << bit);
                node.results = results;
                break;
            }
            let bits = chunk(string, position, STRIDE_BITS) as u32;
            let child = node.first_child + rank(node.children, bits);
            if self.nodes.items[child as usize].is_leaf() {
                let count = node.children.count_ones();
                let first_child = self.nodes.remove(node.first_child, count, rank(node.children, bits));
                let node = &mut self.nodes.items[at as usize];
                node.children &= !(1 << bits);
                node.first_child = first_child;
                break;
            }
            path.push(child);
            position += STRIDE_BITS;
        }
        while let Some(at) = path.pop() {
            if !self.collapse(at) {
                break;
            }
        }
    }

    /// Makes a node with a single entry below it a leaf; whether it is one now. One whose only child is a node becomes
    /// part of it, if that can skip as many bits.
    fn collapse(&mut self, at: u32) -> bool {
        let node = self.nodes.items[at as usize];
        let (children, prefixes) = (node.children.count_ones(), node.prefixes.count_ones());
        let only = match (children, prefixes) {
            (0, 1) => {
                self.results.release(node.results, 1);
                Node::leaf(self.results.items[node.results as usize])
            }
            (1, 0) if self.nodes.items[node.first_child as usize].is_leaf() => {
                self.nodes.release(node.first_child, 1);
                self.nodes.items[node.first_child as usize]
            }
            (1, 0) => {
                let child = self.nodes.items[node.first_child as usize];
                let skipped_bits = node.skipped_bits + STRIDE_BITS + child.skipped_bits;
                if skipped_bits <= SKIPPED_BITS_MAX {
                    let bits = node.skipped << STRIDE_BITS | node.children.trailing_zeros();
                    let skipped = bits << child.skipped_bits | child.skipped;
                    self.nodes.release(node.first_child, 1);
                    self.nodes.items[at as usize] = Node { skipped, skipped_bits, ..child };
                }
                return false;
            }
            _ => return false,
        };
        self.nodes.items[at as usize] = only;
        true
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        let successor = self.successor.as_ref().map_or(0, |successor| successor.lpm.bytes());
        successor
            + self.root.capacity() * size_of::<RootSlot>()
            + (self.coarse.capacity() + self.results.items.capacity()) * size_of::<Cell>()
            + self.nodes.items.capacity() * size_of::<Node>()
    }

    /// Finds the cells of up to a burst of keys.
    #[inline(always)]
    pub fn find(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        match self.key_words {
            1 => self.find_sized(cells, |index| &keys[index..index + 1], found),
            words => self.find_sized(cells, |index| &keys[index * words..(index + 1) * words], found),
        }
    }

    /// All keys descend the trie together, one node each per step, without a branch on a key's result: each step
    /// prefetches the memory of the next, and there are no mispredictions.
    #[inline(always)]
    fn find_sized<'k>(&self, cells: &Cells, key_of: impl Fn(usize) -> &'k [u64], found: &mut [Cell]) {
        if let [found] = found {
            *found = self.find_one(cells, key_of(0));
            return;
        }
        let count = found.len();
        let mut strings = [[0; WORDS]; BURST_PACKETS_MAX];
        let mut walks = [Walk { link: 0, result: 0, best: 0, position: self.root_bits }; BURST_PACKETS_MAX];
        for (index, string) in strings[..count].iter_mut().enumerate() {
            *string = self.string(key_of(index));
            prefetch(&raw const self.root[self.root_index(string)]);
        }
        let mut active = [0u8; BURST_PACKETS_MAX];
        let mut active_len = 0;
        for (index, (string, walk)) in strings.iter().zip(&mut walks[..count]).enumerate() {
            let [best, link] = self.root[self.root_index(string)];
            (walk.link, walk.best) = (link, best);
            active[active_len] = index as u8;
            active_len += usize::from(self.prefetch_link(cells, link));
        }
        while active_len > 0 {
            let mut still = 0;
            for place in 0..active_len {
                let index = active[place];
                let walk = &mut walks[index as usize];
                self.step(&strings[index as usize], walk);
                active[still] = index;
                still += usize::from(self.prefetch_link(cells, walk.link));
            }
            active_len = still;
        }
        for walk in &walks[..count] {
            prefetch(self.results.items.as_ptr().wrapping_add(walk.result as usize));
        }
        for (index, found) in found.iter_mut().enumerate() {
            *found = self.finish(cells, key_of(index), &strings[index], walks[index]);
        }
    }

    /// Whether `link` is a node; its target is prefetched.
    #[inline(always)]
    fn prefetch_link(&self, cells: &Cells, link: u32) -> bool {
        let is_leaf = link & LEAF != 0;
        let node = self.nodes.items.as_ptr().wrapping_add(link as usize);
        prefetch(select_unpredictable(is_leaf, cells.address(link & !LEAF).cast(), node));
        (link as i32) > 0
    }

    /// Reads one node.
    #[inline(always)]
    fn step(&self, string: &BitString<WORDS>, walk: &mut Walk) {
        let node = &self.nodes.items[walk.link as usize];
        let read = chunk(string, walk.position, node.skipped_bits + STRIDE_BITS) as u64;
        let bits = read as u32 % (1 << STRIDE_BITS);
        let is_here = read >> STRIDE_BITS == u64::from(node.skipped);
        let matching = node.prefixes & ANCESTORS[bits as usize >> 1];
        // Bit 0 means no prefix, so that this is correct for an empty set, too.
        let longest = 63 - (matching | 1).leading_zeros();
        let result = node.results + rank(node.prefixes, longest);
        walk.result = select_unpredictable(is_here & (matching != 0), result, walk.result);
        let child = node.first_child + rank(node.children, bits);
        let inner = select_unpredictable(is_here & (node.children >> bits & 1 == 1), child, 0);
        walk.link = select_unpredictable(node.is_leaf(), LEAF | node.results, inner);
        walk.position += node.skipped_bits + STRIDE_BITS;
    }

    #[inline(always)]
    fn find_one(&self, cells: &Cells, key: &[u64]) -> Cell {
        let string = self.string(key);
        let [best, link] = self.root[self.root_index(&string)];
        let mut walk = Walk { link, result: 0, best, position: self.root_bits };
        while walk.link != 0 && walk.link & LEAF == 0 {
            self.step(&string, &mut walk);
        }
        self.finish(cells, key, &string, walk)
    }

    /// The longest match of a walk. Number 0 means nothing everywhere: the default entry's tail is zero, so that it
    /// "matches" as a leaf, and the first result is 0.
    #[inline(always)]
    fn finish(&self, cells: &Cells, key: &[u64], string: &BitString<WORDS>, walk: Walk) -> Cell {
        let leaf = walk.link & !LEAF;
        let (values, masks) = cells.tail(leaf)[..2 * key.len()].split_at(key.len());
        let unlike = key.iter().zip(values).zip(masks).fold(0, |all, ((key, value), mask)| all | (key & mask ^ value));
        let leaf = if unlike == 0 { leaf } else { 0 };
        let result = self.results.items[walk.result as usize];
        let longer = if result != 0 { result } else { walk.best };
        let found = if leaf != 0 { leaf } else { longer };
        if found != 0 { found } else { self.coarse[self.root_index(string) >> self.coarse_shift] }
    }
}

/// The first `len` of the `bits` bits of a slot number.
fn leading(slot: usize, bits: u32, len: u32) -> u64 {
    (slot >> (bits - len)) as u64
}

/// The slots of a table of `bits` bits under the first `len` bits of `slot`.
fn slots_under(slot: usize, bits: u32, len: u32) -> std::ops::Range<usize> {
    let count = 1 << (bits - len);
    let start = slot & !(count - 1);
    start..start + count
}

/// The bit in a node's `prefixes` of an entry that ends in it.
fn prefix_bit<const WORDS: usize>(string: &BitString<WORDS>, len: u32, position: u32) -> u32 {
    let rest = len - position;
    1 << rest | (chunk(string, position, STRIDE_BITS) >> (STRIDE_BITS - rest)) as u32
}
