//! Which bases of a sample of traffic get identifiers, and what the sample becomes with them.
//!
//! What enters: payloads, one by one. What leaves: the most frequent bases, as many as there are identifiers, in an
//! order that depends on the payloads alone; and the sizes of what the encoder would send.

use crate::transform::Transform;
use base::Bits;
use std::collections::BTreeMap;

/// Bases of a sample and how often each was there.
#[derive(Clone, Debug)]
pub struct Dictionary<'t> {
    transform: &'t Transform,
    bases: BTreeMap<Vec<u8>, Met>,
    chunks: u64,
    /// Bytes of payloads, and of those in chunks.
    bytes: u64,
}

/// A basis in a sample.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// Bases that were met before it.
    number: u64,
    /// Chunks that have it.
    count: u64,
}

/// Payloads of a sample, in bytes, as they are and as an encoder sends them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// As they are.
    pub original: u64,
    /// With the most frequent bases known from the begin.
    pub with_table: u64,
    /// Chunks whose basis is known then.
    pub known: u64,
    /// With bases learned as they come, each at once: the first chunk of each is not compressed.
    pub learned: u64,
    /// Chunks whose basis was met before, and has an identifier.
    pub met_before: u64,
    /// All chunks.
    pub chunks: u64,
    /// Different bases.
    pub bases: u64,
}

impl<'t> Dictionary<'t> {
    /// No payloads yet.
    pub fn new(transform: &'t Transform) -> Dictionary<'t> {
        Dictionary { transform, bases: BTreeMap::new(), chunks: 0, bytes: 0 }
    }

    /// Looks at a payload, of which the first chunk is split. One that is shorter stays as it is.
    pub fn add(&mut self, payload: &[u8]) {
        self.bytes += payload.len() as u64;
        let Some(chunk) = payload.get(..self.transform.chunk_bytes()) else { return };
        self.chunks += 1;
        let number = self.bases.len() as u64;
        let basis = self.transform.split(chunk).basis.to_be_bytes();
        self.bases.entry(basis).or_insert(Met { number, count: 0 }).count += 1;
    }

    /// The bases that get the identifiers 0, 1, ... of so many bits, the most frequent first.
    pub fn chosen(&self, id_bits: u32) -> Vec<Bits> {
        let chosen = self.ranked().into_iter().take(1 << id_bits);
        chosen.map(|(basis, _)| Bits::from_be_bytes(self.transform.basis_bits(), basis)).collect()
    }

    /// What the sample becomes with them.
    pub fn sizes(&self, id_bits: u32) -> Sizes {
        let known: u64 = self.ranked().iter().take(1 << id_bits).map(|(_, count)| *count).sum();
        let learned = self.bases.values().filter(|met| met.number < 1 << id_bits);
        let met_before = learned.map(|met| met.count - 1).sum();
        let (chunk, reference) = (self.transform.chunk_bytes() as u64, self.transform.reference_bytes(id_bits));
        let size = |compressed: u64| self.bytes - compressed * chunk + compressed * reference;
        Sizes {
            original: self.bytes,
            with_table: size(known),
            known,
            learned: size(met_before),
            met_before,
            chunks: self.chunks,
            bases: self.bases.len() as u64,
        }
    }

    fn ranked(&self) -> Vec<(&[u8], u64)> {
        let mut ranked: Vec<_> = self.bases.iter().map(|(basis, met)| (basis.as_slice(), met.count)).collect();
        ranked.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    /// Of three bases the two most frequent get the two identifiers; the short payload counts with its bytes.
    #[test]
    fn the_most_frequent_bases_are_chosen() {
        let transform = Transform::of_code(Code::new(6).unwrap());
        let mut dictionary = Dictionary::new(&transform);
        let payload = |byte: u8| [byte; 10];
        for (byte, count) in [(0x00, 1), (0xff, 5), (0x0f, 3)] {
            for _ in 0..count {
                dictionary.add(&payload(byte));
            }
        }
        dictionary.add(&[1, 2, 3]);
        let expected = [0xff, 0x0f].map(|byte| transform.split(&[byte; 8]).basis);
        assert_eq!(dictionary.chosen(1), expected);
        // A reference of 1 + 1 + 6 bits takes the place of eight bytes in eight payloads. The first two bases that are met are
        // 0x00, once, and 0xff, five times.
        let (with_table, learned) = (93 - 8 * 7, 93 - 4 * 7);
        let sizes = Sizes { original: 93, with_table, known: 8, learned, met_before: 4, chunks: 9, bases: 3 };
        assert_eq!(dictionary.sizes(1), sizes);
    }
}
