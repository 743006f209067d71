//! Declarations of types: structs, headers, unions, enums, typedefs.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Entity;
use crate::types::fits;
use base::Span;
use num_bigint::BigInt;
use std::rc::Rc;
use syntax::ast::{self, Annotation, DeclarationKind, TypedefTarget};

impl Checker<'_> {
    /// `struct`, `header`, `header_union`
    pub(crate) fn struct_declaration(&mut self, written: &ast::StructDeclaration, annotations: &[Annotation]) {
        self.declared_type = Some(written.name.span);
        let (type_params, fields) = self.with_scope(|checker| {
            let type_params = checker.type_params(&written.type_parameters);
            (type_params, checker.fields(written))
        });
        self.declared_type = None;
        let id = self.hir.structs.push(Struct {
            kind: written.kind,
            name: written.name.name.clone(),
            type_params: type_params.clone(),
            fields,
            annotations: self.known_annotations(annotations),
            span: written.name.span,
        });
        let ty = Type::Struct(id, type_params.into_iter().map(Type::Param).collect());
        if self.is_too_large(&ty) {
            self.report(d::type_too_large(written.name.span));
            self.hir.structs[id].fields.clear();
        }
        self.declare(&written.name, Entity::Struct(id));
    }

    fn fields(&mut self, written: &ast::StructDeclaration) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::with_capacity(written.fields.len());
        for field in &written.fields {
            self.check_annotations(&field.annotations);
            if let Some(first) = fields.iter().find(|other| other.name == field.name.name) {
                self.report(d::duplicate_declaration(&field.name, first.span));
                continue;
            }
            let mut ty = self.resolve_type(&field.type_ref);
            if !self.check_field_type(written.kind, &ty, field.type_ref.span) {
                ty = Type::Unknown;
            }
            fields.push(Field {
                name: field.name.name.clone(),
                ty,
                annotations: self.known_annotations(&field.annotations),
                span: field.name.span,
            });
        }
        fields
    }

    /// `typedef T name;`, `type T name;`
    pub(crate) fn typedef(&mut self, written: &ast::Typedef, annotations: &[Annotation]) {
        let (target, span) = match &written.target {
            TypedefTarget::Type(ty) => (self.resolve_type(ty), ty.span),
            TypedefTarget::Declaration(declaration) => (self.inner_declaration(declaration), declaration.span),
        };
        if !written.is_new_type {
            if target == Type::Void {
                let shown = self.hir.show_type(&target);
                self.report(d::invalid_newtype(span, "typedef", &shown));
            }
            self.declare(&written.name, Entity::Alias(target));
            return;
        }
        let is_fine = matches!(target, Type::Bit(_) | Type::Int(_) | Type::Bool | Type::NewType(_) | Type::Unknown);
        if !is_fine {
            let shown = self.hir.show_type(&target);
            self.report(d::invalid_newtype(span, "type", &shown));
        }
        let target = if is_fine { target } else { Type::Unknown };
        let id = self.hir.new_types.push(NewType {
            name: written.name.name.clone(),
            target,
            annotations: self.known_annotations(annotations),
            span: written.name.span,
        });
        self.declare(&written.name, Entity::NewType(id));
    }

    /// The type of a declaration inside a typedef.
    fn inner_declaration(&mut self, declaration: &ast::Declaration) -> Type {
        match &declaration.kind {
            DeclarationKind::Struct(written) => self.struct_declaration(written, &declaration.annotations),
            DeclarationKind::Enum(written) => self.enum_declaration(written, &declaration.annotations),
            _ => {
                self.report(d::declaration_not_allowed_here(declaration.span, "a typedef"));
                return Type::Unknown;
            }
        }
        let Some(name) = declaration.name() else { return Type::Unknown };
        match self.scopes.local(&name.name).first().map(|binding| binding.entity.clone()) {
            Some(Entity::Struct(id)) if self.hir.structs[id].type_params.is_empty() => Type::Struct(id, Vec::new()),
            Some(Entity::Enum(id)) => Type::Enum(id),
            _ => Type::Unknown,
        }
    }

    /// `enum name { ... }`, `enum T name { ... }`
    pub(crate) fn enum_declaration(&mut self, written: &ast::EnumDeclaration, annotations: &[Annotation]) {
        let representation = written.representation.as_ref().map(|ty| self.enum_representation(ty));
        let mut members: Vec<(Rc<str>, BigInt)> = Vec::with_capacity(written.members.len());
        let mut spans: Vec<Span> = Vec::new();
        for member in &written.members {
            if let Some(first) = members.iter().position(|(name, _)| *name == member.name.name) {
                self.report(d::duplicate_declaration(&member.name, spans[first]));
                continue;
            }
            let value = match &representation {
                Some(representation) => self.enum_value(member, representation),
                None => {
                    if let Some(value) = &member.value {
                        self.report(d::enum_value_without_type(value.span, &written.name.name));
                    }
                    BigInt::from(members.len())
                }
            };
            members.push((member.name.name.clone(), value));
            spans.push(member.name.span);
        }
        let id = self.hir.enums.push(Enum {
            name: written.name.name.clone(),
            representation,
            members,
            annotations: self.known_annotations(annotations),
            span: written.name.span,
        });
        self.declare(&written.name, Entity::Enum(id));
    }

    fn enum_representation(&mut self, written: &ast::Type) -> Type {
        let ty = self.resolve_type(written);
        if !matches!(self.hir.underlying(&ty), Type::Bit(_) | Type::Int(_) | Type::Unknown)
            || matches!(ty, Type::Enum(_))
        {
            let shown = self.hir.show_type(&ty);
            self.report(d::invalid_enum_representation(written.span, &shown));
            return Type::Unknown;
        }
        ty
    }

    fn enum_value(&mut self, member: &ast::EnumMember, representation: &Type) -> BigInt {
        let plain = self.hir.underlying(representation);
        let Some(value) = &member.value else {
            let shown = self.hir.show_type(representation);
            self.report(d::missing_enum_value(&member.name, &shown));
            return BigInt::default();
        };
        let checked = self.operand(value, Some(&plain));
        if !matches!(checked.ty, Type::Integer) && checked.ty != *representation {
            self.coerce(checked, &plain);
            return BigInt::default();
        }
        let Some(number) = self.integer_value(&checked) else { return BigInt::default() };
        if !fits(&number, &plain) {
            let shown = self.hir.show_type(representation);
            self.report(d::enum_value_out_of_range(value.span, &number, &shown));
        }
        number
    }
}
