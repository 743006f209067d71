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

use crate::cells::{Cell, Cells, prefetch};
use crate::cuts::{self, Item, Known, Window};
use crate::leaves::{BLOCKS_MAX, Candidate, LANES, Leaf, Leaves};
use crate::shape::{Shape, rank_in};
use base::limits::BURST_PACKETS_MAX;
use std::cmp::Reverse;

/// Trees at most.
pub(crate) const TREES_MAX: usize = 6;

/// Copies of an entry in its tree at most, when it is built.
const COPIES_MAX: u32 = 64;

/// The same for a tree that is better without entries that would be copied so often.
const COPIES_LESS: u32 = 4;

/// How good the first cut must be for many copies to be worth it: then fewer trees are searched.
const MANY_SCORE: f32 = 2.0;

/// How good the first cut of a tree must be ([`cuts::choose`]).
const ROOT_SCORE_MIN: f32 = 1.2;

/// Copies of an entry at most that a leaf has which becomes a node.
const COPIES_OF_SPLIT_MAX: u32 = 8;

/// Copies of all entries for each entry at most, and how many more there may be; with more, leaves are not cut.
const COPIES_EACH: usize = 4;
const COPIES_MORE: usize = 1024;

/// Entries of a leaf at most.
const LEAF_ENTRIES_MAX: usize = BLOCKS_MAX * LANES;

/// Nodes from the root to a leaf at most.
const DEPTH_MAX: usize = 24;

/// Entries that are not worth a tree.
const REST_MAX: usize = 48;

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
struct Node(u64);

const LEAF_BIT: u64 = 1 << 63;
/// Words of a key that windows are in.
const WORDS_MAX: usize = 1 << 12;

impl Node {
    const EMPTY: Node = Node(LEAF_BIT);

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
enum Place {
    Root(usize),
    Slot(usize),
}

/// What building a tree needs and changes.
struct Build<'a> {
    shape: &'a Shape,
    cells: &'a Cells,
    known: Known,
    depth: usize,
    /// Entries that this tree does not take. None must be taken out if there is no list.
    out: Option<Vec<Cell>>,
    /// Copies that may be added.
    spare_copies: usize,
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

    /// The trees of these entries, and the entries that they do not take.
    pub fn build(shape: &Shape, cells: &Cells, mut entries: Vec<Cell>) -> (Trees, Vec<Cell>) {
        let mut trees = Trees::new(shape);
        trees.homes.resize(cells.count(), 0);
        entries.sort_unstable_by_key(|cell| Reverse(rank_in(cells, *cell)));
        while entries.len() > REST_MAX && trees.roots.len() < TREES_MAX {
            let known = Known::nothing(shape);
            let items_of = |budget: u32| entries.iter().map(move |&cell| Item { cell, budget }).collect();
            let score_of =
                |items: &Vec<Item>| cuts::choose(shape, cells, &known, items, true).map_or(0.0, |best| best.0);
            let scored = [COPIES_MAX, COPIES_LESS].map(items_of).map(|items| (score_of(&items), items));
            let [(more, many), (less, few)] = scored;
            let (score, items) = if more >= less.min(MANY_SCORE) { (more, many) } else { (less, few) };
            if score < ROOT_SCORE_MIN {
                break;
            }
            let spare_copies = COPIES_EACH * entries.len();
            let mut build = Build { shape, cells, known, depth: 0, out: Some(Vec::new()), spare_copies };
            let (tree, first_slot) = (trees.roots.len(), trees.slots.len());
            let root = trees.node_of(&mut build, &items);
            trees.roots.push(root);
            trees.tops.push(0);
            for &cell in &entries {
                trees.homes[cell as usize] = tree as u8 + 1;
            }
            for cell in build.out.unwrap_or_default() {
                trees.homes[cell as usize] = 0;
            }
            trees.forget_homeless(shape, cells, first_slot);
            let (taken, rest): (Vec<Cell>, _) = entries.iter().partition(|cell| trees.has(**cell));
            trees.len += taken.len();
            trees.tops[tree] = taken.iter().map(|cell| priority_in(cells, *cell)).max().unwrap_or(0);
            entries = rest;
        }
        trees.slots.shrink_to_fit();
        trees.leaves.shrink();
        (trees, entries)
    }

