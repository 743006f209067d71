//! From the program's tables to the specifications that the match engines are given.

use base::index::Id as _;
use ir::{ActionProfileId, Entry, Program, Table, TableAction};
use tables::{ActionCall, ActionSpec, EntrySpec, InitialEntry, ProfileSpec, ProfileUse, TableSpec};

/// The specifications of all tables, in the order of the program.
pub fn table_specs(program: &Program) -> Vec<TableSpec> {
    program.tables.iter().map(|table| table_spec(program, table)).collect()
}

fn table_spec(program: &Program, table: &Table) -> TableSpec {
    let initial =
        |entry: &Entry| InitialEntry { entry: entry_spec(entry), is_const: table.const_entries || entry.is_const };
    TableSpec {
        name: table.name.clone(),
        key: cgen::key_fields(table),
        actions: table.actions.iter().map(|listed| action_spec(program, Some(table), listed)).collect(),
        size: usize::try_from(table.size).unwrap_or(usize::MAX).min(base::limits::TABLE_ENTRIES_MAX),
        const_entries: table.const_entries,
        default_const: table.const_default,
        default_action: Some(ActionCall {
            action: table.default_action.action as usize,
            args: table.default_action.args.clone(),
        }),
        initial_entries: table.entries.iter().map(initial).collect(),
        profile: table.implementation.as_ref().map(|it| profile_use(program, table, it.profile)),
        keeps_cells: keeps_cells(table),
    }
}

/// Whether there is state for each entry of a table, found by the entry's handle.
fn keeps_cells(table: &Table) -> bool {
    !table.direct_counters.is_empty() || table.direct_meter.is_some() || table.support_timeout || table.expires
}

/// The specifications of all action profiles, in the order of the program.
pub fn profile_specs(program: &Program) -> Vec<ProfileSpec> {
    let spec = |(id, profile): (ActionProfileId, &ir::ActionProfile)| ProfileSpec {
        name: profile.name.clone(),
        size: usize::try_from(profile.size).unwrap_or(usize::MAX),
        has_groups: profile.selector.is_some(),
        actions: profile_actions(program, id).into_iter().map(|listed| action_spec(program, None, listed)).collect(),
    };
    program.action_profiles.iter_enumerated().map(spec).collect()
}

/// The actions that members of a profile may run, in the order of the first table that uses it: those that all tables
/// with this profile list. The same action in several controls is several in the IR and has one name only if the
/// program declares it; what counts is the name.
pub fn profile_actions(program: &Program, profile: ActionProfileId) -> Vec<&TableAction> {
    let uses = |table: &&Table| table.implementation.as_ref().is_some_and(|it| it.profile == profile);
    let mut tables = program.tables.iter().filter(uses);
    let Some(first) = tables.next() else { return Vec::new() };
    let others: Vec<&Table> = tables.collect();
    let is_common = |listed: &&TableAction| {
        others.iter().all(|table| position_of(program, table, listed).is_some()) && !listed.default_only
    };
    first.actions.iter().filter(is_common).collect()
}

/// The position in a table's list of an action like this one.
fn position_of(program: &Program, table: &Table, wanted: &TableAction) -> Option<usize> {
    let widths = |listed: &TableAction| cgen::param_widths_bits(program, listed);
    let name = |listed: &TableAction| &program.actions[listed.action].name;
    let is_it = |listed: &TableAction| {
        listed.action == wanted.action || (name(listed) == name(wanted) && widths(listed) == widths(wanted))
    };
    table.actions.iter().position(is_it)
}

fn profile_use(program: &Program, table: &Table, profile: ActionProfileId) -> ProfileUse {
    let actions = profile_actions(program, profile);
    let position = |wanted: &TableAction| position_of(program, table, wanted).unwrap_or(0);
    ProfileUse { profile: profile.index(), actions: actions.into_iter().map(position).collect() }
}

/// An action as entries of a table, or members of a profile, run it.
fn action_spec(program: &Program, table: Option<&Table>, listed: &TableAction) -> ActionSpec {
    ActionSpec {
        name: program.actions[listed.action].name.clone(),
        param_widths_bits: cgen::param_widths_bits(program, listed),
        pre_encoded_params: table.map_or(Vec::new(), |table| cgen::pre_encoded_params(program, table, listed)),
        table_only: listed.table_only,
        default_only: listed.default_only,
    }
}

fn entry_spec(entry: &Entry) -> EntrySpec {
    EntrySpec {
        key: entry.key.clone(),
        priority: entry.priority,
        action: entry.call.action as usize,
        args: entry.call.args.clone(),
    }
}
