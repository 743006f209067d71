//! Chooses a mask by forward selection: the bits of a class of traffic that are set aside, one by one, from a sample.
//!
//! What enters: chunks of one length. What leaves: bits in the order in which they are set aside, and the number of
//! distinct bases after each step. Each step takes the bit that leaves the fewest bases. Among equal bits it takes
//! the one whose rarer value is the most frequent: bits that change together reduce the number of bases only when the
//! last of them is set aside.
//!
//! [`crate::backward`] works from the other end: it starts with all bits set aside and moves those that add the
//! fewest bases back into the basis. For each number of bits the better of the two masks is used.
//!
//! Bases are counted by hashes. The hash of a chunk is the xor of one random number for each of its bits that is one,
//! so the hash without a bit takes a single operation. A collision, of which the probability is about 2^-64 for a
//! pair of bases, makes a mask worse, but not wrong.

use crate::backward;
use base::{Bits, Rng};

/// The most chunks that are examined.
const CHUNKS_MAX: usize = 20_000;

/// A step: a bit that is set aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The bit; the first bit of a chunk is 0.
    pub bit: u32,
    /// The number of distinct bases after the step.
    pub bases: usize,
}

/// Masks of any number of bits for a class of traffic.
#[derive(Clone, Debug)]
pub struct Masks {
    /// The size of a chunk in bits.
    bits: u32,
    /// The steps of forward selection, and those of backward selection.
    forward: Vec<Step>,
    backward: Vec<Step>,
}

impl Masks {
    /// The masks for chunks like these, which must have one length.
    pub fn of(chunks: &[&[u8]]) -> Masks {
        // A larger sample is thinned out evenly.
        let every = chunks.len().div_ceil(CHUNKS_MAX).max(1);
        let chunks: Vec<&[u8]> = chunks.iter().step_by(every).copied().collect();
        let bits = 8 * chunks.first().map_or(0, |chunk| chunk.len()) as u32;
        Masks { bits, forward: steps(&chunks, bits.saturating_sub(1)), backward: backward::steps(&chunks) }
    }

    /// Whether the sample had no chunks.
    pub fn is_empty(&self) -> bool {
        self.forward.is_empty()
    }

    /// The number of bits to set aside, in order, until all chunks have the same basis.
    pub fn changing(&self) -> u32 {
        1 + self.forward.iter().filter(|step| step.bases > 1).count() as u32
    }

    /// The best mask of this many bits: the bits, and the number of bases that remain.
    pub fn best(&self, count: u32) -> (Vec<u32>, usize) {
        let forward = &self.forward[..self.forward.len().min(count as usize)];
        let bases = forward.last().map_or(usize::MAX, |step| step.bases);
        let back = self.backward.get(..self.bits.saturating_sub(count) as usize);
        match back.and_then(|back| Some((back, back.last()?.bases))) {
            Some((back, fewer)) if fewer < bases => {
                let is_aside = |bit: &u32| back.iter().all(|step| step.bit != *bit);
                ((0..self.bits).filter(is_aside).collect(), fewer)
            }
            _ => (forward.iter().map(|step| step.bit).collect(), bases),
        }
    }
}

/// The steps of forward selection for these chunks, up to `bits_max` bits.
fn steps(chunks: &[&[u8]], bits_max: u32) -> Vec<Step> {
    let length = chunks.first().map_or(0, |chunk| chunk.len());
    let mut rng = Rng::new(1);
    let numbers: Vec<u64> = (0..8 * length).map(|_| rng.next_u64()).collect();
    let mut bases = Bases::of(chunks.iter().copied(), &numbers);
    let mut left: Vec<u32> = (0..8 * length as u32).collect();
    let mut steps = Vec::new();
    while steps.len() < bits_max as usize && !left.is_empty() {
        let best = left.iter().enumerate().min_by_key(|(_, bit)| {
            let rarer = bases.rarer(**bit);
            // A bit that never changes does not reduce the number of bases.
            let count = if rarer == 0 { bases.0.len() } else { bases.without(**bit, &numbers) };
            (count, std::cmp::Reverse(rarer))
        });
        let Some((index, bit)) = best.map(|(index, bit)| (index, *bit)) else { break };
        left.remove(index);
        bases.forget(bit, &numbers);
        steps.push(Step { bit, bases: bases.0.len() });
    }
    steps
}

/// The mask that sets these bits aside.
pub fn mask(chunk_bytes: usize, bits: impl IntoIterator<Item = u32>) -> Bits {
    let width = 8 * chunk_bytes as u32;
    let mut mask = Bits::zero(width);
    bits.into_iter().for_each(|bit| mask.set_bit(width - 1 - bit, true));
    mask
}

