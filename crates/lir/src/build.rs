//! Short names for building expressions and statements.

use crate::{Expr, StatePart, Stmt, Type, Variable};
use ir::{HeaderId, VarId};

/// A declared name.
pub fn name(text: impl Into<String>) -> Expr {
    Expr::Name(text.into())
}

/// A variable of the program.
pub fn var(var: VarId) -> Expr {
    Expr::State(StatePart::Var(var))
}

/// The pointer to a header.
pub fn header(header: HeaderId) -> Expr {
    Expr::State(StatePart::Header(header))
}

/// A number of 32 bits.
pub fn int(value: u32) -> Expr {
    Expr::Int(value)
}

/// A number of 64 bits.
pub fn long(value: u64) -> Expr {
    Expr::Long(value)
}

/// An operator between its operands.
pub fn binary(op: &'static str, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

/// An operator before its operand.
pub fn unary(op: &'static str, operand: Expr) -> Expr {
    Expr::Unary(op, Box::new(operand))
}

/// `condition ? yes : no`.
pub fn conditional(condition: Expr, yes: Expr, no: Expr) -> Expr {
    Expr::Conditional(Box::new(condition), Box::new(yes), Box::new(no))
}

/// The value of a function of the runtime.
pub fn call(function: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Call(Box::new(name(function)), arguments)
}

/// An array's item.
pub fn index(array: Expr, position: Expr) -> Expr {
    Expr::Index(Box::new(array), Box::new(position))
}

/// A member of the struct that a pointer points to.
pub fn arrow(pointer: Expr, member: impl Into<String>) -> Expr {
    Expr::Arrow(Box::new(pointer), member.into())
}

/// A member of a struct.
pub fn dot(value: Expr, member: &str) -> Expr {
    Expr::Dot(Box::new(value), member.to_owned())
}

/// A conversion to a type.
pub fn cast(ty: Type, operand: Expr) -> Expr {
    Expr::Cast(ty, Box::new(operand))
}

/// The sum of a pointer or number and a constant.
pub fn plus(base: Expr, constant: u32) -> Expr {
    if constant == 0 { base } else { binary("+", base, int(constant)) }
}

/// `place = value`.
pub fn assign(place: Expr, value: Expr) -> Stmt {
    Stmt::Assign(place, "=", value)
}

/// A variable.
pub fn declare(ty: Type, name: impl Into<String>, value: Expr) -> Stmt {
    Stmt::Declare { variable: Variable::Changes, ty, name: name.into(), length: None, value: Some(value) }
}

/// A constant.
pub fn constant(ty: Type, name: impl Into<String>, value: Expr) -> Stmt {
    Stmt::Declare { variable: Variable::Constant, ty, name: name.into(), length: None, value: Some(value) }
}

/// An array.
pub fn declare_array(ty: Type, name: impl Into<String>, length: u32, value: Option<Expr>) -> Stmt {
    Stmt::Declare { variable: Variable::Changes, ty, name: name.into(), length: Some(length), value }
}

/// An array of constants of the program.
pub fn static_array(ty: Type, name: impl Into<String>, values: Vec<Expr>) -> Stmt {
    let length = Some(u32::try_from(values.len()).unwrap_or(u32::MAX));
    let value = Some(Expr::List(values));
    Stmt::Declare { variable: Variable::Static, ty, name: name.into(), length, value }
}
