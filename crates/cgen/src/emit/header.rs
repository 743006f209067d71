//! Access to header instances: their places and validity, and the statements that change these.

use super::layout::{Lies, at_bytes};
use super::scope::{Scope, add, dynamic_word, valid_word};
use crate::plan::StackSlot;
use lir::{
    Expr as C, StatePart, Stmt as S, Type, arrow, assign, binary, call, cast, conditional, constant, declare_array,
    index, int, long, name, unary,
};

use super::pieces::PIECES_BYTES_MAX;
use ir::{HeaderId, HeaderRef, HeaderTypeId, StackId};

/// A header instance that code accesses.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) place: Place,
    pub(crate) ty: HeaderTypeId,
}

/// How it is found.
#[derive(Clone)]
pub(crate) enum Place {
    /// By its number; its pointer and valid bit are C variables.
    Plain(HeaderId),
    /// In a stack whose elements are indexed at run time.
    Element {
        stack: StackId,
        /// Less than the stack's size (0 in an empty stack).
        position: C,
        /// The condition that there is such an element, if that is uncertain.
        in_range: Option<C>,
        /// The element, if its index is a constant.
        id: Option<HeaderId>,
    },
}

/// A varbit field.
struct Varbit {
    access: Access,
    /// The pointer to its header.
    pointer: C,
    /// Its first bit in the header.
    offset: u32,
    /// Its length in bytes; zero in an invalid header.
    bytes: C,
}

impl Scope<'_, '_> {
    /// A pointer to an offset of the chunk or, where packets are processed in place, of the packet.
    pub(crate) fn at_offset(&self, offset: C) -> C {
        if self.is_in_place() { binary("+", name("bytes"), offset) } else { call("ws_at", vec![name("p"), offset]) }
    }

    /// A pointer to the place of a header, which is an offset or, where headers are relocated in place, a pointer.
    pub(crate) fn at(&self, place: C) -> C {
        if self.moves() { place } else { self.at_offset(place) }
    }

    /// Finds a header. Its index, if it has one, is computed here.
    pub(crate) fn access(&mut self, header: &HeaderRef) -> Access {
        let program = self.emitter.program;
        let ty = program.header_type_id(header);
        let stack = match header {
            HeaderRef::Fixed(id) => {
                let place = match self.emitter.dynamic_element(*id) {
                    Some((stack, position)) => {
                        Place::Element { stack, position: int(position), in_range: None, id: Some(*id) }
                    }
                    None => Place::Plain(*id),
                };
                return Access { place, ty };
            }
            HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => *stack,
        };
        let number = match header {
            HeaderRef::Element { index, .. } => self.number(index),
            HeaderRef::Last(_) => binary("-", self.stack_next(stack), long(1)),
            _ => self.stack_next(stack),
        };
        let number = self.temporary(number);
        let in_range = binary("<", number.clone(), long(u64::from(self.stack_slot(stack).size)));
        let position = self.fresh("e");
        let chosen = conditional(in_range.clone(), cast(Type::U32, number), int(0));
        self.push(constant(Type::U32, position.clone(), chosen));
        Access { place: Place::Element { stack, position: name(position), in_range: Some(in_range), id: None }, ty }
    }

    pub(crate) fn stack_slot(&self, stack: StackId) -> StackSlot {
        self.emitter.plan.stacks[stack]
    }

    /// The stack's `next` index.
    pub(crate) fn stack_next(&mut self, stack: StackId) -> C {
        let var = self.emitter.program.stacks[stack].next;
        let ty = self.emitter.program.vars[var].ty;
        self.narrow(&ir::Expr { kind: ir::ExprKind::Var(var), ty })
    }

    /// The condition that the header is valid; none if it certainly is.
    pub(crate) fn valid(&mut self, access: &Access) -> Option<C> {
        match &access.place {
            Place::Plain(id) => {
                if self.is_surely_valid(*id) {
                    return None;
                }
                if self.is_surely_invalid(*id) {
                    return Some(long(0));
                }
                let bit = self.emitter.plan.headers[*id].bit;
                let word = valid_word(bit / 64);
                let shifted = if bit.is_multiple_of(64) { word } else { binary(">>", word, int(bit % 64)) };
                Some(binary("&", shifted, long(1)))
            }
            Place::Element { stack, position, in_range, id } => {
                if id.is_some_and(|id| self.is_surely_valid(id)) {
                    return None;
                }
                let first = self.stack_slot(*stack).first;
                let bit = call("ws_bit", vec![arrow(name("c"), "valid"), add(first.bit, position.clone())]);
                Some(match in_range {
                    Some(in_range) => binary("&&", in_range.clone(), bit),
                    None => bit,
                })
            }
        }
    }

