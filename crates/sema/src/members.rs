//! `base.member` that is not called: fields, enum members, and the members of stacks and tables.

use crate::checker::{Checker, expr, poisoned};
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::did_you_mean;
use base::Span;
use num_bigint::BigInt;
use syntax::ast;
use syntax::diag::Diagnostic;

impl Checker<'_> {
    /// The type that an expression refers to, if it is a type's name.
    pub(crate) fn named_type(&mut self, written: &ast::Expr) -> Option<Type> {
        match &written.kind {
            ast::ExprKind::Type(ty) => Some(self.resolve_type(ty)),
            ast::ExprKind::Name(path) => {
                let binding = self.scopes.lookup_path(path).first()?;
                if !binding.entity.is_type() {
                    return None;
                }
                let kind = ast::TypeKind::Named(path.clone());
                Some(self.resolve_type(&ast::Type { kind, span: path.span }))
            }
            _ => None,
        }
    }

    /// `base.member`
    pub(crate) fn member(&mut self, base: &ast::Expr, member: &ast::Ident, span: Span) -> Expr {
        if let Some(ty) = self.named_type(base) {
            return self.static_member(&ty, member, span);
        }
        let base = self.expr(base, None);
        match base.ty.clone() {
            Type::Unknown => poisoned(span),
            Type::Struct(id, args) => self.field(base, id, &args, member, span),
            Type::Array(element, size) => self.stack_member(base, &element, size, member, span),
            Type::ApplyResult(table) => self.apply_result_member(base, table, member, span),
            other => {
                let shown = self.hir.show_type(&other);
                let diagnostic = d::no_members(member, &shown);
                let is_method = match &other {
                    Type::Extern(id, _) => self.hir.externs[*id].methods.iter().any(|it| it.name == member.name),
                    Type::Table(_) | Type::Parser(..) | Type::Control(..) => member.as_str() == "apply",
                    _ => false,
                };
                self.report(match (&other, member.as_str()) {
                    (Type::Table(_), name) if is_apply_result(name) => {
                        as_apply_result(diagnostic, shown.trim_start_matches("table "), name)
                    }
                    _ if is_method => as_method(diagnostic, member),
                    _ => diagnostic,
                });
                poisoned(span)
            }
        }
    }

    /// Whether headers, unions, stacks or all values have a method of this name.
    fn is_builtin_method(&self, ty: &Type, name: &str) -> bool {
        let is_stack = matches!(ty, Type::Array(element, _) if self.is_header(element) || self.is_union(element));
        match name {
            "isValid" => self.is_header(ty) || self.is_union(ty),
            "setValid" | "setInvalid" => self.is_header(ty),
            "push_front" | "pop_front" => is_stack,
            "minSizeInBits" | "minSizeInBytes" | "maxSizeInBits" | "maxSizeInBytes" => true,
            _ => false,
        }
    }

    /// The method that is meant by another language's name for the validity of a header or union.
    pub(crate) fn validity_help(&self, ty: &Type, name: &str) -> Option<&'static str> {
        let is_meant = matches!(name, "valid" | "is_valid" | "validity");
        let has_method = self.is_header(ty) || self.is_union(ty);
        (is_meant && has_method).then_some("a header is tested with `.isValid()`")
    }

    fn static_member(&mut self, ty: &Type, member: &ast::Ident, span: Span) -> Expr {
        let names: Vec<_> = match ty {
            Type::Unknown => return poisoned(span),
            Type::Error => self.hir.errors.clone(),
            Type::MatchKind => self.hir.match_kinds.clone(),
            Type::Enum(id) => self.hir.enums[*id].members.iter().map(|(name, _)| name.clone()).collect(),
            other => {
                let shown = self.hir.show_type(other);
                self.report(d::no_members(member, &format!("the type {shown}")));
                return poisoned(span);
            }
        };
        let Some(position) = names.iter().position(|name| *name == member.name) else {
            let shown = self.hir.show_type(ty);
            let suggestion = did_you_mean(&member.name, names.iter().map(|name| &**name));
            let mut diagnostic = d::unknown_member(member, &shown, suggestion, self.type_span(ty));
            if names.is_empty() && *ty == Type::Error {
                diagnostic = diagnostic.help("add `#include <core.p4>`");
            }
            self.report(diagnostic);
            return poisoned(span);
        };
        let kind = match ty {
            Type::Error => ExprKind::Error(position),
            Type::MatchKind => ExprKind::MatchKind(position),
            _ => ExprKind::EnumMember(position),
        };
        expr(kind, ty.clone(), span)
    }

    /// The location of a type's declaration.
    pub(crate) fn type_span(&self, ty: &Type) -> Span {
        match ty {
            Type::Struct(id, _) => self.hir.structs[*id].span,
            Type::Enum(id) => self.hir.enums[*id].span,
            Type::NewType(id) => self.hir.new_types[*id].span,
            Type::Extern(id, _) => self.hir.externs[*id].span,
            Type::Parser(id, _) => self.hir.parsers[*id].span,
            Type::Control(id, _) => self.hir.controls[*id].span,
            Type::Apply(id, _) => self.hir.apply_types[*id].span,
            _ => Span::NONE,
        }
    }

    fn field(&mut self, base: Expr, id: StructId, args: &[Type], member: &ast::Ident, span: Span) -> Expr {
        let Some(position) = self.hir.structs[id].fields.iter().position(|field| field.name == member.name) else {
            if self.is_builtin_method(&base.ty, member.as_str()) {
                let owner = &self.hir.structs[id];
                let diagnostic = d::unknown_member(member, &owner.name, None, owner.span);
                self.report(as_method(diagnostic, member));
            } else if let Some(help) = self.validity_help(&base.ty, member.as_str()) {
                let owner = &self.hir.structs[id];
                let diagnostic = d::unknown_member(member, &owner.name, None, owner.span);
                self.report(diagnostic.help(help));
            } else {
                self.report_unknown_field(member, id);
            }
            return poisoned(span);
        };
        let ty = self.hir.field_type(id, args, position);
        expr(ExprKind::Field(Box::new(base), position), ty, span)
    }

    /// Reports that a struct does not have this field.
    pub(crate) fn report_unknown_field(&mut self, member: &ast::Ident, id: StructId) {
        let owner = &self.hir.structs[id];
        let suggestion = did_you_mean(&member.name, owner.fields.iter().map(|field| &*field.name));
        let diagnostic = d::unknown_member(member, &owner.name, suggestion, owner.span);
        self.report(diagnostic);
    }

    fn stack_member(&mut self, base: Expr, element: &Type, size: u32, member: &ast::Ident, span: Span) -> Expr {
        let is_stack = self.is_header(element) || self.is_union(element);
        let make = |kind, ty| expr(kind, ty, span);
        match member.as_str() {
            "size" => {
                self.note_sized(&base);
                make(ExprKind::Int(BigInt::from(size)), Type::Bit(32))
            }
            "next" | "last" | "lastIndex" if !is_stack => {
                let shown = self.hir.show_type(&base.ty);
                self.report(d::not_a_header_stack(member, &shown));
                poisoned(span)
            }
            "next" | "last" | "lastIndex" if !self.context.in_parser => {
                self.report(d::stack_member_outside_parser(member));
                poisoned(span)
            }
            "next" => make(ExprKind::StackNext(Box::new(base)), element.clone()),
            "last" => make(ExprKind::StackLast(Box::new(base)), element.clone()),
            "lastIndex" => make(ExprKind::StackLastIndex(Box::new(base)), Type::Bit(32)),
            name => {
                let shown = self.hir.show_type(&base.ty);
                if self.is_builtin_method(&base.ty, name) {
                    self.report(as_method(d::unknown_member(member, &shown, None, Span::NONE), member));
                    return poisoned(span);
                }
                let suggestion = did_you_mean(name, ["size", "next", "last", "lastIndex"]);
                self.report(d::unknown_member(member, &shown, suggestion, Span::NONE));
                poisoned(span)
            }
        }
    }

    fn apply_result_member(&mut self, base: Expr, table: TableId, member: &ast::Ident, span: Span) -> Expr {
        match member.as_str() {
            "hit" => expr(ExprKind::Hit(Box::new(base)), Type::Bool, span),
            "miss" => expr(ExprKind::Miss(Box::new(base)), Type::Bool, span),
            // Only `switch` accepts it, and looks at the call inside.
            "action_run" => expr(base.kind, Type::ActionEnum(table), span),
            name => {
                let suggestion = did_you_mean(name, ["hit", "miss", "action_run"]);
                let shown = self.hir.show_type(&base.ty);
                self.report(d::unknown_member(member, &shown, suggestion, Span::NONE));
                poisoned(span)
            }
        }
    }
}

/// Adds the syntax of a method call, for a method without parentheses.
fn as_method(diagnostic: Diagnostic, member: &ast::Ident) -> Diagnostic {
    diagnostic.help(format!("`{0}` is a method, which is called with parentheses: `{0}()`", member.name))
}

/// Whether this is a part of the result of applying a table.
pub(crate) fn is_apply_result(name: &str) -> bool {
    matches!(name, "hit" | "miss" | "action_run")
}

/// Adds how a part of the result of applying a table is written.
pub(crate) fn as_apply_result(diagnostic: Diagnostic, table: &str, name: &str) -> Diagnostic {
    diagnostic.help(format!("write `{table}.apply().{name}`, which applies the table"))
}
