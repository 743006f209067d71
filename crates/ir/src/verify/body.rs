//! Checks of blocks, parser states and statements.

use super::Verifier;
use crate::walk;
use crate::*;
use base::{IndexVec, OrderedSet};

/// The kind of code that a body belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Parser,
    Control,
    Deparser,
    Action,
    Routine,
    Decisions,
}

impl<'p> Verifier<'p> {
    pub(super) fn blocks(&mut self) {
        let program = self.program;
        self.enter("program", base::Span::NONE);
        let count = program.blocks.len();
        let (name, blocks) = (program.architecture.name, program.architecture.blocks);
        self.check(count == blocks.len(), || format!("{count} blocks, {name} has {}", blocks.len()));
        self.label_statements();
        for (id, block) in program.blocks.iter_enumerated() {
            self.enter(id.to_string(), base::Span::NONE);
            let is_parser = matches!(block.kind, BlockKind::Parser { .. });
            let role = program.role(id);
            let should_be = role == BlockRole::Parser;
            self.check(is_parser == should_be, || {
                "a parser is in a control's place, or a control in a parser's".into()
            });
            match &block.kind {
                BlockKind::Parser { start, states, error } => self.parser(id, *start, states, *error),
                BlockKind::Control { body } => {
                    let place = if role == BlockRole::Deparser { Place::Deparser } else { Place::Control };
                    self.body(body, place, &mut Vec::new());
                    self.exits(block, body, &mut Vec::new());
                }
            }
        }
    }

    /// Each label names at most one statement.
    fn label_statements(&mut self) {
        let mut seen = OrderedSet::new();
        for body in walk::bodies(self.program) {
            walk::visit_body(body, &mut |stmt| {
                if let StmtKind::Block { label, .. } | StmtKind::Loop { label, .. } = &stmt.kind {
                    self.span = stmt.span;
                    self.check(seen.insert(*label), || format!("{label} names two statements"));
                    let exists = base::index::Id::index(*label) < self.program.labels as usize;
                    self.check(exists, || format!("{label} does not exist"));
                }
            });
        }
    }

    /// Where a table is applied, the labels that its actions leave to the block must be the block's exit, and around
    /// it.
    fn exits(&mut self, block: &Block, body: &'p [Stmt], around: &mut Vec<LabelId>) {
        for stmt in body {
            if let StmtKind::ApplyTable { table, .. } = &stmt.kind {
                let listed = self.program.tables.get(*table).map_or(&[][..], |table| &table.actions);
                for action in listed.iter().filter_map(|listed| self.program.actions.get(listed.action)) {
                    for label in free_labels(&action.body) {
                        self.span = stmt.span;
                        let fits = block.exit == Some(label) && around.contains(&label);
                        self.check(fits, || format!("{table} has an action that leaves {label}, not the exit around"));
                    }
                }
            }
            let label = stmt_label(stmt);
            around.extend(label);
            for inner in stmt.kind.bodies() {
                self.exits(block, inner, around);
            }
            if label.is_some() {
                around.pop();
            }
        }
    }

    fn parser(&mut self, id: BlockId, start: StateId, states: &'p IndexVec<StateId, ParserState>, error: VarId) {
        self.exists(states, start);
        if self.exists(&self.program.vars, error) {
            let ty = self.program.vars[error].ty;
            self.check(ty == Type::Bit(32), || format!("the error variable is {ty:?}"));
        }
        for (state_id, state) in states.iter_enumerated() {
            self.enter(format!("{id} {state_id}"), state.span);
            self.body(&state.body, Place::Parser, &mut Vec::new());
            self.span = state.span;
            match &state.transition {
                Transition::Goto(target) => self.target(states, *target),
                Transition::Select { keys, cases } => {
                    keys.iter().for_each(|key| self.expr(key, true));
                    for case in cases {
                        self.span = case.span;
                        self.target(states, case.target);
                        self.case(keys, &case.sets);
                    }
                }
            }
        }
    }

    fn target(&mut self, states: &IndexVec<StateId, ParserState>, target: Target) {
        if let Target::State(state) = target {
            self.exists(states, state);
        }
    }

