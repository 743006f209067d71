//! A bit vector of any width: the value that every P4 expression of type `bit<W>`, `int<W>` or `bool` has.
//!
//! The interpreter computes with these values only, so this file defines the meaning of P4 arithmetic (specification
//! 8.5 to 8.10). It is written for clarity: a value is a row of 64-bit limbs, the lowest first, and the bits above the
//! width are always zero. Signed operations interpret the same bits as two's complement.

mod limbs;

use limbs::Limbs;
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;

/// A value of `width` bits. Two values are equal if both their widths and their bits are equal.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits {
    width: u32,
    limbs: Limbs,
}

impl Bits {
    /// All bits zero.
    #[inline]
    pub fn zero(width: u32) -> Bits {
        Bits { width, limbs: Limbs::zero(width.div_ceil(64) as usize) }
    }

    /// All bits one.
    #[inline]
    pub fn ones(width: u32) -> Bits {
        if width <= 64 {
            return Bits::from_u64(width, u64::MAX);
        }
        let mut bits = Bits::zero(width);
        bits.limbs.fill(u64::MAX);
        bits.trimmed()
    }

    /// The mask of a prefix: the `count` highest bits are one, all of them if `count` exceeds the width.
    #[inline]
    pub fn leading_ones(width: u32, count: u32) -> Bits {
        let zeros = width.saturating_sub(count);
        if width <= 64 {
            return Bits::from_u64(width, u64::MAX.checked_shl(zeros).unwrap_or(0));
        }
        let mut bits = Bits::ones(width);
        let (limbs, rest) = bits.limbs.split_at_mut(zeros as usize / 64);
        limbs.fill(0);
        rest.first_mut().into_iter().for_each(|limb| *limb &= u64::MAX << (zeros % 64));
        bits
    }

    /// The low `width` bits of `value`.
    #[inline]
    pub fn from_u64(width: u32, value: u64) -> Bits {
        let mut bits = Bits::zero(width);
        if let Some(limb) = bits.limbs.first_mut() {
            *limb = value;
        }
        bits.trimmed()
    }

    /// The low `width` bits of `value`.
    #[inline]
    pub fn from_u128(width: u32, value: u128) -> Bits {
        let mut bits = Bits::zero(width);
        for (index, limb) in bits.limbs.iter_mut().take(2).enumerate() {
            *limb = (value >> (64 * index)) as u64;
        }
        bits.trimmed()
    }

    /// One bit: 1 for true.
    #[inline]
    pub fn from_bool(value: bool) -> Bits {
        Bits::from_u64(1, u64::from(value))
    }

    /// The low `width` bits of `value` in two's complement.
    pub fn from_bigint(width: u32, value: &BigInt) -> Bits {
        let modulus = BigInt::from(1) << width;
        let wrapped = ((value % &modulus) + &modulus) % &modulus;
        let mut bits = Bits::zero(width);
        for (limb, digit) in bits.limbs.iter_mut().zip(wrapped.iter_u64_digits()) {
            *limb = digit;
        }
        bits
    }

    /// The low `width` bits of the unsigned number in `bytes`, most significant byte first.
    pub fn from_be_bytes(width: u32, bytes: &[u8]) -> Bits {
        let mut bits = Bits::zero(width);
        for (index, &byte) in bytes.iter().rev().enumerate() {
            if let Some(limb) = bits.limbs.get_mut(index / 8) {
                *limb |= u64::from(byte) << (8 * (index % 8));
            }
        }
        bits.trimmed()
    }

    /// `width` bits of `bytes` from bit `offset_bits`; bit 0 is the most significant bit of the first byte. Bits
    /// beyond the end of `bytes` are zero.
    pub fn from_packet(width: u32, bytes: &[u8], offset_bits: usize) -> Bits {
        let byte = |index: usize| u128::from(bytes.get(index).copied().unwrap_or(0));
        let mut bits = Bits::zero(width);
        let mut end = offset_bits + width as usize;
        for limb in bits.limbs.iter_mut() {
            // A limb is in up to nine bytes, the last of which may have further bits. What is before the value is
            // trimmed.
            let (last, further) = ((end - 1) / 8, (8 - end % 8) % 8);
            let window = (0..=last.min(8)).fold(0, |window, back| window | byte(last - back) << (8 * back));
            *limb = (window >> further) as u64;
            end = end.saturating_sub(64);
        }
        bits.trimmed()
    }

