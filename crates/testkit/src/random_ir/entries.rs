//! Random table entries.

use base::{Bits, FieldMatch, MatchKind, Rng, Span};
use ir::{ActionCall, Entry, Program, Table, TableId};

/// The most entries of a table.
const ENTRIES_MAX: u64 = 12;

/// The most entries that a table with short prefixes sometimes gets: enough that the prefixes occupy several levels.
const PREFIXES_MAX: u64 = 200;

/// Entries for the tables whose entries are not constant, in the order in which they must be added. No two entries of
/// a table have the same key or priority.
pub fn random_entries(rng: &mut Rng, program: &Program) -> Vec<(TableId, Entry)> {
    let mut entries = Vec::new();
    for (id, table) in program.tables.iter_enumerated() {
        let callable = table.actions.iter().any(|action| !action.default_only);
        let room = (table.size as usize).saturating_sub(table.entries.len());
        if table.const_entries || table.keys.is_empty() || !callable || room == 0 {
            continue;
        }
        let is_short_prefix = |key: &ir::Key| key.kind == MatchKind::Lpm && key.expr.ty.width() <= 32;
        let many = table.keys.iter().any(is_short_prefix) && rng.chance(1, 3);
        let count = rng.between(0, if many { PREFIXES_MAX } else { ENTRIES_MAX }) as usize;
        let keys = entry_keys(rng, table, count.min(room));
        let new = keys.into_iter().filter(|key| table.entries.iter().all(|entry| entry.key != *key));
        for (position, key) in new.enumerate() {
            let call = random_call(rng, program, table, false);
            entries.push((id, Entry { key, priority: 1 + position as i32, is_const: false, call, span: Span::NONE }));
        }
    }
    entries
}

/// A call of one of a table's actions; at least one must be allowed for entries (or for the default).
pub(super) fn random_call(rng: &mut Rng, program: &Program, table: &Table, default: bool) -> ActionCall {
    let callable: Vec<usize> = (0..table.actions.len())
        .filter(|&position| {
            let action = &table.actions[position];
            if default { !action.table_only } else { !action.default_only }
        })
        .collect();
    let position = *rng.pick(&callable);
    let params = &program.actions[table.actions[position].action].params;
    let args = params.iter().map(|param| random_bits(rng, program.vars[*param].ty.width())).collect();
    ActionCall { action: position as u32, args }
}

/// Up to `count` distinct keys.
pub(super) fn entry_keys(rng: &mut Rng, table: &Table, count: usize) -> Vec<Vec<FieldMatch>> {
    let mut keys: Vec<Vec<FieldMatch>> = Vec::new();
    for _ in 0..count {
        let key: Vec<FieldMatch> = table.keys.iter().map(|key| entry_key(rng, key.kind, key.expr.ty.width())).collect();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn entry_key(rng: &mut Rng, kind: MatchKind, width: u32) -> FieldMatch {
    let value = random_bits(rng, width);
    match kind {
        MatchKind::Exact => FieldMatch::Exact(value),
        MatchKind::Lpm => {
            // Short prefixes match more often, and long ones are nested in them.
            let longest = if rng.chance(1, 2) { width } else { width.min(1 + rng.below(8) as u32) };
            let prefix_len = rng.between(0, u64::from(longest)) as u32;
            let mask = Bits::ones(width).shl(u64::from(width - prefix_len));
            FieldMatch::Lpm { value: value.and(&mask), prefix_len }
        }
        MatchKind::Ternary => {
            let mask = if rng.chance(1, 2) {
                random_bits(rng, width).and(&random_bits(rng, width))
            } else {
                random_bits(rng, width)
            };
            FieldMatch::Ternary { value: value.and(&mask), mask }
        }
        MatchKind::Range => {
            let other = random_bits(rng, width);
            if value.cmp_unsigned(&other).is_le() {
                FieldMatch::Range { low: value, high: other }
            } else {
                FieldMatch::Range { low: other, high: value }
            }
        }
        MatchKind::Optional => FieldMatch::Optional((!rng.chance(1, 3)).then_some(value)),
    }
}

/// A value, with a preference for small ones and the limits of the range.
fn random_bits(rng: &mut Rng, width: u32) -> Bits {
    match rng.below(6) {
        0 => Bits::zero(width),
        1 => Bits::ones(width),
        2 | 3 => Bits::from_u64(width, rng.below(8)),
        _ => {
            let mut bytes = vec![0; width.div_ceil(8) as usize];
            rng.fill(&mut bytes);
            Bits::from_be_bytes(width, &bytes)
        }
    }
}