    fn case(&mut self, keys: &[Expr], sets: &[KeySet]) {
        let (found, wanted) = (sets.len(), keys.len());
        self.check(found == wanted, || format!("a case of {found} sets for {wanted} keys"));
        for (position, (set, key)) in sets.iter().zip(keys).enumerate() {
            for expr in set.exprs() {
                self.expr_of(expr, key.ty, true, "a set of a case");
            }
            let is_number = key.ty != Type::Bool;
            let of_numbers = matches!(set, KeySet::Mask(..) | KeySet::Range(..));
            self.check(is_number || !of_numbers, || "a mask or a range of truth values".into());
            if let KeySet::ValueSet(set) = set
                && self.exists(&self.program.value_sets, *set)
            {
                let widths: Vec<u32> = self.program.value_sets[*set].keys.iter().map(|(_, width, _)| *width).collect();
                let theirs = keys[position..].iter().map(|key| key.ty.width()).take(widths.len());
                let is_alone =
                    sets[position + 1..].iter().take(widths.len().saturating_sub(1)).all(|set| *set == KeySet::Any);
                self.check(theirs.eq(widths) && is_alone, || format!("{set} does not fit the select's keys"));
            }
        }
    }

    pub(super) fn body(&mut self, body: &'p [Stmt], place: Place, around: &mut Vec<LabelId>) {
        for stmt in body {
            self.span = stmt.span;
            self.allowed(&stmt.kind, place);
            // Decisions, too, know how long the packet is that was received.
            let in_parser = matches!(place, Place::Parser | Place::Decisions);
            match &stmt.kind {
                // What an action leaves to its block is checked where its table is applied, what a routine does there.
                StmtKind::Leave(label) => {
                    let elsewhere = matches!(place, Place::Action | Place::Routine);
                    let inside = around.contains(label) || elsewhere;
                    self.check(inside, || format!("{label} is left from outside"));
                }
                StmtKind::If { cond, .. } => self.expr_of(cond, Type::Bool, in_parser, "the condition"),
                StmtKind::Switch { value, cases, .. } => self.switch(value, cases, in_parser),
                StmtKind::Block { .. } | StmtKind::Loop { .. } => {}
                simple => self.simple(simple, in_parser),
            }
            let label = stmt_label(stmt);
            around.extend(label);
            for inner in stmt.kind.bodies() {
                self.body(inner, place, around);
            }
            if label.is_some() {
                around.pop();
            }
        }
    }

    /// Whether a statement is allowed here.
    fn allowed(&mut self, stmt: &StmtKind, place: Place) {
        let (allowed, name) = match stmt {
            StmtKind::Extract { .. } => (place == Place::Parser, "extract"),
            StmtKind::Advance { .. } => (place == Place::Parser, "advance"),
            StmtKind::Lookahead { .. } => (place == Place::Parser, "lookahead"),
            StmtKind::Verify { .. } => (place == Place::Parser, "verify"),
            StmtKind::Emit(_) => (place == Place::Deparser, "emit"),
            StmtKind::ApplyTable { .. } => (place == Place::Control, "a table's application"),
            StmtKind::CountLookup { .. } => (place == Place::Control, "the count of a lookup"),
            StmtKind::AddEntry { .. } => (matches!(place, Place::Control | Place::Action), "an entry's addition"),
            end if end.is_decision() => (place == Place::Decisions, "an end of decisions"),
            _ => (true, ""),
        };
        self.check(allowed, || format!("{name} in a body of kind {place:?}"));
        let fits = place != Place::Routine || stmt.may_be_in_routine();
        self.check(fits, || "a statement that no routine may have".into());
    }

    fn switch(&mut self, value: &Expr, cases: &[SwitchCase], in_parser: bool) {
        self.expr(value, in_parser);
        let mut seen = OrderedSet::new();
        for case in cases {
            self.check(!case.values.is_empty(), || "a case without values".into());
            for constant in &case.values {
                let width = value.ty.width();
                self.check(constant.width() == width, || format!("the case {constant:?} for a value of {width} bits"));
                self.check(seen.insert(constant), || format!("two cases {constant:?}"));
            }
        }
    }

