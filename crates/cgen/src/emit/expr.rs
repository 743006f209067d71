//! Values of at most 64 bits as C expressions.
//!
//! Such a value is a `uint64_t` whose bits above its width are zero; a `Bool` is 0 or 1 and may have type `int`, so
//! that it is widened before it is shifted. IR expressions have no side effects, so that operands may be computed
//! early, in constants before the statement: wide ones always are.

use super::scope::Scope;
use super::{mask, masked};
use ir::{BinaryOp, Expr, ExprKind, Type, UnaryOp, VarId, VarKind};
use lir::{Expr as C, binary, call, cast, conditional, index, int, long, name, unary};

/// Nesting of C expressions above which a value gets a temporary constant, for the sake of readers and compilers.
const NESTING_MAX: u32 = 24;

/// A value in C.
#[derive(Clone)]
pub(crate) enum Value {
    /// At most 64 bits: a number.
    Narrow(C),
    /// More: a pointer to limbs.
    Wide(C),
}

impl Scope<'_, '_> {
    /// The value of an expression.
    pub(crate) fn value(&mut self, expr: &Expr) -> Value {
        if expr.ty.width() > 64 { Value::Wide(self.wide(expr)) } else { Value::Narrow(self.narrow(expr)) }
    }

    /// The value of an expression of at most 64 bits.
    pub(crate) fn narrow(&mut self, expr: &Expr) -> C {
        if expr.ty.width() == 0 {
            return long(0);
        }
        self.depth += 1;
        let value = self.narrow_kind(expr);
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(NESTING_MAX) { self.atom(value) } else { value }
    }

