//! A hash table from 32-bit hashes to 32-bit numbers; the keys stay with the caller.
//!
//! One slot is eight bytes: the hash above the number, so that a line holds eight and a number is read only if its
//! whole hash agrees. `probing` inserts and removes slots.

use crate::probing::{Probing, Slot};

/// The table. Numbers start at 1.
#[derive(Clone, Debug)]
pub struct HashIndex {
    slots: Probing<u64>,
}

/// The hash above the number; 0 if it is free.
impl Slot for u64 {
    type Hasher = ();

    #[inline(always)]
    fn is_free(&self) -> bool {
        *self == 0
    }

    #[inline(always)]
    fn hash(&self, (): &()) -> usize {
        (self >> 32) as usize
    }

    #[inline(always)]
    fn is_same(&self, other: &u64) -> bool {
        self == other
    }
}

impl Default for HashIndex {
    fn default() -> HashIndex {
        HashIndex::new()
    }
}

impl HashIndex {
    /// An index without numbers.
    pub fn new() -> HashIndex {
        HashIndex { slots: Probing::new() }
    }

    /// The number of slots, free ones included.
    pub fn slots(&self) -> usize {
        self.slots.all().len()
    }

    /// The slots, a power of two, some of which are free. A slot has the hash above the number.
    pub fn all(&self) -> &[u64] {
        self.slots.all()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    /// Makes room for `additional` more numbers at once.
    pub fn reserve(&mut self, additional: usize) {
        self.slots.reserve(&(), additional);
    }

    /// The first number at or after `position` in the probe sequence of `hash` that may be the one sought, and the
    /// position after it; 0 if there is none.
    #[inline(always)]
    pub fn probe(&self, hash: u32, mut position: usize) -> (u32, usize) {
        let slots = self.slots.all();
        let last = slots.len() - 1;
        loop {
            // The mask is the length less one, so that the compiler sees the bound.
            let slot = slots[position & last];
            position += 1;
            if slot == 0 {
                return (0, position);
            }
            if (slot >> 32) as u32 == hash {
                return (slot as u32, position);
            }
        }
    }

    /// The number of this hash for which `equal` holds.
    #[inline(always)]
    pub fn find(&self, hash: u32, mut equal: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut position = hash as usize;
        loop {
            let (number, next) = self.probe(hash, position);
            if number == 0 {
                return None;
            }
            if equal(number) {
                return Some(number);
            }
            position = next;
        }
    }

    /// The first slot of the probe sequence of `hash`, for prefetching.
    #[inline(always)]
    pub fn home(&self, hash: u32) -> *const u64 {
        let slots = self.slots.all();
        &raw const slots[hash as usize & (slots.len() - 1)]
    }

    /// Adds `number`, which must not be there yet.
    pub fn insert(&mut self, hash: u32, number: u32) {
        debug_assert_ne!(number, 0, "a slot of 0 is free");
        self.slots.insert(&(), slot_of(hash, number));
    }

    /// Replaces `old`, which must be there under this hash, by `new`.
    pub fn replace(&mut self, hash: u32, old: u32, new: u32) {
        self.slots.replace(&(), slot_of(hash, old), slot_of(hash, new));
    }

    /// Removes `number`, which must be there under this hash.
    pub fn remove(&mut self, hash: u32, number: u32) {
        self.slots.remove(&(), slot_of(hash, number));
    }
}

fn slot_of(hash: u32, number: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(number)
}

/// The hash of a row of words. Each word is mixed in by a 64 by 64 bit multiplication folded to its halves; `seed`
/// prevents attackers from choosing keys that collide.
#[inline(always)]
pub fn hash_words(seed: u64, words: impl Iterator<Item = u64>) -> u32 {
    let mut state = seed;
    for word in words {
        state = fold(state ^ word, 0x9fb2_1c65_1e98_df25) ^ state.rotate_left(23);
    }
    let mixed = fold(state, 0xd6e8_feb8_6659_fd93 ^ seed);
    (mixed ^ (mixed >> 32)) as u32
}

/// The factor of [`RowHash`].
pub(crate) const ROW_FACTOR: u32 = 0x9e37_79b1;

/// The hash of rows of a fixed number of words, of multiplications that vector instructions have: each word is xored
/// with a secret, the products of the words' halves are summed, and the sum is mixed.
#[derive(Clone, Debug)]
pub(crate) struct RowHash {
    /// What each word is disturbed with.
    secrets: Box<[u64]>,
}

impl RowHash {
    pub fn new(seed: u64, words: usize) -> RowHash {
        let secret = |word: u64| {
            let mixed = fold(seed ^ 0x2545_f491_4f6c_dd1d, 0x9fb2_1c65_1e98_df25);
            if word == 0 { mixed } else { fold(mixed ^ word, 0xd6e8_feb8_6659_fd93) }
        };
        RowHash { secrets: (0..words as u64).map(secret).collect() }
    }

    /// What each word is disturbed with.
    pub fn secrets(&self) -> &[u64] {
        &self.secrets
    }