/// Distinct bases as hashes, each with a chunk that has it.
struct Bases<'a>(Vec<(u64, &'a [u8])>);

/// A bit of a chunk; the first one is 0.
pub(crate) fn bit_of(chunk: &[u8], bit: u32) -> bool {
    chunk[bit as usize / 8] >> (7 - bit % 8) & 1 == 1
}

impl<'a> Bases<'a> {
    fn of(chunks: impl Iterator<Item = &'a [u8]>, numbers: &[u64]) -> Bases<'a> {
        let hash = |chunk: &[u8]| {
            numbers.iter().zip(0..).fold(0, |sum, (number, bit)| sum ^ if bit_of(chunk, bit) { *number } else { 0 })
        };
        let mut bases = Bases(chunks.map(|chunk| (hash(chunk), chunk)).collect());
        bases.unite();
        bases
    }

    fn unite(&mut self) {
        self.0.sort_by_key(|(hash, _)| *hash);
        self.0.dedup_by_key(|(hash, _)| *hash);
    }

    /// The number of bases with the rarer value of the bit.
    fn rarer(&self, bit: u32) -> usize {
        let ones = self.0.iter().filter(|(_, chunk)| bit_of(chunk, bit)).count();
        ones.min(self.0.len() - ones)
    }

    /// The number of bases that remain without the bit.
    fn without(&self, bit: u32, numbers: &[u64]) -> usize {
        let mut seen = vec![0_u64; (2 * self.0.len()).next_power_of_two()];
        let (last, mut count) = (seen.len() - 1, 0);
        for (hash, chunk) in &self.0 {
            // 0 marks an empty place in the hash table.
            let hash = (hash ^ if bit_of(chunk, bit) { numbers[bit as usize] } else { 0 }).max(1);
            let mut at = hash as usize & last;
            while seen[at] != 0 && seen[at] != hash {
                at = (at + 1) & last;
            }
            count += usize::from(seen[at] == 0);
            seen[at] = hash;
        }
        count
    }

    fn forget(&mut self, bit: u32, numbers: &[u64]) {
        for (hash, chunk) in &mut self.0 {
            *hash ^= if bit_of(chunk, bit) { numbers[bit as usize] } else { 0 };
        }
        self.unite();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks of four kinds with a few random bytes. No single bit reduces the number of bases.
    #[test]
    fn random_bytes_are_found_among_few_kinds_of_chunks() {
        let mut rng = Rng::new(7);
        for (count, length, noise) in [(40, 23, 9..13), (500, 23, 19..23), (500, 40, 8..16)] {
            let mut random = |length: usize| {
                let mut bytes = vec![0; length];
                rng.fill(&mut bytes);
                bytes
            };
            let kinds: Vec<Vec<u8>> = (0..4).map(|_| random(length)).collect();
            let chunk = |number: usize| {
                let mut chunk = kinds[number % 4].clone();
                chunk[noise.clone()].copy_from_slice(&random(noise.len()));
                chunk
            };
            let chunks: Vec<Vec<u8>> = (0..count).map(chunk).collect();
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let bits = 8 * noise.len() as u32;
            let (found, bases) = Masks::of(&chunks).best(bits);
            assert_eq!((found.len() as u32, bases), (bits, 4), "{count} chunks of {length} bytes");
            let missed = (8 * noise.start as u32..8 * noise.end as u32).filter(|bit| !found.contains(bit)).count();
            assert!(missed == 0 || count == 40, "{missed} bits");
        }
    }

    /// A counter in the low bits of the second byte, a bit that depends on another, and no noise.
    #[test]
    fn changing_bits_are_set_aside_first() {
        let chunks: Vec<[u8; 3]> = (0..16_u8).map(|number| [0x80, number, (number & 1) << 7]).collect();
        let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| &chunk[..]).collect();
        let found = steps(&chunks, 6);
        let mut bits: Vec<u32> = found[..5].iter().map(|step| step.bit).collect();
        bits.sort_unstable();
        assert_eq!(bits, [12, 13, 14, 15, 16]);
        let bases: Vec<usize> = found.iter().map(|step| step.bases).collect();
        assert_eq!(bases, [8, 4, 2, 2, 1, 1]);
        assert_eq!(mask(3, bits), Bits::from_u64(24, 0x0f80));
        assert!(steps(&[], 3).is_empty());
        assert_eq!(steps(&chunks, 100).len(), 24);
    }
}
