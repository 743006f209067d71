//! The values of integer and string literals.

use crate::ast::{Base, IntegerLiteral};
use num_bigint::BigInt;

/// The most digits of an integer literal: more than the widest type needs in any base.
const DIGITS_MAX: usize = 2 * base::limits::WIDTH_BITS_MAX as usize;

/// The value of an integer literal such as `10`, `0x_ff`, `8w255`, `4s0b1010`, or an error message.
pub(crate) fn parse_integer(text: &str) -> Result<IntegerLiteral, String> {
    let (width, is_signed, number) = match text.find(['w', 's']) {
        Some(at) => {
            let digits = &text[..at];
            let width = digits.parse::<u32>().map_err(|_| format!("`{}` is not a width", shortened(digits)))?;
            (Some(width), text.as_bytes()[at] == b's', &text[at + 1..])
        }
        None => (None, false, text),
    };
    let (base, radix, digits) = match number.as_bytes() {
        [b'0', b'x' | b'X', ..] => (Base::Hexadecimal, 16, &number[2..]),
        [b'0', b'o' | b'O', ..] => (Base::Octal, 8, &number[2..]),
        [b'0', b'b' | b'B', ..] => (Base::Binary, 2, &number[2..]),
        [b'0', b'd' | b'D', ..] => (Base::Decimal, 10, &number[2..]),
        _ => (Base::Decimal, 10, number),
    };
    if number.starts_with('_') {
        return Err("an integer begins with a digit".into());
    }
    let mut values = Vec::with_capacity(digits.len());
    for character in digits.chars().filter(|&character| character != '_') {
        match character.to_digit(radix) {
            Some(digit) => values.push(digit as u8),
            None => return Err(format!("`{character}` is not a digit in base {radix}")),
        }
    }
    if values.is_empty() {
        return Err("it has no digits".into());
    }
    if values.len() > DIGITS_MAX {
        return Err(format!("it has more than {DIGITS_MAX} digits"));
    }
    let value = BigInt::from_radix_be(num_bigint::Sign::Plus, &values, radix).unwrap_or_default();
    Ok(IntegerLiteral { value, width, is_signed, base })
}

fn shortened(text: &str) -> &str {
    text.get(..20).unwrap_or(text)
}

/// A string's content with its escapes resolved, and the first unknown escape (which stays as written).
pub(crate) fn unescape(raw: &str) -> (String, Option<char>) {
    let mut text = String::with_capacity(raw.len());
    let mut unknown = None;
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some(same @ ('"' | '\\')) => text.push(same),
            Some(other) => {
                unknown = unknown.or(Some(other));
                text.extend(['\\', other]);
            }
            None => text.push('\\'),
        }
    }
    (text, unknown)
}

/// A string in quotation marks, with escapes.
pub(crate) fn escape(text: &str) -> String {
    let mut raw = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => raw.push_str("\\\""),
            '\\' => raw.push_str("\\\\"),
            '\n' => raw.push_str("\\n"),
            '\t' => raw.push_str("\\t"),
            '\r' => raw.push_str("\\r"),
            other => raw.push(other),
        }
    }
    raw
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let shown = match parse_integer(text) {
            Ok(literal) => {
                let width = literal.width.map(|width| format!("{width}{}", if literal.is_signed { "s" } else { "w" }));
                format!("{}{} {:?}", width.unwrap_or_default(), literal.value, literal.base)
            }
            Err(message) => format!("error: {message}"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn all_bases_and_widths() {
        check("10", expect!["10 Decimal"]);
        check("0x_Ff", expect!["255 Hexadecimal"]);
        check("8w0b1111_0000", expect!["8w240 Binary"]);
        check("4s0o17", expect!["4s15 Octal"]);
        check("16w0d9", expect!["16w9 Decimal"]);
        check(
            "128w0xffffffffffffffffffffffffffffffff",
            expect!["128w340282366920938463463374607431768211455 Hexadecimal"],
        );
    }

    #[test]
    fn malformed_integers() {
        check("12abc", expect!["error: `a` is not a digit in base 10"]);
        check("0b2", expect!["error: `2` is not a digit in base 2"]);
        check("0x", expect!["error: it has no digits"]);
        check("8w", expect!["error: it has no digits"]);
        check("8w_1", expect!["error: an integer begins with a digit"]);
        check("99999999999w1", expect!["error: `99999999999` is not a width"]);
        check(&"9".repeat(100_000), expect!["error: it has more than 65536 digits"]);
    }

    #[test]
    fn escapes_round_trip() {
        let text = "a\"b\\c\n\t\r é";
        assert_eq!(unescape(&escape(text)), (text.to_string(), None));
        assert_eq!(unescape("\\q"), ("\\q".to_string(), Some('q')));
    }
}