    #[inline(always)]
    pub fn of(&self, row: &[u64]) -> u32 {
        self.of_words(row.iter().copied())
    }

    #[inline(always)]
    pub fn of_words(&self, row: impl Iterator<Item = u64>) -> u32 {
        let product = |(word, secret): (u64, &u64)| {
            let disturbed = word ^ secret;
            u64::from(disturbed as u32) * (disturbed >> 32)
        };
        let sum = row.zip(&self.secrets).map(product).fold(0, u64::wrapping_add);
        let mixed = u64::from((sum ^ sum >> 32) as u32) * u64::from(ROW_FACTOR);
        (mixed ^ mixed >> 32) as u32
    }
}

/// The halves of a product, one over the other.
#[inline(always)]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probing::SPARSE_SLOTS_MAX;
    use base::Rng;

    /// Few hashes, so that runs are long and wrap around the end.
    #[test]
    fn agrees_with_a_list_under_collisions() {
        let mut rng = Rng::new(11);
        let mut index = HashIndex::new();
        let mut list: Vec<(u32, u32)> = Vec::new();
        for step in 1..20_000 {
            let hash = (rng.below(40) as u32).wrapping_sub(20);
            match rng.below(5) {
                0..=1 if list.len() < 300 => {
                    index.insert(hash, step);
                    list.push((hash, step));
                }
                2 if !list.is_empty() => {
                    let (hash, number) = list.swap_remove(rng.below(list.len() as u64) as usize);
                    index.remove(hash, number);
                }
                3 if !list.is_empty() => {
                    let at = rng.below(list.len() as u64) as usize;
                    index.replace(list[at].0, list[at].1, step);
                    list[at].1 = step;
                }
                _ => {}
            }
            if let Some(&(hash, number)) = list.first() {
                assert_eq!(index.find(hash, |found| found == number), Some(number));
            }
            let wanted = list.iter().filter(|(other, _)| *other == hash).count();
            let mut seen = 0;
            index.find(hash, |_| {
                seen += 1;
                false
            });
            assert_eq!(seen, wanted);
        }
    }

    /// Numbers come and go while the table grows and shrinks, in runs that wrap around its end.
    #[test]
    fn nothing_is_lost_while_the_table_is_copied() {
        let mut rng = Rng::new(12);
        let mut index = HashIndex::new();
        let mut there: Vec<(u32, u32)> = Vec::new();
        let (mut copied, mut step) = (0, 0);
        for (insertions, rounds) in [(9, 30_000), (2, 30_000), (8, 60_000), (1, 40_000)] {
            for _ in 0..rounds {
                step += 1;
                copied += u32::from(index.slots.is_copied());
                if rng.below(10) < insertions || there.is_empty() {
                    // Some at the end, so that runs go round.
                    let hash = if rng.chance(1, 50) { u32::MAX - rng.below(9) as u32 } else { rng.next_u64() as u32 };
                    index.insert(hash, step);
                    there.push((hash, step));
                    continue;
                }
                let at = rng.below(there.len() as u64) as usize;
                if rng.chance(1, 5) {
                    index.replace(there[at].0, there[at].1, step);
                    there[at].1 = step;
                } else {
                    let (hash, number) = there.swap_remove(at);
                    index.remove(hash, number);
                    assert_eq!(index.find(hash, |found| found == number), None);
                }
            }
            for &(hash, number) in &there {
                assert_eq!(index.find(hash, |found| found == number), Some(number), "after {step} steps");
            }
            assert_eq!(index.all().iter().filter(|slot| **slot != 0).count(), there.len());
        }
        assert!(copied > 1000, "{copied} steps while copying");
    }

    #[test]
    fn room_that_is_not_needed_is_given_back() {
        let mut index = HashIndex::new();
        let hash = |number: u32| number.wrapping_mul(0x9E37_79B9);
        (1..=100_000).for_each(|number| index.insert(hash(number), number));
        let most = index.slots();
        (11..=100_000).for_each(|number| index.remove(hash(number), number));
        assert!(most >= 200_000 && index.slots() <= SPARSE_SLOTS_MAX, "{most}, {}", index.slots());
        assert!((1..=10).all(|number| index.find(hash(number), |found| found == number) == Some(number)));
    }

    #[test]
    fn hashes_of_counting_keys_spread() {
        for shift in [0, 16, 40] {
            let mut buckets = vec![0u32; 1024];
            for key in 0..8192u64 {
                buckets[hash_words(1, [key << shift].into_iter()) as usize % 1024] += 1;
            }
            assert!(buckets.iter().all(|&count| count < 30), "{:?}", buckets.iter().max());
            for seed in 0..50 {
                for word in 0..3 {
                    let (hash, mut buckets) = (RowHash::new(seed, 3), vec![0u32; 1024]);
                    (0..8192u64).for_each(|key| {
                        let mut row = [7, 7, 7];
                        row[word] = key << shift;
                        buckets[hash.of(&row) as usize % 1024] += 1;
                    });
                    assert!(buckets.iter().all(|&count| count < 40), "{seed}, {shift}: {:?}", buckets.iter().max());
                }
            }
        }
    }
}
