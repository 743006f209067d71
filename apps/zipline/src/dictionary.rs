//! The bases of a sample of traffic that get identifiers, and the resulting sizes.
//!
//! What enters: payloads, one by one. What leaves: the most frequent bases, as many as there are identifiers, in an
//! order that depends only on the payloads; and the sizes of what the encoder would send.

use crate::transform::{Layout, Transform};
use base::{Bits, OrderedMap};

/// The bases of a sample, and how often each occurs.
#[derive(Clone, Debug)]
pub struct Dictionary<'t> {
    transform: &'t Transform,
    /// The number of identifiers that are used otherwise.
    taken: u32,
    bases: OrderedMap<Vec<u8>, Met>,
    /// The basis number of each chunk, packet by packet, and the number of chunks in each packet.
    numbers: Vec<u32>,
    chunks_of: Vec<u8>,
    /// The total size of the payloads in bytes.
    bytes: u64,
}

/// A basis in a sample.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// How many bases occurred before it.
    number: u32,
    /// How many chunks have it.
    count: u64,
}

/// The payloads of a sample in bytes, before and after an encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Before the encoder.
    pub original: u64,
    /// After an encoder that knows the most frequent bases from the beginning.
    pub with_table: u64,
    /// Chunks whose basis is known to that encoder.
    pub known: u64,
    /// After an encoder that learns each basis immediately: the first chunk of a basis is not compressed.
    pub learned: u64,
    /// Chunks whose basis occurred before and has an identifier.
    pub met_before: u64,
    /// All chunks.
    pub chunks: u64,
    /// The number of distinct bases.
    pub bases: u64,
}

impl<'t> Dictionary<'t> {
    /// An empty dictionary.
    pub fn new(transform: &'t Transform) -> Dictionary<'t> {
        let (numbers, chunks_of) = (Vec::new(), Vec::new());
        Dictionary { transform, taken: 0, bases: OrderedMap::new(), numbers, chunks_of, bytes: 0 }
    }

    /// The same, but this many identifiers are not available for its bases.
    #[must_use]
    pub fn behind(self, taken: u32) -> Dictionary<'t> {
        Dictionary { taken, ..self }
    }

    /// How many bases can have identifiers of `id_bits` bits.
    fn identifiers(&self, id_bits: u32) -> usize {
        (1_usize << id_bits).saturating_sub(self.taken as usize)
    }

    /// The transform that splits chunks.
    pub fn transform(&self) -> &'t Transform {
        self.transform
    }

    /// Adds the complete chunks of a packet's payload (what follows the Ethernet header).
    pub fn add(&mut self, payload: &[u8]) {
        let Layout { offset, count } = self.transform.layout();
        let payload = payload.get(offset..).unwrap_or_default();
        self.bytes += payload.len() as u64;
        let mut chunks = 0;
        for chunk in payload.chunks_exact(self.transform.chunk_bytes()).take(count) {
            let number = self.bases.len() as u32;
            let basis = self.transform.split(chunk).basis.to_be_bytes();
            let met = self.bases.entry(basis).or_insert(Met { number, count: 0 });
            met.count += 1;
            self.numbers.push(met.number);
            chunks += 1;
        }
        self.chunks_of.push(chunks);
    }

    /// The bases that get identifiers of `id_bits` bits, the most frequent first.
    pub fn chosen(&self, id_bits: u32) -> Vec<Bits> {
        let chosen = self.ranked().into_iter().take(self.identifiers(id_bits));
        chosen.map(|(basis, _)| Bits::from_be_bytes(self.transform.basis_bits(), basis)).collect()
    }

    /// The sizes of the sample with these identifiers.
    pub fn sizes(&self, id_bits: u32) -> Sizes {
        let mut has_identifier = vec![false; self.bases.len()];
        for (basis, _) in self.ranked().into_iter().take(self.identifiers(id_bits)) {
            has_identifier[self.bases[basis].number as usize] = true;
        }
        let (mut is_learned, mut known, mut met_before) = (vec![false; self.bases.len()], 0, 0);
        let (mut with_table, mut learned) = (self.bytes, self.bytes);
        let saved = self.transform.saved_bytes(id_bits);
        // In packets with several chunks, a byte records which of them are compressed.
        let head = u64::from(self.transform.layout().count > 1);
        let less = |chunks: u64| (chunks * saved).saturating_sub(head);
        let mut left = &self.numbers[..];
        for chunks in &self.chunks_of {
            let (packet, rest) = left.split_at(usize::from(*chunks));
            let count = |is: &[bool]| packet.iter().filter(|number| is[**number as usize]).count() as u64;
            let (in_table, met) = (count(&has_identifier), count(&is_learned));
            (known, met_before) = (known + in_table, met_before + met);
            with_table -= less(in_table);
            learned -= less(met);
            for number in packet.iter().filter(|number| (**number as usize) < self.identifiers(id_bits)) {
                is_learned[*number as usize] = true;
            }
            left = rest;
        }
        let (original, chunks, bases) = (self.bytes, self.numbers.len() as u64, self.bases.len() as u64);
        Sizes { original, with_table, known, learned, met_before, chunks, bases }
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

    /// The two most frequent of three bases get the two identifiers. The short payload counts with its bytes.
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
        // A reference of 1 + 1 + 6 bits replaces eight bytes in eight payloads. The first two bases to occur are
        // 0x00, once, and 0xff, five times.
        let (with_table, learned) = (93 - 8 * 7, 93 - 4 * 7);
        let sizes = Sizes { original: 93, with_table, known: 8, learned, met_before: 4, chunks: 9, bases: 3 };
        assert_eq!(dictionary.sizes(1), sizes);
        // One identifier is left, or none.
        let dictionary = dictionary.behind(1);
        assert_eq!(dictionary.chosen(1), expected[..1]);
        assert_eq!((dictionary.sizes(1).known, dictionary.sizes(1).met_before), (5, 0));
        assert_eq!((dictionary.clone().behind(2).sizes(1).known, dictionary.behind(3).chosen(1)), (0, vec![]));
    }

    /// After two bytes that are not part of a chunk, at most two chunks of eight bytes count, and a byte records
    /// which of them are compressed.
    #[test]
    fn packets_may_have_several_chunks() {
        let layout = Layout { offset: 2, count: 2 };
        let transform = Transform::of_code(Code::new(6).unwrap()).with_layout(layout);
        let mut dictionary = Dictionary::new(&transform);
        for payload in [vec![0; 27], vec![0; 12], vec![0; 9], vec![7]] {
            dictionary.add(&payload);
        }
        // 25, 10, 7 and 0 bytes, in which three chunks are known if the only basis is in the table. When the basis
        // first occurs, it occurs twice in the packet.
        let (with_table, learned) = (42 - (2 * 7 - 1) - (7 - 1), 42 - (7 - 1));
        let sizes = Sizes { original: 42, with_table, known: 3, learned, met_before: 1, chunks: 3, bases: 1 };
        assert_eq!(dictionary.sizes(1), sizes);
    }
}
