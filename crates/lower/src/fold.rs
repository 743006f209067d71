//! Expressions, folded where operands are constant. The meaning is the interpreter's.

use ir::{BinaryOp, Expr, ExprKind, Type, UnaryOp};

/// `op operand`
pub(crate) fn unary(op: UnaryOp, operand: Expr) -> Expr {
    if let Some(value) = operand.as_const() {
        return Expr::constant(operand.ty, interp::unary(op, value));
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
        let value = interp::binary(op, left.ty, a, b);
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
        Some(value) => Expr::constant(ty, interp::cast(operand.ty, ty, value)),
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
