//! Statements as P4 text.

use super::Printer;
use crate::ast::{Block, ForInLoop, ForLoop, Statement, StatementKind, SwitchCase, Variable};

impl Printer {
    pub(super) fn block(&mut self, block: &Block) {
        self.annotations(&block.annotations);
        self.braced(&block.statements, |this, statement| {
            this.statement(statement);
            this.put("\n");
        });
    }

    pub(super) fn variable(&mut self, it: &Variable) {
        self.typed_name(&it.type_ref, &it.name);
        if let Some(value) = &it.value {
            self.put(" = ");
            self.expression(value);
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Empty => self.put(";"),
            StatementKind::Block(block) => self.block(block),
            StatementKind::Declaration(declaration) => self.declaration(declaration),
            StatementKind::Assignment { .. } | StatementKind::Call(_) => {
                self.simple_statement(statement);
                self.put(";");
            }
            StatementKind::DirectApplication { type_ref, arguments } => {
                self.type_ref(type_ref);
                self.put(".apply");
                self.arguments(arguments);
                self.put(";");
            }
            StatementKind::If { condition, then_branch, else_branch } => {
                self.put("if (");
                self.expression(condition);
                self.put(") ");
                self.statement(then_branch);
                if let Some(else_branch) = else_branch {
                    self.put(" else ");
                    self.statement(else_branch);
                }
            }
            StatementKind::Switch { subject, cases } => {
                self.put("switch (");
                self.expression(subject);
                self.put(") ");
                self.braced(cases, Self::switch_case);
            }
            StatementKind::For(it) => self.for_loop(it),
            StatementKind::ForIn(it) => self.for_in_loop(it),
            StatementKind::Break => self.put("break;"),
            StatementKind::Continue => self.put("continue;"),
            StatementKind::Return(None) => self.put("return;"),
            StatementKind::Return(Some(value)) => {
                self.put("return ");
                self.expression(value);
                self.put(";");
            }
            StatementKind::Exit => self.put("exit;"),
        }
    }

    fn switch_case(&mut self, case: &SwitchCase) {
        self.expression(&case.label);
        self.put(":");
        if let Some(body) = &case.body {
            self.put(" ");
            self.block(body);
        }
        self.put("\n");
    }

    /// A statement in the head of a loop, without semicolon.
    fn simple_statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assignment { target, operator, value } => {
                self.expression(target);
                self.put(" ");
                self.put(operator.map_or("", |operator| operator.as_str()));
                self.put("= ");
                self.expression(value);
            }
            StatementKind::Call(call) => self.expression(call),
            StatementKind::Declaration(declaration) => {
                if let crate::ast::DeclarationKind::Variable(variable) = &declaration.kind {
                    self.annotations(&declaration.annotations);
                    self.variable(variable);
                }
            }
            StatementKind::DirectApplication { type_ref, arguments } => {
                self.type_ref(type_ref);
                self.put(".apply");
                self.arguments(arguments);
            }
            _ => {}
        }
    }

    fn for_loop(&mut self, it: &ForLoop) {
        self.annotations(&it.annotations);
        self.put("for (");
        self.joined(&it.init, ", ", Self::simple_statement);
        self.put("; ");
        self.expression(&it.condition);
        self.put("; ");
        self.joined(&it.update, ", ", Self::simple_statement);
        self.put(") ");
        self.statement(&it.body);
    }

    fn for_in_loop(&mut self, it: &ForInLoop) {
        self.annotations(&it.annotations);
        self.put("for (");
        self.typed_name(&it.type_ref, &it.name);
        self.put(" in ");
        self.expression(&it.collection);
        self.put(") ");
        self.statement(&it.body);
    }
}
