//! Parser blocks: states as labels of one function that loops over the packets.
//!
//! `cursor` and `end` are offsets in the chunk; `cursor <= end` always holds, and nothing beyond `end` is read.

use super::burst::for_each_packet;
use super::control::single;
use super::expr::{Value, compare_wide};
use super::fast_path::EXTRACTED;
use super::field::{Bits, load};
use super::header::in_range;
use super::scope::{Known, Scope, valid_word};
use super::{Emitter, abi_size};
use crate::abi;
use crate::ctree;
use crate::plan::extracted::valid_at;
use crate::plan::fast_path::changes_headers;
use crate::plan::walk::{Item, Tables, Walk};
use base::index::Id as _;
use base::limits::PARSER_STEPS_MAX;
use base::{IndexVec, OrderedMap, OrderedSet};
use ir::{
    BlockId, ERROR_HEADER_TOO_SHORT, ERROR_NO_MATCH, ERROR_PACKET_TOO_SHORT, ERROR_PARSER_INVALID_ARGUMENT,
    ERROR_PARSER_TIMEOUT, ERROR_STACK_OUT_OF_BOUNDS, Expr, HeaderRef, KeySet, ParserState, Place, Program, StateId,
    Target, Transition, Type, ValueSetId, VarId,
};
use lir::{Expr as C, Stmt as S, arrow, assign, binary, call, cast, constant, declare, index, int, long, name, unary};

/// The body of a parser's function.
pub(crate) fn emit(
    emitter: &Emitter<'_>,
    block: BlockId,
    start: StateId,
    states: &IndexVec<StateId, ParserState>,
    error: VarId,
) -> Vec<ctree::Stmt> {
    let mut scope = Scope::new(emitter, block, 0);
    scope.begins = true;
    let counted = scope.parse(start, states, error);
    function(scope, counted)
}

impl Scope<'_, '_> {
    /// Generates the states. Packets leave at the scope's exit, with the cursor after the extracted bytes. Returns
    /// whether states are counted, so that loops end.
    fn parse(&mut self, start: StateId, states: &IndexVec<StateId, ParserState>, error: VarId) -> bool {
        self.parser_error = Some(error);
        let reached = reached(start, states);
        let counted = reached.len() > PARSER_STEPS_MAX as usize || has_cycle(start, states);
        let targets: OrderedSet<StateId> = reached.iter().flat_map(|&id| states[id].targets()).collect();
        self.reset_headers();
        if self.path.is_none() {
            self.reset_spilled();
        }
        let mut valid = match states.iter().any(|state| changes_any_header(self.emitter.program, &state.body)) {
            true => OrderedMap::new(),
            false => valid_at(self.emitter.program, start, states),
        };
        for id in reached {
            let state = &states[id];
            if targets.contains(&id) {
                self.push(S::Label(label(id, states)));
            }
            self.known = Known { valid: valid.remove(&id).unwrap_or_default(), ..Known::nothing() };
            self.forget_line();
            self.comment(state.span);
            if counted {
                let spent = binary(">=", name("states"), int(PARSER_STEPS_MAX));
                self.fail_if(spent, ERROR_PARSER_TIMEOUT);
                self.push(S::Assign(name("states"), "+=", int(1)));
            }
            self.stmts(&state.body);
            self.known.reachable = true;
            self.transition(&state.transition, states);
        }
        self.parser_error = None;
        counted
    }

    fn cursor_declarations(&self, counted: bool) -> Vec<S> {
        let member = |member: &str| arrow(name("p"), member);
        let (end, cursor) = match self.is_in_place() {
            true => (self.received("length"), int(0)),
            false => (binary("+", member("data"), member("length")), member("data")),
        };
        let mut out = vec![constant(lir::Type::U32, "end", end), declare(lir::Type::U32, "cursor", cursor)];
        if counted {
            out.push(declare(lir::Type::U32, "states", int(0)));
        }
        out
    }

    /// Generates the parser as the first part of a longer function, which continues after it.
    pub(crate) fn parse_first(&mut self, start: StateId, states: &IndexVec<StateId, ParserState>, error: VarId) {
        let exit = self.exit.replace("parsed");
        let mut untouched = std::mem::take(&mut self.known.vars);
        let mut counted = false;
        let code = self.take(|scope| counted = scope.parse(start, states, error));
        lir::walk::stmts(&code, &mut |stmt| {
            if let S::Assign(C::State(lir::StatePart::Var(var)), ..) = stmt {
                untouched.remove(var);
            }
        });
        self.out.extend(self.cursor_declarations(counted));
        self.out.extend(code);
        self.push(S::Label("parsed".into()));
        if self.path.is_none_or(|path| path.fast_path.reads_payload) {
            let in_chunk = arrow(name("p"), "payload");
            let payload = if self.is_in_place() { C::Saved(lir::StatePart::Payload) } else { in_chunk };
            self.push(assign(payload, name("cursor")));
        }
        if self.path.is_some_and(|path| path.fast_path.may_stay) {
            self.push(constant(lir::Type::U64, EXTRACTED, valid_word(0)));
            self.push(assign(C::Saved(lir::StatePart::Parsed), name(EXTRACTED)));
        }
        (self.exit, self.known) = (exit, Known { vars: untouched, ..Known::nothing() });
        self.know_parsed();
    }

