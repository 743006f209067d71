//! Casts: implicit and explicit ones.

use crate::checker::{Checker, expr, poisoned};
use crate::diagnostics as d;
use crate::hir::*;
use crate::types::{fits, wrap};
use crate::unify::has_variables;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use syntax::ast::Direction;
use syntax::diag::Diagnostic;

impl Checker<'_> {
    /// Converts the expression to `target` with an implicit cast; reports an error if there is none.
    pub(crate) fn coerce(&mut self, e: Expr, target: &Type) -> Expr {
        let target = self.resolve(target);
        match self.try_coerce(e, &target) {
            Ok(value) => value,
            Err(e) => {
                self.report_mismatch(&e, &target);
                poisoned(e.span)
            }
        }
    }

    fn report_mismatch(&mut self, e: &Expr, target: &Type) {
        let (expected, found) = (self.hir.show_type(target), self.hir.show_type(&e.ty));
        let mut diagnostic = self.with_signatures(d::mismatched_types(e.span, &expected, &found), target, &e.ty);
        if e.ty != Type::Void && self.can_cast(e, target) {
            diagnostic = diagnostic.help(format!("convert it explicitly: `({expected})`"));
        } else if let (Type::Int(from), Type::Bit(to)) | (Type::Bit(from), Type::Int(to)) = (&e.ty, target)
            && from != to
        {
            let middle = if matches!(target, Type::Bit(_)) { format!("int<{to}>") } else { format!("bit<{to}>") };
            diagnostic = diagnostic.help(format!("change the width first, then the sign: `({expected})({middle})`"));
        }
        self.report(diagnostic);
    }

    /// Adds the parameters of a parser or control and the expected ones, to show how the two types differ.
    pub(crate) fn with_signatures(&self, diagnostic: Diagnostic, expected: &Type, found: &Type) -> Diagnostic {
        let show = |ty: &Type| {
            let params = self.apply_params(ty)?;
            let param = |(id, ty): &(VarId, Type)| match self.direction(*id) {
                Direction::None => self.hir.show_type(ty),
                Direction::In => format!("in {}", self.hir.show_type(ty)),
                Direction::Out => format!("out {}", self.hir.show_type(ty)),
                Direction::InOut => format!("inout {}", self.hir.show_type(ty)),
            };
            Some(params.iter().map(param).collect::<Vec<_>>().join(", "))
        };
        let kind = |ty: &Type| match ty {
            Type::Parser(..) => "a parser",
            Type::Control(..) => "a control",
            Type::Apply(id, _) => match self.hir.apply_types[*id].kind {
                ApplyTypeKind::Parser => "a parser",
                ApplyTypeKind::Control => "a control",
                ApplyTypeKind::Package => "a package",
            },
            _ => "something else",
        };
        let kinds = (kind(expected), kind(found));
        match (show(expected), show(found)) {
            (Some(_), Some(_)) if kinds.0 != kinds.1 => {
                diagnostic.note(format!("this must be {}, it is {}", kinds.0, kinds.1))
            }
            (Some(expected), Some(found)) => {
                diagnostic.note(format!("the parameters must be ({expected})")).note(format!("they are ({found})"))
            }
            _ => diagnostic,
        }
    }

    /// The expression converted to `target`, or the expression itself if the language has no implicit cast for it.
    pub(crate) fn try_coerce(&mut self, mut e: Expr, target: &Type) -> Result<Expr, Expr> {
        e.ty = self.resolve(&e.ty);
        if e.ty == *target || e.ty == Type::Unknown || *target == Type::Unknown {
            return Ok(e);
        }
        match (&e.ty, target) {
            (Type::Integer, Type::Bit(_) | Type::Int(_)) => Ok(self.sized(e, target)),
            // The specification requires `(N) 5` here; the reference compiler also accepts `5`.
            (Type::Integer, Type::NewType(_)) => match self.underlying_number(target) {
                Some(plain) => {
                    let number = self.sized(e, &plain);
                    Ok(implicit_cast(number, target))
                }
                None => Err(e),
            },
            (Type::Enum(_), Type::Bit(_) | Type::Int(_) | Type::NewType(_)) => match self.representation(&e.ty) {
                Some(representation) if representation == target => Ok(implicit_cast(e, target)),
                _ => Err(e),
            },
            (Type::Tuple(_), Type::Struct(..) | Type::Tuple(_) | Type::Array(..) | Type::List(_)) => {
                self.coerce_tuple(e, target)
            }
            _ if has_variables(target) || has_variables(&e.ty) || is_block(target) => {
                let ty = e.ty.clone();
                if self.unify(target, &ty) { Ok(e) } else { Err(e) }
            }
            _ => Err(e),
        }
    }

    /// The numeric type that a new type is based on; none if it is based on another type, such as an enum.
    pub(crate) fn underlying_number(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Bit(_) | Type::Int(_) => Some(ty.clone()),
            Type::NewType(id) => self.underlying_number(&self.hir.new_types[*id].target),
            _ => None,
        }
    }

    /// Converts an `int` to a sized type.
    fn sized(&mut self, e: Expr, target: &Type) -> Expr {
        let ExprKind::Int(value) = &e.kind else { return implicit_cast(e, target) };
        let wrapped = wrap(value, target);
        let fits_as_pattern =
            matches!(target, Type::Int(width) if !value.is_negative() && fits(value, &Type::Bit(*width)));
        if !fits(value, target) {
            let warning =
                d::literal_does_not_fit(e.span, value, &self.hir.show_type(target), &wrapped, fits_as_pattern);
            self.warn("overflow", warning);
        }
        expr(ExprKind::Int(wrapped), target.clone(), e.span)
    }

    /// Converts a list to a struct, header, tuple, array or list.
    fn coerce_tuple(&mut self, e: Expr, target: &Type) -> Result<Expr, Expr> {
        let Type::Tuple(sources) = e.ty.clone() else { return Err(e) };
        let Some(targets) = self.part_types(target, sources.len()) else { return Err(e) };
        if targets.len() != sources.len() {
            self.report_part_count(&e, target, targets.len(), sources.len());
            return Ok(poisoned(e.span));
        }
        let span = e.span;
        match e.kind {
            ExprKind::Aggregate(elements) => {
                let parts = elements.into_iter().zip(&targets);
                let parts = parts.map(|(element, ty)| element.map(|element| self.coerce(element, ty))).collect();
                Ok(expr(ExprKind::Aggregate(parts), target.clone(), span))
            }
            // Only a literal list converts to a struct, header, array or list: the specification allows casts of tuple
            // expressions, not of values of tuple types.
            _ if matches!(target, Type::Tuple(_))
                && sources.iter().zip(&targets).all(|(source, target)| self.unify(source, target)) =>
            {
                Ok(implicit_cast(e, &self.resolve(target)))
            }
            _ => Err(e),
        }
    }

    fn report_part_count(&mut self, e: &Expr, target: &Type, expected: usize, found: usize) {
        let shown = self.hir.show_type(target);
        self.report(d::initializer_count(e.span, &shown, expected, found));
    }

    /// The types of the parts of an aggregate; `length` is the length of the list that is converted.
    pub(crate) fn part_types(&self, ty: &Type, length: usize) -> Option<Vec<Type>> {
        match ty {
            Type::Struct(id, args) if !self.is_union(ty) => Some(self.hir.field_types(*id, args)),
            Type::Tuple(elements) => Some(elements.clone()),
            Type::Array(element, size) => Some(vec![(**element).clone(); *size as usize]),
            Type::List(element) => Some(vec![(**element).clone(); length]),
            _ => None,
        }
    }

    /// `(target) e`
    pub(crate) fn explicit_cast(&mut self, e: Expr, target: &Type, span: base::Span) -> Expr {
        if e.ty == Type::Unknown || *target == Type::Unknown {
            return poisoned(span);
        }
        if e.ty == *target {
            return Expr { span, ..e };
        }
        if let (ExprKind::Int(value), Type::Integer, Type::Bit(_) | Type::Int(_)) = (&e.kind, &e.ty, target) {
            return expr(ExprKind::Int(wrap(value, target)), target.clone(), span);
        }
        if self.can_cast(&e, target) {
            let e = self.plain_number_for(e, target);
            let cast = expr(ExprKind::Cast(Box::new(e)), target.clone(), span);
            // An `int` must be known, unless it is a parameter of a constructor.
            return match (target, self.fold(&cast)) {
                (Type::Integer, Some(literal)) => literal,
                _ => cast,
            };
        }
        let coerces = matches!(e.ty, Type::Tuple(_)) || has_variables(&e.ty);
        let e = match if coerces { self.try_coerce(e, target) } else { Err(e) } {
            Ok(value) => return Expr { span, ..value },
            Err(e) => e,
        };
        let (expected, found) = (self.hir.show_type(target), self.hir.show_type(&e.ty));
        let help = self.cast_help(&e.ty, target);
        self.report(d::invalid_cast(span, &expected, &found, help));
        poisoned(span)
    }

    /// Converts an integer literal that is cast to an enum or new type to the underlying type.
    fn plain_number_for(&mut self, e: Expr, target: &Type) -> Expr {
        if e.ty != Type::Integer || !matches!(target, Type::Enum(_) | Type::NewType(_)) {
            return e;
        }
        let plain = self.hir.underlying(target);
        if let (ExprKind::Int(value), Type::Enum(_)) = (&e.kind, target)
            && !fits(value, &plain)
        {
            let shown = self.hir.show_type(target);
            self.report(d::enum_value_out_of_range(e.span, value, &shown));
            return poisoned(e.span);
        }
        self.coerce(e, &plain)
    }

    /// Suggests a replacement for a cast that does not exist.
    fn cast_help(&self, from: &Type, to: &Type) -> Option<String> {
        if let Some(steps) = self.cast_steps(from, to) {
            return Some(format!("cast in two steps: `{steps}`"));
        }
        match (from, to) {
            (Type::Bit(_) | Type::Int(_), Type::Bool) => Some("compare it with a number: `x != 0`".into()),
            (Type::Enum(id), Type::Bit(_) | Type::Int(_))
            | (Type::Bit(_) | Type::Int(_) | Type::Integer, Type::Enum(id)) => {
                let name = &self.hir.enums[*id].name;
                Some(format!("give the enum a type and its members values: `enum bit<8> {name} {{ ... }}`"))
            }
            (Type::Struct(..), Type::Bit(_)) => Some("put its fields together with `++`".into()),
            _ => None,
        }
    }

    /// A sequence of casts in place of one that does not exist.
    fn cast_steps(&self, from: &Type, to: &Type) -> Option<String> {
        match (self.hir.underlying(from), to) {
            (Type::Bit(_), Type::Int(width)) => Some(format!("(int<{width}>)(bit<{width}>)")),
            (Type::Int(_), Type::Bit(width)) => Some(format!("(bit<{width}>)(int<{width}>)")),
            (Type::Bool, Type::Bit(width)) => Some(format!("(bit<{width}>)(bit<1>)")),
            (Type::Bool, Type::Int(1)) => Some("(int<1>)(bit<1>)".into()),
            (Type::Int(1), Type::Bool) => Some("(bool)(bit<1>)".into()),
            _ => None,
        }
    }

    /// Whether the language has an explicit cast for this.
    pub(crate) fn can_cast(&self, e: &Expr, to: &Type) -> bool {
        self.can_cast_type(&e.ty, to, e)
    }

    fn can_cast_type(&self, from: &Type, to: &Type, e: &Expr) -> bool {
        if from == to {
            return !matches!(from, Type::Void | Type::Extern(..) | Type::Table(_));
        }
        match (from, to) {
            (_, Type::NewType(id)) if self.hir.new_types[*id].target == *from => true,
            (Type::NewType(id), _) => {
                let target = &self.hir.new_types[*id].target;
                target == to || matches!(to, Type::NewType(_) | Type::Enum(_)) && self.can_cast_type(target, to, e)
            }
            (_, Type::NewType(id)) => {
                let target = &self.hir.new_types[*id].target;
                // A member of an enum with a representation converts to a number implicitly.
                from == target
                    || *from == Type::Integer && self.can_cast_type(from, target, e)
                    || self.representation(from) == Some(target)
            }
            (Type::Enum(_), _) => {
                self.representation(from).is_some_and(|representation| self.can_cast_type(representation, to, e))
            }
            (_, Type::Enum(_)) => {
                self.representation(to).is_some_and(|representation| self.can_cast_type(from, representation, e))
            }
            (Type::Bit(1), Type::Bool) | (Type::Bool, Type::Bit(1)) => true,
            (Type::Integer, Type::Bool) => {
                matches!(&e.kind, ExprKind::Int(value) if value.is_zero() || *value == BigInt::one())
            }
            (Type::Bit(a), Type::Int(b)) | (Type::Int(a), Type::Bit(b)) => a == b,
            (Type::Bit(_), Type::Bit(_)) | (Type::Int(_), Type::Int(_)) => true,
            // A constructor's parameter becomes known at instantiation.
            (Type::Bit(_) | Type::Int(_), Type::Integer) => self.is_known(e),
            (Type::Integer, Type::Bit(_) | Type::Int(_)) => true,
            _ => false,
        }
    }
}

/// An implicit cast.
fn implicit_cast(e: Expr, target: &Type) -> Expr {
    let span = e.span;
    expr(ExprKind::Cast(Box::new(e)), target.clone(), span)
}

/// Whether the type is a parser, control or package type.
fn is_block(ty: &Type) -> bool {
    matches!(ty, Type::Parser(..) | Type::Control(..) | Type::Apply(..))
}
