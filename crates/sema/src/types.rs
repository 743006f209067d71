//! Resolves types, and checks which types are allowed where.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Entity;
use crate::unify::any_type;
use base::Span;
use base::limits::{STACK_ELEMENTS_MAX, WIDTH_BITS_MAX};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use syntax::ast::{self, StructKind};

/// The maximum number of parts of a written type after its typedefs are expanded: more is a mistake or an attack.
const TYPE_PARTS_MAX: usize = 1 << 12;

/// The maximum number of scalars (numbers, booleans) in one value, so that nested structs cannot grow without bound.
const VALUE_LEAVES_MAX: usize = 1 << 16;

/// The treatment of type arguments that are omitted or written `_`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Omitted {
    /// They must be written. In a declaration with parameters `_` stands for an unnamed type parameter.
    Refuse,
    /// They must be written; `_` is inferred.
    DontCare,
    /// They are inferred.
    Infer,
}

/// The name of an undeclared type parameter for `_`.
const UNNAMED: &str = "_";

impl Program {
    /// The number of type parameters for which a program can write arguments.
    pub(crate) fn named_count(&self, params: &[TypeParamId]) -> usize {
        params.iter().filter(|&&param| &*self.type_params[param].name != UNNAMED).count()
    }
}

impl Checker<'_> {
    /// Resolves a written type.
    pub(crate) fn resolve_type(&mut self, written: &ast::Type) -> Type {
        self.resolve_type_with(written, Omitted::Refuse)
    }

    /// Resolves a written type; type arguments may be left to inference.
    pub(crate) fn resolve_type_with(&mut self, written: &ast::Type, omitted: Omitted) -> Type {
        let ty = self.resolve_kind(written, omitted);
        let mut parts = 0;
        any_type(&ty, &mut |_| {
            parts += 1;
            parts > TYPE_PARTS_MAX
        });
        if parts > TYPE_PARTS_MAX || self.is_too_large(&ty) {
            self.report(d::type_too_large(written.span));
            return Type::Unknown;
        }
        ty
    }

    /// Whether a value of the type has more scalars than any stage can handle.
    pub(crate) fn is_too_large(&self, ty: &Type) -> bool {
        self.leaf_count(ty, VALUE_LEAVES_MAX) > VALUE_LEAVES_MAX
    }

    /// The number of scalars in a value of the type; stops counting when it exceeds `limit`.
    fn leaf_count(&self, ty: &Type, limit: usize) -> usize {
        let sum = |types: &[Type]| {
            let mut count = 1;
            for part in types {
                if count > limit {
                    break;
                }
                count += self.leaf_count(part, limit - count);
            }
            count
        };
        match ty {
            Type::Struct(id, args) => sum(&self.hir.field_types(*id, args)),
            Type::Tuple(elements) => sum(elements),
            Type::Array(element, count) => self.leaf_count(element, limit).saturating_mul(*count as usize),
            _ => 1,
        }
    }

    fn resolve_kind(&mut self, written: &ast::Type, omitted: Omitted) -> Type {
        match &written.kind {
            ast::TypeKind::Bool => Type::Bool,
            ast::TypeKind::Error => Type::Error,
            ast::TypeKind::MatchKind => Type::MatchKind,
            ast::TypeKind::String => Type::String,
            ast::TypeKind::Void => Type::Void,
            ast::TypeKind::Integer => Type::Integer,
            ast::TypeKind::Bit(None) => Type::Bit(1),
            ast::TypeKind::Bit(Some(width)) => self.width(width, "bit").map_or(Type::Unknown, Type::Bit),
            ast::TypeKind::Int(width) => self.width(width, "int").map_or(Type::Unknown, Type::Int),
            ast::TypeKind::Varbit(width) => self.width(width, "varbit").map_or(Type::Unknown, Type::Varbit),
            ast::TypeKind::Named(path) => self.resolve_named(path, None, written.span, omitted),
            ast::TypeKind::Specialized { base, arguments } => {
                let arguments = arguments.iter().map(|argument| self.resolve_type_with(argument, omitted)).collect();
                self.resolve_named(base, Some(arguments), written.span, omitted)
            }
            ast::TypeKind::Array { element, size } => self.resolve_array(element, size, omitted),
            ast::TypeKind::Tuple(elements) => {
                let resolved: Vec<Type> = elements.iter().map(|it| self.resolve_type_with(it, omitted)).collect();
                for (ty, element) in resolved.iter().zip(elements) {
                    self.check_element_type(ty, element.span, "a tuple");
                }
                Type::Tuple(resolved)
            }
            ast::TypeKind::List(element) => Type::List(Box::new(self.resolve_type_with(element, omitted))),
            ast::TypeKind::DontCare => self.unnamed_type(written.span, omitted),
        }
    }

    /// The type for `_`.
    fn unnamed_type(&mut self, span: Span, omitted: Omitted) -> Type {
        if omitted != Omitted::Refuse {
            return self.fresh_variable();
        }
        let id = TypeParam { name: UNNAMED.into(), span };
        let Some(unnamed) = &mut self.unnamed_type_params else {
            self.report(d::misplaced_dont_care_type(span));
            return Type::Unknown;
        };
        let id = self.hir.type_params.push(id);
        unnamed.push(id);
        Type::Param(id)
    }

    /// Runs `work`, which resolves the types of parameters, and returns the type parameters for each `_` among them.
    pub(crate) fn with_unnamed_types<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> (R, Vec<TypeParamId>) {
        let outer = self.unnamed_type_params.replace(Vec::new());
        let result = work(self);
        let unnamed = std::mem::replace(&mut self.unnamed_type_params, outer).unwrap_or_default();
        (result, unnamed)
    }

    fn resolve_array(&mut self, element: &ast::Type, size: &ast::Expr, omitted: Omitted) -> Type {
        let element_type = self.resolve_type_with(element, omitted);
        let Some(count) = self.constant_integer(size) else { return Type::Unknown };
        if count.is_negative() || count > BigInt::from(STACK_ELEMENTS_MAX) {
            self.report(d::array_size_out_of_range(size.span, &count));
            return Type::Unknown;
        }
        self.check_element_type(&element_type, element.span, "an array");
        Type::Array(Box::new(element_type), count.to_u32().unwrap_or(0))
    }

    /// The width in `bit<...>` and the like.
    fn width(&mut self, written: &ast::Expr, type_name: &str) -> Option<u32> {
        let width = self.constant_integer(written)?;
        // A signed number has at least its sign bit.
        let lowest = u32::from(type_name == "int");
        if width < BigInt::from(lowest) || width > BigInt::from(WIDTH_BITS_MAX) {
            self.report(d::width_out_of_range(written.span, type_name, &width));
            return None;
        }
        width.to_u32()
    }

    fn resolve_named(&mut self, path: &ast::Path, arguments: Option<Vec<Type>>, span: Span, omitted: Omitted) -> Type {
        let Some(binding) = self.scopes.lookup_path(path).first().cloned() else {
            self.report_unknown_name(&path.name, Entity::is_type);
            return Type::Unknown;
        };
        if !binding.entity.is_type() {
            if binding.entity != Entity::Poisoned {
                self.report(d::wrong_kind_of_name(&path.name, "a type", binding.entity.kind_name(), binding.span));
            }
            return Type::Unknown;
        }
        self.warn_if_name_deprecated(&path.name, &binding);
        let params = self.type_params_of(&binding.entity);
        let (arity, all) = (self.hir.named_count(params), params.len());
        let mut arguments = match arguments {
            Some(arguments) if arguments.len() == arity => arguments,
            Some(arguments) => {
                self.report(d::type_argument_count(span, &path.name.name, arguments.len(), arity, binding.span));
                return Type::Unknown;
            }
            None if arity == 0 => Vec::new(),
            None if omitted == Omitted::Infer => (0..arity).map(|_| self.fresh_variable()).collect(),
            None => {
                self.report(d::type_argument_count(span, &path.name.name, 0, arity, binding.span));
                return Type::Unknown;
            }
        };
        while arguments.len() < all {
            arguments.push(self.unnamed_type(span, omitted));
        }
        let ty = entity_type(&binding.entity, arguments);
        self.check_specialised_fields(&ty, span);
        if let Type::Struct(id, args) = &ty
            && !args.is_empty()
            && args.iter().all(is_concrete)
        {
            let place = InstancePlace::new(span, self.hir.generic_structs.len());
            let first = self.hir.generic_structs.entry((*id, args.clone())).or_insert(place);
            *first = place.min(*first);
        }
        ty
    }

    /// Reports type arguments that give a field a type that it cannot have.
    fn check_specialised_fields(&mut self, ty: &Type, span: Span) {
        let Type::Struct(id, args) = ty else { return };
        if args.is_empty() {
            return;
        }
        let kind = self.hir.structs[*id].kind;
        for field in self.hir.field_types(*id, args) {
            if !self.check_field_type(kind, &field, span) {
                break;
            }
        }
    }

    fn type_params_of(&self, entity: &Entity) -> &[TypeParamId] {
        match entity {
            Entity::Struct(id) => &self.hir.structs[*id].type_params,
            Entity::Extern(id) => &self.hir.externs[*id].type_params,
            Entity::Parser(id) => &self.hir.parsers[*id].type_params,
            Entity::Control(id) => &self.hir.controls[*id].type_params,
            Entity::ApplyType(id) => &self.hir.apply_types[*id].type_params,
            _ => &[],
        }
    }

    /// Whether the type is a header.
    pub(crate) fn is_header(&self, ty: &Type) -> bool {
        matches!(ty, Type::Struct(id, _) if self.hir.structs[*id].kind == StructKind::Header)
    }

    /// Whether the type is a header union.
    pub(crate) fn is_union(&self, ty: &Type) -> bool {
        matches!(ty, Type::Struct(id, _) if self.hir.structs[*id].kind == StructKind::HeaderUnion)
    }

    /// Whether the type is a struct, not a header or a header union.
    pub(crate) fn is_plain_struct(&self, ty: &Type) -> bool {
        matches!(ty, Type::Struct(id, _) if self.hir.structs[*id].kind == StructKind::Struct)
    }

    /// The representation of an enum that has one.
    pub(crate) fn representation(&self, ty: &Type) -> Option<&Type> {
        match ty {
            Type::Enum(id) => self.hir.enums[*id].representation.as_ref(),
            _ => None,
        }
    }

    /// Reports an error unless a variable, parameter with direction or result may have this type.
    pub(crate) fn check_variable_type(&mut self, ty: &Type, span: Span, what: &str) -> bool {
        let is_fine = !has_compile_time_element(ty)
            && !matches!(
                ty,
                Type::Void
                    | Type::Integer
                    | Type::String
                    | Type::MatchKind
                    | Type::Extern(..)
                    | Type::Parser(..)
                    | Type::Control(..)
                    | Type::Apply(..)
                    | Type::Table(_)
                    | Type::Action
                    | Type::ValueSet(_)
                    | Type::Set(_)
                    | Type::List(_)
            );
        if !is_fine {
            let shown = self.hir.show_type(ty);
            self.report(d::invalid_variable_type(span, what, &shown));
        }
        is_fine
    }

    /// Reports an error unless a tuple or array may have elements of this type.
    fn check_element_type(&mut self, ty: &Type, span: Span, container: &str) {
        let is_fine = match ty {
            Type::Extern(..) => container != "a tuple",
            Type::Void | Type::Parser(..) | Type::Control(..) | Type::Apply(..) | Type::List(_) => false,
            Type::Array(inner, _) if container == "an array" => !self.is_header(inner) && !self.is_union(inner),
            // The reference compiler also accepts match kinds: values of the tuple need not exist at run time.
            Type::Integer | Type::String | Type::MatchKind => container == "a tuple",
            _ => true,
        };
        if !is_fine {
            let shown = self.hir.show_type(ty);
            self.report(d::invalid_field_type(span, container, &shown));
        }
    }

    /// Reports an error unless a struct, header or header union may have a field of this type.
    pub(crate) fn check_field_type(&mut self, kind: StructKind, ty: &Type, span: Span) -> bool {
        let is_fine = match kind {
            _ if matches!(ty, Type::Array(element, _) if **element == Type::Unknown) => true,
            StructKind::Header => self.fits_in_header(ty),
            StructKind::HeaderUnion => self.is_header(ty) || matches!(ty, Type::Unknown | Type::Param(_)),
            StructKind::Struct => is_run_time_type(ty),
        };
        if !is_fine {
            let shown = self.hir.show_type(ty);
            self.report(d::invalid_field_type(span, struct_kind_name(kind), &shown));
        }
        is_fine
    }

    fn fits_in_header(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Bit(_) | Type::Int(_) | Type::Varbit(_) | Type::Param(_) | Type::Unknown => true,
            Type::Enum(id) => self.hir.enums[*id].representation.is_some(),
            Type::NewType(id) => self.fits_in_header(&self.hir.new_types[*id].target),
            Type::Array(element, _) => self.fits_in_header(element) && !matches!(**element, Type::Varbit(_)),
            Type::Struct(id, args) if self.hir.structs[*id].kind == StructKind::Struct => {
                let types = self.hir.field_types(*id, args);
                types.iter().all(|field| self.fits_in_header(field) && !matches!(field, Type::Varbit(_)))
            }
            _ => false,
        }
    }

    /// Whether `==` compares values of this type.
    pub(crate) fn is_comparable(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Integer | Type::Bit(_) | Type::Int(_) | Type::Varbit(_) | Type::Error => true,
            Type::Enum(_) | Type::NewType(_) | Type::MatchKind | Type::Unknown => true,
            Type::Struct(id, args) => self.hir.field_types(*id, args).iter().all(|field| self.is_comparable(field)),
            Type::Array(element, _) => self.is_comparable(element),
            Type::Tuple(elements) => elements.iter().all(|element| self.is_comparable(element)),
            Type::Param(_) => true,
            _ => false,
        }
    }
}

