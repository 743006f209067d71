//! From the program's tables to what the match engines are told of them.

use ir::{Entry, EntryKey, MatchKind, Program, Table};
use tables::{ActionCall, ActionSpec, EntrySpec, InitialEntry, KeyField, MatchValue, TableSpec};

/// The specifications of all tables, in the order of the program.
pub fn table_specs(program: &Program) -> Vec<TableSpec> {
    program.tables.iter().map(|table| table_spec(program, table)).collect()
}

fn table_spec(program: &Program, table: &Table) -> TableSpec {
    let action = |listed: &ir::TableAction| {
        let action = &program.actions[listed.action];
        ActionSpec {
            name: action.name.clone(),
            param_widths_bits: action.params.iter().map(|&param| program.vars[param].ty.width()).collect(),
            table_only: listed.table_only,
            default_only: listed.default_only,
        }
    };
    let key = |key: &ir::Key| KeyField {
        name: key.name.clone(),
        width_bits: key.expr.ty.width(),
        kind: match_kind(key.kind),
    };
    let initial = |entry: &Entry| InitialEntry { entry: entry_spec(entry), is_const: table.const_entries };
    TableSpec {
        name: table.name.clone(),
        key: table.keys.iter().map(key).collect(),
        actions: table.actions.iter().map(action).collect(),
        size: usize::try_from(table.size).unwrap_or(usize::MAX).min(base::limits::TABLE_ENTRIES_MAX),
        const_entries: table.const_entries,
        default_const: table.const_default,
        default_action: Some(ActionCall {
            action: table.default_action.action as usize,
            args: table.default_action.args.clone(),
        }),
        initial_entries: table.entries.iter().map(initial).collect(),
    }
}

fn entry_spec(entry: &Entry) -> EntrySpec {
    EntrySpec {
        key: entry.key.iter().map(match_value).collect(),
        priority: entry.priority,
        action: entry.call.action as usize,
        args: entry.call.args.clone(),
    }
}

/// The engine's word for a match kind.
pub fn match_kind(kind: MatchKind) -> tables::MatchKind {
    match kind {
        MatchKind::Exact => tables::MatchKind::Exact,
        MatchKind::Lpm => tables::MatchKind::Lpm,
        MatchKind::Ternary => tables::MatchKind::Ternary,
        MatchKind::Range => tables::MatchKind::Range,
        MatchKind::Optional => tables::MatchKind::Optional,
    }
}

/// The engine's word for what an entry says of a key.
pub fn match_value(key: &EntryKey) -> MatchValue {
    match key {
        EntryKey::Exact(value) => MatchValue::Exact(value.clone()),
        EntryKey::Lpm { value, prefix_len } => MatchValue::Lpm { value: value.clone(), prefix_len: *prefix_len },
        EntryKey::Ternary { value, mask } => MatchValue::Ternary { value: value.clone(), mask: mask.clone() },
        EntryKey::Range { low, high } => MatchValue::Range { low: low.clone(), high: high.clone() },
        EntryKey::Optional(value) => MatchValue::Optional(value.clone()),
    }
}
