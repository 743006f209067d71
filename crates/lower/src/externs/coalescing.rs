//! Coalescing and splitting of packets (coalescing buffers and records): the functions of `wirespeed.p4`, for v1model.
//!
//! What enters: a call. What leaves: as for all requests to the switch, an assignment to an intrinsic variable, one
//! word for the whole request ([`ir::v1model::Gather`], [`ir::v1model::Scatter`]).

use crate::architecture::Package;
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::Span;
use ir::v1model::{Slot, Stage};
use ir::{BinaryOp, Expr, StmtKind};
use sema::hir::Call;

impl<'h> Lowerer<'h> {
    pub(super) fn call_piles(&mut self, name: &str, call: &'h Call, span: Span) -> Lowered<()> {
        if self.package != Package::V1Model {
            let message = format!("`{name}` is there for programs for v1model only");
            return self.refuse(codes::UNSUPPORTED, span, message);
        }
        match name {
            "pile_gather" => {
                let [buffer, bytes_max, wait_us] = self.words(call, [16, 16, 24], span)?;
                let of_buffer = fold::concat(buffer, bytes_max);
                let word = fold::concat(fold::concat(of_buffer, wait_us), Expr::bit(8, 1));
                self.ask(&[Stage::Egress], Slot::Gather, name, word, span);
            }
            "pile_release" => {
                let [buffer] = self.words(call, [32], span)?;
                let word = fold::binary(BinaryOp::Add, buffer, Expr::bit(32, 1));
                self.ask(&[Stage::Ingress], Slot::Release, name, word, span);
            }
            "scatter_records" => {
                let [first_byte, records] = self.words(call, [16, 16], span)?;
                let word = fold::concat(Expr::bit(32, 1), fold::concat(first_byte, records));
                self.ask(&[Stage::Ingress], Slot::Scatter, name, word, span);
            }
            _ => self.read_pile(call, span)?,
        }
        Ok(())
    }

    /// `pile_read`: the buffer that the packet was, and the number of packets in it.
    fn read_pile(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        let var = self.intrinsic(Slot::Gathered);
        for (position, low) in [(0, 16), (1, 0)] {
            let place = self.target(call, position, span)?;
            let half = fold::slice(self.read_var(var), low + 15, low);
            self.assign(&place, crate::values::Value::Scalar(half), span)?;
        }
        Ok(())
    }

    /// The call's arguments, from the first to the last, as bits of these widths.
    fn words<const N: usize>(&mut self, call: &'h Call, widths: [u32; N], span: Span) -> Lowered<[Expr; N]> {
        let mut args = Vec::new();
        for position in 0..N {
            args.push(self.argument(call, position, span)?);
        }
        let values = self.eval_in_order(&args)?;
        let mut words = Vec::new();
        for (value, width) in values.into_iter().zip(widths) {
            words.push(fold::cast(ir::Type::Bit(width), self.scalar_value(value, span)?));
        }
        words.try_into().map_err(|_| Refused)
    }

    fn ask(&mut self, stages: &[Stage], slot: Slot, name: &str, word: Expr, span: Span) {
        if self.takes_effect(stages, name, span) {
            let var = self.intrinsic(slot);
            self.emit(StmtKind::Assign { dst: ir::Place::Var(var), src: word }, span);
        }
    }
}
