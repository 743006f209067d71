//! A random control plane: how it sets up a switch, and what it changes between packets.
//!
//! What enters: a random generator, the entries that the program's tables may have. What leaves: nothing; the switch,
//! or its tables alone, are changed. The same seed has the same effect on every switch that runs the same program,
//! whatever the engine; all refuse the same changes.

use base::index::Id as _;
use base::{Bits, FieldMatch, Rng};
use ir::{Entry, Program, TableId};
use std::sync::Arc;
use switch::{CloneProperties, CloneTarget, LockedTables, MeterConfig, Replica, SharedTables, Switch};
use tables::{ActionCall, EntrySpec, Handle, Operation, ProfileOperation};

/// Entries with their tables.
pub(super) type Entries = [(TableId, Entry)];

/// Sets up everything that packets need: entries, groups, sets, meters.
pub(super) fn set_up(rng: &mut Rng, switch: &mut Switch, entries: &Entries) {
    let program = Arc::clone(switch.program());
    set_up_profiles(rng, switch);
    for (table, entry) in entries {
        let spec = entry_spec(rng, &program, *table, entry);
        let _refused = switch.tables().insert(table.index(), spec);
    }
    set_up_replication(rng, switch);
    set_up_value_sets(rng, switch);
    set_up_meters(rng, switch);
}

/// Changes tables and profiles, as another thread may while packets are processed.
pub(super) fn change_tables(rng: &mut Rng, program: &Program, tables: &SharedTables, entries: &Entries) {
    let mut tables = tables.lock();
    change_entries(rng, program, &mut tables, entries);
    change_defaults(rng, program, &mut tables);
    change_profiles(rng, &mut tables);
}

/// Changes what only the owner of a switch can change: groups, sessions, sets, meters, the contents of registers and
/// counters.
pub(super) fn change_rest(rng: &mut Rng, switch: &mut Switch) {
    if rng.chance(1, 3) {
        set_up_replication(rng, switch);
    }
    if rng.chance(1, 4) {
        set_up_value_sets(rng, switch);
    }
    if rng.chance(1, 4) {
        set_up_meters(rng, switch);
    }
    let program = Arc::clone(switch.program());
    let externs = switch.externs_mut();
    for (id, register) in program.registers.iter_enumerated() {
        if rng.chance(1, 4) {
            let value = Bits::from_u64(64, rng.next_u64()).resize(register.ty.width());
            externs.registers[id].write(rng.below(4), &value);
        }
    }
    for cells in externs.counters.iter_mut().chain(externs.direct_counters.iter_mut()) {
        if rng.chance(1, 4) {
            cells.iter_mut().for_each(|cell| *cell = Default::default());
        }
    }
}

fn entry_spec(rng: &mut Rng, program: &Program, table: TableId, entry: &Entry) -> EntrySpec {
    let has_profile = program.tables[table].implementation.is_some();
    let call = if has_profile { member_or_group(rng) } else { entry.call.clone() };
    EntrySpec { key: entry.key.clone(), priority: entry.priority, action: call.action as usize, args: call.args }
}

/// Deletes and modifies some entries, and inserts some that were deleted. Sometimes no entry is left.
fn change_entries(rng: &mut Rng, program: &Program, tables: &mut LockedTables<'_>, entries: &Entries) {
    for (table, entry) in entries {
        let handle = Handle(rng.below(tables.tables()[table.index()].len() as u64 + 2) as u32);
        let spec = entry_spec(rng, program, *table, entry);
        let operation = match rng.below(16) {
            0..4 => Operation::Insert(spec),
            4..8 => Operation::Delete { handle },
            8..12 => Operation::Modify { handle, action: spec.action, args: spec.args },
            12 => Operation::Clear,
            _ => continue,
        };
        let _refused = tables.perform(table.index(), operation);
    }
}

/// Changes the default actions of some tables, or restores the original ones.
fn change_defaults(rng: &mut Rng, program: &Program, tables: &mut LockedTables<'_>) {
    for (id, table) in program.tables.iter_enumerated() {
        let operation = match rng.below(4) {
            0 if !table.actions.is_empty() => {
                let action = rng.below(table.actions.len() as u64) as usize;
                let params = &program.actions[table.actions[action].action].params;
                let args = params.iter().map(|&param| random_bits(rng, program.vars[param].ty.width())).collect();
                Operation::SetDefault(ActionCall { action, args })
            }
            1 => Operation::ResetDefault,
            _ => continue,
        };
        let _refused = tables.perform(id.index(), operation);
    }
}

/// Changes members and their groups.
fn change_profiles(rng: &mut Rng, tables: &mut LockedTables<'_>) {
    for profile in 0..tables.profiles().len() {
        for _ in 0..PROFILE_HANDLES {
            let handle = |rng: &mut Rng| Handle(rng.below(PROFILE_HANDLES) as u32);
            let (member, group) = (handle(rng), handle(rng));
            let call = random_call(rng, tables, profile);
            let operation = match rng.below(10) {
                0 => ProfileOperation::CreateMember(call),
                1 | 2 => ProfileOperation::ModifyMember { member, call },
                3 => ProfileOperation::DeleteMember { member },
                4 => ProfileOperation::DeleteGroup { group },
                5 => ProfileOperation::SetGroup { group, members: [(member, rng.below(3) as u32)].into() },
                6..9 => {
                    let mut members = tables.profiles()[profile].group(group).cloned().unwrap_or_default();
                    if members.remove(&member).is_none() {
                        members.insert(member, 1);
                    }
                    ProfileOperation::SetGroup { group, members }
                }
                _ => continue,
            };
            let _refused = tables.perform_profile(profile, operation);
        }
    }
}

