//! Operators.

use crate::values::{Value, number};
use crate::{Lowered, Lowerer, codes, fold};
use base::Span;
use base::limits::WIDTH_BITS_MAX;
use ir::{BinaryOp, StmtKind, UnaryOp};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use sema::hir::Expr;
use syntax::ast::{BinaryOperator, UnaryOperator};

/// The error for a constant amount of a shift.
const NEGATIVE_SHIFT: &str = "a shift by a negative number";

impl<'h> Lowerer<'h> {
    pub(crate) fn eval_unary(&mut self, operator: UnaryOperator, operand: &'h Expr, span: Span) -> Lowered<Value> {
        match (operator, self.eval(operand)?) {
            (UnaryOperator::Plus, value) => Ok(value),
            (UnaryOperator::Negate, Value::Integer(value)) => Ok(Value::Integer(-value)),
            (operator, value) => {
                let operand = self.scalar_value(value, span)?;
                let op = match operator {
                    UnaryOperator::Not => UnaryOp::Not,
                    UnaryOperator::Complement => UnaryOp::BitNot,
                    UnaryOperator::Negate | UnaryOperator::Plus => UnaryOp::Neg,
                };
                Ok(Value::Scalar(fold::unary(op, operand)))
            }
        }
    }

    pub(crate) fn eval_binary(
        &mut self,
        expr: &'h Expr,
        operator: BinaryOperator,
        left: &'h Expr,
        right: &'h Expr,
    ) -> Lowered<Value> {
        let span = expr.span;
        if matches!(operator, BinaryOperator::And | BinaryOperator::Or) {
            return self.eval_logical(operator, left, right, span);
        }
        let mut values = self.eval_in_order(&[left, right])?.into_iter();
        let (Some(a), Some(b)) = (values.next(), values.next()) else { return Err(crate::Refused) };
        match operator {
            BinaryOperator::Equal => return Ok(Value::Scalar(self.equal(&a, &b, span)?)),
            BinaryOperator::NotEqual => return Ok(Value::Scalar(fold::not(self.equal(&a, &b, span)?))),
            _ => {}
        }
        match (a, b) {
            (Value::Integer(a), Value::Integer(b)) => self.integer_operation(operator, &a, &b, span),
            (Value::String(a), Value::String(b)) if operator == BinaryOperator::Concatenate => {
                Ok(Value::String(format!("{a}{b}").into()))
            }
            (Value::Scalar(a), b) => self.scalar_operation(operator, a, b, span),
            _ => self.unsupported(span, format!("`{}` on values of this type", operator.as_str())),
        }
    }

    /// `&&` and `||`: the right side is evaluated only if it matters.
    fn eval_logical(
        &mut self,
        operator: BinaryOperator,
        left: &'h Expr,
        right: &'h Expr,
        span: Span,
    ) -> Lowered<Value> {
        let is_and = operator == BinaryOperator::And;
        let op = if is_and { BinaryOp::LogicalAnd } else { BinaryOp::LogicalOr };
        let first = self.eval_scalar(left)?;
        if fold::truth(&first).is_some_and(|first| first != is_and) {
            return Ok(Value::Scalar(first));
        }
        if !self.has_effects(right) {
            let second = self.eval_scalar(right)?;
            return Ok(Value::Scalar(fold::binary(op, first, second)));
        }
        let result = self.temporary(ir::Type::Bool, span)?;
        self.emit(StmtKind::Assign { dst: ir::Place::Var(result), src: first }, span);
        let (body, ()) = self.collect(|l| {
            let src = l.eval_scalar(right)?;
            l.emit(StmtKind::Assign { dst: ir::Place::Var(result), src }, span);
            Ok(())
        })?;
        let condition = self.read_var(result);
        let condition = if is_and { condition } else { fold::not(condition) };
        self.emit_if(condition, body, Vec::new(), span);
        Ok(Value::Scalar(self.read_var(result)))
    }

