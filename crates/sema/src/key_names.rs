//! The control-plane name of a key without `@name`: the expression as it is written, without white space.

use std::fmt::Write;
use syntax::ast::{BinaryOperator, Expr, ExprKind, TypeKind};

/// The name of a key.
pub(crate) fn key_name(expression: &Expr) -> String {
    let mut name = String::new();
    write_expr(&mut name, expression);
    name
}

/// Whether the control plane's name of a key follows from its expression: variables, fields, elements, slices, calls
/// without arguments (`isValid()`), masks by a constant. All others need a `@name`.
pub(crate) fn names_itself(expression: &Expr) -> bool {
    match &expression.kind {
        ExprKind::Member { base, .. } | ExprKind::Slice { base, .. } | ExprKind::IndexedSlice { base, .. } => {
            names_itself(base)
        }
        ExprKind::Index { base, index } => names_itself(base) && names_itself(index),
        ExprKind::Call { callee, arguments, .. } => arguments.is_empty() && names_itself(callee),
        ExprKind::Binary { operator: BinaryOperator::BitAnd, left, right } => {
            // A name is one of a constant as a rule, which does as well.
            let is_literal = |e: &Expr| matches!(e.kind, ExprKind::Integer(_) | ExprKind::Name(_));
            names_itself(left) && is_literal(right) || is_literal(left) && names_itself(right)
        }
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
        // The type of a cast does not change which value is looked up.
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

/// What has no expressions inside.
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
