//! Statements that every block may have: assignments and the flow of control.

use super::expr::{Value, compare_wide, with_slice};
use super::masked;
use super::scope::{Jump, Known, Scope};
use crate::abi::Decided;
use crate::plan::walk::{Item, Tables, Walk};
use base::limits::LOOP_STEPS_MAX;
use ir::{Body, Expr, HeaderRef, LabelId, Place, Stmt, StmtKind, SwitchCase, VarId, VarKind};
use lir::{
    Expr as C, StatePart, Stmt as S, Type, arrow, assign, binary, call, cast, conditional, declare_array, int, long,
    name,
};

impl Scope<'_, '_> {
    pub(crate) fn stmts(&mut self, body: &[Stmt]) {
        self.sequence(&body.iter().collect::<Vec<_>>());
    }

    pub(crate) fn stmt(&mut self, stmt: &Stmt) {
        // This is unreachable, and variables that it would use may not be declared.
        if !self.known.reachable {
            return;
        }
        self.comment(stmt.span);
        let statements = self.take(|scope| scope.stmt_kind(stmt));
        // Large temporaries get a scope of their own, so that statements can share their space.
        let has_arrays = statements.iter().any(|stmt| matches!(stmt, S::Declare { length: Some(_), .. }));
        match has_arrays {
            true => self.push(S::Block(statements)),
            false => self.out.extend(statements),
        }
    }

