//! Parts of controls that are too long for one function.
//!
//! What enters: the body of a control that is not split at its tables. What leaves: the body in parts, each a sequence
//! of statements that becomes a C function of its own. A C compiler takes time and memory that grow faster than a
//! function's length, so a control of thousands of tables is either split or hardly optimised at all. Variables that
//! are live across parts have a place in the packet's context.

use ir::{Program, Stmt, StmtKind};

/// Statements up to which a control is one function.
const SPLIT_FROM: usize = 2_000;

/// Statements of a part; one that is longer is a single statement.
const PART_STATEMENTS_MAX: usize = 400;

/// The parts of a body; one if it is not split.
pub(crate) fn parts<'p>(program: &'p Program, body: &'p [Stmt]) -> Vec<&'p [Stmt]> {
    let body = inner(body);
    let lengths: Vec<usize> = body.iter().map(|stmt| length(program, stmt)).collect();
    if lengths.iter().sum::<usize>() <= SPLIT_FROM {
        return vec![body];
    }
    let (mut parts, mut begin, mut sum) = (Vec::new(), 0, 0);
    for (position, length) in lengths.into_iter().enumerate() {
        if sum + length > PART_STATEMENTS_MAX && position > begin {
            parts.push(&body[begin..position]);
            (begin, sum) = (position, 0);
        }
        sum += length;
    }
    parts.push(&body[begin..]);
    parts
}

/// The statements of a block that is the whole body: leaving it ends the control.
fn inner(body: &[Stmt]) -> &[Stmt] {
    match body {
        [Stmt { kind: StmtKind::Block { body, .. }, .. }] => inner(body),
        _ => body,
    }
}

/// Statements of a statement, those of the actions of tables included.
fn length(program: &Program, stmt: &Stmt) -> usize {
    let mut sum = 0;
    ir::walk::visit_body(std::slice::from_ref(stmt), &mut |stmt| {
        sum += 1;
        let StmtKind::ApplyTable { table, .. } = &stmt.kind else { return };
        for listed in &program.tables[*table].actions {
            let action = &program.actions[listed.action];
            sum += action.params.len();
            ir::walk::visit_body(&action.body, &mut |_| sum += 1);
        }
    });
    sum
}
