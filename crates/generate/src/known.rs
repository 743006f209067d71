//! The entries of one form that a table has: by the parts of their keys that count.
//!
//! What enters: keys as rows of words, all of the same length. What leaves: for which packet an entry was made. Rows
//! are found by the index of exact tables; nothing depends on their order. A million of them take some tens of
//! megabytes.

use tables::hash_index::{HashIndex, hash_words};

/// For which packet an entry was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Its flow.
    pub flow: u32,
    /// The kind of traffic of that.
    pub traffic: u32,
}

/// Disturbs hashes. Keys come from the user's own program, so that it need not be secret.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Rows with their origins.
#[derive(Debug)]
pub(crate) struct Known {
    /// Words of a row.
    width: usize,
    words: Vec<u64>,
    origins: Vec<Origin>,
    /// The rows by their hashes, numbered from 1.
    index: HashIndex,
}

impl Known {
    /// None yet, with keys of this many words.
    pub(crate) fn new(width: usize) -> Known {
        Known { width, words: Vec::new(), origins: Vec::new(), index: HashIndex::new() }
    }

    /// The origin of the entry with this key.
    pub(crate) fn get(&self, key: &[u64]) -> Option<Origin> {
        let number = self.index.find(hash(key), |number| self.row(number) == key)?;
        Some(self.origins[number as usize - 1])
    }

    /// Adds an entry that is not there.
    pub(crate) fn insert(&mut self, key: &[u64], origin: Origin) {
        debug_assert_eq!(key.len(), self.width);
        self.words.extend_from_slice(key);
        self.origins.push(origin);
        self.index.insert(hash(key), self.origins.len() as u32);
    }

    fn row(&self, number: u32) -> &[u64] {
        &self.words[(number as usize - 1) * self.width..][..self.width]
    }
}

fn hash(key: &[u64]) -> u32 {
    hash_words(SEED, key.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::OrderedMap;
    use base::Rng;

    #[test]
    fn rows_are_found_as_in_a_map() {
        for width in [0, 1, 3] {
            let (mut known, mut map, mut rng) = (Known::new(width), OrderedMap::new(), Rng::new(1));
            for flow in 0..20_000 {
                let key: Vec<u64> = (0..width).map(|_| rng.below(50) << 40).collect();
                assert_eq!(known.get(&key), map.get(&key).copied());
                map.entry(key.clone()).or_insert_with(|| {
                    let origin = Origin { flow, traffic: 0 };
                    known.insert(&key, origin);
                    origin
                });
            }
            assert_eq!(known.origins.len(), map.len());
        }
    }
}
