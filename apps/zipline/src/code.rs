//! The codes by which generalized deduplication splits words: a word becomes a basis and a deviation.
//!
//! What enters: a word of 2^m - 1 bits. What leaves: the basis, which is the message of a nearby codeword, and the
//! syndrome, which identifies the bits in which the word differs from that codeword. With a Hamming code every word
//! is at most one bit from a codeword, so that a basis stands for 2^m words. A BCH code that corrects two errors has
//! syndromes of twice the length; a word further from all codewords is assigned the codeword that differs from it in
//! the bits of the syndrome itself.

use base::Bits;
use std::fmt;

/// The generator polynomial of each m from 3, without its highest power: the first of those that the paper lists.
const POLYNOMIALS: [u32; 13] = [0x3, 0x3, 0x05, 0x03, 0x09, 0x1d, 0x011, 0x009, 0x005, 0x053, 0x01b, 0x143, 0x003];

/// A code of 2^m - 1 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    m: u32,
    /// The number of errors it corrects: 1 or 2.
    errors: u32,
    polynomial: u32,
    /// By syndrome, the error bits. The element for syndrome 0 is not used.
    wrong: Vec<Wrong>,
    /// By the eight bits shifted out of a remainder, their remainder.
    folded: Vec<u32>,
}

/// The error bits of a word. The lowest bit has the position 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// One bit; no error if the syndrome is 0.
    One(u16),
    /// These two.
    Two(u16, u16),
    /// More than two: the bits of the syndrome turn the word into a codeword.
    Syndrome,
}

/// Why a code does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeError {
    /// m is out of range.
    Degree(u32),
    /// m is out of range for codes that correct two errors.
    DegreeOfTwo(u32),
    /// The polynomial is not primitive, so some syndromes do not belong to a single-bit error.
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
            CodeError::DegreeOfTwo(m) => write!(
                out,
                "m is {m}, but of a code that corrects two bits it must be from {} to {}",
                Code::M_MIN_OF_TWO,
                Code::M_MAX_OF_TWO
            ),
            CodeError::NotPrimitive { m, polynomial } => write!(
                out,
                "{polynomial:#x} does not generate a Hamming code with m = {m}: x^{m} plus it is not a primitive \
                 polynomial; the default is {:#x}",
                POLYNOMIALS[(m - Code::M_MIN) as usize]
            ),
        }
    }
}

impl std::error::Error for CodeError {}

impl Code {
    /// The least m of the programs.
    pub const M_MIN: u32 = 3;
    /// The greatest.
    pub const M_MAX: u32 = 15;
    /// The least m of codes that correct two errors.
    pub const M_MIN_OF_TWO: u32 = 4;
    /// The greatest m of such codes: the table has an entry for each of the 2^18 syndromes.
    pub const M_MAX_OF_TWO: u32 = 9;

    /// The programs' default code for this m.
    pub fn new(m: u32) -> Result<Code, CodeError> {
        let standard = m.checked_sub(Code::M_MIN).and_then(|index| POLYNOMIALS.get(index as usize));
        Code::with_polynomial(m, *standard.ok_or(CodeError::Degree(m))?)
    }

    /// The code with this generator polynomial, given without its highest power.
    pub fn with_polynomial(m: u32, polynomial: u32) -> Result<Code, CodeError> {
        if !(Code::M_MIN..=Code::M_MAX).contains(&m) {
            return Err(CodeError::Degree(m));
        }
        let powers = powers(m, polynomial).ok_or(CodeError::NotPrimitive { m, polynomial })?;
        let mut wrong = vec![Wrong::Syndrome; 1 << m];
        wrong[0] = Wrong::One(0);
        for (place, syndrome) in (0..).zip(&powers) {
            wrong[*syndrome as usize] = Wrong::One(place);
        }
        Ok(Code { m, errors: 1, polynomial, wrong, folded: folded(m, polynomial) })
    }

    /// The BCH code for this m that corrects two errors. Its generator is the product of the Hamming code's generator
    /// and the minimal polynomial of the cube of that generator's root.
    pub fn of_two(m: u32) -> Result<Code, CodeError> {
        if !(Code::M_MIN_OF_TWO..=Code::M_MAX_OF_TWO).contains(&m) {
            return Err(CodeError::DegreeOfTwo(m));
        }
        let hamming = Code::new(m)?;
        let generator = product(1 << m | hamming.polynomial, hamming.minimal_of_cube());
        let (degree, polynomial) = (2 * m, generator & ((1 << (2 * m)) - 1));
        let mut syndromes: Vec<u32> = vec![1];
        while syndromes.len() < (1 << m) - 1 {
            syndromes.push(times_x(syndromes[syndromes.len() - 1], degree, polynomial));
        }
        let mut wrong = vec![Wrong::Syndrome; 1 << degree];
        wrong[0] = Wrong::One(0);
        for (place, syndrome) in (0..).zip(&syndromes) {
            wrong[*syndrome as usize] = Wrong::One(place);
            for (below, other) in (0..place).zip(&syndromes) {
                wrong[(syndrome ^ other) as usize] = Wrong::Two(below, place);
            }
        }
        Ok(Code { m, errors: 2, polynomial, wrong, folded: folded(degree, polynomial) })
    }

