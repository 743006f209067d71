//! Removes unused constants and labels from a function.

use super::{Expr, Stmt};
use base::OrderedSet;

/// Removes declarations of constants that no expression names, and labels that no `goto` leads to.
pub(crate) fn prune(body: &mut Vec<Stmt>) {
    loop {
        let mut used = OrderedSet::new();
        body.iter().for_each(|stmt| names_in(stmt, &mut used));
        if !remove(body, &used) {
            return;
        }
    }
}

/// Whether statements mention a name.
pub(crate) fn mentions(body: &[Stmt], name: &str) -> bool {
    let mut used = OrderedSet::new();
    body.iter().for_each(|stmt| names_in(stmt, &mut used));
    used.contains(name)
}

fn names_in(stmt: &Stmt, used: &mut OrderedSet<String>) {
    let mut all = |body: &[Stmt]| body.iter().for_each(|stmt| names_in(stmt, used));
    match stmt {
        Stmt::If(condition, yes, no) => {
            all(yes);
            all(no);
            names_of(condition, used);
        }
        Stmt::Switch { value, cases, default } => {
            cases.iter().for_each(|(_, body)| all(body));
            all(default);
            names_of(value, used);
        }
        Stmt::Loop(body) | Stmt::Block(body) => all(body),
        Stmt::For { first, condition, step, body } => {
            all(body);
            names_in(first, used);
            names_in(step, used);
            names_of(condition, used);
        }
        Stmt::Declare { value, .. } => value.iter().for_each(|value| names_of(value, used)),
        Stmt::Assign(place, _, value) => {
            names_of(place, used);
            names_of(value, used);
        }
        Stmt::Eval(value) | Stmt::Return(value) => names_of(value, used),
        Stmt::Goto(label) => {
            used.insert(label.clone());
        }
        Stmt::Label(_) | Stmt::Comment(_) => {}
    }
}

fn names_of(value: &Expr, used: &mut OrderedSet<String>) {
    match value {
        Expr::Name(name) => {
            used.insert(name.clone());
        }
        Expr::Int(_) | Expr::Long(_) => {}
        Expr::Unary(_, inner) | Expr::Cast(_, inner) | Expr::Arrow(inner, _) | Expr::Dot(inner, _) => {
            names_of(inner, used)
        }
        Expr::Binary(_, left, right) | Expr::Index(left, right) => {
            names_of(left, used);
            names_of(right, used);
        }
        Expr::Conditional(condition, yes, no) => {
            names_of(condition, used);
            names_of(yes, used);
            names_of(no, used);
        }
        Expr::Call(function, arguments) => {
            names_of(function, used);
            arguments.iter().for_each(|argument| names_of(argument, used));
        }
        Expr::List(items) => items.iter().for_each(|item| names_of(item, used)),
    }
}

/// Whether anything was removed.
fn remove(body: &mut Vec<Stmt>, used: &OrderedSet<String>) -> bool {
    let before = body.len();
    // A jump to the next statement.
    let idle = |last: Option<&Stmt>, next: &Stmt| match (last, next) {
        (Some(Stmt::Goto(target)), Stmt::Label(label)) => target == label,
        _ => false,
    };
    let mut left: Vec<Stmt> = Vec::with_capacity(body.len());
    for stmt in body.drain(..) {
        while idle(left.last(), &stmt) {
            left.pop();
        }
        left.push(stmt);
    }
    *body = left;
    for stmt in body.iter_mut() {
        if let Stmt::Declare { name, value: Some(value), .. } = stmt
            && !used.contains(name)
            && let Some(call) = callback(value)
        {
            *stmt = Stmt::Eval(call.clone());
        }
    }
    body.retain(|stmt| match stmt {
        Stmt::Declare { ty, name, .. } => {
            !is_constant(ty) || name.split(' ').next().is_some_and(|name| used.contains(name))
        }
        Stmt::Label(name) => used.contains(name),
        _ => true,
    });
    let mut removed = body.len() != before;
    for stmt in body {
        removed |= match stmt {
            Stmt::If(_, yes, no) => remove(yes, used) | remove(no, used),
            Stmt::Switch { cases, default, .. } => {
                cases.iter_mut().fold(remove(default, used), |removed, (_, body)| removed | remove(body, used))
            }
            Stmt::Loop(body) | Stmt::Block(body) | Stmt::For { body, .. } => remove(body, used),
            _ => false,
        };
    }
    removed
}

/// Whether a variable of this type never changes. (An attribute may follow its name.)
fn is_constant(ty: &str) -> bool {
    ty.starts_with("const uint") || ty.starts_with("static const")
}

/// The callback that computes a value: it must run even if the value is unused. Functions of the runtime have no side
/// effects.
fn callback(value: &Expr) -> Option<&Expr> {
    match value {
        Expr::Call(function, _) => (!matches!(**function, Expr::Name(_))).then_some(value),
        Expr::Cast(_, inner) => callback(inner),
        _ => None,
    }
}
