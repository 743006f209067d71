//! The hash functions, computed bit by bit from their definitions.
//!
//! What enters: bytes. What leaves: a number of the function's width. The functions are slow on purpose: native code
//! has its own fast ones, which tests compare with these.

use base::Bits;
use ir::{CalculationId, CrcParameters, HashAlgorithm};

/// The function's value over `bytes`, in the function's own width. `custom` gives the width and the parameters of a
/// calculation.
pub fn hash(
    algorithm: HashAlgorithm,
    bytes: &[u8],
    custom: impl FnOnce(CalculationId) -> (u32, CrcParameters),
) -> Bits {
    match algorithm {
        HashAlgorithm::Custom(calculation) => {
            let (width_bits, parameters) = custom(calculation);
            Bits::from_u64(width_bits, u64::from(crc(bytes, width_bits, &parameters)))
        }
        HashAlgorithm::Continued(calculation) => {
            let (width_bits, parameters) = custom(calculation);
            let (before, bytes) = continued(bytes);
            Bits::from_u64(width_bits, u64::from(crc_continued(before, bytes, width_bits, &parameters)))
        }
        HashAlgorithm::Crc32Continued => {
            let (before, bytes) = continued(bytes);
            Bits::from_u64(32, u64::from(!crc_reflected(bytes, 0x04C1_1DB7, 32, !before)))
        }
        HashAlgorithm::Crc16Continued => {
            let (before, bytes) = continued(bytes);
            Bits::from_u64(16, u64::from(crc_reflected(bytes, 0x8005, 16, before & 0xffff)))
        }
        HashAlgorithm::Remainder { width_bits, polynomial } => {
            Bits::from_u64(width_bits, remainder(bytes, width_bits, polynomial))
        }
        HashAlgorithm::Crc32 => Bits::from_u64(32, u64::from(crc32(bytes))),
        HashAlgorithm::Crc16 => Bits::from_u64(16, u64::from(crc16(bytes))),
        HashAlgorithm::CrcCcitt => Bits::from_u64(16, u64::from(crc_ccitt(bytes))),
        HashAlgorithm::Csum16 => Bits::from_u64(16, u64::from(csum16(bytes))),
        HashAlgorithm::Xor16 => Bits::from_u64(16, u64::from(xor16(bytes))),
        HashAlgorithm::Identity => Bits::from_u64(64, identity(bytes)),
    }
}

/// Splits the input of a continued hash into the hash of the preceding data and the data to continue with.
fn continued(bytes: &[u8]) -> (u32, &[u8]) {
    let (before, bytes) = bytes.split_at(bytes.len().min(4));
    (before.iter().fold(0, |before, byte| before << 8 | u32::from(*byte)), bytes)
}

/// The CRC of Ethernet (IEEE 802.3): polynomial 0x04C11DB7, reflected (bits of a byte lowest first), initial value
/// and final xor all ones.
pub fn crc32(bytes: &[u8]) -> u32 {
    !crc_reflected(bytes, 0x04C1_1DB7, 32, 0xFFFF_FFFF)
}

/// CRC-16 (ARC): polynomial 0x8005, reflected (bits of a byte lowest first), initial value 0.
pub fn crc16(bytes: &[u8]) -> u16 {
    crc_reflected(bytes, 0x8005, 16, 0) as u16
}

/// A CRC of 1 to 32 bits with any parameters, by polynomial division, the highest bit first.
pub fn crc(bytes: &[u8], width_bits: u32, parameters: &CrcParameters) -> u32 {
    let (top, mask) = (1 << (width_bits - 1), u32::MAX >> (32 - width_bits));
    let mut remainder = parameters.initial & mask;
    for byte in bytes {
        let byte = if parameters.reflects_data { byte.reverse_bits() } else { *byte };
        for bit in (0..8).rev() {
            let feedback = (remainder & top != 0) ^ (byte >> bit & 1 != 0);
            remainder = remainder << 1 & mask ^ if feedback { parameters.polynomial & mask } else { 0 };
        }
    }
    if parameters.reflects_remainder {
        remainder = remainder.reverse_bits() >> (32 - width_bits);
    }
    (remainder ^ parameters.final_xor) & mask
}

/// Continues a CRC: the CRC of some data followed by `bytes`, where `before` is the CRC of that data. The final xor
/// and reflection of `before` are undone, which gives the remainder from which the division continues.
pub fn crc_continued(before: u32, bytes: &[u8], width_bits: u32, parameters: &CrcParameters) -> u32 {
    let mut remainder = (before ^ parameters.final_xor) & (u32::MAX >> (32 - width_bits));
    if parameters.reflects_remainder {
        remainder = remainder.reverse_bits() >> (32 - width_bits);
    }
    crc(bytes, width_bits, &CrcParameters { initial: remainder, ..*parameters })
}

/// The remainder of a polynomial over GF(2), highest power first, on division by x^`width_bits` + `polynomial`.
pub fn remainder(bytes: &[u8], width_bits: u32, polynomial: u32) -> u64 {
    let divisor = 1 << width_bits | u64::from(polynomial);
    let mut remainder = 0;
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)) {
        remainder = remainder << 1 | u64::from(bit);
        if remainder >> width_bits == 1 {
            remainder ^= divisor;
        }
    }
    remainder
}

/// CRC-CCITT: polynomial 0x1021, not reflected (bits of a byte highest first), initial value 0xFFFF.
pub fn crc_ccitt(bytes: &[u8]) -> u16 {
    let mut remainder: u16 = 0xFFFF;
    for byte in bytes {
        for bit in (0..8).rev() {
            let feedback = (remainder >> 15) ^ u16::from(byte >> bit & 1);
            remainder = (remainder << 1) ^ if feedback == 1 { 0x1021 } else { 0 };
        }
    }
    remainder
}

