//! The codes that generalized deduplication splits words by: a word becomes a basis and a deviation.
//!
//! What enters: a word of 2^m - 1 bits. What leaves: the basis, which is the message of a codeword near it, and the
//! syndrome, which says where the word is another than that codeword. Of a Hamming code every word is a codeword or
//! one bit away from one, so that a basis stands for 2^m words. A BCH code that corrects two bits has twice as many
//! bits in its syndromes; words that are further from all codewords have the codeword that differs in the bits of
//! the syndrome itself.

use base::Bits;
use std::fmt;

/// The generator of each m from 3 on, without its highest power: the first of those that the paper names.
const POLYNOMIALS: [u32; 13] = [0x3, 0x3, 0x05, 0x03, 0x09, 0x1d, 0x011, 0x009, 0x005, 0x053, 0x01b, 0x143, 0x003];

/// A code of 2^m - 1 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    m: u32,
    /// How many wrong bits it corrects: 1 or 2.
    errors: u32,
    polynomial: u32,
    /// By syndrome, which bits are wrong. That of syndrome 0 means nothing.
    wrong: Vec<Wrong>,
    /// By what is above a remainder when a byte has been added to it, what that leaves.
    folded: Vec<u32>,
}

/// Which bits of a word are wrong. The lowest has the place 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// One, or none if the syndrome is 0.
    One(u16),
    /// These two.
    Two(u16, u16),
    /// More: it is made a codeword by the bits of the syndrome.
    Syndrome,
}

/// Why there is no such code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeError {
    /// m is out of range.
    Degree(u32),
    /// It is out of the range of codes that correct two bits.
    DegreeOfTwo(u32),
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
            CodeError::DegreeOfTwo(m) => write!(
                out,
                "m is {m}, but of a code that corrects two bits it must be from {} to {}",
                Code::M_MIN_OF_TWO,
                Code::M_MAX_OF_TWO
            ),
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

impl Code {
    /// The least m of the programs.
    pub const M_MIN: u32 = 3;
    /// The greatest.
    pub const M_MAX: u32 = 15;
    /// The least m of codes that correct two bits.
    pub const M_MIN_OF_TWO: u32 = 4;
    /// The greatest: there is an entry for each syndrome, of which there are 2^18 then.
    pub const M_MAX_OF_TWO: u32 = 9;

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
        let powers = powers(m, polynomial).ok_or(CodeError::NotPrimitive { m, polynomial })?;
        let mut wrong = vec![Wrong::Syndrome; 1 << m];
        wrong[0] = Wrong::One(0);
        for (place, syndrome) in (0..).zip(&powers) {
            wrong[*syndrome as usize] = Wrong::One(place);
        }
        Ok(Code { m, errors: 1, polynomial, wrong, folded: folded(m, polynomial) })
    }

    /// The BCH code for this m that corrects two wrong bits. Its generator is that of the Hamming code times the least
    /// polynomial whose root is the third power of that one's root.
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

    /// The least polynomial over bits that the third power of the generator's root is a root of.
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
        // (x - root) for each root: coefficients are elements of the field, the lowest first, and bits at the end.
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

    /// How many wrong bits it corrects.
    pub fn errors(&self) -> u32 {
        self.errors
    }

    /// The generator without its highest power.
    pub fn polynomial(&self) -> u32 {
        self.polynomial
    }

    /// Bits of a word.
    pub fn word_bits(&self) -> u32 {
        (1 << self.m) - 1
    }

    /// Bits of a syndrome.
    pub fn syndrome_bits(&self) -> u32 {
        self.m * self.errors
    }

    /// Bits of a basis.
    pub fn basis_bits(&self) -> u32 {
        self.word_bits() - self.syndrome_bits()
    }

    /// Which bits of a word are wrong if this is its syndrome. None are if the syndrome is 0.
    pub fn wrong(&self, syndrome: u32) -> Option<Wrong> {
        self.wrong.get(syndrome as usize).filter(|_| syndrome != 0).copied()
    }

    /// The remainder of the bits of these bytes on division by the generator.
    fn remainder(&self, bytes: &[u8]) -> u32 {
        let degree = self.syndrome_bits();
        let mask = (1_u32 << degree) - 1;
        bytes.iter().fold(0, |remainder, byte| {
            let all = remainder << 8 | u32::from(*byte);
            all & mask ^ self.folded[(all >> degree) as usize]
        })
    }

    /// Turns over the bits that are wrong if this is the syndrome.
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

    /// Takes a word apart: its basis and its syndrome.
    ///
    /// # Panics
    /// If it has another width than [`Code::word_bits`].
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

/// What is left of a remainder times x. The generator has this degree, and its highest power is left out.
fn times_x(remainder: u32, degree: u32, polynomial: u32) -> u32 {
    let (size, times) = (1 << degree, remainder << 1);
    if times & size == 0 { times } else { times ^ size ^ polynomial }
}

/// x^0, x^1, ... up to the last power that is another one, if each but 0 is among them.
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

/// By the eight bits above a remainder, what they leave of it.
fn folded(degree: u32, polynomial: u32) -> Vec<u32> {
    let fold = |above: u32| {
        (0..degree).fold(above_reduced(above, degree, polynomial), |left, _| times_x(left, degree, polynomial))
    };
    (0..256).map(fold).collect()
}

/// The product of two polynomials over bits.
fn product(a: u32, b: u32) -> u32 {
    (0..32).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ a << bit)
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
    fn what_was_split_is_joined_for_every_code() {
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

    /// Each word within two bits of a codeword has its basis: no two pairs of bits have the same syndrome.
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
