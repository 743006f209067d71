//! A hash table from 32-bit hashes to 32-bit numbers; the keys stay with the caller.
//!
//! One slot is eight bytes: the hash above the number, so that a line holds eight and a number is looked at only if its
//! whole hash agrees. Open addressing with linear probing; the home of a slot is the low part of its hash, so that
//! growing, shrinking and deleting (which moves later slots back, no tombstones) need the slots alone. At most half
//! full; a small one at most an eighth, so that nearly every probe ends at its first slot and is predicted.

/// The table. Numbers start at 1; a slot of 0 is free.
#[derive(Clone, Debug)]
pub(crate) struct HashIndex {
    slots: Vec<u64>,
    len: usize,
}

const SLOTS_MIN: usize = 8;

/// Slots up to which the table is kept sparse: four pages.
const SPARSE_SLOTS_MAX: usize = 2048;

/// The number of slots for `len` numbers.
fn slots_for(len: usize) -> usize {
    (len * 8).next_power_of_two().clamp(SLOTS_MIN, SPARSE_SLOTS_MAX).max((len * 2).next_power_of_two())
}

impl HashIndex {
    pub fn new() -> HashIndex {
        HashIndex { slots: vec![0; SLOTS_MIN], len: 0 }
    }

    /// The number of slots, free ones included.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The slots, a power of two, of which at least half are free. A slot has the hash above the number.
    pub fn all(&self) -> &[u64] {
        &self.slots
    }

    /// Makes room for `additional` more numbers at once.
    pub fn reserve(&mut self, additional: usize) {
        let wanted = slots_for(self.len + additional);
        if wanted > self.slots.len() {
            self.resize(wanted);
        }
    }

    /// The first number at or after `position` in the probe sequence of `hash` that may be the one sought, and the
    /// position after it; 0 if there is none.
    #[inline(always)]
    pub fn probe(&self, hash: u32, mut position: usize) -> (u32, usize) {
        let last = self.slots.len() - 1;
        loop {
            // The mask is the length less one, so that the compiler sees the bound.
            let slot = self.slots[position & last];
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

    /// Where the probe sequence of `hash` begins, to be fetched into the cache.
    #[inline(always)]
    pub fn home(&self, hash: u32) -> *const u64 {
        &raw const self.slots[hash as usize & (self.slots.len() - 1)]
    }

    /// Adds `number`, which must not be there yet.
    pub fn insert(&mut self, hash: u32, number: u32) {
        debug_assert_ne!(number, 0, "a slot of 0 is free");
        let wanted = slots_for(self.len + 1);
        if wanted > self.slots.len() {
            self.resize(wanted);
        }
        self.len += 1;
        place(&mut self.slots, u64::from(hash) << 32 | u64::from(number));
    }

    /// Puts `new` in the place of `old`, which must be there under this hash.
    pub fn replace(&mut self, hash: u32, old: u32, new: u32) {
        let position = self.position(hash, old);
        self.slots[position] = u64::from(hash) << 32 | u64::from(new);
    }

    /// Removes `number`, which must be there under this hash.
    pub fn remove(&mut self, hash: u32, number: u32) {
        let last = self.slots.len() - 1;
        let mut free = self.position(hash, number);
        let mut next = free;
        loop {
            next = (next + 1) & last;
            let slot = self.slots[next];
            if slot == 0 {
                break;
            }
            // A slot may move back to the free place if its home is not behind that place.
            let home = (slot >> 32) as usize & last;
            if next.wrapping_sub(home) & last >= next.wrapping_sub(free) & last {
                self.slots[free] = slot;
                free = next;
            }
        }
        self.slots[free] = 0;
        self.len -= 1;
        // Far from the number at which it grows, so that it does not do both by turns.
        let wanted = slots_for(2 * self.len);
        if self.slots.len() > SPARSE_SLOTS_MAX && wanted <= self.slots.len() / 4 {
            self.resize(wanted);
        }
    }

    fn position(&self, hash: u32, number: u32) -> usize {
        let last = self.slots.len() - 1;
        let wanted = u64::from(hash) << 32 | u64::from(number);
        let mut position = hash as usize & last;
        while self.slots[position] != wanted {
            assert_ne!(self.slots[position], 0, "number {number} is in the index");
            position = (position + 1) & last;
        }
        position
    }

    fn resize(&mut self, slots: usize) {
        let mut larger = vec![0; slots];
        for &slot in self.slots.iter().filter(|slot| **slot != 0) {
            place(&mut larger, slot);
        }
        self.slots = larger;
    }
}

fn place(slots: &mut [u64], slot: u64) {
    let last = slots.len() - 1;
    let mut position = (slot >> 32) as usize & last;
    while slots[position] != 0 {
        position = (position + 1) & last;
    }
    slots[position] = slot;
}

/// The hash of a row of words. Each word is mixed in by a 64 by 64 bit multiplication folded to its halves; `seed`
/// keeps an outsider from choosing keys that collide.
#[inline(always)]
pub(crate) fn hash_words(seed: u64, words: impl Iterator<Item = u64>) -> u32 {
    let mut state = seed;
    for word in words {
        state = fold(state ^ word, 0x9fb2_1c65_1e98_df25) ^ state.rotate_left(23);
    }
    let mixed = fold(state, 0xd6e8_feb8_6659_fd93 ^ seed);
    (mixed ^ (mixed >> 32)) as u32
}

/// What [`WordHash`] multiplies by.
pub(crate) const WORD_FACTOR: u32 = 0x9e37_79b1;

/// The hash of a single word, of multiplications that vector instructions have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordHash {
    /// What the lower and the upper half are disturbed with.
    pub secrets: [u32; 2],
}

impl WordHash {
    pub fn new(seed: u64) -> WordHash {
        let mixed = fold(seed ^ 0x2545_f491_4f6c_dd1d, 0x9fb2_1c65_1e98_df25);
        WordHash { secrets: [mixed as u32, (mixed >> 32) as u32] }
    }

    #[inline(always)]
    pub fn of(self, word: u64) -> u32 {
        let [low, high] = [word as u32 ^ self.secrets[0], (word >> 32) as u32 ^ self.secrets[1]];
        let product = u64::from(low) * u64::from(high);
        let mixed = u64::from((product ^ product >> 32) as u32) * u64::from(WORD_FACTOR);
        (mixed ^ mixed >> 32) as u32
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
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
                let (hash, mut buckets) = (WordHash::new(seed), vec![0u32; 1024]);
                (0..8192u64).for_each(|key| buckets[hash.of(key << shift) as usize % 1024] += 1);
                assert!(buckets.iter().all(|&count| count < 40), "{seed}, {shift}: {:?}", buckets.iter().max());
            }
        }
    }
}
