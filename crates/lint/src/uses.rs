//! The uses in a program: variables that are read, and declarations that are called, applied or instantiated.

use crate::walk::{arguments, blocks_of, callee_params, for_each_part};
use base::OrderedSet;
use sema::hir::*;
use syntax::ast::{Direction, StructKind};

/// Everything that is used.
#[derive(Default)]
pub(crate) struct Uses {
    /// Variables whose value is used, or that a call changes.
    pub(crate) read: OrderedSet<VarId>,
    pub(crate) functions: OrderedSet<FunctionId>,
    pub(crate) actions: OrderedSet<ActionId>,
    pub(crate) tables: OrderedSet<TableId>,
    pub(crate) instances: OrderedSet<InstanceId>,
    pub(crate) value_sets: OrderedSet<ValueSetId>,
    pub(crate) parsers: OrderedSet<ParserId>,
    pub(crate) controls: OrderedSet<ControlId>,
    /// Fields of structs that may become valid headers: extracted, made valid, assigned, or changed by a call.
    pub(crate) valid_fields: OrderedSet<(StructId, usize)>,
    /// Fields of structs whose validity is tested.
    pub(crate) tested_fields: OrderedSet<(StructId, usize)>,
}

/// Collects the uses in a program.
pub(crate) fn of(program: &Program) -> Uses {
    let mut collector = Collector { program, uses: Uses::default() };
    for var in program.vars.iter() {
        if let VarKind::Parameter { default: Some(default), .. }
        | VarKind::ConstructorParameter { default: Some(default), .. } = &var.kind
        {
            collector.expr(default);
        }
    }
    collector.locals(&program.top);
    for function in program.functions.iter() {
        function.body.iter().for_each(|body| collector.stmts(&body.stmts));
    }
    program.actions.iter().for_each(|action| collector.stmts(&action.body.stmts));
    program.tables.iter().for_each(|table| collector.table(table));
    for parser in program.parsers.iter() {
        collector.locals(&parser.locals);
        parser.states.iter().for_each(|state| collector.state(state));
    }
    for control in program.controls.iter() {
        collector.locals(&control.locals);
        collector.stmts(&control.body.stmts);
    }
    for instance in program.instances.iter() {
        collector.constructed(&instance.ty);
        instance.args.iter().flatten().for_each(|arg| collector.expr(arg));
        collector.locals(&instance.locals);
    }
    program.value_sets.iter().for_each(|set| collector.expr(&set.size));
    collector.uses
}

struct Collector<'a> {
    program: &'a Program,
    uses: Uses,
}

