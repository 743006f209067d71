//! Arguments: assigns each to its parameter, and infers the type arguments that make them fit.

use crate::checker::{Checker, expr};
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::did_you_mean;
use crate::unify::{Substitution, any_type, has_variables, substitute};
use base::Span;
use base::limits::WIDTH_BITS_MAX;
use num_traits::Signed;
use std::rc::Rc;
use syntax::ast::{self, Direction};
use syntax::diag::Diagnostic;

/// What is called, as far as its arguments are concerned.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) name: Rc<str>,
    /// The type parameters that the call supplies or infers.
    pub(crate) type_params: Vec<TypeParamId>,
    pub(crate) params: Vec<VarId>,
    /// The bindings that are known already: the type arguments of the object.
    pub(crate) outer: Substitution,
    pub(crate) span: Span,
    /// The kind of call.
    pub(crate) style: Style,
}

/// The kinds of call, as far as arguments are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// A run-time call of code written in P4.
    Call,
    /// A run-time call of the target's code: integer literals get a default width if nothing else determines it.
    ExternCall,
    /// A constructor call: arguments are compile-time values, and may be instances.
    Construct,
    /// An action in a table's list or entry: parameters may be left out, arguments are constant or evaluated for each
    /// packet.
    ActionRef,
}

/// The arguments of a valid call.
pub(crate) struct Bound {
    pub(crate) type_args: Vec<Type>,
    /// In the order of the parameters.
    pub(crate) args: Vec<Option<Expr>>,
    /// The parameter positions of the arguments, in source order.
    pub(crate) order: Vec<usize>,
    /// The bindings of type parameters, including those of the object.
    pub(crate) substitution: Substitution,
}

/// An argument during type inference.
struct Slot {
    param: VarId,
    /// The parameter's type with inference variables.
    ty: Type,
    value: Option<Expr>,
}

