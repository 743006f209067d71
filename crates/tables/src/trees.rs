//! Decision trees over the bits of keys.
//!
//! A node cuts its entries by a window of bits ([`crate::cuts`]): a key goes on to the part that has its bits. It ends
//! in a leaf ([`crate::leaves`]) with a few entries. An entry that does not ask for the bits of a window is in several
//! parts; one that would be in more than [`COPIES_MAX`] goes to the next tree, which cuts other bits. So the first tree
//! may be by destinations, the second by sources for entries that leave the destination open. What no tree takes is
//! left to the caller.
//!
//! Nodes are slots in one array: a slot names a window, and where the slots of its parts begin; or it names a leaf. So
//! a step costs one load, and those of a burst overlap.

use crate::building::{COPIES_EACH, COPIES_MAX, Gone, Subtree};
use crate::cells::{Cell, Cells, prefetch};
use crate::cuts::{Item, Known, Window};
use crate::leaves::{BLOCKS_MAX, Candidate, LANES, Leaf, Leaves};
use crate::shape::{Shape, rank_in};
use base::limits::BURST_PACKETS_MAX;

/// Copies of an entry at most that a leaf has which becomes a node.
const COPIES_OF_SPLIT_MAX: u32 = 8;

/// How many more copies than [`COPIES_EACH`] there may be.
const COPIES_MORE: usize = 1024;

/// Entries of a leaf at most.
pub(crate) const LEAF_ENTRIES_MAX: usize = BLOCKS_MAX * LANES;

/// All trees of a table.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    roots: Vec<Node>,
    /// A bound of the priorities in each tree.
    tops: Vec<u32>,
    slots: Vec<Node>,
    leaves: Leaves,
    /// Entries in leaves, copies included, and entries.
    copies: usize,
    len: usize,
    /// The tree of each cell, plus one; 0 if it is in none.
    homes: Vec<u8>,
}

/// A node: a leaf, or a window and the first slot of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(u64);

const LEAF_BIT: u64 = 1 << 63;
/// Words of a key that windows are in.
const WORDS_MAX: usize = 1 << 12;

impl Node {
    const EMPTY: Node = Node(LEAF_BIT);

    /// Whether there can be a node of this window.
    pub fn fits(window: &Window) -> bool {
        window.word < WORDS_MAX
    }

    fn of_leaf(leaf: Leaf) -> Node {
        Node(LEAF_BIT | u64::from(leaf.blocks) << 32 | u64::from(leaf.block))
    }

    fn of_window(window: &Window, base: usize) -> Node {
        let place = (window.word as u64) << 18 | u64::from(window.shift) << 12 | u64::from(window.bits) << 8;
        Node(place << 32 | base as u64)
    }

    #[inline(always)]
    fn is_leaf(self) -> bool {
        self.0 & LEAF_BIT != 0
    }

    #[inline(always)]
    fn leaf(self) -> Leaf {
        Leaf { block: self.0 as u32, blocks: (self.0 >> 32) as u32 & 0xff }
    }

    #[inline(always)]
    fn word(self) -> usize {
        (self.0 >> 50) as usize & (WORDS_MAX - 1)
    }

    #[inline(always)]
    fn shift(self) -> u32 {
        (self.0 >> 44) as u32 & 63
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        (self.0 >> 40) as u32 & 15
    }

    #[inline(always)]
    fn base(self) -> usize {
        self.0 as u32 as usize
    }

    /// The slot of the part that a key belongs to.
    #[inline(always)]
    fn next(self, key: &[u64]) -> usize {
        let part = key[self.word()] >> self.shift() & ((1 << self.bits()) - 1);
        self.base() + part as usize
    }

    /// The window; its place in the word tells the range field.
    fn window(self, shape: &Shape) -> Window {
        let (word, shift) = (self.word(), self.shift());
        let range = shape.ranges.iter().position(|field| field.word == word && field.mask >> shift & 1 == 1);
        Window { word, shift, bits: self.bits(), range }
    }
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Root(usize),
    Slot(usize),
}

impl Trees {
    pub fn new(shape: &Shape) -> Trees {
        Trees {
            roots: Vec::new(),
            tops: Vec::new(),
            slots: Vec::new(),
            leaves: Leaves::new(shape),
            copies: 0,
            len: 0,
            homes: Vec::new(),
        }
    }

