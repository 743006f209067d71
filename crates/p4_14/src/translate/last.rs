//! `stack[last]` in actions, conditions and keys: the valid element with the greatest index.
//!
//! P4_16 defines `last` in parsers only. Code that uses it is therefore repeated for each possible element: a primitive
//! once for each element, a value as a choice among the elements' values. If no element is valid, it is the first,
//! which is invalid, too.

use super::build;
use super::exprs::{Element, HeaderRef, Operand, Scope};
use super::{Done, Translator};
use crate::ast::{Call, Expr, ExprKind, Name};
use crate::codes;
use base::Span;
use syntax::ast as p4;

/// The maximum size of a stack whose last element is searched for; the choices are nested to this depth.
const ELEMENTS_MAX: u32 = 64;

/// The minimum number of nodes that a primitive counts for the limit on the size of the result.
const NODES_PER_COPY: usize = 50;

impl Translator<'_, '_> {
    /// The stack whose `last` an expression outside the parser refers to; the first if there are several.
    pub(super) fn last_in(&self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            ExprKind::Integer(..) | ExprKind::Bool(_) | ExprKind::Name(_) => None,
            ExprKind::Index(base, index) => match (&base.kind, &index.kind) {
                (ExprKind::Name(stack), ExprKind::Name(word)) if &**word == "last" => {
                    let instance = *self.symbols.instances.get(stack)?;
                    self.symbols.all_instances[instance].size.map(|_| instance)
                }
                _ => None,
            },
            ExprKind::Member(base, _)
            | ExprKind::Valid(base)
            | ExprKind::Unary(_, base)
            | ExprKind::Cast { operand: base, .. } => self.last_in(base),
            ExprKind::Current(left, right)
            | ExprKind::Binary(_, left, right)
            | ExprKind::MinMax { left, right, .. } => self.last_in(left).or_else(|| self.last_in(right)),
        }
    }

    /// The size of the stack; an error if it is too large for `last`.
    fn elements_of(&mut self, stack: usize, span: Span) -> Done<u32> {
        let instance = &self.symbols.all_instances[stack];
        let size = instance.size?;
        if size > ELEMENTS_MAX {
            let message = format!(
                "`last` of `{}` is known in parser states only: it has more than {ELEMENTS_MAX} elements",
                instance.name.name
            );
            return self.error(codes::UNSUPPORTED, span, message);
        }
        Some(size)
    }

    fn is_element_valid(&self, stack: usize, index: u32, span: Span) -> p4::Expr {
        let header = HeaderRef { instance: stack, element: Element::At(index) };
        build::method(self.header_expr(header, span), "isValid", Vec::new(), span)
    }

    /// A primitive that refers to the last element: executed for the element that is the last.
    pub(super) fn primitive_on_last(
        &mut self,
        call: &Call,
        stack: usize,
        out: &mut Vec<p4::Statement>,
        mut primitive: impl FnMut(&mut Self, &Call, &mut Vec<p4::Statement>) -> Done<()>,
    ) -> Done<()> {
        let size = self.elements_of(stack, call.span)?;
        let name = self.symbols.all_instances[stack].name.name.clone();
        let mut chosen = Vec::new();
        for index in 0..size {
            self.count_nodes(NODES_PER_COPY, call.span)?;
            let mut own = call.clone();
            own.arguments = own.arguments.iter().map(|argument| with_element(argument, &name, index)).collect();
            let mut statements = Vec::new();
            primitive(self, &own, &mut statements)?;
            chosen = match index {
                0 => statements,
                _ => {
                    let is_valid = self.is_element_valid(stack, index, call.span);
                    vec![build::branch(is_valid, statements, chosen, call.span)]
                }
            };
        }
        // Variables of the first element's statements stay in a scope of their own.
        out.push(build::block_statement(chosen, call.span));
        Some(())
    }

    /// The value of an expression that refers to the last element: a field, or its validity.
    pub(super) fn value_of_last(&mut self, expr: &Expr, stack: usize, scope: Scope<'_>) -> Done<Operand> {
        let size = self.elements_of(stack, expr.span)?;
        let name = self.symbols.all_instances[stack].name.name.clone();
        let mut chosen = self.operand(&with_element(expr, &name, 0), scope)?;
        for index in 1..size {
            let is_valid = self.is_element_valid(stack, index, expr.span);
            let own = self.operand(&with_element(expr, &name, index), scope)?;
            let choose = |own, other| build::conditional(is_valid, own, other, expr.span);
            chosen = match (own, chosen) {
                (Operand::Bits(own, shape), Operand::Bits(other, _)) => Operand::Bits(choose(own, other), shape),
                (Operand::Truth(own), Operand::Truth(other)) => Operand::Truth(choose(own, other)),
                _ => return None,
            };
        }
        Some(chosen)
    }
}

/// The expression with an element's index in place of the stack's `last`.
fn with_element(expr: &Expr, stack: &Name, index: u32) -> Expr {
    let inside = |expr: &Expr| Box::new(with_element(expr, stack, index));
    let kind = match &expr.kind {
        ExprKind::Integer(..) | ExprKind::Bool(_) | ExprKind::Name(_) => return expr.clone(),
        ExprKind::Index(base, old) => {
            let is_last = matches!(&old.kind, ExprKind::Name(word) if &**word == "last");
            let is_stack = matches!(&base.kind, ExprKind::Name(name) if name == stack);
            match is_last && is_stack {
                true => {
                    let number = Expr { kind: ExprKind::Integer(index.into(), None), span: old.span };
                    ExprKind::Index(base.clone(), Box::new(number))
                }
                false => return expr.clone(),
            }
        }
        ExprKind::Member(base, member) => ExprKind::Member(inside(base), member.clone()),
        ExprKind::Valid(header) => ExprKind::Valid(inside(header)),
        ExprKind::Unary(operator, operand) => ExprKind::Unary(*operator, inside(operand)),
        ExprKind::Current(offset, width) => ExprKind::Current(inside(offset), inside(width)),
        ExprKind::Binary(operator, left, right) => ExprKind::Binary(*operator, inside(left), inside(right)),
        ExprKind::MinMax { is_minimum, left, right } => {
            ExprKind::MinMax { is_minimum: *is_minimum, left: inside(left), right: inside(right) }
        }
        ExprKind::Cast { width, is_signed, operand } => {
            ExprKind::Cast { width: width.clone(), is_signed: *is_signed, operand: inside(operand) }
        }
    };
    Expr { kind, span: expr.span }
}
