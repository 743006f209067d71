//! Builds nodes of the P4_16 tree: one function for each form that the translation needs.

use crate::ast::{Pragma, PragmaOperand};
use base::Span;
use num_bigint::BigInt;
use num_traits::{One, Signed};
use std::rc::Rc;
use syntax::ast::{
    Annotation, AnnotationBody, AnnotationToken, AnnotationTokenKind, Argument, Base, BinaryOperator, Block,
    Declaration, DeclarationKind, Direction, Expr, ExprKind, Ident, IntegerLiteral, Name, Parameter, Path, Statement,
    StatementKind, StructDeclaration, StructField, StructKind, Type, TypeKind, UnaryOperator,
};

/// The width and the sign of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// In bits.
    pub width: u32,
    /// Whether it is `int<width>`, not `bit<width>`.
    pub is_signed: bool,
}

impl Shape {
    /// `bit<width>`
    pub(crate) fn bits(width: u32) -> Shape {
        Shape { width, is_signed: false }
    }
}

pub(crate) fn ident(name: &str, span: Span) -> Ident {
    Ident { name: name.into(), span }
}

pub(crate) fn path(name: &str, span: Span) -> Path {
    Path { is_global: false, name: ident(name, span), span }
}

pub(crate) fn name(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Name(path(name, span)), span }
}

pub(crate) fn member(base: Expr, member: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Member { base: Box::new(base), member: ident(member, span) }, span }
}

pub(crate) fn index(base: Expr, index: u32, span: Span) -> Expr {
    let index = Box::new(number(&BigInt::from(index), span));
    Expr { kind: ExprKind::Index { base: Box::new(base), index }, span }
}

/// A number without width.
pub(crate) fn number(value: &BigInt, span: Span) -> Expr {
    let literal = IntegerLiteral { value: value.clone(), width: None, is_signed: false, base: Base::Decimal };
    Expr { kind: ExprKind::Integer(literal), span }
}

/// The value modulo 2^width.
pub(crate) fn wrapped(value: &BigInt, width: u32) -> BigInt {
    let modulus = BigInt::one() << width;
    let rest = value % &modulus;
    if rest.is_negative() { rest + modulus } else { rest }
}

/// A constant of the shape: the value modulo 2^width.
pub(crate) fn constant(value: &BigInt, shape: Shape, span: Span) -> Expr {
    let value = wrapped(value, shape.width);
    let literal = IntegerLiteral { value, width: Some(shape.width), is_signed: false, base: Base::Decimal };
    let bits = Expr { kind: ExprKind::Integer(literal), span };
    if shape.is_signed { cast_to(bit_type(shape, span), bits) } else { bits }
}

pub(crate) fn truth(value: bool, span: Span) -> Expr {
    Expr { kind: ExprKind::Bool(value), span }
}

pub(crate) fn unary(operator: UnaryOperator, operand: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Unary { operator, operand: Box::new(operand) }, span }
}

pub(crate) fn not(operand: Expr) -> Expr {
    let span = operand.span;
    unary(UnaryOperator::Not, operand, span)
}

pub(crate) fn binary(operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) }, span }
}

pub(crate) fn conditional(condition: Expr, then_value: Expr, else_value: Expr, span: Span) -> Expr {
    let kind = ExprKind::Conditional {
        condition: Box::new(condition),
        then_value: Box::new(then_value),
        else_value: Box::new(else_value),
    };
    Expr { kind, span }
}

pub(crate) fn cast_to(ty: Type, operand: Expr) -> Expr {
    let span = operand.span;
    Expr { kind: ExprKind::Cast { type_ref: Box::new(ty), operand: Box::new(operand) }, span }
}

/// Converts a value from one shape to another: truncated to the low bits, or extended by its own sign.
pub(crate) fn convert(value: Expr, from: Shape, to: Shape) -> Expr {
    if from == to {
        return value;
    }
    let span = value.span;
    let resized = Shape { width: to.width, is_signed: from.is_signed };
    let value = if from.width == to.width { value } else { cast_to(bit_type(resized, span), value) };
    if from.is_signed == to.is_signed { value } else { cast_to(bit_type(to, span), value) }
}

