//! The transfer functions of statements and expressions.

use super::layout::{Place, is_header};
use super::state::{Assigned, join};
use super::{Exposure, Fault, Flow, LoopExits, Mode};
use crate::diagnostics as d;
use crate::sink::{Group, INVALID_HEADER, UNINITIALIZED};
use crate::walk::{for_each_part, is_pure};
use sema::hir::*;
use syntax::ast::BinaryOperator;

impl Flow<'_, '_> {
    /// Analyses a block up to a statement that never continues.
    pub(super) fn block(&mut self, block: &Block) {
        let silenced = self.sink.enter(&block.annotations);
        self.statements(&block.stmts);
        self.sink.leave(silenced);
    }

    pub(super) fn statements(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if self.state.is_none() {
                return;
            }
            self.statement(stmt);
        }
    }

    /// Runs `work` as a separate branch and returns the state after it. The state before it is restored.
    pub(super) fn branch(&mut self, before: Option<Assigned>, work: impl FnOnce(&mut Self)) -> Option<Assigned> {
        let outer_branch = self.branch;
        self.last_branch += 1;
        self.branch = self.last_branch;
        let outer = std::mem::replace(&mut self.state, before);
        work(self);
        self.branch = outer_branch;
        std::mem::replace(&mut self.state, outer)
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::Local(local) => self.local(local),
            StmtKind::Assign { target, value } => self.assignment(target, value),
            StmtKind::Call(call) => self.read(call),
            StmtKind::If { condition, then_body, else_body } => {
                let (holds, fails) = self.decide(condition);
                let after_then = self.branch(holds, |flow| flow.block(then_body));
                let mut after = self.branch(fails, |flow| flow.block(else_body));
                join(&mut after, after_then);
                self.state = after;
            }
            StmtKind::SwitchValue { subject, cases, default } => {
                self.read(subject);
                let mut after = if default.is_none() { self.state.clone() } else { None };
                for body in cases.iter().map(|case| &case.body).chain(default) {
                    let after_case = self.branch(self.state.clone(), |flow| flow.block(body));
                    join(&mut after, after_case);
                }
                self.state = after;
            }
            StmtKind::SwitchAction { table, cases, default } => self.switch_on_action(table, cases, default.as_ref()),
            StmtKind::For { init, condition, update, body } => {
                self.statements(init);
                let is_certain = self.values.holds_after(init, condition);
                self.repeat(
                    is_certain,
                    |flow| flow.read(condition),
                    |flow| {
                        flow.block(body);
                        flow.end_iteration();
                        flow.statements(update);
                    },
                );
            }
            StmtKind::ForIn { var, collection, body } => {
                match collection {
                    Collection::Items(items) => self.read(items),
                    Collection::Range(low, high) => {
                        self.read(low);
                        self.read(high);
                    }
                }
                self.repeat(
                    self.values.is_not_empty(collection),
                    |_| {},
                    |flow| {
                        flow.set_variable(*var, true);
                        flow.block(body);
                        flow.end_iteration();
                    },
                );
            }
            StmtKind::Break | StmtKind::Continue => self.loop_exit(matches!(stmt.kind, StmtKind::Break)),
            StmtKind::Return(value) => {
                value.iter().for_each(|value| self.read(value));
                let state = self.state.take();
                join(&mut self.returns, state);
            }
            StmtKind::Exit => self.state = None,
        }
    }

    fn loop_exit(&mut self, is_break: bool) {
        let state = self.state.take();
        if let Some(exits) = self.loops.last_mut() {
            join(if is_break { &mut exits.breaks } else { &mut exits.continues }, state);
        }
    }

    /// Ends a loop's body, where `continue` leads.
    fn end_iteration(&mut self) {
        if let Some(exits) = self.loops.last_mut() {
            let continues = exits.continues.take();
            join(&mut self.state, continues);
        }
    }

    /// Analyses a loop: `test` is its condition, `iteration` what an iteration does if the condition holds. If
    /// `is_certain`, it holds the first time.
    fn repeat(&mut self, is_certain: bool, mut test: impl FnMut(&mut Self), mut iteration: impl FnMut(&mut Self)) {
        let before = self.state.clone();
        if self.loops.is_empty() {
            self.loops.push(LoopExits::default());
            self.silently(|flow| {
                test(flow);
                iteration(flow);
            });
            self.loops.pop();
            join(&mut self.state, before);
        } else if let Some(state) = &mut self.state {
            // Analysing inner loops several times would be too expensive if they are nested deeply.
            state.assume_all_values();
        }
        self.loops.push(LoopExits::default());
        let mut after = None;
        let start = self.state.clone();
        self.branch(start, |flow| {
            test(flow);
            let without_iteration = flow.state.clone();
            iteration(flow);
            after = if is_certain {
                flow.silently(test);
                flow.state.take()
            } else {
                without_iteration
            };
        });
        if let Some(exits) = self.loops.pop() {
            join(&mut after, exits.breaks);
        }
        self.state = after;
    }

    /// Analyses code whose faults another traversal reports.
    fn silently(&mut self, work: impl FnOnce(&mut Self)) {
        let mode = std::mem::replace(&mut self.mode, Mode::Silent);
        work(self);
        self.mode = mode;
    }

    /// A declaration: a variable is unassigned at its declaration, in each iteration.
    pub(super) fn local(&mut self, local: &Local) {
        let (var, value) = match local {
            Local::Var(var, value) => (var, value),
            Local::Const(var, value) => return self.values.declare(*var, value),
            _ => return,
        };
        self.declared_in.insert(*var, self.branch);
        value.iter().for_each(|value| self.read(value));
        self.set_variable(*var, false);
        if let (Some(value), Some(place)) = (value, self.layout.variable(*var)) {
            self.store(&place, value);
        }
    }

    pub(super) fn set_variable(&mut self, var: VarId, value: bool) {
        if let (Some(place), Some(state)) = (self.layout.variable(var), &mut self.state) {
            state.set(place.leaves, value);
        }
    }

    fn assignment(&mut self, target: &Expr, value: &Expr) {
        self.read(value);
        self.read_indices(target);
        if let Some(place) = self.layout.place(target) {
            self.check_written(&place, target);
            self.store(&place, value);
            if !matches!(value.kind, ExprKind::Invalid) {
                self.invalidate_siblings(target);
            }
        }
    }

    /// An l-value is assigned.
    fn store(&mut self, place: &Place, value: &Expr) {
        let source = self.layout.place(value);
        let Some(state) = &mut self.state else { return };
        match source {
            _ if matches!(value.kind, ExprKind::Invalid) => state.set(place.leaves.clone(), place.is_shared),
            Some(source)
                if !source.is_shared
                    && !place.is_shared
                    && source.leaves.len() == place.leaves.len()
                    && source.leaves.len() > 1 =>
            {
                state.copy(source.leaves, place.leaves.start);
            }
            _ => state.set(place.leaves.clone(), true),
        }
    }

    /// Warns of an assignment to a field whose header is invalid.
    pub(super) fn check_written(&mut self, place: &Place, target: &Expr) {
        if let (Some(validity), Some(state)) = (place.validity, &self.state)
            && !state.may.contains(validity)
        {
            self.fault(Fault::InvalidWrite, validity, place.var, target);
        }
    }

    /// Evaluates the indices in an l-value.
    pub(super) fn read_indices(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Index(base, index) => {
                self.read_indices(base);
                self.read(index);
            }
            ExprKind::IndexedSlice { base, low, .. } => {
                self.read_indices(base);
                self.read(low);
            }
            ExprKind::Field(base, _)
            | ExprKind::TupleIndex(base, _)
            | ExprKind::Slice(base, _, _)
            | ExprKind::StackNext(base)
            | ExprKind::StackLast(base)
            | ExprKind::StackLastIndex(base) => self.read_indices(base),
            ExprKind::Var(_) => {}
            _ => self.read(target),
        }
    }

    /// Evaluates an expression.
    pub(super) fn read(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Call(call) => self.call(call),
            ExprKind::Binary(BinaryOperator::And | BinaryOperator::Or, left, right) => {
                self.read(left);
                self.read_perhaps(right);
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.read(condition);
                let before = self.state.clone();
                self.read_perhaps(yes);
                if !is_pure(no) {
                    let after_yes = std::mem::replace(&mut self.state, before);
                    self.read_perhaps(no);
                    join(&mut self.state, after_yes);
                } else {
                    self.read_perhaps(no);
                }
            }
            _ => match self.layout.place(e) {
                Some(place) => {
                    self.read_indices(e);
                    self.check_read(&place, e);
                }
                None => for_each_part(e, &mut |part| self.read(part)),
            },
        }
    }

    /// Analyses an expression that is evaluated conditionally.
    fn read_perhaps(&mut self, e: &Expr) {
        let mut after = self.branch(self.state.clone(), |flow| flow.read(e));
        join(&mut after, self.state.take());
        self.state = after;
    }

    /// Warns of a read without a value.
    fn check_read(&mut self, place: &Place, e: &Expr) {
        let Some(state) = &self.state else { return };
        let first = place.leaves.start;
        if let Some(validity) = place.validity
            && !state.may.contains(validity)
        {
            self.fault(Fault::InvalidRead, validity, place.var, e);
        } else if self.layout.has_header(&e.ty) || place.leaves.is_empty() {
            // An invalid header may be read as a whole.
        } else if place.leaves.clone().all(|leaf| !state.may.contains(leaf)) {
            self.fault(Fault::Unassigned, first, place.var, e);
        } else if place.leaves.len() == 1
            && !place.is_shared
            && place.validity.is_none()
            && !state.must.contains(first)
            && self.reports_possible
            && self.declared_in.get(&place.var) == Some(&self.branch)
        {
            self.fault(Fault::PerhapsUnassigned, first, place.var, e);
        }
    }

    /// The leaf of an expression's validity bit, if the expression is a tracked header.
    pub(super) fn validity_of(&self, e: &Expr) -> Option<(usize, VarId)> {
        let place = self.layout.place(e)?;
        (is_header(self.program, &e.ty) && !place.is_shared).then_some((place.leaves.start, place.var))
    }

    /// Handles a fault. Reporting it marks the leaf as assigned, so that it is not found again on this path.
    pub(super) fn fault(&mut self, fault: Fault, leaf: usize, var: VarId, e: &Expr) {
        if self.mode == Mode::Silent {
            return;
        }
        let exposure = Exposure { fault, leaf, var, span: e.span, name: self.name_of(e) };
        match self.mode {
            Mode::Expose => {
                if fault != Fault::PerhapsUnassigned && !self.sink.is_silenced(group_of(fault)) {
                    self.exposures.push(exposure);
                }
            }
            _ => self.warn(&exposure),
        }
    }

    pub(super) fn warn(&mut self, exposure: &Exposure) {
        let &Exposure { fault, leaf, var, span, ref name } = exposure;
        let is_new = self.reported.insert((fault, span)) & self.reported_leaves.insert(leaf);
        if let Some(state) = &mut self.state {
            state.set(leaf..leaf + 1, true);
        }
        if !is_new {
            return;
        }
        let declared = &self.program.vars[var];
        let warning = match fault {
            Fault::Unassigned => d::read_before_assignment(span, name, declared.span),
            Fault::PerhapsUnassigned => d::perhaps_unassigned(span, name, declared.span),
            Fault::InvalidRead => d::invalid_header_read(span, name),
            Fault::InvalidWrite => d::invalid_header_write(span, name),
            Fault::InvalidEmit => d::invalid_header_emitted(span, name),
        };
        self.sink.warn_about(group_of(fault), &declared.annotations, warning);
    }

    /// An l-value as text.
    fn name_of(&self, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Var(var) => self.program.vars[*var].name.to_string(),
            ExprKind::Field(base, position) => {
                let field = match &base.ty {
                    Type::Struct(id, _) => self.program.structs[*id].fields.get(*position).map(|field| &*field.name),
                    _ => None,
                };
                format!("{}.{}", self.name_of(base), field.unwrap_or("?"))
            }
            ExprKind::TupleIndex(base, position) => format!("{}[{position}]", self.name_of(base)),
            ExprKind::Index(base, _) => format!("{}[...]", self.name_of(base)),
            ExprKind::StackNext(base) => format!("{}.next", self.name_of(base)),
            ExprKind::StackLast(base) => format!("{}.last", self.name_of(base)),
            ExprKind::StackLastIndex(base) => format!("{}.lastIndex", self.name_of(base)),
            ExprKind::Slice(base, ..) | ExprKind::IndexedSlice { base, .. } => self.name_of(base),
            _ => "this".to_owned(),
        }
    }
}

fn group_of(fault: Fault) -> Group {
    match fault {
        Fault::Unassigned | Fault::PerhapsUnassigned => UNINITIALIZED,
        Fault::InvalidRead | Fault::InvalidWrite | Fault::InvalidEmit => INVALID_HEADER,
    }
}