    /// Whether the header is valid, as a `Bool`.
    pub(crate) fn is_valid(&mut self, header: &HeaderRef) -> C {
        let access = self.access(header);
        self.valid(&access).unwrap_or(long(1))
    }

    /// The pointer to the header's first byte. It is meaningful only if the header is valid.
    pub(crate) fn pointer(&mut self, access: &Access) -> C {
        match &access.place {
            Place::Plain(id) => lir::header(*id),
            Place::Element { .. } => {
                let offset = self.offset(access);
                self.at(offset)
            }
        }
    }

    /// The saved place of the header.
    pub(crate) fn offset(&self, access: &Access) -> C {
        match &access.place {
            Place::Plain(id) => C::Saved(StatePart::Header(*id)),
            Place::Element { stack, position, .. } => {
                let slot = add(self.stack_slot(*stack).first.slot, position.clone());
                index(arrow(name("c"), "offset"), slot)
            }
        }
    }

    /// The place of the length of the header's varbit field, in bytes.
    pub(crate) fn varbit_bytes(&mut self, access: &Access) -> C {
        let slot = match &access.place {
            Place::Plain(id) => int(self.emitter.plan.headers[*id].varbit.unwrap_or(0)),
            Place::Element { stack, position, .. } => {
                add(self.stack_slot(*stack).first.varbit.unwrap_or(0), position.clone())
            }
        };
        index(arrow(name("c"), "varbit_bytes"), slot)
    }

    pub(crate) fn has_varbit(&self, access: &Access) -> bool {
        self.emitter.program.header_types[access.ty].varbit().is_some()
    }

    /// Bytes of the header without its varbit field.
    pub(crate) fn fixed_bytes(&self, access: &Access) -> u32 {
        self.emitter.program.header_types[access.ty].fixed_width() / 8
    }

    /// Bytes of the header.
    pub(crate) fn size(&mut self, access: &Access) -> C {
        let fixed = self.fixed_bytes(access);
        if self.has_varbit(access) { add(fixed, self.varbit_bytes(access)) } else { int(fixed) }
    }

    /// The offset of the header's scratch place.
    fn home(&mut self, access: &Access) -> C {
        match &access.place {
            Place::Plain(id) => self.plain_home(*id),
            Place::Element { stack, position, .. } => {
                let first = self.stack_slot(*stack).first.home_slot.unwrap_or(0);
                index(arrow(name("c"), "home"), add(first, position.clone()))
            }
        }
    }

    /// The same for a header outside of dynamic stacks.
    pub(crate) fn plain_home(&self, id: HeaderId) -> C {
        let home = self.emitter.plan.headers[id].home;
        if self.moves() {
            let first = self.emitter.plan.storage.scratch_offset;
            return binary("+", arrow(name("c"), "homes"), int(home.map_or(0, |home| home - first)));
        }
        int(home.unwrap_or(0))
    }

    /// Whether the header always lies at the same offset of the packet.
    fn is_fixed(&self, access: &Access) -> bool {
        matches!(access.place, Place::Plain(id) if self.fixed_offset(id).is_some())
    }

    /// Sets the header's place.
    pub(crate) fn set_offset(&mut self, access: &Access, offset: C) {
        if !self.is_fixed(access) {
            let place = self.offset(access);
            self.push(assign(place, offset.clone()));
        }
        if let Place::Plain(_) = access.place {
            let (pointer, place) = (self.pointer(access), self.at(offset));
            self.push(assign(pointer, place));
        }
    }

