//! The device config that a client sends, whose format P4Runtime leaves to the switch.
//!
//! Expected is the text of a program, as it is or in the JSON that [`control::device_config`] writes, for clients
//! that only send JSON. Clients for the reference switch send what its compiler has made (JSON), often wrapped in a
//! message of its own; that cannot be run, but it can denote a program that the switch has already: then the P4Info
//! decides whether it is the same one.

use control::api::Fault;

/// A device config.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DeviceConfig {
    /// The text of a program.
    Text(String),
    /// It denotes the program that the switch has already.
    Known(KnownBy),
}

/// Why a device config denotes the program that the switch has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KnownBy {
    /// It is empty.
    Empty,
    /// It is the output of p4c for BMv2.
    Bmv2Json,
}

impl KnownBy {
    /// A description for messages.
    pub fn describe(self) -> &'static str {
        match self {
            KnownBy::Empty => "empty",
            KnownBy::Bmv2Json => "JSON for BMv2, which Wirespeed does not run",
        }
    }
}

/// The meaning of the bytes.
pub(crate) fn read(sent: &[u8]) -> Result<DeviceConfig, Fault> {
    let content = unwrapped(sent).unwrap_or(sent);
    let first = content.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(first) = first else { return Ok(DeviceConfig::Known(KnownBy::Empty)) };
    if content[first] == b'{' {
        if let Some(text) = control::device_config::read(content) {
            return Ok(DeviceConfig::Text(text));
        }
        return Ok(DeviceConfig::Known(KnownBy::Bmv2Json));
    }
    if content.starts_with(b"\x7fELF") {
        let message =
            "the device config is native code, which is not taken from the network: send the text of the program";
        return Err(Fault::invalid(message));
    }
    match std::str::from_utf8(content) {
        Ok(text) if !text.contains('\0') => Ok(DeviceConfig::Text(text.to_owned())),
        _ => Err(Fault::invalid(
            "the device config is not the text of a program: send a P4 source file, or what `wirespeed compile --emit p4` writes",
        )),
    }
}

/// The content of the message in which the p4lang tutorials wrap a device config: `reassign` (1), `extras` (2) and
/// `device_data` (3), or in its later form `extras` (1) and `device_data` (2). None if the bytes are not such a
/// message.
fn unwrapped(sent: &[u8]) -> Option<&[u8]> {
    let (mut rest, mut second, mut third) = (sent, None, None);
    while let Some((&tag, after)) = rest.split_first() {
        rest = match tag {
            0x08 => after.split_first().filter(|(value, _)| **value <= 1)?.1,
            0x0A | 0x12 | 0x1A => {
                let (length, after) = varint(after)?;
                let (content, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
                match tag {
                    0x12 => second = Some(content),
                    0x1A => third = Some(content),
                    _ => {}
                }
                after
            }
            _ => return None,
        };
    }
    third.or(second)
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(sent: &[u8], expect: Expect) {
        let text = match read(sent) {
            Ok(config) => format!("{config:?}"),
            Err(fault) => fault.to_string(),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn the_text_of_a_program() {
        check(b"\n// a program\n", expect![[r#"Text("\n// a program\n")"#]]);
        check(b"", expect!["Known(Empty)"]);
    }

    #[test]
    fn a_program_in_json() {
        check(control::device_config::write("// text\n").as_bytes(), expect![[r#"Text("// text\n")"#]]);
    }

    #[test]
    fn what_other_switches_run() {
        check(b" { \"program\": \"x.p4\" }", expect!["Known(Bmv2Json)"]);
        check(b"\x08\x01\x1a\x02{}", expect!["Known(Bmv2Json)"]);
        check(
            b"\x7fELF\x02",
            expect![
                "the device config is native code, which is not taken from the network: send the text of the program"
            ],
        );
        check(
            &[0xFF, 0, 1],
            expect![
                "the device config is not the text of a program: send a P4 source file, or what `wirespeed compile --emit p4` writes"
            ],
        );
    }

    #[test]
    fn a_wrapped_text() {
        check(b"\x08\x01\x12\x00\x1a\x04text", expect![[r#"Text("text")"#]]);
        check(b"\n\x00\x12\x04text", expect![[r#"Text("text")"#]]);
        // A length beyond the end.
        check(b"\x1a\x7f{}", expect![[r#"Text("\u{1a}\u{7f}{}")"#]]);
    }
}
