//! Lookup by the definition alone: the oracle that the engines are tested against, and what the interpreter uses.

use crate::layout::MatchKind;
use crate::spec::{Entry, MatchValue, TableKind};
use crate::table::Table;
use base::Bits;
use std::cmp::Reverse;

/// The entry that a packet with these key field values meets; `None` is a miss. Every entry is looked at.
pub fn scan<'a>(table: &'a Table, key: &[Bits]) -> Option<&'a Entry> {
    assert_eq!(key.len(), table.spec().key.len(), "one value for each key field");
    let matching =
        table.entries().filter(|entry| entry.spec.key.iter().zip(key).all(|(wanted, is)| wanted.matches(is)));
    let lpm_field = table.spec().key.iter().position(|field| field.kind == MatchKind::Lpm);
    matching.max_by_key(|entry| {
        let prefix_len = match lpm_field.map(|field| &entry.spec.key[field]) {
            Some(MatchValue::Lpm { prefix_len, .. }) if table.kind() == TableKind::Lpm => *prefix_len,
            _ => 0,
        };
        (prefix_len, entry.spec.priority, Reverse(entry.sequence))
    })
}
