//! Expressions: numbers, fields, conditions.

use super::{Failed, Parsed, Parser};
use crate::ast::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use crate::codes;
use base::Span;
use num_bigint::{BigInt, Sign};
use syntax::LexemeKind;
use syntax::diag::Diagnostic;

/// The most digits of a number: more than the widest field needs in any base.
const DIGITS_MAX: usize = 2 * base::limits::WIDTH_BITS_MAX as usize;

/// The precedence of an operator; a greater number binds tighter. Unlike in C, bitwise operators bind tighter than
/// comparisons: the grammar only compares numbers, so `a & 4 == 4` has one meaning.
fn precedence(operator: BinaryOperator) -> u32 {
    match operator {
        BinaryOperator::Or => 1,
        BinaryOperator::And => 2,
        BinaryOperator::Equal | BinaryOperator::NotEqual => 4,
        BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => 5,
        BinaryOperator::BitOr => 6,
        BinaryOperator::BitXor => 7,
        BinaryOperator::BitAnd => 8,
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => 9,
        BinaryOperator::Add | BinaryOperator::Subtract => 10,
        _ => 11,
    }
}

/// `not` takes a comparison as its operand, unlike `!`.
const NOT_PRECEDENCE: u32 = 3;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.binary(1)
    }

    /// The operator that comes next, and its number of lexemes.
    fn binary_operator(&self) -> Option<(BinaryOperator, usize)> {
        let lexeme = self.peek();
        let operator = match (lexeme.kind, &*lexeme.text) {
            (LexemeKind::Word, "or") | (LexemeKind::Punctuation, "||") => BinaryOperator::Or,
            (LexemeKind::Word, "and") | (LexemeKind::Punctuation, "&&") => BinaryOperator::And,
            (LexemeKind::Punctuation, text) => match text {
                "|" => BinaryOperator::BitOr,
                "^" => BinaryOperator::BitXor,
                "&" => BinaryOperator::BitAnd,
                "==" => BinaryOperator::Equal,
                "!=" => BinaryOperator::NotEqual,
                "<" => BinaryOperator::Less,
                "<=" => BinaryOperator::LessOrEqual,
                ">=" => BinaryOperator::GreaterOrEqual,
                ">" => {
                    let second = self.peek_at(1);
                    let is_shift = &*second.text == ">" && !second.has_space_before;
                    if is_shift {
                        return Some((BinaryOperator::ShiftRight, 2));
                    }
                    BinaryOperator::Greater
                }
                "<<" => BinaryOperator::ShiftLeft,
                "+" => BinaryOperator::Add,
                "-" => BinaryOperator::Subtract,
                "*" => BinaryOperator::Multiply,
                "/" => BinaryOperator::Divide,
                "%" => BinaryOperator::Modulo,
                _ => return None,
            },
            _ => return None,
        };
        Some((operator, 1))
    }

    /// Operators that bind at least as tightly as `least`. Chains count as nesting, because their trees are high.
    fn binary(&mut self, least: u32) -> Parsed<Expr> {
        let outer = self.depth;
        let result = self.nested(|p| {
            let mut left = p.unary()?;
            while let Some((operator, count)) = p.binary_operator() {
                let own = precedence(operator);
                if own < least {
                    break;
                }
                for _ in 0..count {
                    p.bump();
                }
                p.depth += 1;
                let right = p.binary(own + 1)?;
                let span = left.span.to(right.span);
                left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
            }
            Ok(left)
        });
        self.depth = outer;
        result
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        let operator = match (self.peek().kind, &*self.peek().text) {
            (LexemeKind::Word, "not") => {
                self.bump();
                let operand = self.binary(NOT_PRECEDENCE + 1)?;
                let span = start.to(operand.span);
                return Ok(Expr { kind: ExprKind::Unary(UnaryOperator::Not, Box::new(operand)), span });
            }
            (LexemeKind::Punctuation, "!") => UnaryOperator::Not,
            (LexemeKind::Punctuation, "~") => UnaryOperator::Complement,
            (LexemeKind::Punctuation, "-") => UnaryOperator::Negate,
            (LexemeKind::Punctuation, "+") => UnaryOperator::Plus,
            _ => return self.postfix(),
        };
        self.bump();
        let operand = self.nested(Self::unary)?;
        let span = start.to(operand.span);
        // A sign is part of its number, so that `-1` is a constant like any other.
        if let (UnaryOperator::Negate, ExprKind::Integer(value, width)) = (operator, &operand.kind) {
            return Ok(Expr { kind: ExprKind::Integer(-value, *width), span });
        }
        Ok(Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        let outer = self.depth;
        let result = loop {
            if self.depth >= super::HEIGHT_MAX {
                break self.nested(|_| Ok(expr));
            }
            if self.take(".") {
                let member = match self.name("the name of a field") {
                    Ok(member) => member,
                    Err(failed) => break Err(failed),
                };
                if matches!(member.as_str(), "isValid" | "apply")
                    && let Err(failed) = self.refuse_method(&expr, &member)
                {
                    break Err(failed);
                }
                let span = expr.span.to(member.span);
                expr = Expr { kind: ExprKind::Member(Box::new(expr), member), span };
            } else if self.take("[") {
                let index = match self.expression().and_then(|index| self.expect("]").map(|_| index)) {
                    Ok(index) => index,
                    Err(failed) => break Err(failed),
                };
                let span = self.span_from(expr.span);
                expr = Expr { kind: ExprKind::Index(Box::new(expr), Box::new(index)), span };
            } else {
                break Ok(expr);
            }
            self.depth += 1;
        };
        self.depth = outer;
        result
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let lexeme = self.peek().clone();
        let span = lexeme.span;
        match lexeme.kind {
            LexemeKind::Integer => {
                self.bump();
                let (value, width) = self.number(&lexeme.text, span)?;
                Ok(Expr { kind: ExprKind::Integer(value, width), span })
            }
            LexemeKind::Word => {
                self.bump();
                let is_call = self.at("(");
                let kind = match &*lexeme.text {
                    "true" => ExprKind::Bool(true),
                    "false" => ExprKind::Bool(false),
                    word @ ("min" | "max") if is_call => {
                        self.bump();
                        let left = Box::new(self.expression()?);
                        self.expect(",")?;
                        let right = Box::new(self.expression()?);
                        self.expect(")")?;
                        ExprKind::MinMax { is_minimum: word == "min", left, right }
                    }
                    "valid" if is_call => {
                        self.bump();
                        let header = self.expression()?;
                        self.expect(")")?;
                        ExprKind::Valid(Box::new(header))
                    }
                    "current" if is_call => {
                        self.bump();
                        let offset = self.expression()?;
                        self.expect(",")?;
                        let width = self.expression()?;
                        self.expect(")")?;
                        ExprKind::Current(Box::new(offset), Box::new(width))
                    }
                    _ => ExprKind::Name(lexeme.text),
                };
                Ok(Expr { kind, span: self.span_from(span) })
            }
            LexemeKind::Punctuation if &*lexeme.text == "(" => {
                self.bump();
                if self.at_cast() {
                    let (width, is_signed) = self.bit_type()?;
                    self.expect(")")?;
                    let operand = Box::new(self.nested(Self::unary)?);
                    let kind = ExprKind::Cast { width: Box::new(width), is_signed, operand };
                    return Ok(Expr { kind, span: self.span_from(span) });
                }
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(Expr { kind: inner.kind, span: self.span_from(span) })
            }
            _ => self.unexpected("an expression"),
        }
    }

    /// Whether the type of a cast comes next: `bit<8>`, `int<8>`, or `bit` before the closing parenthesis.
    fn at_cast(&self) -> bool {
        let next = &*self.peek_at(1).text;
        (self.at_word("bit") || self.at_word("int")) && next == "<" || self.at_word("bit") && next == ")"
    }

    /// The value and the width of a literal such as `10`, `0xff`, `8'0b1`, `8'-1`, `8w1`. A width of 0 means none.
    pub(super) fn number(&mut self, text: &str, span: Span) -> Parsed<(BigInt, Option<u32>)> {
        let has_width = |letter: char| matches!(letter, '\'' | 'w' | 's');
        let parsed = match text.split_once(has_width) {
            Some((width, digits)) => width
                .parse::<u32>()
                .map_err(|_| format!("`{}` is not a width", width.chars().take(20).collect::<String>()))
                .and_then(|width| Ok((digits_value(digits)?, Some(width).filter(|&width| width > 0)))),
            None => digits_value(text).map(|value| (value, None)),
        };
        let parsed = parsed.and_then(|(value, width)| match width {
            Some(width) if width > base::limits::WIDTH_BITS_MAX => {
                Err(format!("a width may be {} at most", base::limits::WIDTH_BITS_MAX))
            }
            _ => Ok((value, width)),
        });
        parsed.map_err(|reason| {
            let message = format!("this is not a number: {reason}");
            self.diagnostics.push(Diagnostic::error(codes::INVALID_NUMBER, span, message));
            Failed
        })
    }
}

/// The value of digits with an optional sign and prefix.
fn digits_value(text: &str) -> Result<BigInt, String> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &text[2..]),
        [b'0', b'b' | b'B', ..] => (2, &text[2..]),
        _ => (10, text),
    };
    let mut values = Vec::with_capacity(digits.len());
    for character in digits.chars().filter(|&character| character != '_') {
        match character.to_digit(radix) {
            Some(digit) => values.push(digit as u8),
            None => return Err(format!("`{character}` is not a digit in base {radix}")),
        }
    }
    if values.is_empty() {
        return Err("it has no digits".into());
    }
    if values.len() > DIGITS_MAX {
        return Err(format!("it has more than {DIGITS_MAX} digits"));
    }
    let value = BigInt::from_radix_be(Sign::Plus, &values, radix).unwrap_or_default();
    Ok(if is_negative { -value } else { value })
}
