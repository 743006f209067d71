//! Splits a chunk into a basis and a deviation: some bits are set aside, and a code, if there is one, splits the
//! rest.
//!
//! What enters: a chunk. What leaves: the bits that are set aside, which are the first ones or those where a mask has
//! ones; and the basis and the syndrome into which the code splits the word that consists of the other bits. Without
//! a code the word is the basis. The programs of `apps/zipline` get the same parameters from their compile options
//! ([`Transform::options`]) and from the masks in their entries.

use crate::code::{Code, CodeError};
use base::Bits;
use std::fmt;

/// A transform of chunks of a given length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transform {
    chunk_bytes: usize,
    /// The number of bits that are set aside.
    aside_bits: u32,
    /// Their positions; without a mask, the first bits.
    mask: Option<Bits>,
    code: Option<Code>,
    layout: Layout,
}

/// The positions and the number of chunks in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The number of bytes between the Ethernet header and the first chunk.
    pub offset: usize,
    /// The number of consecutive chunks that are processed.
    pub count: usize,
}

impl Layout {
    /// One chunk directly after the Ethernet header.
    pub const ONE: Layout = Layout { offset: 0, count: 1 };
    /// The most chunks that the programs process.
    pub const COUNT_MAX: usize = 8;
}

/// The parts of a chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// The bits that are set aside.
    pub aside: Bits,
    /// The basis, which many chunks have in common.
    pub basis: Bits,
    /// The difference between the word and the codeword of its basis; 0 without a code.
    pub syndrome: u32,
}

/// The kind of a transform, with the names that `wirespeed zipline fit` prints: `hamming-8`, `bch-8`, `mask-41`, and
/// `swap-hamming-7`, `swap-bch-7`, in which a mask sets aside what does not fit into the word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A Hamming code, with one bit set aside.
    Hamming(u32),
    /// A code that corrects two errors, with one bit set aside.
    Bch(u32),
    /// No code, with this many bits set aside by a mask.
    Mask(u32),
    /// A Hamming code on the bits that a mask leaves.
    SwapHamming(u32),
    /// A code that corrects two errors, on the bits that a mask leaves.
    SwapBch(u32),
}

impl Kind {
    /// The default code of the kind, if it has a code.
    pub fn code(self) -> Result<Option<Code>, CodeError> {
        match self {
            Kind::Hamming(m) | Kind::SwapHamming(m) => Code::new(m).map(Some),
            Kind::Bch(m) | Kind::SwapBch(m) => Code::of_two(m).map(Some),
            Kind::Mask(_) => Ok(None),
        }
    }

    /// The number of bits that a mask must set aside of a chunk of `chunk_bytes` bytes, 0 for a kind without a mask;
    /// `None` if the code does not fit into the chunk.
    pub fn mask_bits(self, chunk_bytes: usize) -> Option<u32> {
        let bits = u32::try_from(8 * chunk_bytes).ok()?;
        match self {
            Kind::Hamming(_) | Kind::Bch(_) => Some(0),
            Kind::Mask(count) => (1..bits).contains(&count).then_some(count),
            Kind::SwapHamming(m) | Kind::SwapBch(m) => bits.checked_sub((1 << m) - 1).filter(|count| *count > 1),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Hamming(m) => write!(out, "hamming-{m}"),
            Kind::Bch(m) => write!(out, "bch-{m}"),
            Kind::Mask(bits) => write!(out, "mask-{bits}"),
            Kind::SwapHamming(m) => write!(out, "swap-hamming-{m}"),
            Kind::SwapBch(m) => write!(out, "swap-bch-{m}"),
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        let parts = text.rsplit_once('-').and_then(|(name, number)| Some((name, number.parse().ok()?)));
        let (low, high) = (Code::M_MIN, Code::M_MAX);
        let (low_of_two, high_of_two) = (Code::M_MIN_OF_TWO, Code::M_MAX_OF_TWO);
        match parts {
            Some(("hamming", m)) if (low..=high).contains(&m) => Ok(Kind::Hamming(m)),
            Some(("swap-hamming", m)) if (low..=high).contains(&m) => Ok(Kind::SwapHamming(m)),
            Some(("bch", m)) if (low_of_two..=high_of_two).contains(&m) => Ok(Kind::Bch(m)),
            Some(("swap-bch", m)) if (low_of_two..=high_of_two).contains(&m) => Ok(Kind::SwapBch(m)),
            Some(("mask", bits)) if (1..8 * Transform::CHUNK_MAX as u32).contains(&bits) => Ok(Kind::Mask(bits)),
            _ => Err(format!(
                "it is hamming-M or swap-hamming-M with M from {low} to {high}, bch-M or swap-bch-M with M from \
                 {low_of_two} to {high_of_two}, or mask-BITS"
            )),
        }
    }
}

impl Transform {
    /// The most bytes of a chunk with a mask: its bits are held in registers.
    pub const CHUNK_MAX: usize = 128;

