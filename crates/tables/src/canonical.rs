//! Checks an entry against its table, brings it into canonical form, and packs it into the words that engines match.

use crate::error::Problem;
use crate::layout::{KeyField, KeyLayout};
use crate::spec::{ActionCall, ActionSpec, EntrySpec, TableKind, TableSpec, Target};
use base::{Bits, FieldMatch, MatchKind};

/// An entry as engines match it. A key matches if `key & mask == value` and, in a range table, every range field lies
/// between its bounds. Of a range field over 64 bits, `mask` covers the leading bits that both bounds share, which is
/// never more than the range requires; of others, none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackedMatch {
    /// `value`, `mask` and, in a range table, `low` and `high`: rows of key words, end to end.
    pub rows: Box<[u64]>,
    /// The entry's priority, 0 in tables without priorities.
    pub priority: i32,
    /// The entry's age.
    pub sequence: u64,
    /// The prefix length of the lpm field in an lpm table, else 0.
    pub prefix_len: u32,
}

/// The entry with values of their field's width and ignored bits zero, or its error.
pub(crate) fn entry(spec: &TableSpec, kind: TableKind, mut entry: EntrySpec) -> Result<EntrySpec, Problem> {
    matching(spec, kind, &mut entry)?;
    if names_target(spec, entry.action, &entry.args)? {
        return Ok(entry);
    }
    let action = known_action(&spec.actions, entry.action)?;
    if action.default_only {
        return Err(Problem::DefaultOnly { action: action.name.clone() });
    }
    arguments(action, &mut entry.args)?;
    Ok(entry)
}

/// The same for what the entry matches alone.
pub(crate) fn matching(spec: &TableSpec, kind: TableKind, entry: &mut EntrySpec) -> Result<(), Problem> {
    if kind == TableKind::Keyless {
        return Err(Problem::NoKey);
    }
    if entry.key.len() != spec.key.len() {
        let fields = spec.key.iter().map(|field| field.name.clone()).collect();
        return Err(Problem::KeyFieldCount { given: entry.key.len(), fields });
    }
    for (value, field) in entry.key.iter_mut().zip(&spec.key) {
        match_value(value, field)?;
    }
    if !kind.has_priority() {
        entry.priority = 0;
    }
    Ok(())
}

/// The default action in canonical form, or its error.
pub(crate) fn default_call(spec: &TableSpec, mut call: ActionCall) -> Result<ActionCall, Problem> {
    if names_target(spec, call.action, &call.args)? {
        return Ok(call);
    }
    let action = known_action(&spec.actions, call.action)?;
    if action.table_only {
        return Err(Problem::TableOnly { action: action.name.clone() });
    }
    arguments(action, &mut call.args)?;
    Ok(call)
}

/// The action call of a member of a profile with these actions, in canonical form, or its error.
pub(crate) fn member_call(actions: &[ActionSpec], mut call: ActionCall) -> Result<ActionCall, Problem> {
    let action = known_action(actions, call.action)?;
    if action.default_only {
        return Err(Problem::DefaultOnly { action: action.name.clone() });
    }
    arguments(action, &mut call.args)?;
    Ok(call)
}

/// Whether the call refers to a member or a group, which only a table with a profile allows. Whether that exists is not
/// checked.
fn names_target(spec: &TableSpec, action: usize, args: &[Bits]) -> Result<bool, Problem> {
    match Target::of(action, args) {
        Some(_) if spec.profile.is_none() => Err(Problem::NoProfile),
        target => Ok(target.is_some()),
    }
}

fn known_action(actions: &[ActionSpec], action: usize) -> Result<&ActionSpec, Problem> {
    let names = || actions.iter().map(|action| action.name.clone()).collect();
    actions.get(action).ok_or_else(|| Problem::UnknownAction { action, actions: names() })
}

fn arguments(action: &ActionSpec, args: &mut [Bits]) -> Result<(), Problem> {
    if args.len() != action.param_widths_bits.len() {
        let wanted = action.param_widths_bits.len();
        return Err(Problem::ArgCount { action: action.name.clone(), given: args.len(), wanted });
    }
    for (parameter, (value, &width_bits)) in args.iter_mut().zip(&action.param_widths_bits).enumerate() {
        if !fit(value, width_bits) {
            let (action, value) = (action.name.clone(), value.to_string());
            return Err(Problem::ArgWidth { action, parameter, value, width_bits });
        }
    }
    Ok(())
}

