//! Expressions: precedence climbing over prefix, infix and postfix operators.

use super::types::TypeNames;
use super::{Failed, Parsed, Parser, WithHeight, is_name};
use crate::ast::{Argument, BinaryOperator, Expr, ExprKind, Keyset, Type, UnaryOperator};
use crate::codes;
use crate::diag::Diagnostic;
use crate::literal;
use crate::token::{Keyword, TokenKind};
use base::Span;

/// The precedence of an infix operator; a higher number binds tighter. Unlike in C, `&`, `^` and `|` bind tighter than
/// comparisons.
pub(crate) fn precedence(operator: BinaryOperator) -> u32 {
    match operator {
        BinaryOperator::Or => 1,
        BinaryOperator::And => 2,
        BinaryOperator::Equal | BinaryOperator::NotEqual => 3,
        BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => 4,
        BinaryOperator::BitOr => 5,
        BinaryOperator::BitXor => 6,
        BinaryOperator::BitAnd => 7,
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => 8,
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::SaturatingAdd
        | BinaryOperator::SaturatingSubtract
        | BinaryOperator::Concatenate => 9,
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => 10,
    }
}

/// From this height on, a chain of operands is associated differently from how it is written: see [`Parser::chain`].
const CHAIN_HEIGHT_MIN: u32 = 256;

/// Whether `(a op b) op c` equals `a op (b op c)` for all operands of the operator, with the same effects in the same
/// order.
fn is_associative(operator: BinaryOperator) -> bool {
    matches!(
        operator,
        BinaryOperator::Add
            | BinaryOperator::Multiply
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
            | BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Concatenate
    )
}