    fn stmt_kind(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { dst, src } => {
                if !self.copy_field(dst, src) {
                    let value = self.value(src);
                    self.write(dst, value);
                }
                self.fetch_cells(dst, src);
            }
            StmtKind::SetValid(header) => self.set_valid(header),
            StmtKind::SetInvalid(header) => self.set_invalid(header),
            StmtKind::CopyHeader { dst, src } => self.copy_header(dst, src),
            StmtKind::CopyVarbit { dst, src } => self.copy_varbit(dst, src),
            StmtKind::SetVarbit { dst, length_bits, value } => self.set_varbit(dst, length_bits, value),
            StmtKind::PushFront { stack, count } => self.move_stack(*stack, *count, true),
            StmtKind::PopFront { stack, count } => self.move_stack(*stack, *count, false),
            StmtKind::If { cond, then_body, else_body } => self.if_stmt(cond, then_body, else_body),
            StmtKind::Switch { value, cases, default } => self.switch(value, cases, default),
            StmtKind::Block { label, body } => self.block(*label, body),
            StmtKind::Loop { label, body } => self.loop_stmt(*label, body),
            StmtKind::Leave(label) => self.leave_to(*label),
            StmtKind::Call(routine) => self.call_routine(*routine),
            StmtKind::ApplyTable { table, hit, action } => self.apply_inline(*table, *hit, *action),
            StmtKind::CountLookup { table, hit, entry } => self.count_lookup(*table, hit, entry),
            StmtKind::Extract { dst, varbit_bits } => self.extract(dst, varbit_bits.as_ref()),
            StmtKind::Advance { bits } => self.advance(bits),
            StmtKind::Lookahead { dst, offset_bits, checked } => self.lookahead(dst, *offset_bits, *checked),
            StmtKind::Verify { cond, error } => self.verify(cond, error),
            StmtKind::Emit(header) => self.emit_header(header),
            StmtKind::RegisterRead { dst, register, index } => self.register_read(dst, *register, index),
            StmtKind::RegisterWrite { register, index, value } => self.register_write(*register, index, value),
            StmtKind::Count { counter, index } => self.count(*counter, index),
            StmtKind::ExecuteMeter { dst, meter, index, before } => self.execute_meter(dst, *meter, index, before),
            StmtKind::ExecuteDirectMeter { dst, meter, before } => self.execute_direct_meter(dst, *meter, before),
            StmtKind::AddEntry { dst, table, keys, action, args, profile } => {
                self.add_entry(dst, (*table, *action), keys.iter().chain(args).chain([profile]));
            }
            StmtKind::SetTimer { profile } => self.set_timer(profile.as_ref()),
            StmtKind::Hash { dst, algorithm, inputs, payload } => self.hash(dst, *algorithm, inputs, *payload),
            StmtKind::Random { dst, low, high } => self.random(dst, low, high),
            StmtKind::Digest { digest, values } => self.digest(*digest, values),
            StmtKind::Log { args, .. } => self.log(stmt, args),
            StmtKind::CallExtern { dst, function, instance, inputs } => {
                self.call_extern(dst.as_ref(), *function, *instance, inputs)
            }
            StmtKind::Assert { cond, .. } => self.assert(stmt, cond),
            // Decisions, but on the fast path, where the plan makes other statements of them.
            StmtKind::Send { port, limit: None } => self.decide(Decided::SENDS, None, port),
            StmtKind::Send { port, limit: Some(limit) } => self.decide(Decided::SENDS, Some(limit), port),
            StmtKind::Enqueue { port, priority, .. } => self.decide(Decided::ENQUEUES, Some(priority), port),
            StmtKind::Drop(reason) => self.decided(long(Decided::Drop(*reason).word())),
            StmtKind::Punt(slot) => {
                self.decided(long(Decided::Punt { point: self.point, slot: *slot }.word()));
            }
        }
    }

    /// Ends decisions with a port and another number, which is limited to the greatest that fits.
    fn decide(&mut self, kind: u64, number: Option<&Expr>, port: &Expr) {
        let port = cast(Type::U64, cast(Type::U32, self.unsigned(port)));
        let mut word = binary("|", long(kind), port);
        if let Some(number) = number {
            let value = self.unsigned(number);
            let value = self.atom(value);
            let greatest = || long(Decided::NUMBER_MAX);
            let value = match number.ty.width() {
                ..=24 => value,
                _ => conditional(binary("<", value.clone(), greatest()), value, greatest()),
            };
            word = binary("|", word, binary("<<", value, int(32)));
        }
        self.decided(word);
    }

    fn decided(&mut self, word: C) {
        self.push(assign(arrow(name("p"), "decided"), word));
        self.leave();
    }

    /// Width of a place.
    pub(crate) fn place_width(&self, place: &Place) -> u32 {
        let program = self.emitter.program;
        match place {
            Place::Var(var) => program.vars[*var].ty.width(),
            Place::Field(header, field) => match program.header_type(header).fields[*field as usize].ty {
                ir::FieldType::Fixed(ty) => ty.width(),
                ir::FieldType::Varbit(_) => 0,
            },
            Place::Slice { high, low, .. } => high - low + 1,
        }
    }

    /// Writes a value of the place's width.
    pub(crate) fn write(&mut self, place: &Place, value: Value) {
        let (mut base, mut slice) = (place, None);
        while let Place::Slice { base: inner, high, low } = base {
            slice = Some(slice.map_or((*high, *low), |(above, below)| (above + low, below + low)));
            base = inner;
        }
        match (base, slice) {
            (Place::Field(header, field), slice) => self.write_field(header, *field, slice, value),
            (Place::Var(var), None) => self.write_var(*var, value),
            (Place::Var(var), Some((high, low))) => self.write_var_slice(*var, high, low, value),
            // The loop above has gone through all slices.
            (Place::Slice { .. }, _) => {}
        }
    }

    /// Writes a value of the variable's width.
    pub(crate) fn write_var(&mut self, var: VarId, value: Value) {
        let width = self.emitter.program.vars[var].ty.width();
        if width == 0 {
            return;
        }
        self.known.vars.remove(&var);
        if let Value::Narrow(C::Long(value)) = value {
            self.learn_value(var, value);
        }
        if !matches!(value, Value::Narrow(C::Long(error)) if error != 0) {
            self.touch_error(var);
        }
        let place = self.place_to_write(var);
        match value {
            Value::Narrow(value) => {
                let value = if self.is_local(var) { value } else { self.stored(var, value) };
                if value != place {
                    self.push(assign(place, value));
                }
            }
            Value::Wide(limbs) => self.push(S::Eval(call("ws_wide_copy", vec![place, limbs, int(width)]))),
        }
    }

    /// The value with a cast to the type of its variable's storage.
    pub(crate) fn stored(&self, var: VarId, value: C) -> C {
        let var = &self.emitter.program.vars[var];
        let ty = match (var.kind, var.ty.width()) {
            (VarKind::Metadata, ..=8) => Type::U8,
            (VarKind::Metadata, 9..=16) => Type::U16,
            (VarKind::Metadata, 17..=32) => Type::U32,
            _ => return value,
        };
        match value {
            C::Long(_) => value,
            _ => cast(ty, value),
        }
    }

    fn write_var_slice(&mut self, var: VarId, high: u32, low: u32, value: Value) {
        self.known.vars.remove(&var);
        self.touch_error(var);
        let (width, place) = (high - low + 1, self.var_place(var));
        let wide = self.emitter.program.vars[var].ty.width() > 64;
        match value {
            Value::Narrow(value) if wide => {
                self.push(S::Eval(call("ws_wide_put", vec![place, int(low), int(width), value])))
            }
            Value::Narrow(value) => {
                let part = if width == 1 { cast(Type::U64, value) } else { value };
                let whole = with_slice(place.clone(), part, low, width);
                let value = if self.is_local(var) { whole } else { self.stored(var, whole) };
                self.push(assign(place, value));
            }
            Value::Wide(limbs) => {
                // The part may be computed from the variable itself: it is copied before the variable changes.
                let part = self.limbs(width);
                self.push(S::Eval(call("ws_wide_copy", vec![part.clone(), limbs, int(width)])));
                self.push(S::Eval(call("ws_wide_set_slice", vec![place, int(low), part, int(width)])));
            }
        }
    }

    fn if_stmt(&mut self, cond: &Expr, then_body: &[Stmt], else_body: &[Stmt]) {
        if let Some(truth) = self.known.decide(cond) {
            self.assume(cond, truth);
            return self.stmts(if truth { then_body } else { else_body });
        }
        let mut condition = long(0);
        let first = self.take(|scope| condition = scope.narrow(cond));
        let before = self.known.clone();
        self.assume(cond, true);
        let yes = self.take(|scope| scope.stmts(then_body));
        let after_yes = std::mem::replace(&mut self.known, before);
        self.assume(cond, false);
        self.forget_line();
        let no = self.take(|scope| scope.stmts(else_body));
        self.known.join(&after_yes);
        self.forget_line();
        if yes.is_empty() && no.is_empty() {
            return;
        }
        self.out.extend(first);
        // Few packets are punted, and their code is long.
        let punts = |body: &[S]| matches!(body.last(), Some(S::Punt(_)));
        let unlikely = |condition| call("WS_UNLIKELY", vec![condition]);
        self.push(match (punts(&yes), punts(&no)) {
            (true, false) => S::If(unlikely(condition), yes, no),
            (false, true) => S::If(unlikely(lir::unary("!", condition)), no, yes),
            _ if yes.is_empty() => S::If(lir::unary("!", condition), no, yes),
            _ => S::If(condition, yes, no),
        });
    }

    fn switch(&mut self, value: &Expr, cases: &[SwitchCase], default: &[Stmt]) {
        let ty = value.ty;
        let before = self.known.clone();
        let mut after = Known::unreachable();
        let chosen = self.value(value);
        let mut arms = Vec::new();
        for body in cases.iter().map(|case| &case.body[..]).chain([default]) {
            self.known = before.clone();
            self.forget_line();
            arms.push(self.take(|scope| scope.stmts(body)));
            after.join(&self.known);
        }
        self.known = after;
        self.forget_line();
        let default = arms.pop().unwrap_or_default();
        match chosen {
            Value::Narrow(value) => {
                let constants = |case: &SwitchCase| case.values.iter().map(|value| long(value.low_u64())).collect();
                let cases = cases.iter().map(constants).zip(arms).collect();
                // With an `int`, compilers would warn about constants out of its range.
                self.push(S::Switch { value: cast(Type::U64, value), cases, default });
            }
            Value::Wide(limbs) => {
                let mut rest = default;
                for (case, arm) in cases.iter().zip(arms).rev() {
                    let mut condition: Option<C> = None;
                    for value in &case.values {
                        let constant = self.wide(&Expr::constant(ty, value.clone()));
                        let equal = compare_wide("==", ty, limbs.clone(), constant);
                        condition = Some(match condition {
                            Some(other) => binary("||", other, equal),
                            None => equal,
                        });
                    }
                    rest = vec![S::If(condition.unwrap_or(long(0)), arm, rest)];
                }
                self.out.extend(rest);
            }
        }
    }

    fn block(&mut self, label: LabelId, body: &Body) {
        let end = self.fresh("end");
        let outer = self.open(label, end.clone());
        self.stmts(body);
        self.close(label, outer, end);
    }

    /// Begins a labelled statement; returns the label's outer meaning.
    fn open(&mut self, label: LabelId, end: String) -> Option<Jump> {
        self.labels.insert(label, Jump::Here { label: end, known: Box::new(Known::unreachable()), used: false })
    }

    fn close(&mut self, label: LabelId, outer: Option<Jump>, end: String) {
        let inner = match outer {
            Some(outer) => self.labels.insert(label, outer),
            None => self.labels.remove(&label),
        };
        if let Some(Jump::Here { known, used: true, .. }) = inner {
            self.known.join(&known);
            self.push(S::Label(end));
        }
    }

    pub(crate) fn leave_to(&mut self, label: LabelId) {
        if let Some(exit) = self.path.and_then(|path| path.fast_path.exit_at(label)) {
            self.leave_path(exit);
            return;
        }
        let known = std::mem::replace(&mut self.known, Known::unreachable());
        match self.labels.get_mut(&label) {
            Some(Jump::Here { label, known: at_label, used }) => {
                at_label.join(&known);
                *used = true;
                let label = label.clone();
                self.push(S::Goto(label));
            }
            Some(Jump::Node(node)) => {
                let node = *node;
                self.known = known;
                self.transfer(node);
            }
            // Only the block's end remains.
            None => self.leave(),
        }
    }

    /// Sends the packet to a node.
    pub(crate) fn transfer(&mut self, node: crate::plan::graph::NodeId) {
        if self.ends.contains(&node) {
            self.leave();
            return;
        }
        if let Some(label) = self.exit_before(node) {
            self.leave_to(label);
            return;
        }
        if let Some(graph) = self.inlined.filter(|graph| self.stage.contains(&node) && graph.nodes[node].head.is_none())
        {
            return self.inline(graph, node);
        }
        self.leave_with(None);
        self.transfers.push((node, self.known.clone()));
        self.push(if self.stage.contains(&node) { S::Go(node) } else { S::Pass(node) });
        self.known = Known::unreachable();
    }

    /// The exit that packets certainly take at the start of a node, if there is one.
    fn exit_before(&self, node: crate::plan::graph::NodeId) -> Option<LabelId> {
        for (condition, label) in self.early_exits.get(node)? {
            match self.known.decide(condition) {
                Some(true) => return Some(*label),
                Some(false) => {}
                None => return None,
            }
        }
        None
    }

    fn loop_stmt(&mut self, label: LabelId, body: &Body) {
        let end = self.fresh("end");
        self.forget_what_changes(body);
        self.loops_open += 1;
        let outer = self.open(label, end.clone());
        let counter = C::State(StatePart::Steps(label));
        let statements = self.take(|scope| {
            let spent = binary(">=", counter.clone(), int(LOOP_STEPS_MAX));
            let leave = scope.take(|scope| {
                let known = scope.known.clone();
                scope.leave_to(label);
                scope.known = known;
            });
            scope.push(S::If(spent, leave, Vec::new()));
            scope.push(S::Assign(counter, "+=", int(1)));
            scope.stmts(body);
        });
        self.push(S::Loop(statements));
        self.loops_open -= 1;
        self.known = Known::unreachable();
        self.close(label, outer, end);
    }

    /// Forgets facts about variables, and about headers that a loop's or routine's body may make invalid.
    pub(crate) fn forget_what_changes(&mut self, body: &Body) {
        self.known.vars.clear();
        self.known.invalid.clear();
        self.known.in_their_places.clear();
        self.known.lies.clear();
        self.known.as_parsed = false;
        self.touch_all_sums();
        let program = self.emitter.program;
        let mut changed = Vec::new();
        let mut moved = Vec::new();
        Walk::new(program, Tables::Inside).body(body, &mut |item| {
            let Item::Stmt(stmt) = item else { return };
            match &stmt.kind {
                StmtKind::SetInvalid(header) | StmtKind::CopyHeader { dst: header, .. } => match header {
                    HeaderRef::Fixed(id) => changed.push(*id),
                    HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                        moved.push(*stack)
                    }
                },
                StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => moved.push(*stack),
                _ => {}
            }
        });
        changed.iter().for_each(|id| {
            self.known.valid.remove(id);
        });
        moved.into_iter().for_each(|stack| self.forget_stack(stack));
    }

    /// Stores values as words for a callback, `ceil(width / 64)` each. Returns a pointer to the first.
    pub(crate) fn words<'x>(&mut self, values: impl IntoIterator<Item = &'x Expr>) -> C {
        let values: Vec<&Expr> = values.into_iter().collect();
        let total: u32 = values.iter().map(|value| value.ty.width().div_ceil(64)).sum();
        let words = self.fresh("words");
        self.push(declare_array(Type::U64, words.clone(), total.max(1), Some(C::List(vec![long(0)]))));
        let mut position = 0;
        for value in values {
            let count = value.ty.width().div_ceil(64);
            match self.value(value) {
                _ if count == 0 => {}
                Value::Narrow(value) => self.push(assign(lir::index(name(words.clone()), int(position)), value)),
                Value::Wide(limbs) => {
                    let target = lir::plus(name(words.clone()), position);
                    self.push(S::Eval(call("ws_wide_copy", vec![target, limbs, int(value.ty.width())])));
                }
            }
            position += count;
        }
        name(words)
    }

    /// The payload: a pointer to the first byte that the parser has not extracted, and how many there are.
    pub(crate) fn payload(&mut self) -> (C, C) {
        let member = |member: &str| arrow(name("p"), member);
        if self.parser_error.is_some() {
            return (self.at_offset(name("cursor")), binary("-", name("end"), name("cursor")));
        }
        if self.is_in_place() {
            let payload = self.payload_start();
            return (self.at_offset(payload.clone()), binary("-", self.received("length"), payload));
        }
        let end = binary("+", member("data"), member("length"));
        (self.at_offset(member("payload")), binary("-", end, member("payload")))
    }

    /// Writes the value of a callback or cell, truncated to a place's width.
    pub(crate) fn write_resized(&mut self, place: &Place, value: C, width: u32) {
        let to = self.place_width(place);
        let value = if to < width { Value::Narrow(masked(value, to)) } else { Value::Narrow(value) };
        let value = if to > 64 { self.resized(value, width, to) } else { value };
        self.write(place, value);
    }
}
