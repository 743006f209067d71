//! Calls: of functions, actions and methods, of `apply`, and of the built-in methods of headers and stacks.

use crate::arguments::{Signature, Style};
use crate::checker::{Checker, PlaceKind, expr, poisoned};
use crate::diagnostics as d;
use crate::hir::*;
use crate::members::{as_apply_result, is_apply_result};
use crate::scopes::{Binding, Entity, did_you_mean};
use crate::unify::{Substitution, substitute, substitution};
use base::Span;
use base::limits::STACK_ELEMENTS_MAX;
use num_bigint::BigInt;
use std::rc::Rc;
use syntax::ast::{self, Direction};

/// The parts of a call in the source.
#[derive(Clone, Copy)]
pub(crate) struct WrittenCall<'a> {
    pub(crate) type_arguments: &'a [ast::Type],
    pub(crate) arguments: &'a [ast::Argument],
    pub(crate) span: Span,
}

impl Checker<'_> {
    /// `callee<types>(arguments)`
    pub(crate) fn call(
        &mut self,
        callee: &ast::Expr,
        type_arguments: &[ast::Type],
        arguments: &[ast::Argument],
        hint: Option<&Type>,
        span: Span,
    ) -> Expr {
        let call = WrittenCall { type_arguments, arguments, span };
        match &callee.kind {
            ast::ExprKind::Name(path) => self.call_name(path, call, hint),
            ast::ExprKind::Type(ty) => self.construct(ty, call, hint),
            ast::ExprKind::Member { base, member } => self.call_member(base, member, call),
            _ => {
                self.report(d::not_callable(callee.span, "this expression"));
                poisoned(span)
            }
        }
    }

    fn call_name(&mut self, path: &ast::Path, call: WrittenCall, hint: Option<&Type>) -> Expr {
        let found: Vec<Binding> = self.scopes.lookup_path(path).to_vec();
        let Some(first) = found.first() else {
            let is_callable = |entity: &Entity| matches!(entity, Entity::Function(_) | Entity::Action(_));
            self.report_unknown_name(&path.name, is_callable);
            self.check_arguments_alone(call.arguments);
            return poisoned(call.span);
        };
        match &first.entity {
            Entity::Function(_) => self.call_function(&found, call),
            Entity::Action(_) => {
                self.warn_if_name_deprecated(&path.name, first);
                self.call_action(&found, call)
            }
            Entity::Poisoned => poisoned(call.span),
            entity if entity.is_type() => {
                let base = path.clone();
                let kind = match call.type_arguments {
                    [] => ast::TypeKind::Named(base),
                    arguments => ast::TypeKind::Specialized { base, arguments: arguments.to_vec() },
                };
                self.construct(&ast::Type { kind, span: path.span }, call, hint)
            }
            other => {
                let what = format!("`{}`, which is {},", path.name.name, other.kind_name());
                self.report(d::not_callable(path.span, &what));
                poisoned(call.span)
            }
        }
    }

    /// Checks arguments without known parameters, for errors of their own.
    pub(crate) fn check_arguments_alone(&mut self, arguments: &[ast::Argument]) {
        for argument in arguments {
            let has_type = !matches!(
                argument.value.kind,
                ast::ExprKind::DontCare | ast::ExprKind::Struct { .. } | ast::ExprKind::Invalid | ast::ExprKind::Dots
            );
            if has_type {
                self.with_construct(true, |checker| checker.expr(&argument.value, None));
            }
        }
    }

    fn call_function(&mut self, found: &[Binding], call: WrittenCall) -> Expr {
        let ids: Vec<FunctionId> = found
            .iter()
            .filter_map(|binding| match binding.entity {
                Entity::Function(id) => Some(id),
                _ => None,
            })
            .collect();
        let signatures: Vec<Signature> = ids.iter().map(|&id| self.function_signature(id)).collect();
        let Some(chosen) = self.select_overload(&signatures, call.arguments, call.span) else {
            self.check_arguments_alone(call.arguments);
            return poisoned(call.span);
        };
        let id = ids[chosen];
        if self.open_functions.contains(&id) {
            self.report(d::recursion(call.span, &self.hir.functions[id].name, self.hir.functions[id].span));
        }
        let Some(bound) = self.bind_arguments(&signatures[chosen], call.type_arguments, call.arguments, call.span)
        else {
            return poisoned(call.span);
        };
        // `static_assert` is looked at when it is evaluated.
        let is_assertion = self.hir.functions[id].body.is_none() && &*self.hir.functions[id].name == "static_assert";
        if !is_assertion {
            self.check_directionless(&signatures[chosen], &bound.args);
        }
        self.warn_if_deprecated(&self.hir.functions[id].annotations.clone(), &signatures[chosen].name, call.span);
        let return_type = substitute(&self.hir.functions[id].return_type, &bound.substitution);
        let made =
            Call { callee: Callee::Function(id), type_args: bound.type_args, args: bound.args, order: bound.order };
        self.finish_function_call(id, made, return_type, call.span)
    }

    /// Reports non-constant arguments for parameters without direction: those of actions are the only ones that take
    /// others. What is passed on from such a parameter was looked at before.
    fn check_directionless(&mut self, callee: &Signature, args: &[Option<Expr>]) {
        for (param, arg) in callee.params.iter().zip(args) {
            let Some(arg) = arg else { continue };
            let is_object = matches!(arg.ty, Type::Extern(..));
            let is_passed_on = matches!(arg.kind, ExprKind::Var(var) if self.direction(var) == Direction::None
                && matches!(self.hir.vars[var].kind, VarKind::Parameter { .. }));
            if self.direction(*param) == Direction::None && !is_object && !is_passed_on && !self.is_known(arg) {
                self.report(d::not_constant(arg.span));
            }
        }
    }

    fn function_signature(&self, id: FunctionId) -> Signature {
        let function = &self.hir.functions[id];
        Signature {
            name: function.name.clone(),
            type_params: function.type_params.clone(),
            params: function.params.clone(),
            outer: Substitution::new(),
            span: function.span,
            style: if function.body.is_some() { Style::Call } else { Style::ExternCall },
        }
    }

    pub(crate) fn call_action(&mut self, found: &[Binding], call: WrittenCall) -> Expr {
        let ids: Vec<ActionId> = found
            .iter()
            .filter_map(|binding| match binding.entity {
                Entity::Action(id) => Some(id),
                _ => None,
            })
            .collect();
        if !matches!(self.context.kind, PlaceKind::ControlBody | PlaceKind::Action) {
            self.report(d::call_not_allowed_here(call.span, "an action", self.context.kind.name()));
            return poisoned(call.span);
        }
        let signatures: Vec<Signature> = ids.iter().map(|&id| self.action_signature(id, Style::Call)).collect();
        let Some(chosen) = self.select_overload(&signatures, call.arguments, call.span) else {
            return poisoned(call.span);
        };
        let id = ids[chosen];
        if self.open_actions.contains(&id) {
            self.report(d::recursion(call.span, &self.hir.actions[id].name, self.hir.actions[id].span));
        }
        match self.bind_arguments(&signatures[chosen], call.type_arguments, call.arguments, call.span) {
            Some(bound) => {
                let made =
                    Call { callee: Callee::Action(id), type_args: Vec::new(), args: bound.args, order: bound.order };
                expr(ExprKind::Call(Box::new(made)), Type::Void, call.span)
            }
            None => poisoned(call.span),
        }
    }

    /// The signature of an action.
    pub(crate) fn action_signature(&self, id: ActionId, style: Style) -> Signature {
        let action = &self.hir.actions[id];
        Signature {
            name: action.name.clone(),
            type_params: Vec::new(),
            params: action.params.clone(),
            outer: Substitution::new(),
            span: action.span,
            style,
        }
    }

    fn call_member(&mut self, base: &ast::Expr, member: &ast::Ident, call: WrittenCall) -> Expr {
        if let Some(ty) = self.named_type(base) {
            return self.size_method(&ty, member, call).unwrap_or_else(|| {
                if ty != Type::Unknown {
                    let shown = self.hir.show_type(&ty);
                    self.report(d::no_members(member, &format!("the type {shown}")));
                }
                poisoned(call.span)
            });
        }
        let base = self.expr(base, None);
        match base.ty.clone() {
            Type::Unknown => {
                self.check_arguments_alone(call.arguments);
                poisoned(call.span)
            }
            Type::Extern(id, args) => self.call_method(base, id, &args, member, call),
            Type::Table(id) => self.apply_table(base, id, member, call),
            Type::Parser(..) | Type::Control(..) | Type::Apply(..) => self.apply_block(base, member, call),
            ty => match self.size_method(&ty, member, call) {
                Some(size) => {
                    self.note_sized(&base);
                    size
                }
                None => self.call_builtin(base, member, call),
            },
        }
    }

    fn call_method(
        &mut self,
        object: Expr,
        id: ExternId,
        args: &[Type],
        member: &ast::Ident,
        call: WrittenCall,
    ) -> Expr {
        let owner = &self.hir.externs[id];
        let positions: Vec<usize> =
            (0..owner.methods.len()).filter(|&position| owner.methods[position].name == member.name).collect();
        if positions.is_empty() {
            let suggestion = did_you_mean(&member.name, owner.methods.iter().map(|method| &*method.name));
            let diagnostic = d::unknown_member(member, &owner.name, suggestion, owner.span);
            self.report(diagnostic);
            self.check_arguments_alone(call.arguments);
            return poisoned(call.span);
        }
        let signatures: Vec<Signature> =
            positions.iter().map(|&position| self.method_signature(id, args, position)).collect();
        let Some(chosen) = self.select_overload(&signatures, call.arguments, call.span) else {
            return poisoned(call.span);
        };
        let position = positions[chosen];
        let Some(bound) = self.bind_arguments(&signatures[chosen], call.type_arguments, call.arguments, call.span)
        else {
            return poisoned(call.span);
        };
        self.check_directionless(&signatures[chosen], &bound.args);
        let method = &self.hir.externs[id].methods[position];
        let return_type = substitute(&method.return_type, &bound.substitution);
        self.warn_if_deprecated(&method.annotations.clone(), &member.name, call.span);
        let made = Call {
            callee: Callee::Method(Box::new(object), position),
            type_args: bound.type_args,
            args: bound.args,
            order: bound.order,
        };
        self.check_core_method(id, &made, call.span);
        expr(ExprKind::Call(Box::new(made)), return_type, call.span)
    }

    fn method_signature(&self, id: ExternId, args: &[Type], position: usize) -> Signature {
        let owner = &self.hir.externs[id];
        let method = &owner.methods[position];
        Signature {
            name: method.name.clone(),
            type_params: method.type_params.clone(),
            params: method.params.clone(),
            outer: substitution(&owner.type_params, args),
            span: method.span,
            style: Style::ExternCall,
        }
    }

    fn apply_table(&mut self, table: Expr, id: TableId, member: &ast::Ident, call: WrittenCall) -> Expr {
        if member.as_str() != "apply" {
            let name = self.hir.show_type(&table.ty);
            let suggestion = did_you_mean(&member.name, ["apply"]);
            let diagnostic = d::unknown_member(member, &name, suggestion, self.hir.tables[id].span);
            self.report(match member.as_str() {
                part if is_apply_result(part) => as_apply_result(diagnostic, name.trim_start_matches("table "), part),
                _ => diagnostic,
            });
            return poisoned(call.span);
        }
        if self.context.kind != PlaceKind::ControlBody {
            self.report(d::call_not_allowed_here(call.span, "a table's apply()", self.context.kind.name()));
            return poisoned(call.span);
        }
        if let Some(first) = call.arguments.first() {
            let span = first.span;
            self.report(d::argument_count(span, "apply", call.arguments.len(), 0, Span::NONE));
        }
        let made = Call {
            callee: Callee::ApplyTable(Box::new(table)),
            type_args: Vec::new(),
            args: Vec::new(),
            order: Vec::new(),
        };
        expr(ExprKind::Call(Box::new(made)), Type::ApplyResult(id), call.span)
    }

    /// `apply` of a parser or control instance.
    pub(crate) fn apply_block(&mut self, block: Expr, member: &ast::Ident, call: WrittenCall) -> Expr {
        let is_parser = match &block.ty {
            Type::Parser(..) => Some(true),
            Type::Control(..) => Some(false),
            Type::Apply(id, _) => match self.hir.apply_types[*id].kind {
                ApplyTypeKind::Parser => Some(true),
                ApplyTypeKind::Control => Some(false),
                ApplyTypeKind::Package => None,
            },
            _ => None,
        };
        let (Some(is_parser), "apply") = (is_parser, member.as_str()) else {
            let name = self.hir.show_type(&block.ty);
            self.report(d::unknown_member(member, &name, did_you_mean(&member.name, ["apply"]), Span::NONE));
            return poisoned(call.span);
        };
        let is_allowed = match self.context.kind {
            PlaceKind::ParserState => is_parser,
            PlaceKind::ControlBody => !is_parser,
            _ => false,
        };
        if !is_allowed {
            let what = if is_parser { "a parser's apply()" } else { "a control's apply()" };
            self.report(d::call_not_allowed_here(call.span, what, self.context.kind.name()));
            return poisoned(call.span);
        }
        let signature = self.apply_signature(&block.ty);
        match self.bind_arguments(&signature, call.type_arguments, call.arguments, call.span) {
            Some(bound) => {
                self.check_directionless(&signature, &bound.args);
                let made = Call {
                    callee: Callee::Apply(Box::new(block)),
                    type_args: Vec::new(),
                    args: bound.args,
                    order: bound.order,
                };
                expr(ExprKind::Call(Box::new(made)), Type::Void, call.span)
            }
            None => poisoned(call.span),
        }
    }

    pub(crate) fn apply_signature(&self, ty: &Type) -> Signature {
        let (name, type_params, args, span): (Rc<str>, &[TypeParamId], &[Type], Span) = match ty {
            Type::Parser(id, args) => {
                let it = &self.hir.parsers[*id];
                (it.name.clone(), &it.type_params, args, it.span)
            }
            Type::Control(id, args) => {
                let it = &self.hir.controls[*id];
                (it.name.clone(), &it.type_params, args, it.span)
            }
            Type::Apply(id, args) => {
                let it = &self.hir.apply_types[*id];
                (it.name.clone(), &it.type_params, args, it.span)
            }
            _ => ("apply".into(), &[], &[], Span::NONE),
        };
        let params = self.apply_params(ty).unwrap_or_default().into_iter().map(|(param, _)| param).collect();
        Signature {
            name,
            type_params: Vec::new(),
            params,
            outer: substitution(type_params, args),
            span,
            style: Style::Call,
        }
    }

    /// Records a variable of which only the size is used.
    pub(crate) fn note_sized(&mut self, measured: &Expr) {
        match &measured.kind {
            ExprKind::Var(id) => drop(self.hir.sized_vars.insert(*id)),
            ExprKind::Field(base, _)
            | ExprKind::Index(base, _)
            | ExprKind::TupleIndex(base, _)
            | ExprKind::StackNext(base)
            | ExprKind::StackLast(base)
            | ExprKind::Slice(base, ..)
            | ExprKind::IndexedSlice { base, .. }
            | ExprKind::Cast(base) => self.note_sized(base),
            _ => {}
        }
    }

    /// `minSizeInBits()` and the related methods, of a type or of a value; `None` if the member is not one of these.
    fn size_method(&mut self, ty: &Type, member: &ast::Ident, call: WrittenCall) -> Option<Expr> {
        let (wants_max, in_bytes) = match member.as_str() {
            "minSizeInBits" => (false, false),
            "minSizeInBytes" => (false, true),
            "maxSizeInBits" => (true, false),
            "maxSizeInBytes" => (true, true),
            _ => return None,
        };
        if *ty == Type::Unknown {
            return Some(poisoned(call.span));
        }
        if !call.arguments.is_empty() {
            self.report(d::argument_count(call.span, &member.name, call.arguments.len(), 0, Span::NONE));
        }
        let Some((low, high)) = self.hir.size_bits(ty) else {
            let shown = self.hir.show_type(ty);
            self.report(d::no_size(call.span, &shown));
            return Some(poisoned(call.span));
        };
        let bits = if wants_max { high } else { low };
        let size = if in_bytes { (bits + 7) / BigInt::from(8) } else { bits };
        Some(expr(ExprKind::Int(size), Type::Integer, call.span))
    }

    /// Built-in methods of headers, unions and stacks.
    fn call_builtin(&mut self, base: Expr, member: &ast::Ident, call: WrittenCall) -> Expr {
        let is_header = self.is_header(&base.ty);
        let is_stack = matches!(&base.ty, Type::Array(element, _) if self.is_header(element) || self.is_union(element));
        let builtin = match member.as_str() {
            "isValid" if is_header || self.is_union(&base.ty) => Builtin::IsValid,
            "setValid" if is_header => Builtin::SetValid,
            "setInvalid" if is_header => Builtin::SetInvalid,
            "push_front" if is_stack => Builtin::PushFront,
            "pop_front" if is_stack => Builtin::PopFront,
            name => {
                let known = ["isValid", "setValid", "setInvalid", "push_front", "pop_front"];
                let shown = self.hir.show_type(&base.ty);
                if matches!((&base.ty, name), (Type::ApplyResult(_), "hit" | "miss" | "action_run")) {
                    let diagnostic = d::unknown_member(member, &shown, None, Span::NONE);
                    let help = format!("`{name}` is not a method, and stands without parentheses: `.{name}`");
                    self.report(diagnostic.help(help));
                    return poisoned(call.span);
                }
                if let Some(help) = self.validity_help(&base.ty, name) {
                    let diagnostic = d::unknown_member(member, &shown, None, self.type_span(&base.ty));
                    self.report(diagnostic.help(help));
                    return poisoned(call.span);
                }
                let suggestion =
                    did_you_mean(name, known).filter(|_| (is_header || is_stack) && !known.contains(&name));
                let diagnostic = d::unknown_member(member, &shown, suggestion, self.type_span(&base.ty));
                let owners = match name {
                    "isValid" => Some("headers and header unions"),
                    "setValid" | "setInvalid" => Some("headers"),
                    "push_front" | "pop_front" => Some("stacks of headers or header unions"),
                    _ => None,
                };
                self.report(match owners {
                    Some(owners) => diagnostic.help(format!("only {owners} have `{name}()`")),
                    None => diagnostic,
                });
                return poisoned(call.span);
            }
        };
        let takes_count = matches!(builtin, Builtin::PushFront | Builtin::PopFront);
        if call.arguments.len() != usize::from(takes_count) {
            let expected = usize::from(takes_count);
            self.report(d::argument_count(call.span, &member.name, call.arguments.len(), expected, Span::NONE));
            return poisoned(call.span);
        }
        if builtin != Builtin::IsValid && !self.check_lvalue(&base) {
            return poisoned(call.span);
        }
        let args = match call.arguments.first() {
            Some(argument) => match self.stack_count(argument) {
                Some(count) => vec![Some(count)],
                None => return poisoned(call.span),
            },
            None => Vec::new(),
        };
        let ty = if builtin == Builtin::IsValid { Type::Bool } else { Type::Void };
        let made =
            Call { callee: Callee::Builtin(builtin, Box::new(base)), type_args: Vec::new(), args, order: Vec::new() };
        expr(ExprKind::Call(Box::new(made)), ty, call.span)
    }

    /// The number of elements that are pushed or popped.
    fn stack_count(&mut self, argument: &ast::Argument) -> Option<Expr> {
        let count = self.constant_integer(&argument.value)?;
        if count < BigInt::from(1) || count > BigInt::from(STACK_ELEMENTS_MAX) {
            self.report(d::count_out_of_range(argument.span, &count));
            return None;
        }
        Some(expr(ExprKind::Int(count), Type::Integer, argument.span))
    }
}
