//! Walks over statements and expressions.

use crate::{Expr, StatePart, Stmt};

/// Visits each statement, before those inside of it.
pub fn stmts<'l>(body: &'l [Stmt], visit: &mut dyn FnMut(&'l Stmt)) {
    for stmt in body {
        visit(stmt);
        bodies(stmt, &mut |inner| stmts(inner, visit));
    }
}

/// Visits the bodies inside of a statement.
pub fn bodies<'l>(stmt: &'l Stmt, visit: &mut dyn FnMut(&'l [Stmt])) {
    match stmt {
        Stmt::If(_, yes, no) => {
            visit(yes);
            visit(no);
        }
        Stmt::Switch { cases, default, .. } => {
            cases.iter().for_each(|(_, body)| visit(body));
            visit(default);
        }
        Stmt::Loop(body) | Stmt::Block(body) | Stmt::LookUp { key: body, .. } => visit(body),
        _ => {}
    }
}

/// Visits the expressions that belong to a statement itself.
pub fn exprs<'l>(stmt: &'l Stmt, visit: &mut dyn FnMut(&'l Expr)) {
    match stmt {
        Stmt::Declare { value, .. } => value.iter().for_each(visit),
        Stmt::Assign(place, _, value) => {
            visit(place);
            visit(value);
        }
        Stmt::Eval(value) | Stmt::End(value) | Stmt::Punt(value) | Stmt::If(value, ..) => visit(value),
        Stmt::Switch { value, cases, .. } => {
            visit(value);
            cases.iter().flat_map(|(values, _)| values).for_each(visit);
        }
        _ => {}
    }
}

/// Visits an expression and those inside of it.
pub fn expr<'l>(value: &'l Expr, visit: &mut dyn FnMut(&'l Expr)) {
    visit(value);
    match value {
        Expr::Name(_) | Expr::State(_) | Expr::Saved(_) | Expr::Env(..) | Expr::Int(_) | Expr::Long(_) => {}
        Expr::Unary(_, inner) | Expr::Cast(_, inner) | Expr::Arrow(inner, _) | Expr::Dot(inner, _) => {
            expr(inner, visit);
        }
        Expr::Binary(_, left, right) | Expr::Index(left, right) => {
            expr(left, visit);
            expr(right, visit);
        }
        Expr::Conditional(condition, yes, no) => [condition, yes, no].into_iter().for_each(|it| expr(it, visit)),
        Expr::Call(function, arguments) => {
            expr(function, visit);
            arguments.iter().for_each(|it| expr(it, visit));
        }
        Expr::List(items) => items.iter().for_each(|it| expr(it, visit)),
    }
}

/// Visits every expression in a body.
pub fn all_exprs<'l>(body: &'l [Stmt], visit: &mut dyn FnMut(&'l Expr)) {
    stmts(body, &mut |stmt| exprs(stmt, &mut |value| expr(value, visit)));
}

/// Visits every mention of state in its variable.
pub fn states(body: &[Stmt], visit: &mut dyn FnMut(StatePart)) {
    all_exprs(body, &mut |value| {
        if let Expr::State(state) = value {
            visit(*state);
        }
    });
}

/// Whether a packet never reaches the end of a body.
pub fn ends(body: &[Stmt]) -> bool {
    let last = body.iter().rev().find(|stmt| !matches!(stmt, Stmt::Comment(_)));
    last.is_some_and(|last| match last {
        Stmt::If(_, yes, no) => ends(yes) && ends(no),
        Stmt::Switch { cases, default, .. } => ends(default) && cases.iter().all(|(_, body)| ends(body)),
        Stmt::Block(body) => ends(body),
        Stmt::Loop(_) | Stmt::Goto(_) | Stmt::Go(_) | Stmt::Pass(_) | Stmt::LookUp { .. } => true,
        Stmt::End(_) | Stmt::Punt(_) | Stmt::Leave => true,
        _ => false,
    })
}
