//! The tables of the encoder and the decoder as commands, which `--entries` and packet tests read.
//!
//! What enters: a code, and bases in the order of their identifiers. What leaves: lines.

use crate::code::Code;
use base::Bits;
use std::fmt::Write as _;

/// The mask of each syndrome, the same for both programs.
pub fn masks(code: &Code) -> String {
    let mut text = String::new();
    for syndrome in 1..1 << code.m() {
        if let Some(place) = code.place(syndrome) {
            let _ = writeln!(text, "table_add masks flip {syndrome:#x} => {place}");
        }
    }
    text
}

/// The identifier of each basis, for the encoder.
pub fn identifiers(bases: &[Bits]) -> String {
    let lines = bases
        .iter()
        .enumerate()
        .map(|(identifier, basis)| format!("table_add bases compress {} => {identifier}\n", hexadecimal(basis)));
    lines.collect()
}

/// The basis of each identifier, for the decoder.
pub fn bases(bases: &[Bits]) -> String {
    let lines = bases
        .iter()
        .enumerate()
        .map(|(identifier, basis)| format!("table_add bases expand {identifier} => {}\n", hexadecimal(basis)));
    lines.collect()
}

fn hexadecimal(value: &Bits) -> String {
    value.to_be_bytes().iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_written_as_commands() {
        let code = Code::new(3).unwrap();
        assert_eq!(masks(&code).lines().count(), 7);
        assert!(masks(&code).starts_with("table_add masks flip 0x1 => 0\ntable_add masks flip 0x2 => 1\n"));
        let chosen = [0x3, 0xa].map(|basis| Bits::from_u64(4, basis));
        assert_eq!(identifiers(&chosen), "table_add bases compress 0x03 => 0\ntable_add bases compress 0x0a => 1\n");
        assert_eq!(bases(&chosen), "table_add bases expand 0 => 0x03\ntable_add bases expand 1 => 0x0a\n");
    }
}
