//! The effect of each transform on a sample of traffic, and the choice of the best one.
//!
//! What enters: payloads. What leaves: a row with the resulting sizes for each transform that shortens some of them.
//! Masks are chosen from the same sample ([`crate::greedy`]). For each size of a reference in bytes, the mask with
//! the most bits that fit is used.

use crate::dictionary::{Dictionary, Sizes};
use crate::greedy::{self, Masks};
use crate::transform::{Kind, Layout, Transform};
use crate::{Code, CodeError};
use std::fmt;

/// The effect of a transform on the sample.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kind of the transform.
    pub kind: Kind,
    /// The transform, with its mask.
    pub transform: Transform,
    /// The sizes of the payloads.
    pub sizes: Sizes,
}

/// Why a transform cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Impossible {
    /// The code does not exist.
    Code(CodeError),
    /// The bits that a mask must set aside, or the code's word, do not fit into the chunk.
    Chunk(Kind, usize),
    /// The mask would have to be chosen from a sample, but the sample is empty.
    Sample(Kind),
}

impl fmt::Display for Impossible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Impossible::Code(error) => write!(out, "{error}"),
            Impossible::Chunk(kind, bytes) => {
                write!(out, "{kind} does not fit chunks of {bytes} bytes: some bits are set aside, and others are left")
            }
            Impossible::Sample(kind) => {
                write!(out, "{kind} has a mask, which is chosen from a sample: name a capture with such payloads")
            }
        }
    }
}

impl std::error::Error for Impossible {}

/// How many bytes longer than with the best mask a reference may be for a mask to get a row.
const BEYOND_BEST: u64 = 2;

/// The least saving for a transform to be worthwhile: one byte in this many.
const PART_WORTH: u64 = 100;

/// A sample of one class of traffic.
#[derive(Clone, Debug)]
pub struct Sample<'p> {
    payloads: &'p [Vec<u8>],
    layout: Layout,
    /// The size of chunks with masks, in bytes.
    chunk_bytes: usize,
    masks: Masks,
    /// The number of identifiers that other classes use.
    taken: u32,
}

impl<'p> Sample<'p> {
    /// The default limit for the size of chunks with masks, in bytes.
    const CHUNK_MAX: usize = 64;

    /// Creates a sample from the payloads of packets (what follows the Ethernet header) and the positions of chunks
    /// in them. Chunks with masks have `chunk_bytes` bytes; by default, as many as nine of ten packets have there.
    pub fn new(payloads: &'p [Vec<u8>], layout: Layout, chunk_bytes: Option<usize>) -> Sample<'p> {
        let behind = |payload: &'p Vec<u8>| payload.get(layout.offset..).unwrap_or_default();
        let chunk_bytes = chunk_bytes.unwrap_or_else(|| {
            let mut lengths: Vec<usize> = payloads.iter().map(|payload| behind(payload).len()).collect();
            lengths.sort_unstable();
            lengths.get(lengths.len() / 10).map_or(0, |length| (*length).min(Self::CHUNK_MAX))
        });
        let chunks: Vec<&[u8]> =
            payloads.iter().flat_map(|it| behind(it).chunks_exact(chunk_bytes.max(1)).take(layout.count)).collect();
        Sample { payloads, layout, chunk_bytes, masks: Masks::of(&chunks), taken: 0 }
    }

    /// The same sample, but its bases get the identifiers after the first ones, which are taken.
    #[must_use]
    pub fn behind(self, taken: u32) -> Sample<'p> {
        Sample { taken, ..self }
    }

    /// The size of chunks with masks, in bytes.
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// The transform of this kind, with the default code and the mask that suits the sample.
    pub fn transform(&self, kind: Kind) -> Result<Transform, Impossible> {
        self.transform_with(kind, kind.code().map_err(Impossible::Code)?)
    }

    /// The same with another code of this kind.
    pub fn transform_with(&self, kind: Kind, code: Option<Code>) -> Result<Transform, Impossible> {
        let too_large = Impossible::Chunk(kind, self.chunk_bytes);
        match kind.mask_bits(self.chunk_bytes).ok_or(too_large.clone()) {
            Ok(0) => code.map(Transform::of_code).ok_or(too_large).map(|it| it.with_layout(self.layout)),
            _ if self.masks.is_empty() => Err(Impossible::Sample(kind)),
            Ok(bits) => {
                let (chosen, _) = self.masks.best(bits);
                Ok(Transform::masked(greedy::mask(self.chunk_bytes, chosen), code).with_layout(self.layout))
            }
            Err(error) => Err(error),
        }
    }