    /// Sets the facts about the headers of a packet that was just parsed.
    fn know_parsed(&mut self) {
        let Some(fast_path) = self.path.map(|path| path.fast_path).filter(|fast_path| !fast_path.parsed.is_empty())
        else {
            return;
        };
        let all = self.emitter.program.headers.iter_enumerated().map(|(id, _)| id);
        self.known.invalid = all.filter(|id| !fast_path.extracted.contains(id)).collect();
        let in_place = fast_path.parsed.iter().filter(|(_, extracted)| extracted.at_bytes.is_some());
        self.known.in_their_places = in_place.map(|(id, _)| *id).collect();
        self.known.as_parsed = true;
        self.note_extracted();
    }
}

/// The function's body around the states.
fn function(mut scope: Scope<'_, '_>, counted: bool) -> Vec<ctree::Stmt> {
    let member = |member: &str| arrow(name("p"), member);
    let mut before = scope.cursor_declarations(counted);
    let metadata = &scope.emitter.plan.metadata;
    if !metadata.is_empty() {
        let keeps_metadata = binary("&", member("flags"), int(abi::FLAG_KEEP_METADATA));
        let size = int(metadata.end - metadata.start);
        let clear = S::Eval(call("memset", vec![name("c"), name("0"), size]));
        debug_assert_eq!(metadata.start, abi_size());
        before.push(S::If(unary("!", keeps_metadata), vec![clear], Vec::new()));
    }
    let unit_name = scope.emitter.unit_name(scope.block);
    let after = vec![assign(member("payload"), name("cursor"))];
    vec![for_each_packet(single(&mut scope, &unit_name, before, after))]
}

/// Whether a statement, or one inside of it or of what it calls, changes headers other than by extracting them.
fn changes_any_header(program: &Program, body: &[ir::Stmt]) -> bool {
    let mut found = false;
    Walk::new(program, Tables::Inside).body(body, &mut |item| {
        found |= matches!(item, Item::Stmt(stmt) if changes_headers(&stmt.kind));
    });
    found
}

/// The states that can be reached, each after one that leads to it.
fn reached(start: StateId, states: &IndexVec<StateId, ParserState>) -> Vec<StateId> {
    let (mut order, mut seen, mut pending) = (Vec::new(), OrderedSet::new(), vec![start]);
    while let Some(id) = pending.pop() {
        if seen.insert(id) {
            order.push(id);
            let from = pending.len();
            pending.extend(states[id].targets());
            pending[from..].reverse();
        }
    }
    order
}

/// Whether a packet can visit a state twice.
fn has_cycle(start: StateId, states: &IndexVec<StateId, ParserState>) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks: IndexVec<StateId, Mark> = states.iter().map(|_| Mark::New).collect();
    let mut path: Vec<(StateId, Vec<StateId>)> = vec![(start, states[start].targets().collect())];
    marks[start] = Mark::Open;
    while let Some((id, left)) = path.last_mut() {
        match left.pop() {
            Some(next) if marks[next] == Mark::Open => return true,
            Some(next) if marks[next] == Mark::New => {
                marks[next] = Mark::Open;
                path.push((next, states[next].targets().collect()));
            }
            Some(_) => {}
            None => {
                marks[*id] = Mark::Done;
                path.pop();
            }
        }
    }
    false
}

fn label(id: StateId, states: &IndexVec<StateId, ParserState>) -> String {
    super::identifier("state", id.index(), &states[id].name)
}

impl Scope<'_, '_> {
    /// Ends parsing with an error.
    fn fail(&mut self, error: u64) {
        if let Some(var) = self.parser_error {
            self.write_var(var, Value::Narrow(long(error)));
        }
        self.leave();
    }

    /// Ends parsing with an error if a condition holds.
    fn fail_if(&mut self, condition: C, error: u64) {
        let before = self.known.clone();
        let statements = self.take(|scope| scope.fail(error));
        self.known = before;
        self.push(S::If(condition, statements, Vec::new()));
    }

