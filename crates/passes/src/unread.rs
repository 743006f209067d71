//! Removes assignments to the `next` of header stacks that are never read.
//!
//! Before:
//! ```text
//! extract h1
//! v0 = 32w0x1
//! ```
//! After (`v0` is the `next` of `stack0`, and no block reads it or the element at it):
//! ```text
//! extract h1
//! ```
//! Lowering maintains `next` for every stack, in metadata where the stack is there too, since any block may read it.
//! Few do, once the parser refers to elements by name (pass `unroll`). Pushes and pops do not count as reads: they only
//! update a value that is not read.

use crate::Pass;
use base::OrderedSet;
use ir::walk::{self, Item};
use ir::{BlockKind, Body, Expr, ExprKind, HeaderRef, Place, Program, StmtKind, VarId};

/// See the module.
pub const PASS: Pass =
    Pass { name: "unread", description: "removes assignments to positions in stacks that nothing reads", run };

fn run(program: &mut Program) {
    let mut unread: OrderedSet<VarId> = program.stacks.iter().map(|stack| stack.next).collect();
    unread.retain(|&var| program.vars[var].kind.slot().is_none());
    unread.retain(|var| program.field_lists.iter().all(|list| !list.vars.contains(var)));
    loop {
        // A variable that is only assigned to another counts as read only if that one is.
        let read = read_vars(program, &unread);
        if unread.is_disjoint(&read) {
            break;
        }
        unread.retain(|var| !read.contains(var));
    }
    for body in walk::bodies_mut(program) {
        remove_assignments(body, &unread);
    }
}

/// The variables that are read except in assignments to one of these.
fn read_vars(program: &Program, unread: &OrderedSet<VarId>) -> OrderedSet<VarId> {
    let mut found = OrderedSet::new();
    let mut see = |item: Item<'_>| match item {
        Item::Expr(Expr { kind: ExprKind::Var(var), .. }) => _ = found.insert(*var),
        _ => found.extend(next_of(program, item)),
    };
    for body in walk::bodies(program) {
        walk::visit_body(body, &mut |stmt| {
            if !is_assignment(&stmt.kind, unread) {
                walk::visit_own(&stmt.kind, &mut see);
            }
        });
    }
    for block in &program.blocks {
        let BlockKind::Parser { states, .. } = &block.kind else { continue };
        let exprs = states.iter().flat_map(|state| walk::transition_exprs(&state.transition));
        exprs.for_each(|expr| walk::visit_expr(expr, &mut see));
    }
    for table in &program.tables {
        walk::visit_table_inputs(table, &mut see);
        if let Some((_, Some(place))) = &table.direct_meter {
            walk::visit_place(place, &mut see);
        }
    }
    found
}

/// The `next` that determines the element of a reference.
pub(crate) fn next_of(program: &Program, item: Item<'_>) -> Option<VarId> {
    match item {
        Item::Header(HeaderRef::Next(stack) | HeaderRef::Last(stack))
        | Item::Field(HeaderRef::Next(stack) | HeaderRef::Last(stack), _) => Some(program.stacks[*stack].next),
        _ => None,
    }
}

fn is_assignment(kind: &StmtKind, vars: &OrderedSet<VarId>) -> bool {
    matches!(kind, StmtKind::Assign { dst: Place::Var(var), .. } if vars.contains(var))
}

fn remove_assignments(body: &mut Body, vars: &OrderedSet<VarId>) {
    body.retain(|stmt| !is_assignment(&stmt.kind, vars));
    for stmt in body {
        stmt.kind.bodies_mut().into_iter().for_each(|inner| remove_assignments(inner, vars));
    }
}