    /// Whether there is no tree.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.leaves.bytes() + self.slots.capacity() * size_of::<Node>() + self.homes.capacity()
    }

    /// Must follow the building of all trees.
    pub fn settle(&mut self) {
        self.leaves.settle();
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Adds a tree without entries to a table of so many cells.
    pub fn add_root(&mut self, cells: usize) {
        self.roots.push(Node::EMPTY);
        self.tops.push(0);
        self.homes.resize(self.homes.len().max(cells), 0);
    }

    /// Makes a leaf of these entries, in order of rank.
    pub fn add_leaf(&mut self, shape: &Shape, cells: &Cells, place: Place, entries: &[Cell]) {
        self.copies += entries.len();
        let leaf = self.leaves.add(shape, cells, entries);
        self.set_node(place, Node::of_leaf(leaf));
    }

    /// Makes a node whose parts are empty, and returns the slot of the first.
    pub fn add_node(&mut self, place: Place, window: &Window) -> usize {
        let base = self.slots.len();
        self.slots.resize(base + (1 << window.bits), Node::EMPTY);
        self.set_node(place, Node::of_window(window, base));
        base
    }

    /// Notes that the last tree has these entries, without some of them. Returns those that it does not have.
    pub fn take_all_but(&mut self, cells: &Cells, entries: Vec<Cell>, out: &[Cell]) -> Vec<Cell> {
        let home = self.roots.len() as u8;
        entries.iter().for_each(|cell| self.homes[*cell as usize] = home);
        out.iter().for_each(|cell| self.homes[*cell as usize] = 0);
        let (taken, rest): (Vec<Cell>, _) = entries.into_iter().partition(|cell| self.has(*cell));
        self.len += taken.len();
        let top = taken.iter().map(|cell| priority_in(cells, *cell)).max().unwrap_or(0);
        self.tops.last_mut().into_iter().for_each(|last| *last = top);
        rest
    }

    /// Notes that an entry is in no tree, though leaves may have it.
    pub fn forget(&mut self, cell: Cell) {
        if self.has(cell) {
            self.homes[cell as usize] = 0;
            self.len -= 1;
        }
    }

    /// Removes the entries that a tree does not have from one of its nodes, if it is a leaf.
    pub fn clean(&mut self, place: Place, tree: usize) {
        let (node, homes) = (self.node(place), &self.homes);
        let stays = |cell: Cell| usize::from(homes[cell as usize]) == tree + 1;
        if node.is_leaf() && self.leaves.entries(node.leaf()).any(|cell| !stays(cell)) {
            self.copies -= self.leaves.entries(node.leaf()).filter(|cell| !stays(*cell)).count();
            let leaf = self.leaves.retain(node.leaf(), stays);
            self.set_node(place, Node::of_leaf(leaf));
        }
    }

    fn node(&self, place: Place) -> Node {
        match place {
            Place::Root(tree) => self.roots[tree],
            Place::Slot(slot) => self.slots[slot],
        }
    }

    fn set_node(&mut self, place: Place, node: Node) {
        match place {
            Place::Root(tree) => self.roots[tree] = node,
            Place::Slot(slot) => self.slots[slot] = node,
        }
    }

    /// The leaves of a tree that an entry belongs to, with what is known there; none if they are more than `most`.
    fn leaves_of(
        &self,
        shape: &Shape,
        cells: &Cells,
        cell: Cell,
        tree: usize,
        most: usize,
    ) -> Option<Vec<(Place, Known)>> {
        let entry = shape.of(cells, cell);
        let mut open = vec![(Place::Root(tree), Known::nothing(shape))];
        let mut found = Vec::new();
        while let Some((place, known)) = open.pop() {
            let node = self.node(place);
            if node.is_leaf() {
                found.push((place, known));
            } else {
                let window = node.window(shape);
                let parts = window.parts(shape, &known, &entry);
                if found.len() + open.len() + parts.count() as usize > most {
                    return None;
                }
                parts.each(|part| {
                    let mut known = known.clone();
                    known.enter(&window, part as u64);
                    open.push((Place::Slot(node.base() + part), known));
                });
            }
        }
        Some(found)
    }

    /// Adds an entry. Returns whether a tree takes it.
    pub fn insert(&mut self, shape: &Shape, cells: &Cells, cell: Cell) -> bool {
        for tree in 0..self.roots.len() {
            let Some(leaves) = self.leaves_of(shape, cells, cell, tree, COPIES_MAX as usize) else { continue };
            let is_full = |(place, _): &(Place, Known)| self.len_of(self.node(*place)) >= LEAF_ENTRIES_MAX;
            if leaves.iter().any(is_full) {
                continue;
            }
            self.homes.resize(self.homes.len().max(cells.count()), 0);
            self.homes[cell as usize] = tree as u8 + 1;
            self.len += 1;
            self.tops[tree] = self.tops[tree].max(priority_in(cells, cell));
            for (place, known) in leaves {
                self.insert_at(shape, cells, cell, place, known);
            }
            return true;
        }
        false
    }

    fn len_of(&self, leaf: Node) -> usize {
        self.leaves.entries(leaf.leaf()).count()
    }

    fn insert_at(&mut self, shape: &Shape, cells: &Cells, cell: Cell, place: Place, known: Known) {
        let leaf = self.node(place).leaf();
        let mut entries: Vec<Cell> = self.leaves.entries(leaf).collect();
        let rank = rank_in(cells, cell);
        entries.insert(entries.partition_point(|other| rank_in(cells, *other) > rank), cell);
        self.copies += 1;
        let most = COPIES_EACH * self.len + COPIES_MORE;
        if entries.len() > LANES && entries.len() % LANES == 1 && self.copies < most {
            let items: Vec<Item> = entries.iter().map(|&cell| Item { cell, budget: COPIES_OF_SPLIT_MAX }).collect();
            let spare_copies = most - self.copies;
            self.copies -= entries.len();
            self.leaves.remove(leaf);
            let mut subtree = Subtree::new(known, false, spare_copies);
            subtree.start(self, shape, cells, place, items);
            let (gone, mut work) = (Gone::default(), usize::MAX);
            subtree.advance(self, shape, cells, &gone, &mut work);
        } else {
            let leaf = self.leaves.replace(shape, cells, leaf, &entries);
            self.set_node(place, Node::of_leaf(leaf));
        }
    }

    /// The tree of an entry.
    pub fn tree_of(&self, cell: Cell) -> Option<usize> {
        usize::from(*self.homes.get(cell as usize)?).checked_sub(1)
    }

    /// Whether an entry is in a tree.
    pub fn has(&self, cell: Cell) -> bool {
        self.tree_of(cell).is_some()
    }

    /// Removes an entry that is in a tree.
    pub fn remove(&mut self, shape: &Shape, cells: &Cells, cell: Cell) {
        let tree = usize::from(std::mem::take(&mut self.homes[cell as usize])) - 1;
        self.len -= 1;
        for (place, _) in self.leaves_of(shape, cells, cell, tree, usize::MAX).unwrap_or_default() {
            self.copies -= 1;
            let leaf = self.leaves.retain(self.node(place).leaf(), |other| other != cell);
            self.set_node(place, Node::of_leaf(leaf));
        }
    }

    /// Finds the best entries of a burst of keys of `WORDS` words, or if that is 0 of as many as the table's. `best` is
    /// nothing before. With `VECTORS` the processor has AVX2.
    #[inline(always)]
    pub fn find<const VECTORS: bool, const WORDS: usize>(
        &self,
        shape: &Shape,
        cells: &Cells,
        keys: &[u64],
        best: &mut [Candidate],
    ) {
        let words = if WORDS == 0 { shape.key_words } else { WORDS };
        let key_of = |index: usize| &keys[index * words..(index + 1) * words];
        let mut open = [0; BURST_PACKETS_MAX];
        for (root, top) in self.roots.iter().zip(&self.tops) {
            let open = still_open(best, *top, &mut open);
            let mut nodes = [*root; BURST_PACKETS_MAX];
            if !root.is_leaf() {
                self.descend(&key_of, open, &mut nodes);
            }
            for &index in open.iter() {
                self.leaves.prefetch(nodes[usize::from(index)].leaf());
            }
            for &index in open.iter() {
                let index = usize::from(index);
                let found = self.leaves.find::<VECTORS>(shape, cells, nodes[index].leaf(), key_of(index));
                best[index] = better(cells, best[index], found);
            }
        }
    }

    /// Replaces the root by the leaf of each of these keys.
    #[inline(always)]
    fn descend<'k>(&self, key_of: &impl Fn(usize) -> &'k [u64], keys: &[u8], nodes: &mut [Node; BURST_PACKETS_MAX]) {
        let mut open = [0; BURST_PACKETS_MAX];
        open[..keys.len()].copy_from_slice(keys);
        let mut slots = [0; BURST_PACKETS_MAX];
        for &index in keys {
            let index = usize::from(index) % BURST_PACKETS_MAX;
            slots[index] = nodes[index].next(key_of(index)) as u32;
            prefetch(self.slots.as_ptr().wrapping_add(slots[index] as usize));
        }
        let mut len = keys.len();
        while len > 0 {
            let mut still = 0;
            for place in 0..len {
                let index = usize::from(open[place]) % BURST_PACKETS_MAX;
                let node = self.slots[slots[index] as usize];
                nodes[index] = node;
                slots[index] = node.next(key_of(index)) as u32;
                prefetch(self.slots.as_ptr().wrapping_add(slots[index] as usize));
                open[still] = index as u8;
                still += usize::from(!node.is_leaf());
            }
            len = still;
        }
    }
}

/// The keys for which an entry of this priority might be better than what they have.
#[inline(always)]
pub(crate) fn still_open<'o>(best: &[Candidate], top: u32, open: &'o mut [u8; BURST_PACKETS_MAX]) -> &'o [u8] {
    let mut len = 0;
    for (index, best) in best.iter().enumerate() {
        open[len % BURST_PACKETS_MAX] = index as u8;
        len += usize::from((best >> 32) as u32 <= top);
    }
    &open[..len]
}

fn priority_in(cells: &Cells, cell: Cell) -> u32 {
    (rank_in(cells, cell) >> 64) as u32
}

/// The better of two candidates.
#[inline(always)]
pub(crate) fn better(cells: &Cells, one: Candidate, other: Candidate) -> Candidate {
    let is_tie = (one ^ other) >> 32 == 0 && one as Cell != 0 && other as Cell != 0;
    if is_tie && rank_in(cells, one as Cell) > rank_in(cells, other as Cell) {
        return one;
    }
    if is_tie || other > one { other } else { one }
}