fn random_bits(rng: &mut Rng, width: u32) -> Bits {
    Bits::from_u64(64, rng.next_u64()).resize(width)
}

/// A call of one of a profile's actions.
fn random_call(rng: &mut Rng, tables: &LockedTables<'_>, profile: usize) -> ActionCall {
    let spec = tables.profiles()[profile].spec();
    let action = rng.below(spec.actions.len().max(1) as u64) as usize;
    let widths = spec.actions.get(action).map_or(&[][..], |action| &action.param_widths_bits);
    ActionCall { action, args: widths.iter().map(|&width| random_bits(rng, width)).collect() }
}

/// Handles of members and groups, including some that do not exist.
const PROFILE_HANDLES: u64 = 5;

/// Members with random arguments, and groups of them.
fn set_up_profiles(rng: &mut Rng, switch: &Switch) {
    let mut tables = switch.tables();
    for profile in 0..tables.profiles().len() {
        for _ in 0..PROFILE_HANDLES - 1 {
            let call = random_call(rng, &tables, profile);
            // Every switch refuses members for which the profile has no room, and groups in a profile without a
            // selector.
            let _refused = tables.perform_profile(profile, ProfileOperation::CreateMember(call));
        }
        for group in 0..PROFILE_HANDLES - 1 {
            let _refused = tables.perform_profile(profile, ProfileOperation::CreateGroup);
            let members = (0..PROFILE_HANDLES as u32 - 1).filter(|_| rng.chance(1, 2));
            let members = members.map(|member| (Handle(member), 1)).collect();
            let operation = ProfileOperation::SetGroup { group: Handle(group as u32), members };
            let _refused = tables.perform_profile(profile, operation);
        }
    }
}

/// The action of an entry in a table with a profile.
fn member_or_group(rng: &mut Rng) -> ir::ActionCall {
    let handle = rng.below(PROFILE_HANDLES) as u32;
    if rng.chance(1, 2) { ir::ActionCall::member(handle) } else { ir::ActionCall::group(handle) }
}

fn set_up_replication(rng: &mut Rng, switch: &mut Switch) {
    let replication = switch.replication_mut();
    for group in 1..3 {
        let replica = |rng: &mut Rng| Replica { rid: rng.below(4), port: rng.below(4) as u32 };
        let replicas = (0..rng.below(4)).map(|_| replica(rng)).collect();
        replication.set_group(group, replicas).expect("few replicas are allowed");
    }
    for session in 0..3 {
        let target = match rng.chance(1, 2) {
            true => CloneTarget::Group(rng.between(1, 3)),
            false => CloneTarget::Replicas(vec![Replica { rid: 0, port: rng.below(4) as u32 }]),
        };
        replication.set_session(session, target, CloneProperties::default()).expect("small sessions are allowed");
    }
}

fn set_up_value_sets(rng: &mut Rng, switch: &mut Switch) {
    let program = Arc::clone(switch.program());
    for (id, set) in program.value_sets.iter_enumerated() {
        for _ in 0..rng.below(3) {
            let small = |rng: &mut Rng, width: u32| Bits::from_u64(64, rng.below(8)).resize(width);
            let key = |(_, width, kind): &(String, u32, base::MatchKind)| match kind {
                base::MatchKind::Exact => FieldMatch::Exact(small(rng, *width)),
                base::MatchKind::Optional => FieldMatch::Optional(Some(small(rng, *width))),
                base::MatchKind::Range => FieldMatch::Range { low: Bits::zero(*width), high: small(rng, *width) },
                base::MatchKind::Lpm => {
                    FieldMatch::Lpm { value: Bits::zero(*width), prefix_len: rng.between(0, u64::from(*width)) as u32 }
                }
                base::MatchKind::Ternary => {
                    let mask = small(rng, *width);
                    FieldMatch::Ternary { value: small(rng, *width).and(&mask), mask }
                }
            };
            let member = set.keys.iter().map(key).collect();
            switch.externs_mut().value_sets[id].push(member);
        }
    }
}

/// Sets up meters whose buckets are empty after a few packets.
fn set_up_meters(rng: &mut Rng, switch: &mut Switch) {
    let externs = switch.externs_mut();
    for meter in externs.meters.iter_mut().chain(externs.direct_meters.iter_mut()) {
        for index in 0..meter.size().min(64) {
            let committed_rate_milliunits_per_s = rng.below(1_000_000_000);
            let config = MeterConfig {
                committed_rate_milliunits_per_s,
                committed_burst: rng.below(500),
                peak_rate_milliunits_per_s: committed_rate_milliunits_per_s + rng.below(1_000_000_000),
                peak_burst: 500 + rng.below(500),
            };
            if let Some(cell) = meter.cell(index).filter(|_| rng.chance(1, 2)) {
                cell.configure(config, 0);
            }
        }
    }
}
