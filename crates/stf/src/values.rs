//! Evaluates keys and arguments.

use crate::script::{Extent, Number, Radix, Value};
use base::{Bits, FieldMatch, MatchKind};

/// The most digits of a number. The limit exceeds the number of bits of the widest field.
const DIGITS_MAX: usize = base::limits::WIDTH_BITS_MAX as usize + 64;

/// A number's value and mask. The mask has zeros where the number has wildcard digits.
fn value_and_mask(number: &Number, width: u32) -> Result<(Bits, Bits), String> {
    let bits_per_digit = match number.radix {
        Radix::Binary => 1,
        Radix::Hexadecimal => 4,
        Radix::Decimal => return Ok((decimal(number, width)?, Bits::ones(width))),
    };
    if number.digits.len() > DIGITS_MAX {
        return Err(format!("a number of {} digits is too long", number.digits.len()));
    }
    let mut value = Bits::zero(width);
    let mut mask = Bits::zero(width);
    for (position, digit) in number.digits.chars().rev().enumerate() {
        let Some(digit) = digit.to_digit(16) else { continue };
        for bit in 0..bits_per_digit {
            let index = position as u32 * bits_per_digit + bit;
            let is_one = digit >> bit & 1 == 1;
            if index < width {
                value.set_bit(index, is_one);
                mask.set_bit(index, true);
            } else if is_one {
                return Err(too_wide(number, width));
            }
        }
    }
    Ok((value, mask))
}

fn decimal(number: &Number, width: u32) -> Result<Bits, String> {
    if number.digits.len() > DIGITS_MAX {
        return Err(format!("a number of {} digits is too long", number.digits.len()));
    }
    let ten = Bits::from_u64(width + 4, 10);
    let mut value = Bits::zero(width + 4);
    for digit in number.digits.chars() {
        value = value.mul(&ten).add(&Bits::from_u64(width + 4, u64::from(digit.to_digit(10).unwrap_or(0))));
        if !value.shr(u64::from(width)).is_zero() {
            return Err(too_wide(number, width));
        }
    }
    Ok(value.resize(width))
}

fn too_wide(number: &Number, width: u32) -> String {
    format!("{number} does not fit {width} bits")
}

/// The value of a number without wildcard digits.
pub(crate) fn exact(number: &Number, width: u32) -> Result<Bits, String> {
    if number.digits.contains('*') {
        return Err(format!("{number}: every digit must be given here"));
    }
    value_and_mask(number, width).map(|(value, _)| value)
}

/// The match of an entry for a key of this kind.
pub(crate) fn entry_key(value: &Value, width: u32, kind: MatchKind) -> Result<FieldMatch, String> {
    let number = &value.number;
    match (kind, &value.extent) {
        (MatchKind::Exact, Extent::Alone) => exact(number, width).map(FieldMatch::Exact),
        (MatchKind::Lpm, Extent::Alone | Extent::Prefix(_)) => {
            let (value, prefix_len) = prefix(value, width)?;
            let dropped = u64::from(width - prefix_len);
            Ok(FieldMatch::Lpm { value: value.shr(dropped).shl(dropped), prefix_len })
        }
        (MatchKind::Ternary, Extent::Alone) => {
            if number.radix == Radix::Decimal {
                return Err(format!("{number}: a ternary key takes a hexadecimal or binary number, as 0x0a**"));
            }
            let (value, mask) = value_and_mask(number, width)?;
            Ok(FieldMatch::Ternary { value: value.and(&mask), mask })
        }
        (MatchKind::Ternary, Extent::Prefix(_)) => {
            let (value, prefix_len) = prefix(value, width)?;
            let mask = Bits::ones(width).shl(u64::from(width - prefix_len));
            Ok(FieldMatch::Ternary { value: value.and(&mask), mask })
        }
        (MatchKind::Ternary, Extent::Mask(mask)) => {
            let (value, mask) = (exact(number, width)?, exact(mask, width)?);
            Ok(FieldMatch::Ternary { value: value.and(&mask), mask })
        }
        (MatchKind::Optional, Extent::Alone) => optional(number, width),
        (MatchKind::Range, Extent::Alone | Extent::UpTo(_)) => {
            let low = exact(number, width)?;
            let high = match &value.extent {
                Extent::UpTo(last) => exact(last, width)?,
                _ => low.clone(),
            };
            match low.cmp_unsigned(&high) {
                std::cmp::Ordering::Greater => Err(format!("{number}->...: a range begins with its least value")),
                _ => Ok(FieldMatch::Range { low, high }),
            }
        }
        (_, Extent::Prefix(_)) => Err(format!("{number}/...: only lpm and ternary keys take prefixes")),
        (_, Extent::UpTo(_)) => Err(format!("{number}->...: only range keys take ranges")),
        (_, Extent::Mask(_)) => Err(format!("{number}&&&...: only ternary keys take masks")),
    }
}