    /// Bytes between the cursor and the end of the packet.
    fn left(&self) -> C {
        binary("-", name("end"), name("cursor"))
    }

    pub(crate) fn extract(&mut self, dst: &HeaderRef, varbit_bits: Option<&Expr>) {
        let access = self.access(dst);
        if let Some(in_range) = in_range(&access) {
            self.fail_if(unary("!", in_range), ERROR_STACK_OUT_OF_BOUNDS);
        }
        let fixed = self.fixed_bytes(&access);
        let size = match varbit_bits {
            None => int(fixed),
            Some(bits) => self.varbit_size(&access, bits),
        };
        if !matches!(size, C::Name(_)) {
            self.fail_if(binary("<", self.left(), size.clone()), ERROR_PACKET_TOO_SHORT);
        }
        if self.has_varbit(&access) {
            let length = self.varbit_bytes(&access);
            let bytes = if varbit_bits.is_some() { binary("-", size.clone(), int(fixed)) } else { int(0) };
            self.push(assign(length, bytes));
        }
        let place = if self.moves() { self.at_offset(name("cursor")) } else { name("cursor") };
        self.set_offset(&access, place);
        self.set_bit(&access, true);
        self.learn(&access, true);
        self.push(S::Assign(name("cursor"), "+=", size));
        if let HeaderRef::Next(stack) = dst {
            let next = self.stack_next(*stack);
            let var = self.emitter.program.stacks[*stack].next;
            let width = self.emitter.program.vars[var].ty.width();
            self.write_var(var, Value::Narrow(super::masked(binary("+", next, long(1)), width)));
        }
    }

    /// Checks the length of a varbit field; returns a constant with the header's size.
    fn varbit_size(&mut self, access: &super::header::Access, bits: &Expr) -> C {
        let fixed = self.fixed_bytes(access);
        let max = self.emitter.program.header_types[access.ty].varbit().map_or(0, |(_, max)| max);
        let bits = self.low_word(bits);
        let bits = self.atom(bits);
        self.fail_if(binary("!=", binary("&", bits.clone(), long(7)), long(0)), ERROR_PARSER_INVALID_ARGUMENT);
        let bytes = self.temporary(binary("+", long(u64::from(fixed)), binary(">>", bits.clone(), int(3))));
        self.fail_if(binary(">", bytes.clone(), self.left()), ERROR_PACKET_TOO_SHORT);
        self.fail_if(binary(">", bits, long(u64::from(max))), ERROR_HEADER_TOO_SHORT);
        let size = self.fresh("size");
        self.push(constant(lir::Type::U32, size.clone(), cast(lir::Type::U32, bytes)));
        name(size)
    }

    pub(crate) fn advance(&mut self, bits: &Expr) {
        let bits = self.low_word(bits);
        let bits = self.atom(bits);
        self.fail_if(binary("!=", binary("&", bits.clone(), long(7)), long(0)), ERROR_PARSER_INVALID_ARGUMENT);
        let bytes = binary(">>", bits, int(3));
        self.fail_if(binary(">", bytes.clone(), self.left()), ERROR_PACKET_TOO_SHORT);
        self.push(S::Assign(name("cursor"), "+=", cast(lir::Type::U32, bytes)));
    }

    pub(crate) fn lookahead(&mut self, dst: &Place, offset_bits: u32, checked: bool) {
        let width = self.place_width(dst);
        let end_bit = u64::from(offset_bits) + u64::from(width);
        let bytes = end_bit.div_ceil(8);
        let short = binary("<", cast(lir::Type::U64, self.left()), long(bytes));
        if checked {
            self.fail_if(short.clone(), ERROR_PACKET_TOO_SHORT);
        }
        if width == 0 {
            return;
        }
        let limbs = self.limbs(width);
        let pointer = self.at_offset(name("cursor"));
        let bits = Bits { offset: offset_bits, width, bytes: bytes as u32, after_varbit: false };
        let direct = if width <= 64 {
            assign(index(limbs.clone(), int(0)), load(&pointer, bits))
        } else {
            S::Eval(call("ws_wide_load", vec![limbs.clone(), pointer.clone(), int(offset_bits), int(width)]))
        };
        if checked {
            self.push(direct);
        } else {
            let arguments = vec![limbs.clone(), pointer, self.at_offset(name("end")), int(offset_bits), int(width)];
            let careful = S::Eval(call("ws_lookahead", arguments));
            self.push(S::If(short, vec![careful], vec![direct]));
        }
        let value = if width <= 64 { Value::Narrow(index(limbs, int(0))) } else { Value::Wide(limbs) };
        self.write(dst, value);
    }

