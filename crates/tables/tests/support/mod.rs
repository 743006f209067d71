//! What the tests of tables share: random tables, entries and keys, and lookups through every door.

#![allow(unsafe_code, reason = "bursts are looked up as generated C does")]
#![allow(dead_code, reason = "each test uses its part")]

use base::{Bits, FieldMatch, MatchKind, Rng};
use tables::{ActionCall, ActionSpec, EntryHeader, EntrySpec, Guard, KeyField, Table, TableKind, TableSpec, reference};

pub fn field(kind: MatchKind, width_bits: u32) -> KeyField {
    KeyField { name: format!("{kind}{width_bits}"), width_bits, kind }
}

pub fn action(name: &str, param_widths_bits: &[u32]) -> ActionSpec {
    ActionSpec { name: name.into(), param_widths_bits: param_widths_bits.to_vec(), ..ActionSpec::default() }
}

/// A table with two actions: `set(bit<32>)` and `wide(bit<9>, bit<100>)`; the default is `set(0xdef)`.
pub fn table_spec(key: &[(MatchKind, u32)], size: usize) -> TableSpec {
    TableSpec {
        name: "t".into(),
        key: key.iter().map(|&(kind, width_bits)| field(kind, width_bits)).collect(),
        actions: vec![action("set", &[32]), action("wide", &[9, 100])],
        size,
        default_action: Some(ActionCall { action: 0, args: vec![Bits::from_u64(32, 0xdef)] }),
        ..TableSpec::default()
    }
}

/// A value of which all, few, or no bits are random, so that values meet again.
pub fn random_bits(rng: &mut Rng, width: u32) -> Bits {
    let limbs: Vec<u64> = (0..width.div_ceil(64)).map(|_| rng.next_u64()).collect();
    let random = Bits::from_limbs(width, &limbs);
    match rng.below(4) {
        0 => random,
        1 => Bits::from_u64(width, rng.below(4)),
        2 => Bits::from_u64(width, rng.below(8)).shl(u64::from(width.saturating_sub(3))),
        _ => random.and(&Bits::from_u64(width, 0b111).or(&Bits::from_u64(width, 0b11).shl(u64::from(width / 2)))),
    }
}

pub fn random_match(rng: &mut Rng, field: &KeyField) -> FieldMatch {
    let width = field.width_bits;
    let value = random_bits(rng, width);
    match field.kind {
        MatchKind::Exact => FieldMatch::Exact(value),
        MatchKind::Lpm => FieldMatch::Lpm { value, prefix_len: rng.between(0, width.into()) as u32 },
        MatchKind::Ternary => {
            let ones = Bits::ones(width);
            let mask = match rng.below(4) {
                0 => random_bits(rng, width),
                1 => ones.shl(rng.below(u64::from(width) + 1)),
                2 => Bits::zero(width),
                _ => ones,
            };
            FieldMatch::Ternary { value, mask }
        }
        MatchKind::Range => {
            let other = if rng.chance(1, 3) { value.clone() } else { random_bits(rng, width) };
            let (low, high) = if value.cmp_unsigned(&other).is_le() { (value, other) } else { (other, value) };
            FieldMatch::Range { low, high }
        }
        MatchKind::Optional => FieldMatch::Optional(rng.chance(2, 3).then_some(value)),
    }
}

pub fn random_args(rng: &mut Rng, action: &ActionSpec) -> Vec<Bits> {
    action.param_widths_bits.iter().map(|&width| random_bits(rng, width)).collect()
}

pub fn random_entry(rng: &mut Rng, spec: &TableSpec) -> EntrySpec {
    let action = rng.below(spec.actions.len() as u64) as usize;
    EntrySpec {
        key: spec.key.iter().map(|field| random_match(rng, field)).collect(),
        priority: rng.between(0, 6) as i32 - 3,
        action,
        args: random_args(rng, &spec.actions[action]),
    }
}

/// A key: random, or one that an entry matches, possibly with one bit changed.
pub fn random_key(rng: &mut Rng, table: &Table) -> Vec<Bits> {
    let mut key: Vec<Bits> = table.spec().key.iter().map(|field| random_bits(rng, field.width_bits)).collect();
    let entries: Vec<_> = table.entries().collect();
    if rng.chance(1, 4) || entries.is_empty() {
        return key;
    }
    let entry = rng.pick(&entries);
    for (value, wanted) in key.iter_mut().zip(&entry.spec.key) {
        let width = value.width();
        *value = match wanted {
            FieldMatch::Exact(wanted) | FieldMatch::Optional(Some(wanted)) => wanted.clone(),
            FieldMatch::Optional(None) => value.clone(),
            FieldMatch::Lpm { value: wanted, prefix_len } => {
                wanted.or(&value.and(&Bits::ones(width).shr(u64::from(*prefix_len))))
            }
            FieldMatch::Ternary { value: wanted, mask } => wanted.or(&value.and(&mask.not())),
            FieldMatch::Range { low, high } => {
                if rng.chance(1, 2) {
                    low.clone()
                } else {
                    high.clone()
                }
            }
        };
        if rng.chance(1, 8) {
            let bit = rng.below(width.into()) as u32;
            value.set_bit(bit, !value.bit(bit));
        }
    }
    key
}

