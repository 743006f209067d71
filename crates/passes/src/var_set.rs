//! Sets of variables in which neighbours share a word: liveness keeps one for each state and label, and copies them at
//! every branch.

use base::OrderedMap;
use base::index::Id as _;
use ir::VarId;

/// A set of variables. No word is zero, so that equal sets are equal maps.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct VarSet {
    words: OrderedMap<usize, u64>,
}

impl VarSet {
    fn place(var: VarId) -> (usize, u64) {
        (var.index() / 64, 1 << (var.index() % 64))
    }

    pub fn insert(&mut self, var: VarId) {
        let (word, bit) = VarSet::place(var);
        *self.words.entry(word).or_insert(0) |= bit;
    }

    pub fn remove(&mut self, var: VarId) {
        let (word, bit) = VarSet::place(var);
        if let Some(bits) = self.words.get_mut(&word) {
            *bits &= !bit;
            if *bits == 0 {
                self.words.remove(&word);
            }
        }
    }

    pub fn contains(&self, var: VarId) -> bool {
        let (word, bit) = VarSet::place(var);
        self.words.get(&word).is_some_and(|bits| bits & bit != 0)
    }

    /// Adds all that another set has.
    pub fn add(&mut self, other: &VarSet) {
        for (&word, bits) in &other.words {
            *self.words.entry(word).or_insert(0) |= bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_was_put_in_and_not_taken_out() {
        let (low, high) = (VarId::from_index(3), VarId::from_index(1000));
        let mut set = VarSet::default();
        set.insert(low);
        let mut other = VarSet::default();
        other.insert(high);
        set.add(&other);
        assert!(set.contains(low) && set.contains(high) && !set.contains(VarId::from_index(4)));
        set.remove(low);
        set.remove(VarId::from_index(64));
        assert_eq!(set, other);
    }
}