pub(crate) fn slice(base: Expr, high: u32, low: u32, span: Span) -> Expr {
    let bound = |bound: u32| Box::new(number(&BigInt::from(bound), span));
    Expr { kind: ExprKind::Slice { base: Box::new(base), high: bound(high), low: bound(low) }, span }
}

pub(crate) fn list(items: Vec<Expr>, span: Span) -> Expr {
    Expr { kind: ExprKind::List(items), span }
}

pub(crate) fn argument(value: Expr) -> Argument {
    let span = value.span;
    Argument { name: None, value, span }
}

pub(crate) fn call(callee: Expr, arguments: Vec<Expr>, span: Span) -> Expr {
    call_with(callee, Vec::new(), arguments, span)
}

pub(crate) fn call_with(callee: Expr, type_arguments: Vec<Type>, arguments: Vec<Expr>, span: Span) -> Expr {
    let arguments = arguments.into_iter().map(argument).collect();
    Expr { kind: ExprKind::Call { callee: Box::new(callee), type_arguments, arguments }, span }
}

/// `base.method(arguments)`
pub(crate) fn method(base: Expr, method: &str, arguments: Vec<Expr>, span: Span) -> Expr {
    call(member(base, method, span), arguments, span)
}

/// `Enum.member`
pub(crate) fn enum_member(enumeration: &str, name: &str, span: Span) -> Expr {
    let ty = if enumeration == "error" { Type { kind: TypeKind::Error, span } } else { named_type(enumeration, span) };
    member(Expr { kind: ExprKind::Type(Box::new(ty)), span }, name, span)
}

pub(crate) fn bit_type(shape: Shape, span: Span) -> Type {
    let width = Box::new(number(&BigInt::from(shape.width), span));
    Type { kind: if shape.is_signed { TypeKind::Int(width) } else { TypeKind::Bit(Some(width)) }, span }
}

pub(crate) fn varbit_type(width: u32, span: Span) -> Type {
    Type { kind: TypeKind::Varbit(Box::new(number(&BigInt::from(width), span))), span }
}

pub(crate) fn named_type(name: &str, span: Span) -> Type {
    Type { kind: TypeKind::Named(path(name, span)), span }
}

pub(crate) fn specialized_type(name: &str, arguments: Vec<Type>, span: Span) -> Type {
    Type { kind: TypeKind::Specialized { base: path(name, span), arguments }, span }
}

pub(crate) fn array_type(element: Type, size: u32, span: Span) -> Type {
    let size = Box::new(number(&BigInt::from(size), span));
    Type { kind: TypeKind::Array { element: Box::new(element), size }, span }
}

pub(crate) fn statement(kind: StatementKind, span: Span) -> Statement {
    Statement { kind, span }
}

pub(crate) fn assign(target: Expr, value: Expr, span: Span) -> Statement {
    statement(StatementKind::Assignment { target, operator: None, value }, span)
}

pub(crate) fn do_call(callee: Expr, arguments: Vec<Expr>, span: Span) -> Statement {
    statement(StatementKind::Call(call(callee, arguments, span)), span)
}

pub(crate) fn block(statements: Vec<Statement>, span: Span) -> Block {
    Block { annotations: Vec::new(), statements, span }
}

pub(crate) fn block_statement(statements: Vec<Statement>, span: Span) -> Statement {
    statement(StatementKind::Block(block(statements, span)), span)
}

/// `if (condition) { ... } else { ... }`; an empty `else` is left out, and `else if` needs no braces.
pub(crate) fn branch(condition: Expr, then_body: Vec<Statement>, else_body: Vec<Statement>, span: Span) -> Statement {
    let else_branch = match else_body.as_slice() {
        [] => None,
        [Statement { kind: StatementKind::If { .. }, .. }] => else_body.into_iter().next().map(Box::new),
        _ => Some(Box::new(block_statement(else_body, span))),
    };
    let then_branch = Box::new(block_statement(then_body, span));
    statement(StatementKind::If { condition, then_branch, else_branch }, span)
}

/// `T name;` or `T name = value;` as a statement.
pub(crate) fn variable(ty: Type, name: &str, value: Option<Expr>, span: Span) -> Statement {
    let kind = DeclarationKind::Variable(syntax::ast::Variable { type_ref: ty, name: ident(name, span), value });
    statement(StatementKind::Declaration(Box::new(declaration(kind, span))), span)
}

