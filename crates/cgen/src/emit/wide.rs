//! Values over 64 bits: arrays of limbs, computed by the functions of `runtime/c/wide.h`.

use super::expr::Value;
use super::scope::Scope;
use base::Bits;
use ir::{BinaryOp, Expr, ExprKind, UnaryOp};
use lir::{Expr as C, Stmt as S, Type, Variable, call, index, int, long, name, static_array};

impl Scope<'_, '_> {
    /// A pointer to the limbs of an expression over 64 bits. They are read-only, and valid until a variable or field is
    /// written.
    pub(crate) fn wide(&mut self, expr: &Expr) -> C {
        let width = expr.ty.width();
        match &expr.kind {
            ExprKind::Const(value) => {
                let limbs: Vec<C> = value.limbs().iter().map(|&limb| long(limb)).collect();
                let constant = self.fresh("k");
                self.push(static_array(Type::U64, constant.clone(), limbs));
                name(constant)
            }
            ExprKind::Var(var) => self.var_place(*var),
            ExprKind::Field(header, field) => self.read_wide_field(header, *field, None),
            ExprKind::Unary(op, operand) => {
                let operand = self.wide(operand);
                let function = if *op == UnaryOp::Neg { "ws_wide_neg" } else { "ws_wide_not" };
                self.compute(function, width, vec![operand, int(width)])
            }
            ExprKind::Binary(op, left, right) => self.wide_binary(*op, left, right),
            ExprKind::Mux(cond, yes, no) => {
                let cond = self.narrow(cond);
                let (yes, no) = (self.wide(yes), self.wide(no));
                self.compute("ws_wide_choose", width, vec![cond, yes, no, int(width)])
            }
            ExprKind::Cast(operand) => self.wide_cast(operand, width),
            ExprKind::Slice { base, high, low } => {
                if let ExprKind::Field(header, field) = &base.kind {
                    return self.read_wide_field(header, *field, Some((*high, *low)));
                }
                let base = self.wide(base);
                self.compute("ws_wide_slice", width, vec![int(width), base, int(*low)])
            }
            ExprKind::Concat(high, low) => {
                let (a, b) = (self.any_limbs(high), self.any_limbs(low));
                let arguments = vec![a, int(high.ty.width()), b, int(low.ty.width())];
                self.compute("ws_wide_concat", width, arguments)
            }
            ExprKind::VarbitBits(header, field) => self.varbit_bits(header, *field, width),
            // These are never wide; a verified program does not get here.
            ExprKind::IsValid(_) | ExprKind::VarbitEqual(..) | ExprKind::VarbitLength(..) | ExprKind::PacketLength => {
                self.any_limbs(expr)
            }
        }
    }

    /// New limbs that a function computes from its other arguments.
    fn compute(&mut self, function: &str, width: u32, mut arguments: Vec<C>) -> C {
        let limbs = self.limbs(width);
        arguments.insert(0, limbs.clone());
        self.push(S::Eval(call(function, arguments)));
        limbs
    }

    /// The limbs of an expression of any width.
    pub(crate) fn any_limbs(&mut self, expr: &Expr) -> C {
        match self.value(expr) {
            Value::Wide(limbs) => limbs,
            Value::Narrow(value) => self.one_limb(value),
        }
    }

    /// A narrow value as limbs.
    pub(crate) fn one_limb(&mut self, value: C) -> C {
        let limb = self.fresh("t");
        let (value, length) = (Some(C::List(vec![value])), Some(1));
        let variable = Variable::Constant;
        self.push(S::Declare { variable, ty: Type::U64, name: limb.clone(), length, value });
        name(limb)
    }

    fn wide_cast(&mut self, operand: &Expr, width: u32) -> C {
        let from = operand.ty;
        if from.width() == width {
            return self.wide(operand);
        }
        if from.width() <= 64 && !from.is_signed() {
            let value = self.narrow(operand);
            return self.compute("ws_wide_from_u64", width, vec![value, int(width)]);
        }
        let function = if from.is_signed() { "ws_wide_resize_signed" } else { "ws_wide_resize" };
        let limbs = self.any_limbs(operand);
        self.compute(function, width, vec![int(width), limbs, int(from.width())])
    }

    fn wide_binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> C {
        let (width, signed) = (left.ty.width(), left.ty.is_signed());
        if op == BinaryOp::Shl && left.as_const().is_some_and(|bits| *bits == Bits::from_u64(width, 1)) {
            let amount = self.number(right);
            return self.compute("ws_wide_bit", width, vec![amount, int(width)]);
        }
        let a = self.wide(left);
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let amount = self.number(right);
            let function = match op {
                BinaryOp::Shl => "ws_wide_shl",
                _ if signed => "ws_wide_sar",
                _ => "ws_wide_shr",
            };
            return self.compute(function, width, vec![a, amount, int(width)]);
        }
        let b = self.wide(right);
        let function = match op {
            BinaryOp::Add => "ws_wide_add",
            BinaryOp::Sub => "ws_wide_sub",
            BinaryOp::Mul => "ws_wide_mul",
            BinaryOp::Div => "ws_wide_div",
            BinaryOp::Rem => "ws_wide_rem",
            BinaryOp::SaturatingAdd if signed => "ws_wide_add_saturating_signed",
            BinaryOp::SaturatingAdd => "ws_wide_add_saturating",
            BinaryOp::SaturatingSub if signed => "ws_wide_sub_saturating_signed",
            BinaryOp::SaturatingSub => "ws_wide_sub_saturating",
            BinaryOp::And => "ws_wide_and",
            BinaryOp::Or => "ws_wide_or",
            BinaryOp::Gather => "ws_wide_gather",
            BinaryOp::Scatter => "ws_wide_scatter",
            _ => "ws_wide_xor",
        };
        self.compute(function, width, vec![a, b, int(width)])
    }

    /// A value of width `from` in `to` bits: cut, or extended with zeros.
    pub(crate) fn resized(&mut self, value: Value, from: u32, to: u32) -> Value {
        match value {
            Value::Narrow(value) if to <= 64 => Value::Narrow(if to < from { super::masked(value, to) } else { value }),
            Value::Narrow(value) => Value::Wide(self.compute("ws_wide_from_u64", to, vec![value, int(to)])),
            Value::Wide(limbs) if to <= 64 => Value::Narrow(super::masked(index(limbs, int(0)), to)),
            Value::Wide(limbs) if to == from => Value::Wide(limbs),
            Value::Wide(limbs) => Value::Wide(self.compute("ws_wide_resize", to, vec![int(to), limbs, int(from)])),
        }
    }
}