    pub(crate) fn set_bit(&mut self, access: &Access, valid: bool) {
        match &access.place {
            Place::Plain(id) => {
                let bit = self.emitter.plan.headers[*id].bit;
                let word = valid_word(bit / 64);
                let mask = 1 << (bit % 64);
                self.push(if valid { S::Assign(word, "|=", long(mask)) } else { S::Assign(word, "&=", long(!mask)) });
            }
            Place::Element { stack, position, .. } => {
                let bit = add(self.stack_slot(*stack).first.bit, position.clone());
                let arguments = vec![arrow(name("c"), "valid"), bit, long(u64::from(valid))];
                self.push(S::Eval(call("ws_bit_set", arguments)));
            }
        }
    }

    /// Updates the facts about the header's validity.
    pub(crate) fn learn(&mut self, access: &Access, valid: bool) {
        self.known.as_parsed = false;
        match &access.place {
            Place::Plain(id) | Place::Element { id: Some(id), .. } => {
                self.known.invalid.remove(id);
                self.known.in_their_places.remove(id);
                self.known.lies.remove(id);
                if valid {
                    self.known.valid.insert(*id);
                } else {
                    self.known.valid.remove(id);
                }
            }
            Place::Element { stack, .. } if !valid => self.forget_stack(*stack),
            Place::Element { stack, .. } => {
                let elements = &self.emitter.program.stacks[*stack].elements;
                elements.iter().for_each(|element| _ = self.known.invalid.remove(element));
            }
        }
    }

    /// Forgets all facts about a stack's elements.
    pub(crate) fn forget_stack(&mut self, stack: StackId) {
        for element in &self.emitter.program.stacks[stack].elements {
            self.known.valid.remove(element);
            self.known.invalid.remove(element);
            self.known.in_their_places.remove(element);
            self.known.lies.remove(element);
        }
        self.known.as_parsed = false;
    }

    /// `if (condition) { statements }`, or the statements alone if there is no condition.
    pub(crate) fn guarded(&mut self, condition: Option<C>, statements: Vec<S>) {
        match condition {
            Some(condition) => self.push(S::If(condition, statements, Vec::new())),
            None => self.out.extend(statements),
        }
    }

    pub(crate) fn set_valid(&mut self, header: &HeaderRef) {
        let access = self.access(header);
        let Some(valid) = self.valid(&access) else { return };
        let (place, lies) = self.place_of_new(&access);
        let statements = self.take(|scope| {
            scope.set_offset(&access, place);
            scope.note_moved();
            let (pointer, bytes) = (scope.pointer(&access), scope.fixed_bytes(&access));
            if bytes > 0 {
                scope.push(S::Eval(call("memset", vec![pointer, name("0"), int(bytes)])));
            }
            if scope.has_varbit(&access) {
                let length = scope.varbit_bytes(&access);
                scope.push(assign(length, int(0)));
            }
            scope.set_bit(&access, true);
        });
        let missing = match (&access.place, valid) {
            // The element must exist to be made valid.
            (Place::Element { in_range: Some(in_range), .. }, C::Binary(_, _, bit)) => {
                binary("&&", in_range.clone(), unary("!", *bit))
            }
            (_, C::Long(0)) => {
                self.out.extend(statements);
                self.learn(&access, true);
                return self.learn_place(&access, lies);
            }
            (_, valid) => unary("!", valid),
        };
        self.push(S::If(missing, statements, Vec::new()));
        self.learn(&access, true);
    }

    pub(crate) fn set_invalid(&mut self, header: &HeaderRef) {
        let access = self.access(header);
        let statements = self.take(|scope| scope.set_bit(&access, false));
        self.guarded(in_range(&access), statements);
        self.learn(&access, false);
        if let Place::Plain(id) = access.place {
            self.known.invalid.insert(id);
        }
    }

    pub(crate) fn copy_header(&mut self, dst: &HeaderRef, src: &HeaderRef) {
        let (from, to) = (self.access(src), self.access(dst));
        if let (Place::Plain(from), Place::Plain(_)) = (&from.place, &to.place)
            && self.is_surely_invalid(*from)
        {
            return self.set_invalid(dst);
        }
        let lies = self.place_of_copy(&to);
        let from_valid = self.valid(&from);
        let certain = from_valid.is_none();
        let copied = self.take(|scope| scope.copy_contents(&to, &from));
        let cleared = self.take(|scope| scope.set_bit(&to, false));
        let statements = match from_valid {
            Some(valid) => vec![S::If(valid, copied, cleared)],
            None => copied,
        };
        self.guarded(in_range(&to), statements);
        let lies = match &to.place {
            Place::Plain(id) if certain && self.layout.is_some() => self.known.lies.get(id).copied().or(lies),
            _ => None,
        };
        self.learn(&to, certain);
        self.learn_place(&to, lies);
    }