    pub(crate) fn verify(&mut self, cond: &Expr, error: &Expr) {
        let condition = self.narrow(cond);
        let before = self.known.clone();
        let statements = self.take(|scope| {
            let error = scope.narrow(error);
            if let Some(var) = scope.parser_error {
                scope.write_var(var, Value::Narrow(error));
            }
            scope.leave();
        });
        self.known = before;
        self.assume(cond, true);
        self.push(S::If(unary("!", condition), statements, Vec::new()));
    }

    fn transition(&mut self, transition: &Transition, states: &IndexVec<StateId, ParserState>) {
        let (keys, cases) = match transition {
            Transition::Goto(target) => return self.go(target, states),
            Transition::Select { keys, cases } => (keys, cases),
        };
        let mut values = Vec::new();
        for key in keys {
            let value = self.value(key);
            values.push(match value {
                Value::Narrow(value) => Value::Narrow(self.atom(value)),
                wide => wide,
            });
        }
        for case in cases {
            let condition = self.all_contain(&case.sets, keys, &values);
            let jump = self.take(|scope| scope.go(&case.target, states));
            match condition {
                Some(condition) => self.push(S::If(condition, jump, Vec::new())),
                None => {
                    // This case always matches: the following ones are unreachable.
                    self.out.extend(jump);
                    return;
                }
            }
        }
        self.fail(ERROR_NO_MATCH);
    }

    fn go(&mut self, target: &Target, states: &IndexVec<StateId, ParserState>) {
        match target {
            Target::State(id) => self.push(S::Goto(label(*id, states))),
            Target::Accept | Target::Reject => {
                let known = self.known.clone();
                self.leave();
                self.known = known;
            }
        }
    }

    /// The condition that each set contains its key; none if it certainly holds.
    fn all_contain(&mut self, sets: &[KeySet], keys: &[Expr], values: &[Value]) -> Option<C> {
        let mut all = None;
        for (at, (set, value)) in sets.iter().zip(values).enumerate() {
            let condition = match set {
                KeySet::ValueSet(set) => Some(self.in_value_set(*set, &keys[at..])),
                _ => self.contains(set, keys[at].ty, value),
            };
            let Some(condition) = condition else { continue };
            all = Some(match all {
                Some(others) => binary("&&", others, condition),
                None => condition,
            });
        }
        all
    }

    fn in_value_set(&mut self, set: ValueSetId, keys: &[Expr]) -> C {
        let count = self.emitter.program.value_sets[set].keys.len();
        let words = self.words(&keys[..count]);
        self.callback("value_set", vec![int(super::header::number(set)), words])
    }

    fn contains(&mut self, set: &KeySet, ty: Type, key: &Value) -> Option<C> {
        let width = ty.width();
        match (set, key) {
            (KeySet::Any | KeySet::ValueSet(_), _) => None,
            (KeySet::Value(value), Value::Narrow(key)) => {
                let value = self.unsigned(value);
                Some(binary("==", key.clone(), value))
            }
            (KeySet::Value(value), Value::Wide(key)) => {
                let value = self.wide(value);
                Some(compare_wide("==", ty, key.clone(), value))
            }
            (KeySet::Mask(value, mask), Value::Narrow(key)) => {
                let (value, mask) = (self.unsigned(value), self.unsigned(mask));
                let mask = self.atom(mask);
                let expected = match (&value, &mask) {
                    (C::Long(value), C::Long(mask)) => long(value & mask),
                    _ => binary("&", value, mask.clone()),
                };
                Some(binary("==", binary("&", key.clone(), mask), expected))
            }
            (KeySet::Mask(value, mask), Value::Wide(key)) => {
                let (value, mask) = (self.wide(value), self.wide(mask));
                let mut masked = |operand: C| {
                    let limbs = self.limbs(width);
                    self.push(S::Eval(call("ws_wide_and", vec![limbs.clone(), operand, mask.clone(), int(width)])));
                    limbs
                };
                let (a, b) = (masked(key.clone()), masked(value));
                Some(compare_wide("==", ty, a, b))
            }
            (KeySet::Range(low, high), Value::Narrow(key)) => {
                let (low, high) = (self.unsigned(low), self.unsigned(high));
                let number = |value: C| match ty.is_signed() {
                    true => call("ws_signed", vec![value, int(width)]),
                    false => value,
                };
                let above = binary(">=", number(key.clone()), number(low));
                Some(binary("&&", above, binary("<=", number(key.clone()), number(high))))
            }
            (KeySet::Range(low, high), Value::Wide(key)) => {
                let (low, high) = (self.wide(low), self.wide(high));
                let above = compare_wide(">=", ty, key.clone(), low);
                Some(binary("&&", above, compare_wide("<=", ty, key.clone(), high)))
            }
        }
    }
}