    /// The minimal polynomial, over GF(2), of the cube of the generator's root.
    fn minimal_of_cube(&self) -> u32 {
        let times = |a: u32, b: u32| {
            (0..self.m)
                .rev()
                .fold(0, |sum, bit| times_x(sum, self.m, self.polynomial) ^ if b >> bit & 1 == 1 { a } else { 0 })
        };
        let cube = times(2, 4);
        let mut roots = vec![cube];
        loop {
            let last = roots[roots.len() - 1];
            let next = times(last, last);
            if next == cube {
                break;
            }
            roots.push(next);
        }
        // The product of (x - root) over all roots. Coefficients are elements of the field, the lowest first; in the
        // end each is 0 or 1.
        let mut coefficients = vec![1];
        for root in roots {
            let shifted: Vec<u32> = std::iter::once(0).chain(coefficients.iter().copied()).collect();
            coefficients.push(0);
            coefficients.iter_mut().zip(shifted).for_each(|(it, above)| *it = times(*it, root) ^ above);
        }
        coefficients.iter().zip(0..).fold(0, |sum, (bit, power)| sum | bit << power)
    }

    /// m: words have 2^m - 1 bits.
    pub fn m(&self) -> u32 {
        self.m
    }

    /// The number of errors it corrects.
    pub fn errors(&self) -> u32 {
        self.errors
    }

    /// The generator polynomial without its highest power.
    pub fn polynomial(&self) -> u32 {
        self.polynomial
    }

    /// The length of a word in bits.
    pub fn word_bits(&self) -> u32 {
        (1 << self.m) - 1
    }

    /// The length of a syndrome in bits.
    pub fn syndrome_bits(&self) -> u32 {
        self.m * self.errors
    }

    /// The length of a basis in bits.
    pub fn basis_bits(&self) -> u32 {
        self.word_bits() - self.syndrome_bits()
    }

    /// The error bits of a word with this syndrome; `None` if the syndrome is 0.
    pub fn wrong(&self, syndrome: u32) -> Option<Wrong> {
        self.wrong.get(syndrome as usize).filter(|_| syndrome != 0).copied()
    }

    /// The remainder of these bytes on division by the generator.
    fn remainder(&self, bytes: &[u8]) -> u32 {
        let degree = self.syndrome_bits();
        let mask = (1_u32 << degree) - 1;
        bytes.iter().fold(0, |remainder, byte| {
            let all = remainder << 8 | u32::from(*byte);
            all & mask ^ self.folded[(all >> degree) as usize]
        })
    }

    /// Flips the error bits of this syndrome.
    fn correct(&self, word: &mut Bits, syndrome: u32) {
        let mut flip = |place: u32| word.set_bit(place, !word.bit(place));
        match self.wrong(syndrome) {
            None => {}
            Some(Wrong::One(place)) => flip(place.into()),
            Some(Wrong::Two(first, second)) => [first, second].into_iter().for_each(|place| flip(place.into())),
            Some(Wrong::Syndrome) => {
                (0..self.syndrome_bits()).filter(|bit| syndrome >> bit & 1 == 1).for_each(&mut flip);
            }
        }
    }

    /// Splits a word into its basis and its syndrome.
    ///
    /// # Panics
    /// If its width is not [`Code::word_bits`].
    pub fn split(&self, mut word: Bits) -> (Bits, u32) {
        assert_eq!(word.width(), self.word_bits(), "a word has 2^m - 1 bits");
        let syndrome = self.remainder(&word.to_be_bytes());
        self.correct(&mut word, syndrome);
        (word.slice(word.width() - 1, self.syndrome_bits()), syndrome)
    }

    /// The word that was split.
    pub fn join(&self, basis: &Bits, syndrome: u32) -> Bits {
        let message = basis.concat(&Bits::zero(self.syndrome_bits()));
        let parity = self.remainder(&message.to_be_bytes());
        let mut word = message.or(&Bits::from_u64(message.width(), u64::from(parity)));
        self.correct(&mut word, syndrome);
        word
    }
}

/// Multiplies a remainder by x, modulo the generator, which has this degree and is given without its highest power.
fn times_x(remainder: u32, degree: u32, polynomial: u32) -> u32 {
    let (size, times) = (1 << degree, remainder << 1);
    if times & size == 0 { times } else { times ^ size ^ polynomial }
}