    fn integer_operation(&mut self, operator: BinaryOperator, a: &BigInt, b: &BigInt, span: Span) -> Lowered<Value> {
        let truth = |value| Ok(Value::Scalar(ir::Expr::bool(value)));
        let amount = b.to_usize().filter(|&amount| amount <= WIDTH_BITS_MAX as usize);
        Ok(Value::Integer(match operator {
            BinaryOperator::Multiply => a * b,
            BinaryOperator::Add => a + b,
            BinaryOperator::Subtract => a - b,
            BinaryOperator::Divide | BinaryOperator::Modulo if b.is_zero() => {
                return self.refuse(codes::NOT_CONSTANT, span, "division by zero");
            }
            BinaryOperator::Divide | BinaryOperator::Modulo if a.is_negative() || b.is_negative() => {
                return self.refuse(codes::NOT_CONSTANT, span, "division is not defined for negative numbers");
            }
            BinaryOperator::Divide => a.div_floor(b),
            BinaryOperator::Modulo => a.mod_floor(b),
            BinaryOperator::BitAnd => a & b,
            BinaryOperator::BitOr => a | b,
            BinaryOperator::BitXor => a ^ b,
            BinaryOperator::Less => return truth(a < b),
            BinaryOperator::LessOrEqual => return truth(a <= b),
            BinaryOperator::Greater => return truth(a > b),
            BinaryOperator::GreaterOrEqual => return truth(a >= b),
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight if b.is_negative() => {
                return self.refuse(codes::NOT_CONSTANT, span, NEGATIVE_SHIFT);
            }
            BinaryOperator::ShiftLeft => match amount {
                Some(amount) => a << amount,
                None => return self.refuse(codes::LIMIT, span, "the amount of the shift is out of range"),
            },
            BinaryOperator::ShiftRight => match amount {
                Some(amount) => a >> amount,
                None => return self.refuse(codes::LIMIT, span, "the amount of the shift is out of range"),
            },
            _ => return self.unsupported(span, format!("`{}` on integers", operator.as_str())),
        }))
    }

    fn scalar_operation(&mut self, operator: BinaryOperator, a: ir::Expr, b: Value, span: Span) -> Lowered<Value> {
        let is_shift = matches!(operator, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight);
        let b = match b {
            Value::Integer(amount) if is_shift && amount.is_negative() => {
                return self.refuse(codes::NOT_CONSTANT, span, NEGATIVE_SHIFT);
            }
            Value::Integer(amount) if is_shift => number(ir::Type::Bit(32), &amount.min(BigInt::from(u32::MAX))),
            Value::Integer(value) => number(a.ty, &value),
            b => self.scalar_value(b, span)?,
        };
        let op = match operator {
            BinaryOperator::Concatenate => {
                let both = a.ty.width() + b.ty.width();
                if both > WIDTH_BITS_MAX {
                    return self.refuse(codes::LIMIT, span, format!("the result would have {both} bits"));
                }
                return Ok(Value::Scalar(fold::concat(a, b)));
            }
            BinaryOperator::Multiply => BinaryOp::Mul,
            BinaryOperator::Divide => BinaryOp::Div,
            BinaryOperator::Modulo => BinaryOp::Rem,
            BinaryOperator::Add => BinaryOp::Add,
            BinaryOperator::Subtract => BinaryOp::Sub,
            BinaryOperator::SaturatingAdd => BinaryOp::SaturatingAdd,
            BinaryOperator::SaturatingSubtract => BinaryOp::SaturatingSub,
            BinaryOperator::ShiftLeft => BinaryOp::Shl,
            BinaryOperator::ShiftRight => BinaryOp::Shr,
            BinaryOperator::Less => BinaryOp::Lt,
            BinaryOperator::LessOrEqual => BinaryOp::Le,
            BinaryOperator::Greater => BinaryOp::Gt,
            BinaryOperator::GreaterOrEqual => BinaryOp::Ge,
            BinaryOperator::BitAnd => BinaryOp::And,
            BinaryOperator::BitXor => BinaryOp::Xor,
            BinaryOperator::BitOr => BinaryOp::Or,
            BinaryOperator::Equal => BinaryOp::Eq,
            BinaryOperator::NotEqual => BinaryOp::Ne,
            BinaryOperator::And => BinaryOp::LogicalAnd,
            BinaryOperator::Or => BinaryOp::LogicalOr,
        };
        let b = if is_shift { fold::cast(ir::Type::Bit(b.ty.width()), b) } else { b };
        if !is_shift && a.ty != b.ty {
            return self.unsupported(span, format!("`{}` on values of two types", operator.as_str()));
        }
        let is_division = matches!(op, BinaryOp::Div | BinaryOp::Rem);
        if is_division && b.as_const().is_some_and(|divisor| divisor.is_zero()) {
            return self.refuse(codes::NOT_CONSTANT, span, "division by zero");
        }
        Ok(Value::Scalar(fold::binary(op, a, b)))
    }
}