    /// A code on all bits of a chunk but the first.
    pub fn of_code(code: Code) -> Transform {
        Transform { chunk_bytes: 1 << (code.m() - 3), aside_bits: 1, mask: None, code: Some(code), layout: Layout::ONE }
    }

    /// Sets aside the bits where the mask has ones; a code splits the others.
    ///
    /// # Panics
    /// If the number of bits that the mask leaves is not the code's word length, or the width of the mask is
    /// not a whole number of bytes.
    pub fn masked(mask: Bits, code: Option<Code>) -> Transform {
        assert_eq!(mask.width() % 8, 0, "the width of a mask must be a whole number of bytes");
        let aside_bits = mask.limbs().iter().map(|limb| limb.count_ones()).sum();
        if let Some(code) = &code {
            assert_eq!(mask.width() - aside_bits, code.word_bits(), "the mask must leave as many bits as a word has");
        }
        Transform { chunk_bytes: mask.width() as usize / 8, aside_bits, mask: Some(mask), code, layout: Layout::ONE }
    }

    /// The same transform for chunks at other positions.
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Transform {
        Transform { layout, ..self }
    }

    /// The positions of the chunks in a packet.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The size of a chunk in bytes.
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// The number of bits that are set aside.
    pub fn aside_bits(&self) -> u32 {
        self.aside_bits
    }

    /// The mask of these bits; `None` if it is the first bit.
    pub fn mask(&self) -> Option<&Bits> {
        self.mask.as_ref()
    }

    /// The code that splits the word.
    pub fn code(&self) -> Option<&Code> {
        self.code.as_ref()
    }

    /// The size of a basis in bits.
    pub fn basis_bits(&self) -> u32 {
        self.code.as_ref().map_or(self.word_bits(), Code::basis_bits)
    }

    /// The size of a reference, which replaces a chunk with a known basis, in bytes: the bits set aside, the
    /// identifier, the syndrome.
    pub fn reference_bytes(&self, id_bits: u32) -> u64 {
        let syndrome_bits = self.code.as_ref().map_or(0, Code::syndrome_bits);
        u64::from((self.aside_bits + id_bits + syndrome_bits).div_ceil(8))
    }

    /// The bytes that a packet saves for each chunk with a known basis; 0 if a reference would be longer than the
    /// chunk, in which case no encoder sends it. A packet with several chunks has one additional byte.
    pub fn saved_bytes(&self, id_bits: u32) -> u64 {
        (self.chunk_bytes as u64).saturating_sub(self.reference_bytes(id_bits))
    }

    /// The compile options of both programs.
    pub fn options(&self, id_bits: u32) -> String {
        let chunk = match (&self.code, &self.mask) {
            (Some(_), None) => None,
            _ => Some(self.chunk_bytes),
        };
        let mut options = self.settings("", chunk);
        let Layout { offset, count } = self.layout;
        for (name, value, default) in [("OFFSET", offset, 0), ("COUNT", count, 1)] {
            if value != default {
                options += &format!(" -D {name}={value}");
            }
        }
        if id_bits != 15 {
            options += &format!(" -D ID_BITS={id_bits}");
        }
        options
    }

    /// The options that are specific to a transform, with `behind` at the end of their names, and the size of chunks
    /// if it must be given.
    pub(crate) fn settings(&self, behind: &str, chunk_bytes: Option<usize>) -> String {
        let code = self.code.as_ref().map_or(0, Code::m);
        let errors = self.code.as_ref().filter(|code| code.errors() == 2).map(|_| 2);
        let is_usual = |code: &Code| Code::new(code.m()).is_ok_and(|usual| usual.polynomial() == code.polynomial());
        let own = self.code.as_ref().filter(|code| code.errors() == 1 && !is_usual(code));
        let aside = if self.code.is_none() { Some(self.aside_bits as usize) } else { None };
        let mut settings = format!("-D CODE{behind}={code}");
        if let Some(code) = own {
            settings += &format!(" -D POLYNOMIAL{behind}={:#x}", code.polynomial());
        }
        for (name, value) in [("ERRORS", errors), ("CHUNK", chunk_bytes), ("ASIDE", aside)] {
            if let Some(value) = value {
                settings += &format!(" -D {name}{behind}={value}");
            }
        }
        settings
    }

