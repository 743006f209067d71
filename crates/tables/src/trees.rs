//! Decision trees over the bits of keys.
//!
//! A node cuts its entries by a window of bits ([`crate::cuts`]): a key continues in the part that has its bits. It
//! ends in a leaf ([`crate::leaves`]) with a few entries. An entry that does not test the bits of a window is in
//! several parts; one that would be in more than [`COPIES_MAX`] goes to the next tree, which cuts other bits. So the
//! first tree may be by destinations, the second by sources for entries that leave the destination open. What no tree
//! takes is left to the caller.
//!
//! Nodes are slots in one array: a slot names a window, and where the slots of its parts begin; or it names a leaf. So
//! a step costs one load, and those of a burst overlap. Neighbouring parts of few entries share a leaf, since a key is
//! compared with all of eight entries anyway. The slot of a leaf also has the greatest priority of its entries: a key
//! that has found a better one in another tree does not read it.

use crate::building::{COPIES_EACH, COPIES_MAX, Gone, Subtree};
use crate::cells::{Cell, Cells, prefetch};
use crate::cuts::{Item, Known, Window};
use crate::leaves::{BLOCKS_MAX, Candidate, LANES, Leaf, Leaves};
use crate::shape::{Shape, rank_in};
use base::limits::{BURST_PACKETS_MAX, TABLE_ENTRIES_MAX};
use std::ops::Range;

/// Copies of an entry at most that a leaf has which becomes a node.
const COPIES_OF_SPLIT_MAX: u32 = 8;

/// How many more copies than [`COPIES_EACH`] there may be.
const COPIES_MORE: usize = 1024;

/// Entries of a leaf at most.
pub(crate) const LEAF_ENTRIES_MAX: usize = BLOCKS_MAX * LANES;

/// A place that an entry belongs to: what is known of its keys, and the node of which it is a part.
struct Found {
    place: Place,
    known: Known,
    above: Option<Node>,
}

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
/// Bits of the number of a leaf's first block; the number of its blocks is above it, and half of the greatest priority
/// of its entries above that.
const BLOCK_BITS: u32 = 28;
const _: () = assert!(TABLE_ENTRIES_MAX * (COPIES_EACH + 1) < 1 << BLOCK_BITS && BLOCKS_MAX < 1 << (32 - BLOCK_BITS));
/// Words of a key that windows are in.
const WORDS_MAX: usize = 1 << 12;

impl Node {
    const EMPTY: Node = Node(LEAF_BIT);

    /// Whether there can be a node of this window.
    pub fn fits(window: &Window) -> bool {
        window.word < WORDS_MAX
    }

    /// A leaf, and the greatest priority in it.
    fn of_leaf(leaf: Leaf, top: u32) -> Node {
        let place = leaf.blocks << BLOCK_BITS | leaf.block;
        Node(LEAF_BIT | u64::from(top >> 1) << 32 | u64::from(place))
    }

