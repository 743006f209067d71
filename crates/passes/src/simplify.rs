//! Constant folding and algebra on expressions.
//!
//! Before:
//! ```text
//! v0 = ((v0 + 9w0x0) & (9w0xff | 9w0x100))
//! if (true && !(v1 == v2)) {
//!   stack0[8w0x1].0 = bit<8>(bit<32>(v3))
//! }
//! ```
//! After (with `v3` a `bit<8>`):
//! ```text
//! v0 = v0
//! if (v1 != v2) {
//!   h2.0 = v3
//! }
//! ```
//! Inlining and lowering leave constants where the source had parameters; the C compiler would do the same, but the
//! other passes and the planner need the simpler form too. Constants are computed by the interpreter's own functions,
//! so that there is one meaning of each operator.
//!
//! Limits: sums are not reordered (`(a + 1) + 1` stays), and comparisons are not reasoned about beyond equal operands
//! and the ends of the range.

use crate::Pass;
use base::{Bits, IndexVec};
use interp::{binary, cast, unary};
use ir::walk::{self, Part};
use ir::{BinaryOp, Expr, ExprKind, HeaderRef, Program, Stack, StackId, Type, UnaryOp};

/// See the module.
pub const PASS: Pass = Pass { name: "simplify", description: "folds constants and simplifies expressions", run };

fn run(program: &mut Program) {
    let stacks = program.stacks.clone();
    walk::rewrite_program(program, &mut |part| change(&stacks, part));
}

/// Simplifies an expression whose parts are simple, or a reference.
pub(crate) fn change(stacks: &IndexVec<StackId, Stack>, part: Part<'_>) {
    match part {
        Part::Expr(expr) => {
            // An identity may uncover another; each makes the expression smaller, so this ends.
            while let Some(simpler) = simplified(expr) {
                *expr = simpler;
            }
        }
        Part::Header(header) => {
            if let Some(fixed) = fixed_element(stacks, header) {
                *header = fixed;
            }
        }
    }
}

/// The element at a constant index. One out of range is left for run time.
fn fixed_element(stacks: &IndexVec<StackId, Stack>, header: &HeaderRef) -> Option<HeaderRef> {
    let HeaderRef::Element { stack, index } = header else { return None };
    let index = usize::try_from(index.as_const()?.to_u64()?).ok()?;
    stacks[*stack].elements.get(index).copied().map(HeaderRef::Fixed)
}

/// A simpler expression with the same value and type, if one is known.
fn simplified(expr: &Expr) -> Option<Expr> {
    let ty = expr.ty;
    match &expr.kind {
        ExprKind::Unary(op, operand) => simplified_unary(*op, operand),
        ExprKind::Binary(op, left, right) => match (left.as_const(), right.as_const()) {
            (Some(a), Some(b)) => Some(Expr::constant(ty, binary(*op, left.ty, a, b))),
            (Some(a), None) => left_constant(*op, left, a, right),
            (None, Some(b)) => right_constant(*op, left, right, b),
            (None, None) if left == right => same_operands(*op, left),
            (None, None) => None,
        },
        ExprKind::Mux(cond, yes, no) => simplified_mux(cond, yes, no),
        ExprKind::Cast(operand) => simplified_cast(ty, operand),
        ExprKind::Slice { base, high, low } => simplified_slice(base, *high, *low),
        ExprKind::Concat(high, low) => match (high.as_const(), low.as_const()) {
            (Some(a), Some(b)) => Some(Expr::constant(ty, a.concat(b))),
            (Some(a), None) if a.is_zero() && !low.ty.is_signed() => Some(Expr::cast(ty, (**low).clone())),
            _ => None,
        },
        ExprKind::Const(_)
        | ExprKind::Var(_)
        | ExprKind::Field(..)
        | ExprKind::IsValid(_)
        | ExprKind::VarbitEqual(..)
        | ExprKind::VarbitLength(..)
        | ExprKind::VarbitBits(..)
        | ExprKind::PacketLength => None,
    }
}

fn simplified_unary(op: UnaryOp, operand: &Expr) -> Option<Expr> {
    if let Some(value) = operand.as_const() {
        return Some(Expr::constant(operand.ty, unary(op, value)));
    }
    match &operand.kind {
        ExprKind::Unary(inner, twice) if *inner == op => Some((**twice).clone()),
        ExprKind::Binary(comparison, left, right) if op == UnaryOp::Not => {
            let inverse = inverse(*comparison)?;
            Some(Expr::binary(inverse, (**left).clone(), (**right).clone()))
        }
        _ => None,
    }
}

/// The comparison that is true where this one is false.
fn inverse(op: BinaryOp) -> Option<BinaryOp> {
    use BinaryOp::*;
    Some(match op {
        Eq => Ne,
        Ne => Eq,
        Lt => Ge,
        Ge => Lt,
        Gt => Le,
        Le => Gt,
        _ => return None,
    })
}

/// `constant op right`.
fn left_constant(op: BinaryOp, left: &Expr, value: &Bits, right: &Expr) -> Option<Expr> {
    use BinaryOp::*;
    match op {
        // The constant goes to the right, where one set of rules serves both.
        Add | Mul | And | Or | Xor | Eq | Ne | LogicalAnd | LogicalOr => {
            Some(Expr::binary(op, right.clone(), left.clone()))
        }
        Lt => Some(Expr::binary(Gt, right.clone(), left.clone())),
        Le => Some(Expr::binary(Ge, right.clone(), left.clone())),
        Gt => Some(Expr::binary(Lt, right.clone(), left.clone())),
        Ge => Some(Expr::binary(Le, right.clone(), left.clone())),
        Sub if value.is_zero() => Some(Expr::unary(UnaryOp::Neg, right.clone())),
        Div | Rem | Shl if value.is_zero() => Some(left.clone()),
        Shr if value.is_zero() => Some(left.clone()),
        _ => None,
    }
}

