//! The tables of the encoder and the decoder as commands for `--entries` and packet tests.
//!
//! What enters: a transform, and bases in the order of their identifiers. What leaves: lines.

use crate::code::Wrong;
use crate::transform::{Layout, Transform};
use base::Bits;
use std::fmt::Write as _;

/// A class of traffic: where it comes from, and how it is recognised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// Its number.
    pub number: u32,
    /// The EtherType of its packets.
    pub ethertype: u16,
    /// The port where the encoder receives them.
    pub port: u16,
    /// The bytes before the first chunk of its packets.
    pub header: Header,
}

/// A pattern of bytes after the Ethernet header.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// The position of each byte that must match, its value, and a mask of the bits that count.
    pub bytes: Vec<(usize, u8, u8)>,
}

impl Header {
    /// The pattern of IPv4 without options, followed by UDP (protocol 17) or TCP (6) with this port. A TCP header,
    /// with its options, must end where the chunks begin, at `offset`.
    pub fn transport(protocol: u8, port: u16, offset: usize) -> Header {
        let [high, low] = port.to_be_bytes();
        let mut bytes = vec![(0, 0x45, 0xff), (9, protocol, 0xff), (22, high, 0xff), (23, low, 0xff)];
        if protocol == 6 {
            let words = (offset.saturating_sub(20) / 4) as u8;
            bytes.push((32, words << 4, 0xf0));
        }
        Header { bytes }
    }

    /// Whether a payload matches the pattern.
    pub fn is_of(&self, payload: &[u8]) -> bool {
        self.bytes.iter().all(|(place, value, bits)| payload.get(*place).is_some_and(|byte| byte & bits == *value))
    }

    /// The pattern as a ternary key of `offset` bytes.
    fn key(&self, offset: usize) -> String {
        let (mut value, mut mask) = (vec![0; offset], vec![0; offset]);
        for (place, byte, bits) in self.bytes.iter().filter(|(place, ..)| *place < offset) {
            (value[*place], mask[*place]) = (*byte, *bits);
        }
        format!("{}&&&{}", digits(&value), digits(&mask))
    }
}

/// The encoder's entry for the packets of a class: how they are split.
pub fn encode(class: &Class, transform: &Transform) -> String {
    encode_with(class, transform, &argument(transform))
}

/// The same in a program in which another class has a mask, so that the entry must have a mask, too.
pub(crate) fn encode_masked(class: &Class, transform: &Transform) -> String {
    encode_with(class, transform, &explicit_argument(transform))
}

fn encode_with(class: &Class, transform: &Transform, argument: &str) -> String {
    let (Class { number, ethertype, port, header }, Layout { offset, count }) = (class, transform.layout());
    let mut line = format!("table_add classes encode {port} {ethertype:#06x}");
    if offset > 0 {
        line += &format!(" {}", header.key(offset));
    }
    line += &format!(" => {number}{argument}");
    if count > 1 {
        line += &format!(" {count}");
    }
    // Entries of a table with a ternary key have priorities: the entry that matches more bits wins.
    if offset > 0 {
        line += &format!(" {}", 1_000 - header.bytes.len());
    }
    line + "\n"
}

/// The decoder's entry for the packets of a class: what they were.
pub fn restore(class: &Class, transform: &Transform) -> String {
    restore_with(class, &argument(transform))
}

/// The same in a program in which another class has a mask.
pub(crate) fn restore_masked(class: &Class, transform: &Transform) -> String {
    restore_with(class, &explicit_argument(transform))
}

fn restore_with(Class { number, ethertype, .. }: &Class, argument: &str) -> String {
    format!("table_add classes restore {number} => {ethertype:#06x}{argument}\n")
}

fn argument(transform: &Transform) -> String {
    transform.mask().map_or(String::new(), |mask| format!(" {}", hexadecimal(mask)))
}

/// The mask of a transform. A transform without a mask sets aside the first bit, which is written as a mask here.
fn explicit_argument(transform: &Transform) -> String {
    match transform.mask() {
        Some(_) => argument(transform),
        None => {
            let mut first = Bits::zero(8 * transform.chunk_bytes() as u32);
            first.set_bit(first.width() - 1, true);
            format!(" {}", hexadecimal(&first))
        }
    }
}

/// The name of the table, digest or setting `kind` of a class' transform; for class 0 it has no number.
pub fn name(kind: &str, class: u32) -> String {
    if class == 0 { kind.to_owned() } else { format!("{kind}_{class}") }
}

/// The tables of a transform. Those of a class with its own transform have the class number at the end of their
/// names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tables {
    class: u32,
}

impl Tables {
    /// The tables of the transform that all classes without one of their own share.
    pub const FIRST: Tables = Tables { class: 0 };

    /// The tables of this class' own transform; for class 0, [`Tables::FIRST`].
    pub fn of_class(class: u32) -> Tables {
        Tables { class }
    }

    fn name(self, table: &str) -> String {
        name(table, self.class)
    }

    /// The error bits of each syndrome, the same for both programs.
    pub fn masks(self, transform: &Transform) -> String {
        let (mut text, table) = (String::new(), self.name("masks"));
        let Some(code) = transform.code() else { return text };
        for syndrome in 1..1 << code.syndrome_bits() {
            let _ = match code.wrong(syndrome) {
                Some(Wrong::One(place)) => writeln!(text, "table_add {table} flip {syndrome:#x} => {place}"),
                Some(Wrong::Two(first, second)) => {
                    writeln!(text, "table_add {table} flip_two {syndrome:#x} => {first} {second}")
                }
                Some(Wrong::Syndrome) => writeln!(text, "table_add {table} keep {syndrome:#x} =>"),
                None => Ok(()),
            };
        }
        text
    }

