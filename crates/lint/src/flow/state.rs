//! The state at a point of a body: for each leaf, whether it may be assigned there and whether it must be.

use std::ops::Range;

/// A set of leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LeafSet {
    words: Vec<u64>,
}

impl LeafSet {
    /// All of the first `count` leaves, or none.
    fn filled(count: usize, is_full: bool) -> LeafSet {
        LeafSet { words: vec![if is_full { u64::MAX } else { 0 }; count.div_ceil(64)] }
    }

    pub(crate) fn contains(&self, leaf: usize) -> bool {
        self.words[leaf / 64] >> (leaf % 64) & 1 == 1
    }

    fn set(&mut self, leaf: usize, value: bool) {
        let mask = 1 << (leaf % 64);
        if value {
            self.words[leaf / 64] |= mask;
        } else {
            self.words[leaf / 64] &= !mask;
        }
    }

    fn zip(&mut self, other: &LeafSet, combine: impl Fn(u64, u64) -> u64) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word = combine(*word, *other);
        }
    }
}

/// The state at a reachable point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Assigned {
    /// The leaves that are assigned on some path, including validity bits that are set on some path.
    pub(crate) may: LeafSet,
    /// The leaves that are assigned on every path.
    pub(crate) must: LeafSet,
}

impl Assigned {
    /// All leaves are assigned, or none is.
    pub(crate) fn filled(leaf_count: usize, is_full: bool) -> Assigned {
        Assigned { may: LeafSet::filled(leaf_count, is_full), must: LeafSet::filled(leaf_count, is_full) }
    }

    /// Marks the leaves as assigned or unassigned.
    pub(crate) fn set(&mut self, leaves: Range<usize>, value: bool) {
        for leaf in leaves {
            self.may.set(leaf, value);
            self.must.set(leaf, value);
        }
    }

    /// Copies the state of the leaves `from` to the leaves from `to` on.
    pub(crate) fn copy(&mut self, from: Range<usize>, to: usize) {
        let known: Vec<(bool, bool)> = from.map(|leaf| (self.may.contains(leaf), self.must.contains(leaf))).collect();
        for (leaf, (may, must)) in known.into_iter().enumerate().map(|(index, it)| (to + index, it)) {
            self.may.set(leaf, may);
            self.must.set(leaf, must);
        }
    }

    /// Marks leaves as possibly assigned.
    pub(crate) fn assume_values(&mut self, leaves: Range<usize>) {
        leaves.for_each(|leaf| self.may.set(leaf, true));
    }

    /// Marks all leaves as possibly assigned.
    pub(crate) fn assume_all_values(&mut self) {
        self.may.words.fill(u64::MAX);
    }

    /// The state where two paths meet.
    pub(crate) fn join(&mut self, other: &Assigned) {
        self.may.zip(&other.may, |a, b| a | b);
        self.must.zip(&other.must, |a, b| a & b);
    }
}

/// The state where two paths meet, either of which may be unreachable.
pub(crate) fn join(a: &mut Option<Assigned>, b: Option<Assigned>) {
    match (a.as_mut(), b) {
        (Some(a), Some(b)) => a.join(&b),
        (None, b) => *a = b,
        (Some(_), None) => {}
    }
}

/// The effect of code on each leaf: it assigns the leaf, makes it unassigned, or leaves it unchanged. The results for
/// the empty and for the full state determine such a function completely.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// `None` if the end is unreachable.
    from_empty: Option<Assigned>,
    from_full: Option<Assigned>,
}

impl Effect {
    pub(crate) fn new(from_empty: Option<Assigned>, from_full: Option<Assigned>) -> Effect {
        Effect { from_empty, from_full }
    }

    /// The state after the code; `None` if its end is unreachable.
    pub(crate) fn apply(&self, state: &Assigned) -> Option<Assigned> {
        let (empty, full) = (self.from_empty.as_ref()?, self.from_full.as_ref()?);
        let mut after = state.clone();
        after.may.zip(&full.may, |a, b| a & b);
        after.may.zip(&empty.may, |a, b| a | b);
        after.must.zip(&full.must, |a, b| a & b);
        after.must.zip(&empty.must, |a, b| a | b);
        Some(after)
    }
}
