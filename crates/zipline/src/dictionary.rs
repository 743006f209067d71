//! Which bases of a sample of traffic get identifiers, and what the sample becomes with them.
//!
//! What enters: payloads, one by one. What leaves: the most frequent bases, as many as there are identifiers, in an
//! order that depends on the payloads alone; and the sizes of what the encoder would send.

use crate::code::Code;
use base::Bits;
use std::collections::BTreeMap;

/// Bases of a sample and how often each was there.
#[derive(Clone, Debug)]
pub struct Dictionary<'c> {
    code: &'c Code,
    bases: BTreeMap<Vec<u8>, u64>,
    chunks: u64,
    /// Bytes of payloads, and of those in chunks.
    bytes: u64,
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
    /// All chunks.
    pub chunks: u64,
    /// Different bases.
    pub bases: u64,
}

/// Bytes of what stands for a chunk whose basis is known: a bit, the identifier and the syndrome.
pub fn reference_bytes(code: &Code, id_bits: u32) -> u64 {
    u64::from((1 + id_bits + code.m()).div_ceil(8))
}

impl<'c> Dictionary<'c> {
    /// No payloads yet.
    pub fn new(code: &'c Code) -> Dictionary<'c> {
        Dictionary { code, bases: BTreeMap::new(), chunks: 0, bytes: 0 }
    }

    /// Looks at a payload, of which the first chunk is split. One that is shorter stays as it is.
    pub fn add(&mut self, payload: &[u8]) {
        self.bytes += payload.len() as u64;
        let Some(chunk) = payload.get(..self.code.chunk_bytes()) else { return };
        self.chunks += 1;
        *self.bases.entry(self.code.split(chunk).basis.to_be_bytes()).or_insert(0) += 1;
    }

    /// The bases that get the identifiers 0, 1, ... of so many bits, the most frequent first.
    pub fn chosen(&self, id_bits: u32) -> Vec<Bits> {
        let chosen = self.ranked().into_iter().take(1 << id_bits);
        chosen.map(|(basis, _)| Bits::from_be_bytes(self.code.basis_bits(), basis)).collect()
    }

    /// What the sample becomes with them.
    pub fn sizes(&self, id_bits: u32) -> Sizes {
        let known: u64 = self.ranked().iter().take(1 << id_bits).map(|(_, count)| *count).sum();
        let left = self.bytes - known * self.code.chunk_bytes() as u64;
        Sizes {
            original: self.bytes,
            with_table: left + known * reference_bytes(self.code, id_bits),
            known,
            chunks: self.chunks,
            bases: self.bases.len() as u64,
        }
    }

    fn ranked(&self) -> Vec<(&[u8], u64)> {
        let mut ranked: Vec<_> = self.bases.iter().map(|(basis, count)| (basis.as_slice(), *count)).collect();
        ranked.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three bases the two most frequent get the two identifiers; the short payload counts with its bytes.
    #[test]
    fn the_most_frequent_bases_are_chosen() {
        let code = Code::new(6).unwrap();
        let mut dictionary = Dictionary::new(&code);
        let payload = |byte: u8| [byte; 10];
        for (byte, count) in [(0x00, 1), (0xff, 5), (0x0f, 3)] {
            for _ in 0..count {
                dictionary.add(&payload(byte));
            }
        }
        dictionary.add(&[1, 2, 3]);
        let expected = [0xff, 0x0f].map(|byte| code.split(&[byte; 8]).basis);
        assert_eq!(dictionary.chosen(1), expected);
        // A reference of 1 + 1 + 6 bits takes the place of eight bytes in eight payloads.
        let sizes = Sizes { original: 93, with_table: 93 - 8 * 7, known: 8, chunks: 9, bases: 3 };
        assert_eq!(dictionary.sizes(1), sizes);
    }
}
