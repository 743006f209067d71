//! Routines in random programs: outlines runs of statements into routines.
//!
//! What enters: a program without routines. What leaves: a program with routines, some of which call others and some
//! of which are called twice in a row. `passes::inline` inlines them again.

use base::{Rng, Span};
use ir::walk::{Item, bodies_mut, visit_body, visit_own};
use ir::{Body, ExprKind, Program, Routine, Stmt, StmtKind};
use std::collections::BTreeSet;

/// Moves random runs of statements into routines.
pub fn outline(rng: &mut Rng, program: &mut Program) {
    let mut bodies: Vec<Body> = bodies_mut(program).into_iter().map(std::mem::take).collect();
    bodies.iter_mut().for_each(|body| outline_body(rng, program, body));
    let routines = std::mem::take(&mut program.routines);
    for (place, body) in bodies_mut(program).into_iter().zip(bodies) {
        *place = body;
    }
    program.routines = routines;
}

fn outline_body(rng: &mut Rng, program: &mut Program, body: &mut Body) {
    for stmt in body.iter_mut() {
        stmt.kind.bodies_mut().into_iter().for_each(|inner| outline_body(rng, program, inner));
    }
    let mut run = Vec::new();
    for stmt in std::mem::take(body) {
        if may_move(&stmt) && rng.chance(2, 3) {
            run.push(stmt);
            continue;
        }
        move_run(rng, program, &mut run, body);
        body.push(stmt);
    }
    move_run(rng, program, &mut run, body);
}

/// Appends the run as a call, or two equal runs as two calls.
fn move_run(rng: &mut Rng, program: &mut Program, run: &mut Body, body: &mut Body) {
    if run.is_empty() {
        return;
    }
    let moved = std::mem::take(run);
    let calls = if rng.chance(1, 3) { 2 } else { 1 };
    let name = format!("routine_{}", program.routines.len());
    let routine = program.routines.push(Routine { name, body: moved, span: Span::NONE });
    body.extend((0..calls).map(|_| Stmt { kind: StmtKind::Call(routine), span: Span::NONE }));
}

/// Whether a routine may contain the statement with everything in it.
fn may_move(stmt: &Stmt) -> bool {
    let (mut may_move, mut own, mut left) = (true, BTreeSet::new(), BTreeSet::new());
    visit_body(std::slice::from_ref(stmt), &mut |stmt| {
        may_move &= stmt.kind.may_be_in_routine();
        visit_own(&stmt.kind, &mut |item| {
            may_move &= !matches!(item, Item::Expr(expr) if matches!(expr.kind, ExprKind::PacketLength));
        });
        match &stmt.kind {
            StmtKind::Block { label, .. } => _ = own.insert(*label),
            StmtKind::Leave(label) => _ = left.insert(*label),
            _ => {}
        }
    });
    may_move && left.is_subset(&own)
}