/// What a lookup of `key` must give: hit, index, action, and the words of its data.
pub fn expected(table: &Table, key: &[Bits]) -> (u32, u32, u32, Vec<u64>) {
    let found = reference::scan(table, key);
    assert_eq!(reference::find(table, key), found, "both find the same entry");
    match found {
        Some(entry) => {
            let layout = table.action_layout(entry.spec.action).expect("an entry's action exists");
            let index = if table.names_entries() { entry.handle.0 } else { 0 };
            (1, index, entry.spec.action as u32, layout.pack(&entry.spec.args))
        }
        None => match table.default_action() {
            Some(call) => {
                let layout = table.action_layout(call.action).expect("the default action exists");
                (0, 0, call.action as u32, layout.pack(&call.args))
            }
            None => (0, 0, tables::NO_ACTION, vec![]),
        },
    }
}

/// Looks all keys up as generated C does.
pub fn burst(guard: &Guard<'_>, table: usize, rows: &[u64], count: usize) -> Vec<*const EntryHeader> {
    let handle = guard.handles()[table];
    let mut results = vec![std::ptr::null(); count];
    // SAFETY: `rows` are `count` rows, `results` has room for as many, and the guard lives.
    unsafe { (handle.function)(handle.context, rows.as_ptr(), count as u32, results.as_mut_ptr()) };
    results
}

/// Header and data behind a result.
pub fn read(result: *const EntryHeader, data_words: usize) -> (EntryHeader, Vec<u64>) {
    // SAFETY: results of `burst` under a living guard are valid, with as many data words as the table's actions take.
    unsafe { (*result, std::slice::from_raw_parts(result.add(1).cast(), data_words).to_vec()) }
}

/// Compares bursts and single lookups of random keys with the linear scan.
pub fn check_lookups(rng: &mut Rng, guard: &Guard<'_>, index: usize, table: &Table, count: usize) {
    let keys: Vec<Vec<Bits>> = (0..count).map(|_| random_key(rng, table)).collect();
    let rows: Vec<u64> = keys.iter().flat_map(|key| table.key_layout().pack(key)).collect();
    let results = burst(guard, index, &rows, count);
    for (key, result) in keys.iter().zip(results) {
        let (header, data) = read(result, table.data_words());
        let (hit, index_wanted, action, words) = expected(table, key);
        let is = (header.hit, header.index, header.action, &data[..words.len()]);
        assert_eq!(is, (hit, index_wanted, action, &words[..]), "key {key:?} of {:?}", table.spec().key);
        assert!(data[words.len()..].iter().all(|word| *word == 0), "spare words are zero");
        let snapshot = guard.snapshot(index).expect("the table exists");
        let row = table.key_layout().pack(key);
        assert_eq!((*snapshot.lookup(&row), snapshot.lookup_data(&row)), (header, &data[..]));
    }
}

/// A random key for a table of any kind.
pub fn random_key_fields(rng: &mut Rng, kind: TableKind) -> Vec<(MatchKind, u32)> {
    const WIDTHS: [u32; 14] = [1, 4, 8, 9, 16, 31, 32, 33, 48, 63, 64, 65, 128, 200];
    let mut fields: Vec<(MatchKind, u32)> = Vec::new();
    let others: &[MatchKind] = match kind {
        TableKind::Keyless => return fields,
        TableKind::Exact | TableKind::Lpm => &[MatchKind::Exact],
        TableKind::Ternary => &[MatchKind::Exact, MatchKind::Lpm, MatchKind::Ternary, MatchKind::Optional],
        TableKind::Range => {
            &[MatchKind::Exact, MatchKind::Lpm, MatchKind::Ternary, MatchKind::Optional, MatchKind::Range]
        }
    };
    let decisive = match kind {
        TableKind::Lpm => MatchKind::Lpm,
        TableKind::Ternary => MatchKind::Ternary,
        TableKind::Range => MatchKind::Range,
        _ => MatchKind::Exact,
    };
    for _ in 0..rng.below(4) {
        fields.push((*rng.pick(others), *rng.pick(&WIDTHS)));
    }
    fields.insert(rng.below(fields.len() as u64 + 1) as usize, (decisive, *rng.pick(&WIDTHS)));
    fields
}
