//! Evaluates keys and arguments.
//!
//! Numbers are those of [`values`], except that digits may be wildcards, and that the number of digits says how many
//! bits matter where a key has a mask.

use crate::script::{Extent, Number, Radix, Value};
use base::{Bits, FieldMatch, MatchKind};
use control::Problem;
use ir::Type;
use values::ValueTarget;

/// A number's value and mask. The mask has zeros where the number has wildcard digits.
fn value_and_mask(number: &Number, target: &ValueTarget<'_>) -> Result<(Bits, Bits), Problem> {
    let width = target.ty.width();
    let greatest_digit = match number.radix {
        Radix::Decimal => return Ok((exact(number, target)?, Bits::ones(width))),
        Radix::Binary => '1',
        Radix::Hexadecimal => 'f',
    };
    let value = exact(&Number { digits: number.digits.replace('*', "0"), ..*number }, target)?;
    let digits = number.digits.chars().map(|digit| if digit == '*' { '0' } else { greatest_digit }).collect();
    let mask = values::number(&Number { digits, ..*number }.to_string()).unwrap_or_default();
    Ok((value, Bits::from_bigint(width, &mask)))
}

/// The value of a number without wildcard digits.
pub(crate) fn exact(number: &Number, target: &ValueTarget<'_>) -> Result<Bits, Problem> {
    if number.digits.contains('*') {
        return Err(Problem::new(format!("{target}: {number}: every digit must be given here")));
    }
    values::value(&number.to_string(), target)
}

/// The match of an entry for a key of this kind.
pub(crate) fn entry_key(value: &Value, kind: MatchKind, target: &ValueTarget<'_>) -> Result<FieldMatch, Problem> {
    let number = &value.number;
    let first = number.to_string();
    let from_parts = |kind, second: &Number| values::from_parts(kind, &first, Some(&second.to_string()), target);
    let refused = |message: &str| Err(Problem::new(format!("{target}: {number}{message}")));
    match (kind, &value.extent) {
        (MatchKind::Lpm, Extent::Alone) => {
            let (value, prefix_len) = prefix(number, target)?;
            Ok(FieldMatch::Lpm { value: value.and(&Bits::leading_ones(value.width(), prefix_len)), prefix_len })
        }
        (MatchKind::Ternary, Extent::Alone) if number.radix == Radix::Decimal => {
            refused(": a ternary key takes a hexadecimal or binary number, as 0x0a**")
        }
        (MatchKind::Ternary, Extent::Alone) => {
            let (value, mask) = value_and_mask(number, target)?;
            Ok(FieldMatch::Ternary { value, mask })
        }
        (MatchKind::Optional, Extent::Alone) => optional(number, target),
        (MatchKind::Range, Extent::Alone) => {
            let only = exact(number, target)?;
            Ok(FieldMatch::Range { low: only.clone(), high: only })
        }
        (_, Extent::Alone) => exact(number, target).and_then(|_| values::from_parts(kind, &first, None, target)),
        (MatchKind::Lpm, Extent::Prefix(length)) => from_parts(kind, length),
        (MatchKind::Ternary, Extent::Prefix(length)) => match from_parts(MatchKind::Lpm, length)? {
            FieldMatch::Lpm { value, prefix_len } => {
                let mask = Bits::leading_ones(value.width(), prefix_len);
                Ok(FieldMatch::Ternary { value, mask })
            }
            other => Ok(other),
        },
        (MatchKind::Ternary, Extent::Mask(mask)) => from_parts(kind, mask),
        (MatchKind::Range, Extent::UpTo(last)) => from_parts(kind, last),
        (_, Extent::Prefix(_)) => refused("/...: only lpm and ternary keys take prefixes"),
        (_, Extent::UpTo(_)) => refused("->...: only range keys take ranges"),
        (_, Extent::Mask(_)) => refused("&&&...: only ternary keys take masks"),
    }
}

/// The value and the length of a prefix that the digits before the first `*` give.
fn prefix(number: &Number, target: &ValueTarget<'_>) -> Result<(Bits, u32), Problem> {
    let width = target.ty.width();
    let bits_per_digit = match number.radix {
        Radix::Decimal => return Ok((exact(number, target)?, width)),
        Radix::Hexadecimal => 4,
        Radix::Binary => 1,
    };
    let given = number.digits.trim_end_matches('*');
    if given.contains('*') {
        return Err(Problem::new(format!("{target}: {number}: in a prefix, wildcard digits must be at the end")));
    }
    let length = u32::try_from(given.len()).unwrap_or(u32::MAX).saturating_mul(bits_per_digit);
    Ok((value_and_mask(number, target)?.0, length.min(width)))
}