/// Whether the type is a tuple with a part that only has a value at compile time.
pub(crate) fn has_compile_time_element(ty: &Type) -> bool {
    let Type::Tuple(elements) = ty else { return false };
    elements.iter().any(|element| {
        matches!(element, Type::Integer | Type::String | Type::MatchKind) || has_compile_time_element(element)
    })
}

/// Whether a struct may have fields of the type.
fn is_run_time_type(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Bool
            | Type::Bit(_)
            | Type::Int(_)
            | Type::Varbit(_)
            | Type::Error
            | Type::Struct(..)
            | Type::Enum(_)
            | Type::NewType(_)
            | Type::Array(..)
            | Type::Tuple(_)
            | Type::Param(_)
            | Type::Unknown
    )
}

/// The kind with its article, for messages.
pub(crate) fn struct_kind_name(kind: StructKind) -> &'static str {
    match kind {
        StructKind::Struct => "a struct",
        StructKind::Header => "a header",
        StructKind::HeaderUnion => "a header union",
    }
}

/// Whether a type contains no type parameter.
fn is_concrete(ty: &Type) -> bool {
    match ty {
        Type::Param(_) | Type::Unknown => false,
        Type::Struct(_, args) | Type::Tuple(args) | Type::Extern(_, args) => args.iter().all(is_concrete),
        Type::Array(element, _) | Type::List(element) => is_concrete(element),
        _ => true,
    }
}

