//! Controls.

use super::{Parsed, Parser};
use crate::ast::{ApplyCase, Control, Statement, StatementKind};

impl Parser<'_> {
    /// `control name { ... }`
    pub(super) fn control(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of a control")?;
        let body = self.statements()?;
        self.program.controls.push(Control { name, body });
        Ok(())
    }

    /// `{ ... }`
    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        self.nested(|p| {
            p.expect("{")?;
            let mut statements = Vec::new();
            while !p.take("}") {
                p.pragmas();
                if p.take(";") {
                    continue;
                }
                statements.push(p.statement()?);
            }
            Ok(statements)
        })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.peek().span;
        let kind = match &*self.peek().text {
            "if" => self.condition()?,
            "apply" => self.application()?,
            _ => {
                let name = self.name("a statement")?;
                self.expect("(")?;
                self.expect(")")?;
                self.expect(";")?;
                StatementKind::Control(name)
            }
        };
        Ok(Statement { kind, span: self.span_from(start) })
    }

    fn condition(&mut self) -> Parsed<StatementKind> {
        self.expect_word("if")?;
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        let then_body = self.branch()?;
        let else_body = if self.take_word("else") { self.branch()? } else { Vec::new() };
        Ok(StatementKind::If { condition, then_body, else_body })
    }

    /// A block, or one statement.
    fn branch(&mut self) -> Parsed<Vec<Statement>> {
        if self.at("{") { self.statements() } else { Ok(vec![self.nested(Self::statement)?]) }
    }

    /// `apply(table);` or `apply(table) { hit { ... } ... }`
    fn application(&mut self) -> Parsed<StatementKind> {
        self.expect_word("apply")?;
        self.expect("(")?;
        let table = self.name("the name of a table")?;
        self.expect(")")?;
        let mut cases = Vec::new();
        if self.take("{") {
            while !self.take("}") {
                self.pragmas();
                let mut labels = vec![self.name("`hit`, `miss`, `default` or the name of an action")?];
                while self.take(",") {
                    labels.push(self.name("the name of an action")?);
                }
                let body = self.statements()?;
                cases.push(ApplyCase { labels, body });
            }
            self.take(";");
        } else {
            self.expect(";")?;
        }
        Ok(StatementKind::Apply { table, cases })
    }
}
