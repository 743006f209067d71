//! Input bits for which conditions hold.
//!
//! What enters: conditions, one after the other. What leaves: bits of the input for which all of them hold, or the
//! answer that none were found. Operators are inverted where they have an inverse; elsewhere a few values are tried.
//! Bits with only one right value are pinned.

use crate::template::random_bits;
use crate::term::{Kind, Source, Term};
use base::{Bits, Rng};
use ir::{BinaryOp, UnaryOp};
use std::cell::Cell;
use std::rc::Rc;

/// The rounds in which conditions that others have broken are solved again.
const ROUNDS: usize = 4;

/// The values that are tried where nothing is inverted.
const TRIES: usize = 200;

/// The bit's value.
const VALUE: u8 = 1;
/// No other value is right.
const PINNED: u8 = 2;
/// A condition mentions it.
const MENTIONED: u8 = 4;
/// A header gave it its usual value.
const USUAL: u8 = 8;

/// The bits of an input, and the conditions that they fulfil.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    bits: Vec<u8>,
    conditions: Vec<Term>,
    /// The nodes of terms that may still be evaluated, on all paths together.
    budget: Rc<Cell<u64>>,
}

/// The answer about a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// It holds now.
    Holds,
    /// No bits were found for which it and the earlier ones hold.
    Contradiction,
    /// It depends on something other than the input.
    Unknown(&'static str),
}

impl Source for Input {
    fn bits(&self, first: usize, width: u32) -> Bits {
        let mut value = Bits::zero(width);
        for at in 0..width {
            value.set_bit(width - 1 - at, self.bits.get(first + at as usize).is_some_and(|bit| bit & VALUE != 0));
        }
        value
    }
}

impl Input {
    /// An input about which nothing is known. The budget bounds the work for it and its copies.
    pub(crate) fn with_budget(nodes: u64) -> Input {
        Input { budget: Rc::new(Cell::new(nodes)), ..Input::default() }
    }

