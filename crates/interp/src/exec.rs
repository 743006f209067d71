//! Statements: their effects on a packet's state and their calls to the host.

use crate::Outcome;
use crate::eval::{eval, eval_bool, place_width, resolve, varbit, write_place};
use crate::hash;
use crate::host::{Host, log_line};
use crate::state::PacketState;
use crate::trace::{Event, Tracer};
use base::limits::LOOP_STEPS_MAX;
use base::{Bits, OrderedMap, Span};
use ir::{
    Expr, HashAlgorithm, HashInput, HashValue, HeaderRef, LabelId, Place, Program, Stmt, StmtKind, SwitchCase, TableId,
    Type, VarId,
};

/// One run of a block.
pub(crate) struct Run<'r> {
    pub(crate) program: &'r Program,
    pub(crate) state: &'r mut PacketState,
    pub(crate) host: &'r mut dyn Host,
    tracer: &'r mut dyn Tracer,
    /// The source position of the statement that runs now.
    pub(crate) span: Span,
    /// Iterations that each loop has made in this run.
    loop_steps: OrderedMap<LabelId, u32>,
    /// The table row whose action runs.
    owner: Option<Owner>,
}

/// A table row whose action runs: an entry, or `None` for the default action.
#[derive(Clone, Copy)]
struct Owner {
    table: TableId,
    entry: Option<u64>,
    /// The cell of its direct counters and meter.
    cell: u64,
}

/// Where execution continues after a statement.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Flow {
    /// At the next statement.
    Next,
    /// After the enclosing statement with this label.
    Leave(LabelId),
    /// Nowhere: the parser ends with this error.
    ParserError(Bits),
    /// Nowhere: an assertion failed, and the packet's processing ends.
    AssertionFailed,
}

