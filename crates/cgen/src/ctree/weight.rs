//! The cost of a file for the C compiler, beyond its number of statements.

use super::{Expr, Item, Stmt};

/// The number of limbs in calls of functions for wide values. Where these functions are inlined, the compiler's time
/// grows with this number.
pub(crate) fn wide_limbs(items: &[Item]) -> u64 {
    let of_item = |item: &Item| match item {
        Item::Function { body, .. } => of_body(body),
        _ => 0,
    };
    items.iter().map(of_item).sum()
}

fn of_body(body: &[Stmt]) -> u64 {
    body.iter().map(of_stmt).sum()
}

fn of_stmt(stmt: &Stmt) -> u64 {
    match stmt {
        Stmt::Declare { value, .. } => value.as_ref().map_or(0, of_expr),
        Stmt::Assign(place, _, value) => of_expr(place) + of_expr(value),
        Stmt::Eval(value) | Stmt::Return(value) => of_expr(value),
        Stmt::If(condition, yes, no) => of_expr(condition) + of_body(yes) + of_body(no),
        Stmt::Switch { value, cases, default } => {
            of_expr(value) + cases.iter().map(|(_, body)| of_body(body)).sum::<u64>() + of_body(default)
        }
        Stmt::Loop(body) | Stmt::Block(body) => of_body(body),
        Stmt::For { first, condition, step, body } => {
            of_stmt(first) + of_expr(condition) + of_stmt(step) + of_body(body)
        }
        Stmt::Goto(_) | Stmt::Label(_) | Stmt::Comment(_) => 0,
    }
}

fn of_expr(value: &Expr) -> u64 {
    match value {
        Expr::Name(_) | Expr::Int(_) | Expr::Long(_) => 0,
        Expr::Unary(_, inner) | Expr::Cast(_, inner) | Expr::Arrow(inner, _) | Expr::Dot(inner, _) => of_expr(inner),
        Expr::Binary(_, left, right) | Expr::Index(left, right) => of_expr(left) + of_expr(right),
        Expr::Conditional(condition, yes, no) => of_expr(condition) + of_expr(yes) + of_expr(no),
        Expr::Call(function, arguments) => {
            let own = match &**function {
                Expr::Name(name) if name.starts_with("ws_wide_") => limbs_of_call(name, arguments),
                _ => 0,
            };
            own + arguments.iter().map(of_expr).sum::<u64>()
        }
        Expr::List(items) => items.iter().map(of_expr).sum(),
    }
}

/// The greatest number among the arguments is the width; a multiplication processes all pairs of limbs.
fn limbs_of_call(function: &str, arguments: &[Expr]) -> u64 {
    let number = |argument: &Expr| match argument {
        Expr::Int(number) => u64::from(*number),
        _ => 0,
    };
    let limbs = arguments.iter().map(number).max().unwrap_or(0).div_ceil(64).max(1);
    if function == "ws_wide_mul" { limbs * limbs } else { limbs }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::wide_limbs;

    #[test]
    fn limbs_are_those_of_the_width_for_each_call() {
        let add = || call("ws_wide_add", vec![name("d"), name("a"), name("b"), int(512)]);
        let multiply = call("ws_wide_mul", vec![name("d"), name("a"), name("b"), int(200)]);
        let body = vec![
            Stmt::Eval(add()),
            Stmt::If(call("ws_wide_eq", vec![name("a"), name("b"), int(65)]), vec![Stmt::Eval(add())], Vec::new()),
            Stmt::Eval(multiply),
            Stmt::Eval(call("ws_store64", vec![name("d"), int(4096)])),
        ];
        assert_eq!(wide_limbs(&[Item::Function { head: "void f(void)".into(), body }]), 8 + 2 + 8 + 16);
    }
}