    /// The identifier of each basis, for the encoder, numbered from `first`.
    pub fn identifiers(self, first: u32, bases: &[Bits]) -> String {
        let table = self.name("bases");
        let line = |(basis, identifier)| format!("table_add {table} compress {} => {identifier}\n", hexadecimal(basis));
        bases.iter().zip(first..).map(line).collect()
    }

    /// The basis of each identifier, for the decoder.
    pub fn bases(self, first: u32, bases: &[Bits]) -> String {
        let table = self.name("bases");
        let line = |(basis, identifier)| format!("table_add {table} expand {identifier} => {}\n", hexadecimal(basis));
        bases.iter().zip(first..).map(line).collect()
    }
}

/// The same commands for a program that is both encoder and decoder: there the tables' names begin with the half that
/// they belong to.
pub fn in_gateway(is_encoder: bool, commands: &str) -> String {
    let (outer, inner) = if is_encoder { ("encoder", "split") } else { ("decoder", "join") };
    let renamed = |line: &str| {
        let Some((table, rest)) = line.strip_prefix("table_add ").and_then(|rest| rest.split_once(' ')) else {
            return format!("{line}\n");
        };
        match table.split_once('_') {
            _ if table == "classes" => format!("table_add {outer}.{table} {rest}\n"),
            Some((_, class)) => format!("table_add {inner}_{class}.{table} {rest}\n"),
            None => format!("table_add {inner}.{table} {rest}\n"),
        }
    };
    commands.lines().map(renamed).collect()
}

/// The error bits of each syndrome, the same for both programs.
pub fn masks(transform: &Transform) -> String {
    Tables::FIRST.masks(transform)
}

/// The identifier of each basis, for the encoder, numbered from `first`.
pub fn identifiers(first: u32, bases: &[Bits]) -> String {
    Tables::FIRST.identifiers(first, bases)
}

/// The basis of each identifier, for the decoder.
pub fn bases(first: u32, bases: &[Bits]) -> String {
    Tables::FIRST.bases(first, bases)
}

/// A value as written in commands.
pub fn hexadecimal(value: &Bits) -> String {
    digits(&value.to_be_bytes())
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    #[test]
    fn tables_are_written_as_commands() {
        let plain = Transform::of_code(Code::new(3).unwrap());
        assert_eq!(masks(&plain).lines().count(), 7);
        assert!(masks(&plain).starts_with("table_add masks flip 0x1 => 0\ntable_add masks flip 0x2 => 1\n"));
        let of_two = masks(&Transform::of_code(Code::of_two(4).unwrap()));
        assert_eq!(of_two.lines().count(), 255);
        let count = |action: &str| of_two.lines().filter(|line| line.contains(action)).count();
        assert_eq!([" flip ", " flip_two ", " keep "].map(count), [15, 105, 135]);
        assert!(of_two.contains("table_add masks flip_two 0x3 => 0 1\n"), "{of_two}");
        let masked = Transform::masked(Bits::from_u64(16, 0x00ff), None);
        let class = Class { number: 2, ethertype: 0x86dd, port: 7, header: Header::default() };
        assert_eq!(masks(&masked), "");
        assert_eq!(encode(&class, &masked), "table_add classes encode 7 0x86dd => 2 0x00ff\n");
        assert_eq!(restore(&class, &masked), "table_add classes restore 2 => 0x86dd 0x00ff\n");
        assert_eq!(encode(&class, &plain), "table_add classes encode 7 0x86dd => 2\n");
        let class = Class { header: Header::transport(17, 0x1633, 24), ..class };
        let elsewhere = plain.clone().with_layout(Layout { offset: 24, count: 3 });
        let key =
            "0x450000000000000000110000000000000000000000001633&&&0xff0000000000000000ff000000000000000000000000ffff";
        let line = format!("table_add classes encode 7 0x86dd {key} => 2 3 996\n");
        assert_eq!(encode(&class, &elsewhere), line);
        let mut payload = vec![0x45; 24];
        (payload[9], payload[22], payload[23]) = (17, 0x16, 0x33);
        assert!(
            class.header.is_of(&payload) && !class.header.is_of(&payload[..23]) && !class.header.is_of(&[0x45; 24])
        );
        let all = encode(&class, &plain) + &Tables::of_class(2).bases(4, &[Bits::from_u64(4, 3)]) + "# done\n";
        let expected = "table_add decoder.classes encode 7 0x86dd => 2\n\
                        table_add join_2.bases_2 expand 4 => 0x03\n# done\n";
        assert_eq!(in_gateway(false, &all), expected);
        assert!(in_gateway(true, &masks(&plain)).starts_with("table_add split.masks flip 0x1 => 0\n"));
        let chosen = [0x3, 0xa].map(|basis| Bits::from_u64(4, basis));
        assert_eq!(identifiers(0, &chosen), "table_add bases compress 0x03 => 0\ntable_add bases compress 0x0a => 1\n");
        assert_eq!(bases(4, &chosen), "table_add bases expand 4 => 0x03\ntable_add bases expand 5 => 0x0a\n");
    }
}
