//! Numbers: from text as users write it, and as the bytes in which messages have them.

use crate::Problem;
use base::Bits;
use num_bigint::BigInt;

/// The longest number that is accepted: the widest value in binary digits, with room for `_`.
const DIGITS_MAX: usize = 2 * base::limits::WIDTH_BITS_MAX as usize;

/// The number that `text` denotes: decimal, or with `0x`, `0b` or `0o`; with `-` in front and `_` between digits.
pub fn number(text: &str) -> Option<BigInt> {
    if text.len() > DIGITS_MAX {
        return None;
    }
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, radix) = match magnitude.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&magnitude[2..], 16),
        [b'0', b'b' | b'B', ..] => (&magnitude[2..], 2),
        [b'0', b'o' | b'O', ..] => (&magnitude[2..], 8),
        _ => (magnitude, 10),
    };
    let is_digit = |c: char| c == '_' || c.is_digit(radix);
    if digits.is_empty() || digits.starts_with('_') || digits.ends_with('_') || !digits.chars().all(is_digit) {
        return None;
    }
    let value = match u64::from_str_radix(digits, radix) {
        Ok(small) => BigInt::from(small),
        Err(_) => BigInt::parse_bytes(digits.replace('_', "").as_bytes(), radix)?,
    };
    Some(if negative { -value } else { value })
}

/// A number from 0 to `greatest`. `what` names it for messages.
pub fn unsigned(text: &str, greatest: u64, what: &str) -> Result<u64, Problem> {
    let number = number(text)
        .ok_or_else(|| Problem::new(format!("{text} is not a valid {what}")).with_help("it is a number"))?;
    match u64::try_from(&number) {
        Ok(number) if number <= greatest => Ok(number),
        _ => Err(Problem::new(format!("{text} is not a valid {what}"))
            .with_help(format!("it is a number from 0 to {greatest}"))),
    }
}

/// The bytes of a number without zeros in front; none for 0.
pub fn significant(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    &bytes[zeros..]
}

/// How many bits the number of these bytes needs, at least one.
pub fn bits_needed(bytes: &[u8]) -> u64 {
    let significant = significant(bytes);
    match significant.first() {
        None => 1,
        Some(first) => significant.len() as u64 * 8 - u64::from(first.leading_zeros()),
    }
}

/// The number in P4Runtime's canonical form: as few bytes as it needs, and at least one.
pub fn canonical(bytes: &[u8]) -> Vec<u8> {
    match significant(bytes) {
        [] => vec![0],
        significant => significant.to_vec(),
    }
}

/// Bits in P4Runtime's canonical form.
pub fn bytes(value: &Bits) -> Vec<u8> {
    canonical(&value.to_be_bytes())
}

/// The number of these bytes in hexadecimal, without zeros in front.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match digits.trim_start_matches('0') {
        "" => "0x0".to_owned(),
        digits => format!("0x{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_as_few_as_the_number_needs() {
        assert_eq!(canonical(&[0, 0, 7, 0]), [7, 0]);
        assert_eq!(canonical(&[]), [0]);
        assert_eq!(bytes(&Bits::zero(48)), [0]);
        assert_eq!([0, 1, 255, 256, 0x1_0000].map(|it| bytes(&Bits::from_u64(64, it)).len()), [1, 1, 1, 2, 3]);
        assert_eq!(bits_needed(&[0, 1, 0x63]), 9);
        assert_eq!(hexadecimal(&[0, 0x0a, 0]), "0xa00");
    }

    #[test]
    fn a_number_of_many_digits_is_refused_at_once() {
        assert_eq!(number(&"9".repeat(DIGITS_MAX + 1)), None);
    }
}