pub(crate) fn declaration(kind: DeclarationKind, span: Span) -> Declaration {
    Declaration { annotations: Vec::new(), kind, span }
}

/// `@name(".name")`: the absolute control-plane name.
pub(crate) fn control_plane_name(name: &str, span: Span) -> Annotation {
    name_annotation(&format!(".{name}"), span)
}

/// `@name("text")`
pub(crate) fn name_annotation(text: &str, span: Span) -> Annotation {
    let token = AnnotationToken { kind: AnnotationTokenKind::String, text: text.into(), span };
    let expression = Expr { kind: ExprKind::String(text.into()), span };
    let body = AnnotationBody::Unstructured { tokens: vec![token], expressions: Some(vec![expression]) };
    Annotation { name: ident("name", span), body, is_pragma: false, span }
}

/// `@name`
pub(crate) fn plain_annotation(name: &str, span: Span) -> Annotation {
    Annotation { name: ident(name, span), body: AnnotationBody::Empty, is_pragma: false, span }
}

/// `@pragma` lines as annotations for the control plane. The translation itself handles names and preserved metadata.
pub(crate) fn pragmas(pragmas: &[Pragma]) -> Vec<Annotation> {
    let is_listed = |pragma: &&Pragma| !matches!(pragma.name.as_str(), "name" | "field_list");
    let listed = pragmas.iter().filter(is_listed).map(|it| annotation(&it.name, &it.operands, it.span));
    listed.map(|annotation| Annotation { is_pragma: true, ..annotation }).collect()
}

/// `@name(operand, operand)`
pub(crate) fn annotation(name: &Ident, operands: &[PragmaOperand], span: Span) -> Annotation {
    let mut tokens: Vec<AnnotationToken> = Vec::new();
    let mut expressions = Vec::new();
    for operand in operands {
        if !tokens.is_empty() {
            tokens.push(AnnotationToken { kind: AnnotationTokenKind::Punctuation, text: ",".into(), span });
        }
        let (kind, text) = match operand {
            PragmaOperand::Number(value) => {
                expressions.push(number(value, span));
                (AnnotationTokenKind::Integer, value.to_string().into())
            }
            PragmaOperand::Text(text) => {
                expressions.push(Expr { kind: ExprKind::String(text.clone()), span });
                (AnnotationTokenKind::String, text.clone())
            }
        };
        tokens.push(AnnotationToken { kind, text, span });
    }
    let body = match tokens.is_empty() {
        true => AnnotationBody::Empty,
        false => AnnotationBody::Unstructured { tokens, expressions: Some(expressions) },
    };
    Annotation { name: name.clone(), body, is_pragma: false, span }
}

/// `@field_list(1, 2)`
pub(crate) fn field_list_annotation(numbers: impl Iterator<Item = u32>, span: Span) -> Annotation {
    let mut tokens = Vec::new();
    let mut expressions = Vec::new();
    for value in numbers {
        if !tokens.is_empty() {
            tokens.push(AnnotationToken { kind: AnnotationTokenKind::Punctuation, text: ",".into(), span });
        }
        tokens.push(AnnotationToken { kind: AnnotationTokenKind::Integer, text: value.to_string().into(), span });
        expressions.push(number(&BigInt::from(value), span));
    }
    let body = AnnotationBody::Unstructured { tokens, expressions: Some(expressions) };
    Annotation { name: ident("field_list", span), body, is_pragma: false, span }
}

pub(crate) fn field(ty: Type, name: &Ident, annotations: Vec<Annotation>) -> StructField {
    StructField { annotations, type_ref: ty, name: name.clone(), span: name.span }
}

/// `struct name { ... }` or `header name { ... }`
pub(crate) fn record(kind: StructKind, name: &Name, fields: Vec<StructField>, span: Span) -> Declaration {
    let name = Ident { name: Rc::clone(name), span };
    declaration(DeclarationKind::Struct(StructDeclaration { kind, name, type_parameters: Vec::new(), fields }), span)
}

pub(crate) fn parameter(direction: Direction, ty: Type, name: &str, span: Span) -> Parameter {
    Parameter { annotations: Vec::new(), direction, type_ref: ty, name: ident(name, span), default: None, span }
}