impl Parser<'_> {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        Ok(self.expression_with_height()?.node)
    }

    /// Parses an expression and returns its height.
    pub(super) fn expression_with_height(&mut self) -> Parsed<WithHeight<Expr>> {
        self.nested(|this| {
            let condition = this.binary(0)?;
            if !this.take(TokenKind::Question) {
                return Ok(condition);
            }
            let then_value = this.expression_with_height()?;
            this.expect(TokenKind::Colon)?;
            let else_value = this.expression_with_height()?;
            let height = condition.height.max(then_value.height).max(else_value.height);
            let start = condition.node.span;
            let kind = ExprKind::Conditional {
                condition: Box::new(condition.node),
                then_value: Box::new(then_value.node),
                else_value: Box::new(else_value.node),
            };
            this.make(kind, start, height)
        })
    }

    /// An expression from `start` to here, one higher than its parts.
    fn make(&mut self, kind: ExprKind, start: Span, part_height: u32) -> Parsed<WithHeight<Expr>> {
        let span = self.span_from(start);
        self.with_height(Expr { kind, span }, span, part_height)
    }

    /// The infix operator that comes next, and its number of tokens.
    fn binary_operator(&self) -> Option<(BinaryOperator, usize)> {
        if self.at_joined_greater(TokenKind::Greater) {
            return Some((BinaryOperator::ShiftRight, 2));
        }
        if self.at_joined_greater(TokenKind::GreaterEqual) {
            return None;
        }
        Some((binary_operator_of(self.peek().kind)?, 1))
    }

    /// Parses infix operators whose precedence is greater than `precedence_min`.
    fn binary(&mut self, precedence_min: u32) -> Parsed<WithHeight<Expr>> {
        let mut left = self.unary()?;
        while let Some((operator, length)) = self.binary_operator() {
            if precedence(operator) <= precedence_min {
                break;
            }
            self.refuse_postfix_counting(operator)?;
            self.next += length;
            let is_chain = left.height >= CHAIN_HEIGHT_MIN && is_associative(operator);
            let right = if is_chain { self.chain(operator)? } else { self.right_operand(operator)? };
            left = self.join(operator, left, right)?;
        }
        Ok(left)
    }

    fn right_operand(&mut self, operator: BinaryOperator) -> Parsed<WithHeight<Expr>> {
        self.nested(|this| this.binary(precedence(operator)))
    }

    /// Joins two operands with an operator.
    fn join(
        &mut self,
        operator: BinaryOperator,
        left: WithHeight<Expr>,
        right: WithHeight<Expr>,
    ) -> Parsed<WithHeight<Expr>> {
        let height = left.height.max(right.height);
        let span = left.node.span.to(right.node.span);
        let kind = ExprKind::Binary { operator, left: Box::new(left.node), right: Box::new(right.node) };
        self.with_height(Expr { kind, span }, span, height)
    }

    /// Parses the rest of a long chain such as `a + b + c + ...` into a tree whose height is logarithmic in the chain's
    /// length. These operators are associative, and a tree as high as the chain would be too deep for code that
    /// recurses over it.
    fn chain(&mut self, operator: BinaryOperator) -> Parsed<WithHeight<Expr>> {
        // As in a binary counter, each part has at least twice as many operands as the part after it.
        let mut parts: Vec<(u32, WithHeight<Expr>)> = Vec::new();
        let mut whole = loop {
            let mut part = self.right_operand(operator)?;
            let mut rank = 0;
            while let Some((_, before)) = parts.pop_if(|(other, _)| *other == rank) {
                part = self.join(operator, before, part)?;
                rank += 1;
            }
            match self.binary_operator() {
                Some((next, length)) if next == operator => {
                    self.refuse_postfix_counting(operator)?;
                    self.next += length;
                    parts.push((rank, part));
                }
                _ => break part,
            }
        };
        while let Some((_, before)) = parts.pop() {
            whole = self.join(operator, before, whole)?;
        }
        Ok(whole)
    }

    /// Reports `x++` in an expression.
    fn refuse_postfix_counting(&mut self, operator: BinaryOperator) -> Parsed<()> {
        let has_no_right =
            matches!(self.peek_at(1).kind, TokenKind::Semicolon | TokenKind::RightParen | TokenKind::RightBracket);
        if operator != BinaryOperator::Concatenate || !has_no_right {
            return Ok(());
        }
        let help = "write `+ 1`, and the assignment as a statement of its own";
        self.mistaken(self.peek().span, "`++` joins two numbers bit by bit; it does not count", help)
    }

    /// Prefix operators and casts.
    fn unary(&mut self) -> Parsed<WithHeight<Expr>> {
        let token = self.peek();
        let operator = match token.kind {
            TokenKind::Not => UnaryOperator::Not,
            TokenKind::Tilde => UnaryOperator::Complement,
            TokenKind::Minus => UnaryOperator::Negate,
            TokenKind::Plus => UnaryOperator::Plus,
            TokenKind::LeftParen if self.at_cast() => return self.nested(Self::cast),
            _ => return self.postfix(TypeNames::Declared),
        };
        self.bump();
        let operand = self.nested(Self::unary)?;
        let kind = ExprKind::Unary { operator, operand: Box::new(operand.node) };
        self.make(kind, token.span, operand.height)
    }

    /// Whether `(T)` comes next, with a keyword type, or with a name that can only be a type before an operand.
    fn at_cast(&self) -> bool {
        let is_close = |index: &usize| self.token(*index).kind == TokenKind::RightParen;
        if self.skip_type(self.next + 1, TypeNames::Declared).filter(is_close).is_some() {
            return true;
        }
        let Some(close) = self.skip_type(self.next + 1, TypeNames::Any).filter(is_close) else { return false };
        let operand = self.token(close + 1);
        is_name(&operand) && !operand.is_first_on_line || operand.kind == TokenKind::Integer
    }

    fn cast(&mut self) -> Parsed<WithHeight<Expr>> {
        let open = self.expect(TokenKind::LeftParen)?.span;
        let type_ref = self.type_with_height()?;
        self.expect_close(TokenKind::RightParen, open)?;
        let operand = self.unary()?;
        let height = type_ref.height.max(operand.height);
        let kind = ExprKind::Cast { type_ref: Box::new(type_ref.node), operand: Box::new(operand.node) };
        self.make(kind, open, height)
    }

    /// Reports `10.0.0.1`; the first number was parsed.
    fn refuse_address(&mut self, first: &Expr) -> Parsed<()> {
        let ExprKind::Integer(number) = &first.kind else { return Ok(()) };
        let mut address = u32::from(u8::try_from(&number.value).unwrap_or_default());
        for pair in 0..3 {
            let (dot, digits) = (self.peek_at(2 * pair), self.peek_at(2 * pair + 1));
            let Ok(byte) = digits.text(&self.names).parse::<u8>() else { return Ok(()) };
            if dot.kind != TokenKind::Dot || digits.kind != TokenKind::Integer {
                return Ok(());
            }
            address = address << 8 | u32::from(byte);
        }
        let span = first.span.to(self.peek_at(5).span);
        let help = format!("write the address as a number: `32w0x{address:08X}`");
        self.mistaken(span, "P4 has no notation for addresses", &help)
    }

    /// Members, indices, slices and calls. `names` defines which names count as type arguments.
    pub(super) fn postfix(&mut self, names: TypeNames) -> Parsed<WithHeight<Expr>> {
        let mut base = self.primary()?;
        let is_type = matches!(base.node.kind, ExprKind::Type(_));
        if is_type && !matches!(self.peek().kind, TokenKind::Dot | TokenKind::LeftParen) {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                base.node.span,
                format!("a type is not a value: expected `.` or `(` after it, found {}", self.found()),
            )
            .label("this is a type")
            .help("write `T()` for an instance of a parser, control or extern `T`, `T.a` for a member of an enum");
            self.report(diagnostic);
            return Err(Failed);
        }
        loop {
            let start = base.node.span;
            match self.peek().kind {
                TokenKind::Dot => {
                    self.refuse_address(&base.node)?;
                    self.bump();
                    let member = self.name()?;
                    let kind = ExprKind::Member { base: Box::new(base.node), member };
                    base = self.make(kind, start, base.height)?;
                }
                TokenKind::LeftBracket => base = self.subscript(base)?,
                TokenKind::LeftParen => base = self.call(base, WithHeight { node: Vec::new(), height: 0 })?,
                TokenKind::Less if self.at_type_arguments_of_call(&base.node, names) => {
                    let type_arguments = self.type_arguments()?;
                    base = self.call(base, type_arguments)?;
                }
                _ => return Ok(base),
            }
        }
    }

    /// Whether `<T, ...>(` comes next, after something that can be called.
    fn at_type_arguments_of_call(&self, callee: &Expr, names: TypeNames) -> bool {
        matches!(callee.kind, ExprKind::Name(_) | ExprKind::Member { .. })
            && self
                .skip_type_arguments(self.next, names)
                .is_some_and(|end| self.token(end).kind == TokenKind::LeftParen)
    }

    /// `[index]`, `[high:low]` or `[low +: width]`
    fn subscript(&mut self, base: WithHeight<Expr>) -> Parsed<WithHeight<Expr>> {
        let open = self.expect(TokenKind::LeftBracket)?.span;
        let first = self.expression_with_height()?;
        let mut height = base.height.max(first.height);
        let start = base.node.span;
        let (base, first) = (Box::new(base.node), Box::new(first.node));
        let kind = match self.peek().kind {
            separator @ (TokenKind::Colon | TokenKind::PlusColon) => {
                self.bump();
                let second = self.expression_with_height()?;
                height = height.max(second.height);
                let second = Box::new(second.node);
                match separator {
                    TokenKind::Colon => ExprKind::Slice { base, high: first, low: second },
                    _ => ExprKind::IndexedSlice { base, low: first, width: second },
                }
            }
            _ => ExprKind::Index { base, index: first },
        };
        self.expect_close(TokenKind::RightBracket, open)?;
        self.make(kind, start, height)
    }

    /// `(arguments)`
    fn call(&mut self, callee: WithHeight<Expr>, type_arguments: WithHeight<Vec<Type>>) -> Parsed<WithHeight<Expr>> {
        let arguments = self.arguments_with_height()?;
        let height = callee.height.max(arguments.height).max(type_arguments.height);
        let start = callee.node.span;
        let kind = ExprKind::Call {
            callee: Box::new(callee.node),
            type_arguments: type_arguments.node,
            arguments: arguments.node,
        };
        self.make(kind, start, height)
    }

    /// `(a, x = b, _)`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Argument>> {
        Ok(self.arguments_with_height()?.node)
    }

    fn arguments_with_height(&mut self) -> Parsed<WithHeight<Vec<Argument>>> {
        let open = self.expect(TokenKind::LeftParen)?.span;
        let mut height = 0;
        let arguments = self.separated(TokenKind::RightParen, false, |this| {
            let start = this.peek().span;
            let mut name = None;
            if this.at_key_value() {
                name = Some(this.name()?);
                this.bump();
            }
            let value = match this.take_dont_care() {
                Some(value) => value,
                None => {
                    let value = this.expression_with_height()?;
                    height = height.max(value.height);
                    value.node
                }
            };
            Ok(Argument { name, value, span: this.span_from(start) })
        })?;
        self.expect_close(TokenKind::RightParen, open)?;
        Ok(WithHeight { node: arguments, height })
    }

    fn take_dont_care(&mut self) -> Option<Expr> {
        let span = self.peek().span;
        self.take_keyword(Keyword::Underscore).then_some(Expr { kind: ExprKind::DontCare, span })
    }

    /// Names, literals, lists and expressions in parentheses.
    fn primary(&mut self) -> Parsed<WithHeight<Expr>> {
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::Integer => return self.integer(),
            TokenKind::String | TokenKind::UnterminatedString => return self.string(),
            TokenKind::LeftBrace => return self.nested(Self::list),
            TokenKind::LeftParen => {
                self.bump();
                let mut inner = self.expression_with_height()?;
                self.expect_close(TokenKind::RightParen, token.span)?;
                inner.node.span = self.span_from(token.span);
                return Ok(inner);
            }
            TokenKind::Dots => ExprKind::Dots,
            TokenKind::Dot => return self.primary_name(),
            TokenKind::Word => match token.keyword() {
                Some(Keyword::True) => ExprKind::Bool(true),
                Some(Keyword::False) => ExprKind::Bool(false),
                Some(Keyword::This) => ExprKind::This,
                Some(
                    Keyword::Error
                    | Keyword::Bit
                    | Keyword::Int
                    | Keyword::Varbit
                    | Keyword::Bool
                    | Keyword::String
                    | Keyword::Tuple
                    | Keyword::MatchKind,
                ) => return self.primary_type(),
                Some(Keyword::List) if self.peek_at(1).kind == TokenKind::Less => return self.primary_type(),
                _ if is_name(&token) => return self.primary_name(),
                _ => return self.unexpected("an expression"),
            },
            _ => return self.unexpected("an expression"),
        };
        self.bump();
        self.make(kind, token.span, 0)
    }

    fn primary_type(&mut self) -> Parsed<WithHeight<Expr>> {
        let type_ref = self.nested(Self::element_type)?;
        let span = type_ref.node.span;
        self.make(ExprKind::Type(Box::new(type_ref.node)), span, type_ref.height)
    }

    /// A name: of a type, possibly with type arguments, or another.
    pub(super) fn primary_name(&mut self) -> Parsed<WithHeight<Expr>> {
        if self.at_type_name() {
            return self.primary_type();
        }
        let path = self.path()?;
        let span = path.span;
        self.make(ExprKind::Name(path), span, 0)
    }

    pub(super) fn integer(&mut self) -> Parsed<WithHeight<Expr>> {
        let token = self.bump();
        let text = self.names.text(token.symbol).clone();
        let value = literal::parse_integer(&text).unwrap_or_else(|reason| {
            let message = "this is not an integer literal";
            self.report(Diagnostic::error(codes::INVALID_INTEGER, token.span, message).label(reason));
            crate::ast::IntegerLiteral {
                value: Default::default(),
                width: None,
                is_signed: false,
                base: crate::ast::Base::Decimal,
            }
        });
        self.make(ExprKind::Integer(value), token.span, 0)
    }

    fn string(&mut self) -> Parsed<WithHeight<Expr>> {
        let token = self.bump();
        let (text, unknown_escape) = literal::unescape(self.names.text(token.symbol));
        if let Some(character) = unknown_escape {
            let message = format!("there is no escape `\\{}`", character.escape_default());
            let diagnostic = Diagnostic::error(codes::INVALID_ESCAPE, token.span, message)
                .help("the escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\r`");
            self.report(diagnostic);
        }
        self.make(ExprKind::String(text.into()), token.span, 0)
    }

    /// `{ a, b }`, `{ x = a, ... }` or `{#}`
    fn list(&mut self) -> Parsed<WithHeight<Expr>> {
        let open = self.expect(TokenKind::LeftBrace)?.span;
        let close = TokenKind::RightBrace;
        let mut height = 0;
        let kind = if self.take(TokenKind::Hash) {
            ExprKind::Invalid
        } else if self.at_key_value() {
            self.struct_fields(&mut height)?
        } else {
            let mut has_dots = false;
            let elements = self.separated(close, true, |this| {
                if has_dots {
                    this.refuse_after_dots()?;
                }
                has_dots = this.at(TokenKind::Dots);
                let element = this.expression_with_height()?;
                height = height.max(element.height);
                Ok(element.node)
            })?;
            ExprKind::List(elements)
        };
        self.expect_close(close, open)?;
        self.make(kind, open, height)
    }

    fn struct_fields(&mut self, height: &mut u32) -> Parsed<ExprKind> {
        let mut fields = Vec::new();
        let mut has_dots = false;
        while !self.at(TokenKind::RightBrace) {
            if self.take(TokenKind::Dots) {
                has_dots = true;
                self.take(TokenKind::Comma);
                self.refuse_after_dots()?;
                break;
            }
            let key = self.name()?;
            self.expect(TokenKind::Equal)?;
            let value = self.expression_with_height()?;
            *height = (*height).max(value.height);
            let span = self.span_from(key.span);
            fields.push(crate::ast::KeyValue { key, value: value.node, span });
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        Ok(ExprKind::Struct { fields, has_dots })
    }

    /// Reports fields after the `...` that stands for the rest of them.
    fn refuse_after_dots(&mut self) -> Parsed<()> {
        if !self.at_key_value() {
            return Ok(());
        }
        let help = "write it last: `{ a = 1, ... }`";
        self.mistaken(self.peek().span, "`...` stands for all other fields; nothing can follow it", help)
    }

    /// A keyset: `a`, `a &&& b`, `_`, or `(a, b)`. It ends before a colon.
    pub(super) fn keyset(&mut self) -> Parsed<Keyset> {
        let open = self.peek();
        let is_tuple = open.kind == TokenKind::LeftParen
            && self.skip_brackets(self.next).is_some_and(|end| self.token(end).kind == TokenKind::Colon);
        if !is_tuple {
            let element = self.keyset_element()?;
            let span = element.span;
            return Ok(Keyset { elements: vec![element], span });
        }
        self.bump();
        let mut elements = vec![self.keyset_element()?];
        while self.take(TokenKind::Comma) {
            elements.push(self.keyset_element()?);
        }
        self.expect_close(TokenKind::RightParen, open.span)?;
        Ok(Keyset { elements, span: self.span_from(open.span) })
    }

    fn keyset_element(&mut self) -> Parsed<Expr> {
        let span = self.peek().span;
        if let Some(dont_care) = self.take_dont_care() {
            return Ok(dont_care);
        }
        if self.take_keyword(Keyword::Default) {
            return Ok(Expr { kind: ExprKind::Default, span });
        }
        let first = self.expression_with_height()?;
        if self.take(TokenKind::Mask) {
            let mask = self.expression_with_height()?;
            let height = first.height.max(mask.height);
            let kind = ExprKind::Mask { value: Box::new(first.node), mask: Box::new(mask.node) };
            return Ok(self.make(kind, span, height)?.node);
        }
        Ok(self.range_from(first)?.node)
    }

    /// `low .. high` if `..` comes next, otherwise `low` alone.
    pub(super) fn range_from(&mut self, low: WithHeight<Expr>) -> Parsed<WithHeight<Expr>> {
        if !self.take(TokenKind::DotDot) {
            return Ok(low);
        }
        let high = self.expression_with_height()?;
        let height = low.height.max(high.height);
        let start = low.node.span;
        let kind = ExprKind::Range { low: Box::new(low.node), high: Box::new(high.node) };
        self.make(kind, start, height)
    }
}

