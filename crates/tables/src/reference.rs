//! Lookup by the definition: the oracle that the engines are tested against, and the lookup of the interpreter.
//!
//! The interpreter may have a million entries too. Then [`find`] gets the entries that could match from the control
//! plane's store, which indexes them by their match; the engines are not used either.

use crate::spec::{Entry, TableKind};
use crate::table::Table;
use base::{Bits, FieldMatch, MatchKind};
use std::cmp::Reverse;

/// The number of entries up to which all are compared.
const FEW_ENTRIES: usize = 64;

/// The same entry as [`scan`] returns, found faster among many entries if only prefixes overlap in the table.
pub fn find<'a>(table: &'a Table, key: &[Bits]) -> Option<&'a Entry> {
    let fields = &table.spec().key;
    assert_eq!(key.len(), fields.len(), "one value for each key field");
    let with_prefix = |prefix_len: Option<u32>| {
        let wanted = fields.iter().zip(key).map(|(field, value)| match (field.kind, prefix_len) {
            (MatchKind::Lpm, Some(prefix_len)) => FieldMatch::Lpm { value: value.clone(), prefix_len },
            _ => FieldMatch::Exact(value.clone()),
        });
        let handle = table.find(&wanted.collect::<Vec<_>>(), 0).ok().flatten()?;
        table.get(handle)
    };
    match table.kind() {
        TableKind::Exact if table.len() > FEW_ENTRIES => with_prefix(None),
        TableKind::Lpm if table.len() > FEW_ENTRIES => {
            let width_bits = fields.iter().filter(|field| field.kind == MatchKind::Lpm).map(|field| field.width_bits);
            (0..=width_bits.max().unwrap_or(0)).rev().find_map(|prefix_len| with_prefix(Some(prefix_len)))
        }
        _ => scan(table, key),
    }
}

/// The entry that matches these key field values; `None` is a miss. Every entry is compared.
pub fn scan<'a>(table: &'a Table, key: &[Bits]) -> Option<&'a Entry> {
    assert_eq!(key.len(), table.spec().key.len(), "one value for each key field");
    let matching =
        table.entries().filter(|entry| entry.spec.key.iter().zip(key).all(|(wanted, is)| wanted.matches(is)));
    let lpm_field = table.spec().key.iter().position(|field| field.kind == MatchKind::Lpm);
    matching.max_by_key(|entry| {
        let prefix_len = match lpm_field.map(|field| &entry.spec.key[field]) {
            Some(FieldMatch::Lpm { prefix_len, .. }) if table.kind() == TableKind::Lpm => *prefix_len,
            _ => 0,
        };
        (prefix_len, entry.spec.priority, Reverse(entry.sequence))
    })
}