/// `left op constant`.
fn right_constant(op: BinaryOp, left: &Expr, right: &Expr, value: &Bits) -> Option<Expr> {
    use BinaryOp::*;
    let (ty, width) = (left.ty, left.ty.width());
    let zero = || Expr::constant(ty, Bits::zero(width));
    let is_one = value.to_u64() == Some(1);
    let is_ones = *value == Bits::ones(value.width());
    let unsigned = !ty.is_signed();
    match op {
        Add | Sub | SaturatingAdd | SaturatingSub | Or | Xor | Shl | Shr if value.is_zero() => Some(left.clone()),
        And | Mul | Rem | Div | Gather | Scatter if value.is_zero() => Some(zero()),
        // One is minus one in a signed type of one bit, but its product wraps to the same bit.
        Mul | Div if is_one => Some(left.clone()),
        Rem if is_one => Some(zero()),
        And | Gather | Scatter if is_ones => Some(left.clone()),
        Or if is_ones => Some(right.clone()),
        Xor if is_ones => Some(Expr::unary(UnaryOp::BitNot, left.clone())),
        Shl if value.to_u64().is_none_or(|amount| amount >= u64::from(width)) => Some(zero()),
        Shr if unsigned && value.to_u64().is_none_or(|amount| amount >= u64::from(width)) => Some(zero()),
        LogicalAnd => Some(if value.is_zero() { Expr::bool(false) } else { left.clone() }),
        LogicalOr => Some(if value.is_zero() { left.clone() } else { Expr::bool(true) }),
        Eq | Ne if ty == Type::Bool => {
            let same = (op == Eq) != value.is_zero();
            Some(if same { left.clone() } else { Expr::unary(UnaryOp::Not, left.clone()) })
        }
        Lt if unsigned && value.is_zero() => Some(Expr::bool(false)),
        Ge if unsigned && value.is_zero() => Some(Expr::bool(true)),
        Gt if unsigned && is_ones => Some(Expr::bool(false)),
        Le if unsigned && is_ones => Some(Expr::bool(true)),
        _ => None,
    }
}

/// `operand op operand`.
fn same_operands(op: BinaryOp, operand: &Expr) -> Option<Expr> {
    use BinaryOp::*;
    match op {
        Sub | Xor => Some(Expr::constant(operand.ty, Bits::zero(operand.ty.width()))),
        And | Or | LogicalAnd | LogicalOr => Some(operand.clone()),
        Eq | Le | Ge => Some(Expr::bool(true)),
        Ne | Lt | Gt => Some(Expr::bool(false)),
        _ => None,
    }
}

fn simplified_mux(cond: &Expr, yes: &Expr, no: &Expr) -> Option<Expr> {
    if let Some(value) = cond.as_const() {
        return Some(if value.is_zero() { no.clone() } else { yes.clone() });
    }
    if yes == no {
        return Some(yes.clone());
    }
    if yes.ty == Type::Bool
        && let (Some(a), Some(b)) = (yes.as_const(), no.as_const())
    {
        // The values differ, as the choices do.
        return Some(if a.is_zero() && !b.is_zero() { Expr::unary(UnaryOp::Not, cond.clone()) } else { cond.clone() });
    }
    if let ExprKind::Unary(UnaryOp::Not, inner) = &cond.kind {
        let kind = ExprKind::Mux(inner.clone(), Box::new(no.clone()), Box::new(yes.clone()));
        return Some(Expr { kind, ty: yes.ty });
    }
    None
}

fn simplified_cast(to: Type, operand: &Expr) -> Option<Expr> {
    if operand.ty == to {
        return Some(operand.clone());
    }
    if let Some(value) = operand.as_const() {
        return Some(Expr::constant(to, cast(operand.ty, to, value)));
    }
    let ExprKind::Cast(inner) = &operand.kind else { return None };
    let (from, middle) = (inner.ty, operand.ty);
    // The outer cast truncates the inner one's result: the inner one's operand has the same low bits.
    let cuts = to.width() <= middle.width();
    // Both extend in the same way.
    let widens = middle.width() > from.width() && (!from.is_signed() || middle.is_signed())
        || middle.width() == from.width() && from.is_signed() == middle.is_signed();
    (cuts || widens).then(|| Expr::cast(to, (**inner).clone()))
}

fn simplified_slice(base: &Expr, high: u32, low: u32) -> Option<Expr> {
    let ty = Type::Bit(high - low + 1);
    if low == 0 && high + 1 == base.ty.width() {
        return Some(Expr::cast(ty, base.clone()));
    }
    let slice = |base: &Expr, high: u32, low: u32| {
        Some(Expr { kind: ExprKind::Slice { base: Box::new(base.clone()), high, low }, ty })
    };
    match &base.kind {
        ExprKind::Const(value) => Some(Expr::constant(ty, value.slice(high, low))),
        ExprKind::Slice { base, low: below, .. } => slice(base, high + below, low + below),
        ExprKind::Cast(operand) if high < operand.ty.width() && operand.ty != Type::Bool => slice(operand, high, low),
        ExprKind::Concat(_, right) if high < right.ty.width() => slice(right, high, low),
        ExprKind::Concat(left, right) if low >= right.ty.width() => {
            slice(left, high - right.ty.width(), low - right.ty.width())
        }
        _ => None,
    }
}
