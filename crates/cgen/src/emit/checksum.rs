//! Incremental checksums on the fast path: the sum is saved from where a checksum is verified to where it is updated.
//!
//! The sum is a C variable, a folded native sum. A store to one of its fields subtracts the old value and adds the new
//! one, both together below 2^17, so that the sum stays far from its highest bit. A sum with its highest bit set is
//! invalid: the packet was not verified. If a saved sum folds to all ones, the fields may all be zero, and the sum of
//! zeros is zero; it is then computed again.
//!
//! Where it is certain that a packet's checksum was verified and right, and that nothing was written since, the sum
//! need not be saved: it is the complement of the checksum.

use super::expr::Value;
use super::field::{Bits, load};
use super::mask;
use super::scope::{Known, Scope};
use crate::plan::checksums::{self, Checksum, Verified};
use ir::{Expr, HashInput, HeaderId, HeaderRef, VarId};
use lir::{Expr as C, StatePart, Stmt as S, Type, assign, binary, call, cast, declare, int, long, name, plus};

/// The variable of a sum.
fn variable(sum: usize) -> C {
    C::State(StatePart::Sum(sum as u32))
}

impl Scope<'_, '_> {
    /// The number of the incremental checksum over these inputs, if there is one.
    fn sum_over(&self, inputs: &[HashInput]) -> Option<usize> {
        let fast_path = self.path.filter(|_| self.is_in_place())?.fast_path;
        fast_path.checksums.iter().position(|sum| sum.is_over(inputs))
    }

    /// Records a sum that was computed in full; `folded` is a variable with it.
    pub(crate) fn note_sum(&mut self, inputs: &[HashInput], folded: &C) {
        if let Some(sum) = self.sum_over(inputs) {
            self.push(assign(variable(sum), cast(Type::U32, folded.clone())));
        }
    }

    /// The checksum of an update, from the incremental sum or, where that is invalid, from the one that `in_full`
    /// computes and records. None if these inputs are not those of an update with an incremental sum.
    pub(crate) fn updated_checksum(&mut self, inputs: &[HashInput], in_full: impl FnOnce(&mut Self)) -> Option<C> {
        let sum = self.sum_over(inputs).filter(|_| checksums::is_update(self.emitter.program, inputs))?;
        let folded = self.fresh("folded");
        self.push(declare(Type::U64, folded.clone(), call("ws_sum_fold_short", vec![variable(sum)])));
        let is_lost = binary(">>", variable(sum), int(31));
        let anew = binary("||", is_lost, binary("==", name(folded.clone()), long(0xffff)));
        let statements = self.take(|scope| {
            in_full(scope);
            scope.push(assign(name(folded.clone()), variable(sum)));
        });
        self.push(S::If(call("WS_UNLIKELY", vec![anew]), statements, Vec::new()));
        Some(call("ws_checksum", vec![name(folded)]))
    }

    /// Updates all sums for a store to a field, or a slice of it: subtracts the old value and adds the new one. The
    /// header is valid and begins at `base`. The new value is evaluated once only.
    pub(crate) fn correct_sums(&mut self, header: &HeaderRef, field: u32, base: &C, bits: Bits, value: &Value) {
        let HeaderRef::Fixed(id) = header else { return };
        for (sum, place_bits) in self.sums_with(*id, field) {
            let first = place_bits + bits.offset - self.field_offset(*id, field);
            let pad = (16 - (first + bits.width) % 16) % 16;
            let span = (bits.width + pad).next_multiple_of(16);
            // In a loop the sum could grow without bound.
            let narrow = match value {
                Value::Narrow(value) if span <= 64 && self.loops_open == 0 => value,
                _ => {
                    self.push(assign(variable(sum), name("WS_SUM_LOST")));
                    continue;
                }
            };
            let value = narrow;
            let shifted = |value: C| if pad == 0 { value } else { binary("<<", value, int(pad)) };
            let in_byte = |value: C| {
                let shift = if first.is_multiple_of(16) { "WS_SUM_FIRST_BYTE" } else { "WS_SUM_SECOND_BYTE" };
                binary("<<", value, name(shift))
            };
            let old = load(base, bits);
            let change = if bits.width == 8 && first.is_multiple_of(8) {
                binary("+", binary("-", long(0xffff), in_byte(old)), in_byte(value.clone()))
            } else {
                let (old, new) = (binary("-", long(mask(span)), shifted(old)), shifted(value.clone()));
                match span {
                    16 => binary("+", call("ws_sum_turn", vec![old]), call("ws_sum_turn", vec![new])),
                    _ => call("ws_sum_change", vec![old, new]),
                }
            };
            self.push(S::Assign(variable(sum), "+=", cast(Type::U32, change)));
        }
    }

