//! From a match of a key as users write it to what an entry requires.
//!
//! Every form has at most two parts: a value, and a prefix length, a mask or an upper bound. Text has a sign between
//! them ([`entry_key`]); lists of JSON and packet tests have parts already ([`from_parts`]).

use crate::{Problem, ValueTarget, number, value};
use base::{Bits, FieldMatch, MatchKind};

/// The signs between the parts of a match as people see it: before a mask, and before an upper bound.
pub const SIGNS: [&str; 2] = ["&&&", ".."];

/// What the two parts of a match of this kind are; `None` if it is one value.
pub fn part_names(kind: MatchKind) -> Option<[&'static str; 2]> {
    match kind {
        MatchKind::Exact | MatchKind::Optional => None,
        MatchKind::Lpm => Some(["value", "prefix length"]),
        MatchKind::Ternary => Some(["value", "mask"]),
        MatchKind::Range => Some(["low", "high"]),
    }
}

/// The match of a key that `text` denotes, in the form that `simple_switch_CLI` has for the match kind: `v`,
/// `v/length`, `v&&&mask`, `low->high`; a range also as `low..high`, a ternary key also as `v/length`, and any but an
/// exact key as `*` for anything.
pub fn entry_key(text: &str, target: &ValueTarget<'_>, kind: MatchKind) -> Result<FieldMatch, Problem> {
    if let ("*", Some(any)) = (text, FieldMatch::any(kind, target.width())) {
        return Ok(any);
    }
    let parts = match kind {
        MatchKind::Exact => None,
        MatchKind::Optional if text == "_" => return Ok(FieldMatch::Optional(None)),
        MatchKind::Lpm => text.split_once('/'),
        MatchKind::Ternary | MatchKind::Optional => text.split_once("&&&"),
        MatchKind::Range => text.split_once("->").or_else(|| text.split_once("..")),
    };
    match (parts, text.split_once('/')) {
        (Some((first, second)), _) => from_parts(kind, first, Some(second), target),
        (None, Some((address, length))) if kind == MatchKind::Ternary => under_prefix(address, length, target),
        (None, _) => from_parts(kind, text, None, target),
    }
}

/// The match of these parts. An optional key may have a mask: of all bits, or none.
pub fn from_parts(
    kind: MatchKind,
    first: &str,
    second: Option<&str>,
    target: &ValueTarget<'_>,
) -> Result<FieldMatch, Problem> {
    let bits = |text| value(text, target);
    match (kind, second) {
        (MatchKind::Exact, None) => Ok(FieldMatch::Exact(bits(first)?)),
        (MatchKind::Exact, Some(_)) => Err(Problem::new(format!("{target} is matched exactly: it takes one value"))),
        (MatchKind::Lpm, Some(length)) => {
            let (value, prefix_len) = (bits(first)?, prefix_length(length, target)?);
            Ok(FieldMatch::Lpm { value: value.and(&Bits::leading_ones(value.width(), prefix_len)), prefix_len })
        }
        (MatchKind::Ternary, Some(mask)) => Ok(ternary(&bits(first)?, bits(mask)?)),
        (MatchKind::Range, Some(high)) => range(bits(first)?, bits(high)?, target),
        (MatchKind::Optional, None) => Ok(FieldMatch::Optional(Some(bits(first)?))),
        (MatchKind::Optional, Some(mask)) => optional(bits(first)?, &bits(mask)?, target),
        (MatchKind::Lpm | MatchKind::Ternary | MatchKind::Range, None) => Err(one_part_missing(kind, first, target)),
    }
}

/// What the user must write for one value alone.
fn one_part_missing(kind: MatchKind, text: &str, target: &ValueTarget<'_>) -> Problem {
    let width = target.width();
    let (message, form) = match kind {
        MatchKind::Lpm => {
            (format!("{text} has no prefix length, {target} is matched by longest prefix"), format!("{text}/{width}"))
        }
        MatchKind::Range => {
            (format!("{text} is not a valid range, {target} is matched by range"), format!("{text}->{text}"))
        }
        _ => {
            (format!("{text} has no mask, {target} is matched under a mask"), format!("{text}&&&{}", Bits::ones(width)))
        }
    };
    Problem::new(message).with_help(format!("write {form} for this value alone"))
}

fn under_prefix(address: &str, length: &str, target: &ValueTarget<'_>) -> Result<FieldMatch, Problem> {
    let (value, prefix_len) = (value(address, target)?, prefix_length(length, target)?);
    Ok(ternary(&value, Bits::leading_ones(value.width(), prefix_len)))
}