    /// A statement without a body.
    fn simple(&mut self, stmt: &StmtKind, in_parser: bool) {
        let dst = stmt.dst().and_then(|dst| self.place(dst, in_parser));
        match stmt {
            StmtKind::Assign { src, .. } => match dst {
                Some(dst) => self.expr_of_width(src, dst.width(), in_parser, "the value"),
                None => self.expr(src, in_parser),
            },
            StmtKind::SetValid(header) | StmtKind::SetInvalid(header) | StmtKind::Emit(header) => {
                self.header(header, in_parser);
            }
            StmtKind::CopyHeader { dst, src } => {
                let types = (self.header(dst, in_parser), self.header(src, in_parser));
                let alike = !matches!(types, (Some(dst), Some(src)) if dst != src);
                self.check(alike, || format!("a copy between headers of types {types:?}"));
            }
            StmtKind::CopyVarbit { dst, src } => {
                let (to, from) = (self.varbit(dst, in_parser), self.varbit(src, in_parser));
                let fits = !matches!((to, from), (Some(to), Some(from)) if to < from);
                self.check(fits, || "a longer varbit field is copied to a shorter one".into());
            }
            StmtKind::SetVarbit { dst, length_bits, value } => {
                self.expr_of(length_bits, Type::Bit(32), in_parser, "the length");
                if let Some(max) = self.varbit(dst, in_parser) {
                    self.expr_of(value, Type::Bit(max), in_parser, "the value");
                }
            }
            StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => {
                self.exists(&self.program.stacks, *stack);
            }
            StmtKind::Call(routine) => _ = self.exists(&self.program.routines, *routine),
            StmtKind::ApplyTable { table, hit, action } => self.apply(*table, *hit, *action),
            StmtKind::CountLookup { table, hit, entry } => self.count_lookup(*table, hit, entry, in_parser),
            StmtKind::Extract { dst, varbit_bits } => self.extract(dst, varbit_bits.as_ref()),
            StmtKind::Advance { bits } => self.expr_of(bits, Type::Bit(32), in_parser, "the amount"),
            StmtKind::Verify { cond, error } => {
                self.expr_of(cond, Type::Bool, in_parser, "the condition");
                self.expr_of(error, Type::Bit(32), in_parser, "the error");
            }
            StmtKind::Lookahead { .. } => {}
            StmtKind::RegisterRead { .. }
            | StmtKind::RegisterWrite { .. }
            | StmtKind::Count { .. }
            | StmtKind::ExecuteMeter { .. }
            | StmtKind::ExecuteDirectMeter { .. } => self.array(stmt, dst, in_parser),
            StmtKind::Hash { algorithm, inputs, payload, .. } => {
                self.algorithm(*algorithm, inputs, *payload);
                inputs.iter().for_each(|input| self.hash_input(input, in_parser));
            }
            StmtKind::Random { low, high, .. } => {
                if let Some(dst) = dst {
                    let fits = matches!(dst, Type::Bit(1..=64));
                    self.check(fits, || format!("a random {dst:?}"));
                    self.expr_of(low, dst, in_parser, "the least");
                    self.expr_of(high, dst, in_parser, "the greatest");
                }
            }
            StmtKind::AddEntry { .. } | StmtKind::SetTimer { .. } => self.of_entries(stmt, dst, in_parser),
            StmtKind::Digest { digest, values } => self.digest(*digest, values, in_parser),
            StmtKind::Log { args, .. } => args.iter().for_each(|arg| self.expr(arg, in_parser)),
            StmtKind::CallExtern { function, instance, inputs, .. } => {
                inputs.iter().for_each(|input| self.expr(input, in_parser));
                self.extern_call(dst, *function, *instance, inputs);
            }
            StmtKind::Assert { cond, .. } => self.expr_of(cond, Type::Bool, in_parser, "the condition"),
            end if end.is_decision() => self.numbers_of(end),
            // Statements with bodies, of which `body` checks what is not in these.
            _ => {}
        }
    }

    /// A statement about entries.
    fn of_entries(&mut self, stmt: &StmtKind, dst: Option<Type>, in_parser: bool) {
        match stmt {
            StmtKind::AddEntry { table, keys, action, args, profile, .. } => {
                self.check(matches!(dst, None | Some(Type::Bool)), || {
                    format!("whether there is an entry goes to {dst:?}")
                });
                keys.iter().chain(args).for_each(|value| self.expr(value, in_parser));
                self.expr_of(profile, Type::Bit(8), in_parser, "the profile");
                self.added_entry(*table, keys, *action, args);
            }
            StmtKind::SetTimer { profile } => {
                profile.iter().for_each(|profile| self.expr_of(profile, Type::Bit(8), in_parser, "the profile"));
            }
            _ => {}
        }
    }

