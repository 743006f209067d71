//! From a value as users write it to bits of the right width.
//!
//! A value is a number (decimal, `0x`, `0b`, `0o`, `_` between digits, `-` where the type is signed), a truth value
//! where the type is `bool`, or the address that the width suggests: IPv4 at 32 bits, a MAC address at 48, IPv6 at
//! 128. A value that does not fit is refused, never truncated.

use crate::{Problem, number};
use base::Bits;
use core::net::{Ipv4Addr, Ipv6Addr};
use ir::Type;
use num_bigint::BigInt;
use std::fmt;

/// What a value is for: its name for messages, and its type.
#[derive(Clone, Copy, Debug)]
pub struct ValueTarget<'a> {
    /// `key`, `parameter`, ...
    pub role: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub ty: Type,
}

impl ValueTarget<'_> {
    pub(crate) fn width(&self) -> u32 {
        self.ty.width()
    }

    /// What a value of this target can look like.
    fn forms(&self) -> &'static str {
        match self.ty {
            Type::Bool => "true or false",
            Type::Bit(32) => "a number such as 10, 0x0a or 0b1010, or an IPv4 address",
            Type::Bit(48) => "a number such as 10, 0x0a or 0b1010, or a MAC address",
            Type::Bit(128) => "a number such as 10, 0x0a or 0b1010, or an IPv6 address",
            _ => "a number such as 10, 0x0a or 0b1010",
        }
    }
}

impl fmt::Display for ValueTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.role, self.name)
    }
}

/// The value that `text` denotes.
pub fn value(text: &str, target: &ValueTarget<'_>) -> Result<Bits, Problem> {
    if text.contains(':') {
        return colon_address(text, target);
    }
    if text.contains('.') {
        let address: Ipv4Addr = text.parse().map_err(|_| Problem::new(format!("{text} is not an IPv4 address")))?;
        return address_bits(text, "an IPv4", 32, u128::from(u32::from(address)), target);
    }
    match (text, target.ty) {
        ("true", Type::Bool) => return Ok(Bits::from_bool(true)),
        ("false", Type::Bool) => return Ok(Bits::from_bool(false)),
        _ => {}
    }
    let number = number(text).ok_or_else(|| {
        Problem::new(format!("{text} is not a valid value for {target}")).with_help(not_a_number(text, target))
    })?;
    fit(&number, text, target)
}

fn not_a_number(text: &str, target: &ValueTarget<'_>) -> String {
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => "a hexadecimal number begins with 0x".to_string(),
        false => format!("it takes {}", target.forms()),
    }
}

fn colon_address(text: &str, target: &ValueTarget<'_>) -> Result<Bits, Problem> {
    if target.width() == 128 {
        let address: Ipv6Addr = text.parse().map_err(|_| Problem::new(format!("{text} is not an IPv6 address")))?;
        return address_bits(text, "an IPv6", 128, u128::from(address), target);
    }
    if let Some(address) = mac(text) {
        return address_bits(text, "a MAC", 48, u128::from(address), target);
    }
    match text.parse::<Ipv6Addr>() {
        Ok(address) => address_bits(text, "an IPv6", 128, u128::from(address), target),
        Err(_) if target.width() == 48 => Err(Problem::new(format!("{text} is not a MAC address"))),
        Err(_) => Err(Problem::new(format!("{text} is not a valid value for {target}"))
            .with_help(format!("it takes {}", target.forms()))),
    }
}

fn address_bits(text: &str, kind: &str, width: u32, bits: u128, target: &ValueTarget<'_>) -> Result<Bits, Problem> {
    if target.width() == width {
        Ok(Bits::from_u128(width, bits))
    } else {
        let message = format!("{text} is {kind} address of {width} bits, {target} has {}", target.width());
        Err(Problem::new(message))
    }
}

/// Six bytes of one or two hexadecimal digits with colons between.
fn mac(text: &str) -> Option<u64> {
    let mut address = 0;
    let mut bytes = 0;
    for part in text.split(':') {
        if part.len() > 2 || !part.bytes().all(|byte| byte.is_ascii_hexdigit()) || bytes == 6 {
            return None;
        }
        address = address << 8 | u64::from_str_radix(part, 16).ok()?;
        bytes += 1;
    }
    (bytes == 6).then_some(address)
}