/// A value under a mask; bits outside the mask are dropped.
fn ternary(value: &Bits, mask: Bits) -> FieldMatch {
    FieldMatch::Ternary { value: value.and(&mask), mask }
}

/// A range that is not empty.
fn range(low: Bits, high: Bits, target: &ValueTarget<'_>) -> Result<FieldMatch, Problem> {
    if low.cmp_unsigned(&high).is_gt() {
        return Err(Problem::new(format!(
            "the range {low} to {high} of {target} is empty: the lower bound comes first"
        )));
    }
    Ok(FieldMatch::Range { low, high })
}

/// An optional key in the form of a mask: all bits, or none.
fn optional(value: Bits, mask: &Bits, target: &ValueTarget<'_>) -> Result<FieldMatch, Problem> {
    if mask.is_zero() {
        Ok(FieldMatch::Optional(None))
    } else if *mask == Bits::ones(mask.width()) {
        Ok(FieldMatch::Optional(Some(value)))
    } else {
        Err(Problem::new(format!("the mask {mask} has some bits, {target} is optional: all bits or none")))
    }
}

fn prefix_length(text: &str, target: &ValueTarget<'_>) -> Result<u32, Problem> {
    let width = target.width();
    let Some(length) = number(text).and_then(|length| length.to_biguint()) else {
        return Err(
            Problem::new(format!("{text} is not a valid prefix length")).with_help(format!("it takes 0 to {width}"))
        );
    };
    match u32::try_from(&length) {
        Ok(length) if length <= width => Ok(length),
        _ => Err(Problem::new(format!("the prefix length {length} is too long, {target} has {width} bits"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use ir::Type;

    fn check_key(text: &str, kind: MatchKind, expected: Expect) {
        let target = ValueTarget { role: "key", name: "hdr.x", ty: Type::Bit(32) };
        let answer = match entry_key(text, &target, kind) {
            Ok(key) => format!("{key:?}"),
            Err(problem) => problem.to_string(),
        };
        expected.assert_eq(&answer);
    }

    #[test]
    fn each_match_kind_has_its_form() {
        check_key("7", MatchKind::Exact, expect!["Exact(32w0x7)"]);
        check_key("10.0.1.1/24", MatchKind::Lpm, expect!["Lpm { value: 32w0xa000100, prefix_len: 24 }"]);
        check_key("0.0.0.0/0", MatchKind::Lpm, expect!["Lpm { value: 32w0x0, prefix_len: 0 }"]);
        check_key("0xff&&&0x0f", MatchKind::Ternary, expect!["Ternary { value: 32w0xf, mask: 32w0xf }"]);
        check_key("10.0.0.1/8", MatchKind::Ternary, expect!["Ternary { value: 32w0xa000000, mask: 32w0xff000000 }"]);
        check_key("1->5", MatchKind::Range, expect!["Range { low: 32w0x1, high: 32w0x5 }"]);
        check_key("10.0.0.1..10.0.0.9", MatchKind::Range, expect!["Range { low: 32w0xa000001, high: 32w0xa000009 }"]);
        check_key("*", MatchKind::Lpm, expect!["Lpm { value: 32w0x0, prefix_len: 0 }"]);
        check_key("5", MatchKind::Optional, expect!["Optional(Some(32w0x5))"]);
        check_key("*", MatchKind::Optional, expect!["Optional(None)"]);
        check_key("5&&&0xffffffff", MatchKind::Optional, expect!["Optional(Some(32w0x5))"]);
    }

    #[test]
    fn a_form_of_another_kind_says_what_to_write() {
        check_key(
            "10.0.0.1",
            MatchKind::Lpm,
            expect![[r#"
                10.0.0.1 has no prefix length, key hdr.x is matched by longest prefix
                  help: write 10.0.0.1/32 for this value alone"#]],
        );
        check_key(
            "5",
            MatchKind::Ternary,
            expect![[r#"
                5 has no mask, key hdr.x is matched under a mask
                  help: write 5&&&0xffffffff for this value alone"#]],
        );
        check_key(
            "5",
            MatchKind::Range,
            expect![[r#"
                5 is not a valid range, key hdr.x is matched by range
                  help: write 5->5 for this value alone"#]],
        );
        check_key("10.0.0.0/33", MatchKind::Lpm, expect!["the prefix length 33 is too long, key hdr.x has 32 bits"]);
        check_key(
            "5->1",
            MatchKind::Range,
            expect!["the range 0x5 to 0x1 of key hdr.x is empty: the lower bound comes first"],
        );
        check_key(
            "5&&&1",
            MatchKind::Optional,
            expect!["the mask 0x1 has some bits, key hdr.x is optional: all bits or none"],
        );
    }
}
