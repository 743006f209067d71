//! Hamming codes as generalized deduplication uses them: a chunk becomes a basis and a deviation.
//!
//! What enters: a chunk of 2^m bits. What leaves: its first bit, which is no part of the code; the basis, the message
//! of the codeword next to the word of the other 2^m - 1 bits; and the syndrome, which says what bit of the word is
//! another than in that codeword. Every word is a codeword or one bit away from one, so that every chunk can be split,
//! and a basis stands for 2^m words.

use base::Bits;
use std::fmt;

/// The generator of each m from 3 on, without its highest power: the first of those that the paper names.
const POLYNOMIALS: [u32; 13] = [0x3, 0x3, 0x05, 0x03, 0x09, 0x1d, 0x011, 0x009, 0x005, 0x053, 0x01b, 0x143, 0x003];

/// A Hamming code of 2^m - 1 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    m: u32,
    polynomial: u32,
    /// By syndrome, the place of the bit that is wrong. That of syndrome 0 means nothing.
    places: Vec<u16>,
    /// By what is above a remainder when a byte has been added to it, what that leaves.
    folded: Vec<u32>,
}

/// Why there is no such code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeError {
    /// m is out of range.
    Degree(u32),
    /// Not every syndrome is that of one wrong bit.
    NotPrimitive {
        /// m.
        m: u32,
        /// The polynomial without its highest power.
        polynomial: u32,
    },
}

impl fmt::Display for CodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            CodeError::Degree(m) => write!(out, "m is {m}, but it must be from {} to {}", Code::M_MIN, Code::M_MAX),
            CodeError::NotPrimitive { m, polynomial } => write!(
                out,
                "{polynomial:#x} makes no Hamming code with m = {m}: x^{m} and it are no primitive polynomial; leave \
                 it out for {:#x}",
                POLYNOMIALS[(m - Code::M_MIN) as usize]
            ),
        }
    }
}

impl std::error::Error for CodeError {}

/// A chunk in parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// The chunk's first bit.
    pub first: bool,
    /// The message of the codeword.
    pub basis: Bits,
    /// What tells the word from the codeword.
    pub syndrome: u32,
}

impl Code {
    /// The least m of the programs.
    pub const M_MIN: u32 = 3;
    /// The greatest.
    pub const M_MAX: u32 = 15;

    /// The code that the programs have for this m if they are told nothing else.
    pub fn new(m: u32) -> Result<Code, CodeError> {
        let standard = m.checked_sub(Code::M_MIN).and_then(|index| POLYNOMIALS.get(index as usize));
        Code::with_polynomial(m, *standard.ok_or(CodeError::Degree(m))?)
    }

    /// The code with this generator, given without its highest power.
    pub fn with_polynomial(m: u32, polynomial: u32) -> Result<Code, CodeError> {
        if !(Code::M_MIN..=Code::M_MAX).contains(&m) {
            return Err(CodeError::Degree(m));
        }
        let not_primitive = CodeError::NotPrimitive { m, polynomial };
        let size = 1 << m;
        let times_x = |power: u32| power << 1 ^ if power << 1 & size == 0 { 0 } else { size | polynomial };
        let mut places = vec![u16::MAX; size as usize];
        let mut power = 1;
        for place in 0..(size - 1) as u16 {
            match places.get_mut(power as usize) {
                Some(known) if *known == u16::MAX && power != 0 => *known = place,
                _ => return Err(not_primitive),
            }
            power = times_x(power);
        }
        // The remainder of a polynomial of degree 7 at most, times x^m.
        let fold = |above: u32| (0..m).fold(above_reduced(above, m, polynomial), |left, _| times_x(left));
        Ok(Code { m, polynomial, places, folded: (0..256).map(fold).collect() })
    }

    /// m: the bits of a syndrome.
    pub fn m(&self) -> u32 {
        self.m
    }

    /// The generator without its highest power.
    pub fn polynomial(&self) -> u32 {
        self.polynomial
    }

    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> usize {
        1 << (self.m - 3)
    }

    /// Bits of a basis.
    pub fn basis_bits(&self) -> u32 {
        (1 << self.m) - 1 - self.m
    }

    /// Which bit of a word is wrong if this is its syndrome; the lowest is 0. None is if the syndrome is 0.
    pub fn place(&self, syndrome: u32) -> Option<u32> {
        let place = self.places.get(syndrome as usize).filter(|_| syndrome != 0);
        place.map(|place| u32::from(*place))
    }