/// An optional key is implemented as a ternary one, and its digits are compared as those of a ternary key.
fn optional(number: &Number, target: &ValueTarget<'_>) -> Result<FieldMatch, Problem> {
    let (value, mask) = value_and_mask(number, target)?;
    Ok(if mask == Bits::ones(mask.width()) {
        FieldMatch::Optional(Some(value))
    } else if mask.is_zero() {
        FieldMatch::Optional(None)
    } else {
        FieldMatch::Ternary { value, mask }
    })
}

/// The match for a key that an entry leaves out.
pub(crate) fn unnamed(width: u32, kind: MatchKind) -> FieldMatch {
    FieldMatch::any(kind, width).unwrap_or_else(|| FieldMatch::Exact(Bits::zero(width)))
}

/// What a number of this role and name is, in messages. Numbers are bits, also where the type is signed.
pub(crate) fn target<'a>(role: &'a str, name: &'a str, width: u32) -> ValueTarget<'a> {
    ValueTarget { role, name, ty: Type::Bit(width) }
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
            shown += &match entry_key(&value, kind, &target("key", "k", width)) {
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
            FieldMatch::Optional(value) => format!("optional {value:?}"),
            _ => format!("{} {}", key.kind(), key.text([" &&& ", ".."], |value, _| value.to_string())),
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
                Exact: key k: 0x0a**: every digit must be given here
                lpm 0xa00/8
                ternary 0xa00 &&& 0xff00
                ternary 0xa00 &&& 0xff00
                Range: key k: 0x0a**: every digit must be given here
            "#]],
        );
        check(
            "0b1*1",
            9,
            expect![[r#"
                Exact: key k: 0b1*1: every digit must be given here
                Lpm: key k: 0b1*1: in a prefix, wildcard digits must be at the end
                ternary 0x5 &&& 0x5
                ternary 0x5 &&& 0x5
                Range: key k: 0b1*1: every digit must be given here
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
                Ternary: key k: 511: a ternary key takes a hexadecimal or binary number, as 0x0a**
                optional Some(9w0x1ff)
                range 0x1ff..0x1ff
            "#]],
        );
        check(
            "0x0a000000/8",
            32,
            expect![[r#"
                Exact: key k: 0x0a000000/...: only lpm and ternary keys take prefixes
                lpm 0xa000000/8
                ternary 0xa000000 &&& 0xff000000
                Optional: key k: 0x0a000000/...: only lpm and ternary keys take prefixes
                Range: key k: 0x0a000000/...: only lpm and ternary keys take prefixes
            "#]],
        );
    }

    #[test]
    fn ranges_and_masks() {
        check(
            "0x10->0x2f",
            16,
            expect![[r#"
            Exact: key k: 0x10->...: only range keys take ranges
            Lpm: key k: 0x10->...: only range keys take ranges
            Ternary: key k: 0x10->...: only range keys take ranges
            Optional: key k: 0x10->...: only range keys take ranges
            range 0x10..0x2f
        "#]],
        );
        check(
            "0x1210&&&0xff0f",
            16,
            expect![[r#"
            Exact: key k: 0x1210&&&...: only ternary keys take masks
            Lpm: key k: 0x1210&&&...: only ternary keys take masks
            ternary 0x1200 &&& 0xff0f
            Optional: key k: 0x1210&&&...: only ternary keys take masks
            Range: key k: 0x1210&&&...: only ternary keys take masks
        "#]],
        );
        check(
            "9->8",
            16,
            expect![[r#"
                Exact: key k: 9->...: only range keys take ranges
                Lpm: key k: 9->...: only range keys take ranges
                Ternary: key k: 9->...: only range keys take ranges
                Optional: key k: 9->...: only range keys take ranges
                Range: the range 0x9 to 0x8 of key k is empty: the lower bound comes first
            "#]],
        );
    }

    #[test]
    fn values_that_do_not_fit() {
        check(
            "0x200",
            9,
            expect![[r#"
                Exact: 0x200 needs 10 bits, key k has 9
                Lpm: 0x200 needs 10 bits, key k has 9
                Ternary: 0x200 needs 10 bits, key k has 9
                Optional: 0x200 needs 10 bits, key k has 9
                Range: 0x200 needs 10 bits, key k has 9
            "#]],
        );
        check(
            "512",
            9,
            expect![[r#"
                Exact: 512 needs 10 bits, key k has 9
                Lpm: 512 needs 10 bits, key k has 9
                Ternary: key k: 512: a ternary key takes a hexadecimal or binary number, as 0x0a**
                Optional: 512 needs 10 bits, key k has 9
                Range: 512 needs 10 bits, key k has 9
            "#]],
        );
    }
}