    /// Whether the budget is used up.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.budget.get() == 0
    }

    fn evaluate(&self, term: &Term) -> Bits {
        self.budget.set(self.budget.get().saturating_sub(u64::from(term.nodes())));
        term.value(self)
    }

    /// Whether a condition mentions any of these bits.
    pub(crate) fn is_mentioned(&self, first: usize, width: u32) -> bool {
        (first..first + width as usize).any(|at| self.bits.get(at).is_some_and(|bit| bit & (MENTIONED | PINNED) != 0))
    }

    /// Gives bits their usual value, except those that have one already or that a condition mentions.
    pub(crate) fn set_usual(&mut self, first: usize, value: &Bits) {
        for at in 0..value.width() {
            let bit = self.bit_mut(first + at as usize);
            if *bit & (MENTIONED | PINNED | USUAL) == 0 {
                *bit = USUAL | u8::from(value.bit(value.width() - 1 - at));
            }
        }
    }

    /// Whether only one value of each of these bits is right.
    pub(crate) fn is_pinned(&self, first: usize, width: u32) -> bool {
        (first..first + width as usize).all(|at| self.bits.get(at).is_some_and(|bit| bit & PINNED != 0))
    }

    /// Gives bits that no condition mentions the only right value.
    pub(crate) fn pin(&mut self, first: usize, value: &Bits) {
        if !self.is_mentioned(first, value.width()) {
            self.write(first, value, true);
        }
    }

    fn bit_mut(&mut self, at: usize) -> &mut u8 {
        if self.bits.len() <= at {
            self.bits.resize(at + 1, 0);
        }
        &mut self.bits[at]
    }

    /// Makes a condition hold, beside all earlier ones.
    pub(crate) fn require(&mut self, condition: &Term) -> Answer {
        if let Some(reason) = condition.opaque() {
            return Answer::Unknown(reason);
        }
        if let Some(value) = condition.known() {
            return if value.is_zero() { Answer::Contradiction } else { Answer::Holds };
        }
        if self.is_exhausted() {
            return Answer::Contradiction;
        }
        let before = self.clone();
        self.conditions.push(condition.clone());
        condition.inputs(&mut |first, width| {
            (first..first + width as usize).for_each(|at| *self.bit_mut(at) |= MENTIONED);
        });
        if self.solve(condition, true) && self.repair() {
            return Answer::Holds;
        }
        *self = before;
        Answer::Contradiction
    }

    /// Makes a value that nothing requires yet an unusual one, the same for the same seed.
    pub(crate) fn vary(&mut self, term: &Term, seed: u64) {
        let wanted = random_bits(term.width(), &mut Rng::new(seed));
        let mut is_free = true;
        term.inputs(&mut |first, width| is_free &= !self.is_mentioned(first, width));
        if is_free {
            self.attempt(|it| it.give(term, &wanted, false));
        }
    }

    /// Makes a value known: the one that it has now, from here on.
    pub(crate) fn fix(&mut self, term: &Term) -> Option<Bits> {
        let value = term.value(self);
        let same = term.equals(&Term::constant(value.clone(), term.ty()));
        (self.require(&same) == Answer::Holds).then_some(value)
    }

    fn is_true(&self, condition: &Term) -> bool {
        !self.evaluate(condition).is_zero()
    }

    /// Whether all conditions hold; if only one matters, whether that does.
    fn holds(&self, only: Option<(&Term, &Bits)>) -> bool {
        match only {
            Some((term, wanted)) => self.evaluate(term) == *wanted,
            None => self.conditions.iter().all(|condition| self.is_true(condition)),
        }
    }

    /// Solves conditions again that others have broken.
    fn repair(&mut self) -> bool {
        for _ in 0..ROUNDS {
            let broken: Vec<Term> = self.conditions.iter().filter(|it| !self.is_true(it)).cloned().collect();
            if broken.is_empty() {
                return true;
            }
            if !broken.iter().all(|condition| self.solve(condition, true)) {
                return false;
            }
        }
        self.conditions.iter().all(|condition| self.is_true(condition))
    }

    /// Makes a truth value the required one.
    fn solve(&mut self, condition: &Term, wanted: bool) -> bool {
        use BinaryOp::*;
        let value = Bits::from_bool(wanted);
        match condition.kind() {
            Kind::Unary(UnaryOp::Not | UnaryOp::BitNot, of) if of.width() == 1 => self.solve(of, !wanted),
            Kind::Binary(op @ (LogicalAnd | LogicalOr), left, right) => {
                if (*op == LogicalAnd) == wanted {
                    self.solve(left, wanted) && self.solve(right, wanted)
                } else {
                    self.is_true(condition) == wanted
                        || self.attempt(|it| it.solve(left, wanted) && it.is_true(condition) == wanted)
                        || self.attempt(|it| it.solve(right, wanted) && it.is_true(condition) == wanted)
                }
            }
            Kind::Binary(op @ (Eq | Ne), left, right) if (*op == Eq) == wanted => self.equate(left, right),
            _ if self.is_true(condition) == wanted => true,
            Kind::Binary(Eq | Ne | Lt | Le | Gt | Ge, left, right) => self.separate(condition, wanted, left, right),
            _ => self.attempt(|it| it.set(condition, &value)) || self.search(condition, &value, false),
        }
    }

    /// Undoes what `work` did if it fails.
    fn attempt(&mut self, work: impl FnOnce(&mut Input) -> bool) -> bool {
        let before = self.bits.clone();
        let is_done = work(self);
        if !is_done {
            self.bits = before;
        }
        is_done
    }

    fn equate(&mut self, left: &Term, right: &Term) -> bool {
        let (of_left, of_right) = (left.value(self), right.value(self));
        self.attempt(|it| it.set(left, &of_right) && it.set(right, &of_right))
            || self.attempt(|it| it.set(right, &of_left) && it.set(left, &of_left))
            || self.search(left, &of_right, true)
            || self.search(left, &of_right, false)
    }

    /// Makes a comparison that is not equality the required one: by values at the bound, and some others. Best are
    /// those for which all other conditions hold as well.
    fn separate(&mut self, condition: &Term, wanted: bool, left: &Term, right: &Term) -> bool {
        let value = Bits::from_bool(wanted);
        let mut near = Vec::new();
        for (moved, other) in [(left, right), (right, left)] {
            if moved.known().is_none() {
                let (width, bound) = (moved.width(), self.evaluate(other));
                let one = Bits::from_u64(width, 1);
                let least = [Bits::zero(width), Bits::ones(width)];
                let values = [bound.add(&one), bound.sub(&one), bound, one].into_iter().chain(least);
                near.extend(values.map(|value| (moved, value)));
            }
        }
        let is_right = |it: &Input| it.holds(Some((condition, &value)));
        near.iter()
            .any(|(moved, near)| self.attempt(|it| it.give(moved, near, false) && is_right(it) && it.holds(None)))
            || self.search(condition, &value, true)
            || near.iter().any(|(moved, near)| self.attempt(|it| it.give(moved, near, false) && is_right(it)))
            || self.search(condition, &value, false)
    }

    /// Tries values of the free bits that a term depends on; if all conditions are to hold, only those are right for
    /// which they do.
    fn search(&mut self, term: &Term, wanted: &Bits, keeps_all: bool) -> bool {
        let mut free = Vec::new();
        term.inputs(&mut |first, width| free.extend(first..first + width as usize));
        free.sort_unstable();
        free.dedup();
        free.retain(|at| self.bits.get(*at).is_none_or(|bit| bit & PINNED == 0));
        let mut rng = Rng::new(free.len() as u64);
        for number in 0..TRIES as u64 {
            let is_found = self.attempt(|it| {
                it.try_number(&free, number, &mut rng);
                it.holds(Some((term, wanted))) && (!keeps_all || it.holds(None))
            });
            if is_found || self.is_exhausted() {
                return is_found;
            }
        }
        false
    }

    /// Gives bits values: first small numbers in the last of them, then any.
    fn try_number(&mut self, free: &[usize], number: u64, rng: &mut Rng) {
        for (position, at) in free.iter().enumerate() {
            let from_end = free.len() - 1 - position;
            let value = if number < 128 { from_end < 7 && number >> from_end & 1 == 1 } else { rng.chance(1, 2) };
            let bit = self.bit_mut(*at);
            *bit = *bit & !VALUE | u8::from(value);
        }
    }

    /// Gives a term a value, and pins the bits that this sets.
    fn set(&mut self, term: &Term, value: &Bits) -> bool {
        self.give(term, value, true)
    }

    fn give(&mut self, term: &Term, value: &Bits, pins: bool) -> bool {
        let width = term.width();
        let is_given = match term.kind() {
            Kind::Const(known) => known == value,
            Kind::Opaque(_) => false,
            Kind::Input(first) => return self.write(*first, value, pins),
            Kind::Unary(UnaryOp::Neg, of) => self.give(of, &value.neg(), pins),
            Kind::Unary(_, of) => self.give(of, &value.not(), pins),
            Kind::Cast(of) if of.width() <= width => self.give(of, &value.resize(of.width()), pins),
            Kind::Cast(of) => {
                let whole = of.value(self).with_slice(width - 1, 0, value);
                self.give(of, &whole, pins)
            }
            Kind::Slice(of, low) => {
                let whole = of.value(self).with_slice(low + width - 1, *low, value);
                self.give(of, &whole, pins)
            }
            Kind::Concat(above, below) => {
                let middle = below.width();
                self.give(above, &value.slice(width - 1, middle), pins)
                    && self.give(below, &value.slice(middle - 1, 0), pins)
            }
            Kind::Mux(condition, yes, no) => {
                self.attempt(|it| it.solve(condition, true) && it.give(yes, value, pins))
                    || self.attempt(|it| it.solve(condition, false) && it.give(no, value, pins))
            }
            Kind::Binary(op, left, right) => self.give_binary((*op, left, right), term, value, pins),
        };
        is_given && term.value(self) == *value
    }

    fn write(&mut self, first: usize, value: &Bits, pins: bool) -> bool {
        for at in 0..value.width() {
            let wanted = u8::from(value.bit(value.width() - 1 - at));
            let bit = self.bit_mut(first + at as usize);
            if *bit & PINNED != 0 && *bit & VALUE != wanted {
                return false;
            }
            *bit = *bit & !VALUE | wanted | if pins { PINNED } else { 0 };
        }
        true
    }

    /// Changes one operand, with the other as it is.
    fn give_binary(&mut self, parts: (BinaryOp, &Term, &Term), term: &Term, value: &Bits, pins: bool) -> bool {
        let (op, left, right) = parts;
        if op.is_comparison() || matches!(op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr) {
            return self.solve(term, !value.is_zero());
        }
        let (of_left, of_right) = (left.value(self), right.value(self));
        for (is_left, changed) in [(true, left), (false, right)] {
            let wanted = operand(op, is_left, value, (&of_left, &of_right));
            if changed.known().is_none()
                && let Some(wanted) = wanted
                && self.attempt(|it| it.give(changed, &wanted, pins) && term.value(it) == *value)
            {
                return true;
            }
        }
        false
    }
}