/// Resizes `value` to this width if that loses no set bit.
fn fit(value: &mut Bits, width_bits: u32) -> bool {
    if value.width() == width_bits {
        return true;
    }
    let resized = value.resize(width_bits);
    let fits = value.width() < width_bits || resized.resize(value.width()) == *value;
    if fits {
        *value = resized;
    }
    fits
}

fn match_value(value: &mut FieldMatch, field: &KeyField) -> Result<(), Problem> {
    let (given, wanted, width_bits) = (value.kind(), field.kind, field.width_bits);
    // Optional fields are stored as ternary ones, and may be given as such.
    if given != wanted && (given, wanted) != (MatchKind::Ternary, MatchKind::Optional) {
        return Err(Problem::MatchKind { field: field.name.clone(), given, wanted });
    }
    let fit = |bits: &mut Bits| match fit(bits, width_bits) {
        true => Ok(()),
        false => Err(Problem::KeyWidth { field: field.name.clone(), value: bits.to_string(), width_bits }),
    };
    match value {
        FieldMatch::Exact(value) => fit(value)?,
        FieldMatch::Optional(value) => value.as_mut().map_or(Ok(()), fit)?,
        FieldMatch::Lpm { value, prefix_len } => {
            fit(value)?;
            if *prefix_len > width_bits {
                return Err(Problem::PrefixTooLong { field: field.name.clone(), prefix_len: *prefix_len, width_bits });
            }
            if *prefix_len < width_bits {
                *value = value.and(&Bits::leading_ones(width_bits, *prefix_len));
            }
        }
        FieldMatch::Ternary { value, mask } => {
            fit(value)?;
            fit(mask)?;
            *value = value.and(mask);
        }
        FieldMatch::Range { low, high } => {
            fit(low)?;
            fit(high)?;
            if low.cmp_unsigned(high).is_gt() {
                let (low, high) = (low.to_string(), high.to_string());
                return Err(Problem::EmptyRange { field: field.name.clone(), low, high });
            }
        }
    }
    Ok(())
}

/// Packs a canonical entry.
pub(crate) fn pack(kind: TableKind, layout: &KeyLayout, entry: &EntrySpec, sequence: u64) -> PackedMatch {
    let words = layout.words();
    let mut rows = vec![0; words * rows_of(kind)].into_boxed_slice();
    let (value_row, rest) = rows.split_at_mut(words);
    let (mask_row, bounds) = rest.split_at_mut(words);
    let mut lpm_len = 0;
    for (slot, wanted) in layout.slots().iter().zip(&entry.key) {
        let width_bits = slot.width_bits;
        match wanted {
            FieldMatch::Exact(value) | FieldMatch::Optional(Some(value)) => {
                slot.store(value_row, value);
                slot.store(mask_row, &Bits::ones(width_bits));
            }
            FieldMatch::Optional(None) => {}
            FieldMatch::Lpm { value, prefix_len } => {
                slot.store(value_row, value);
                slot.store(mask_row, &Bits::leading_ones(width_bits, *prefix_len));
                lpm_len = *prefix_len;
            }
            FieldMatch::Ternary { value, mask } => {
                slot.store(value_row, value);
                slot.store(mask_row, mask);
            }
            FieldMatch::Range { low, high } => {
                if width_bits > 64 {
                    let shared = Bits::leading_ones(width_bits, shared_bits(low, high));
                    slot.store(value_row, &low.and(&shared));
                    slot.store(mask_row, &shared);
                }
                slot.store(&mut bounds[..words], low);
                slot.store(&mut bounds[words..], high);
            }
        }
    }
    let prefix_len = if kind == TableKind::Lpm { lpm_len } else { 0 };
    PackedMatch { rows, priority: entry.priority, sequence, prefix_len }
}

/// Rows of key words that an entry of such a table is matched by.
pub(crate) fn rows_of(kind: TableKind) -> usize {
    if kind == TableKind::Range { 4 } else { 2 }
}

/// How many leading bits two values share.
fn shared_bits(low: &Bits, high: &Bits) -> u32 {
    let difference = low.xor(high);
    let highest = difference.limbs().iter().enumerate().rev().find(|(_, limb)| **limb != 0);
    let unlike = highest.map_or(0, |(index, limb)| index as u32 * 64 + 64 - limb.leading_zeros());
    low.width() - unlike
}