    /// The place of a header that is made valid: where it will lie, if that is known and free, or its home.
    fn place_of_new(&mut self, access: &Access) -> (C, Option<Lies>) {
        if let Place::Plain(id) = access.place
            && self.is_surely_invalid(id)
        {
            return match self.final_place(id) {
                Some(at) => (at_bytes(at), Some(Lies::At(at))),
                None => (self.home(access), Some(Lies::AtHome)),
            };
        }
        (self.home(access), None)
    }

    /// Where a header will lie that another is copied to.
    fn place_of_copy(&self, to: &Access) -> Option<Lies> {
        match to.place {
            Place::Plain(id) if self.is_surely_invalid(id) => Some(Lies::AtHome),
            _ => None,
        }
    }

    fn learn_place(&mut self, access: &Access, lies: Option<Lies>) {
        if let (Place::Plain(id), Some(lies)) = (&access.place, lies) {
            self.known.lies.insert(*id, lies);
        }
    }

    /// Copies a valid header: to the target's place if the target is valid (and has a fixed length), else to its home.
    fn copy_contents(&mut self, to: &Access, from: &Access) {
        if let (Place::Plain(to_id), Place::Plain(from_id)) = (&to.place, &from.place)
            && self.is_surely_valid(*from_id)
            && self.copy_in_layout(*to_id, *from_id)
        {
            self.note_moved();
            return self.set_bit(to, true);
        }
        let target = self.fresh("o");
        let home = self.home(to);
        let place = if self.has_varbit(to) {
            home
        } else {
            let offset = if self.moves() { self.pointer(to) } else { self.offset(to) };
            match self.valid(to) {
                Some(valid) => {
                    let moved = self.take(Self::note_moved);
                    if !moved.is_empty() {
                        self.push(S::If(unary("!", valid.clone()), moved, Vec::new()));
                    }
                    conditional(valid, offset, home)
                }
                None => offset,
            }
        };
        let ty = if self.moves() { Type::Bytes } else { Type::U32 };
        self.push(constant(ty, target.clone(), place));
        let (source, size) = (self.pointer(from), self.size(from));
        match size {
            C::Int(size) if size <= PIECES_BYTES_MAX => {
                let place = self.at(name(target.clone()));
                self.copy_bytes(&source, &place, size);
            }
            _ => self.push(S::Eval(call("memmove", vec![self.at(name(target.clone())), source, size]))),
        }
        if self.has_varbit(to) {
            let (to_length, from_length) = (self.varbit_bytes(to), self.varbit_bytes(from));
            self.push(assign(to_length, from_length));
        }
        self.set_offset(to, name(target));
        self.set_bit(to, true);
    }

    /// Whether two varbit fields are equal: the same length and the same bits.
    pub(crate) fn varbit_equal(&mut self, left: &(HeaderRef, u32), right: &(HeaderRef, u32)) -> C {
        let (left, right) = (self.varbit(left), self.varbit(right));
        let lengths = binary("==", left.bytes.clone(), right.bytes);
        let bits =
            vec![left.pointer, int(left.offset), right.pointer, int(right.offset), binary("*", int(8), left.bytes)];
        binary("&&", lengths, call("ws_bits_equal", bits))
    }

    /// The length of a varbit field in bits.
    pub(crate) fn varbit_length(&mut self, header: &HeaderRef, field: u32) -> C {
        let varbit = self.varbit(&(header.clone(), field));
        cast(Type::U64, binary("*", int(8), varbit.bytes))
    }

    /// The value of a varbit field as a number of `width` bits.
    pub(crate) fn varbit_bits(&mut self, header: &HeaderRef, field: u32, width: u32) -> C {
        let varbit = self.varbit(&(header.clone(), field));
        let limbs = self.limbs(width);
        let get = vec![limbs.clone(), int(width), varbit.pointer, int(varbit.offset), varbit.bytes];
        self.push(S::Eval(call("ws_varbit_get", get)));
        limbs
    }

