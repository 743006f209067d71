//! Turns long chains of comparisons into `switch` statements.
//!
//! Before:
//! ```text
//! if (v2 == 8w0x1) {
//!   v0 = 9w0x1
//! } else {
//!   if ((v2 == 8w0x2) || (v2 == 8w0x3)) {
//!     v0 = 9w0x2
//!   } else {
//!     ...
//!   }
//! }
//! ```
//! After:
//! ```text
//! switch v2 {
//!   case 8w0x1 {
//!     v0 = 9w0x1
//!   }
//!   case 8w0x2 8w0x3 {
//!     v0 = 9w0x2
//!   }
//!   ...
//! }
//! ```
//! Nothing runs between two comparisons of a chain, so that all of them see the same value. A chain nests as deeply as
//! it is long, and the C compiler takes time that grows with the square of the depth; the arms of a `switch` do not
//! nest.
//!
//! The lowering makes long chains consecutive statements in a block, which become switches too. Before:
//! ```text
//! block l0 {
//!   if (v2 == 8w0x1) {
//!     v0 = 9w0x1
//!     leave l0
//!   }
//!   if (v2 == 8w0x2) {
//!     v0 = 9w0x2
//!     leave l0
//!   }
//!   ...
//!   v6 = v2
//! }
//! ```
//! After:
//! ```text
//! block l0 {
//!   switch v2 {
//!     case 8w0x1 {
//!       v0 = 9w0x1
//!       leave l0
//!     }
//!     case 8w0x2 {
//!       v0 = 9w0x2
//!       leave l0
//!     }
//!     ...
//!     default {
//!     }
//!   }
//!   v6 = v2
//! }
//! ```
//! An arm may leave any block, as long as it does not reach the next comparison.
//!
//! Limits: values of more than 64 bits are compared one by one in C anyway. A chain ends at the first condition that is
//! not an equality with a constant, or several of them joined by `||`.

use crate::Pass;
use base::{Bits, OrderedSet};
use ir::walk;
use ir::{BinaryOp, Body, Expr, ExprKind, Program, Stmt, StmtKind, SwitchCase, Type};

/// See the module.
pub const PASS: Pass = Pass { name: "chains", description: "turns long chains of comparisons into switches", run };

/// The number of comparisons from which a chain becomes a switch: with fewer, the C compiler optimises the chain
/// better.
const ARMS_MIN: usize = 8;

/// The widest value that C has a `switch` for.
const WIDTH_BITS_MAX: u32 = 64;

fn run(program: &mut Program) {
    for body in walk::bodies_mut(program) {
        rewrite(body);
    }
}

fn rewrite(body: &mut Body) {
    let mut stmts = std::mem::take(body).into_iter();
    while !stmts.as_slice().is_empty() {
        let (value, count) = row(stmts.as_slice());
        let taken = stmts.by_ref().take(count.max(1));
        match value.filter(|_| count >= ARMS_MIN) {
            Some(value) => body.push(switch_of_row(taken.collect(), value)),
            None => body.extend(taken.map(|stmt| match long_chain(&stmt) {
                Some(value) => switch(stmt, value),
                None => stmt,
            })),
        }
    }
    for stmt in body {
        stmt.kind.bodies_mut().into_iter().for_each(rewrite);
    }
}

/// The value that the first statements compare, and the number of consecutive statements that do.
fn row(stmts: &[Stmt]) -> (Option<Expr>, usize) {
    let first = stmts.first().and_then(leaving_arm).and_then(compared);
    let Some(value) = first else { return (None, 0) };
    let is_arm = |stmt: &&Stmt| leaving_arm(stmt).is_some_and(|cond| compares(cond, value, &mut Vec::new()));
    (Some(value.clone()), stmts.iter().take_while(is_arm).count())
}

