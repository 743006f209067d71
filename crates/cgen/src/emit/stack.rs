//! Pushing and popping: the elements of a header stack move up or down.
//!
//! What enters: a stack and the number of places by which its elements move. What leaves: code that gives each header
//! the place of the element that it becomes. No bytes move, except those of headers that lie in the home of their
//! element: they are copied to the home of the element that they become, so that no two elements ever share one. Where
//! elements are indexed at run time, the homes are moved instead.

use super::expr::Value;
use super::header::Place;
use super::scope::Scope;
use crate::plan::StackSlot;
use ir::{HeaderId, HeaderRef, StackId};
use lir::{Stmt as S, arrow, assign, binary, call, conditional, int, long, name, plus};

/// An element, and the element that it becomes, if there is one.
type Move = (HeaderId, Option<HeaderId>);

impl Scope<'_, '_> {
    pub(crate) fn move_stack(&mut self, stack: StackId, count: u32, up: bool) {
        let StackSlot { size, dynamic, .. } = self.stack_slot(stack);
        let count = count.min(size);
        match (count, dynamic) {
            (0, _) => {}
            (_, true) => self.rotate(stack, count, up),
            (_, false) => self.move_elements(stack, count, up),
        }
        self.move_next(stack, count, up);
    }

    /// Moves elements that are indexed at run time.
    fn rotate(&mut self, stack: StackId, count: u32, up: bool) {
        let StackSlot { first, size, .. } = self.stack_slot(stack);
        let direction = int(u32::from(up));
        let arrays = [("offset", Some(first.slot)), ("home", first.home_slot), ("varbit_bytes", first.varbit)];
        for (array, start) in arrays {
            let Some(start) = start else { continue };
            let items = plus(arrow(name("c"), array), start);
            self.push(S::Eval(call("ws_rotate", vec![items, int(size), int(count), direction.clone()])));
        }
        let words = plus(arrow(name("c"), "valid"), first.bit / 64);
        self.push(S::Eval(call("ws_move_valid", vec![words, int(size), int(count), direction])));
        self.forget_stack(stack);
    }

    /// Moves `next` with the elements, within the stack.
    fn move_next(&mut self, stack: StackId, count: u32, up: bool) {
        let size = self.stack_slot(stack).size;
        let next = self.stack_next(stack);
        let (count, size) = (long(u64::from(count)), long(u64::from(size)));
        let moved = if up {
            let sum = self.temporary(binary("+", next, count));
            conditional(binary("<", sum.clone(), size.clone()), sum, size)
        } else {
            let next = self.atom(next);
            conditional(binary(">", next.clone(), count.clone()), binary("-", next, count), long(0))
        };
        self.write_var(self.emitter.program.stacks[stack].next, Value::Narrow(moved));
    }

    /// Moves elements that are named at compile time.
    fn move_elements(&mut self, stack: StackId, count: u32, up: bool) {
        let program = self.emitter.program;
        let elements = &program.stacks[stack].elements;
        let count = count as usize;
        let source = |at: usize| if up { at.checked_sub(count) } else { Some(at + count) };
        let from = |at: usize| source(at).and_then(|at| elements.get(at)).copied();
        let mut moves: Vec<Move> = (0..elements.len()).map(|at| (elements[at], from(at))).collect();
        if up {
            // Each element moves before another takes its place.
            moves.reverse();
        }
        for (to, from) in &moves {
            if let Some(from) = from.filter(|&from| !self.is_surely_invalid(from)) {
                self.move_element(*to, from);
            }
        }
        self.move_bits(elements, &moves, count as u32, up);
        // If a packet has its initial valid bits again, moves have returned every element to its place: they add no
        // element, and an element that they drop does not come back. So they need not record that a header was
        // relocated.
        self.learn_moves(&moves);
    }

    /// Makes one element the header that another one is. The place of an invalid header is moved as well, and is not
    /// used.
    fn move_element(&mut self, to: HeaderId, from: HeaderId) {
        let [to, from] = [to, from].map(|id| self.access(&HeaderRef::Fixed(id)));
        let place = if self.moves() { self.pointer(&from) } else { self.offset(&from) };
        let homes = match (&to.place, &from.place) {
            (Place::Plain(to), Place::Plain(from)) if self.emitter.plan.headers[*from].home.is_some() => {
                Some([*to, *from].map(|id| self.plain_home(id)))
            }
            _ => None,
        };
        let taken = self.take(|scope| scope.set_offset(&to, place.clone()));
        // A header that was parsed and not changed since lies in the packet.
        match homes.filter(|_| !self.known.as_parsed) {
            None => self.out.extend(taken),
            Some([to_home, from_home]) => {
                let copied = self.take(|scope| {
                    let size = scope.size(&from);
                    let bytes = [to_home.clone(), place.clone()].map(|place| scope.at(place));
                    let [to_bytes, from_bytes] = bytes;
                    scope.push(S::Eval(call("memcpy", vec![to_bytes, from_bytes, size])));
                    scope.set_offset(&to, to_home);
                });
                self.push(S::If(binary("==", place, from_home), copied, taken));
            }
        }
        if self.has_varbit(&to) {
            let [to, from] = [&to, &from].map(|access| self.varbit_bytes(access));
            self.push(assign(to, from));
        }
    }

    /// Moves the valid bits of a stack's elements.
    fn move_bits(&mut self, elements: &[HeaderId], moves: &[Move], count: u32, up: bool) {
        let bits: Vec<u32> = elements.iter().map(|&id| self.emitter.plan.headers[id].bit).collect();
        let (first, last) = (bits[0], bits[bits.len() - 1]);
        let in_one_word = first / 64 == last / 64 && bits.iter().zip(first..).all(|(&bit, at)| bit == at);
        if in_one_word {
            let mask = (u64::MAX >> (64 - bits.len() as u32)) << (first % 64);
            let word = super::scope::valid_word(first / 64);
            let own = binary("&", word.clone(), long(mask));
            let moved = if count as usize == bits.len() {
                long(0)
            } else {
                binary("&", binary(if up { "<<" } else { ">>" }, own, int(count)), long(mask))
            };
            let others = binary("&", word.clone(), long(!mask));
            self.push(assign(word, binary("|", others, moved)));
            return;
        }
        for (to, from) in moves {
            let valid = from.map(|from| self.access(&HeaderRef::Fixed(from))).map(|access| self.valid(&access));
            let to = self.access(&HeaderRef::Fixed(*to));
            let [set, cleared] = [true, false].map(|valid| self.take(|scope| scope.set_bit(&to, valid)));
            match valid {
                None => self.out.extend(cleared),
                Some(None) => self.out.extend(set),
                Some(Some(valid)) => self.push(S::If(valid, set, cleared)),
            }
        }
    }

    /// Moves the facts about an element's validity to the element that it became.
    fn learn_moves(&mut self, moves: &[Move]) {
        let known: Vec<[bool; 2]> = moves
            .iter()
            .map(|(_, from)| match from {
                Some(from) => [self.is_surely_valid(*from), self.is_surely_invalid(*from)],
                None => [false, true],
            })
            .collect();
        self.known.as_parsed = false;
        for ((to, _), [valid, invalid]) in moves.iter().zip(known) {
            self.known.in_their_places.remove(to);
            self.known.lies.remove(to);
            self.known.valid.remove(to);
            self.known.invalid.remove(to);
            if valid {
                self.known.valid.insert(*to);
            }
            if invalid {
                self.known.invalid.insert(*to);
            }
        }
    }
}
