//! Bits that a mask selects: `bits_gather` and `bits_scatter` of `wirespeed.p4`.
//!
//! What enters: a call. What leaves: one expression.

use crate::values::Value;
use crate::{Lowered, Lowerer, codes, fold};
use base::Span;
use ir::{BinaryOp, Type};
use sema::hir::Call;

impl<'h> Lowerer<'h> {
    pub(super) fn call_bits(&mut self, name: &str, call: &'h Call, span: Span) -> Lowered<Value> {
        let (value, mask) = (self.argument(call, 0, span)?, self.argument(call, 1, span)?);
        let mut values = self.eval_in_order(&[value, mask])?.into_iter();
        let (Some(value), Some(mask)) = (values.next(), values.next()) else { return Err(crate::Refused) };
        let (value, mask) = (self.scalar_value(value, span)?, self.scalar_value(mask, span)?);
        if value.ty != mask.ty || !matches!(value.ty, Type::Bit(_)) {
            let message = format!("`{name}` takes a value and a mask of one type `bit<N>`");
            return self.refuse(codes::LIMIT, span, message);
        }
        let op = if name == "bits_gather" { BinaryOp::Gather } else { BinaryOp::Scatter };
        Ok(Value::Scalar(fold::binary(op, value, mask)))
    }
}
