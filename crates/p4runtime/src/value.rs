//! Values as they are sent: strings of bytes for bits of any width.
//!
//! What enters: bytes of a message and the width that the value has in the switch, or bits. What leaves: the opposite
//! form. A value is sent in as few bytes as it needs; a received one may have any number of leading zero bytes. An
//! empty string is not a value. The translation of text is in [`crate::translator`].

use base::Bits;
use control::api::{Code, Fault};
use std::fmt::Display;

/// The bits of a string of bytes, which must fit the width.
pub(crate) fn bits(what: impl Display, width_bits: u32, bytes: &[u8]) -> Result<Bits, Fault> {
    let out_of_range = |message: String| Err(Fault::new(Code::OutOfRange, message));
    if bytes.is_empty() {
        return out_of_range(format!("{what}: the value is empty: it must have at least one byte, as \\x00 for 0"));
    }
    // Zero is written with a bit, but is the value of a field without bits.
    let needed = if values::significant(bytes).is_empty() { 0 } else { values::bits_needed(bytes) };
    if needed > u64::from(width_bits) {
        let value = shown(bytes);
        return out_of_range(format!("{what}: the value {value} needs {needed} bits, and there are {width_bits}"));
    }
    Ok(Bits::from_be_bytes(width_bits, values::significant(bytes)))
}

/// A number as a value.
pub(crate) fn number(value: u64) -> Vec<u8> {
    values::canonical(&value.to_be_bytes())
}

/// The most bytes of a value that a message shows.
const SHOWN_BYTES_MAX: usize = 20;

/// A value for messages.
pub(crate) fn shown(value: &[u8]) -> String {
    let significant = values::significant(value);
    match significant.get(..SHOWN_BYTES_MAX) {
        Some(start) if significant.len() > SHOWN_BYTES_MAX => values::hexadecimal(start) + "...",
        _ => values::hexadecimal(significant),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use values::bytes;

    /// The value of a string of bytes for a width, and how it is sent back.
    fn check(width_bits: u32, sent: &[&[u8]], expect: Expect) {
        let mut text = String::new();
        for bytes_sent in sent {
            let line = match bits("field f", width_bits, bytes_sent) {
                Ok(value) => format!("{bytes_sent:x?} = {value:?} -> {:x?}\n", bytes(&value)),
                Err(fault) => format!("{bytes_sent:x?}: {:?}: {fault}\n", fault.code),
            };
            text.push_str(&line);
        }
        expect.assert_eq(&text);
    }

    #[test]
    fn any_number_of_zero_bytes_in_front_is_accepted() {
        check(
            8,
            &[&[0x63], &[0, 0x63], &[0], &[0, 0, 0], &[], &[1, 0x63]],
            expect![[r#"
            [63] = 8w0x63 -> [63]
            [0, 63] = 8w0x63 -> [63]
            [0] = 8w0x0 -> [0]
            [0, 0, 0] = 8w0x0 -> [0]
            []: OutOfRange: field f: the value is empty: it must have at least one byte, as \x00 for 0
            [1, 63]: OutOfRange: field f: the value 0x163 needs 9 bits, and there are 8
        "#]],
        );
    }

    #[test]
    fn the_width_counts_in_bits() {
        check(
            12,
            &[&[0x63], &[0, 0, 0x63], &[0x0F, 0xFF], &[0x10, 0x63], &[1, 0, 0x63]],
            expect![[r#"
            [63] = 12w0x63 -> [63]
            [0, 0, 63] = 12w0x63 -> [63]
            [f, ff] = 12w0xfff -> [f, ff]
            [10, 63]: OutOfRange: field f: the value 0x1063 needs 13 bits, and there are 12
            [1, 0, 63]: OutOfRange: field f: the value 0x10063 needs 17 bits, and there are 12
        "#]],
        );
        check(
            0,
            &[&[0], &[0, 0], &[1]],
            expect![[r#"
            [0] = 0w0x0 -> [0]
            [0, 0] = 0w0x0 -> [0]
            [1]: OutOfRange: field f: the value 0x1 needs 1 bits, and there are 0
        "#]],
        );
        check(
            1,
            &[&[1], &[2]],
            expect![[r#"
            [1] = 1w0x1 -> [1]
            [2]: OutOfRange: field f: the value 0x2 needs 2 bits, and there are 1
        "#]],
        );
        check(
            129,
            &[&[1; 17], &[2; 17]],
            expect![[r#"
            [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] = 129w0x101010101010101010101010101010101 -> [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
            [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]: OutOfRange: field f: the value 0x202020202020202020202020202020202 needs 130 bits, and there are 129
        "#]],
        );
    }
}