/// The condition of an `if` whose body never reaches the statements after it.
fn leaving_arm(stmt: &Stmt) -> Option<&Expr> {
    let StmtKind::If { cond, then_body, else_body } = &stmt.kind else { return None };
    let leaves = matches!(then_body.last(), Some(Stmt { kind: StmtKind::Leave(_), .. }));
    (leaves && else_body.is_empty()).then_some(cond)
}

/// The compared value, if a long enough chain begins with the statement.
fn long_chain(stmt: &Stmt) -> Option<Expr> {
    let StmtKind::If { cond, .. } = &stmt.kind else { return None };
    let value = compared(cond)?;
    let mut next = std::slice::from_ref(stmt);
    // No more comparisons are visited than needed, since this runs for each statement of a chain that is too short.
    for _ in 0..ARMS_MIN {
        let [Stmt { kind: StmtKind::If { cond, else_body, .. }, .. }] = next else { return None };
        if !compares(cond, value, &mut Vec::new()) {
            return None;
        }
        next = else_body;
    }
    Some(value.clone())
}

/// The value that a condition first compares with a constant.
fn compared(cond: &Expr) -> Option<&Expr> {
    match &cond.kind {
        ExprKind::Binary(BinaryOp::LogicalOr, left, _) => compared(left),
        ExprKind::Binary(BinaryOp::Eq, value, constant) => {
            let has_switch = value.ty != Type::Bool && value.ty.width() <= WIDTH_BITS_MAX;
            (has_switch && value.as_const().is_none() && constant.as_const().is_some()).then_some(value)
        }
        _ => None,
    }
}

/// The constants for which a condition holds, if it holds exactly for some constants.
fn compares(cond: &Expr, value: &Expr, constants: &mut Vec<Bits>) -> bool {
    match &cond.kind {
        ExprKind::Binary(BinaryOp::LogicalOr, left, right) => {
            compares(left, value, constants) && compares(right, value, constants)
        }
        ExprKind::Binary(BinaryOp::Eq, left, right) => match right.as_const() {
            Some(constant) if **left == *value => {
                constants.push(constant.clone());
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// The switch that a chain of comparisons of this value becomes.
fn switch(first: Stmt, value: Expr) -> Stmt {
    let span = first.span;
    let (mut rest, mut cases) = (vec![first], Cases::default());
    while let Some((values, body)) = take_arm(&mut rest, &value) {
        cases.add(values, body);
    }
    Stmt { kind: StmtKind::Switch { value, cases: cases.cases, default: rest }, span }
}

/// The switch that consecutive comparisons of this value become.
fn switch_of_row(row: Body, value: Expr) -> Stmt {
    let (span, mut cases) = (row[0].span, Cases::default());
    for stmt in row {
        if let Some((values, body)) = take_arm(&mut vec![stmt], &value) {
            cases.add(values, body);
        }
    }
    Stmt { kind: StmtKind::Switch { value, cases: cases.cases, default: Vec::new() }, span }
}

/// The cases of a switch.
#[derive(Default)]
struct Cases {
    cases: Vec<SwitchCase>,
    /// All their values.
    seen: OrderedSet<Bits>,
}

impl Cases {
    fn add(&mut self, mut values: Vec<Bits>, body: Body) {
        // Values of earlier arms do not reach this one.
        values.retain(|constant| self.seen.insert(constant.clone()));
        if !values.is_empty() {
            self.cases.push(SwitchCase { values, body });
        }
    }
}

/// Takes the first arm from the rest of a chain, if it compares this value.
fn take_arm(rest: &mut Body, value: &Expr) -> Option<(Vec<Bits>, Body)> {
    let [Stmt { kind: StmtKind::If { cond, then_body, else_body }, .. }] = &mut rest[..] else { return None };
    let mut constants = Vec::new();
    if !compares(cond, value, &mut constants) {
        return None;
    }
    let (then_body, else_body) = (std::mem::take(then_body), std::mem::take(else_body));
    *rest = else_body;
    Some((constants, then_body))
}