    /// The remainder of the bits of these bytes on division by the generator.
    fn remainder(&self, bytes: &[u8]) -> u32 {
        let mask = (1_u32 << self.m) - 1;
        bytes.iter().fold(0, |remainder, byte| {
            let all = remainder << 8 | u32::from(*byte);
            all & mask ^ self.folded[(all >> self.m) as usize]
        })
    }

    /// Takes a chunk apart.
    ///
    /// # Panics
    /// If it has another length than [`Code::chunk_bytes`].
    pub fn split(&self, chunk: &[u8]) -> Split {
        assert_eq!(chunk.len(), self.chunk_bytes(), "a chunk has 2^m bits");
        let bits = (1 << self.m) - 1;
        let all = Bits::from_be_bytes(bits + 1, chunk);
        let mut word = all.slice(bits - 1, 0);
        let syndrome = self.remainder(&word.to_be_bytes());
        if let Some(place) = self.place(syndrome) {
            word.set_bit(place, !word.bit(place));
        }
        Split { first: all.bit(bits), basis: word.slice(bits - 1, self.m), syndrome }
    }

    /// The chunk that was split.
    pub fn join(&self, split: &Split) -> Vec<u8> {
        let message = split.basis.concat(&Bits::zero(self.m));
        let parity = self.remainder(&message.to_be_bytes());
        let mut word = message.or(&Bits::from_u64(message.width(), u64::from(parity)));
        if let Some(place) = self.place(split.syndrome) {
            word.set_bit(place, !word.bit(place));
        }
        Bits::from_bool(split.first).concat(&word).to_be_bytes()
    }
}

/// The remainder of a polynomial of degree 7 at most on division by x^m + `polynomial`.
fn above_reduced(above: u32, m: u32, polynomial: u32) -> u32 {
    (m..8)
        .rev()
        .fold(above, |left, bit| left ^ if left >> bit & 1 == 1 { (1 << m | polynomial) << (bit - m) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    /// The chunks of the paper's example, and their bases.
    #[test]
    fn the_words_next_to_a_codeword_have_its_basis() {
        let code = Code::new(3).unwrap();
        for (word, basis) in [(0x00, 0x0), (0x7f, 0xf)] {
            for flip in [0, 1, 2, 4, 8, 16, 32, 64] {
                let split = code.split(&[word ^ flip]);
                assert_eq!(split.basis, Bits::from_u64(4, basis), "{word:#x} {flip:#x}");
                assert_eq!(code.join(&split), [word ^ flip]);
            }
        }
        let syndromes: Vec<u32> = (0..7).map(|bit| code.split(&[1 << bit]).syndrome).collect();
        assert_eq!(syndromes, [1, 2, 4, 3, 6, 7, 5]);
    }

    #[test]
    fn what_was_split_is_joined_for_every_code() {
        let mut rng = Rng::new(1);
        let further = [(5, 0x17), (9, 0x1e3)].map(|(m, polynomial)| Code::with_polynomial(m, polynomial));
        for code in (Code::M_MIN..=Code::M_MAX).map(Code::new).chain(further) {
            let code = code.unwrap();
            for _ in 0..20 {
                let mut chunk = vec![0; code.chunk_bytes()];
                rng.fill(&mut chunk);
                let split = code.split(&chunk);
                assert_eq!(split.basis.width(), code.basis_bits());
                assert_eq!(code.join(&split), chunk, "m = {}", code.m());
            }
        }
    }

    #[test]
    fn what_makes_no_code_is_refused() {
        assert_eq!(Code::new(2), Err(CodeError::Degree(2)));
        assert_eq!(Code::new(16), Err(CodeError::Degree(16)));
        // x^4 + x^3 + x^2 + x + 1 divides x^5 - 1; x^4 is no code at all.
        for polynomial in [0xf, 0x0] {
            assert_eq!(Code::with_polynomial(4, polynomial), Err(CodeError::NotPrimitive { m: 4, polynomial }));
        }
        let error = Code::with_polynomial(4, 0xf).unwrap_err().to_string();
        assert_eq!(
            error,
            "0xf makes no Hamming code with m = 4: x^4 and it are no primitive polynomial; leave it out for 0x3"
        );
    }
}