    /// Sets the length of a varbit field, and its bits to the low bits of a value.
    pub(crate) fn set_varbit(&mut self, dst: &(HeaderRef, u32), length_bits: &ir::Expr, value: &ir::Expr) {
        let (width, length) = (value.ty.width(), self.number(length_bits));
        let limbs = self.any_limbs(value);
        let to = self.varbit(dst);
        let (bytes, bits) = (self.fresh("n"), self.fresh("bits"));
        self.push(constant(Type::U32, bytes.clone(), call("ws_varbit_bytes", vec![length, int(width)])));
        self.push(declare_array(Type::U8, bits.clone(), (width / 8).max(1), None));
        self.push(S::Eval(call("ws_varbit_spell", vec![name(bits.clone()), limbs, name(bytes.clone())])));
        self.put_varbit(to, name(bits), 0, name(bytes));
    }

    /// Copies a varbit field.
    pub(crate) fn copy_varbit(&mut self, dst: &(HeaderRef, u32), src: &(HeaderRef, u32)) {
        let (to, from) = (self.varbit(dst), self.varbit(src));
        self.put_varbit(to, from.pointer, from.offset, from.bytes);
    }

    /// Sets a varbit field to `bytes` bytes from bit `offset` of `source`. The header is reassembled and moves to its
    /// home.
    fn put_varbit(&mut self, to: Varbit, source: C, offset: u32, bytes: C) {
        let valid = self.valid(&to.access);
        let ty = &self.emitter.program.header_types[to.access.ty];
        let (fixed_bits, bytes_max) = (ty.fixed_width(), ty.bytes_max());
        let statements = self.take(|scope| {
            let whole = scope.fresh("whole");
            scope.push(declare_array(Type::U8, whole.clone(), bytes_max.max(1), None));
            let put = vec![
                name(whole.clone()),
                to.pointer,
                int(to.offset),
                to.bytes,
                int(fixed_bits),
                source,
                int(offset),
                bytes.clone(),
            ];
            scope.push(S::Eval(call("ws_varbit_put", put)));
            let (home, size) = (scope.home(&to.access), add(fixed_bits / 8, bytes.clone()));
            scope.set_offset(&to.access, home);
            let target = scope.pointer(&to.access);
            scope.push(S::Eval(call("memcpy", vec![target, name(whole), size])));
            let length = scope.varbit_bytes(&to.access);
            scope.push(assign(length, bytes));
        });
        self.guarded(valid, statements);
    }

    fn varbit(&mut self, (header, field): &(HeaderRef, u32)) -> Varbit {
        let access = self.access(header);
        let (pointer, length) = (self.pointer(&access), self.varbit_bytes(&access));
        let offset = self.emitter.program.header_types[access.ty].offset_bits(*field as usize);
        let present = match self.valid(&access) {
            Some(valid) => conditional(valid, length, int(0)),
            None => length,
        };
        let bytes = self.fresh("n");
        self.push(constant(Type::U32, bytes.clone(), present));
        Varbit { access, pointer, offset, bytes: name(bytes) }
    }

    /// Makes every header invalid and resets homes, at the start of a parser.
    pub(crate) fn reset_headers(&mut self) {
        let dynamic_words: base::OrderedSet<u32> = self
            .emitter
            .program
            .headers
            .ids()
            .filter(|&id| self.emitter.dynamic_element(id).is_some())
            .map(|id| self.emitter.plan.headers[id].bit / 64)
            .collect();
        for word in 0..self.emitter.plan.storage.valid_words {
            if dynamic_words.contains(&word) {
                self.push(assign(dynamic_word(word), long(0)));
            }
        }
        if !self.emitter.plan.storage.homes.is_empty() {
            let size = call("sizeof", vec![name("homes")]);
            self.push(S::Eval(call("memcpy", vec![arrow(name("c"), "home"), name("homes"), size])));
        }
    }
}

/// The condition that there is such an element, if that is uncertain.
pub(crate) fn in_range(access: &Access) -> Option<C> {
    match &access.place {
        Place::Element { in_range, .. } => in_range.clone(),
        Place::Plain(_) => None,
    }
}

/// A number for names in C.
pub(crate) fn number(id: impl base::index::Id) -> u32 {
    u32::try_from(id.index()).unwrap_or(u32::MAX)
}
