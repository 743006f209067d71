//! Decision trees that are built in steps, while the table that they are for changes.
//!
//! What enters: the cells of a table, and the entries that come and go meanwhile. What leaves: trees, and the list of
//! what they do not take. Each step does a bounded amount of work, so that an update that causes one does not wait for
//! all of them.
//!
//! First the entries are collected, then one tree after the other is made from its root on. An entry that is removed
//! meanwhile is [`Building::gone`]: its cell, which another entry may have by then, is not read again. Then leaves
//! forget the entries that are gone or that their tree does not take after all. The entries that came meanwhile are
//! inserted last.

use crate::cells::{Cell, Cells};
use crate::cuts::{self, Item, Known, Window};
use crate::leaves::LANES;
use crate::ranked::RankedList;
use crate::shape::{Shape, rank_in};
use crate::trees::{LEAF_ENTRIES_MAX, Node, Place, Trees};
use std::cmp::Reverse;
use std::ops::Range;

/// Trees at most.
pub(crate) const TREES_MAX: usize = 6;

/// Copies of an entry in its tree at most, when it is built.
pub(crate) const COPIES_MAX: u32 = 64;

/// The same for a tree that is better without entries that would be copied so often.
const COPIES_LESS: u32 = 4;

/// How good the first cut must be for many copies to be worth it: then fewer trees are searched.
const MANY_SCORE: f32 = 2.0;

/// How good the first cut of a tree must be ([`cuts::choose`]).
const ROOT_SCORE_MIN: f32 = 1.2;

/// Copies of all entries for each entry at most; with more, leaves are not cut.
pub(crate) const COPIES_EACH: usize = 4;

/// Nodes from the root to a leaf at most.
const DEPTH_MAX: usize = 24;

/// Entries that are not worth a tree.
const REST_MAX: usize = 48;

/// What some kinds of work cost, where that of putting an entry into a part is 1.
const CHOICE_COST: usize = 64;
const INSERTION_COST: usize = 64;

/// Cells whose entries are no longer those that they were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gone(Vec<bool>);

impl Gone {
    fn add(&mut self, cell: Cell) {
        let place = cell as usize;
        self.0.resize(self.0.len().max(place + 1), false);
        self.0[place] = true;
    }

    fn has(&self, cell: Cell) -> bool {
        self.0.get(cell as usize).is_some_and(|gone| *gone)
    }
}

/// A tree that is being made, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Subtree {
    known: Known,
    /// Entries that the tree does not take. None must be taken out if there is no list.
    out: Option<Vec<Cell>>,
    /// Copies that may be added.
    spare_copies: usize,
    /// The node whose entries are being put into parts.
    open: Option<Open>,
    /// The nodes above it, from the first one on.
    above: Vec<Above>,
}

/// A node some of whose entries are in its parts.
#[derive(Clone, Debug)]
struct Open {
    place: Place,
    window: Window,
    items: Vec<Item>,
    /// The first that is not in a part yet.
    next: usize,
    parts: Vec<Vec<Item>>,
}

/// A node some of whose parts are nodes.
#[derive(Clone, Debug)]
struct Above {
    window: Window,
    base: usize,
    parts: Vec<Vec<Item>>,
    /// The number of the first of these parts.
    first: usize,
    /// The first of them that is not a node yet.
    next: usize,
}

impl Above {
    /// Takes the next part that has entries. Parts behind it join it as long as all of their entries fit a block, so
    /// there may be several. Returns their places.
    fn next_parts(&mut self, gone: &Gone) -> Option<(Range<usize>, Vec<Item>)> {
        let start = (self.next..self.parts.len()).find(|part| !self.parts[*part].is_empty())?;
        let mut items = std::mem::take(&mut self.parts[start]);
        items.retain(|item| !gone.has(item.cell));
        self.next = start + 1;
        if items.is_empty() {
            return Some((start..self.next, items));
        }
        while items.len() <= LANES
            && let Some(part) = self.parts.get(self.next).filter(|part| !part.is_empty())
        {
            let is_new = |item: &&Item| items.iter().all(|other| other.cell != item.cell) && !gone.has(item.cell);
            let more: Vec<Item> = part.iter().filter(is_new).copied().collect();
            if items.len() + more.len() > LANES {
                break;
            }
            items.extend(more);
            self.parts[self.next] = Vec::new();
            self.next += 1;
        }
        Some((start..self.next, items))
    }
}