    /// Applies a transform to the payloads.
    pub fn dictionary<'t>(&self, transform: &'t Transform) -> Dictionary<'t> {
        let mut dictionary = Dictionary::new(transform).behind(self.taken);
        self.payloads.iter().for_each(|payload| dictionary.add(payload));
        dictionary
    }

    /// The effect of each transform: all transforms without masks, and those with masks that shorten chunks.
    /// Transforms with only a mask are tried until soon after the best one.
    pub fn rows(&self, id_bits: u32) -> Vec<Row> {
        let (of_one, of_two) = (Code::M_MIN..=Code::M_MAX, Code::M_MIN_OF_TWO..=Code::M_MAX_OF_TWO);
        let mut kinds: Vec<Kind> = of_one.clone().map(Kind::Hamming).chain(of_two.clone().map(Kind::Bch)).collect();
        let whole = (1..self.chunk_bytes as u32).filter_map(|bytes| (8 * bytes).checked_sub(id_bits));
        let changing = self.masks.changing();
        let mut masks: Vec<u32> = whole.filter(|bits| *bits > 0).map(|bits| bits.min(changing)).collect();
        masks.dedup();
        kinds.extend(masks.into_iter().map(Kind::Mask));
        kinds.extend(of_one.map(Kind::SwapHamming).chain(of_two.map(Kind::SwapBch)));
        let rows = kinds.into_iter().filter_map(|kind| {
            let transform = self.transform(kind).ok()?;
            if transform.mask().is_some() && transform.saved_bytes(id_bits) == 0 {
                return None;
            }
            let sizes = self.dictionary(&transform).sizes(id_bits);
            Some(Row { kind, transform, sizes })
        });
        let mut rows: Vec<Row> = rows.collect();
        let is_mask = |row: &&Row| matches!(row.kind, Kind::Mask(_));
        if let Some(best) = rows.iter().filter(is_mask).min_by_key(|row| row.sizes.learned) {
            let bytes = best.transform.reference_bytes(id_bits) + BEYOND_BEST;
            rows.retain(|row| !is_mask(&row) || row.transform.reference_bytes(id_bits) <= bytes);
        }
        rows
    }
}

/// The transform with the smallest payloads if bases are learned; `None` if no transform saves more than
/// the small part that a mask saves on any sample, even of noise.
pub fn best(rows: &[Row]) -> Option<&Row> {
    let is_worth = |sizes: &Sizes| (sizes.original - sizes.learned) * PART_WORTH > sizes.original;
    rows.iter().min_by_key(|row| row.sizes.learned).filter(|row| is_worth(&row.sizes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    /// Payloads of twenty bytes, of which seventeen bits are noise, some longer and some shorter.
    fn payloads() -> Vec<Vec<u8>> {
        let mut rng = Rng::new(1);
        let one = |number: usize| {
            let mut payload = vec![0x3c; 20 + number % 3];
            for at in [2, 9] {
                payload[at] = rng.next_u64() as u8;
            }
            payload[15] ^= (rng.next_u64() & 1) as u8;
            payload.truncate(if number.is_multiple_of(11) { 7 } else { 22 });
            payload
        };
        (0..400).map(one).collect()
    }

    #[test]
    fn a_mask_sets_the_noise_aside() {
        let payloads = payloads();
        let sample = Sample::new(&payloads, Layout::ONE, None);
        let rows = sample.rows(15);
        let best = best(&rows).unwrap();
        assert_eq!(best.kind, Kind::Mask(17));
        let mut mask = vec![0_u8; 20];
        (mask[2], mask[9], mask[15]) = (0xff, 0xff, 1);
        assert_eq!(best.transform.mask().unwrap().to_be_bytes(), mask);
        assert_eq!((best.sizes.bases, best.sizes.chunks, best.sizes.met_before), (1, 363, 362));
        assert_eq!(best.sizes.learned, best.sizes.original - 362 * 16);
        let names: Vec<String> = rows.iter().map(|row| row.kind.to_string()).collect();
        assert!(names.iter().any(|name| name == "swap-hamming-7"), "{names:?}");
        assert!(rows.iter().all(|row| row.transform.mask().is_none() || row.transform.chunk_bytes() == 20));
    }

    #[test]
    fn transforms_that_do_not_fit_are_refused() {
        let payloads = payloads();
        let error_of =
            |chunk, kind: Kind| Sample::new(&payloads, Layout::ONE, chunk).transform(kind).unwrap_err().to_string();
        assert_eq!(
            error_of(Some(8), Kind::SwapHamming(8)),
            "swap-hamming-8 does not fit chunks of 8 bytes: some bits are set aside, and others are left"
        );
        assert_eq!(
            error_of(Some(100), Kind::Mask(8)),
            "mask-8 has a mask, which is chosen from a sample: name a capture with such payloads"
        );
        assert!(Sample::new(&[], Layout::ONE, None).rows(15).iter().all(|row| row.sizes.chunks == 0));
    }
}