    /// An entry that the data plane adds fits its table.
    fn added_entry(&mut self, table: TableId, keys: &[Expr], action: u32, args: &[Expr]) {
        if !self.exists(&self.program.tables, table) {
            return;
        }
        let declared = &self.program.tables[table];
        let fits = declared.keys.iter().map(|key| key.expr.ty.width()).eq(keys.iter().map(|key| key.ty.width()));
        self.check(fits && !keys.is_empty(), || format!("the keys do not fit those of {table}"));
        self.check(declared.adds_on_miss, || format!("entries are added to {table}, which adds none"));
        self.check(declared.implementation.is_none(), || format!("{table} has an action profile"));
        let listed = declared.actions.get(action as usize).filter(|listed| !listed.default_only);
        self.check(listed.is_some(), || format!("entries of {table} cannot have its action {action}"));
        let Some(action) = listed.and_then(|listed| self.program.actions.get(listed.action)) else { return };
        let params = action.params.iter().filter_map(|param| Some(self.program.vars.get(*param)?.ty.width()));
        let fits = params.eq(args.iter().map(|arg| arg.ty.width()));
        self.check(fits, || format!("the arguments do not fit {}", action.name));
    }

    fn count_lookup(&mut self, table: TableId, hit: &Expr, entry: &Expr, in_parser: bool) {
        self.exists(&self.program.tables, table);
        self.expr_of(hit, Type::Bool, in_parser, "the hit");
        self.expr_of(entry, Type::Bit(32), in_parser, "the entry");
    }

    fn apply(&mut self, table: TableId, hit: Option<VarId>, action: Option<VarId>) {
        self.exists(&self.program.tables, table);
        for (var, wanted) in [(hit, Type::Bool), (action, Type::Bit(32))] {
            if let Some(var) = var.filter(|var| self.exists(&self.program.vars, *var)) {
                let ty = self.program.vars[var].ty;
                self.check(ty == wanted, || format!("a table's result {wanted:?} goes to {var}, which is {ty:?}"));
            }
        }
    }

    fn extract(&mut self, dst: &HeaderRef, varbit_bits: Option<&Expr>) {
        if let Some(header_type) = self.header(dst, true) {
            let has_varbit = self.program.header_types[header_type].varbit().is_some();
            self.check(has_varbit == varbit_bits.is_some(), || "a varbit length and a varbit field go together".into());
        }
        if let Some(bits) = varbit_bits {
            self.expr_of(bits, Type::Bit(32), true, "the varbit length");
        }
    }

    /// A statement about a cell of an array.
    fn array(&mut self, stmt: &StmtKind, dst: Option<Type>, in_parser: bool) {
        match stmt {
            StmtKind::RegisterRead { register, index, .. } => {
                self.expr_unsigned(index, in_parser, "the index");
                if self.exists(&self.program.registers, *register) {
                    let (cell, dst) = (self.program.registers[*register].ty.width(), dst.map(Type::width));
                    self.check(dst.is_none_or(|dst| dst == cell), || format!("{cell} bits are read to {dst:?}"));
                }
            }
            StmtKind::RegisterWrite { register, index, value } => {
                self.expr_unsigned(index, in_parser, "the index");
                if self.exists(&self.program.registers, *register) {
                    let width = self.program.registers[*register].ty.width();
                    self.expr_of_width(value, width, in_parser, "the value");
                }
            }
            StmtKind::Count { counter, index } => {
                self.expr_unsigned(index, in_parser, "the index");
                self.exists(&self.program.counters, *counter);
            }
            StmtKind::ExecuteMeter { meter, index, before, .. } => {
                self.expr_unsigned(index, in_parser, "the index");
                self.expr_of(before, Type::Bit(2), in_parser, "the colour before");
                self.exists(&self.program.meters, *meter);
                self.check(matches!(dst, None | Some(Type::Bit(_))), || format!("a colour goes to {dst:?}"));
            }
            StmtKind::ExecuteDirectMeter { meter, before, .. } => {
                self.expr_of(before, Type::Bit(2), in_parser, "the colour before");
                self.exists(&self.program.direct_meters, *meter);
                self.check(matches!(dst, None | Some(Type::Bit(_))), || format!("a colour goes to {dst:?}"));
            }
            _ => {}
        }
    }