/// The powers x^0, x^1, ... until they repeat, if they are all elements except 0; `None` otherwise.
fn powers(m: u32, polynomial: u32) -> Option<Vec<u32>> {
    if polynomial >= 1 << m {
        return None;
    }
    let mut powers = vec![1];
    while powers.len() < (1 << m) - 1 {
        match times_x(powers[powers.len() - 1], m, polynomial) {
            0 | 1 => return None,
            power => powers.push(power),
        }
    }
    (times_x(powers[powers.len() - 1], m, polynomial) == 1).then_some(powers)
}

/// By the eight bits shifted out of a remainder, their remainder.
fn folded(degree: u32, polynomial: u32) -> Vec<u32> {
    let fold = |above: u32| {
        (0..degree).fold(above_reduced(above, degree, polynomial), |left, _| times_x(left, degree, polynomial))
    };
    (0..256).map(fold).collect()
}

/// The product of two polynomials over GF(2).
fn product(a: u32, b: u32) -> u32 {
    (0..32).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ a << bit)
}

/// The remainder of a polynomial of degree at most 7 on division by x^m + `polynomial`.
fn above_reduced(above: u32, m: u32, polynomial: u32) -> u32 {
    (m..8)
        .rev()
        .fold(above, |left, bit| left ^ if left >> bit & 1 == 1 { (1 << m | polynomial) << (bit - m) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    /// The words of the paper's example, and their bases.
    #[test]
    fn the_words_next_to_a_codeword_have_its_basis() {
        let code = Code::new(3).unwrap();
        let word = |value| Bits::from_u64(7, value);
        for (codeword, basis) in [(0x00, 0x0), (0x7f, 0xf)] {
            for flip in [0, 1, 2, 4, 8, 16, 32, 64] {
                let (found, syndrome) = code.split(word(codeword ^ flip));
                assert_eq!(found, Bits::from_u64(4, basis), "{codeword:#x} {flip:#x}");
                assert_eq!(code.join(&found, syndrome), word(codeword ^ flip));
            }
        }
        let syndromes: Vec<u32> = (0..7).map(|bit| code.split(word(1 << bit)).1).collect();
        assert_eq!(syndromes, [1, 2, 4, 3, 6, 7, 5]);
    }

    #[test]
    fn join_reverses_split_for_every_code() {
        let mut rng = Rng::new(1);
        let further = [(5, 0x17), (9, 0x1e3)].map(|(m, polynomial)| Code::with_polynomial(m, polynomial));
        let of_two = (Code::M_MIN_OF_TWO..=Code::M_MAX_OF_TWO).map(Code::of_two);
        for code in (Code::M_MIN..=Code::M_MAX).map(Code::new).chain(further).chain(of_two) {
            let code = code.unwrap();
            for _ in 0..20 {
                let mut bytes = vec![0; 1 << (code.m() - 3)];
                rng.fill(&mut bytes);
                let word = Bits::from_be_bytes(code.word_bits(), &bytes);
                let (basis, syndrome) = code.split(word.clone());
                assert_eq!(basis.width(), code.basis_bits());
                assert_eq!(code.join(&basis, syndrome), word, "m = {}, {}", code.m(), code.errors());
            }
        }
    }

    /// Every word within two bits of a codeword has that codeword's basis: no two pairs of bits have the same
    /// syndrome.
    #[test]
    fn two_wrong_bits_leave_the_basis() {
        let code = Code::of_two(5).unwrap();
        assert_eq!((code.basis_bits(), code.polynomial()), (21, 0x369));
        let (basis, _) = code.split(Bits::from_u64(31, 0x1234_5678));
        let codeword = code.join(&basis, 0);
        for first in 0..31 {
            for second in 0..=first {
                let mut word = codeword.clone();
                word.set_bit(first, !word.bit(first));
                if second < first {
                    word.set_bit(second, !word.bit(second));
                }
                assert_eq!(code.split(word).0, basis, "{first} {second}");
            }
        }
        assert_eq!(
            Code::of_two(10).unwrap_err().to_string(),
            "m is 10, but of a code that corrects two bits it must be from 4 to 9"
        );
    }

    #[test]
    fn invalid_codes_are_refused() {
        assert_eq!(Code::new(2), Err(CodeError::Degree(2)));
        assert_eq!(Code::new(16), Err(CodeError::Degree(16)));
        // x^4 + x^3 + x^2 + x + 1 divides x^5 - 1; x^4 does not give a code at all.
        for polynomial in [0xf, 0x0] {
            assert_eq!(Code::with_polynomial(4, polynomial), Err(CodeError::NotPrimitive { m: 4, polynomial }));
        }
        let error = Code::with_polynomial(4, 0xf).unwrap_err().to_string();
        assert_eq!(
            error,
            "0xf does not generate a Hamming code with m = 4: x^4 plus it is not a primitive polynomial; the default is 0x3"
        );
    }
}
