//! Sums that are kept from where a checksum is verified to where it is updated, on the straight way.
//!
//! The sum is a variable of C, a native sum that is not folded. A store to a field that is in it takes out what was
//! there and adds what is there now, each below 2^33 so that the sum stays far from its highest bit. With its highest
//! bit set it stands for nothing: the packet was not verified. Where a kept sum is folded to all ones, a sum of nothing
//! but zeros would be zero; there it is taken anew.

use super::expr::Value;
use super::field::{Bits, load};
use super::scope::Scope;
use super::{identifier, mask};
use crate::ctree::{Expr as C, Stmt as S, arrow, assign, binary, call, declare, index, int, long, name};
use crate::plan::sums;
use ir::{HashInput, HeaderId, HeaderRef};

/// The variable of a sum.
pub(crate) fn variable(sum: usize) -> String {
    identifier("sum", sum, "")
}

/// Where a sum is kept while the packet waits for tables.
pub(crate) fn kept(sum: usize) -> C {
    index(arrow(name("c"), "sums"), int(sum as u32))
}

impl Scope<'_, '_> {
    /// The number of the sum over these inputs, if it is kept.
    fn sum_over(&self, inputs: &[HashInput]) -> Option<usize> {
        let straight = self.way.filter(|_| self.is_in_place())?.straight;
        straight.sums.iter().position(|sum| sum.is_over(inputs))
    }

    /// A sum was taken in full; `folded` is a variable with it.
    pub(crate) fn keep_sum(&mut self, inputs: &[HashInput], folded: &C) {
        if let Some(sum) = self.sum_over(inputs) {
            self.used.sums.insert(sum);
            self.push(assign(name(variable(sum)), folded.clone()));
        }
    }

    /// The checksum of what an update is over, from the kept sum or, where that cannot be, from the one that `in_full`
    /// takes and keeps; none if these inputs are no update's whose sum is kept.
    pub(crate) fn checksum_of_kept(&mut self, inputs: &[HashInput], in_full: impl FnOnce(&mut Self)) -> Option<C> {
        let sum = self.sum_over(inputs).filter(|_| sums::is_update(self.emitter.program, inputs))?;
        self.used.sums.insert(sum);
        let folded = self.fresh("folded");
        self.push(declare("uint64_t", folded.clone(), call("ws_sum_fold", vec![name(variable(sum))])));
        let is_lost = binary(">>", name(variable(sum)), int(63));
        let anew = binary("||", is_lost, binary("==", name(folded.clone()), long(0xffff)));
        let statements = self.take(|scope| {
            in_full(scope);
            scope.push(assign(name(folded.clone()), name(variable(sum))));
        });
        self.push(S::If(call("WS_UNLIKELY", vec![anew]), statements, Vec::new()));
        Some(call("ws_checksum", vec![name(folded)]))
    }

    /// Takes out of all sums what a field, or a slice of it, had, and adds what it gets. The header is valid, `base`
    /// where it begins. What is added must be evaluated once only.
    pub(crate) fn correct_sums(&mut self, header: &HeaderRef, field: u32, base: &C, bits: Bits, value: &Value) {
        let HeaderRef::Fixed(id) = header else { return };
        for (sum, place_bits) in self.sums_with(*id, field) {
            self.used.sums.insert(sum);
            let Value::Narrow(value) = value else {
                self.push(assign(name(variable(sum)), name("WS_SUM_LOST")));
                continue;
            };
            let first = place_bits + bits.offset - self.field_offset(*id, field);
            let pad = (16 - (first + bits.width) % 16) % 16;
            let span = (bits.width + pad).next_multiple_of(16);
            if span > 64 {
                self.push(assign(name(variable(sum)), name("WS_SUM_LOST")));
                continue;
            }
            let shifted = |value: C| if pad == 0 { value } else { binary("<<", value, int(pad)) };
            let in_byte = |value: C| {
                let shift = if first.is_multiple_of(16) { "WS_SUM_FIRST_BYTE" } else { "WS_SUM_SECOND_BYTE" };
                binary("<<", value, name(shift))
            };
            let turned = |value: C| match span {
                16 => call("ws_sum_turn", vec![value]),
                _ => call("ws_sum_word", vec![call("ws_sum_native", vec![value])]),
            };
            let old = load(base, bits);
            let change = if bits.width == 8 && first.is_multiple_of(8) {
                binary("+", binary("-", long(0xffff), in_byte(old)), in_byte(value.clone()))
            } else {
                let old = binary("-", long(mask(span)), shifted(old));
                binary("+", turned(old), turned(shifted(value.clone())))
            };
            self.push(S::Assign(name(variable(sum)), "+=", change));
        }
    }

    /// Gives up all sums that a field is in.
    pub(crate) fn lose_sums(&mut self, header: HeaderId, field: u32) {
        for (sum, _) in self.sums_with(header, field) {
            self.used.sums.insert(sum);
            self.push(assign(name(variable(sum)), name("WS_SUM_LOST")));
        }
    }

    /// The kept sums that a field is in, and where.
    pub(crate) fn sums_with(&self, header: HeaderId, field: u32) -> Vec<(usize, u32)> {
        let Some(way) = self.way.filter(|_| self.is_in_place()) else { return Vec::new() };
        let places = way.straight.sums.iter().enumerate();
        places.filter_map(|(sum, fields)| Some((sum, fields.place_bits(header, field)?))).collect()
    }

    fn field_offset(&self, header: HeaderId, field: u32) -> u32 {
        let program = self.emitter.program;
        program.header_types[program.headers[header].ty].offset_bits(field as usize)
    }

    /// The declarations of the sums that the code uses, with what they are where it begins.
    pub(crate) fn sum_declarations(&self) -> Vec<S> {
        let first = self.way.is_some_and(|way| way.region == 0);
        let value = |sum| if first { name("WS_SUM_LOST") } else { kept(sum) };
        self.used.sums.iter().map(|&sum| declare("WS_UNUSED uint64_t", variable(sum), value(sum))).collect()
    }

    /// Stores the sums that later regions want.
    pub(crate) fn sum_write_back(&self) -> Vec<S> {
        let Some(wanted) = self.way.and_then(|way| way.wanted) else { return Vec::new() };
        let stored = self.used.sums.iter().filter(|sum| wanted.sums.contains(sum));
        stored.map(|&sum| assign(kept(sum), name(variable(sum)))).collect()
    }
}