    fn narrow_kind(&mut self, expr: &Expr) -> C {
        let width = expr.ty.width();
        match &expr.kind {
            ExprKind::Const(value) => long(value.low_u64()),
            ExprKind::Var(var) => self.read_var(*var),
            ExprKind::Field(header, field) => self.read_field(header, *field, None),
            ExprKind::IsValid(header) => self.is_valid(header),
            ExprKind::VarbitLength(header, field) => self.varbit_length(header, *field),
            ExprKind::VarbitBits(header, field) => {
                let limbs = self.varbit_bits(header, *field, width);
                index(limbs, int(0))
            }
            ExprKind::VarbitEqual(left, right) => self.varbit_equal(left, right),
            ExprKind::Unary(op, operand) => {
                let operand = self.narrow(operand);
                match op {
                    UnaryOp::Neg => masked(binary("-", long(0), operand), width),
                    // The bits above the width stay zero; compilers warn about `~` of a comparison.
                    UnaryOp::BitNot if expr.ty != Type::Bool => binary("^", operand, long(mask(width))),
                    UnaryOp::BitNot | UnaryOp::Not => unary("!", operand),
                }
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Mux(cond, yes, no) => {
                let (cond, yes, no) = (self.narrow(cond), self.narrow(yes), self.narrow(no));
                match expr.ty {
                    // One may be an `int`, from a comparison, and the other a `uint64_t`.
                    Type::Bool => conditional(cond, cast(lir::Type::U64, yes), cast(lir::Type::U64, no)),
                    _ => conditional(cond, yes, no),
                }
            }
            ExprKind::Cast(operand) => self.cast(operand, width),
            ExprKind::Slice { base, high, low } => self.slice(base, *high, *low),
            ExprKind::Concat(high, low) => {
                let (low_width, high_width) = (low.ty.width(), high.ty.width());
                if high_width == 0 {
                    return self.narrow(low);
                }
                let (high, low) = (self.unsigned(high), self.unsigned(low));
                if low_width == 0 { high } else { binary("|", binary("<<", high, int(low_width)), low) }
            }
            ExprKind::PacketLength => cast(lir::Type::U64, self.received("ingress_length")),
        }
    }

    /// The value as a `uint64_t`, so that it can be shifted.
    pub(crate) fn unsigned(&mut self, expr: &Expr) -> C {
        let value = self.narrow(expr);
        match value {
            C::Long(_) => value,
            _ if expr.ty == Type::Bool => cast(lir::Type::U64, value),
            _ => value,
        }
    }

    /// A 64-bit number for an index or amount; the greatest number if the value does not fit.
    pub(crate) fn number(&mut self, expr: &Expr) -> C {
        match self.value(expr) {
            Value::Narrow(value) => value,
            Value::Wide(limbs) => call("ws_wide_to_u64", vec![limbs, int(expr.ty.width())]),
        }
    }

    /// The low 64 bits.
    pub(crate) fn low_word(&mut self, expr: &Expr) -> C {
        match self.value(expr) {
            Value::Narrow(value) => value,
            Value::Wide(limbs) => index(limbs, int(0)),
        }
    }

    fn read_var(&mut self, var: VarId) -> C {
        let var_type = &self.emitter.program.vars[var];
        let (width, kind) = (var_type.ty.width(), var_type.kind);
        let place = self.var_place(var);
        if self.is_local(var) {
            return place;
        }
        match kind {
            // The architecture may write a wider value.
            VarKind::Intrinsic(_) => masked(place, width),
            VarKind::Metadata if width <= 32 => cast(lir::Type::U64, place),
            VarKind::Metadata | VarKind::Local => place,
        }
    }

    fn cast(&mut self, operand: &Expr, width: u32) -> C {
        let from = operand.ty;
        if from.width() > 64 {
            let limbs = self.wide(operand);
            return masked(index(limbs, int(0)), width);
        }
        let value = self.unsigned(operand);
        if width > from.width() && from.is_signed() {
            return masked(cast(lir::Type::U64, call("ws_signed", vec![value, int(from.width())])), width);
        }
        if width < from.width() { masked(value, width) } else { value }
    }

    fn slice(&mut self, base: &Expr, high: u32, low: u32) -> C {
        if let ExprKind::Field(header, field) = &base.kind {
            return self.read_field(header, *field, Some((high, low)));
        }
        let (width, base_width) = (high - low + 1, base.ty.width());
        if base_width > 64 {
            let limbs = self.wide(base);
            return call("ws_wide_get", vec![limbs, int(low), int(width)]);
        }
        let value = self.unsigned(base);
        let shifted = if low == 0 { value } else { binary(">>", value, int(low)) };
        if high + 1 == base_width { shifted } else { masked(shifted, width) }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> C {
        let (ty, width) = (left.ty, left.ty.width());
        if op.is_comparison() {
            return self.compare(op, left, right);
        }
        let a = self.narrow(left);
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let amount = self.number(right);
            return shift(op, ty, a, amount);
        }
        let b = self.narrow(right);
        let signed = ty.is_signed();
        match op {
            BinaryOp::Add => masked(binary("+", a, b), width),
            BinaryOp::Sub => masked(binary("-", a, b), width),
            BinaryOp::Mul => masked(binary("*", a, b), width),
            BinaryOp::Div => call("ws_div", vec![a, b]),
            BinaryOp::Rem => call("ws_rem", vec![a, b]),
            BinaryOp::SaturatingAdd if signed => call("ws_add_saturating_signed", vec![a, b, int(width)]),
            BinaryOp::SaturatingAdd => call("ws_add_saturating", vec![a, b, int(width)]),
            BinaryOp::SaturatingSub if signed => call("ws_sub_saturating_signed", vec![a, b, int(width)]),
            BinaryOp::SaturatingSub => call("ws_sub_saturating", vec![a, b]),
            BinaryOp::And => binary("&", a, b),
            BinaryOp::Or => binary("|", a, b),
            BinaryOp::Xor => binary("^", a, b),
            BinaryOp::Gather => call("ws_gather", vec![a, b]),
            BinaryOp::Scatter => call("ws_scatter", vec![a, b]),
            BinaryOp::LogicalAnd => binary("&&", a, b),
            _ => binary("||", a, b),
        }
    }

    fn compare(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> C {
        let (ty, width) = (left.ty, left.ty.width());
        let symbol = match op {
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            _ => ">=",
        };
        let ordered = !matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        if width > 64 {
            let (a, b) = (self.wide(left), self.wide(right));
            return compare_wide(symbol, ty, a, b);
        }
        let (a, b) = (self.narrow(left), self.narrow(right));
        if ordered && ty.is_signed() {
            let signed = |value| call("ws_signed", vec![value, int(width)]);
            return binary(symbol, signed(a), signed(b));
        }
        // Both sides need the same type: a `Bool` may be an `int`.
        let plain = |value| if ty == Type::Bool { cast(lir::Type::U64, value) } else { value };
        binary(symbol, plain(a), plain(b))
    }
}

/// The comparison of two wide values.
pub(crate) fn compare_wide(symbol: &'static str, ty: Type, a: C, b: C) -> C {
    let width = int(ty.width());
    match symbol {
        "==" => call("ws_wide_eq", vec![a, b, width]),
        "!=" => unary("!", call("ws_wide_eq", vec![a, b, width])),
        _ => {
            let function = if ty.is_signed() { "ws_wide_compare_signed" } else { "ws_wide_compare" };
            binary(symbol, call(function, vec![a, b, width]), name("0"))
        }
    }
}

/// A shift of a value of at most 64 bits by any amount.
fn shift(op: BinaryOp, ty: Type, value: C, amount: C) -> C {
    let width = ty.width();
    let value = if ty == Type::Bool { cast(lir::Type::U64, value) } else { value };
    match (op, amount) {
        (BinaryOp::Shl, C::Long(amount)) if amount < u64::from(width) => {
            masked(binary("<<", value, int(amount as u32)), width)
        }
        (BinaryOp::Shl, amount) => masked(call("ws_shl", vec![value, amount]), width),
        (_, amount) if ty.is_signed() => call("ws_sar", vec![value, amount, int(width)]),
        (_, C::Long(amount)) if amount < u64::from(width) => binary(">>", value, int(amount as u32)),
        (_, amount) => call("ws_shr", vec![value, amount]),
    }
}

/// `value` with bits from `low` replaced by `part` of `width` bits, in a place of at most 64 bits.
pub(crate) fn with_slice(place: C, part: C, low: u32, width: u32) -> C {
    let others = binary("&", place, long(!(mask(width) << low)));
    let part = if low == 0 { part } else { binary("<<", part, int(low)) };
    binary("|", others, part)
}