    /// Writes the value into `bytes` at bit `offset_bits`, most significant bit first. Bits beyond the end are lost.
    pub fn to_packet(&self, bytes: &mut [u8], offset_bits: usize) {
        let (mut rest, mut at) = (self.width as usize, offset_bits);
        while rest > 0 {
            let count = rest.min(8 - at % 8);
            let shift = 8 - at % 8 - count;
            let mask = ((1u16 << count) - 1) as u8;
            rest -= count;
            if let Some(byte) = bytes.get_mut(at / 8) {
                *byte = *byte & !(mask << shift) | (self.byte_from(rest) & mask) << shift;
            }
            at += count;
        }
    }

    /// Eight bits from bit `low` on. Bits beyond the width are zero.
    fn byte_from(&self, low: usize) -> u8 {
        let (limb, shift) = (low / 64, low % 64);
        let at = |limb: usize| u128::from(self.limbs.get(limb).copied().unwrap_or(0));
        ((at(limb) | at(limb + 1) << 64) >> shift) as u8
    }

    /// The value as a number in `ceil(width / 8)` bytes, most significant first.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let count = self.width.div_ceil(8) as usize;
        (0..count).rev().map(|index| (self.limbs[index / 8] >> (8 * (index % 8))) as u8).collect()
    }

    /// Width in bits.
    #[inline]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The limbs, lowest first.
    #[inline]
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The value of the given limbs (lowest first), truncated to `width`.
    #[inline]
    pub fn from_limbs(width: u32, limbs: &[u64]) -> Bits {
        let mut bits = Bits::zero(width);
        for (to, &from) in bits.limbs.iter_mut().zip(limbs) {
            *to = from;
        }
        bits.trimmed()
    }

    /// The low 64 bits.
    #[inline]
    pub fn low_u64(&self) -> u64 {
        self.limbs.first().copied().unwrap_or(0)
    }

    /// The value, if it fits in 64 bits.
    #[inline]
    pub fn to_u64(&self) -> Option<u64> {
        self.limbs.iter().skip(1).all(|&limb| limb == 0).then(|| self.low_u64())
    }

    /// The value as an unsigned number.
    pub fn to_bigint(&self) -> BigInt {
        let digits: Vec<u32> = self.limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect();
        BigInt::from_biguint(Sign::Plus, BigUint::new(digits))
    }

    /// The value as a two's complement number.
    pub fn to_signed_bigint(&self) -> BigInt {
        if self.is_negative() { self.to_bigint() - (BigInt::from(1) << self.width) } else { self.to_bigint() }
    }

    /// Whether all bits are zero.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.limbs.iter().all(|&limb| limb == 0)
    }

    /// Whether the top bit is set.
    pub fn is_negative(&self) -> bool {
        self.width > 0 && self.bit(self.width - 1)
    }

    /// Bit `index`, 0 the least significant. A bit beyond the width is zero.
    #[inline]
    pub fn bit(&self, index: u32) -> bool {
        self.limbs.get(index as usize / 64).is_some_and(|limb| limb >> (index % 64) & 1 == 1)
    }

    /// Sets bit `index`, which must be below the width.
    pub fn set_bit(&mut self, index: u32, value: bool) {
        assert!(index < self.width, "bit {index} of a value of {} bits", self.width);
        let mask = 1u64 << (index % 64);
        if value {
            self.limbs[index as usize / 64] |= mask;
        } else {
            self.limbs[index as usize / 64] &= !mask;
        }
    }

    /// Bits `high` to `low`, both included, as a value of `high - low + 1` bits.
    pub fn slice(&self, high: u32, low: u32) -> Bits {
        assert!(low <= high && high < self.width, "slice [{high}:{low}] of a value of {} bits", self.width);
        self.shr(u64::from(low)).resize(high - low + 1)
    }

    /// This value with bits `high` to `low` replaced by `part`.
    pub fn with_slice(&self, high: u32, low: u32, part: &Bits) -> Bits {
        assert!(low <= high && high < self.width, "slice [{high}:{low}] of a value of {} bits", self.width);
        let mut result = self.clone();
        for index in low..=high {
            result.set_bit(index, part.bit(index - low));
        }
        result
    }

    /// This value above `low`: `self ++ low`.
    pub fn concat(&self, low: &Bits) -> Bits {
        let width = self.width + low.width;
        self.resize(width).shl(u64::from(low.width)).or(&low.resize(width))
    }

    /// Truncated or zero-extended to `width`.
    #[inline]
    pub fn resize(&self, width: u32) -> Bits {
        Bits::from_limbs(width, &self.limbs)
    }

    /// Truncated or sign-extended to `width`.
    pub fn sign_resize(&self, width: u32) -> Bits {
        Bits::from_bigint(width, &self.to_signed_bigint())
    }

    /// Every bit inverted.
    #[inline]
    pub fn not(&self) -> Bits {
        self.of_limbs(self.limbs.iter().map(|limb| !limb)).trimmed()
    }

    /// Two's complement negation.
    pub fn neg(&self) -> Bits {
        Bits::zero(self.width).sub(self)
    }

    /// Bitwise and.
    #[inline]
    pub fn and(&self, other: &Bits) -> Bits {
        self.zip(other, |a, b| a & b)
    }

    /// Bitwise or.
    #[inline]
    pub fn or(&self, other: &Bits) -> Bits {
        self.zip(other, |a, b| a | b)
    }

    /// Bitwise exclusive or.
    pub fn xor(&self, other: &Bits) -> Bits {
        self.zip(other, |a, b| a ^ b)
    }

    /// Sum modulo 2^width.
    pub fn add(&self, other: &Bits) -> Bits {
        self.assert_same_width(other);
        let mut carry = false;
        let limbs = self.limbs.iter().zip(other.limbs.iter()).map(|(&a, &b)| {
            let (sum, first) = a.overflowing_add(b);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            sum
        });
        self.of_limbs(limbs).trimmed()
    }

    /// Difference modulo 2^width.
    pub fn sub(&self, other: &Bits) -> Bits {
        self.assert_same_width(other);
        let mut borrow = false;
        let limbs = self.limbs.iter().zip(other.limbs.iter()).map(|(&a, &b)| {
            let (difference, first) = a.overflowing_sub(b);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            borrow = first || second;
            difference
        });
        self.of_limbs(limbs).trimmed()
    }

    /// Product modulo 2^width.
    pub fn mul(&self, other: &Bits) -> Bits {
        self.assert_same_width(other);
        Bits::from_bigint(self.width, &(self.to_bigint() * other.to_bigint()))
    }

    /// Unsigned quotient; `None` if the divisor is zero.
    pub fn div(&self, other: &Bits) -> Option<Bits> {
        self.assert_same_width(other);
        (!other.is_zero()).then(|| Bits::from_bigint(self.width, &(self.to_bigint() / other.to_bigint())))
    }

    /// Unsigned remainder; `None` if the divisor is zero.
    pub fn rem(&self, other: &Bits) -> Option<Bits> {
        self.assert_same_width(other);
        (!other.is_zero()).then(|| Bits::from_bigint(self.width, &(self.to_bigint() % other.to_bigint())))
    }

    /// Sum clamped to the largest unsigned value.
    pub fn saturating_add(&self, other: &Bits) -> Bits {
        self.clamp_unsigned(self.to_bigint() + other.to_bigint())
    }

    /// Difference clamped to zero.
    pub fn saturating_sub(&self, other: &Bits) -> Bits {
        self.clamp_unsigned(self.to_bigint() - other.to_bigint())
    }

    /// Signed sum clamped to the signed range.
    pub fn signed_saturating_add(&self, other: &Bits) -> Bits {
        self.clamp_signed(self.to_signed_bigint() + other.to_signed_bigint())
    }

    /// Signed difference clamped to the signed range.
    pub fn signed_saturating_sub(&self, other: &Bits) -> Bits {
        self.clamp_signed(self.to_signed_bigint() - other.to_signed_bigint())
    }

    /// Shift left by any amount; zeros enter at the least significant bit.
    pub fn shl(&self, amount: u64) -> Bits {
        if amount >= u64::from(self.width) {
            return Bits::zero(self.width);
        }
        let (limb_shift, bit_shift) = (amount as usize / 64, (amount % 64) as u32);
        let at = |index: Option<usize>| index.map_or(0, |index| self.limbs[index]);
        let limbs = (0..self.limbs.len()).map(|index| {
            let here = at(index.checked_sub(limb_shift)) << bit_shift;
            let below = at(index.checked_sub(limb_shift + 1)).checked_shr(64 - bit_shift).unwrap_or(0);
            here | below
        });
        self.of_limbs(limbs).trimmed()
    }

    /// Logical shift right by any amount; zeros enter at the most significant bit.
    pub fn shr(&self, amount: u64) -> Bits {
        if amount >= u64::from(self.width) {
            return Bits::zero(self.width);
        }
        let (limb_shift, bit_shift) = (amount as usize / 64, (amount % 64) as u32);
        let at = |index: usize| self.limbs.get(index).copied().unwrap_or(0);
        let limbs = (0..self.limbs.len()).map(|index| {
            let here = at(index + limb_shift) >> bit_shift;
            let above = at(index + limb_shift + 1).checked_shl(64 - bit_shift).unwrap_or(0);
            here | above
        });
        self.of_limbs(limbs)
    }

    /// Arithmetic shift right by any amount; copies of the sign bit enter at the most significant bit.
    pub fn sar(&self, amount: u64) -> Bits {
        let amount = amount.min(u64::from(self.width));
        let shifted = self.shr(amount);
        if self.is_negative() && amount > 0 {
            shifted.or(&Bits::ones(self.width).shl(u64::from(self.width) - amount))
        } else {
            shifted
        }
    }

    /// Bit extract: the bits at the positions where the mask has ones, packed into the lowest bits in order. The bits
    /// above them are zero.
    pub fn gather(&self, mask: &Bits) -> Bits {
        let mut gathered = Bits::zero(self.width);
        let from = (0..self.width).filter(|&index| mask.bit(index));
        (0..).zip(from).for_each(|(to, from)| gathered.set_bit(to, self.bit(from)));
        gathered
    }

    /// Bit deposit, the inverse of [`Bits::gather`]: places the lowest bits, in order, at the positions where the
    /// mask has ones. All other bits are zero.
    pub fn scatter(&self, mask: &Bits) -> Bits {
        let mut scattered = Bits::zero(self.width);
        let to = (0..self.width).filter(|&index| mask.bit(index));
        (0..).zip(to).for_each(|(from, to)| scattered.set_bit(to, self.bit(from)));
        scattered
    }

    /// Order as unsigned numbers of equal width.
    #[inline]
    pub fn cmp_unsigned(&self, other: &Bits) -> Ordering {
        self.assert_same_width(other);
        self.limbs.iter().rev().cmp(other.limbs.iter().rev())
    }

    /// Order as two's complement numbers of equal width.
    pub fn cmp_signed(&self, other: &Bits) -> Ordering {
        other.is_negative().cmp(&self.is_negative()).then_with(|| self.cmp_unsigned(other))
    }

    fn clamp_unsigned(&self, value: BigInt) -> Bits {
        let max = Bits::ones(self.width).to_bigint();
        Bits::from_bigint(self.width, &value.clamp(BigInt::ZERO, max))
    }

    fn clamp_signed(&self, value: BigInt) -> Bits {
        if self.width == 0 {
            return self.clone();
        }
        let half = BigInt::from(1) << (self.width - 1);
        Bits::from_bigint(self.width, &value.clamp(-half.clone(), half - 1))
    }

    #[inline]
    fn zip(&self, other: &Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
        self.assert_same_width(other);
        self.of_limbs(self.limbs.iter().zip(other.limbs.iter()).map(|(&a, &b)| f(a, b)))
    }

    /// A value of this one's width.
    #[inline]
    fn of_limbs(&self, limbs: impl IntoIterator<Item = u64>) -> Bits {
        Bits { width: self.width, limbs: Limbs::of(self.limbs.len(), limbs) }
    }

    #[inline]
    fn assert_same_width(&self, other: &Bits) {
        assert_eq!(self.width, other.width, "operands of different widths");
    }

    #[inline]
    fn trimmed(mut self) -> Bits {
        let spare = self.limbs.len() as u32 * 64 - self.width;
        if let (Some(top), 1..) = (self.limbs.last_mut(), spare) {
            *top &= u64::MAX >> spare;
        }
        self
    }
}

