//! Remainders of polynomials: `crc_remainder` of `wirespeed.p4`.
//!
//! What enters: a call whose polynomial is known at compile time, so that native code can multiply by constants instead
//! of dividing. What leaves: one hash statement, whose data are padded to whole bytes with leading zeros, which does
//! not change the remainder.

use super::v1model::scalar_type;
use crate::{Lowered, Lowerer, codes, fold};
use base::Span;
use base::limits::WIDTH_BITS_MAX;
use ir::{HashAlgorithm, HashInput, HashValue, StmtKind, Type};
use sema::hir::Call;

/// The highest degree of a divisor: that of the longest CRC.
const DEGREE_MAX: u32 = 32;

impl<'h> Lowerer<'h> {
    pub(super) fn call_remainder(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        let target = self.target(call, 0, span)?;
        let ty = scalar_type(&target);
        let Type::Bit(width_bits @ 1..=DEGREE_MAX) = ty else {
            let message = format!("a remainder is a `bit<1>` to `bit<{DEGREE_MAX}>`, and its width is the degree");
            return self.refuse(codes::LIMIT, span, message);
        };
        let (data, divisor) = (self.argument(call, 1, span)?, self.argument(call, 2, span)?);
        let mut values = self.eval_in_order(&[data, divisor])?.into_iter();
        let (Some(data), Some(polynomial)) = (values.next(), values.next()) else { return Err(crate::Refused) };
        let polynomial = self.constant_count(&polynomial, u64::from(u32::MAX >> (32 - width_bits)), divisor.span)?;
        let data = self.scalar_value(data, span)?;
        let whole = data.ty.width().next_multiple_of(8);
        if whole > WIDTH_BITS_MAX {
            let message =
                format!("the data have {} bits, more than the {WIDTH_BITS_MAX} that they may", data.ty.width());
            return self.refuse(codes::LIMIT, span, message);
        }
        let data = fold::cast(Type::Bit(whole), fold::cast(Type::Bit(data.ty.width()), data));
        let inputs = vec![HashInput { guard: None, value: HashValue::Expr(data) }];
        let algorithm = HashAlgorithm::Remainder { width_bits, polynomial: polynomial as u32 };
        self.through(target, ty, span, |dst| StmtKind::Hash { dst, algorithm, inputs, payload: false })
    }
}
