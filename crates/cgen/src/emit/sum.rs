//! Sums that are kept from where a checksum is verified to where it is updated, on the fast path.
//!
//! The sum is a variable of C, a folded native sum. A store to a field that is in it takes out what was there and adds
//! what is there now, both together below 2^17, so that the sum stays far from its highest bit. With its highest bit
//! set it stands for nothing: the packet was not verified. Where a kept sum is folded to all ones, a sum of nothing but
//! zeros would be zero; there it is taken anew.
//!
//! Where it is certain that a packet's checksum was verified and right, and that nothing was written since, the sum
//! need not wait for tables: it is the complement of the checksum.

use super::expr::Value;
use super::field::{Bits, load};
use super::scope::{Known, Scope};
use super::{identifier, mask};
use crate::ctree::{Expr as C, Stmt as S, arrow, assign, binary, call, cast, declare, index, int, long, name, plus};
use crate::plan::sums::{self, Sum, Verified};
use ir::{Expr, HashInput, HeaderId, HeaderRef};
use std::collections::BTreeSet;

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
        let fast_path = self.way.filter(|_| self.is_in_place())?.fast_path;
        fast_path.sums.iter().position(|sum| sum.is_over(inputs))
    }

    /// A sum was taken in full; `folded` is a variable with it.
    pub(crate) fn keep_sum(&mut self, inputs: &[HashInput], folded: &C) {
        if let Some(sum) = self.sum_over(inputs) {
            self.used.sums.insert(sum);
            self.push(assign(name(variable(sum)), cast("uint32_t", folded.clone())));
        }
    }

    /// The checksum of what an update is over, from the kept sum or, where that cannot be, from the one that `in_full`
    /// takes and keeps; none if these inputs are no update's whose sum is kept.
    pub(crate) fn checksum_of_kept(&mut self, inputs: &[HashInput], in_full: impl FnOnce(&mut Self)) -> Option<C> {
        let sum = self.sum_over(inputs).filter(|_| sums::is_update(self.emitter.program, inputs))?;
        self.used.sums.insert(sum);
        let folded = self.fresh("folded");
        self.push(declare("uint64_t", folded.clone(), call("ws_sum_fold_short", vec![name(variable(sum))])));
        let is_lost = binary(">>", name(variable(sum)), int(31));
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
            let first = place_bits + bits.offset - self.field_offset(*id, field);
            let pad = (16 - (first + bits.width) % 16) % 16;
            let span = (bits.width + pad).next_multiple_of(16);
            // In a loop it would not be certain how far the sum grows.
            let narrow = match value {
                Value::Narrow(value) if span <= 64 && self.used.loops.is_empty() => value,
                _ => {
                    self.push(assign(name(variable(sum)), name("WS_SUM_LOST")));
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
            self.push(S::Assign(name(variable(sum)), "+=", cast("uint32_t", change)));
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
        let places = way.fast_path.sums.iter().enumerate();
        places.filter_map(|(sum, fields)| Some((sum, fields.place_bits(header, field)?))).collect()
    }

    /// What is known of sums once a condition was found true or false.
    pub(crate) fn assume_of_sums(&mut self, condition: &Expr, truth: bool) {
        let Some(way) = self.way.filter(|_| self.is_in_place()) else { return };
        for (number, sum) in way.fast_path.sums.iter().enumerate() {
            let is_right = sum.verified.as_ref().is_some_and(|verified| verified.is_said_by(condition, truth));
            if is_right && !self.known.touched.contains(&number) {
                self.known.in_packet.insert(number);
            }
        }
    }

    /// A field is written.
    pub(crate) fn touch_sums(&mut self, header: HeaderId, field: u32) {
        let touched: Vec<usize> = self.sums_of(header, field).collect();
        for sum in touched {
            self.known.touched.insert(sum);
            self.known.in_packet.remove(&sum);
        }
    }

    /// Whether a store to a field changes a sum, or the checksum that says what a sum is.
    pub(crate) fn is_summed(&self, header: HeaderId, field: u32) -> bool {
        self.sums_of(header, field).next().is_some()
    }

    /// The sums that a field is in, or whose checksum it is.
    fn sums_of(&self, header: HeaderId, field: u32) -> impl Iterator<Item = usize> + use<'_> {
        let way = self.way.filter(|_| self.is_in_place());
        let sums = way.into_iter().flat_map(|way| way.fast_path.sums.iter().enumerate());
        let is_of = move |sum: &Sum| {
            let is_checksum = sum.verified.as_ref().is_some_and(|verified| verified.checksum == (header, field));
            is_checksum || sum.place_bits(header, field).is_some()
        };
        sums.filter(move |(_, sum)| is_of(sum)).map(|(number, _)| number)
    }

    /// Any field may be written.
    pub(crate) fn touch_all_sums(&mut self) {
        if let Some(way) = self.way {
            self.known.touched.extend(0..way.fast_path.sums.len());
            self.known.in_packet.clear();
        }
    }

    /// The sum where packets enter this region of whom this is known.
    fn entering_sum(&self, sum: usize, known: &Known) -> C {
        match self.verified_where(known, sum) {
            Some(Verified { checksum: (header, field), .. }) => {
                let header_bytes = binary("+", name("bytes"), self.offset_entering(*header));
                let checksum = plus(header_bytes, self.field_offset(*header, *field) / 8);
                call("ws_sum_of_checksum", vec![checksum])
            }
            None => kept(sum),
        }
    }

    /// How a sum was verified, if that it was and was right is certain where this is known.
    fn verified_where(&self, known: &Known, sum: usize) -> Option<&Verified> {
        let verified = self.way?.fast_path.sums[sum].verified.as_ref()?;
        let is_valid = |header| self.is_valid_where(known, header);
        let is_certain = known.in_packet.contains(&sum) && is_valid(verified.guard) && is_valid(verified.checksum.0);
        is_certain.then_some(verified)
    }

    /// What the sums get that are something else where packets come in by another entry.
    pub(crate) fn sums_enter_by(&self, known: &Known) -> Vec<S> {
        let entering = self.used.sums.iter().map(|&sum| (sum, self.entering_sum(sum, known)));
        let differs = entering.filter(|(sum, value)| *value != self.entering_sum(*sum, &self.entered));
        differs.map(|(sum, value)| assign(name(variable(sum)), value)).collect()
    }

    /// The sums that are wanted where packets come in of whom this is known, if those in `after` are wanted where they
    /// go.
    pub(crate) fn wanted_sums(&self, known: &Known, after: &BTreeSet<usize>) -> BTreeSet<usize> {
        let is_kept = |sum: &usize| !self.used.sums.contains(sum) || self.verified_where(known, *sum).is_none();
        self.used.sums.union(after).copied().filter(is_kept).collect()
    }

    fn field_offset(&self, header: HeaderId, field: u32) -> u32 {
        let program = self.emitter.program;
        program.header_types[program.headers[header].ty].offset_bits(field as usize)
    }

    /// The declarations of the sums that the code uses, with what they are where it begins.
    pub(crate) fn sum_declarations(&self) -> Vec<S> {
        let first = self.way.is_some_and(|way| way.region == 0);
        let value = |sum| if first { name("WS_SUM_LOST") } else { self.entering_sum(sum, &self.entered) };
        self.used.sums.iter().map(|&sum| declare("WS_UNUSED uint32_t", variable(sum), value(sum))).collect()
    }

    /// Stores the sums that later regions want.
    pub(crate) fn sum_write_back(&self) -> Vec<S> {
        let Some(wanted) = self.way.and_then(|way| way.wanted) else { return Vec::new() };
        let stored = self.used.sums.iter().filter(|sum| wanted.sums.contains(sum));
        stored.map(|&sum| assign(kept(sum), name(variable(sum)))).collect()
    }
}