impl Collector<'_> {
    fn locals(&mut self, locals: &[Local]) {
        locals.iter().for_each(|local| self.local(local));
    }

    fn local(&mut self, local: &Local) {
        match local {
            Local::Var(_, Some(value)) | Local::Const(_, value) => self.expr(value),
            _ => {}
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Local(local) => self.local(local),
            StmtKind::Assign { target, value } => {
                self.target(target);
                self.mark_valid(target);
                self.expr(value);
            }
            StmtKind::Call(e) | StmtKind::Return(Some(e)) => self.expr(e),
            StmtKind::If { condition, .. } => self.expr(condition),
            StmtKind::SwitchValue { subject, cases, .. } => {
                self.expr(subject);
                cases.iter().flat_map(|case| &case.labels).for_each(|label| self.expr(label));
            }
            StmtKind::SwitchAction { table, .. } => self.expr(table),
            StmtKind::For { init, condition, update, .. } => {
                self.stmts(init);
                self.expr(condition);
                self.stmts(update);
            }
            StmtKind::ForIn { collection, .. } => match collection {
                Collection::Items(items) => self.expr(items),
                Collection::Range(low, high) => {
                    self.expr(low);
                    self.expr(high);
                }
            },
            StmtKind::Block(_) | StmtKind::Return(None) | StmtKind::Break | StmtKind::Continue | StmtKind::Exit => {}
        }
        blocks_of(stmt).into_iter().for_each(|block| self.stmts(&block.stmts));
    }

    /// The target of an assignment: only its indices are read.
    fn target(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Var(_) => {}
            ExprKind::Field(base, _) | ExprKind::TupleIndex(base, _) | ExprKind::Slice(base, _, _) => self.target(base),
            ExprKind::Index(base, index) | ExprKind::IndexedSlice { base, low: index, .. } => {
                self.target(base);
                self.expr(index);
            }
            _ => self.expr(target),
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(var) => {
                self.uses.read.insert(*var);
            }
            ExprKind::Instance(id) => {
                self.uses.instances.insert(*id);
            }
            ExprKind::Table(id) => {
                self.uses.tables.insert(*id);
            }
            ExprKind::Construct { .. } => self.constructed(&e.ty),
            ExprKind::Call(call) => {
                self.call(call);
                self.mark_valid_inside(&e.ty);
            }
            ExprKind::Aggregate(_) => self.mark_valid_inside(&e.ty),
            _ => {}
        }
        for_each_part(e, &mut |part| self.expr(part));
    }

    fn constructed(&mut self, ty: &Type) {
        match ty {
            Type::Parser(id, _) => {
                self.uses.parsers.insert(*id);
            }
            Type::Control(id, _) => {
                self.uses.controls.insert(*id);
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &Call) {
        match &call.callee {
            Callee::Function(id) => {
                self.uses.functions.insert(*id);
            }
            Callee::Action(id) => {
                self.uses.actions.insert(*id);
            }
            Callee::Builtin(Builtin::SetValid | Builtin::PushFront | Builtin::PopFront, object) => {
                self.mark_valid(object);
            }
            Callee::Builtin(Builtin::IsValid, object) => self.mark_tested(object),
            _ => {}
        }
        let is_written_here = self.has_body(&call.callee);
        for (direction, arg) in arguments(self.program, callee_params(self.program, &call.callee), &call.args) {
            // The bodies of the program's own functions show what they do to the fields of a struct.
            let is_seen = is_written_here && self.is_plain_struct(&arg.ty);
            if matches!(direction, Direction::Out | Direction::InOut) && !is_seen {
                self.mark_valid(arg);
            }
        }
    }

    fn has_body(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Function(id) => self.program.functions[*id].body.is_some(),
            Callee::Action(_) => true,
            Callee::Apply(object) => matches!(object.ty, Type::Parser(..) | Type::Control(..)),
            Callee::Method(..) | Callee::ApplyTable(_) | Callee::Builtin(..) => false,
        }
    }

    /// Whether the type is a struct whose fields have the same types wherever it is passed.
    fn is_plain_struct(&self, ty: &Type) -> bool {
        matches!(ty, Type::Struct(id, args) if args.is_empty() && self.program.structs[*id].kind == StructKind::Struct)
    }

    /// A program that tests the validity of a header, or of an aggregate around it, is assumed to handle an invalid
    /// one.
    fn mark_tested(&mut self, object: &Expr) {
        let mut next = object;
        loop {
            next = match &next.kind {
                ExprKind::Field(base, position) => {
                    if let Type::Struct(id, _) = &base.ty {
                        self.uses.tested_fields.insert((*id, *position));
                    }
                    base
                }
                ExprKind::Index(base, _) | ExprKind::StackLast(base) | ExprKind::StackNext(base) => base,
                _ => return,
            };
        }
    }

    /// The headers in an l-value may become valid: every field on the path to it, and all inside it. A single value, or
    /// bits of one, does not make a header valid.
    fn mark_valid(&mut self, lvalue: &Expr) {
        if !matches!(lvalue.ty, Type::Struct(..) | Type::Array(..) | Type::Tuple(_) | Type::Param(_) | Type::Unknown) {
            return;
        }
        self.mark_valid_inside(&lvalue.ty);
        let mut next = lvalue;
        loop {
            next = match &next.kind {
                ExprKind::Field(base, position) => {
                    if let Type::Struct(id, _) = &base.ty {
                        self.uses.valid_fields.insert((*id, *position));
                    }
                    base
                }
                ExprKind::Index(base, _)
                | ExprKind::TupleIndex(base, _)
                | ExprKind::StackNext(base)
                | ExprKind::StackLast(base) => base,
                _ => return,
            };
        }
    }

    fn mark_valid_inside(&mut self, ty: &Type) {
        match ty {
            Type::Struct(id, _) => {
                for (position, field) in self.program.structs[*id].fields.iter().enumerate() {
                    // If a field was inserted before, its parts were, too.
                    if self.uses.valid_fields.insert((*id, position)) {
                        self.mark_valid_inside(&field.ty);
                    }
                }
            }
            Type::Array(element, _) => self.mark_valid_inside(element),
            Type::Tuple(elements) => elements.iter().for_each(|element| self.mark_valid_inside(element)),
            _ => {}
        }
    }

    fn table(&mut self, table: &Table) {
        table.keys.iter().for_each(|key| self.expr(&key.expr));
        let chosen = table.entries.iter().map(|entry| &entry.action).chain(&table.default_action);
        for action in table.actions.iter().map(|listed| &listed.action).chain(chosen) {
            self.uses.actions.insert(action.action);
            for (direction, arg) in arguments(self.program, &self.program.actions[action.action].params, &action.args) {
                self.expr(arg);
                if matches!(direction, Direction::Out | Direction::InOut) {
                    self.mark_valid(arg);
                }
            }
        }
        for entry in &table.entries {
            entry.priority.iter().for_each(|priority| self.expr(priority));
            entry.keys.iter().for_each(|key| self.key(key));
        }
        table.size.iter().for_each(|size| self.expr(size));
        table.properties.iter().for_each(|property| self.expr(&property.value));
    }

    fn key(&mut self, key: &KeyElement) {
        match key {
            KeyElement::Any => {}
            KeyElement::Value(value) => self.expr(value),
            KeyElement::Mask(a, b) | KeyElement::Range(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            KeyElement::ValueSet(id) => {
                self.uses.value_sets.insert(*id);
            }
        }
    }

    fn state(&mut self, state: &ParserState) {
        self.stmts(&state.body);
        let Transition::Select { keys, cases, .. } = &state.transition else { return };
        keys.iter().for_each(|key| self.expr(key));
        for case in cases {
            match &case.keyset {
                Keyset::Keys(elements) => elements.iter().for_each(|element| self.key(element)),
                Keyset::ValueSet(id) => {
                    self.uses.value_sets.insert(*id);
                }
                Keyset::Default => {}
            }
        }
    }
}