fn fit(number: &BigInt, text: &str, target: &ValueTarget<'_>) -> Result<Bits, Problem> {
    let width = target.width();
    // `0xfd` for a signed value is its bits, not a number of 253.
    let is_pattern = text.starts_with('0') && text.contains(|c: char| c.is_ascii_alphabetic());
    let (least, greatest) = match target.ty {
        Type::Int(width) if width > 0 && !is_pattern => {
            (-(BigInt::from(1) << (width - 1)), (BigInt::from(1) << (width - 1)) - 1)
        }
        _ => (BigInt::ZERO, (BigInt::from(1) << width) - 1),
    };
    if (&least..=&greatest).contains(&number) {
        return Ok(Bits::from_bigint(width, number));
    }
    let message = if target.ty.is_signed() && !is_pattern {
        format!("{text} is not between {least} and {greatest}, the values of {target}")
    } else if *number < BigInt::ZERO {
        format!("{text} is negative, {target} is unsigned")
    } else {
        format!("{text} needs {}, {target} has {width}", bit_count(number.bits()))
    };
    Err(Problem::new(message))
}

fn bit_count(bits: u64) -> String {
    if bits == 1 { "1 bit".to_string() } else { format!("{bits} bits") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, ty: Type, expected: Expect) {
        let answer = match value(text, &ValueTarget { role: "key", name: "hdr.x", ty }) {
            Ok(bits) => format!("{bits:?}"),
            Err(problem) => problem.to_string(),
        };
        expected.assert_eq(&answer);
    }

    #[test]
    fn numbers_in_every_base() {
        check("255", Type::Bit(8), expect!["8w0xff"]);
        check("0xFf", Type::Bit(8), expect!["8w0xff"]);
        check("0b1010_0101", Type::Bit(8), expect!["8w0xa5"]);
        check("0o17", Type::Bit(8), expect!["8w0xf"]);
        check(
            "340282366920938463463374607431768211456",
            Type::Bit(129),
            expect!["129w0x100000000000000000000000000000000"],
        );
    }

    #[test]
    fn addresses_at_their_widths() {
        check("10.0.1.255", Type::Bit(32), expect!["32w0xa0001ff"]);
        check("00:aa:bb:0:1:ff", Type::Bit(48), expect!["48w0xaabb0001ff"]);
        check("2001:db8::1", Type::Bit(128), expect!["128w0x20010db8000000000000000000000001"]);
        check("::ffff:10.0.0.1", Type::Bit(128), expect!["128w0xffff0a000001"]);
    }

    #[test]
    fn an_address_at_another_width_is_refused() {
        check("10.0.0.1", Type::Bit(9), expect!["10.0.0.1 is an IPv4 address of 32 bits, key hdr.x has 9"]);
        check(
            "00:00:00:00:00:01",
            Type::Bit(32),
            expect!["00:00:00:00:00:01 is a MAC address of 48 bits, key hdr.x has 32"],
        );
        check("fe80::1", Type::Bit(48), expect!["fe80::1 is an IPv6 address of 128 bits, key hdr.x has 48"]);
    }

    #[test]
    fn broken_addresses_are_named_as_what_they_should_be() {
        check("10.0.0.300", Type::Bit(32), expect!["10.0.0.300 is not an IPv4 address"]);
        check("10.0.0", Type::Bit(32), expect!["10.0.0 is not an IPv4 address"]);
        check("00:11:22:33:44", Type::Bit(48), expect!["00:11:22:33:44 is not a MAC address"]);
        check("00:11:22:33:44:gg", Type::Bit(48), expect!["00:11:22:33:44:gg is not a MAC address"]);
        check("1::2::3", Type::Bit(128), expect!["1::2::3 is not an IPv6 address"]);
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused() {
        check("0x1ff", Type::Bit(8), expect!["0x1ff needs 9 bits, key hdr.x has 8"]);
        check("512", Type::Bit(9), expect!["512 needs 10 bits, key hdr.x has 9"]);
        check("-1", Type::Bit(8), expect!["-1 is negative, key hdr.x is unsigned"]);
        check("128", Type::Int(8), expect!["128 is not between -128 and 127, the values of key hdr.x"]);
        check("-128", Type::Int(8), expect!["8w0x80"]);
        check("0x80", Type::Int(8), expect!["8w0x80"]);
        check("0x180", Type::Int(8), expect!["0x180 needs 9 bits, key hdr.x has 8"]);
        check("2", Type::Bool, expect!["2 needs 2 bits, key hdr.x has 1"]);
    }

    #[test]
    fn what_is_no_number_says_what_it_takes() {
        check(
            "ff",
            Type::Bit(8),
            expect![[r#"
                ff is not a valid value for key hdr.x
                  help: a hexadecimal number begins with 0x"#]],
        );
        check(
            "0x",
            Type::Bit(32),
            expect![[r#"
                0x is not a valid value for key hdr.x
                  help: it takes a number such as 10, 0x0a or 0b1010, or an IPv4 address"#]],
        );
        check(
            "yes",
            Type::Bool,
            expect![[r#"
                yes is not a valid value for key hdr.x
                  help: it takes true or false"#]],
        );
    }
}
