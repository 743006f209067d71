//! Controls.

use super::{Failed, Parsed, Parser};
use crate::ast::{ApplyCase, Call, Control, Statement, StatementKind};
use crate::codes;
use syntax::diag::Diagnostic;

/// The longest chain of `else if`. The tree is as high as the chain is long, which costs little for each `else if`.
const ELSE_IFS_MAX: usize = 4096;

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
            "return" if &*self.peek_at(1).text == ";" => {
                self.bump();
                self.bump();
                StatementKind::Return
            }
            _ => {
                self.refuse_variable()?;
                let name = self.name("a statement")?;
                if self.take(".") {
                    self.method_call(name)?
                } else {
                    self.expect("(")?;
                    self.expect(")")?;
                    self.expect(";")?;
                    StatementKind::Control(name)
                }
            }
        };
        Ok(Statement { kind, span: self.span_from(start) })
    }

    /// `object.method(arguments);` after the dot.
    fn method_call(&mut self, object: crate::ast::Ident) -> Parsed<StatementKind> {
        let start = object.span;
        let name = self.name("the name of a method")?;
        if self.at("=") {
            let help = "write the field with `modify_field` in an action, and apply a table that runs the action";
            return self.of_other_form(self.peek().span, "a control of P4_14 does not assign", help);
        }
        let arguments = self.arguments()?;
        self.expect(";")?;
        Ok(StatementKind::Call(Call { object: Some(object), name, arguments, span: self.span_from(start) }))
    }

    /// `if (...) ...` with all `else if (...) ...` that follow, in a loop.
    fn condition(&mut self) -> Parsed<StatementKind> {
        let mut arms = Vec::new();
        let mut rest = Vec::new();
        loop {
            if arms.len() >= ELSE_IFS_MAX {
                let message = format!("these are more than {ELSE_IFS_MAX} `else if` in a row");
                self.diagnostics.push(Diagnostic::error(codes::NESTING_LIMIT, self.peek().span, message));
                return Err(Failed);
            }
            let start = self.peek().span;
            self.expect_word("if")?;
            self.expect("(")?;
            let condition = self.expression()?;
            self.expect(")")?;
            arms.push((start, condition, self.branch()?));
            if !self.take_word("else") {
                break;
            }
            if !self.at_word("if") {
                rest = self.branch()?;
                break;
            }
        }
        let end = self.span_from(arms[0].0);
        let (_, condition, then_body) = arms.remove(0);
        while let Some((start, condition, then_body)) = arms.pop() {
            let kind = StatementKind::If { condition, then_body, else_body: rest };
            rest = vec![Statement { kind, span: start.to(end) }];
        }
        Ok(StatementKind::If { condition, then_body, else_body: rest })
    }

    /// A block, or one statement.
    fn branch(&mut self) -> Parsed<Vec<Statement>> {
        if self.at("{") { self.statements() } else { Ok(vec![self.nested(Self::statement)?]) }
    }

    /// `apply(table);` or `apply(table) { hit { ... } ... }`
    fn application(&mut self) -> Parsed<StatementKind> {
        let word = self.expect_word("apply")?;
        if self.at("{") {
            let help = "write the statements in the braces of the control; if the program is P4_16, choose the language \
                        with `--std p4-16`";
            return self.of_other_form(word, "a control of P4_14 has no `apply` block", help);
        }
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
