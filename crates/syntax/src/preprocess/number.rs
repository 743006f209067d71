//! The integers of conditions: 64 bits with or without a sign, as in a C preprocessor. An operation with an unsigned
//! operand is unsigned.

use crate::literal;

/// An integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    bits: u64,
    is_unsigned: bool,
}

impl From<bool> for Number {
    fn from(value: bool) -> Number {
        Number::signed(i64::from(value))
    }
}

impl Number {
    fn signed(value: i64) -> Number {
        Number { bits: value.cast_unsigned(), is_unsigned: false }
    }

    /// An integer in C's notation: `0755` is octal, and `L` and `U` may follow. What only fits without a sign has none.
    pub fn of_integer(text: &str) -> Result<Number, String> {
        let digits = text.trim_end_matches(['l', 'L', 'u', 'U']);
        let digits = if digits.is_empty() { text } else { digits };
        let is_octal = digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|it| it.is_ascii_digit());
        let bits = if is_octal {
            u64::from_str_radix(digits, 8).map_err(|_| "this is not a 64-bit octal number")?
        } else {
            u64::try_from(&literal::parse_integer(digits)?.value).map_err(|_| "this number has more than 64 bits")?
        };
        let is_unsigned = text[digits.len()..].contains(['u', 'U']) || i64::try_from(bits).is_err();
        Ok(Number { bits, is_unsigned })
    }

    /// A character constant with its quotation marks. Of several characters the first counts most; a single one has
    /// the sign of C's `char` on most machines.
    pub fn of_characters(text: &str) -> Result<Number, String> {
        let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or_default();
        let mut rest = inside.as_bytes();
        let mut bytes = Vec::new();
        while let Some((&first, behind)) = rest.split_first() {
            let (byte, after) = if first == b'\\' { escaped(behind)? } else { (first, behind) };
            bytes.push(byte);
            rest = after;
        }
        match bytes.as_slice() {
            [] => Err("a value is expected here".into()),
            [byte] => Ok(Number::signed(i64::from(byte.cast_signed()))),
            bytes if bytes.len() > 4 => Err("a character constant has at most four characters".into()),
            bytes => {
                let value = bytes.iter().fold(0, |value: u32, &byte| value << 8 | u32::from(byte));
                Ok(Number::signed(i64::from(value.cast_signed())))
            }
        }
    }

    pub fn is_true(self) -> bool {
        self.bits != 0
    }

    /// What `?:` results in if it chooses this number: an alternative without a sign takes the sign away.
    pub fn beside(self, alternative: Number) -> Number {
        Number { is_unsigned: self.is_unsigned || alternative.is_unsigned, ..self }
    }

    pub fn negated(self) -> Number {
        Number { bits: self.bits.wrapping_neg(), ..self }
    }

    pub fn complement(self) -> Number {
        Number { bits: !self.bits, ..self }
    }

    /// The result of a binary operator; zero for a division by zero.
    pub fn apply(self, operator: &str, right: Number) -> Number {
        let is_unsigned = self.is_unsigned || right.is_unsigned;
        let (a, b) = (self.bits, right.bits);
        let (signed_a, signed_b) = (a.cast_signed(), b.cast_signed());
        let order = if is_unsigned { a.cmp(&b) } else { signed_a.cmp(&signed_b) };
        let bits = match operator {
            "||" => return Number::from(self.is_true() || right.is_true()),
            "&&" => return Number::from(self.is_true() && right.is_true()),
            "==" => return Number::from(order.is_eq()),
            "!=" => return Number::from(order.is_ne()),
            "<" => return Number::from(order.is_lt()),
            "<=" => return Number::from(order.is_le()),
            ">" => return Number::from(order.is_gt()),
            ">=" => return Number::from(order.is_ge()),
            "<<" if right.is_negative() => return self.shifted_right(b.wrapping_neg()),
            "<<" => return self.shifted_left(b),
            ">>" if right.is_negative() => return self.shifted_left(b.wrapping_neg()),
            ">>" => return self.shifted_right(b),
            "|" => a | b,
            "^" => a ^ b,
            "&" => a & b,
            "+" => a.wrapping_add(b),
            "-" => a.wrapping_sub(b),
            "*" => a.wrapping_mul(b),
            "/" if is_unsigned => a.checked_div(b).unwrap_or(0),
            "/" => {
                if b == 0 {
                    0
                } else {
                    signed_a.wrapping_div(signed_b).cast_unsigned()
                }
            }
            _ if is_unsigned => a.checked_rem(b).unwrap_or(0),
            _ => {
                if b == 0 {
                    0
                } else {
                    signed_a.wrapping_rem(signed_b).cast_unsigned()
                }
            }
        };
        Number { bits, is_unsigned }
    }

    fn is_negative(self) -> bool {
        !self.is_unsigned && self.bits.cast_signed() < 0
    }

    fn shifted_left(self, count: u64) -> Number {
        let bits = u32::try_from(count).ok().and_then(|count| self.bits.checked_shl(count)).unwrap_or(0);
        Number { bits, ..self }
    }

    fn shifted_right(self, count: u64) -> Number {
        let bits = match self.is_unsigned {
            true => u32::try_from(count).ok().and_then(|count| self.bits.checked_shr(count)).unwrap_or(0),
            false => (self.bits.cast_signed() >> count.min(63)).cast_unsigned(),
        };
        Number { bits, ..self }
    }
}

/// The byte of an escape sequence after the backslash, and what follows.
fn escaped(text: &[u8]) -> Result<(u8, &[u8]), String> {
    let Some((&first, behind)) = text.split_first() else { return Err("a character is missing".into()) };
    let (radix, digits, length_max) = match first {
        b'x' => (16, behind, usize::MAX),
        b'0'..=b'7' => (8, text, 3),
        _ => return simple_escape(first).map(|byte| (byte, behind)),
    };
    let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
    let length = digits.iter().take(length_max).take_while(is_digit).count();
    let (digits, after) = digits.split_at(length);
    let value = std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, radix).ok());
    value.map(|byte| (byte, after)).ok_or_else(|| "this is not the number of a character".into())
}

/// The byte of an escape sequence of one letter.
fn simple_escape(letter: u8) -> Result<u8, String> {
    match letter {
        b'n' => Ok(b'\n'),
        b't' => Ok(b'\t'),
        b'r' => Ok(b'\r'),
        b'a' => Ok(7),
        b'b' => Ok(8),
        b'v' => Ok(11),
        b'f' => Ok(12),
        b'e' | b'E' => Ok(27),
        b'\\' | b'\'' | b'"' | b'?' => Ok(letter),
        _ => Err(format!("`\\{}` is not an escape sequence", char::from(letter))),
    }
}
