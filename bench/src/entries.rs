//! Random but realistic entries for tables of each kind, and keys that they match.

use crate::rules::within;
use base::{Bits, FieldMatch, MatchKind, Rng};
use tables::{ActionSpec, EntrySpec, KeyField, TableSpec};

/// A function that generates an entry from its position.
pub type EntryOf = fn(&mut Rng, usize) -> EntrySpec;

pub fn call(key: Vec<FieldMatch>, priority: i32, rng: &mut Rng) -> EntrySpec {
    EntrySpec { key, priority, action: 0, args: vec![Bits::from_u64(9, rng.between(1, 500))] }
}

pub fn exact<const WORDS: usize>(rng: &mut Rng, _index: usize) -> EntrySpec {
    // Addresses of stations, or whole words.
    let first = FieldMatch::Exact(Bits::from_u64(48, rng.next_u64() >> 16 | 1));
    let rest = (1..WORDS).map(|_| rng.next_u64()).collect::<Vec<_>>();
    let rest = rest.into_iter().map(|word| FieldMatch::Exact(Bits::from_u64(64, word)));
    call(std::iter::once(first).chain(rest).collect(), 0, rng)
}

pub fn ipv4(rng: &mut Rng, _index: usize) -> EntrySpec {
    // As in the Internet's tables: half of the prefixes have 24 bits.
    let prefix_len = if rng.chance(1, 2) { 24 } else { rng.between(12, 24) as u32 };
    let value = Bits::from_u64(32, (rng.next_u64() >> 32) >> (32 - prefix_len) << (32 - prefix_len));
    call(vec![FieldMatch::Lpm { value, prefix_len }], 0, rng)
}

pub fn ipv6(rng: &mut Rng, _index: usize) -> EntrySpec {
    let prefix_len = match rng.below(10) {
        0..5 => 48,
        5..7 => 32,
        7 => 64,
        _ => rng.between(20, 64) as u32,
    };
    // Within 2000::/3 registries assign neighbouring blocks.
    let high = 0x2001_0000_0000_0000 + (rng.below(0x1000) << 48) + (rng.next_u64() >> 16 & 0x0fff_ffff_ffff);
    let high = high >> (64 - prefix_len) << (64 - prefix_len);
    call(vec![FieldMatch::Lpm { value: Bits::from_limbs(128, &[0, high]), prefix_len }], 0, rng)
}

pub fn ternary(width: u32, value: u64, mask: u64) -> FieldMatch {
    FieldMatch::Ternary { value: Bits::from_u64(width, value & mask), mask: Bits::from_u64(width, mask) }
}

pub fn prefix(width: u32, value: u64, len: u32) -> FieldMatch {
    ternary(width, value, if len == 0 { 0 } else { !0 << (width - len) & (!0 >> (64 - width)) })
}

pub fn one_mask(rng: &mut Rng, index: usize) -> EntrySpec {
    call(vec![prefix(32, rng.next_u64(), 24)], index as i32, rng)
}

/// A hostile table: each entry has a different mask.
pub fn a_mask_each(rng: &mut Rng, index: usize) -> EntrySpec {
    let words = [(); 2].map(|()| ternary(64, rng.next_u64(), rng.next_u64()));
    call(words.into(), -(index as i32), rng)
}

pub fn ports(rng: &mut Rng, index: usize) -> EntrySpec {
    let bounds = [rng.below(1 << 16), rng.below(1 << 16)];
    let [low, high] = [bounds[0].min(bounds[1]), bounds[0].max(bounds[1])].map(|port| Bits::from_u64(16, port));
    call(vec![prefix(32, rng.next_u64(), 24), FieldMatch::Range { low, high }], -(index as i32), rng)
}

pub fn range16(low: u64, high: u64) -> FieldMatch {
    FieldMatch::Range { low: Bits::from_u64(16, low), high: Bits::from_u64(16, high.min(0xffff)) }
}

/// Ranges of one field with small overlaps.
pub fn one_range(rng: &mut Rng, index: usize) -> EntrySpec {
    let low = rng.below(1 << 16);
    let high = low + rng.below(200);
    call(vec![range16(low, high)], -(index as i32), rng)
}

/// The same with an exact VLAN, one of ten.
pub fn range_of_vlan(rng: &mut Rng, index: usize) -> EntrySpec {
    let (vlan, low) = (rng.below(10), rng.below(1 << 16));
    let high = low + rng.below(200);
    call(vec![FieldMatch::Exact(Bits::from_u64(12, vlan)), range16(low, high)], -(index as i32), rng)
}

/// Source and destination ports only: a third of them are wildcards, half of the rest a single port.
pub fn two_ranges(rng: &mut Rng, index: usize) -> EntrySpec {
    let mut range = || {
        let (low, width) = (rng.below(1 << 16), if rng.chance(1, 2) { rng.below(2000) } else { 0 });
        if rng.chance(1, 3) { range16(0, 0xffff) } else { range16(low, low + width) }
    };
    let key = vec![range(), range()];
    call(key, -(index as i32), rng)
}

pub fn optional(rng: &mut Rng, index: usize) -> EntrySpec {
    let field = |rng: &mut Rng| FieldMatch::Optional(rng.chance(2, 3).then(|| Bits::from_u64(32, rng.below(4096))));
    let key = vec![field(rng), field(rng)];
    call(key, -(index as i32), rng)
}

fn field_of(value: &FieldMatch) -> KeyField {
    let (kind, width_bits) = match value {
        FieldMatch::Exact(value) => (MatchKind::Exact, value.width()),
        FieldMatch::Lpm { value, .. } => (MatchKind::Lpm, value.width()),
        FieldMatch::Ternary { value, .. } => (MatchKind::Ternary, value.width()),
        FieldMatch::Range { low, .. } => (MatchKind::Range, low.width()),
        FieldMatch::Optional(value) => (MatchKind::Optional, value.as_ref().map_or(32, Bits::width)),
    };
    KeyField { name: format!("{kind}{width_bits}"), width_bits, kind }
}

pub fn table(like: &EntrySpec, size: usize) -> TableSpec {
    TableSpec {
        name: "t".into(),
        key: like.key.iter().map(field_of).collect(),
        actions: vec![ActionSpec { name: "forward".into(), param_widths_bits: vec![9], ..ActionSpec::default() }],
        size,
        default_action: None,
        ..TableSpec::default()
    }
}

/// A key that an entry matches; one in twenty may not match.
pub fn key_of(entry: &EntrySpec, rng: &mut Rng) -> Vec<Bits> {
    let stray = rng.chance(1, 20);
    let value = |field: &FieldMatch| {
        let width = field_of(field).width_bits;
        let random = Bits::from_limbs(width, &[rng.next_u64(), rng.next_u64()]);
        let under = |value: &Bits, mask: &Bits| value.or(&random.and(&mask.not()));
        match field {
            _ if stray => random,
            FieldMatch::Exact(value) | FieldMatch::Optional(Some(value)) => value.clone(),
            FieldMatch::Optional(None) => random,
            FieldMatch::Lpm { value, prefix_len } => {
                under(value, &Bits::ones(width).shl(u64::from(width - prefix_len)))
            }
            FieldMatch::Ternary { value, mask } => under(value, mask),
            FieldMatch::Range { low, high } => within(rng, low, high),
        }
    };
    entry.key.iter().map(value).collect()
}
