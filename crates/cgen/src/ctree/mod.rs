//! C as a tree: the part of the language that generated code uses. Only `print` knows its syntax.

mod print;
mod prune;
mod weight;

pub(crate) use print::print;
pub(crate) use prune::{mentions, prune};
pub(crate) use weight::wide_limbs;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    /// An identifier or a type's name.
    Name(String),
    /// A number of type `uint32_t`.
    Int(u32),
    /// A number of type `uint64_t`.
    Long(u64),
    /// An operator before its operand.
    Unary(&'static str, Box<Expr>),
    /// An operator between its operands.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `condition ? a : b`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function's value.
    Call(Box<Expr>, Vec<Expr>),
    /// An array's item.
    Index(Box<Expr>, Box<Expr>),
    /// A member of the struct that a pointer points to.
    Arrow(Box<Expr>, String),
    /// A member of a struct.
    Dot(Box<Expr>, String),
    /// A conversion to a type.
    Cast(&'static str, Box<Expr>),
    /// Initial values of an array or struct.
    List(Vec<Expr>),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stmt {
    /// A variable, or an array of `length` items.
    Declare { ty: String, name: String, length: Option<u32>, value: Option<Expr> },
    /// `place op value`, such as `a |= b`.
    Assign(Expr, &'static str, Expr),
    /// An expression that is evaluated for its effect.
    Eval(Expr),
    /// `return value;`
    Return(Expr),
    /// `if (condition) { } else { }`.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `switch` whose cases do not fall through.
    Switch { value: Expr, cases: Vec<(Vec<Expr>, Vec<Stmt>)>, default: Vec<Stmt> },
    /// `for (;;)`.
    Loop(Vec<Stmt>),
    /// `for (declaration; condition; step)`.
    For { first: Box<Stmt>, condition: Expr, step: Box<Stmt>, body: Vec<Stmt> },
    /// A scope.
    Block(Vec<Stmt>),
    /// `goto label;`
    Goto(String),
    /// A label.
    Label(String),
    /// A comment.
    Comment(String),
}

/// Something at file level.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Item {
    /// A comment.
    Comment(String),
    /// `#define name`.
    Define(String),
    /// `#include "name"`.
    Include(String),
    /// A struct.
    Struct { name: String, members: Vec<Member> },
    /// `_Static_assert(condition, "reason")`.
    Assert(Expr, String),
    /// A constant.
    Constant { ty: String, name: String, length: Option<u32>, value: Expr },
    /// A function.
    Function { head: String, body: Vec<Stmt> },
    /// A function that is defined further down or in another translation unit.
    Prototype(String),
    /// What only one translation unit of the file has.
    Unit(usize, Vec<Item>),
}

/// A member of a struct.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Member {
    pub(crate) ty: &'static str,
    pub(crate) name: String,
    pub(crate) length: Option<u32>,
}

/// The number of statements, including those inside of others.
pub(crate) fn statement_count(body: &[Stmt]) -> usize {
    let count = |stmt: &Stmt| match stmt {
        Stmt::If(_, yes, no) => 1 + statement_count(yes) + statement_count(no),
        Stmt::Switch { cases, default, .. } => {
            let cases: usize = cases.iter().map(|(_, body)| statement_count(body)).sum();
            1 + cases + statement_count(default)
        }
        Stmt::Loop(body) | Stmt::Block(body) | Stmt::For { body, .. } => 1 + statement_count(body),
        Stmt::Comment(_) | Stmt::Label(_) => 0,
        _ => 1,
    };
    body.iter().map(count).sum()
}

pub(crate) fn name(text: impl Into<String>) -> Expr {
    Expr::Name(text.into())
}

pub(crate) fn int(value: u32) -> Expr {
    Expr::Int(value)
}

pub(crate) fn long(value: u64) -> Expr {
    Expr::Long(value)
}

pub(crate) fn binary(op: &'static str, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

pub(crate) fn unary(op: &'static str, operand: Expr) -> Expr {
    Expr::Unary(op, Box::new(operand))
}

pub(crate) fn conditional(condition: Expr, yes: Expr, no: Expr) -> Expr {
    Expr::Conditional(Box::new(condition), Box::new(yes), Box::new(no))
}

pub(crate) fn call(function: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Call(Box::new(name(function)), arguments)
}

pub(crate) fn index(array: Expr, position: Expr) -> Expr {
    Expr::Index(Box::new(array), Box::new(position))
}

pub(crate) fn arrow(pointer: Expr, member: impl Into<String>) -> Expr {
    Expr::Arrow(Box::new(pointer), member.into())
}

pub(crate) fn dot(value: Expr, member: &str) -> Expr {
    Expr::Dot(Box::new(value), member.to_owned())
}

pub(crate) fn cast(ty: &'static str, operand: Expr) -> Expr {
    Expr::Cast(ty, Box::new(operand))
}

pub(crate) fn assign(place: Expr, value: Expr) -> Stmt {
    Stmt::Assign(place, "=", value)
}

pub(crate) fn declare(ty: &str, name: impl Into<String>, value: Expr) -> Stmt {
    Stmt::Declare { ty: ty.to_owned(), name: name.into(), length: None, value: Some(value) }
}

pub(crate) fn declare_array(ty: &str, name: impl Into<String>, length: u32, value: Option<Expr>) -> Stmt {
    Stmt::Declare { ty: ty.to_owned(), name: name.into(), length: Some(length), value }
}