/// The value and the length of a prefix: the length is given after a slash, or by the digits before the first `*`.
fn prefix(value: &Value, width: u32) -> Result<(Bits, u32), String> {
    let number = &value.number;
    if let Extent::Prefix(length) = &value.extent {
        let length = exact(length, 32)?.low_u64();
        let length = u32::try_from(length).ok().filter(|length| *length <= width);
        let length = length.ok_or_else(|| format!("a prefix of {width} bits has at most {width} bits"))?;
        return Ok((exact(number, width)?, length));
    }
    let bits_per_digit = match number.radix {
        Radix::Decimal => return Ok((decimal(number, width)?, width)),
        Radix::Hexadecimal => 4,
        Radix::Binary => 1,
    };
    let given = number.digits.trim_end_matches('*');
    if given.contains('*') {
        return Err(format!("{number}: in a prefix, wildcard digits must be at the end"));
    }
    let length = u32::try_from(given.len()).unwrap_or(u32::MAX).saturating_mul(bits_per_digit);
    Ok((value_and_mask(number, width)?.0, length.min(width)))
}

/// An optional key is implemented as a ternary one, and its digits are compared as those of a ternary key.
fn optional(number: &Number, width: u32) -> Result<FieldMatch, String> {
    let (value, mask) = value_and_mask(number, width)?;
    Ok(if mask == Bits::ones(width) {
        FieldMatch::Optional(Some(value))
    } else if mask.is_zero() {
        FieldMatch::Optional(None)
    } else {
        FieldMatch::Ternary { value, mask }
    })
}