impl Checker<'_> {
    /// The signature that fits the arguments by number and names; reports an error if there is none.
    pub(crate) fn select_overload(
        &mut self,
        candidates: &[Signature],
        arguments: &[ast::Argument],
        span: Span,
    ) -> Option<usize> {
        if let [only] = candidates {
            return self.arrange(only, arguments, span).map(|_| 0);
        }
        let fitting: Vec<usize> =
            (0..candidates.len()).filter(|&index| self.fits_shape(&candidates[index], arguments)).collect();
        match fitting.as_slice() {
            [index] => Some(*index),
            [] => {
                let name = candidates.first().map_or("", |candidate| &candidate.name);
                let counts: Vec<usize> = candidates.iter().map(|candidate| candidate.params.len()).collect();
                self.report(d::no_matching_overload(span, name, arguments.len(), &counts));
                None
            }
            [first, ..] => {
                // A signature that needs no default value is preferred.
                let has_all = |index: &&usize| candidates[**index].params.len() == arguments.len();
                let mut exact = fitting.iter().filter(has_all);
                let exact = exact.next().filter(|_| exact.next().is_none());
                if exact.is_none() {
                    let spans: Vec<Span> = fitting.iter().map(|&index| candidates[index].span).collect();
                    self.report(d::ambiguous_call(span, &candidates[*first].name, &spans));
                }
                exact.copied()
            }
        }
    }

    fn fits_shape(&self, signature: &Signature, arguments: &[ast::Argument]) -> bool {
        if arguments.len() > signature.params.len() {
            return false;
        }
        let name_of = |param: VarId| &self.hir.vars[param].name;
        let is_given = |position: usize, param: VarId| match arguments.first().and_then(|first| first.name.as_ref()) {
            Some(_) => arguments.iter().any(|it| it.name.as_ref().is_some_and(|name| name.name == *name_of(param))),
            None => position < arguments.len(),
        };
        let names_exist = arguments
            .iter()
            .filter_map(|it| it.name.as_ref())
            .all(|name| signature.params.iter().any(|&param| *name_of(param) == name.name));
        names_exist
            && signature.params.iter().enumerate().all(|(position, &param)| {
                is_given(position, param) || self.is_optional(param) || self.default_value(param).is_some()
            })
    }

    /// The argument of each parameter; reports an error if they do not fit by number and names.
    pub(crate) fn arrange<'a>(
        &mut self,
        signature: &Signature,
        arguments: &'a [ast::Argument],
        span: Span,
    ) -> Option<Vec<Option<&'a ast::Argument>>> {
        let params = signature.params.clone();
        let mut arranged: Vec<Option<&ast::Argument>> = vec![None; params.len()];
        let named = arguments.iter().filter(|argument| argument.name.is_some()).count();
        if named > 0 && named < arguments.len() {
            self.report(d::mixed_arguments(span));
            return None;
        }
        if arguments.len() > params.len() && named == 0 {
            self.report(d::argument_count(span, &signature.name, arguments.len(), params.len(), signature.span));
            return None;
        }
        let mut is_fine = true;
        for (position, argument) in arguments.iter().enumerate() {
            let Some(name) = &argument.name else {
                arranged[position] = Some(argument);
                continue;
            };
            let found = params.iter().position(|&param| self.hir.vars[param].name == name.name);
            let Some(found) = found else {
                let names: Vec<_> = params.iter().map(|&param| self.hir.vars[param].name.clone()).collect();
                let suggestion = did_you_mean(&name.name, names.iter().map(|name| &**name));
                self.report(d::unknown_parameter(name, &signature.name, suggestion, signature.span));
                is_fine = false;
                continue;
            };
            if arranged[found].replace(argument).is_some() {
                self.report(d::duplicate_argument(name));
                is_fine = false;
            }
        }
        (is_fine && self.check_missing(signature, &arranged, arguments.len(), span)).then_some(arranged)
    }

    /// Reports parameters that require an argument and have none.
    fn check_missing(
        &mut self,
        signature: &Signature,
        arranged: &[Option<&ast::Argument>],
        given: usize,
        span: Span,
    ) -> bool {
        let needs = |checker: &Self, param: VarId| {
            let left_to_control_plane =
                signature.style == Style::ActionRef && checker.direction(param) == Direction::None;
            !left_to_control_plane && !checker.is_optional(param) && checker.default_value(param).is_none()
        };
        let pairs = signature.params.iter().zip(arranged);
        let missing: Vec<VarId> =
            pairs.filter(|(param, given)| given.is_none() && needs(self, **param)).map(|(param, _)| *param).collect();
        let Some(&first) = missing.first() else { return true };
        let has_names = arranged.iter().flatten().any(|argument| argument.name.is_some());
        // If several parameters have similar types, the missing argument need not be the last one.
        let is_list_of_blocks = signature.style == Style::Construct && signature.params.len() > 2;
        if has_names || missing.len() == 1 && given > 0 && !is_list_of_blocks {
            let (name, place) = (self.hir.vars[first].name.clone(), self.hir.vars[first].span);
            let diagnostic = d::missing_argument(span, &signature.name, &name, place);
            self.report(self.with_result_parameter(diagnostic, signature));
        } else {
            let diagnostic = d::argument_count(span, &signature.name, given, signature.params.len(), signature.span);
            self.report(match signature.style {
                _ if is_list_of_blocks => diagnostic.help(self.params_in_order(signature)),
                Style::ActionRef if given == 0 => diagnostic.help(
                    "the list of actions has arguments for parameters with a direction; one that the control plane sets has \
                     none",
                ),
                _ => diagnostic,
            });
        }
        false
    }

    /// For a target function with an `out` parameter, adds a note that this parameter receives the result.
    fn with_result_parameter(&self, diagnostic: Diagnostic, signature: &Signature) -> Diagnostic {
        let name = |param: &VarId| &*self.hir.vars[*param].name;
        let Some(result) = signature.params.iter().find(|param| self.direction(**param) == Direction::Out) else {
            return diagnostic;
        };
        if signature.style != Style::ExternCall {
            return diagnostic;
        }
        let names: Vec<&str> = signature.params.iter().map(name).collect();
        let call = format!("{}({});", signature.name, names.join(", "));
        diagnostic.help(format!("the result is written to the argument for `{}`: `{call}`", name(result)))
    }

    /// The parameters of a constructor, for a help text.
    fn params_in_order(&self, signature: &Signature) -> String {
        let shown = |param: &VarId| {
            let declared = &self.hir.vars[*param];
            format!("`{}` ({})", declared.name, self.hir.show_type(&declared.ty))
        };
        format!("it takes {}", signature.params.iter().map(shown).collect::<Vec<_>>().join(", "))
    }

    /// Checks arguments against a signature.
    pub(crate) fn bind_arguments(
        &mut self,
        signature: &Signature,
        type_arguments: &[ast::Type],
        arguments: &[ast::Argument],
        span: Span,
    ) -> Option<Bound> {
        let substitution = self.open_type_params(signature, type_arguments, span)?;
        let arranged = self.arrange(signature, arguments, span)?;
        let position_of = |argument: &ast::Argument| {
            arranged.iter().position(|given| given.is_some_and(|given| std::ptr::eq(given, argument)))
        };
        let order = arguments.iter().filter_map(position_of).collect();
        let mut slots = Vec::with_capacity(arranged.len());
        let mut is_fine = true;
        for (&param, argument) in signature.params.iter().zip(arranged) {
            let ty = substitute(&self.hir.vars[param].ty, &substitution);
            let value = match argument {
                None => None,
                Some(argument) => match self.check_argument(signature, param, &ty, argument) {
                    Ok(value) => value,
                    Err(()) => {
                        is_fine = false;
                        None
                    }
                },
            };
            slots.push(Slot { param, ty, value });
        }
        if !is_fine {
            return None;
        }
        let args = slots.into_iter().map(|slot| self.finish_argument(signature, slot)).collect();
        let substitution = self.close_type_params(signature, substitution, span)?;
        let type_args =
            signature.type_params.iter().map(|param| substitution.get(param).cloned().unwrap_or(Type::Unknown));
        Some(Bound { type_args: type_args.collect(), args, order, substitution })
    }

    /// Binds each type parameter to its argument, or to an inference variable.
    fn open_type_params(
        &mut self,
        signature: &Signature,
        type_arguments: &[ast::Type],
        span: Span,
    ) -> Option<Substitution> {
        let mut substitution = signature.outer.clone();
        let arity = self.hir.named_count(&signature.type_params);
        if !type_arguments.is_empty() && type_arguments.len() != arity {
            self.report(d::type_argument_count(span, &signature.name, type_arguments.len(), arity, signature.span));
            return None;
        }
        for (position, &param) in signature.type_params.iter().enumerate() {
            let ty = match type_arguments.get(position) {
                Some(written) => self.resolve_type_with(written, crate::types::Omitted::Infer),
                None => self.fresh_variable(),
            };
            substitution.insert(param, ty);
        }
        Some(substitution)
    }

    /// Replaces inference variables with the inferred types; reports an error for those that were not inferred.
    fn close_type_params(
        &mut self,
        signature: &Signature,
        mut substitution: Substitution,
        span: Span,
    ) -> Option<Substitution> {
        for ty in substitution.values_mut() {
            *ty = self.resolve(ty);
        }
        for param in &signature.type_params {
            if substitution.get(param).is_some_and(has_variables) {
                let name = self.hir.type_params[*param].name.clone();
                self.report(d::cannot_infer(span, &name, &signature.name, signature.span));
                return None;
            }
        }
        Some(substitution)
    }

    /// Checks one argument and infers from its type. `Ok(None)` is `_`.
    fn check_argument(
        &mut self,
        signature: &Signature,
        param: VarId,
        ty: &Type,
        argument: &ast::Argument,
    ) -> Result<Option<Expr>, ()> {
        let direction = self.direction(param);
        if matches!(argument.value.kind, ast::ExprKind::DontCare) {
            if direction == Direction::Out || self.is_optional(param) {
                return Ok(None);
            }
            self.report(d::misplaced_dont_care(argument.span));
            return Err(());
        }
        let hint = self.resolve(ty);
        let allows_construct = signature.style == Style::Construct;
        let value = self.with_construct(allows_construct, |checker| checker.expr(&argument.value, Some(&hint)));
        if matches!(value.ty, Type::Void | Type::Table(_) | Type::ApplyResult(_) | Type::ActionEnum(_)) {
            let found = self.hir.show_type(&value.ty);
            self.report(d::not_a_value(value.span, &found));
            return Err(());
        }
        let is_written = matches!(direction, Direction::Out | Direction::InOut);
        if is_written && !self.check_lvalue(&value) {
            return Err(());
        }
        if value.ty == Type::Unknown {
            self.poison_variables(ty);
        }
        let hint = self.resolve(ty);
        let infers = has_variables(&hint);
        let is_deferred =
            value.ty == Type::Integer || matches!(value.ty, Type::Tuple(_)) && !matches!(hint, Type::Param(_));
        let agrees = if is_written || infers && !is_deferred {
            let found = value.ty.clone();
            self.unify(&hint, &found)
        } else {
            true
        };
        if !agrees {
            let (expected, found) = (self.hir.show_type(&self.resolve(&hint)), self.hir.show_type(&value.ty));
            let (name, place) = (self.hir.vars[param].name.clone(), self.hir.vars[param].span);
            let diagnostic = d::argument_mismatch(value.span, &name, &expected, &found, place);
            self.report(self.with_signatures(diagnostic, &self.resolve(&hint), &value.ty));
            return Err(());
        }
        Ok(Some(value))
    }

    /// The argument with its final type, or the default value.
    fn finish_argument(&mut self, signature: &Signature, slot: Slot) -> Option<Expr> {
        let Some(value) = slot.value else {
            let default = self.default_value(slot.param).cloned()?;
            return Some(self.finish_default(signature, &slot, default));
        };
        let target = self.resolve(&slot.ty);
        let is_unbound = matches!(target, Type::Param(_)) && has_variables(&target);
        let value = match (&value.ty, signature.style) {
            (Type::Integer, Style::ExternCall) if is_unbound => self.with_default_width(value),
            (Type::Integer, Style::Call | Style::ActionRef) if is_unbound => {
                self.report(d::width_not_known(value.span));
                self.poison_variables(&slot.ty);
                return None;
            }
            _ => value,
        };
        let mut value = self.coerce(self.unwrap_single_element(value, &target), &target);
        self.resolve_expr(&mut value);
        if self.direction(slot.param) == Direction::In && !self.is_for_target_code(slot.param) && has_string(&value.ty)
        {
            let shown = self.hir.show_type(&value.ty);
            self.report(d::invalid_variable_type(value.span, "an argument for an `in` parameter", &shown));
        }
        if signature.style == Style::ExternCall || signature.style == Style::Call {
            value = self.with_sized_parts(value);
        }
        if signature.style == Style::Construct && !self.is_known(&value) {
            self.report(d::not_constant(value.span));
        }
        Some(value)
    }

    /// A default value that stands for an argument, with the type that the other arguments determine. One of its own
    /// type determines others, and it is an error if it does not fit.
    fn finish_default(&mut self, signature: &Signature, slot: &Slot, default: Expr) -> Expr {
        let is_generic = any_type(&self.hir.vars[slot.param].ty, &mut |part| matches!(part, Type::Param(_)));
        if signature.style != Style::Construct || !is_generic {
            return default;
        }
        let target = self.resolve(&slot.ty);
        let takes_type = matches!(default.ty, Type::Integer | Type::Tuple(_)) && !has_variables(&target);
        let default = match takes_type.then(|| self.try_coerce(default.clone(), &target)) {
            Some(Ok(mut value)) => {
                self.resolve_expr(&mut value);
                return value;
            }
            _ => default,
        };
        if !self.unify(&slot.ty, &default.ty) {
            let (expected, found) = (self.hir.show_type(&target), self.hir.show_type(&default.ty));
            let (name, place) = (self.hir.vars[slot.param].name.clone(), self.hir.vars[slot.param].span);
            let diagnostic = d::argument_mismatch(default.span, &name, &expected, &found, place);
            self.report(self.with_signatures(diagnostic, &target, &default.ty));
        }
        default
    }

    /// Whether a parameter is declared with a type that only target code can read.
    fn is_for_target_code(&self, param: VarId) -> bool {
        matches!(self.hir.vars[param].ty, Type::String | Type::List(_))
    }

    /// The element of a list with one element, for a scalar parameter: the reference compiler accepts `f({ x })` for
    /// `f(x)`. Other values are unchanged.
    fn unwrap_single_element(&self, value: Expr, target: &Type) -> Expr {
        let is_scalar = matches!(self.hir.underlying(target), Type::Bool | Type::Bit(_) | Type::Int(_) | Type::Integer)
            || matches!(target, Type::Varbit(_) | Type::Error | Type::Enum(_) | Type::String);
        match value.kind {
            ExprKind::Aggregate(mut parts) if is_scalar && parts.len() == 1 => match parts.pop().flatten() {
                Some(only) => only,
                None => Expr { kind: ExprKind::Aggregate(vec![None]), ..value },
            },
            kind => Expr { kind, ..value },
        }
    }

    /// Gives a default width to an integer literal whose type parameter is not bound otherwise.
    pub(crate) fn with_default_width(&mut self, value: Expr) -> Expr {
        let ExprKind::Int(number) = &value.kind else { return value };
        let sign = u64::from(number.is_negative());
        let width = u32::try_from(number.bits() + sign).unwrap_or(WIDTH_BITS_MAX).clamp(32, WIDTH_BITS_MAX);
        let ty = if number.is_negative() { Type::Int(width) } else { Type::Bit(width) };
        let shown = self.hir.show_type(&ty);
        self.warn("width", d::width_assumed(value.span, &shown));
        self.coerce(value, &ty)
    }

    /// Gives widths to integer literals inside a list that is passed unchanged.
    fn with_sized_parts(&mut self, value: Expr) -> Expr {
        let Type::Tuple(types) = &value.ty else { return value };
        if !types.contains(&Type::Integer) {
            return value;
        }
        let ExprKind::Aggregate(parts) = value.kind else { return value };
        let sized = |checker: &mut Self, part: Expr| match part.ty {
            Type::Integer => checker.with_default_width(part),
            _ => part,
        };
        let parts: Vec<Option<Expr>> = parts.into_iter().map(|part| part.map(|part| sized(self, part))).collect();
        let types = parts.iter().map(|part| part.as_ref().map_or(Type::Unknown, |part| part.ty.clone())).collect();
        expr(ExprKind::Aggregate(parts), Type::Tuple(types), value.span)
    }
}

/// Whether the type is `string`, or a tuple that contains a string; such values do not exist at run time.
fn has_string(ty: &Type) -> bool {
    match ty {
        Type::String => true,
        Type::Tuple(elements) => elements.iter().any(has_string),
        _ => false,
    }
}