/// Reflected division: by a polynomial of `width` bits, with every byte and the remainder read lowest bit first.
fn crc_reflected(bytes: &[u8], polynomial: u32, width: u32, start: u32) -> u32 {
    let polynomial = polynomial.reverse_bits() >> (32 - width);
    let mut remainder = start;
    for byte in bytes {
        for bit in 0..8 {
            let feedback = (remainder & 1) ^ u32::from(byte >> bit & 1);
            remainder = (remainder >> 1) ^ if feedback == 1 { polynomial } else { 0 };
        }
    }
    remainder
}

/// The Internet checksum (RFC 1071): the complement of the ones' complement sum of the 16-bit words.
pub fn csum16(bytes: &[u8]) -> u16 {
    let mut sum: u16 = 0;
    for word in words(bytes) {
        let (wrapped, carry) = sum.overflowing_add(word);
        sum = wrapped + u16::from(carry);
    }
    !sum
}

/// The xor of all 16-bit words.
pub fn xor16(bytes: &[u8]) -> u16 {
    words(bytes).fold(0, |sum, word| sum ^ word)
}

/// The big-endian number in the first 8 bytes.
pub fn identity(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The 16-bit words of `bytes`. An odd last byte is padded with zeros on the right.
fn words(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The input for which catalogues of CRCs publish check values.
    const CHECK: &[u8] = b"123456789";

    #[test]
    fn crcs_have_their_published_check_values() {
        assert_eq!(crc32(CHECK), 0xCBF4_3926);
        assert_eq!(crc16(CHECK), 0xBB3D);
        assert_eq!(crc_ccitt(CHECK), 0x29B1);
    }

    /// Checks a CRC with these parameters against its published check value.
    fn check_crc(width_bits: u32, [polynomial, initial, final_xor]: [u32; 3], reflects: [bool; 2], check: u32) {
        let [reflects_data, reflects_remainder] = reflects;
        let parameters = CrcParameters { polynomial, initial, final_xor, reflects_data, reflects_remainder };
        assert_eq!(crc(CHECK, width_bits, &parameters), check, "{parameters:x?}");
    }

    #[test]
    fn custom_crcs_have_their_published_check_values() {
        assert_eq!(crc(CHECK, 16, &CrcParameters::standard(16)), 0xBB3D);
        assert_eq!(crc(CHECK, 32, &CrcParameters::standard(32)), 0xCBF4_3926);
        // CRC-16/IBM-3740, XMODEM, GENIBUS, DNP, TMS37157 (its initial value is not symmetric).
        check_crc(16, [0x1021, 0xFFFF, 0], [false, false], 0x29B1);
        check_crc(16, [0x1021, 0, 0], [false, false], 0x31C3);
        check_crc(16, [0x1021, 0xFFFF, 0xFFFF], [false, false], 0xD64E);
        check_crc(16, [0x3D65, 0, 0xFFFF], [true, true], 0xEA82);
        check_crc(16, [0x1021, 0x89EC, 0], [true, true], 0x26B1);
        // CRC-32/BZIP2, MPEG-2, ISCSI (Castagnoli), AUTOSAR, XFER.
        check_crc(32, [0x04C1_1DB7, 0xFFFF_FFFF, 0xFFFF_FFFF], [false, false], 0xFC89_1918);
        check_crc(32, [0x04C1_1DB7, 0xFFFF_FFFF, 0], [false, false], 0x0376_E6E7);
        check_crc(32, [0x1EDC_6F41, 0xFFFF_FFFF, 0xFFFF_FFFF], [true, true], 0xE306_9283);
        check_crc(32, [0xF4AC_FB13, 0xFFFF_FFFF, 0xFFFF_FFFF], [true, true], 0x1697_D06A);
        check_crc(32, [0x0000_00AF, 0, 0], [false, false], 0xBD0B_E338);
    }

    /// A CRC is the remainder of the data times x^width; the table of the (7, 4) code is that of textbooks.
    #[test]
    fn remainders_are_those_of_crcs_without_their_shift() {
        let shifted = [CHECK, &[0, 0]].concat();
        let xmodem = CrcParameters {
            initial: 0,
            reflects_data: false,
            reflects_remainder: false,
            final_xor: 0,
            polynomial: 0x1021,
        };
        assert_eq!(remainder(&shifted, 16, 0x1021), u64::from(crc(CHECK, 16, &xmodem)));
        let of_single_bits: Vec<u64> = (0..8).map(|bit| remainder(&[1 << bit], 3, 3)).collect();
        assert_eq!(of_single_bits, [1, 2, 4, 3, 6, 7, 5, 1]);
    }

    #[test]
    fn checksum_agrees_with_the_example_of_rfc_1071() {
        assert_eq!(csum16(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(csum16(&[0x00, 0x01, 0xf2]), !0xf201);
        assert_eq!(csum16(&[]), 0xffff);
    }

    #[test]
    fn checksum_of_a_header_with_its_checksum_is_zero() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8,
            0x00, 0xc7,
        ];
        assert_eq!(csum16(&header), 0);
    }

    #[test]
    fn words_are_xored_and_padded_on_the_right() {
        assert_eq!(xor16(&[0x12, 0x34, 0xff, 0x00, 0xab]), 0x1234 ^ 0xff00 ^ 0xab00);
    }

    #[test]
    fn identity_is_the_first_eight_bytes() {
        assert_eq!(identity(&[1, 2]), 0x0102);
        assert_eq!(identity(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), 0x0102_0304_0506_0708);
    }
}
