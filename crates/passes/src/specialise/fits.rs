//! Which tables are replaced.
//!
//! What enters: a program and the known contents of its tables. What leaves: whether a table is replaced. [`super`]
//! lists the limits.

use super::{Contents, ENTRIES_MAX};
use base::index::Id as _;
use base::{OrderedMap, OrderedSet};
use ir::walk::{self, Item};
use ir::{ActionCall, BlockKind, Program, StmtKind, TableId, VarId, VarKind};

/// Bits of all keys that the entries of one table compare.
const COMPARED_BITS_MAX: u32 = 512;

/// The most statements of the actions that replace a table.
const STATEMENTS_MAX: usize = 200;

/// Whether a block applies the table.
pub(super) fn is_applied(program: &Program, table: TableId) -> bool {
    let mut found = false;
    for body in walk::bodies(program) {
        walk::visit_body(body, &mut |stmt| {
            found |= matches!(&stmt.kind, StmtKind::ApplyTable { table: applied, .. } if *applied == table);
        });
    }
    found
}

/// Whether a table is replaced by its results.
pub(super) fn is_replaced(program: &Program, id: TableId, known: &Contents, private: &OrderedSet<VarId>) -> bool {
    let table = &program.tables[id];
    let key_bits: u32 = table.keys.iter().map(|key| key.expr.ty.width()).sum();
    let entries = known.entries.len();
    if entries > ENTRIES_MAX
        || key_bits.saturating_mul(entries as u32) > COMPARED_BITS_MAX
        || table.direct_meter.is_some()
        || table.adds_on_miss
        || table.expires
        || known.entries.iter().any(|entry| entry.key.len() != table.keys.len())
    {
        return false;
    }
    let mut positions: Vec<u32> = calls(known).map(|call| call.action).collect();
    positions.sort_unstable();
    positions.dedup();
    let mut statements = 0;
    let mut is_plain = true;
    for position in positions {
        let Some(listed) = table.actions.get(position as usize) else { return false };
        let action = &program.actions[listed.action];
        is_plain &= action.params.iter().all(|param| private.contains(param));
        walk::visit_body(&action.body, &mut |stmt| {
            statements += 1;
            is_plain &= !matches!(stmt.kind, StmtKind::Loop { .. });
        });
    }
    let fits = |call: &ActionCall| {
        let params = &program.actions[table.actions[call.action as usize].action].params;
        params.len() == call.args.len()
            && params.iter().zip(&call.args).all(|(&param, arg)| program.vars[param].ty.width() == arg.width())
    };
    is_plain && statements <= STATEMENTS_MAX && calls(known).all(fits)
}

/// All actions that a table may run.
fn calls(known: &Contents) -> impl Iterator<Item = &ActionCall> {
    known.entries.iter().map(|entry| &entry.call).chain([&known.default])
}

/// Parameters that only the body of their action mentions.
pub(super) fn private_params(program: &Program) -> OrderedSet<VarId> {
    let mut owners: OrderedMap<VarId, OrderedSet<usize>> = OrderedMap::new();
    let own = program.actions.len();
    let mut note = |item: Item<'_>, owner: usize| {
        if let Item::Var(var) = item {
            owners.entry(var).or_default().insert(owner);
        }
    };
    for (id, action) in program.actions.iter_enumerated() {
        action.params.iter().for_each(|&param| note(Item::Var(param), id.index()));
        walk::visit_body(&action.body, &mut |stmt| walk::visit_own(&stmt.kind, &mut |item| note(item, id.index())));
    }
    for table in &program.tables {
        walk::visit_table_inputs(table, &mut |item| note(item, own));
        if let Some((_, Some(place))) = &table.direct_meter {
            walk::visit_place(place, &mut |item| note(item, own));
        }
    }
    for block in &program.blocks {
        match &block.kind {
            BlockKind::Parser { states, error, .. } => {
                note(Item::Var(*error), own);
                for state in states {
                    walk::visit_body(&state.body, &mut |stmt| walk::visit_own(&stmt.kind, &mut |item| note(item, own)));
                    for expr in walk::transition_exprs(&state.transition) {
                        walk::visit_expr(expr, &mut |item| note(item, own));
                    }
                }
            }
            BlockKind::Control { body } => {
                walk::visit_body(body, &mut |stmt| walk::visit_own(&stmt.kind, &mut |item| note(item, own)));
            }
        }
    }
    let shared = program.field_lists.iter().flat_map(|list| &list.vars).chain(program.stacks.iter().map(|it| &it.next));
    shared.for_each(|&var| note(Item::Var(var), own));
    let mut params: OrderedMap<VarId, usize> = OrderedMap::new();
    for param in program.actions.iter().flat_map(|action| &action.params) {
        *params.entry(*param).or_default() += 1;
    }
    let is_private = |var: &VarId| {
        let is_local = program.vars[*var].kind == VarKind::Local;
        is_local && owners.get(var).is_some_and(|owners| owners.len() == 1)
    };
    params.into_iter().filter(|(var, uses)| *uses == 1 && is_private(var)).map(|(var, _)| var).collect()
}
