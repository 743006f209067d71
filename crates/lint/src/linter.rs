//! The traversal of a program: it visits everything once, within the `@noWarn` annotations of the enclosing
//! declarations.

use crate::diagnostics as d;
use crate::sink::{Sink, UNMATCHED};
use crate::uses::{self, Uses};
use crate::values::Values;
use crate::walk::{blocks_of, for_each_part, method_implementations};
use base::OrderedSet;
use base::index::Id as _;
use sema::hir::*;

/// The state of the traversal.
pub(crate) struct Linter<'s, 'a> {
    pub(crate) program: &'a Program,
    pub(crate) sink: &'s mut Sink<'a>,
    pub(crate) uses: Uses,
    pub(crate) values: Values<'a>,
    /// Whether the traversal is inside a parser or control.
    pub(crate) is_inside_block: bool,
    /// The fields of structs that have been reported as headers that are never valid.
    pub(crate) reported_invalid: OrderedSet<(StructId, usize)>,
}

/// Traverses a program.
pub(crate) fn check<'a>(program: &'a Program, sink: &mut Sink<'a>) {
    let uses = uses::of(program);
    let values = Values::new(program);
    Linter { program, sink, uses, values, is_inside_block: false, reported_invalid: OrderedSet::new() }.program();
}

impl<'a> Linter<'_, 'a> {
    fn program(&mut self) {
        let program = self.program;
        let mut is_local_action = vec![false; program.actions.len()];
        let methods = method_implementations(program);
        for control in program.controls.iter() {
            for local in &control.locals {
                if let Local::Action(id) = local {
                    is_local_action[id.index()] = true;
                }
            }
        }
        self.locals(&program.top);
        for (id, action) in program.actions.iter_enumerated() {
            if !is_local_action[id.index()] {
                self.check_unused_action(id);
                self.action(action);
            }
        }
        for (id, function) in program.functions.iter_enumerated() {
            if let Some(body) = &function.body {
                let silenced = self.sink.enter(&function.annotations);
                // The extern declares the parameters of its methods.
                if !methods.contains(&id) {
                    self.check_unused_function(id);
                    self.check_unused_params(&function.params);
                }
                self.block(body);
                self.sink.leave(silenced);
            }
        }
        program.parsers.ids().for_each(|id| self.parser(id));
        program.controls.ids().for_each(|id| self.control(id));
        self.check_ports();
    }

    fn action(&mut self, action: &'a Action) {
        let silenced = self.sink.enter(&action.annotations);
        self.check_unused_params(&action.params);
        self.block(&action.body);
        self.sink.leave(silenced);
    }

    fn parser(&mut self, id: ParserId) {
        let parser = &self.program.parsers[id];
        let silenced = self.sink.enter(&parser.annotations);
        self.check_unused_parser(id);
        self.is_inside_block = true;
        self.locals(&parser.locals);
        for state in &parser.states {
            let silenced = self.sink.enter(&state.annotations);
            self.stmts(&state.body);
            if let Transition::Select { keys, cases, span } = &state.transition {
                keys.iter().for_each(|key| self.expr(key));
                self.select(keys, cases, *span);
            }
            if !state.has_transition {
                self.sink.warn(UNMATCHED, d::missing_transition(state.span, &state.name));
            }
            self.sink.leave(silenced);
        }
        self.check_parser_loops(parser);
        self.is_inside_block = false;
        self.sink.leave(silenced);
    }

    fn control(&mut self, id: ControlId) {
        let control = &self.program.controls[id];
        let silenced = self.sink.enter(&control.annotations);
        self.check_unused_control(id);
        self.is_inside_block = true;
        self.locals(&control.locals);
        self.block(&control.body);
        self.is_inside_block = false;
        self.sink.leave(silenced);
    }

    fn locals(&mut self, locals: &'a [Local]) {
        locals.iter().for_each(|local| self.local(local));
    }

    fn local(&mut self, local: &'a Local) {
        match local {
            Local::Var(var, value) => {
                self.check_unused_variable(*var, value.is_some());
                value.iter().for_each(|value| self.expr(value));
            }
            Local::Const(var, value) => {
                self.check_unused_constant(*var);
                self.values.declare(*var, value);
                self.expr(value);
            }
            Local::Instance(id) => {
                self.check_unused_instance(*id);
                let instance = &self.program.instances[*id];
                instance.args.iter().flatten().for_each(|arg| self.expr(arg));
                self.locals(&instance.locals);
            }
            Local::Action(id) => {
                self.check_unused_action(*id);
                self.action(&self.program.actions[*id]);
            }
            Local::Table(id) => self.table(*id),
            Local::ValueSet(id) => self.check_unused_value_set(*id),
        }
    }

    fn table(&mut self, id: TableId) {
        let table = &self.program.tables[id];
        let silenced = self.sink.enter(&table.annotations);
        self.check_unused_table(id);
        table.keys.iter().for_each(|key| self.expr(&key.expr));
        self.check_entries(table);
        self.check_size(table);
        self.sink.leave(silenced);
    }

    fn block(&mut self, block: &'a Block) {
        let silenced = self.sink.enter(&block.annotations);
        self.stmts(&block.stmts);
        self.sink.leave(silenced);
    }

    fn stmts(&mut self, stmts: &'a [Stmt]) {
        self.check_sequence(stmts);
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        self.check_statement(stmt);
        match &stmt.kind {
            StmtKind::Local(local) => self.local(local),
            StmtKind::Assign { target, value } => {
                self.expr(target);
                self.expr(value);
            }
            StmtKind::Call(e) | StmtKind::Return(Some(e)) => self.expr(e),
            StmtKind::If { condition, .. } => self.expr(condition),
            StmtKind::SwitchValue { subject, .. } => self.expr(subject),
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
        blocks_of(stmt).into_iter().for_each(|block| self.block(block));
    }

    fn expr(&mut self, e: &'a Expr) {
        self.check_expression(e);
        for_each_part(e, &mut |part| self.expr(part));
    }
}
