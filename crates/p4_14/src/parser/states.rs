//! Parser states, exceptions and value sets.

use super::{Parsed, Parser};
use crate::ast::{Exception, ParserState, SelectCase, SelectValue, StateEnd, StateStatement, Target, ValueSet};
use crate::codes;
use syntax::diag::Diagnostic;

impl Parser<'_> {
    /// `parser_value_set name;`
    pub(super) fn value_set(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of a value set")?;
        let mut it = ValueSet { name, size: None, pragmas: std::mem::take(&mut self.own_pragmas) };
        if self.take("{") {
            while !self.take("}") {
                let start = self.peek().span;
                if !self.take_word("size") && !self.take_word("parser_value_set_size") {
                    return self.unexpected("`size`");
                }
                let value = self.property()?;
                self.set(&mut it.size, value, "size", start);
            }
        } else {
            self.expect(";")?;
        }
        self.program.value_sets.push(it);
        Ok(())
    }

    /// `parser name { ... }`
    pub(super) fn state(&mut self) -> Parsed<()> {
        self.bump();
        let is_entry = self.own_pragmas.iter().any(|pragma| pragma.name.as_str() == "packet_entry");
        let name = self.name("the name of a parser state")?;
        let mut state = ParserState { name, statements: Vec::new(), end: None, is_entry };
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            let start = self.peek().span;
            if self.take_word("extract") {
                self.expect("(")?;
                let header = self.expression()?;
                self.expect(")")?;
                self.expect(";")?;
                state.statements.push(StateStatement::Extract(header));
            } else if self.at_word("set_metadata") {
                let (field, value) = self.set_statement()?;
                state.statements.push(StateStatement::Set(field, value));
            } else if self.at_word("return") || self.at_word("parse_error") {
                let end = self.state_end()?;
                if state.end.is_none() {
                    state.end = Some(end);
                } else {
                    let message = "the state has gone on already: this is never reached";
                    self.diagnostics.push(Diagnostic::warning(codes::NO_EFFECT, self.span_from(start), message));
                }
            } else if self.at_any_word() {
                let statement = self.other_statement()?;
                state.statements.push(statement);
            } else {
                return self.unexpected("`extract`, `set_metadata`, `return` or `parse_error`");
            }
        }
        self.program.states.push(state);
        Ok(())
    }

    /// `field = value;` or `object.method(arguments);`
    fn other_statement(&mut self) -> Parsed<StateStatement> {
        // A word alone is neither. Most likely it is the name of a statement that does not exist.
        if !matches!(&*self.peek_at(1).text, "." | "[" | "=") {
            return self.unexpected("`extract`, `set_metadata`, `return` or `parse_error`");
        }
        let call = self.action_statement()?;
        if call.object.is_none() && call.arguments.len() == 2 {
            let mut arguments = call.arguments.into_iter();
            if let (Some(field), Some(value)) = (arguments.next(), arguments.next()) {
                return Ok(StateStatement::Assign(field, value));
            }
            return self.unexpected("an assignment");
        }
        Ok(StateStatement::Call(call))
    }

    /// `set_metadata(field, value);`
    fn set_statement(&mut self) -> Parsed<(crate::ast::Expr, crate::ast::Expr)> {
        self.expect_word("set_metadata")?;
        self.expect("(")?;
        let field = self.expression()?;
        self.expect(",")?;
        let value = self.expression()?;
        self.expect(")")?;
        self.expect(";")?;
        Ok((field, value))
    }

    fn state_end(&mut self) -> Parsed<StateEnd> {
        let start = self.peek().span;
        let is_return = self.take_word("return");
        if is_return && self.at_word("select") && &*self.peek_at(1).text == "(" {
            self.bump();
            return self.select(start);
        }
        let target = self.target()?;
        self.expect(";")?;
        Ok(StateEnd::Go(target))
    }

    /// A state or control, or `parse_error` and an exception.
    fn target(&mut self) -> Parsed<Target> {
        let is_error = self.take_word("parse_error");
        let name = self.name("the name of a parser state or control")?;
        Ok(Target { is_error, name })
    }

    fn select(&mut self, start: base::Span) -> Parsed<StateEnd> {
        self.expect("(")?;
        let mut keys = vec![self.expression()?];
        while self.take(",") {
            keys.push(self.expression()?);
        }
        self.expect(")")?;
        let span = self.span_from(start);
        let mut cases = Vec::new();
        self.expect("{")?;
        while !self.take("}") {
            self.pragmas();
            cases.push(self.select_case()?);
        }
        self.take(";");
        Ok(StateEnd::Select { keys, cases, span })
    }

    fn select_case(&mut self) -> Parsed<SelectCase> {
        let start = self.peek().span;
        let mut values = Vec::new();
        loop {
            if self.at_word("default") {
                values.push(SelectValue::Default(self.bump().span));
            } else {
                values.push(self.select_value()?);
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(":")?;
        let target = self.target()?;
        self.expect(";")?;
        Ok(SelectCase { values, target, span: self.span_from(start) })
    }

    /// `value`, `value mask value`, or one of these for each key: `(value, value mask value)`.
    fn select_value(&mut self) -> Parsed<SelectValue> {
        let (start, span) = (self.next, self.peek().span);
        if self.take("(") {
            let mut values = vec![self.masked_value()?];
            while self.take(",") {
                values.push(self.masked_value()?);
            }
            if values.len() > 1 || values[0].1.is_some() {
                self.expect(")")?;
                return Ok(SelectValue::Tuple(values, self.span_from(span)));
            }
            // A single value in parentheses is an expression, or the beginning of one.
            self.next = start;
        }
        let (value, mask) = self.masked_value()?;
        Ok(SelectValue::Value(value, mask))
    }

    fn masked_value(&mut self) -> Parsed<(crate::ast::Expr, Option<crate::ast::Expr>)> {
        let value = self.expression()?;
        let mask = if self.take_word("mask") || self.take("&&&") { Some(self.expression()?) } else { None };
        Ok((value, mask))
    }

    /// `parser_exception name { set_metadata(...); return control; }`
    pub(super) fn exception(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("the name of an exception")?;
        let mut it = Exception { name, sets: Vec::new(), control: None };
        self.expect("{")?;
        let mut has_end = false;
        while !self.take("}") {
            self.pragmas();
            let start = self.peek().span;
            if self.at_word("set_metadata") {
                let set = self.set_statement()?;
                it.sets.push(set);
                continue;
            }
            if has_end {
                self.repeated("return", start);
            }
            has_end = true;
            if self.take_word("return") {
                it.control = Some(self.name("the name of a control")?);
            } else if !self.take_word("parser_drop") {
                return self.unexpected("`set_metadata`, `return` or `parser_drop`");
            }
            self.expect(";")?;
        }
        if !has_end {
            self.next -= 1;
            return self.unexpected("`return` or `parser_drop`");
        }
        self.program.exceptions.push(it);
        Ok(())
    }
}