impl Subtree {
    /// Of entries in keys of which this is known. With `takes_out` the tree may be better without some of them.
    pub fn new(known: Known, takes_out: bool, spare_copies: usize) -> Subtree {
        Subtree { known, out: takes_out.then(Vec::new), spare_copies, open: None, above: Vec::new() }
    }

    /// Begins a node of these entries.
    pub fn start(&mut self, trees: &mut Trees, shape: &Shape, cells: &Cells, place: Place, items: Vec<Item>) {
        let may_cut = items.len() > LANES && self.above.len() < DEPTH_MAX;
        let choose = || cuts::choose(shape, cells, &self.known, &items, self.out.is_some());
        let choice = may_cut.then(choose).flatten().map(|(_, window)| window);
        match choice.filter(Node::fits) {
            Some(window) => {
                let parts = vec![Vec::new(); 1 << window.bits];
                self.open = Some(Open { place, window, items, next: 0, parts });
            }
            None => self.make_leaf(trees, shape, cells, place, items),
        }
    }

    /// Begins some parts of a node, which share these entries so far.
    pub fn start_parts(
        &mut self,
        shape: &Shape,
        cells: &Cells,
        window: Window,
        base: usize,
        numbers: Range<usize>,
        items: &[Item],
    ) {
        let mut parts = vec![Vec::new(); numbers.len()];
        for item in items {
            window.parts(shape, &self.known, &shape.of(cells, item.cell)).each(|part| {
                if numbers.contains(&part) {
                    parts[part - numbers.start].push(*item);
                }
            });
        }
        self.above.push(Above { window, base, parts, first: numbers.start, next: 0 });
    }

    /// A leaf with as many of these entries as it may have.
    fn make_leaf(&mut self, trees: &mut Trees, shape: &Shape, cells: &Cells, place: Place, items: Vec<Item>) {
        let mut entries = in_order(cells, items);
        let rest = entries.split_off(entries.len().min(LEAF_ENTRIES_MAX));
        self.out.iter_mut().for_each(|out| out.extend(&rest));
        trees.add_leaf(shape, cells, place, &entries);
    }

    /// Continues for so much work. Returns whether all is done.
    pub fn advance(&mut self, trees: &mut Trees, shape: &Shape, cells: &Cells, gone: &Gone, work: &mut usize) -> bool {
        while *work > 0 {
            if let Some(open) = self.open.take() {
                self.continue_with(open, trees, shape, cells, gone, work);
                continue;
            }
            let Some(above) = self.above.last_mut() else { return true };
            let Some((parts, items)) = above.next_parts(gone) else {
                self.known.leave(&above.window);
                self.above.pop();
                continue;
            };
            *work = work.saturating_sub(CHOICE_COST + items.len());
            let first = above.first + parts.start;
            self.known.enter(&above.window, first as u64);
            let slots = above.base + first..above.base + first + parts.len();
            if parts.len() > 1 {
                trees.add_shared_leaf(shape, cells, slots, &in_order(cells, items));
            } else {
                self.start(trees, shape, cells, Place::Slot(slots.start), items);
            }
        }
        false
    }