impl std::fmt::Display for Bits {
    /// Hexadecimal with the prefix `0x`, without leading zeros.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.to_bigint())
    }
}

impl std::fmt::Debug for Bits {
    /// `8w0xff`: width and value, as P4 writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}w{self}", self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(width: u32, value: u128) -> Bits {
        Bits::from_u128(width, value)
    }

    /// Values around every limb boundary.
    fn samples(width: u32) -> Vec<Bits> {
        let ones = Bits::ones(width);
        let top = Bits::from_u64(width, 1).shl(u64::from(width - 1));
        vec![
            Bits::zero(width),
            Bits::from_u64(width, 1),
            Bits::from_u64(width, 0xdead_beef_0bad_f00d),
            top.clone(),
            ones.sub(&top),
            ones.xor(&Bits::from_u64(width, 5)),
            ones,
        ]
    }

    #[test]
    fn arithmetic_agrees_with_big_integers() {
        for width in [1, 7, 8, 63, 64, 65, 127, 128, 129, 200, 2048] {
            let wrap = |value: BigInt| Bits::from_bigint(width, &value);
            for a in samples(width) {
                for b in samples(width) {
                    let (x, y) = (a.to_bigint(), b.to_bigint());
                    assert_eq!(a.add(&b), wrap(&x + &y));
                    assert_eq!(a.sub(&b), wrap(&x - &y));
                    assert_eq!(a.mul(&b), wrap(&x * &y));
                    assert_eq!(a.cmp_unsigned(&b), x.cmp(&y));
                    assert_eq!(a.cmp_signed(&b), a.to_signed_bigint().cmp(&b.to_signed_bigint()));
                    assert_eq!(a.concat(&b).to_bigint(), (&x << width) + &y);
                }
            }
        }
    }

    #[test]
    fn shifts_take_any_amount() {
        for width in [1, 8, 64, 65, 130] {
            for a in samples(width) {
                for amount in [0, 1, 7, 63, 64, 65, 129, 130, 1 << 40] {
                    let capped = amount.min(300) as usize;
                    assert_eq!(a.shl(amount), Bits::from_bigint(width, &(a.to_bigint() << capped)));
                    assert_eq!(a.shr(amount), Bits::from_bigint(width, &(a.to_bigint() >> capped)));
                    assert_eq!(a.sar(amount), Bits::from_bigint(width, &(a.to_signed_bigint() >> capped)));
                }
            }
        }
    }

    #[test]
    fn saturation_clamps_at_both_ends() {
        assert_eq!(bits(8, 250).saturating_add(&bits(8, 10)), bits(8, 255));
        assert_eq!(bits(8, 5).saturating_sub(&bits(8, 10)), bits(8, 0));
        assert_eq!(bits(8, 120).signed_saturating_add(&bits(8, 10)), bits(8, 127));
        assert_eq!(bits(8, 0x80).signed_saturating_sub(&bits(8, 1)), bits(8, 0x80));
    }

    #[test]
    fn packet_bits_are_big_endian_and_bounded() {
        let bytes = [0x12, 0x34, 0x56];
        assert_eq!(Bits::from_packet(12, &bytes, 4), bits(12, 0x234));
        assert_eq!(Bits::from_packet(16, &bytes, 16), bits(16, 0x5600));
        let mut out = [0xff; 3];
        bits(12, 0x234).to_packet(&mut out, 4);
        assert_eq!(out, [0xf2, 0x34, 0xff]);
        bits(16, 0xabcd).to_packet(&mut out, 16);
        assert_eq!(out, [0xf2, 0x34, 0xab]);
    }

    #[test]
    fn packets_have_values_at_any_bit() {
        let pattern: Vec<u8> = (0..40u32).map(|it| (it * 73 + 41) as u8).collect();
        let bit = |bytes: &[u8], at: usize| bytes.get(at / 8).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1);
        for width in (0..=17).chain([31, 32, 33, 48, 63, 64, 65, 96, 127, 128, 129, 200]) {
            for offset in (0..=17).chain([63, 64, 65, 250, 310, 320, 330]) {
                let value = Bits::from_packet(width, &pattern, offset);
                let wanted = (0..width as usize).map(|at| bit(&pattern, offset + at));
                assert!(wanted.eq((0..width).rev().map(|at| value.bit(at))), "{width} at {offset}");
                let mut written: Vec<u8> = pattern.iter().map(|byte| !byte).collect();
                let before = written.clone();
                value.to_packet(&mut written, offset);
                for at in 0..pattern.len() * 8 {
                    let is_inside = (offset..offset + width as usize).contains(&at);
                    let from = if is_inside { &pattern } else { &before };
                    assert_eq!(bit(&written, at), bit(from, at), "{width} at {offset}: bit {at}");
                }
            }
        }
    }

    #[test]
    fn slices_and_bytes() {
        assert_eq!(bits(16, 0xabcd).slice(11, 4), bits(8, 0xbc));
        assert_eq!(bits(16, 0xabcd).with_slice(11, 4, &bits(8, 0x12)), bits(16, 0xa12d));
        assert_eq!(bits(12, 0xabc).to_be_bytes(), [0x0a, 0xbc]);
        assert_eq!(Bits::from_be_bytes(12, &[0xfa, 0xbc]), bits(12, 0xabc));
        assert_eq!(bits(4, 0xc).sign_resize(8), bits(8, 0xfc));
        assert_eq!(Bits::zero(0).to_be_bytes(), Vec::<u8>::new());
    }
}
