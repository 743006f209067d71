//! The control-plane name of a key without `@name`, as in the reference compiler.
//!
//! The name is the expression: variables as in the source, fields by their control-plane names, constants by their
//! values in the base in which they are written, with one space on each side of the `&` of a mask. An expression
//! without such a name requires a `@name`; messages show it without white space.

use crate::checker::Checker;
use crate::control_plane::given_name;
use crate::hir;
use crate::scopes::Entity;
use num_bigint::BigInt;
use num_traits::Signed;
use std::fmt::Write;
use syntax::ast::{Base, BinaryOperator, Expr, ExprKind, TypeKind};

/// An expression as in the source, without white space.
pub(crate) fn key_name(expression: &Expr) -> String {
    let mut name = String::new();
    write_expr(&mut name, expression);
    name
}

impl Checker<'_> {
    /// Whether the key's control-plane name follows from its expression: constants, variables, fields, elements,
    /// slices, calls without arguments (`isValid()`), masks by a constant. All others require a `@name`.
    pub(crate) fn names_itself(&self, written: &Expr, key: &hir::Expr) -> bool {
        let key = without_implicit_cast(written, key);
        if self.constant_in_key(key).is_some() {
            return true;
        }
        match (&written.kind, &key.kind) {
            (ExprKind::Binary { operator: BinaryOperator::BitAnd, left, right }, hir::ExprKind::Binary(_, a, b)) => {
                let is_mask = self.constant_in_key(a).is_some() || self.constant_in_key(b).is_some();
                is_mask && self.names_itself(left, a) && self.names_itself(right, b)
            }
            _ => has_name(written),
        }
    }

    /// The name of a key.
    pub(crate) fn name_of_key(&self, written: &Expr, key: &hir::Expr) -> String {
        let mut name = String::new();
        self.write_key(&mut name, written, key);
        name
    }

    fn write_key(&self, out: &mut String, written: &Expr, key: &hir::Expr) {
        let key = without_implicit_cast(written, key);
        if let Some(value) = self.constant_in_key(key) {
            return write_number(out, &value, self.base_of(written));
        }
        match (&written.kind, &key.kind) {
            (ExprKind::Member { base, .. }, hir::ExprKind::Field(owner, position)) => {
                self.write_key(out, base, owner);
                self.write_field(out, &owner.ty, *position);
            }
            (ExprKind::Index { base, index }, hir::ExprKind::Index(array, element)) => {
                self.write_key(out, base, array);
                out.push('[');
                self.write_key(out, index, element);
                out.push(']');
            }
            (ExprKind::Slice { base, high, low }, hir::ExprKind::Slice(value, high_bit, low_bit)) => {
                self.write_key(out, base, value);
                out.push('[');
                write_number(out, &BigInt::from(*high_bit), self.base_of(high));
                out.push(':');
                write_number(out, &BigInt::from(*low_bit), self.base_of(low));
                out.push(']');
            }
            (ExprKind::Cast { operand, .. }, hir::ExprKind::Cast(inner)) => self.write_key(out, operand, inner),
            (ExprKind::Binary { operator: BinaryOperator::BitAnd, left, right }, hir::ExprKind::Binary(_, a, b)) => {
                self.write_key(out, left, a);
                out.push_str(" & ");
                self.write_key(out, right, b);
            }
            (ExprKind::Call { callee, .. }, hir::ExprKind::Call(call)) => match (&callee.kind, &call.callee) {
                (ExprKind::Member { base, member }, hir::Callee::Builtin(_, object)) => {
                    self.write_key(out, base, object);
                    let _ = write!(out, ".{}()", member.name);
                }
                _ => write_expr(out, written),
            },
            _ => write_expr(out, written),
        }
    }

    /// Appends a field's name to that of its owner; a name that begins with a dot needs no separator.
    fn write_field(&self, out: &mut String, owner: &hir::Type, position: usize) {
        let hir::Type::Struct(id, _) = owner else { return };
        let Some(field) = self.hir.structs[*id].fields.get(position) else { return };
        let name = given_name(&field.annotations).unwrap_or(&field.name);
        let dot = if name.starts_with('.') { "" } else { "." };
        let _ = write!(out, "{dot}{name}");
    }

    /// The value of an expression in a key, if it is a known number.
    fn constant_in_key(&self, key: &hir::Expr) -> Option<BigInt> {
        match self.fold(key)?.kind {
            hir::ExprKind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The base in which the reference compiler writes the value of a constant expression: that of its first number.
    pub(crate) fn base_of(&self, written: &Expr) -> Base {
        match &written.kind {
            ExprKind::Integer(literal) => literal.base,
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => self.base_of(operand),
            ExprKind::Binary { left, .. } => self.base_of(left),
            ExprKind::Name(path) => match self.scopes.lookup_path(path).first().map(|binding| &binding.entity) {
                Some(Entity::Var(var)) => self.constant_bases.get(var).copied().unwrap_or(Base::Decimal),
                _ => Base::Decimal,
            },
            _ => Base::Decimal,
        }
    }
}

/// The expression under an implicit cast.
fn without_implicit_cast<'k>(written: &Expr, key: &'k hir::Expr) -> &'k hir::Expr {
    match (&written.kind, &key.kind) {
        (ExprKind::Cast { .. }, _) => key,
        (_, hir::ExprKind::Cast(inner)) => inner,
        _ => key,
    }
}