impl<'r> Run<'r> {
    pub(crate) fn new(
        program: &'r Program,
        state: &'r mut PacketState,
        host: &'r mut dyn Host,
        tracer: &'r mut dyn Tracer,
    ) -> Run<'r> {
        Run { program, state, host, tracer, span: Span::NONE, loop_steps: OrderedMap::new(), owner: None }
    }

    pub(crate) fn trace(&mut self, event: Event<'_>) {
        self.tracer.event(self.span, event);
    }

    pub(crate) fn eval(&self, expr: &Expr) -> Bits {
        eval(self.program, self.state, expr)
    }

    /// Runs a control's body.
    pub(crate) fn run_control(&mut self, body: &[Stmt]) -> Outcome {
        match self.run_body(body) {
            Flow::AssertionFailed => Outcome::AssertionFailed,
            Flow::Next | Flow::Leave(_) | Flow::ParserError(_) => Outcome::Finished,
        }
    }

    pub(crate) fn run_body(&mut self, body: &[Stmt]) -> Flow {
        for stmt in body {
            self.span = stmt.span;
            let flow = self.run_stmt(&stmt.kind);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn run_stmt(&mut self, stmt: &StmtKind) -> Flow {
        match stmt {
            StmtKind::Assign { dst, src } => self.assign(dst, &self.eval(src)),
            StmtKind::SetValid(header) => self.set_validity(header, true),
            StmtKind::SetInvalid(header) => self.set_validity(header, false),
            StmtKind::CopyHeader { dst, src } => self.copy_header(dst, src),
            StmtKind::CopyVarbit { dst, src } => self.copy_varbit(dst, src),
            StmtKind::SetVarbit { dst, length_bits, value } => {
                let length_bits = self.eval(length_bits).low_u64() as u32;
                let value = self.eval(value);
                let value = value.resize(length_bits.min(value.width()) / 8 * 8);
                self.set_varbit(dst, value);
            }
            StmtKind::PushFront { stack, count } => self.move_stack(*stack, *count, true),
            StmtKind::PopFront { stack, count } => self.move_stack(*stack, *count, false),
            StmtKind::If { cond, then_body, else_body } => return self.run_if(cond, then_body, else_body),
            StmtKind::Switch { value, cases, default } => return self.run_switch(value, cases, default),
            StmtKind::Block { label, body } => return caught(self.run_body(body), *label),
            StmtKind::Loop { label, body } => return self.run_loop(*label, body),
            StmtKind::Leave(label) => {
                self.trace(Event::Left { label: *label });
                return Flow::Leave(*label);
            }
            StmtKind::Call(routine) => return self.run_body(&self.program.routines[*routine].body),
            StmtKind::ApplyTable { table, hit, action } => return self.apply_table(*table, *hit, *action),
            StmtKind::CountLookup { table, hit, entry } => self.count_lookup(*table, hit, entry),
            StmtKind::Extract { dst, varbit_bits } => return self.extract(dst, varbit_bits.as_ref()),
            StmtKind::Advance { bits } => return self.advance(bits),
            StmtKind::Lookahead { dst, offset_bits, checked } => return self.lookahead(dst, *offset_bits, *checked),
            StmtKind::Verify { cond, error } => return self.verify(cond, error),
            StmtKind::Emit(header) => self.emit(header),
            StmtKind::RegisterRead { dst, register, index } => self.register_read(dst, *register, index),
            StmtKind::RegisterWrite { register, index, value } => {
                let (index, value) = (self.eval(index), self.eval(value));
                self.host.register_write(*register, &index, &value);
                self.trace(Event::RegisterWritten { register: *register, index: &index, value: &value });
            }
            StmtKind::Count { counter, index } => {
                let index = self.eval(index);
                self.host.count(*counter, &index);
                self.trace(Event::Counted { counter: *counter, index: &index });
            }
            StmtKind::ExecuteMeter { dst, meter, index, before } => self.execute_meter(dst, *meter, index, before),
            StmtKind::ExecuteDirectMeter { dst, meter, before } => self.execute_direct_meter(dst, *meter, before),
            StmtKind::AddEntry { dst, table, keys, action, args, profile } => {
                self.add_entry(dst, *table, (keys, *action, args), profile);
            }
            StmtKind::SetTimer { profile } => self.set_timer(profile.as_ref()),
            StmtKind::Hash { dst, algorithm, inputs, payload } => self.hash(dst, *algorithm, inputs, *payload),
            StmtKind::Random { dst, low, high } => self.random(dst, low, high),
            StmtKind::Digest { digest, values } => {
                let values: Vec<Bits> = values.iter().map(|value| self.eval(value)).collect();
                self.host.digest(*digest, &values);
                self.trace(Event::Digested { digest: *digest, values: &values });
            }
            StmtKind::Log { message, args } => self.log(message, args),
            StmtKind::CallExtern { dst, function, instance, inputs } => {
                let inputs: Vec<Bits> = inputs.iter().map(|input| self.eval(input)).collect();
                let outputs = self.host.call_extern(*function, *instance, &inputs);
                self.trace(Event::ExternCalled { function: *function, inputs: &inputs, outputs: &outputs });
                if let Some(dst) = dst {
                    self.assign(dst, &outputs.resize(place_width(self.program, dst)));
                }
            }
            StmtKind::Assert { cond, text } => return self.assert(cond, text),
            StmtKind::Send { .. } | StmtKind::Enqueue { .. } | StmtKind::Drop(_) | StmtKind::Punt(_) => {
                unreachable!("only decisions have it")
            }
        }
        Flow::Next
    }

    fn assign(&mut self, dst: &Place, value: &Bits) {
        let is_kept = write_place(self.program, self.state, dst, value);
        self.trace(Event::Assigned { place: dst, value, is_kept });
    }

    fn set_validity(&mut self, header: &HeaderRef, valid: bool) {
        if let Some(id) = resolve(self.program, self.state, header) {
            if valid {
                self.state.set_valid(id);
            } else {
                self.state.set_invalid(self.program, id);
            }
            self.trace(Event::ValiditySet { header: id, valid });
        }
    }

    fn copy_header(&mut self, dst: &HeaderRef, src: &HeaderRef) {
        let src = resolve(self.program, self.state, src);
        if let Some(dst) = resolve(self.program, self.state, dst) {
            match src {
                Some(src) => *self.state.header_mut(dst) = self.state.header(src).clone(),
                None => self.state.set_invalid(self.program, dst),
            }
            self.trace(Event::HeaderCopied { dst, src });
        }
    }

    fn copy_varbit(&mut self, dst: &(HeaderRef, u32), src: &(HeaderRef, u32)) {
        let value = varbit(self.program, self.state, src);
        self.set_varbit(dst, value);
    }

    fn set_varbit(&mut self, (dst, field): &(HeaderRef, u32), value: Bits) {
        if let Some(id) = resolve(self.program, self.state, dst) {
            let is_kept = self.state.header(id).valid;
            self.trace(Event::VarbitCopied { header: id, field: *field, value: &value, is_kept });
            if is_kept {
                self.state.header_mut(id).fields[*field as usize] = value;
            }
        }
    }

    fn move_stack(&mut self, stack: ir::StackId, count: u32, up: bool) {
        self.state.move_stack(self.program, stack, count, up);
        self.trace(Event::StackMoved { stack, count, up });
    }

    fn run_if(&mut self, cond: &Expr, then_body: &[Stmt], else_body: &[Stmt]) -> Flow {
        let taken = eval_bool(self.program, self.state, cond);
        self.trace(Event::Branched { taken });
        self.run_body(if taken { then_body } else { else_body })
    }

    fn run_switch(&mut self, value: &Expr, cases: &[SwitchCase], default: &[Stmt]) -> Flow {
        let value = self.eval(value);
        let case = cases.iter().position(|case| case.values.contains(&value));
        let label = cases.iter().flat_map(|case| &case.values).position(|label| *label == value);
        self.trace(Event::Switched { value: &value, case, label });
        self.run_body(case.map_or(default, |position| &cases[position].body))
    }

    fn run_loop(&mut self, label: LabelId, body: &[Stmt]) -> Flow {
        loop {
            let steps = self.loop_steps.entry(label).or_insert(0);
            if *steps >= LOOP_STEPS_MAX {
                self.trace(Event::LoopExhausted { label });
                return Flow::Next;
            }
            *steps += 1;
            match self.run_body(body) {
                Flow::Next => {}
                flow => return caught(flow, label),
            }
        }
    }

    fn apply_table(&mut self, id: TableId, hit: Option<VarId>, action: Option<VarId>) -> Flow {
        let table = &self.program.tables[id];
        let keys: Vec<Bits> = table.keys.iter().map(|key| self.eval(&key.expr)).collect();
        let lookup = self.host.lookup(id, &keys, self.selector_hash(table));
        self.trace(Event::TableApplied { table: id, keys: &keys, lookup: &lookup });
        let owner = self.owner(id, lookup.entry);
        self.count_direct(owner);
        if let Some((meter, Some(dst))) = &table.direct_meter
            && let Some(colour) = self.meter_direct(owner, *meter, ir::NO_COLOUR as u8)
        {
            let value = Bits::from_u64(place_width(self.program, dst), u64::from(colour));
            self.assign(dst, &value);
        }
        self.set_result(hit, Bits::from_bool(lookup.hit()));
        self.set_result(action, Bits::from_u64(32, u64::from(lookup.action)));
        let Some(listed) = table.actions.get(lookup.action as usize) else {
            return Flow::Next;
        };
        let action = &self.program.actions[listed.action];
        self.trace(Event::ActionEntered { action: listed.action, args: &lookup.args });
        for (&param, arg) in action.params.iter().zip(lookup.args) {
            self.state.set_var(param, arg);
        }
        let outer = self.owner.replace(owner);
        let flow = self.run_body(&action.body);
        self.owner = outer;
        flow
    }

    fn owner(&self, table: TableId, entry: Option<u64>) -> Owner {
        Owner { table, entry, cell: entry.unwrap_or_else(|| self.program.tables[table].default_cell()) }
    }

    fn count_direct(&mut self, owner: Owner) {
        for &counter in &self.program.tables[owner.table].direct_counters {
            self.host.count_direct(owner.table, counter, owner.cell);
            self.trace(Event::DirectCounted { counter, entry: owner.entry });
        }
    }

    /// The colour that a direct meter assigns; `None` for a default action without rates.
    fn meter_direct(&mut self, owner: Owner, meter: ir::DirectMeterId, before: u8) -> Option<u8> {
        let colour = self.host.execute_direct_meter(owner.table, meter, owner.cell, before);
        if u32::from(colour) == ir::NO_COLOUR {
            return None;
        }
        self.trace(Event::DirectMetered { meter, entry: owner.entry, colour });
        Some(colour)
    }

    fn count_lookup(&mut self, id: TableId, hit: &Expr, entry: &Expr) {
        let hit = eval_bool(self.program, self.state, hit);
        let entry = hit.then(|| self.eval(entry).low_u64());
        self.host.count_lookup(id, entry);
        self.count_direct(self.owner(id, entry));
    }

    fn set_result(&mut self, var: Option<VarId>, value: Bits) {
        if let Some(var) = var {
            self.trace(Event::VarSet { var, value: &value });
            self.state.set_var(var, value);
        }
    }

    fn emit(&mut self, header: &HeaderRef) {
        let Some(id) = resolve(self.program, self.state, header) else { return };
        if self.state.header(id).valid {
            let bytes = self.state.header(id).to_bytes();
            self.trace(Event::Emitted { header: id, bytes: &bytes });
            self.state.output.extend(bytes);
        } else {
            self.trace(Event::EmitSkipped { header: id });
        }
    }

    fn register_read(&mut self, dst: &Place, register: ir::RegisterId, index: &Expr) {
        let index = self.eval(index);
        let value = self.host.register_read(register, &index);
        self.trace(Event::RegisterRead { register, index: &index, value: value.as_ref() });
        if let Some(value) = value {
            self.assign(dst, &value.resize(place_width(self.program, dst)));
        }
    }

    fn execute_meter(&mut self, dst: &Place, meter: ir::MeterId, index: &Expr, before: &Expr) {
        let (index, before) = (self.eval(index), self.eval(before).low_u64() as u8);
        let colour = self.host.execute_meter(meter, &index, before);
        self.trace(Event::Metered { meter, index: &index, colour });
        if let Some(colour) = colour {
            self.assign(dst, &Bits::from_u64(place_width(self.program, dst), u64::from(colour)));
        }
    }

    fn execute_direct_meter(&mut self, dst: &Place, meter: ir::DirectMeterId, before: &Expr) {
        let before = self.eval(before).low_u64() as u8;
        let metered = self.owner.and_then(|owner| self.meter_direct(owner, meter, before));
        let colour = metered.unwrap_or(before);
        self.assign(dst, &Bits::from_u64(place_width(self.program, dst), u64::from(colour)));
    }

    fn add_entry(
        &mut self,
        dst: &Place,
        table: TableId,
        (keys, action, args): (&[Expr], u32, &[Expr]),
        profile: &Expr,
    ) {
        let [keys, args] = [keys, args].map(|exprs| exprs.iter().map(|expr| self.eval(expr)).collect::<Vec<Bits>>());
        let profile = self.eval(profile).low_u64() as u8;
        let is_added = self.host.add_entry(table, &keys, action, &args, profile);
        self.trace(Event::EntryAdded { table, keys: &keys, action, args: &args, is_added });
        self.assign(dst, &Bits::from_bool(is_added));
    }

    fn set_timer(&mut self, profile: Option<&Expr>) {
        let profile = profile.map(|profile| self.eval(profile).low_u64() as u8);
        let Some((table, entry)) = self.owner.and_then(|owner| Some((owner.table, owner.entry?))) else { return };
        self.host.set_timer(table, entry, profile);
        self.trace(Event::TimerSet { table, entry, profile });
    }

    fn hash(&mut self, dst: &Place, algorithm: HashAlgorithm, inputs: &[HashInput], payload: bool) {
        let mut bytes = self.hashed_bytes(inputs);
        if payload {
            bytes.extend(self.state.payload());
        }
        let value = self.hash_of(algorithm, &bytes).resize(place_width(self.program, dst));
        self.trace(Event::Hashed { algorithm, bytes: &bytes, value: &value });
        self.assign(dst, &value);
    }

    fn hash_of(&self, algorithm: HashAlgorithm, bytes: &[u8]) -> Bits {
        hash::hash(algorithm, bytes, |calculation| {
            (self.program.calculations[calculation].width_bits, self.host.crc_parameters(calculation))
        })
    }

    /// The concatenated inputs. Inputs whose header is invalid are left out.
    fn hashed_bytes(&self, inputs: &[HashInput]) -> Vec<u8> {
        let mut joined = Bits::zero(0);
        for input in inputs {
            if input.guard.as_ref().is_some_and(|header| !self.is_valid(header)) {
                continue;
            }
            let value = match &input.value {
                HashValue::Expr(expr) => self.eval(expr),
                HashValue::Varbit(header, field) => match resolve(self.program, self.state, header) {
                    Some(id) => self.state.header(id).fields[*field as usize].clone(),
                    None => Bits::zero(0),
                },
            };
            joined = joined.concat(&value);
        }
        let mut bytes = vec![0; joined.width().div_ceil(8) as usize];
        joined.to_packet(&mut bytes, 0);
        bytes
    }

    /// The hash by which a table's selector picks a member of a group; 0 for a table without a selector.
    fn selector_hash(&self, table: &ir::Table) -> u64 {
        let profile = table.implementation.as_ref().map(|it| &self.program.action_profiles[it.profile]);
        match profile.and_then(|profile| profile.selector) {
            Some(algorithm) => self.hash_of(algorithm, &self.hashed_bytes(table.selector_inputs())).low_u64(),
            None => 0,
        }
    }

    fn is_valid(&self, header: &HeaderRef) -> bool {
        resolve(self.program, self.state, header).is_some_and(|id| self.state.header(id).valid)
    }

    fn random(&mut self, dst: &Place, low: &Expr, high: &Expr) {
        let (low, high) = (self.eval(low).low_u64(), self.eval(high).low_u64());
        if low <= high {
            let value = self.host.random(low, high);
            self.assign(dst, &Bits::from_u64(place_width(self.program, dst), value));
        }
    }

    fn log(&mut self, message: &str, args: &[Expr]) {
        let types: Vec<Type> = args.iter().map(|arg| arg.ty).collect();
        let values: Vec<Bits> = args.iter().map(|arg| self.eval(arg)).collect();
        let text = log_line(message, &types, &values);
        self.host.log(&text);
        self.trace(Event::Logged { message: &text });
    }

    fn assert(&mut self, cond: &Expr, text: &str) -> Flow {
        if eval_bool(self.program, self.state, cond) {
            return Flow::Next;
        }
        self.host.assert_failed(text);
        self.trace(Event::AssertFailed { text });
        Flow::AssertionFailed
    }
}

/// Where execution continues after a labelled statement whose body ended with `flow`.
fn caught(flow: Flow, label: LabelId) -> Flow {
    if flow == Flow::Leave(label) { Flow::Next } else { flow }
}
