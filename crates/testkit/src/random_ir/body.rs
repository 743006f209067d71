//! Random blocks and statements.

use super::{Generator, Place, Scope};
use base::{Bits, IndexVec, Span, index::Id};
use ir::v1model::{Gather, Scatter, Slot};
use ir::{
    ActionProfile, BinaryOp, Block, BlockKind, Body, DirectMeterId, Expr, ExprKind, ExternFunctionKind, FieldType,
    HashAlgorithm, HashInput, HashValue, HeaderRef, Implementation, KeySet, ParserState, SelectCase, StateId, Stmt,
    StmtKind, SwitchCase, Target, Transition, Type, VarKind,
};

pub(super) fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::NONE }
}

/// Whether a hash continues from an earlier value, which precedes its inputs.
fn is_continued(algorithm: HashAlgorithm) -> bool {
    use HashAlgorithm::{Continued, Crc16Continued, Crc32Continued};
    matches!(algorithm, Crc32Continued | Crc16Continued | Continued(_))
}

/// Whether it takes a single value of whole bytes.
fn is_remainder(algorithm: HashAlgorithm) -> bool {
    matches!(algorithm, HashAlgorithm::Remainder { .. })
}

impl Generator<'_> {
    pub(super) fn blocks(&mut self) {
        self.parser();
        let names = ["MyVerifyChecksum", "MyIngress", "MyEgress", "MyComputeChecksum", "MyDeparser"];
        for (position, name) in names.into_iter().enumerate() {
            let place = if position == 4 { Place::Deparser } else { Place::Control };
            let (small, with_tables) = (self.options.statements / 4, position == 1 || position == 2);
            self.enter(place, if with_tables { self.options.statements } else { small });
            let exit = with_tables.then(|| self.label());
            if with_tables {
                self.tables(name, exit);
            }
            let mut body = self.control_body(exit);
            if place == Place::Deparser {
                body.extend(self.emits());
            }
            self.program.blocks.push(Block { name: name.into(), kind: BlockKind::Control { body }, exit });
        }
    }

    /// Starts a scope with everything that each block may use, and with locals of its own.
    fn enter(&mut self, place: Place, budget: u32) {
        let written = |var: VarKind| match var {
            VarKind::Intrinsic(slot) => {
                [Slot::EgressSpec, Slot::ChecksumError].iter().any(|known| *known as u32 == slot)
            }
            VarKind::Metadata => true,
            VarKind::Local => false,
        };
        let vars = || self.program.vars.iter_enumerated();
        let is_request = |kind: VarKind| matches!(kind, VarKind::Intrinsic(slot) if slot > Slot::Priority as u32);
        self.scope = Scope {
            place,
            readable: vars()
                .filter(|(_, v)| v.kind != VarKind::Local && !is_request(v.kind))
                .map(|(id, _)| id)
                .collect(),
            // Only the statements of stacks change a stack's next index.
            writable: vars().filter(|(_, v)| written(v.kind) && !v.name.ends_with(".next")).map(|(id, _)| id).collect(),
            headers: self.program.headers.iter_enumerated().filter(|(_, h)| h.metadata).map(|(id, _)| id).collect(),
            stacks: self.program.stacks.ids().collect(),
            budget,
            ..Scope::default()
        };
        for _ in 0..self.rng.between(1, 4) {
            let ty = self.ty();
            let var = self.local("local", ty);
            self.scope.writable.push(var);
        }
        if place != Place::Deparser && self.once_in(2) {
            let ty = *self.rng.pick(&self.program.header_types.ids().collect::<Vec<_>>());
            let header = self.header(format!("scratch_{}", self.program.headers.len()), ty, false);
            self.scope.headers.push(header);
        }
    }

    fn control_body(&mut self, exit: Option<ir::LabelId>) -> Body {
        let Some(label) = exit else { return self.body() };
        self.scope.labels.push(label);
        let mut inner = self.body();
        while let Some(table) = self.scope.tables.pop() {
            inner.push(stmt(StmtKind::ApplyTable { table, hit: None, action: None }));
        }
        self.scope.labels.pop();
        self.scope.budget = self.scope.budget.max(2);
        let mut body = vec![stmt(StmtKind::Block { label, body: inner })];
        body.extend(self.body());
        if self.options.requests {
            body.extend(self.requests());
        }
        body
    }

    /// Requests to the architecture, each with some probability.
    fn requests(&mut self) -> Body {
        let lists = self.program.field_lists.len() as u64;
        let mut body = Vec::new();
        for (slot, high) in [
            (Slot::CloneIngressSession, 4),
            (Slot::CloneEgressSession, 4),
            (Slot::CloneList, lists),
            (Slot::CloneToIngress, lists + 1),
            (Slot::Resubmit, lists + 1),
            (Slot::Recirculate, lists + 1),
            (Slot::Truncate, 80),
            (Slot::Gather, 0),
            (Slot::Release, 3),
            (Slot::Scatter, 0),
            (Slot::McastGrp, 3),
            (Slot::Priority, 7),
        ] {
            let rare = matches!(slot, Slot::CloneToIngress | Slot::Resubmit | Slot::Recirculate | Slot::Gather);
            if let Some(var) = self.intrinsic(slot).filter(|_| self.rng.chance(1, if rare { 6 } else { 3 })) {
                let width = self.program.vars[var].ty.width();
                let value = match slot {
                    Slot::Gather => self.gather().word(),
                    Slot::Scatter => self.scatter().word(),
                    _ => self.rng.between(0, high),
                };
                let value = Expr::bit(width, value);
                let assign = stmt(StmtKind::Assign { dst: ir::Place::Var(var), src: value });
                let cond = self.cond();
                body.push(stmt(StmtKind::If { cond, then_body: vec![assign], else_body: Vec::new() }));
            }
        }
        body
    }

    /// A coalescing buffer of a few packets, which may wait for more than one burst.
    fn gather(&mut self) -> Gather {
        Gather {
            buffer: self.rng.below(3) as u16,
            bytes_max: self.rng.below(400) as u16,
            wait_us: self.rng.below(3_000) as u32,
        }
    }

    /// A split of the packet into records. Random bytes rarely contain many.
    fn scatter(&mut self) -> Scatter {
        Scatter { first_byte: self.rng.below(80) as u16, records: self.rng.below(3) as u16 }
    }

    fn emits(&mut self) -> Body {
        let mut body = Vec::new();
        for header in self.scope.headers.clone() {
            if !self.once_in(8) {
                body.push(stmt(StmtKind::Emit(HeaderRef::Fixed(header))));
            }
        }
        if let Some(header) = self.header_ref().filter(|_| self.once_in(4)) {
            let emit = vec![stmt(StmtKind::Emit(header))];
            let cond = self.cond();
            body.push(stmt(StmtKind::If { cond, then_body: emit, else_body: Vec::new() }));
        }
        body
    }

    /// Statements, up to the budget.
    pub(super) fn body(&mut self) -> Body {
        let mut body = Vec::new();
        for _ in 0..self.rng.between(1, u64::from(self.scope.budget.max(1))) {
            if self.scope.budget == 0 {
                break;
            }
            self.scope.budget -= 1;
            if let Some(kind) = self.statement() {
                body.push(stmt(kind));
            }
        }
        body
    }

    fn inner_body(&mut self) -> Body {
        self.scoped(Self::body)
    }

    fn statement(&mut self) -> Option<StmtKind> {
        match self.below(26) {
            0..=7 => {
                let (dst, ty) = self.place();
                Some(StmtKind::Assign { dst, src: self.expr(ty) })
            }
            8 => self.header_ref().map(StmtKind::SetValid),
            9 => self.header_ref().map(StmtKind::SetInvalid),
            10 if self.once_in(3) => self.copy_varbit(),
            10 if self.once_in(3) => self.set_varbit(),
            10 => self.copy_header(),
            11 => self.stack_move(),
            12 | 13 => Some(self.if_statement()),
            14 => Some(self.switch_statement()),
            15 => Some(self.block_statement()),
            16 => Some(self.loop_statement()),
            17 | 18 => self.apply_table(),
            19 => Some(self.hash_statement()),
            20 if self.options.plug_in => self.extern_call(),
            20 | 21 if self.options.externs => self.extern_statement(),
            22 => self.message(),
            23 if self.options.random => {
                let (dst, ty) = self.small_place()?;
                Some(StmtKind::Random { dst, low: self.expr_of_height(ty, 0), high: self.expr_of_height(ty, 0) })
            }
            _ => {
                let label = self.pick(&self.scope.labels.clone())?;
                let cond = self.cond();
                Some(StmtKind::If { cond, then_body: vec![stmt(StmtKind::Leave(label))], else_body: Vec::new() })
            }
        }
    }

    fn copy_header(&mut self) -> Option<StmtKind> {
        let dst = self.header_ref()?;
        let ty = self.program.header_type_id(&dst);
        let alike: Vec<_> =
            self.scope.headers.iter().copied().filter(|header| self.program.headers[*header].ty == ty).collect();
        let other = self.header_ref()?;
        let src = if self.program.header_type_id(&other) == ty { other } else { HeaderRef::Fixed(self.pick(&alike)?) };
        Some(StmtKind::CopyHeader { dst, src })
    }

    fn copy_varbit(&mut self) -> Option<StmtKind> {
        let (dst, most) = self.varbit()?;
        let (src, length) = self.varbit()?;
        (length <= most).then_some(StmtKind::CopyVarbit { dst, src })
    }

    fn set_varbit(&mut self) -> Option<StmtKind> {
        let (dst, most) = self.varbit()?;
        let length_bits = match self.once_in(4) {
            true => self.expr(Type::Bit(32)),
            false => Expr::bit(32, self.rng.between(0, u64::from(most) + 20)),
        };
        let value = self.expr(Type::Bit(most));
        Some(StmtKind::SetVarbit { dst, length_bits, value })
    }

    fn stack_move(&mut self) -> Option<StmtKind> {
        let stack = self.pick(&self.scope.stacks.clone())?;
        let count = self.rng.between(0, 5) as u32;
        Some(if self.once_in(2) { StmtKind::PushFront { stack, count } } else { StmtKind::PopFront { stack, count } })
    }

    fn if_statement(&mut self) -> StmtKind {
        let cond = self.cond();
        let then_body = self.inner_body();
        let else_body = if self.once_in(2) { self.inner_body() } else { Vec::new() };
        StmtKind::If { cond, then_body, else_body }
    }

    fn switch_statement(&mut self) -> StmtKind {
        let width = *self.rng.pick(&[1, 2, 3, 32, 70]);
        let value = self.expr(Type::Bit(width));
        let mut values: Vec<Bits> = (0..self.rng.between(1, 5)).map(|value| Bits::from_u64(width, value)).collect();
        values.sort();
        values.dedup();
        let mut cases = Vec::new();
        while !values.is_empty() {
            let rest = values.split_off(values.len().min(self.rng.between(1, 2) as usize));
            cases.push(SwitchCase { values: std::mem::replace(&mut values, rest), body: self.inner_body() });
        }
        StmtKind::Switch { value, cases, default: self.inner_body() }
    }

    fn block_statement(&mut self) -> StmtKind {
        let label = self.label();
        let body = self.scoped(|inner| {
            inner.scope.labels.push(label);
            inner.body()
        });
        StmtKind::Block { label, body }
    }

    /// A loop that counts its iterations and ends after a few.
    fn loop_statement(&mut self) -> StmtKind {
        let label = self.label();
        if self.options.endless_loops && self.once_in(8) {
            let (dst, ty) = self.place();
            let assign = stmt(StmtKind::Assign { dst, src: self.expr_of_height(ty, 1) });
            return StmtKind::Loop { label, body: vec![assign] };
        }
        let counter = self.local("counter", Type::Bit(8));
        let value = || Expr { kind: ExprKind::Var(counter), ty: Type::Bit(8) };
        let rounds = Expr::bit(8, self.rng.between(0, 5));
        let leave = vec![stmt(StmtKind::Leave(label))];
        let cond = Expr::binary(BinaryOp::Ge, value(), rounds);
        let step = Expr::binary(BinaryOp::Add, value(), Expr::bit(8, 1));
        let mut body = vec![
            stmt(StmtKind::If { cond, then_body: leave, else_body: Vec::new() }),
            stmt(StmtKind::Assign { dst: ir::Place::Var(counter), src: step }),
        ];
        body.extend(self.scoped(|inner| {
            inner.scope.labels.push(label);
            inner.body()
        }));
        StmtKind::Loop { label, body }
    }

    fn apply_table(&mut self) -> Option<StmtKind> {
        if self.scope.place != Place::Control {
            return None;
        }
        let table = self.scope.tables.pop()?;
        let counts_entries = {
            let table = &self.program.tables[table];
            table.support_timeout || !table.direct_counters.is_empty()
        };
        if !counts_entries && self.once_in(8) {
            let (hit, entry) = (self.expr_of_height(Type::Bool, 2), Expr::bit(32, self.below(4) as u64));
            return Some(StmtKind::CountLookup { table, hit, entry });
        }
        let hit = self.once_in(2).then(|| self.local("hit", Type::Bool));
        let action = self.once_in(2).then(|| self.local("ran", Type::Bit(32)));
        Some(StmtKind::ApplyTable { table, hit, action })
    }

    fn hash_statement(&mut self) -> StmtKind {
        let (dst, _) = self.place();
        let algorithm = self.algorithm();
        let mut inputs: Vec<HashInput> = (0..self.rng.between(0, 4)).map(|_| self.hash_input()).collect();
        if is_continued(algorithm) {
            let before = HashValue::Expr(self.expr_of_height(Type::Bit(32), 1));
            inputs.insert(0, HashInput { guard: None, value: before });
        }
        if is_remainder(algorithm) {
            let ty = Type::Bit(8 * self.rng.between(1, 40) as u32);
            inputs = vec![HashInput { guard: None, value: HashValue::Expr(self.expr_of_height(ty, 2)) }];
        }
        let payload = !is_remainder(algorithm) && self.once_in(4);
        StmtKind::Hash { dst, algorithm, inputs, payload }
    }

    fn algorithm(&mut self) -> HashAlgorithm {
        use HashAlgorithm::*;
        let mut algorithms = vec![Crc32, Crc16, CrcCcitt, Csum16, Xor16, Identity, Crc32Continued, Crc16Continued];
        algorithms.extend(self.program.calculations.ids().flat_map(|id| [Custom(id), Continued(id)]));
        let width_bits = self.rng.between(1, 32) as u32;
        algorithms.push(Remainder { width_bits, polynomial: self.rng.below(1 << width_bits) as u32 });
        *self.rng.pick(&algorithms)
    }

    /// A profile, with or without a selector, and the inputs of its hash.
    pub(super) fn implementation(&mut self, name: &str) -> Implementation {
        let mut profile = ActionProfile { name: format!("{name}_profile"), size: 16, selector: None };
        let mut inputs = Vec::new();
        if self.once_in(2) {
            profile.selector =
                Some(self.algorithm()).filter(|&algorithm| !is_continued(algorithm) && !is_remainder(algorithm));
        }
        if profile.selector.is_some() {
            inputs = (0..self.rng.between(1, 3)).map(|_| self.hash_input()).collect();
        }
        Implementation { profile: self.program.action_profiles.push(profile), inputs }
    }

    fn hash_input(&mut self) -> HashInput {
        let header = self.header_ref();
        let guard = header.clone().filter(|_| self.once_in(2));
        let varbit = header.and_then(|header| {
            let position = self.program.header_type(&header).varbit()?.0;
            Some(HashValue::Varbit(header, position as u32))
        });
        let value = varbit.unwrap_or_else(|| {
            let ty = self.ty();
            HashValue::Expr(self.expr_of_height(ty, 1))
        });
        HashInput { guard, value }
    }

    fn extern_statement(&mut self) -> Option<StmtKind> {
        let register = self.pick(&self.program.registers.ids().collect::<Vec<_>>())?;
        let (width, size) = (self.program.registers[register].ty.width(), self.program.registers[register].size);
        match self.below(6) {
            0 | 1 => {
                let value = self.expr(Type::Bit(width));
                Some(StmtKind::RegisterWrite { register, index: self.index(size), value })
            }
            2 | 3 => {
                let var = self.local("cell", Type::Bit(width));
                Some(StmtKind::RegisterRead { dst: ir::Place::Var(var), register, index: self.index(size) })
            }
            4 => {
                let counter = self.pick(&self.program.counters.ids().collect::<Vec<_>>())?;
                let size = self.program.counters[counter].size;
                Some(StmtKind::Count { counter, index: self.index(size) })
            }
            _ => {
                let meter = self.pick(&self.program.meters.ids().collect::<Vec<_>>())?;
                let size = self.program.meters[meter].size;
                let (dst, _) = self.small_place()?;
                Some(StmtKind::ExecuteMeter { dst, meter, index: self.index(size), before: self.colour() })
            }
        }
    }

    /// A packet's colour before the meter: usually none.
    fn colour(&mut self) -> Expr {
        if self.once_in(3) { self.expr_of_height(Type::Bit(2), 1) } else { Expr::bit(2, 0) }
    }

    /// Executes a direct meter, in an action of its table.
    pub(super) fn execute_direct(&mut self, meter: DirectMeterId) -> Option<Stmt> {
        let (dst, _) = self.small_place()?;
        Some(stmt(StmtKind::ExecuteDirectMeter { dst, meter, before: self.colour() }))
    }

    fn extern_call(&mut self) -> Option<StmtKind> {
        let callable = self.program.extern_functions.iter_enumerated();
        let callable = callable.filter(|(_, it)| it.kind != ExternFunctionKind::Constructor).map(|(id, _)| id);
        let function = self.pick(&callable.collect::<Vec<_>>())?;
        let declared = &self.program.extern_functions[function];
        let (is_method, width) = (declared.kind == ExternFunctionKind::Method, declared.output_width());
        let types: Vec<Type> = declared.inputs().collect();
        let instances: Vec<_> = self.program.extern_instances.ids().collect();
        let instance = if is_method { self.pick(&instances) } else { None };
        let inputs = types.into_iter().map(|ty| self.expr(ty)).collect();
        let dst = (width > 0).then(|| ir::Place::Var(self.local("outputs", Type::Bit(width))));
        Some(StmtKind::CallExtern { dst, function, instance, inputs })
    }

    fn message(&mut self) -> Option<StmtKind> {
        if self.options.externs && self.once_in(3) {
            let digest = self.pick(&self.program.digests.ids().collect::<Vec<_>>())?;
            let types: Vec<Type> = self.program.digests[digest].fields.iter().map(|(_, ty)| *ty).collect();
            return Some(StmtKind::Digest { digest, values: types.into_iter().map(|ty| self.expr(ty)).collect() });
        }
        if !self.options.messages {
            return None;
        }
        if self.once_in(6) {
            return Some(StmtKind::Assert { cond: self.cond(), text: "the condition of a random assertion".into() });
        }
        let args = (0..self.rng.between(0, 3)).map(|_| {
            let ty = self.ty();
            self.expr_of_height(ty, 1)
        });
        let args = args.collect();
        Some(StmtKind::Log { message: "a {} b {}".into(), args })
    }

    // --- the parser

    fn parser(&mut self) {
        self.enter(Place::Parser, 0);
        let count = self.rng.between(2, 6) as usize;
        let states: IndexVec<StateId, ParserState> = (0..count).map(|position| self.state(position, count)).collect();
        let error = match self.intrinsic(Slot::ParserError) {
            Some(error) => error,
            None => self.var("error".into(), Type::Bit(32), VarKind::Metadata),
        };
        let kind = BlockKind::Parser { start: StateId::from_index(0), states, error };
        self.program.blocks.push(Block { name: "MyParser".into(), kind, exit: None });
    }

    fn state(&mut self, position: usize, count: usize) -> ParserState {
        let mut body = Vec::new();
        if position == 0 {
            let first = HeaderRef::Fixed(self.scope.headers[0]);
            body.push(stmt(StmtKind::Extract { dst: first, varbit_bits: None }));
        } else {
            for _ in 0..self.rng.between(1, 2) {
                body.extend(self.parser_statement().map(stmt));
            }
        }
        self.scope.budget = self.rng.between(0, 3) as u32;
        if self.scope.budget > 0 {
            body.extend(self.body());
        }
        let transition =
            if self.once_in(4) { Transition::Goto(self.target(position, count)) } else { self.select(position, count) };
        ParserState { name: format!("state{position}"), body, transition, span: Span::NONE }
    }

    /// A target, usually a later state.
    fn target(&mut self, position: usize, count: usize) -> Target {
        match self.below(10) {
            0 => Target::Accept,
            1 => Target::Reject,
            2 => Target::State(StateId::from_index(self.below(count))),
            _ if position + 1 < count => {
                Target::State(StateId::from_index(position + 1 + self.below(count - position - 1)))
            }
            _ => Target::Accept,
        }
    }

    fn select(&mut self, position: usize, count: usize) -> Transition {
        if let Some(set) = self.pick(&self.program.value_sets.ids().collect::<Vec<_>>()).filter(|_| self.once_in(6)) {
            let widths: Vec<u32> = self.program.value_sets[set].keys.iter().map(|(_, width, _)| *width).collect();
            let keys: Vec<Expr> = widths.into_iter().map(|width| self.expr_of_height(Type::Bit(width), 0)).collect();
            let mut sets = vec![KeySet::Any; keys.len()];
            sets[0] = KeySet::ValueSet(set);
            let member = SelectCase { sets, target: self.target(position, count), span: Span::NONE };
            let any = SelectCase { sets: vec![KeySet::Any; keys.len()], target: Target::Accept, span: Span::NONE };
            let cases = if self.once_in(2) { vec![member] } else { vec![member, any] };
            return Transition::Select { keys, cases };
        }
        let keys: Vec<Expr> = (0..self.rng.between(1, 2)).map(|_| self.any_leaf()).collect();
        let mut cases = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            let sets = keys.iter().map(|key| self.key_set(key.ty)).collect();
            cases.push(SelectCase { sets, target: self.target(position, count), span: Span::NONE });
        }
        if !self.once_in(4) {
            let any = keys.iter().map(|_| KeySet::Any).collect();
            cases.push(SelectCase { sets: any, target: self.target(position, count), span: Span::NONE });
        }
        Transition::Select { keys, cases }
    }

    fn key_set(&mut self, ty: Type) -> KeySet {
        let mut constant = || Expr::constant(ty, self.bits(ty.width()));
        let (a, b) = (constant(), constant());
        match self.below(8) {
            0 => KeySet::Any,
            1 if ty != Type::Bool => KeySet::Mask(a, b),
            2 if ty != Type::Bool => KeySet::Range(a, b),
            3 => KeySet::Value(self.expr_of_height(ty, 1)),
            _ => KeySet::Value(a),
        }
    }

    fn parser_statement(&mut self) -> Option<StmtKind> {
        match self.below(10) {
            0 => {
                // Usually a multiple of 8.
                let amount = self.expr_of_height(Type::Bit(32), 0);
                let small = Expr::binary(BinaryOp::And, amount, Expr::bit(32, 7));
                let shift = if self.once_in(6) { 2 } else { 3 };
                Some(StmtKind::Advance { bits: Expr::binary(BinaryOp::Shl, small, Expr::bit(8, shift)) })
            }
            1 | 2 => {
                let (dst, _) = self.place();
                let checked = self.once_in(2);
                Some(StmtKind::Lookahead { dst, offset_bits: self.rng.below(40) as u32, checked })
            }
            3 => {
                let cond = self.cond();
                let cond = if self.once_in(2) { cond } else { Expr::bool(true) };
                Some(StmtKind::Verify { cond, error: Expr::bit(32, self.rng.below(8)) })
            }
            _ => self.extract(),
        }
    }

    fn extract(&mut self) -> Option<StmtKind> {
        let dst = match self.pick(&self.scope.stacks.clone()) {
            Some(stack) if self.once_in(2) => HeaderRef::Next(stack),
            _ => self.header_ref()?,
        };
        let header_type = self.program.header_type(&dst);
        let varbit_bits = match header_type.fields.iter().any(|field| matches!(field.ty, FieldType::Varbit(_))) {
            false => None,
            true => {
                let amount = self.expr_of_height(Type::Bit(32), 0);
                let small = Expr::binary(BinaryOp::And, amount, Expr::bit(32, 7));
                let shift = if self.once_in(6) { 2 } else { 3 };
                Some(Expr::binary(BinaryOp::Shl, small, Expr::bit(8, shift)))
            }
        };
        Some(StmtKind::Extract { dst, varbit_bits })
    }
}