    /// Removes the entries that the last tree does not take from those of its parts that had taken them.
    fn forget_homeless(&mut self, shape: &Shape, cells: &Cells, first_slot: usize) {
        let places = std::iter::once(Place::Root(self.roots.len() - 1));
        for place in places.chain((first_slot..self.slots.len()).map(Place::Slot)) {
            let node = self.node(place);
            if node.is_leaf() && self.leaves.entries(node.leaf()).any(|cell| !self.has(cell)) {
                let kept: Vec<Cell> = self.leaves.entries(node.leaf()).filter(|cell| self.has(*cell)).collect();
                self.copies -= self.len_of(node) - kept.len();
                let leaf = self.leaves.replace(shape, cells, node.leaf(), &kept);
                self.set_node(place, Node::of_leaf(leaf));
            }
        }
    }

    /// The node of these entries, in order of rank.
    fn node_of(&mut self, build: &mut Build<'_>, items: &[Item]) -> Node {
        let may_cut = items.len() > LANES && build.depth < DEPTH_MAX;
        let takes_out = build.out.is_some();
        let window = may_cut
            .then(|| cuts::choose(build.shape, build.cells, &build.known, items, takes_out))
            .flatten()
            .map(|(_, window)| window)
            .filter(|window| window.word < WORDS_MAX);
        let Some(window) = window else { return self.leaf_of(build, items) };
        let mut counts = vec![0; 1 << window.bits];
        let mut is_in = Vec::with_capacity(items.len());
        for item in items {
            let parts = window.parts(build.shape, &build.known, &build.shape.of(build.cells, item.cell));
            let more = parts.count().saturating_sub(1) as usize;
            let stays = parts.count() <= item.budget && more <= build.spare_copies;
            if stays {
                parts.each(|part| counts[part] += 1);
                build.spare_copies -= more;
            } else if let Some(out) = &mut build.out {
                out.push(item.cell);
            } else {
                return self.leaf_of(build, items);
            }
            is_in.push(stays);
        }
        let mut of_parts: Vec<Vec<Item>> = counts.iter().map(|count| Vec::with_capacity(*count)).collect();
        for (item, _) in items.iter().zip(is_in).filter(|(_, is_in)| *is_in) {
            let parts = window.parts(build.shape, &build.known, &build.shape.of(build.cells, item.cell));
            let budget = item.budget / parts.count().max(1);
            parts.each(|part| of_parts[part].push(Item { cell: item.cell, budget }));
        }
        let base = self.slots.len();
        self.slots.resize(base + counts.len(), Node::EMPTY);
        build.depth += 1;
        for (part, items) in of_parts.into_iter().enumerate().filter(|(_, items)| !items.is_empty()) {
            build.known.enter(&window, part as u64);
            self.slots[base + part] = self.node_of(build, &items);
        }
        build.known.leave(&window);
        build.depth -= 1;
        Node::of_window(&window, base)
    }

    /// A leaf with as many of these entries as it may have.
    fn leaf_of(&mut self, build: &mut Build<'_>, items: &[Item]) -> Node {
        let (kept, rest) = items.split_at(items.len().min(LEAF_ENTRIES_MAX));
        let entries: Vec<Cell> = kept.iter().map(|item| item.cell).collect();
        self.copies += entries.len();
        build.out.iter_mut().for_each(|out| out.extend(rest.iter().map(|item| item.cell)));
        Node::of_leaf(self.leaves.add(build.shape, build.cells, &entries))
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
            let mut build = Build { shape, cells, known, depth: 0, out: None, spare_copies };
            self.copies -= entries.len();
            self.leaves.remove(leaf);
            let node = self.node_of(&mut build, &items);
            self.set_node(place, node);
        } else {
            let leaf = self.leaves.replace(shape, cells, leaf, &entries);
            self.set_node(place, Node::of_leaf(leaf));
        }
    }

    /// Whether an entry is in a tree.
    pub fn has(&self, cell: Cell) -> bool {
        self.homes.get(cell as usize).is_some_and(|home| *home > 0)
    }

    /// Removes an entry that is in a tree.
    pub fn remove(&mut self, shape: &Shape, cells: &Cells, cell: Cell) {
        let tree = usize::from(std::mem::take(&mut self.homes[cell as usize])) - 1;
        self.len -= 1;
        for (place, _) in self.leaves_of(shape, cells, cell, tree, usize::MAX).unwrap_or_default() {
            let leaf = self.node(place).leaf();
            let mut entries: Vec<Cell> = self.leaves.entries(leaf).collect();
            entries.retain(|other| *other != cell);
            self.copies -= 1;
            let leaf = self.leaves.replace(shape, cells, leaf, &entries);
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
