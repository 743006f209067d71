//! The labels of `switch` statements.
//!
//! What enters: the syntax tree of a program. What leaves: for the place of each `switch`, the places of its labels,
//! in the order of the values of the compiled statement: without those that share their statements with `default`.

use base::{OrderedMap, Span};
use syntax::ast::{Block, Declaration, DeclarationKind, ExprKind, Program, Statement, StatementKind, SwitchCase};

/// What is still to be visited.
enum Part<'t> {
    Declaration(&'t Declaration),
    Block(&'t Block),
    Statement(&'t Statement),
}

/// The labels of all `switch` statements.
pub fn of(tree: &Program) -> OrderedMap<(u32, u32), Vec<Span>> {
    let mut found = OrderedMap::new();
    let mut work: Vec<Part<'_>> = tree.declarations.iter().map(Part::Declaration).collect();
    while let Some(part) = work.pop() {
        match part {
            Part::Declaration(declaration) => declared(&declaration.kind, &mut work),
            Part::Block(block) => work.extend(block.statements.iter().map(Part::Statement)),
            Part::Statement(statement) => {
                if let StatementKind::Switch { cases, .. } = &statement.kind {
                    found.insert((statement.span.lo, statement.span.hi), labels(cases));
                }
                inner(&statement.kind, &mut work);
            }
        }
    }
    found
}

/// The labels of cases that are not `default` as well.
fn labels(cases: &[SwitchCase]) -> Vec<Span> {
    let (mut all, mut group, mut has_default) = (Vec::new(), Vec::new(), false);
    for case in cases {
        match case.label.kind {
            ExprKind::Default => has_default = true,
            _ => group.push(case.label.span),
        }
        if case.body.is_some() {
            let labels = std::mem::take(&mut group);
            if !std::mem::take(&mut has_default) {
                all.extend(labels);
            }
        }
    }
    all
}

fn declared<'t>(kind: &'t DeclarationKind, work: &mut Vec<Part<'t>>) {
    match kind {
        DeclarationKind::Action(it) => work.push(Part::Block(&it.body)),
        DeclarationKind::Function(it) => work.push(Part::Block(&it.body)),
        DeclarationKind::Instantiation(it) => {
            work.extend(it.initializer.iter().flatten().map(Part::Declaration));
        }
        DeclarationKind::Parser(it) => {
            work.extend(it.locals.iter().map(Part::Declaration));
            work.extend(it.states.iter().flat_map(|state| &state.statements).map(Part::Statement));
        }
        DeclarationKind::Control(it) => {
            work.extend(it.locals.iter().map(Part::Declaration));
            work.push(Part::Block(&it.body));
        }
        _ => {}
    }
}

fn inner<'t>(kind: &'t StatementKind, work: &mut Vec<Part<'t>>) {
    match kind {
        StatementKind::Block(block) => work.push(Part::Block(block)),
        StatementKind::Declaration(declaration) => work.push(Part::Declaration(declaration)),
        StatementKind::If { then_branch, else_branch, .. } => {
            work.push(Part::Statement(then_branch));
            work.extend(else_branch.iter().map(|it| Part::Statement(it)));
        }
        StatementKind::Switch { cases, .. } => {
            work.extend(cases.iter().filter_map(|case| case.body.as_ref()).map(Part::Block));
        }
        StatementKind::For(it) => work.push(Part::Statement(&it.body)),
        StatementKind::ForIn(it) => work.push(Part::Statement(&it.body)),
        _ => {}
    }
}