/// The value of one operand for which the result is `value`, while the other one keeps its value.
fn operand(op: BinaryOp, is_left: bool, value: &Bits, (left, right): (&Bits, &Bits)) -> Option<Bits> {
    let other = if is_left { right } else { left };
    let own = if is_left { left } else { right };
    Some(match op {
        BinaryOp::Add => value.sub(other),
        BinaryOp::Sub if is_left => value.add(right),
        BinaryOp::Sub => left.sub(value),
        BinaryOp::SaturatingAdd => value.sub(other),
        BinaryOp::SaturatingSub if is_left => value.add(right),
        BinaryOp::SaturatingSub => left.sub(value),
        BinaryOp::Xor => value.xor(other),
        // What the mask leaves open stays as it is.
        BinaryOp::And => value.or(&own.and(&other.not())),
        BinaryOp::Or => value.and(&other.not()).or(&own.and(other)),
        BinaryOp::Mul => value.div(other)?,
        BinaryOp::Div if is_left => value.mul(right),
        BinaryOp::Rem if is_left => value.clone(),
        BinaryOp::Shl if is_left => {
            let amount = right.to_u64()?;
            let kept = Bits::ones(left.width()).shl(u64::from(left.width()).saturating_sub(amount));
            value.shr(amount).or(&left.and(&kept))
        }
        BinaryOp::Shr if is_left => {
            let amount = right.to_u64()?;
            let kept = Bits::ones(left.width()).shl(amount).not();
            value.shl(amount).or(&left.and(&kept))
        }
        _ => return None,
    })
}