    /// Invalidates all sums that a field is in.
    pub(crate) fn lose_sums(&mut self, header: HeaderId, field: u32) {
        for (sum, _) in self.sums_with(header, field) {
            self.push(assign(variable(sum), name("WS_SUM_LOST")));
        }
    }

    /// The incremental sums that a field is in, and its place in each.
    pub(crate) fn sums_with(&self, header: HeaderId, field: u32) -> Vec<(usize, u32)> {
        let Some(path) = self.path.filter(|_| self.is_in_place()) else { return Vec::new() };
        let places = path.fast_path.checksums.iter().enumerate();
        places.filter_map(|(sum, fields)| Some((sum, fields.place_bits(header, field)?))).collect()
    }

    /// Adds the facts about sums that follow from a condition's value.
    pub(crate) fn assume_of_sums(&mut self, condition: &Expr, truth: bool) {
        let Some(path) = self.path.filter(|_| self.is_in_place()) else { return };
        for (number, sum) in path.fast_path.checksums.iter().enumerate() {
            let is_right = sum.verified.as_ref().is_some_and(|verified| verified.is_implied_by(condition, truth));
            if is_right && !self.known.touched.contains(&number) {
                self.known.in_packet.insert(number);
            }
        }
    }

    /// Records that a field is written.
    pub(crate) fn touch_sums(&mut self, header: HeaderId, field: u32) {
        let touched: Vec<usize> = self.sums_of(header, field).collect();
        for sum in touched {
            self.known.touched.insert(sum);
            self.known.in_packet.remove(&sum);
        }
    }

    /// Whether a store to a field changes a sum, or the checksum that a sum is derived from.
    pub(crate) fn is_summed(&self, header: HeaderId, field: u32) -> bool {
        self.sums_of(header, field).next().is_some()
    }

    /// The sums that a field is in, or whose checksum it is.
    fn sums_of(&self, header: HeaderId, field: u32) -> impl Iterator<Item = usize> + use<'_> {
        let path = self.path.filter(|_| self.is_in_place());
        let sums = path.into_iter().flat_map(|path| path.fast_path.checksums.iter().enumerate());
        let is_of = move |sum: &Checksum| {
            let is_checksum = sum.verified.as_ref().is_some_and(|verified| verified.checksum == (header, field));
            is_checksum || sum.place_bits(header, field).is_some()
        };
        sums.filter(move |(_, sum)| is_of(sum)).map(|(number, _)| number)
    }

    /// Records that a variable may be set to zero: if it is one with the errors of verifications, it no longer
    /// shows whether a checksum was right.
    pub(crate) fn touch_error(&mut self, var: VarId) {
        let Some(path) = self.path.filter(|_| self.is_in_place()) else { return };
        for (sum, checksum) in path.fast_path.checksums.iter().enumerate() {
            if checksum.verified.as_ref().is_some_and(|verified| verified.error == var) {
                self.known.touched.insert(sum);
            }
        }
    }

    /// Records that any field may be written.
    pub(crate) fn touch_all_sums(&mut self) {
        if let Some(path) = self.path {
            self.known.touched.extend(0..path.fast_path.checksums.len());
            self.known.in_packet.clear();
        }
    }

    /// The sum where packets enter this stage with these known facts.
    pub(crate) fn entering_sum(&self, sum: usize, known: &Known) -> C {
        match self.verified_where(known, sum) {
            Some(Verified { checksum: (header, field), .. }) => {
                let header_bytes = binary("+", name("bytes"), self.offset_entering(*header));
                let checksum = plus(header_bytes, self.field_offset(*header, *field) / 8);
                call("ws_sum_of_checksum", vec![checksum])
            }
            None => C::Saved(StatePart::Sum(sum as u32)),
        }
    }

    /// The verification of a sum, if these facts imply that it took place and succeeded.
    fn verified_where(&self, known: &Known, sum: usize) -> Option<&Verified> {
        let verified = self.path?.fast_path.checksums[sum].verified.as_ref()?;
        let is_valid = |header| self.is_valid_where(known, header);
        let is_certain = known.in_packet.contains(&sum) && is_valid(verified.guard) && is_valid(verified.checksum.0);
        is_certain.then_some(verified)
    }

    fn field_offset(&self, header: HeaderId, field: u32) -> u32 {
        let program = self.emitter.program;
        program.header_types[program.headers[header].ty].offset_bits(field as usize)
    }
}
