//! Whatever the control plane does to tables, lookups give the results that the definition of a match requires.
//!
//! The generators of random tables, entries and keys, and the comparison with a linear scan, are those of the
//! engines' tests.

#[path = "../../../crates/tables/tests/support/mod.rs"]
mod support;

use base::Rng;
use support::{check_lookups, random_args, random_entry, random_key_fields, table_spec};
use tables::{ActionCall, Handle, Operation, Table, TableKind, TableSet, TableSpec, Update};

/// Tables of every kind. Entries are added one by one or in batches, modified and removed, again and again.
pub fn run(rng: &mut Rng) -> Result<(), String> {
    const KINDS: [TableKind; 5] =
        [TableKind::Keyless, TableKind::Exact, TableKind::Lpm, TableKind::Ternary, TableKind::Range];
    let specs: Vec<TableSpec> = (0..rng.between(1, 4)).map(|_| random_spec(rng, &KINDS)).collect();
    let mut set = TableSet::new(specs, rng.next_u64()).map_err(|error| error.to_string())?;
    let mut reader = set.reader();
    for _ in 0..rng.between(20, 120) {
        let before: Vec<Table> = set.tables().to_vec();
        let count = rng.between(1, 4);
        let updates: Vec<Update> = (0..count).map(|_| random_update(rng, &set)).collect();
        if set.apply(updates).is_err() {
            let is_same = |(before, after): (&Table, &Table)| {
                before.entries().eq(after.entries()) && before.default_action() == after.default_action()
            };
            if !before.iter().zip(set.tables()).all(is_same) {
                return Err("a batch that was refused has changed a table".to_owned());
            }
        }
        // Fewer and more than a burst, and more than a few vectors of keys.
        let keys = *rng.pick(&[1, 3, 8, 70]);
        for (index, table) in set.tables().iter().enumerate() {
            check_lookups(rng, &reader.enter(), index, table, keys);
        }
    }
    Ok(())
}

fn random_spec(rng: &mut Rng, kinds: &[TableKind]) -> TableSpec {
    let kind = *rng.pick(kinds);
    let size = *rng.pick(&[8, 100, 1500]);
    // Otherwise entries may share an action call.
    TableSpec { keeps_cells: rng.chance(1, 2), ..table_spec(&random_key_fields(rng, kind), size) }
}

fn random_update(rng: &mut Rng, set: &TableSet) -> Update {
    let index = rng.below(set.tables().len() as u64) as usize;
    let table = &set.tables()[index];
    let spec = table.spec();
    let handle = Handle(rng.below(table.len() as u64 + 3) as u32);
    let action = rng.below(spec.actions.len() as u64) as usize;
    let operation = match rng.below(100) {
        0..45 => Operation::Insert(random_entry(rng, spec)),
        45..60 => {
            let most = if rng.chance(1, 8) { 400 } else { 20 };
            // If one of them exists already, the whole batch is undone.
            Operation::InsertMany((0..rng.below(most)).map(|_| random_entry(rng, spec)).collect())
        }
        60..72 => Operation::Modify { handle, action, args: random_args(rng, &spec.actions[action]) },
        72..96 => Operation::Delete { handle },
        96 if rng.chance(1, 4) => Operation::Clear,
        96..98 => Operation::ResetDefault,
        _ => Operation::SetDefault(ActionCall { action, args: random_args(rng, &spec.actions[action]) }),
    };
    Update { table: index, operation }
}
