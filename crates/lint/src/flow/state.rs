//! What is known at a point of a body: for each leaf, whether it may have a value there and whether it must have one.

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

/// What is known at a point that is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    /// The leaves that have a value on some way here; a validity bit that is set on some way.
    pub(crate) may: LeafSet,
    /// The leaves that have a value on every way here.
    pub(crate) must: LeafSet,
}

impl State {
    /// All leaves have a value, or none has.
    pub(crate) fn filled(leaf_count: usize, is_full: bool) -> State {
        State { may: LeafSet::filled(leaf_count, is_full), must: LeafSet::filled(leaf_count, is_full) }
    }

    /// The leaves get a value or lose it.
    pub(crate) fn set(&mut self, leaves: Range<usize>, value: bool) {
        for leaf in leaves {
            self.may.set(leaf, value);
            self.must.set(leaf, value);
        }
    }

    /// The leaves from `to` on get what is known of those of `from`.
    pub(crate) fn copy(&mut self, from: Range<usize>, to: usize) {
        let known: Vec<(bool, bool)> = from.map(|leaf| (self.may.contains(leaf), self.must.contains(leaf))).collect();
        for (leaf, (may, must)) in known.into_iter().enumerate().map(|(index, it)| (to + index, it)) {
            self.may.set(leaf, may);
            self.must.set(leaf, must);
        }
    }

    /// From here on the leaves may have values.
    pub(crate) fn assume_values(&mut self, leaves: Range<usize>) {
        leaves.for_each(|leaf| self.may.set(leaf, true));
    }

    /// From here on all leaves may have values.
    pub(crate) fn assume_all_values(&mut self) {
        self.may.words.fill(u64::MAX);
    }

    /// What is known where two ways meet.
    pub(crate) fn join(&mut self, other: &State) {
        self.may.zip(&other.may, |a, b| a | b);
        self.must.zip(&other.must, |a, b| a & b);
    }
}

/// What is known where two ways meet of which either may not exist.
pub(crate) fn join(a: &mut Option<State>, b: Option<State>) {
    match (a.as_mut(), b) {
        (Some(a), Some(b)) => a.join(&b),
        (None, b) => *a = b,
        (Some(_), None) => {}
    }
}

/// What a piece of code does to each leaf: gives it a value, takes it away, or leaves it alone. Such a function is
/// known from what it makes of the empty and of the full state.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// `None` where the end is never reached.
    from_empty: Option<State>,
    from_full: Option<State>,
}

impl Effect {
    pub(crate) fn new(from_empty: Option<State>, from_full: Option<State>) -> Effect {
        Effect { from_empty, from_full }
    }

    /// The state after the code; `None` where its end is never reached.
    pub(crate) fn apply(&self, state: &State) -> Option<State> {
        let (empty, full) = (self.from_empty.as_ref()?, self.from_full.as_ref()?);
        let mut after = state.clone();
        after.may.zip(&full.may, |a, b| a & b);
        after.may.zip(&empty.may, |a, b| a | b);
        after.must.zip(&full.must, |a, b| a & b);
        after.must.zip(&empty.must, |a, b| a | b);
        Some(after)
    }
}
