//! Statements.

use super::types::TypeNames;
use super::{Failed, Meaning, Parsed, Parser, is_name};
use crate::ast::{
    Annotation, BinaryOperator, Block, Constant, Declaration, DeclarationKind, Expr, ExprKind, ForInLoop, ForLoop,
    Ident, Instantiation, Statement, StatementKind, SwitchCase, Type, TypeKind, Variable,
};
use crate::codes;
use crate::diag::Diagnostic;
use crate::token::{Keyword, TokenKind};
use base::Span;
use base::limits::{ELSE_IFS_PER_LEVEL, NESTING_MAX};

/// The minimum nesting that must remain for the branches of an `else if` chain. If less remains, the whole chain is
/// rejected with one error, and not each of its branches.
const BRANCH_DEPTH_MIN: u32 = 64;

impl Parser<'_> {
    /// `{ ... }`, in a scope of its own.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        let annotations = self.annotations()?;
        self.block_after(annotations)
    }

    fn block_after(&mut self, annotations: Vec<Annotation>) -> Parsed<Block> {
        let (statements, span) = self.scoped(|this| this.braced(Self::statement))?;
        Ok(Block { annotations, statements, span })
    }

    /// Any statement, or a declaration in the position of a statement.
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        self.nested(Self::statement_inner)
    }

    fn statement_inner(&mut self) -> Parsed<Statement> {
        let annotations = self.annotations()?;
        let token = self.peek();
        let start = token.span;
        if self.at_local_declaration() {
            let declaration = self.local_declaration(annotations)?;
            let span = declaration.span;
            return Ok(Statement { kind: StatementKind::Declaration(Box::new(declaration)), span });
        }
        if token.kind == TokenKind::LeftBrace {
            let block = self.block_after(annotations)?;
            let span = block.span;
            return Ok(Statement { kind: StatementKind::Block(block), span });
        }
        if self.at_keyword(Keyword::For) {
            let kind = self.scoped(|this| this.for_loop(annotations))?;
            return Ok(Statement { kind, span: self.span_from(start) });
        }
        // No annotation has a defined meaning before other statements; they are dropped.
        let kind = match token.keyword() {
            Some(Keyword::If) => return self.conditional(),
            Some(Keyword::Switch) => self.switch()?,
            Some(Keyword::Return) => self.return_statement()?,
            Some(Keyword::Exit) => self.keyword_statement(StatementKind::Exit)?,
            Some(Keyword::Break) => self.keyword_statement(StatementKind::Break)?,
            Some(Keyword::Continue) => self.keyword_statement(StatementKind::Continue)?,
            Some(Keyword::Action | Keyword::Table) => {
                let text = token.text(&self.names);
                return self.misplaced(start, &format!("a declaration with `{text}` cannot stand among statements"));
            }
            _ if self.take(TokenKind::Semicolon) => StatementKind::Empty,
            None if token.kind == TokenKind::Word => {
                self.refuse_other_loops()?;
                return self.simple_statement_or_instance();
            }
            _ => return self.simple_statement_or_instance(),
        };
        Ok(Statement { kind, span: self.span_from(start) })
    }

    fn keyword_statement(&mut self, kind: StatementKind) -> Parsed<StatementKind> {
        self.bump();
        self.expect_semicolon()?;
        Ok(kind)
    }

    fn return_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        // Before the end of a line or block, the semicolon after `return` is missing, not a value.
        let has_value = !self.at(TokenKind::Semicolon) && !self.at(TokenKind::RightBrace);
        let value = if has_value { Some(self.expression()?) } else { None };
        self.expect_semicolon()?;
        Ok(StatementKind::Return(value))
    }

    /// Reports a construct that is not allowed here.
    pub(super) fn misplaced<T>(&mut self, span: Span, message: &str) -> Parsed<T> {
        self.report(Diagnostic::error(codes::MISPLACED_DECLARATION, span, message));
        Err(Failed)
    }

    /// Whether the declaration of a constant, a variable or an instance comes next.
    pub(super) fn at_local_declaration(&self) -> bool {
        let token = self.peek();
        match token.keyword() {
            Some(Keyword::Const) => return true,
            Some(Keyword::Bool | Keyword::Bit | Keyword::Int | Keyword::Varbit | Keyword::String | Keyword::Tuple) => {
                return true;
            }
            Some(Keyword::Error) => return self.peek_at(1).kind != TokenKind::Dot,
            _ => {}
        }
        let Some(end) = self.skip_type(self.next, TypeNames::Any) else { return false };
        let after = self.token(end);
        is_name(&after) || (after.kind == TokenKind::LeftParen && self.at_type_name())
    }

    /// Whether the declaration of an instance of an undeclared type comes next. No other declaration has this form.
    pub(super) fn at_unknown_instance(&self) -> bool {
        let arguments = self.skip_type(self.next, TypeNames::Any);
        arguments
            .filter(|open| self.token(*open).kind == TokenKind::LeftParen)
            .is_some_and(|open| self.skip_brackets(open).is_some_and(|end| is_name(&self.token(end))))
    }

    /// `const T x = v;`, `T x;`, `T x = v;` or `T(a) x;`
    pub(super) fn local_declaration(&mut self, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        let start = self.peek().span;
        let kind = if self.at_keyword(Keyword::Const) {
            self.constant()?
        } else {
            let type_ref = self.type_ref()?;
            if self.at(TokenKind::LeftParen) {
                self.instantiation(type_ref)?
            } else {
                let kind = self.variable(type_ref)?;
                self.expect_semicolon()?;
                kind
            }
        };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// `const T name = value;`
    pub(super) fn constant(&mut self) -> Parsed<DeclarationKind> {
        self.expect_keyword(Keyword::Const)?;
        let type_ref = self.type_ref()?;
        let symbol = self.peek().symbol;
        let name = self.name()?;
        self.expect(TokenKind::Equal)?;
        let value = self.expression()?;
        self.scopes.declare(symbol, Meaning::Object);
        self.expect_semicolon()?;
        Ok(DeclarationKind::Constant(Constant { type_ref, name, value }))
    }

    /// `name` or `name = value` after a type; no semicolon.
    pub(super) fn variable(&mut self, type_ref: Type) -> Parsed<DeclarationKind> {
        let symbol = self.peek().symbol;
        let name = self.name()?;
        let type_ref = self.sizes_behind_name(type_ref)?;
        let value = if self.take(TokenKind::Equal) { Some(self.expression()?) } else { None };
        self.scopes.declare(symbol, Meaning::Object);
        Ok(DeclarationKind::Variable(Variable { type_ref, name, value }))
    }

    /// `(arguments) name;` or `(arguments) name = { ... };` after a type.
    pub(super) fn instantiation(&mut self, type_ref: Type) -> Parsed<DeclarationKind> {
        let arguments = self.arguments()?;
        let name = self.declared_name(Meaning::Object)?;
        let mut initializer = None;
        if self.take(TokenKind::Equal) {
            let (declarations, _) = self.scoped(|this| this.braced(Self::object_declaration))?;
            initializer = Some(declarations);
        }
        self.expect_semicolon()?;
        Ok(DeclarationKind::Instantiation(Instantiation { type_ref, arguments, name, initializer }))
    }

    /// A function or an instance in the initializer of an instance.
    fn object_declaration(&mut self) -> Parsed<Declaration> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let type_ref = self.type_ref()?;
        let kind = if self.at(TokenKind::LeftParen) {
            self.nested(|this| this.instantiation(type_ref))?
        } else {
            self.function(type_ref)?
        };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// `if (...) ...` with all `else if (...) ...` that follow, in a loop of any length.
    fn conditional(&mut self) -> Parsed<Statement> {
        let outer_depth = self.depth;
        let mut arms = Vec::new();
        let mut else_branch = None;
        loop {
            // The tree is as high as the chain is long, although a walk needs little stack for each `else if`.
            if arms.len() % ELSE_IFS_PER_LEVEL == ELSE_IFS_PER_LEVEL - 1 {
                self.depth += 1;
            }
            if !arms.is_empty() && self.depth + BRANCH_DEPTH_MIN > NESTING_MAX {
                let refused = self.too_deep(self.peek().span);
                self.skip_to_block_end();
                return refused;
            }
            let start = self.bump().span;
            let open = self.open_condition("if")?;
            let condition = self.expression()?;
            self.expect_close(TokenKind::RightParen, open)?;
            arms.push((start, condition, self.scoped(Self::branch)?));
            if self.at_elif() {
                let message = format!("there is no `{}`", self.peek().text(&self.names));
                self.report_mistake(self.peek().span, &message, "write `else if`");
                continue;
            }
            if !self.take_keyword(Keyword::Else) {
                break;
            }
            if !self.at_keyword(Keyword::If) {
                else_branch = Some(Box::new(self.scoped(Self::branch)?));
                break;
            }
        }
        self.depth = outer_depth;
        let mut rest = else_branch;
        let mut whole = None;
        while let Some((start, condition, then_branch)) = arms.pop() {
            let kind = StatementKind::If { condition, then_branch: Box::new(then_branch), else_branch: rest.take() };
            let statement = Statement { kind, span: self.span_from(start) };
            match arms.is_empty() {
                true => whole = Some(statement),
                false => rest = Some(Box::new(statement)),
            }
        }
        whole.ok_or(Failed)
    }

    /// Whether `elif (...) {` comes next, which other languages have in place of `else if`.
    fn at_elif(&self) -> bool {
        let is_word = matches!(&*self.peek().text(&self.names), "elif" | "elsif" | "elseif");
        is_word
            && self.peek_at(1).kind == TokenKind::LeftParen
            && self.skip_brackets(self.next + 1).is_some_and(|index| self.token(index).kind == TokenKind::LeftBrace)
    }

    /// Skips to the brace that closes the current block, because the text between would only give more errors.
    fn skip_to_block_end(&mut self) {
        let mut open = 0_usize;
        loop {
            match self.peek().kind {
                TokenKind::LeftBrace => open += 1,
                TokenKind::RightBrace if open == 0 => return,
                TokenKind::RightBrace => open -= 1,
                TokenKind::EndOfFile => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// The statement after `if (...)`, `else` or `for (...)`. A declaration there would be useless.
    fn branch(&mut self) -> Parsed<Statement> {
        if self.at_local_declaration() {
            return self.misplaced(self.peek().span, "a declaration cannot stand alone here, only within `{ }`");
        }
        self.statement()
    }

    fn switch(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let open = self.open_condition("switch")?;
        let subject = self.expression()?;
        self.expect_close(TokenKind::RightParen, open)?;
        let (cases, _) = self.braced(Self::switch_case)?;
        Ok(StatementKind::Switch { subject, cases })
    }

    /// The bracket after `if` or `switch`, which other languages do not need.
    fn open_condition(&mut self, keyword: &str) -> Parsed<Span> {
        if self.at(TokenKind::LeftParen) {
            return Ok(self.bump().span);
        }
        let message = format!("expected `(`, found {}", self.found());
        self.mistaken(self.peek().span, &message, &format!("write `{keyword} (...) {{`"))
    }

    fn switch_case(&mut self) -> Parsed<SwitchCase> {
        let start = self.peek().span;
        let label = if self.take_keyword(Keyword::Default) {
            Expr { kind: ExprKind::Default, span: start }
        } else {
            self.refuse_case()?;
            self.expression()?
        };
        self.expect(TokenKind::Colon)?;
        let has_body = matches!(self.peek().kind, TokenKind::LeftBrace | TokenKind::At);
        let body = if has_body { Some(self.block()?) } else { None };
        Ok(SwitchCase { label, body, span: self.span_from(start) })
    }

    /// Reports `case label:`, as C writes it.
    fn refuse_case(&mut self) -> Parsed<()> {
        let next = self.peek_at(1);
        let is_label = matches!(next.kind, TokenKind::Word | TokenKind::Integer | TokenKind::LeftParen);
        if self.peek().kind != TokenKind::Word || &*self.peek().text(&self.names) != "case" || !is_label {
            return Ok(());
        }
        self.mistaken(self.peek().span, "there is no `case`", "write the label alone: `6: { ... }`")
    }

    fn for_loop(&mut self, mut annotations: Vec<Annotation>) -> Parsed<StatementKind> {
        self.bump();
        let open = self.expect(TokenKind::LeftParen)?.span;
        let start = self.next;
        let inner = self.annotations()?;
        if self.at_for_in() {
            // The variable's annotations are kept with those of the loop.
            annotations.extend(inner);
            let type_ref = self.type_ref()?;
            let symbol = self.peek().symbol;
            let name = self.name()?;
            self.expect_keyword(Keyword::In)?;
            let low = self.expression_with_height()?;
            let collection = self.range_from(low)?.node;
            self.expect_close(TokenKind::RightParen, open)?;
            self.scopes.declare(symbol, Meaning::Object);
            let body = self.branch()?;
            let for_in = ForInLoop { annotations, type_ref, name, collection, body };
            return Ok(StatementKind::ForIn(Box::new(for_in)));
        }
        self.next = start;
        let init = self.separated(TokenKind::Semicolon, false, Self::for_init)?;
        self.expect(TokenKind::Semicolon)?;
        let condition = if self.at(TokenKind::Semicolon) {
            let span = self.peek().span;
            let help = "write `true` for a loop that only `break`, `return` or `exit` ends";
            self.report_mistake(span, "this `for` loop has no condition", help);
            Expr { kind: ExprKind::Bool(true), span }
        } else {
            self.expression()?
        };
        self.expect(TokenKind::Semicolon)?;
        let update = self.separated(TokenKind::RightParen, false, Self::simple_statement)?;
        self.expect_close(TokenKind::RightParen, open)?;
        let body = self.branch()?;
        Ok(StatementKind::For(Box::new(ForLoop { annotations, init, condition, update, body })))
    }

    /// Whether `T name in` comes next.
    fn at_for_in(&self) -> bool {
        self.skip_type(self.next, TypeNames::Any)
            .is_some_and(|end| is_name(&self.token(end)) && self.token(end + 1).keyword() == Some(Keyword::In))
    }

    /// A variable, an assignment or a call, without semicolon.
    fn for_init(&mut self) -> Parsed<Statement> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        if !self.at_local_declaration() {
            self.refuse_annotations(&annotations)?;
            return self.simple_statement();
        }
        let type_ref = self.type_ref()?;
        let kind = self.variable(type_ref)?;
        let span = self.span_from(start);
        let declaration = Declaration { annotations, kind, span };
        Ok(Statement { kind: StatementKind::Declaration(Box::new(declaration)), span })
    }

    /// An assignment or a call with its semicolon. `Unknown(arguments) name;` is an instance even though the type is
    /// not declared.
    fn simple_statement_or_instance(&mut self) -> Parsed<Statement> {
        let mut statement = self.simple_statement()?;
        if is_name(&self.peek())
            && !self.peek().is_first_on_line
            && let StatementKind::Call(Expr { kind: ExprKind::Call { callee, type_arguments, arguments }, .. }) =
                &statement.kind
            && let ExprKind::Name(base) = &callee.kind
        {
            let kind = if type_arguments.is_empty() {
                TypeKind::Named(base.clone())
            } else {
                TypeKind::Specialized { base: base.clone(), arguments: type_arguments.clone() }
            };
            let type_ref = Type { kind, span: callee.span };
            let arguments = arguments.clone();
            let name = self.declared_name(Meaning::Object)?;
            let instance = Instantiation { type_ref, arguments, name, initializer: None };
            let span = self.span_from(statement.span);
            let declaration =
                Declaration { annotations: Vec::new(), kind: DeclarationKind::Instantiation(instance), span };
            statement.kind = StatementKind::Declaration(Box::new(declaration));
        }
        self.expect_semicolon()?;
        statement.span = self.span_from(statement.span);
        Ok(statement)
    }

    /// An assignment or a call, without semicolon.
    fn simple_statement(&mut self) -> Parsed<Statement> {
        let start = self.peek().span;
        let is_expression = match self.peek().kind {
            TokenKind::Word => {
                is_name(&self.peek()) || matches!(self.peek().keyword(), Some(Keyword::This | Keyword::Error))
            }
            kind => matches!(kind, TokenKind::Dot | TokenKind::LeftParen | TokenKind::Integer | TokenKind::LeftBrace),
        };
        if !is_expression {
            self.refuse_counting("x")?;
            if self.at_keyword(Keyword::Transition) {
                let help = "choose the next state at the end: `transition select(...) { ... }`";
                return self.mistaken(start, "a `transition` ends a state, and cannot stand in a block", help);
            }
            return self.unexpected("a statement");
        }
        let target = self.postfix(TypeNames::Any)?.node;
        if let Some((operator, length)) = self.assignment_operator() {
            self.check_target(&target);
            self.next += length;
            let value = self.expression()?;
            let kind = StatementKind::Assignment { target, operator, value };
            return Ok(Statement { kind, span: self.span_from(start) });
        }
        if self.at(TokenKind::EqualEqual) {
            let diagnostic =
                Diagnostic::error(codes::EXPRESSION_STATEMENT, self.peek().span, "a comparison does nothing")
                    .label("this compares")
                    .help("write `=` to assign");
            self.report(diagnostic);
            return Err(Failed);
        }
        if !matches!(target.kind, ExprKind::Call { .. }) {
            let shown = if let ExprKind::Name(path) = &target.kind { path.name.name.clone() } else { "x".into() };
            self.refuse_counting(&shown)?;
            let is_end = matches!(self.peek().kind, TokenKind::Semicolon | TokenKind::RightBrace | TokenKind::Comma);
            if !is_end && !self.peek().is_first_on_line {
                return self.unexpected("`=` or `(`");
            }
            let diagnostic =
                Diagnostic::error(codes::EXPRESSION_STATEMENT, target.span, "this expression does nothing")
                    .label("a statement assigns or calls");
            self.report(match &target.kind {
                ExprKind::Name(path) => {
                    let shown = self.shown(&target, &path.name);
                    diagnostic.help(format!("write `{shown} = ...` to assign, or `{shown}()` to call"))
                }
                ExprKind::Member { member, .. } => {
                    let shown = self.shown(&target, member);
                    diagnostic.help(match member.as_str() {
                        "apply" | "setValid" | "setInvalid" => {
                            format!("a method is called with parentheses: `{shown}()`")
                        }
                        "push_front" | "pop_front" => format!("a method is called with parentheses: `{shown}(1)`"),
                        _ => format!("write `{shown} = ...` to assign"),
                    })
                }
                _ => diagnostic,
            });
            return Err(Failed);
        }
        Ok(Statement { kind: call_statement(target), span: self.span_from(start) })
    }

    /// The text of an expression, or only its last name if that is longer or from a macro.
    fn shown(&self, target: &Expr, name: &Ident) -> String {
        const CHARACTERS_MAX: usize = 40;
        let text = self.sources.text(target.span);
        let is_shown = target.span.origin.is_none() && text.len() <= CHARACTERS_MAX && !text.contains('\n');
        if is_shown { text.to_owned() } else { name.name.to_string() }
    }

    /// Reports `++` and `--`, which are statements in other languages.
    fn refuse_counting(&mut self, variable: &str) -> Parsed<()> {
        let (span, next) = (self.peek().span, self.peek_at(1));
        if self.at(TokenKind::PlusPlus) {
            let help = format!("write `{variable} = {variable} + 1`");
            return self.mistaken(span, "`++` joins two numbers bit by bit; it does not count", &help);
        }
        if self.at(TokenKind::Minus) && next.kind == TokenKind::Minus && !next.has_space_before {
            let help = format!("write `{variable} = {variable} - 1`");
            return self.mistaken(span.to(next.span), "there is no operator `--`", &help);
        }
        Ok(())
    }

    /// Reports `while (...) {` and `do {`.
    fn refuse_other_loops(&mut self) -> Parsed<()> {
        let token = self.peek();
        let text = self.names.text(token.symbol).clone();
        let is_block = |index: usize| self.token(index).kind == TokenKind::LeftBrace;
        let is_loop = match &*text {
            "while" => {
                self.peek_at(1).kind == TokenKind::LeftParen && self.skip_brackets(self.next + 1).is_some_and(is_block)
            }
            "do" => is_block(self.next + 1),
            _ => false,
        };
        if !is_loop {
            return Ok(());
        }
        let help = "P4 has `for (bit<8> i = 0; i < 4; i = i + 1) { }` and `for (bit<8> i in 0..3) { }`";
        self.mistaken(token.span, &format!("there is no `{text}` loop"), help)
    }

    /// `=` or an operator followed by `=`, with the number of tokens.
    fn assignment_operator(&self) -> Option<(Option<BinaryOperator>, usize)> {
        if self.at_joined_greater(TokenKind::GreaterEqual) {
            return Some((Some(BinaryOperator::ShiftRight), 2));
        }
        let operator = match self.peek().kind {
            TokenKind::Equal => None,
            TokenKind::PlusEqual => Some(BinaryOperator::Add),
            TokenKind::MinusEqual => Some(BinaryOperator::Subtract),
            TokenKind::StarEqual => Some(BinaryOperator::Multiply),
            TokenKind::SlashEqual => Some(BinaryOperator::Divide),
            TokenKind::PercentEqual => Some(BinaryOperator::Modulo),
            TokenKind::AndEqual => Some(BinaryOperator::BitAnd),
            TokenKind::OrEqual => Some(BinaryOperator::BitOr),
            TokenKind::CaretEqual => Some(BinaryOperator::BitXor),
            TokenKind::ShiftLeftEqual => Some(BinaryOperator::ShiftLeft),
            TokenKind::SaturatingPlusEqual => Some(BinaryOperator::SaturatingAdd),
            TokenKind::SaturatingMinusEqual => Some(BinaryOperator::SaturatingSubtract),
            _ => return None,
        };
        Some((operator, 1))
    }

    /// Reports an assignment to something that is not an l-value.
    fn check_target(&mut self, target: &Expr) {
        let mut place = target;
        loop {
            place = match &place.kind {
                ExprKind::Name(_) | ExprKind::This => return,
                ExprKind::Member { base, .. }
                | ExprKind::Index { base, .. }
                | ExprKind::Slice { base, .. }
                | ExprKind::IndexedSlice { base, .. } => base,
                _ => break,
            };
        }
        let diagnostic = Diagnostic::error(codes::INVALID_TARGET, target.span, "this cannot be assigned to")
            .label("not a variable, field, element or slice");
        self.report(diagnostic);
    }
}

/// A call as a statement; `T.apply(...)` creates an instance.
fn call_statement(call: Expr) -> StatementKind {
    if let ExprKind::Call { callee, type_arguments, arguments } = &call.kind
        && let ExprKind::Member { base, member } = &callee.kind
        && let ExprKind::Type(type_ref) = &base.kind
        && member.as_str() == "apply"
        && type_arguments.is_empty()
    {
        return StatementKind::DirectApplication { type_ref: (**type_ref).clone(), arguments: arguments.clone() };
    }
    StatementKind::Call(call)
}