    /// Puts entries of a node into its parts.
    fn continue_with(
        &mut self,
        mut open: Open,
        trees: &mut Trees,
        shape: &Shape,
        cells: &Cells,
        gone: &Gone,
        work: &mut usize,
    ) {
        let end = open.items.len().min(open.next + *work);
        *work -= end - open.next;
        for item in open.items[open.next..end].iter().filter(|item| !gone.has(item.cell)) {
            let parts = open.window.parts(shape, &self.known, &shape.of(cells, item.cell));
            let more = parts.count().saturating_sub(1) as usize;
            if parts.count() <= item.budget && more <= self.spare_copies {
                let budget = item.budget / parts.count().max(1);
                parts.each(|part| open.parts[part].push(Item { cell: item.cell, budget }));
                self.spare_copies -= more;
            } else if let Some(out) = &mut self.out {
                out.push(item.cell);
            } else {
                return self.make_leaf(trees, shape, cells, open.place, open.items);
            }
        }
        open.next = end;
        if end < open.items.len() {
            self.open = Some(open);
            return;
        }
        let Open { place, window, parts, .. } = open;
        let base = trees.add_node(place, &window);
        self.above.push(Above { window, base, parts, first: 0, next: 0 });
    }
}

/// Entries in order of rank.
fn in_order(cells: &Cells, items: Vec<Item>) -> Vec<Cell> {
    let mut entries: Vec<Cell> = items.into_iter().map(|item| item.cell).collect();
    entries.sort_unstable_by_key(|cell| Reverse(rank_in(cells, *cell)));
    entries
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The cells from this one on are to be read.
    Collect(Cell),
    Trees,
    /// Leaves from this slot on may have entries that they must not have.
    Sweep(usize),
    Insert,
}

/// Trees and a list that are being built.
#[derive(Clone, Debug)]
pub(crate) struct Building {
    trees: Trees,
    list: RankedList,
    stage: Stage,
    /// The entries that no tree has taken.
    left: Vec<Cell>,
    /// Cells whose entries were removed before all trees were there.
    gone: Gone,
    /// The entries that came meanwhile.
    late: Vec<Cell>,
    /// The last tree, while it is made.
    tree: Option<Subtree>,
    /// The first slot of each tree.
    starts: Vec<usize>,
}

impl Building {
    pub fn new(shape: &Shape) -> Building {
        Building {
            trees: Trees::new(shape),
            list: RankedList::new(shape.key_words),
            stage: Stage::Collect(1),
            left: Vec::new(),
            gone: Gone::default(),
            late: Vec::new(),
            tree: None,
            starts: Vec::new(),
        }
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.trees.bytes() + self.list.bytes()
    }

    /// An entry that came, whose cell is set.
    pub fn insert(&mut self, cell: Cell) {
        self.late.push(cell);
    }

    /// An entry that goes, whose cell is still set.
    pub fn remove(&mut self, shape: &Shape, cells: &Cells, cell: Cell) {
        match self.stage {
            Stage::Collect(_) | Stage::Trees => {
                self.gone.add(cell);
                self.trees.forget(cell);
            }
            _ if self.trees.has(cell) => self.trees.remove(shape, cells, cell),
            _ if self.list.has(rank_in(cells, cell)) => self.list.remove(rank_in(cells, cell)),
            _ => {}
        }
    }

    /// Continues for so much work. Returns whether all is done.
    pub fn advance(&mut self, shape: &Shape, cells: &Cells, mut work: usize) -> bool {
        while work > 0 {
            match self.stage {
                Stage::Collect(start) => {
                    let end = cells.count().min((start as usize).saturating_add(work)) as Cell;
                    work -= (end - start) as usize;
                    self.left.extend(cells.live_from(start).take_while(|cell| *cell < end));
                    self.stage = if end as usize == cells.count() { Stage::Trees } else { Stage::Collect(end) };
                }
                Stage::Trees => match &mut self.tree {
                    None => self.start_tree(shape, cells, &mut work),
                    Some(tree) => {
                        if tree.advance(&mut self.trees, shape, cells, &self.gone, &mut work) {
                            self.finish_tree(cells);
                        }
                    }
                },
                Stage::Sweep(slot) => {
                    let end = self.trees.slots().min(slot.saturating_add(work));
                    work = work.saturating_sub(end - slot + 1);
                    self.sweep(slot, end);
                }
                Stage::Insert => match (self.left.pop(), &mut self.late) {
                    (Some(cell), _) => self.insert_now(shape, cells, cell, false),
                    (None, late) => match late.pop() {
                        Some(cell) => self.insert_now(shape, cells, cell, true),
                        None => return true,
                    },
                },
            }
            if self.stage == Stage::Insert {
                work = work.saturating_sub(INSERTION_COST);
            }
        }
        false
    }