    /// Whether an entry of this leaf might be better than what a key has.
    #[inline(always)]
    fn may_improve(self, best: Candidate) -> bool {
        let top = (self.0 & !LEAF_BIT) >> 32;
        (self != Node::EMPTY) & (top >= best >> 33)
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
        let place = self.0 as u32;
        Leaf { block: place & ((1 << BLOCK_BITS) - 1), blocks: place >> BLOCK_BITS }
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

    /// A window; zero if it is a leaf. Without a branch, which could not be predicted.
    #[inline(always)]
    fn or_nothing(self) -> Node {
        Node(self.0 & !((self.0 as i64 >> 63) as u64))
    }

    /// The slot of the part that a key belongs to.
    #[inline(always)]
    fn next(self, key: &[u64]) -> usize {
        let part = key[self.word()] >> self.shift() & ((1 << self.bits()) - 1);
        self.base() + part as usize
    }

    /// The window; its place in the word identifies the range field.
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
    pub fn finish_build(&mut self, may_move: bool) {
        self.leaves.finish_build(may_move);
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Adds a tree without entries to a table of this many cells.
    pub fn add_root(&mut self, cells: usize) {
        self.roots.push(Node::EMPTY);
        self.tops.push(0);
        self.homes.resize(self.homes.len().max(cells), 0);
    }

    /// Makes a leaf of these entries, in order of rank.
    pub fn add_leaf(&mut self, shape: &Shape, cells: &Cells, place: Place, entries: &[Cell]) {
        self.copies += entries.len();
        let leaf = self.leaves.add(shape, cells, entries);
        self.set_node(place, self.leaf_node(leaf));
    }

    fn leaf_node(&self, leaf: Leaf) -> Node {
        Node::of_leaf(leaf, self.leaves.top(leaf))
    }

    /// The same for several slots.
    pub fn add_shared_leaf(&mut self, shape: &Shape, cells: &Cells, slots: Range<usize>, entries: &[Cell]) {
        self.copies += entries.len();
        let leaf = self.leaves.add(shape, cells, entries);
        let node = self.leaf_node(leaf);
        self.slots[slots].fill(node);
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
            let leaf = self.leaf_node(leaf);
            self.set_node(place, leaf);
            if let Place::Slot(slot) = place {
                // Those that share it, the first of which comes first.
                self.slots[slot + 1..].iter_mut().take_while(|other| **other == node).for_each(|other| *other = leaf);
            }
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

    /// The places of a tree whose keys an entry may match; none if they are more than `most`.
    fn places_of(&self, shape: &Shape, cells: &Cells, cell: Cell, tree: usize, most: usize) -> Option<Vec<Found>> {
        let entry = shape.of(cells, cell);
        let mut open = vec![Found { place: Place::Root(tree), known: Known::nothing(shape), above: None }];
        let mut found = Vec::new();
        while let Some(next) = open.pop() {
            let node = self.node(next.place);
            if node.is_leaf() {
                found.push(next);
                continue;
            }
            let window = node.window(shape);
            let parts = window.parts(shape, &next.known, &entry);
            if found.len() + open.len() + parts.count() as usize > most {
                return None;
            }
            parts.each(|part| {
                let mut known = next.known.clone();
                known.enter(&window, part as u64);
                open.push(Found { place: Place::Slot(node.base() + part), known, above: Some(node) });
            });
        }
        Some(found)
    }

    /// The slots that share the leaf of a slot, whose node is known; those before it included.
    fn run_of(&self, slot: usize, above: Node) -> Range<usize> {
        let (node, all) = (self.slots[slot], above.base()..above.base() + (1 << above.bits()));
        if node == Node::EMPTY {
            return slot..slot + 1;
        }
        let before = self.slots[all.start..slot].iter().rev().take_while(|other| **other == node).count();
        let behind = self.slots[slot..all.end].iter().take_while(|other| **other == node).count();
        slot - before..slot + behind
    }

    /// Sets the leaf of a place, and of those that share it.
    fn set_leaf(&mut self, found: &Found, leaf: Leaf) {
        let node = self.leaf_node(leaf);
        match (found.place, found.above) {
            (Place::Slot(slot), Some(above)) => {
                let run = self.run_of(slot, above);
                self.slots[run].fill(node);
            }
            (place, _) => self.set_node(place, node),
        }
    }

    /// Whether the leaf of a place has an entry.
    fn leaf_has(&self, place: Place, cell: Cell) -> bool {
        let node = self.node(place);
        node.is_leaf() && self.leaves.entries(node.leaf()).any(|other| other == cell)
    }

    /// Adds an entry. Returns whether a tree takes it.
    pub fn insert(&mut self, shape: &Shape, cells: &Cells, cell: Cell) -> bool {
        for tree in 0..self.roots.len() {
            let Some(places) = self.places_of(shape, cells, cell, tree, COPIES_MAX as usize) else { continue };
            if places.iter().any(|found| self.len_of(self.node(found.place)) >= LEAF_ENTRIES_MAX) {
                continue;
            }
            self.homes.resize(self.homes.len().max(cells.count()), 0);
            self.homes[cell as usize] = tree as u8 + 1;
            self.len += 1;
            self.tops[tree] = self.tops[tree].max(priority_in(cells, cell));
            for found in places {
                // Places may share a leaf, or have done so.
                if self.node(found.place).is_leaf() && !self.leaf_has(found.place, cell) {
                    self.insert_at(shape, cells, cell, found);
                }
            }
            return true;
        }
        false
    }

    fn len_of(&self, leaf: Node) -> usize {
        self.leaves.entries(leaf.leaf()).count()
    }

    fn insert_at(&mut self, shape: &Shape, cells: &Cells, cell: Cell, found: Found) {
        let leaf = self.node(found.place).leaf();
        let mut entries: Vec<Cell> = self.leaves.entries(leaf).collect();
        let rank = rank_in(cells, cell);
        entries.insert(entries.partition_point(|other| rank_in(cells, *other) > rank), cell);
        self.copies += 1;
        let run = match (found.place, found.above) {
            (Place::Slot(slot), Some(above)) => self.run_of(slot, above),
            _ => 0..1,
        };
        let most = COPIES_EACH * self.len + COPIES_MORE;
        let is_cut = entries.len() % LANES == 1 && self.copies < most || run.len() > 1;
        if entries.len() <= LANES || !is_cut {
            let leaf = self.leaves.replace(shape, cells, leaf, &entries);
            self.set_leaf(&found, leaf);
            return;
        }
        let items: Vec<Item> = entries.iter().map(|&cell| Item { cell, budget: COPIES_OF_SPLIT_MAX }).collect();
        let spare_copies = most.saturating_sub(self.copies);
        self.copies -= entries.len();
        self.leaves.remove(leaf);
        let Found { place, mut known, above } = found;
        let mut subtree = match above {
            Some(above) if run.len() > 1 => {
                let window = above.window(shape);
                known.leave(&window);
                self.slots[run.clone()].fill(Node::EMPTY);
                let first = run.start - above.base();
                let mut subtree = Subtree::new(known, false, spare_copies);
                subtree.start_parts(shape, cells, window, above.base(), first..first + run.len(), &items);
                subtree
            }
            _ => {
                let mut subtree = Subtree::new(known, false, spare_copies);
                subtree.start(self, shape, cells, place, items);
                subtree
            }
        };
        let (gone, mut work) = (Gone::default(), usize::MAX);
        subtree.advance(self, shape, cells, &gone, &mut work);
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
        for found in self.places_of(shape, cells, cell, tree, usize::MAX).unwrap_or_default() {
            if self.leaf_has(found.place, cell) {
                self.copies -= 1;
                let old = self.node(found.place).leaf();
                // The slots that share it are those that are equal.
                let leaf = self.leaves.retain(old, |other| other != cell);
                self.set_leaf(&found, leaf);
            }
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
        for (tree, (root, top)) in self.roots.iter().zip(&self.tops).enumerate() {
            let open = still_open(best, *top, &mut open);
            let mut nodes = [*root; BURST_PACKETS_MAX];
            if !root.is_leaf() {
                self.descend(*root, &key_of, open, &mut nodes);
            }
            let mut visits = [0; BURST_PACKETS_MAX];
            let visits = if tree == 0 { open } else { may_improve(best, open, &nodes, &mut visits) };
            if self.leaves.are_far() {
                for &index in visits {
                    self.leaves.prefetch(nodes[usize::from(index)].leaf());
                }
            }
            for &index in visits {
                let index = usize::from(index);
                let found = self.leaves.find::<VECTORS>(shape, cells, nodes[index].leaf(), key_of(index));
                best[index] = better(cells, best[index], found);
            }
        }
    }

    /// Finds the leaf of each of these keys.
    #[inline(always)]
    fn descend<'k>(
        &self,
        root: Node,
        key_of: &impl Fn(usize) -> &'k [u64],
        keys: &[u8],
        nodes: &mut [Node; BURST_PACKETS_MAX],
    ) {
        let mut open = [0; BURST_PACKETS_MAX];
        open[..keys.len()].copy_from_slice(keys);
        let mut slots = [0; BURST_PACKETS_MAX];
        for &index in keys {
            let index = usize::from(index) % BURST_PACKETS_MAX;
            slots[index] = root.next(key_of(index)) as u32;
            prefetch(self.slots.as_ptr().wrapping_add(slots[index] as usize));
        }
        let mut len = keys.len();
        while len > 0 {
            let mut still = 0;
            for place in 0..len {
                let index = usize::from(open[place]) % BURST_PACKETS_MAX;
                let node = self.slots[slots[index] as usize];
                nodes[index] = node;
                slots[index] = node.or_nothing().next(key_of(index)) as u32;
                prefetch(self.slots.as_ptr().wrapping_add(slots[index] as usize));
                open[still] = index as u8;
                still += usize::from(!node.is_leaf());
            }
            len = still;
        }
    }
}

/// Those of the keys whose leaf may have an entry that is better than what they have.
#[inline(always)]
fn may_improve<'v>(
    best: &[Candidate],
    open: &[u8],
    nodes: &[Node; BURST_PACKETS_MAX],
    visits: &'v mut [u8; BURST_PACKETS_MAX],
) -> &'v [u8] {
    let mut len = 0;
    for &index in open {
        visits[len % BURST_PACKETS_MAX] = index;
        let index = usize::from(index) % BURST_PACKETS_MAX;
        len += usize::from(nodes[index].may_improve(best[index]));
    }
    &visits[..len]
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