/// The infix operator for a single token; `>>` is two.
fn binary_operator_of(kind: TokenKind) -> Option<BinaryOperator> {
    Some(match kind {
        TokenKind::Star => BinaryOperator::Multiply,
        TokenKind::Slash => BinaryOperator::Divide,
        TokenKind::Percent => BinaryOperator::Modulo,
        TokenKind::Plus => BinaryOperator::Add,
        TokenKind::Minus => BinaryOperator::Subtract,
        TokenKind::SaturatingPlus => BinaryOperator::SaturatingAdd,
        TokenKind::SaturatingMinus => BinaryOperator::SaturatingSubtract,
        TokenKind::PlusPlus => BinaryOperator::Concatenate,
        TokenKind::ShiftLeft => BinaryOperator::ShiftLeft,
        TokenKind::Less => BinaryOperator::Less,
        TokenKind::LessEqual => BinaryOperator::LessOrEqual,
        TokenKind::Greater => BinaryOperator::Greater,
        TokenKind::GreaterEqual => BinaryOperator::GreaterOrEqual,
        TokenKind::EqualEqual => BinaryOperator::Equal,
        TokenKind::NotEqual => BinaryOperator::NotEqual,
        TokenKind::And => BinaryOperator::BitAnd,
        TokenKind::Caret => BinaryOperator::BitXor,
        TokenKind::Or => BinaryOperator::BitOr,
        TokenKind::AndAnd => BinaryOperator::And,
        TokenKind::OrOr => BinaryOperator::Or,
        _ => return None,
    })
}