/// The type that an entity refers to.
fn entity_type(entity: &Entity, arguments: Vec<Type>) -> Type {
    match entity {
        Entity::Struct(id) => Type::Struct(*id, arguments),
        Entity::Enum(id) => Type::Enum(*id),
        Entity::NewType(id) => Type::NewType(*id),
        Entity::Alias(ty) => ty.clone(),
        Entity::Extern(id) => Type::Extern(*id, arguments),
        Entity::Parser(id) => Type::Parser(*id, arguments),
        Entity::Control(id) => Type::Control(*id, arguments),
        Entity::ApplyType(id) => Type::Apply(*id, arguments),
        Entity::TypeParam(id) => Type::Param(*id),
        _ => Type::Unknown,
    }
}

/// Whether `value` is in the range of a signed or unsigned type.
pub(crate) fn fits(value: &BigInt, ty: &Type) -> bool {
    match ty {
        Type::Bit(width) => !value.is_negative() && value.bits() <= u64::from(*width),
        Type::Int(width) => {
            let magnitude = if value.is_negative() { value + 1 } else { value.clone() };
            magnitude.bits() < u64::from(*width)
        }
        _ => true,
    }
}

/// The value truncated to the width of its type, in two's complement.
pub(crate) fn wrap(value: &BigInt, ty: &Type) -> BigInt {
    let cut = |width: u32| {
        let modulus = BigInt::from(1) << width;
        num_integer::Integer::mod_floor(value, &modulus)
    };
    match ty {
        Type::Bit(width) => cut(*width),
        Type::Int(width) => {
            let low = cut(*width);
            if low.bit(u64::from(*width) - 1) { low - (BigInt::from(1) << *width) } else { low }
        }
        _ => value.clone(),
    }
}