fn write_number(out: &mut String, value: &BigInt, base: Base) {
    let (prefix, radix) = match base {
        Base::Binary => ("0b", 2),
        Base::Octal => ("0o", 8),
        Base::Decimal => ("", 10),
        Base::Hexadecimal => ("0x", 16),
    };
    let sign = if value.is_negative() { "-" } else { "" };
    let _ = write!(out, "{sign}{prefix}{}", value.abs().to_str_radix(radix));
}

/// Whether an expression without masks has a name.
fn has_name(expression: &Expr) -> bool {
    match &expression.kind {
        ExprKind::Member { base, .. } | ExprKind::Slice { base, .. } | ExprKind::IndexedSlice { base, .. } => {
            has_name(base)
        }
        ExprKind::Index { base, index } => has_name(base) && has_name(index),
        ExprKind::Call { callee, arguments, .. } => arguments.is_empty() && has_name(callee),
        ExprKind::Name(_) | ExprKind::Type(_) | ExprKind::Integer(_) | ExprKind::Bool(_) => true,
        _ => false,
    }
}

fn write_list(out: &mut String, items: &[Expr]) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_expr(out, item);
    }
}

fn write_pair(out: &mut String, a: &Expr, operator: &str, b: &Expr) {
    write_expr(out, a);
    out.push_str(operator);
    write_expr(out, b);
}

fn write_expr(out: &mut String, e: &Expr) {
    match &e.kind {
        ExprKind::List(items) => {
            out.push('{');
            write_list(out, items);
            out.push('}');
        }
        ExprKind::Struct { fields, .. } => {
            out.push('{');
            for (index, field) in fields.iter().enumerate() {
                let _ = write!(out, "{}{}=", if index > 0 { "," } else { "" }, field.key.name);
                write_expr(out, &field.value);
            }
            out.push('}');
        }
        ExprKind::Member { base, member } => {
            write_expr(out, base);
            let _ = write!(out, ".{}", member.name);
        }
        ExprKind::Index { base, index } => {
            write_expr(out, base);
            out.push('[');
            write_expr(out, index);
            out.push(']');
        }
        ExprKind::Slice { base, high, low } => {
            write_expr(out, base);
            out.push('[');
            write_pair(out, high, ":", low);
            out.push(']');
        }
        ExprKind::IndexedSlice { base, low, width } => {
            write_expr(out, base);
            out.push('[');
            write_pair(out, low, "+:", width);
            out.push(']');
        }
        ExprKind::Unary { operator, operand } => {
            out.push_str(operator.as_str());
            write_expr(out, operand);
        }
        ExprKind::Binary { operator, left, right } => write_pair(out, left, operator.as_str(), right),
        ExprKind::Conditional { condition, then_value, else_value } => {
            write_pair(out, condition, "?", then_value);
            out.push(':');
            write_expr(out, else_value);
        }
        // A type in a cast does not change which value is looked up.
        ExprKind::Cast { operand, .. } => write_expr(out, operand),
        ExprKind::Call { callee, arguments, .. } => {
            write_expr(out, callee);
            out.push('(');
            for (index, argument) in arguments.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_expr(out, &argument.value);
            }
            out.push(')');
        }
        ExprKind::Mask { value, mask } => write_pair(out, value, "&&&", mask),
        ExprKind::Range { low, high } => write_pair(out, low, "..", high),
        _ => write_leaf(out, e),
    }
}

/// Expressions without subexpressions.
fn write_leaf(out: &mut String, e: &Expr) {
    match &e.kind {
        ExprKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        ExprKind::Integer(literal) => {
            let _ = match literal.width {
                Some(width) => write!(out, "{width}{}{}", if literal.is_signed { 's' } else { 'w' }, literal.value),
                None => write!(out, "{}", literal.value),
            };
        }
        ExprKind::String(text) => out.push_str(text),
        ExprKind::Name(path) => out.push_str(&path.name.name),
        ExprKind::Type(ty) => {
            if let TypeKind::Named(path) = &ty.kind {
                out.push_str(&path.name.name);
            } else if matches!(ty.kind, TypeKind::Error) {
                out.push_str("error");
            }
        }
        ExprKind::This => out.push_str("this"),
        ExprKind::DontCare => out.push('_'),
        ExprKind::Default => out.push_str("default"),
        ExprKind::Dots => out.push_str("..."),
        ExprKind::Invalid => out.push_str("{#}"),
        _ => {}
    }
}
