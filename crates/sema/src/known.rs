//! Values that are known before packets arrive, and the core library's functions with language rules of their own.

use crate::annotations::joined_string;
use crate::checker::{Checker, PlaceKind, expr};
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Binding;
use base::Span;
use std::rc::Rc;
use syntax::ast::{self, Annotation};

impl Checker<'_> {
    /// Whether a value is known at instantiation: it consists of literals, constants, instances and parameters of
    /// constructors.
    pub(crate) fn is_known(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(id) => {
                matches!(self.hir.vars[*id].kind, VarKind::Constant | VarKind::ConstructorParameter { .. })
            }
            ExprKind::Aggregate(parts) | ExprKind::Construct { args: parts, .. } => {
                parts.iter().flatten().all(|part| self.is_known(part))
            }
            ExprKind::Field(base, _) | ExprKind::TupleIndex(base, _) | ExprKind::Slice(base, _, _) => {
                self.is_known(base)
            }
            ExprKind::Unary(_, inner) | ExprKind::Cast(inner) => self.is_known(inner),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Mask(a, b) | ExprKind::Range(a, b) => {
                self.is_known(a) && self.is_known(b)
            }
            ExprKind::IndexedSlice { base, low, .. } => self.is_known(base) && self.is_known(low),
            ExprKind::Conditional(a, b, c) => self.is_known(a) && self.is_known(b) && self.is_known(c),
            ExprKind::This
            | ExprKind::Table(_)
            | ExprKind::StackNext(_)
            | ExprKind::StackLast(_)
            | ExprKind::StackLastIndex(_)
            | ExprKind::Call(_)
            | ExprKind::Hit(_)
            | ExprKind::Miss(_) => false,
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::String(_)
            | ExprKind::Error(_)
            | ExprKind::MatchKind(_)
            | ExprKind::EnumMember(_)
            | ExprKind::Instance(_)
            | ExprKind::Default
            | ExprKind::Invalid
            | ExprKind::Poisoned => true,
        }
    }

    /// Whether two expressions are equal: the same, or the same literal. Calls count as equal.
    pub(crate) fn is_same_expression(&self, a: &Expr, b: &Expr) -> bool {
        let same = |a: &Expr, b: &Expr| self.is_same_expression(a, b);
        match (&a.kind, &b.kind) {
            (ExprKind::Var(a), ExprKind::Var(b)) if a == b => true,
            (ExprKind::Field(a, m), ExprKind::Field(b, n)) => m == n && same(a, b),
            (ExprKind::TupleIndex(a, m), ExprKind::TupleIndex(b, n)) => m == n && same(a, b),
            (ExprKind::Index(a, m), ExprKind::Index(b, n)) => same(a, b) && same(m, n),
            (ExprKind::StackNext(a), ExprKind::StackNext(b))
            | (ExprKind::StackLast(a), ExprKind::StackLast(b))
            | (ExprKind::StackLastIndex(a), ExprKind::StackLastIndex(b)) => same(a, b),
            (ExprKind::Slice(a, high, low), ExprKind::Slice(b, other_high, other_low)) => {
                (high, low) == (other_high, other_low) && same(a, b)
            }
            (ExprKind::IndexedSlice { base, low, width }, ExprKind::IndexedSlice { base: b, low: l, width: w }) => {
                width == w && same(base, b) && same(low, l)
            }
            (ExprKind::Unary(operator, a), ExprKind::Unary(other, b)) if operator == other && same(a, b) => true,
            (ExprKind::Binary(operator, a, b), ExprKind::Binary(other, c, d))
                if operator == other && same(a, c) && same(b, d) =>
            {
                true
            }
            (ExprKind::Conditional(a, b, c), ExprKind::Conditional(d, e, f))
                if same(a, d) && same(b, e) && same(c, f) =>
            {
                true
            }
            (ExprKind::Cast(a), ExprKind::Cast(b)) if same(a, b) => true,
            (ExprKind::Aggregate(a), ExprKind::Aggregate(b)) => {
                let is_same = |pair: (&Option<Expr>, &Option<Expr>)| match pair {
                    (Some(a), Some(b)) => same(a, b),
                    (a, b) => a.is_none() == b.is_none(),
                };
                a.len() == b.len() && a.iter().zip(b).all(is_same)
            }
            (ExprKind::Call(_), ExprKind::Call(_))
            | (ExprKind::Instance(_), ExprKind::Instance(_))
            | (ExprKind::Construct { .. }, ExprKind::Construct { .. })
            | (ExprKind::Poisoned, _)
            | (_, ExprKind::Poisoned) => true,
            _ => self.is_same_literal(a, b),
        }
    }

    /// Whether two expressions have the same value, which is known now.
    fn is_same_literal(&self, a: &Expr, b: &Expr) -> bool {
        let values = self.fold(a).zip(self.fold(b));
        values.is_some_and(|(a, b)| match (&a.kind, &b.kind) {
            (ExprKind::Bool(a), ExprKind::Bool(b)) => a == b,
            (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
            (ExprKind::String(a), ExprKind::String(b)) => a == b,
            (ExprKind::Error(a), ExprKind::Error(b))
            | (ExprKind::MatchKind(a), ExprKind::MatchKind(b))
            | (ExprKind::EnumMember(a), ExprKind::EnumMember(b)) => a == b,
            (ExprKind::Default, ExprKind::Default) | (ExprKind::Invalid, ExprKind::Invalid) => true,
            _ => false,
        })
    }

    /// Warns of the use of a declaration marked `@deprecated("...")`.
    pub(crate) fn warn_if_deprecated(&mut self, annotations: &[Annotation], name: &Rc<str>, span: Span) {
        if let Some(annotation) = annotations.iter().find(|annotation| annotation.name.as_str() == "deprecated") {
            let advice = joined_string(annotation);
            self.warn("deprecated", d::deprecated(span, name, advice));
        }
    }

    /// Warns of the use of a name that was declared `@deprecated("...")`.
    pub(crate) fn warn_if_name_deprecated(&mut self, name: &ast::Ident, binding: &Binding) {
        if let Some(advice) = &binding.deprecated {
            let warning = d::deprecated(name.span, &name.name, advice.as_deref().map(str::to_owned));
            self.warn("deprecated", warning);
        }
    }

    /// The call of a function as an expression. `static_assert` is evaluated here.
    pub(crate) fn finish_function_call(&mut self, id: FunctionId, call: Call, ty: Type, span: Span) -> Expr {
        let function = &self.hir.functions[id];
        if function.body.is_none() {
            match &*function.name {
                "static_assert" => {
                    self.check_static_assert(&call, span);
                    return expr(ExprKind::Bool(true), ty, span);
                }
                "verify" if self.context.kind != PlaceKind::ParserState => {
                    self.report(d::call_not_allowed_here(span, "verify()", self.context.kind.name()));
                }
                _ => {}
            }
        }
        expr(ExprKind::Call(Box::new(call)), ty, span)
    }

    fn check_static_assert(&mut self, call: &Call, span: Span) {
        let Some(condition) = call.args.first().and_then(Option::as_ref) else { return };
        if condition.ty == Type::Unknown {
            return;
        }
        match self.fold(condition).map(|value| value.kind) {
            Some(ExprKind::Bool(true)) => {}
            Some(_) => {
                let message = call.args.get(1).and_then(Option::as_ref).and_then(|message| self.fold(message));
                let message = message.and_then(|message| match message.kind {
                    ExprKind::String(text) => Some(text.to_string()),
                    _ => None,
                });
                self.report(d::static_assert_failed(span, message));
            }
            None => self.report(d::not_constant(condition.span)),
        }
    }

    /// Checks the argument of `extract`, `lookahead` and `emit`.
    pub(crate) fn check_core_method(&mut self, id: ExternId, call: &Call, span: Span) {
        let owner = &self.hir.externs[id];
        let Callee::Method(_, position) = &call.callee else { return };
        let method = &owner.methods[*position];
        let is_packet = matches!(&*owner.name, "packet_in" | "packet_out");
        let Some(ty) = call.type_args.first().filter(|_| is_packet) else { return };
        if let Some(fault) = self.hir.packet_fault(&method.name, ty, method.params.len() == 2, span) {
            self.report(fault);
        }
    }
}