    /// A continued hash begins with its former value: 32 bits without a guard.
    fn continues(&mut self, algorithm: HashAlgorithm, inputs: &[HashInput]) {
        use HashAlgorithm::{Continued, Crc16Continued, Crc32Continued};
        let is_value = |input: &HashInput| match &input.value {
            HashValue::Expr(value) => value.ty.width() == 32 && input.guard.is_none(),
            HashValue::Varbit(..) => false,
        };
        if matches!(algorithm, Continued(_) | Crc16Continued | Crc32Continued) {
            self.check(inputs.first().is_some_and(is_value), || {
                "a continued hash has no former value of 32 bits".to_owned()
            });
        }
    }

    /// The function of a hash, and its rules for the data.
    pub(super) fn algorithm(&mut self, algorithm: HashAlgorithm, inputs: &[HashInput], payload: bool) {
        self.continues(algorithm, inputs);
        self.divides(algorithm, inputs, payload);
        if let HashAlgorithm::Custom(calculation) | HashAlgorithm::Continued(calculation) = algorithm {
            self.exists(&self.program.calculations, calculation);
        }
        if let HashAlgorithm::Remainder { width_bits, polynomial } = algorithm {
            let fits = (1..=32).contains(&width_bits) && u64::from(polynomial) >> width_bits == 0;
            self.check(fits, || format!("a divisor of degree {width_bits} and {polynomial:#x}"));
        }
    }

    /// A remainder is that of one value, which is whole bytes.
    fn divides(&mut self, algorithm: HashAlgorithm, inputs: &[HashInput], payload: bool) {
        if matches!(algorithm, HashAlgorithm::Remainder { .. }) {
            let is_value = match inputs {
                [HashInput { guard: None, value: HashValue::Expr(value) }] => value.ty.width().is_multiple_of(8),
                _ => false,
            };
            self.check(is_value && !payload, || "the remainder of something else than one value of whole bytes".into());
        }
    }

    pub(super) fn hash_input(&mut self, input: &HashInput, in_parser: bool) {
        if let Some(guard) = &input.guard {
            self.header(guard, in_parser);
        }
        match &input.value {
            HashValue::Expr(expr) => self.expr(expr, in_parser),
            HashValue::Varbit(header, field) => {
                let found = self.field(header, *field, in_parser);
                let is_varbit = !matches!(found, Some(FieldType::Fixed(_)));
                self.check(is_varbit, || format!("field {field} is not varbit"));
            }
        }
    }

    fn extern_call(
        &mut self,
        dst: Option<Type>,
        function: ExternFunctionId,
        instance: Option<ExternInstanceId>,
        inputs: &[Expr],
    ) {
        if let Some(instance) = instance {
            self.exists(&self.program.extern_instances, instance);
        }
        if self.exists(&self.program.extern_functions, function) {
            let declared = &self.program.extern_functions[function];
            let fits = declared.inputs().map(Type::width).eq(inputs.iter().map(|input| input.ty.width()));
            self.check(fits, || format!("the inputs do not fit the parameters of {function}"));
            let width = dst.map_or(0, Type::width);
            self.check(width == declared.output_width(), || {
                format!("the outputs of {function} have {} bits, and {width} are taken", declared.output_width())
            });
            let is_method = declared.kind == ExternFunctionKind::Method;
            self.check(is_method == instance.is_some(), || format!("{function} and an object go not together"));
            let is_constructor = declared.kind == ExternFunctionKind::Constructor;
            self.check(!is_constructor, || format!("{function} is a constructor"));
        }
    }

    fn digest(&mut self, digest: DigestId, values: &[Expr], in_parser: bool) {
        values.iter().for_each(|value| self.expr(value, in_parser));
        if self.exists(&self.program.digests, digest) {
            let fields = self.program.digests[digest].fields.iter().map(|(_, ty)| ty.width());
            let fits = fields.eq(values.iter().map(|value| value.ty.width()));
            self.check(fits, || format!("the values do not fit the fields of {digest}"));
        }
    }
}

/// The label that a statement carries.
fn stmt_label(stmt: &Stmt) -> Option<LabelId> {
    match &stmt.kind {
        StmtKind::Block { label, .. } | StmtKind::Loop { label, .. } => Some(*label),
        _ => None,
    }
}

/// The labels outside of a body that it leaves.
pub(super) fn free_labels(body: &[Stmt]) -> OrderedSet<LabelId> {
    let (mut left, mut own) = (OrderedSet::new(), OrderedSet::new());
    walk::visit_body(body, &mut |stmt| {
        own.extend(stmt_label(stmt));
        if let StmtKind::Leave(label) = &stmt.kind {
            left.insert(*label);
        }
    });
    left.difference(&own).copied().collect()
}
