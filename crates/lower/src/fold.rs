//! Expressions, folded where operands are constant. The meaning is the IR's, see [`ir::BinaryOp`].

use base::Bits;
use ir::{BinaryOp, Expr, ExprKind, Type, UnaryOp};
use std::cmp::Ordering;

/// `op operand`
pub(crate) fn unary(op: UnaryOp, operand: Expr) -> Expr {
    if let Some(value) = operand.as_const() {
        let value = match op {
            UnaryOp::Neg => value.neg(),
            UnaryOp::BitNot | UnaryOp::Not => value.not(),
        };
        return Expr::constant(operand.ty, value);
    }
    match operand.kind {
        ExprKind::Unary(inner, original) if inner == op => *original,
        ExprKind::Binary(comparison, left, right) if op == UnaryOp::Not && comparison.is_comparison() => {
            Expr::binary(opposite(comparison), *left, *right)
        }
        _ => Expr::unary(op, operand),
    }
}

/// The comparison that holds where the given one does not.
fn opposite(comparison: BinaryOp) -> BinaryOp {
    match comparison {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        other => other,
    }
}

/// `left op right`
pub(crate) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    if let (Some(a), Some(b)) = (left.as_const(), right.as_const()) {
        let value = binary_bits(op, left.ty.is_signed(), a, b);
        let ty = if op.is_comparison() { Type::Bool } else { left.ty };
        return Expr::constant(ty, value);
    }
    match (op, truth(&left), truth(&right)) {
        (BinaryOp::LogicalAnd, Some(true), _) | (BinaryOp::LogicalOr, Some(false), _) => right,
        (BinaryOp::LogicalAnd, _, Some(true)) | (BinaryOp::LogicalOr, _, Some(false)) => left,
        (BinaryOp::LogicalAnd, Some(false), _) | (BinaryOp::LogicalAnd, _, Some(false)) => Expr::bool(false),
        (BinaryOp::LogicalOr, Some(true), _) | (BinaryOp::LogicalOr, _, Some(true)) => Expr::bool(true),
        _ => Expr::binary(op, left, right),
    }
}

fn binary_bits(op: BinaryOp, is_signed: bool, a: &Bits, b: &Bits) -> Bits {
    let order = || if is_signed { a.cmp_signed(b) } else { a.cmp_unsigned(b) };
    let amount = || b.to_u64().unwrap_or(u64::MAX);
    match op {
        BinaryOp::Add => a.add(b),
        BinaryOp::Sub => a.sub(b),
        BinaryOp::Mul => a.mul(b),
        BinaryOp::Div => a.div(b).unwrap_or_else(|| Bits::zero(a.width())),
        BinaryOp::Rem => a.rem(b).unwrap_or_else(|| Bits::zero(a.width())),
        BinaryOp::SaturatingAdd if is_signed => a.signed_saturating_add(b),
        BinaryOp::SaturatingAdd => a.saturating_add(b),
        BinaryOp::SaturatingSub if is_signed => a.signed_saturating_sub(b),
        BinaryOp::SaturatingSub => a.saturating_sub(b),
        BinaryOp::And | BinaryOp::LogicalAnd => a.and(b),
        BinaryOp::Or | BinaryOp::LogicalOr => a.or(b),
        BinaryOp::Xor => a.xor(b),
        BinaryOp::Shl => a.shl(amount()),
        BinaryOp::Shr if is_signed => a.sar(amount()),
        BinaryOp::Shr => a.shr(amount()),
        BinaryOp::Gather => a.gather(b),
        BinaryOp::Scatter => a.scatter(b),
        BinaryOp::Eq => Bits::from_bool(a == b),
        BinaryOp::Ne => Bits::from_bool(a != b),
        BinaryOp::Lt => Bits::from_bool(order() == Ordering::Less),
        BinaryOp::Le => Bits::from_bool(order() != Ordering::Greater),
        BinaryOp::Gt => Bits::from_bool(order() == Ordering::Greater),
        BinaryOp::Ge => Bits::from_bool(order() != Ordering::Less),
    }
}

/// The value of a constant `Bool`.
pub(crate) fn truth(expr: &Expr) -> Option<bool> {
    match expr.ty {
        Type::Bool => expr.as_const().map(|bits| !bits.is_zero()),
        _ => None,
    }
}

/// `!operand`
pub(crate) fn not(operand: Expr) -> Expr {
    unary(UnaryOp::Not, operand)
}

/// `left && right`
pub(crate) fn and(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::LogicalAnd, left, right)
}

/// `left || right`
pub(crate) fn or(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::LogicalOr, left, right)
}

/// `(ty) operand`
pub(crate) fn cast(ty: Type, operand: Expr) -> Expr {
    match operand.as_const() {
        Some(value) if operand.ty.is_signed() => Expr::constant(ty, value.sign_resize(ty.width())),
        Some(value) => Expr::constant(ty, value.resize(ty.width())),
        None => Expr::cast(ty, operand),
    }
}

/// `operand[high:low]`
pub(crate) fn slice(operand: Expr, high: u32, low: u32) -> Expr {
    let ty = Type::Bit(high - low + 1);
    match &operand.kind {
        ExprKind::Const(value) => Expr::constant(ty, value.slice(high, low)),
        ExprKind::Slice { base, low: inner, .. } => {
            Expr { kind: ExprKind::Slice { base: base.clone(), high: high + inner, low: low + inner }, ty }
        }
        _ if low == 0 && ty == operand.ty => operand,
        _ => Expr { kind: ExprKind::Slice { base: Box::new(operand), high, low }, ty },
    }
}

/// `left ++ right`
pub(crate) fn concat(left: Expr, right: Expr) -> Expr {
    let width = left.ty.width() + right.ty.width();
    let ty = if left.ty.is_signed() { Type::Int(width) } else { Type::Bit(width) };
    match (left.as_const(), right.as_const()) {
        (Some(a), Some(b)) => Expr::constant(ty, a.concat(b)),
        _ => Expr { kind: ExprKind::Concat(Box::new(left), Box::new(right)), ty },
    }
}

/// `condition ? a : b`
pub(crate) fn mux(condition: Expr, a: Expr, b: Expr) -> Expr {
    match truth(&condition) {
        Some(true) => a,
        Some(false) => b,
        None if a == b => a,
        None => {
            let ty = a.ty;
            Expr { kind: ExprKind::Mux(Box::new(condition), Box::new(a), Box::new(b)), ty }
        }
    }
}