/// The match for a key that an entry leaves out.
pub(crate) fn unnamed(width: u32, kind: MatchKind) -> FieldMatch {
    let zero = Bits::zero(width);
    match kind {
        MatchKind::Exact => FieldMatch::Exact(zero),
        MatchKind::Lpm => FieldMatch::Lpm { value: zero, prefix_len: 0 },
        MatchKind::Ternary => FieldMatch::Ternary { value: zero.clone(), mask: zero },
        MatchKind::Optional => FieldMatch::Optional(None),
        MatchKind::Range => FieldMatch::Range { low: zero, high: Bits::ones(width) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Shows what `text` means for each kind of key of this width.
    fn check(text: &str, width: u32, expected: Expect) {
        let extent = |sign, make: fn(Number) -> Extent| {
            let (number, other) = text.split_once(sign)?;
            Some((number, make(number_of(other))))
        };
        let (number, extent) = extent("/", Extent::Prefix)
            .or_else(|| extent("->", Extent::UpTo))
            .or_else(|| extent("&&&", Extent::Mask))
            .unwrap_or((text, Extent::Alone));
        let value = Value { number: number_of(number), extent };
        let mut shown = String::new();
        for kind in [MatchKind::Exact, MatchKind::Lpm, MatchKind::Ternary, MatchKind::Optional, MatchKind::Range] {
            shown += &match entry_key(&value, width, kind) {
                Ok(key) => format!("{}\n", key_text(&key)),
                Err(message) => format!("{kind:?}: {message}\n"),
            };
        }
        expected.assert_eq(&shown);
    }

    fn number_of(text: &str) -> Number {
        match crate::lexer::tokens(text).unwrap().pop() {
            Some(crate::lexer::Token::Number(number)) => number,
            other => panic!("{other:?}"),
        }
    }

    fn key_text(key: &FieldMatch) -> String {
        match key {
            FieldMatch::Exact(value) => format!("exact {value}"),
            FieldMatch::Lpm { value, prefix_len } => format!("lpm {value}/{prefix_len}"),
            FieldMatch::Ternary { value, mask } => format!("ternary {value} &&& {mask}"),
            FieldMatch::Range { low, high } => format!("range {low}..{high}"),
            FieldMatch::Optional(value) => format!("optional {value:?}"),
        }
    }

    #[test]
    fn whole_values() {
        check(
            "0x0a00",
            16,
            expect![[r#"
                exact 0xa00
                lpm 0xa00/16
                ternary 0xa00 &&& 0xffff
                optional Some(16w0xa00)
                range 0xa00..0xa00
            "#]],
        );
    }

    #[test]
    fn digits_that_do_not_matter() {
        check(
            "0x0a**",
            16,
            expect![[r#"
                Exact: 0x0a**: every digit must be given here
                lpm 0xa00/8
                ternary 0xa00 &&& 0xff00
                ternary 0xa00 &&& 0xff00
                Range: 0x0a**: every digit must be given here
            "#]],
        );
        check(
            "0b1*1",
            9,
            expect![[r#"
                Exact: 0b1*1: every digit must be given here
                Lpm: 0b1*1: in a prefix, wildcard digits must be at the end
                ternary 0x5 &&& 0x5
                ternary 0x5 &&& 0x5
                Range: 0b1*1: every digit must be given here
            "#]],
        );
    }

    #[test]
    fn short_values_leave_the_bits_above_alone() {
        check(
            "0x5",
            32,
            expect![[r#"
                exact 0x5
                lpm 0x0/4
                ternary 0x5 &&& 0xf
                ternary 0x5 &&& 0xf
                range 0x5..0x5
            "#]],
        );
    }

    #[test]
    fn decimal_values_and_prefixes() {
        check(
            "511",
            9,
            expect![[r#"
                exact 0x1ff
                lpm 0x1ff/9
                Ternary: 511: a ternary key takes a hexadecimal or binary number, as 0x0a**
                optional Some(9w0x1ff)
                range 0x1ff..0x1ff
            "#]],
        );
        check(
            "0x0a000000/8",
            32,
            expect![[r#"
                Exact: 0x0a000000/...: only lpm and ternary keys take prefixes
                lpm 0xa000000/8
                ternary 0xa000000 &&& 0xff000000
                Optional: 0x0a000000/...: only lpm and ternary keys take prefixes
                Range: 0x0a000000/...: only lpm and ternary keys take prefixes
            "#]],
        );
    }

    #[test]
    fn ranges_and_masks() {
        check(
            "0x10->0x2f",
            16,
            expect![[r#"
            Exact: 0x10->...: only range keys take ranges
            Lpm: 0x10->...: only range keys take ranges
            Ternary: 0x10->...: only range keys take ranges
            Optional: 0x10->...: only range keys take ranges
            range 0x10..0x2f
        "#]],
        );
        check(
            "0x1210&&&0xff0f",
            16,
            expect![[r#"
            Exact: 0x1210&&&...: only ternary keys take masks
            Lpm: 0x1210&&&...: only ternary keys take masks
            ternary 0x1200 &&& 0xff0f
            Optional: 0x1210&&&...: only ternary keys take masks
            Range: 0x1210&&&...: only ternary keys take masks
        "#]],
        );
        check(
            "9->8",
            16,
            expect![[r#"
            Exact: 9->...: only range keys take ranges
            Lpm: 9->...: only range keys take ranges
            Ternary: 9->...: only range keys take ranges
            Optional: 9->...: only range keys take ranges
            Range: 9->...: a range begins with its least value
        "#]],
        );
    }

    #[test]
    fn values_that_do_not_fit() {
        check(
            "0x200",
            9,
            expect![[r#"
                Exact: 0x200 does not fit 9 bits
                Lpm: 0x200 does not fit 9 bits
                Ternary: 0x200 does not fit 9 bits
                Optional: 0x200 does not fit 9 bits
                Range: 0x200 does not fit 9 bits
            "#]],
        );
        check(
            "512",
            9,
            expect![[r#"
                Exact: 512 does not fit 9 bits
                Lpm: 512 does not fit 9 bits
                Ternary: 512: a ternary key takes a hexadecimal or binary number, as 0x0a**
                Optional: 512 does not fit 9 bits
                Range: 512 does not fit 9 bits
            "#]],
        );
    }
}
