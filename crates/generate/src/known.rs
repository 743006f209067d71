//! The entries of one form that a table has: by the parts of their keys that count.
//!
//! What enters: keys as rows of words, all of the same length. What leaves: for which packet an entry was made. Rows
//! are found by a hash; nothing depends on their order. A million of them take some tens of megabytes.

/// For which packet an entry was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Its flow.
    pub flow: u32,
    /// The kind of traffic of that.
    pub traffic: u32,
}

/// A place in `slots` without a row.
const EMPTY: u32 = u32::MAX;

/// The fewest slots.
const SLOTS_MIN: usize = 16;

/// Rows with their origins.
#[derive(Debug)]
pub(crate) struct Known {
    /// Words of a row.
    width: usize,
    words: Vec<u64>,
    origins: Vec<Origin>,
    /// Numbers of rows, at the first free place from that of their hash on. Never more than half of them are used.
    slots: Vec<u32>,
}

impl Known {
    /// None yet, with keys of this many words.
    pub(crate) fn new(width: usize) -> Known {
        Known { width, words: Vec::new(), origins: Vec::new(), slots: vec![EMPTY; SLOTS_MIN] }
    }

    /// The origin of the entry with this key.
    pub(crate) fn get(&self, key: &[u64]) -> Option<Origin> {
        let row = self.slots[self.slot(key)];
        self.origins.get(row as usize).copied()
    }

    /// Adds an entry that is not there.
    pub(crate) fn insert(&mut self, key: &[u64], origin: Origin) {
        debug_assert_eq!(key.len(), self.width);
        if 2 * (self.origins.len() + 1) > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(key);
        self.slots[slot] = self.origins.len() as u32;
        self.words.extend_from_slice(key);
        self.origins.push(origin);
    }

    fn row(&self, row: u32) -> &[u64] {
        &self.words[row as usize * self.width..][..self.width]
    }

    /// The place of a key, or the one where it would be.
    fn slot(&self, key: &[u64]) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = hash(key) as usize & last;
        while self.slots[slot] != EMPTY && self.row(self.slots[slot]) != key {
            slot = (slot + 1) & last;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; 2 * self.slots.len()];
        for row in 0..self.origins.len() as u32 {
            let slot = self.slot(self.row(row));
            self.slots[slot] = row;
        }
    }
}

/// Mixes words, so that the low bits depend on all.
fn hash(key: &[u64]) -> u64 {
    let mixed = key.iter().fold(0u64, |hash, word| (hash.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32
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
