//! Simulates an encoder that learns bases.
//!
//! What enters: chunks, at a constant rate. What leaves: how many of them the encoder compresses, if a basis becomes
//! known a given time after its first occurrence. Identifiers are not recycled: bases that first occur when all
//! identifiers are assigned stay unknown.

use crate::transform::Transform;
use base::OrderedMap;

/// The rate of chunks, and the time it takes to learn a basis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// The time between two chunks.
    pub chunk_ns: u64,
    /// The time from the first chunk of a basis to the first chunk that is compressed.
    pub learning_ns: u64,
}

/// An encoder that learns.
#[derive(Clone, Debug)]
pub struct Replay<'t> {
    transform: &'t Transform,
    id_bits: u32,
    pace: Pace,
    /// The time from which each basis is known.
    known_from_ns: OrderedMap<Vec<u8>, u64>,
    chunks: u64,
    compressed: u64,
}

impl<'t> Replay<'t> {
    /// An encoder that does not know any basis yet.
    pub fn new(transform: &'t Transform, id_bits: u32, pace: Pace) -> Replay<'t> {
        Replay { transform, id_bits, pace, known_from_ns: OrderedMap::new(), chunks: 0, compressed: 0 }
    }

    /// Adds a chunk with this basis.
    pub fn add(&mut self, basis: &[u8]) {
        let now_ns = self.chunks * self.pace.chunk_ns;
        self.chunks += 1;
        match self.known_from_ns.get(basis) {
            Some(from_ns) => self.compressed += u64::from(*from_ns <= now_ns),
            None if self.known_from_ns.len() < 1 << self.id_bits => {
                self.known_from_ns.insert(basis.to_vec(), now_ns + self.pace.learning_ns);
            }
            None => {}
        }
    }

    /// The number of chunks that were compressed.
    pub fn compressed(&self) -> u64 {
        self.compressed
    }

    /// The number of bytes that the encoder sends.
    pub fn bytes(&self) -> u64 {
        self.chunks * self.transform.chunk_bytes() as u64 - self.compressed * self.transform.saved_bytes(self.id_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    #[test]
    fn a_basis_is_known_some_time_after_it_was_met() {
        let transform = Transform::of_code(Code::new(8).unwrap());
        let mut replay = Replay::new(&transform, 1, Pace { chunk_ns: 10, learning_ns: 20 });
        // The first basis occurs at 0 and is known from 20, the second from 40; there is no identifier for the third.
        for basis in [1, 1, 2, 1, 2, 2, 3, 3, 3, 3] {
            replay.add(&[basis]);
        }
        assert_eq!(replay.compressed(), 3);
        assert_eq!(replay.bytes(), 7 * 32 + 3 * 2);
    }
}