    fn word_bits(&self) -> u32 {
        8 * self.chunk_bytes as u32 - self.aside_bits
    }

    /// Splits a chunk.
    ///
    /// # Panics
    /// If its length is not [`Transform::chunk_bytes`].
    pub fn split(&self, chunk: &[u8]) -> Split {
        assert_eq!(chunk.len(), self.chunk_bytes, "the chunk has the wrong length");
        let width = 8 * self.chunk_bytes as u32;
        let all = Bits::from_be_bytes(width, chunk);
        let (aside, word) = match &self.mask {
            None => (all.slice(width - 1, self.word_bits()), all.slice(self.word_bits() - 1, 0)),
            Some(mask) => (all.gather(mask).resize(self.aside_bits), all.gather(&mask.not()).resize(self.word_bits())),
        };
        let (basis, syndrome) = match &self.code {
            Some(code) => code.split(word),
            None => (word, 0),
        };
        Split { aside, basis, syndrome }
    }

    /// The chunk that was split.
    pub fn join(&self, split: &Split) -> Vec<u8> {
        let word = self.code.as_ref().map_or_else(|| split.basis.clone(), |it| it.join(&split.basis, split.syndrome));
        let all = match &self.mask {
            None => split.aside.concat(&word),
            Some(mask) => {
                split.aside.resize(mask.width()).scatter(mask).or(&word.resize(mask.width()).scatter(&mask.not()))
            }
        };
        all.to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    #[test]
    fn join_reverses_split() {
        let mut rng = Rng::new(1);
        let mut mask = |bytes: u32, ones: u32| {
            let mut mask = Bits::zero(8 * bytes);
            let mut left = ones;
            while left > 0 {
                let at = rng.below(u64::from(8 * bytes)) as u32;
                left -= u32::from(!mask.bit(at));
                mask.set_bit(at, true);
            }
            mask
        };
        let transforms = [
            Transform::of_code(Code::new(3).unwrap()),
            Transform::of_code(Code::of_two(8).unwrap()),
            Transform::masked(mask(23, 41), None),
            Transform::masked(mask(23, 57), Some(Code::new(7).unwrap())),
            Transform::masked(mask(9, 9), Some(Code::of_two(6).unwrap())),
        ];
        let bytes = [3, 4, 7, 10, 5].iter();
        let mut rng = Rng::new(2);
        for (transform, reference_bytes) in transforms.iter().zip(bytes) {
            for _ in 0..20 {
                let mut chunk = vec![0; transform.chunk_bytes()];
                rng.fill(&mut chunk);
                let split = transform.split(&chunk);
                assert_eq!((split.aside.width(), split.basis.width()), (transform.aside_bits, transform.basis_bits()));
                assert_eq!(transform.join(&split), chunk, "{}", transform.options(15));
            }
            assert_eq!(transform.reference_bytes(15), *reference_bytes, "{}", transform.options(15));
        }
        assert_eq!(transforms.each_ref().map(|it| it.saved_bytes(15)), [0, 28, 16, 13, 4]);
        let elsewhere = transforms[0].clone().with_layout(Layout { offset: 28, count: 4 });
        assert_eq!(elsewhere.options(11), "-D CODE=3 -D OFFSET=28 -D COUNT=4 -D ID_BITS=11");
        let options = transforms.iter().map(|it| it.options(15)).collect::<Vec<_>>();
        let expected = [
            "-D CODE=3",
            "-D CODE=8 -D ERRORS=2",
            "-D CODE=0 -D CHUNK=23 -D ASIDE=41",
            "-D CODE=7 -D CHUNK=23",
            "-D CODE=6 -D ERRORS=2 -D CHUNK=9",
        ];
        assert_eq!(options, expected);
    }

    #[test]
    fn transforms_have_names() {
        for name in ["hamming-8", "bch-4", "mask-41", "swap-hamming-7", "swap-bch-9"] {
            assert_eq!(name.parse::<Kind>().unwrap().to_string(), name);
        }
        for name in ["hamming-2", "bch-10", "mask-0", "swap-7", "8", ""] {
            assert!(name.parse::<Kind>().is_err(), "{name}");
        }
        assert_eq!(Kind::SwapHamming(7).mask_bits(23), Some(57));
        assert_eq!(Kind::SwapHamming(8).mask_bits(23), None);
        assert_eq!(Kind::SwapHamming(6).mask_bits(8), None, "one bit is set aside without a mask");
    }
}