    /// Begins the next tree, if it is worth one.
    fn start_tree(&mut self, shape: &Shape, cells: &Cells, work: &mut usize) {
        self.left.retain(|cell| !self.gone.has(*cell));
        *work = work.saturating_sub(CHOICE_COST + self.left.len() / 16);
        let tree = self.starts.len();
        let items = (self.left.len() > REST_MAX && tree < TREES_MAX).then(|| self.root_items(shape, cells)).flatten();
        let Some(items) = items else {
            self.stage = Stage::Sweep(0);
            return;
        };
        self.starts.push(self.trees.slots());
        self.trees.add_root(cells.count());
        let mut subtree = Subtree::new(Known::nothing(shape), true, COPIES_EACH * self.left.len());
        subtree.start(&mut self.trees, shape, cells, Place::Root(tree), items);
        self.tree = Some(subtree);
    }

    /// The entries for a tree, if one is good, with the copies that there may be of them.
    fn root_items(&self, shape: &Shape, cells: &Cells) -> Option<Vec<Item>> {
        let known = Known::nothing(shape);
        let items_of = |budget: u32| self.left.iter().map(move |&cell| Item { cell, budget }).collect();
        let score_of = |items: &Vec<Item>| cuts::choose(shape, cells, &known, items, true).map_or(0.0, |best| best.0);
        let scored = [COPIES_MAX, COPIES_LESS].map(items_of).map(|items| (score_of(&items), items));
        let [(more, many), (less, few)] = scored;
        let (score, items) = if more >= less.min(MANY_SCORE) { (more, many) } else { (less, few) };
        (score >= ROOT_SCORE_MIN).then_some(items)
    }

    fn finish_tree(&mut self, cells: &Cells) {
        let out = self.tree.take().and_then(|tree| tree.out).unwrap_or_default();
        let mut left = std::mem::take(&mut self.left);
        left.retain(|cell| !self.gone.has(*cell));
        self.left = self.trees.take_all_but(cells, left, &out);
    }

    /// Removes the entries that a tree does not have from those of its leaves that had taken them.
    fn sweep(&mut self, start: usize, end: usize) {
        if start == 0 {
            (0..self.starts.len()).for_each(|tree| self.trees.clean(Place::Root(tree), tree));
        }
        let mut tree = self.starts.partition_point(|first| *first <= start).saturating_sub(1);
        for slot in start..end {
            while self.starts.get(tree + 1).is_some_and(|first| *first <= slot) {
                tree += 1;
            }
            self.trees.clean(Place::Slot(slot), tree);
        }
        self.stage = if end == self.trees.slots() { Stage::Insert } else { Stage::Sweep(end) };
    }

    /// Inserts an entry that is still there.
    fn insert_now(&mut self, shape: &Shape, cells: &Cells, cell: Cell, may_be_in_tree: bool) {
        if !cells.is_live(cell) || self.trees.has(cell) || self.list.has(rank_in(cells, cell)) {
            return;
        }
        if !may_be_in_tree || !self.trees.insert(shape, cells, cell) {
            self.list.insert(rank_in(cells, cell), cell, &shape.row(cells, cell));
        }
    }

    /// The trees, and the list of what they do not take. `at_once` if they were built in one step.
    pub fn finish(mut self, at_once: bool) -> (Trees, RankedList) {
        self.trees.finish_build(at_once);
        (self.trees, self.list)
    }
}
