//! The sizes of types, and which of them are read from packets and written to them.
//!
//! A generic parser or control is checked without its type arguments. The caller that has them repeats the query.

use crate::diagnostics as d;
use crate::hir::*;
use crate::unify::{substitute, substitution};
use base::Span;
use num_bigint::BigInt;
use num_traits::Zero as _;
use syntax::ast::StructKind;
use syntax::diag::Diagnostic;

impl Program {
    /// The fault of a call of `extract`, `lookahead` or `emit` for a value of this type; `has_length` if `extract` has
    /// a second argument. A type parameter has no fault.
    pub fn packet_fault(&self, method: &str, ty: &Type, has_length: bool, span: Span) -> Option<Diagnostic> {
        if matches!(ty, Type::Unknown | Type::Param(_)) {
            return None;
        }
        let invalid = |expected| Some(d::invalid_packet_type(span, method, &self.show_type(ty), expected));
        match method {
            "extract" => self.extraction_fault(ty, has_length, span),
            "lookahead" if self.size_bits(ty).is_none_or(|(low, high)| low != high) => invalid("a type of fixed size"),
            "emit" if !self.can_emit(ty) => invalid("a header, header union, stack, or a struct of them"),
            _ => None,
        }
    }

    fn extraction_fault(&self, ty: &Type, has_length: bool, span: Span) -> Option<Diagnostic> {
        let shown = self.show_type(ty);
        let kind = |ty: &Type| match ty {
            Type::Struct(id, _) => Some(self.structs[*id].kind),
            _ => None,
        };
        let (Type::Struct(id, args), Some(StructKind::Header)) = (ty, kind(ty)) else {
            let diagnostic = d::invalid_packet_type(span, "extract", &shown, "a header");
            return Some(match ty {
                Type::Array(element, _) if kind(element) == Some(StructKind::Header) => {
                    diagnostic.help("extract one element after another: `extract(stack.next)`, in a state that loops")
                }
                _ if kind(ty) == Some(StructKind::HeaderUnion) => diagnostic.help("extract one header of the union"),
                _ => diagnostic,
            });
        };
        let types = self.field_types(*id, args);
        let fields = types.iter().zip(&self.structs[*id].fields);
        let variable: Vec<Span> =
            fields.filter(|(ty, _)| matches!(ty, Type::Varbit(_))).map(|(_, field)| field.span).collect();
        match (variable.as_slice(), has_length) {
            (&[first, second, ..], _) => Some(d::two_varbits(span, &shown, first, second)),
            ([_], false) => {
                let expected = "a second argument: the varbit field's length";
                Some(d::invalid_packet_type(span, "extract", &shown, expected))
            }
            ([], true) => Some(d::invalid_packet_type(span, "extract", &shown, "a header with a varbit field")),
            _ => None,
        }
    }

    fn can_emit(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(id, args) if self.structs[*id].kind == StructKind::Struct => {
                self.field_types(*id, args).iter().all(|field| self.can_emit(field))
            }
            Type::Struct(..) | Type::Unknown | Type::Param(_) => true,
            Type::Array(element, _) => self.can_emit(element),
            Type::Tuple(elements) => elements.iter().all(|element| self.can_emit(element)),
            _ => false,
        }
    }

    /// The type of a field, with these type arguments of its owner.
    pub(crate) fn field_type(&self, owner: StructId, args: &[Type], field: usize) -> Type {
        let owner = &self.structs[owner];
        owner.fields.get(field).map_or(Type::Unknown, |it| substitute(&it.ty, &substitution(&owner.type_params, args)))
    }

    /// The types of all fields.
    pub(crate) fn field_types(&self, owner: StructId, args: &[Type]) -> Vec<Type> {
        (0..self.structs[owner].fields.len()).map(|field| self.field_type(owner, args, field)).collect()
    }

    /// The underlying type of `type` declarations and enum representations.
    pub(crate) fn underlying(&self, ty: &Type) -> Type {
        match ty {
            Type::NewType(id) => self.underlying(&self.new_types[*id].target),
            Type::Enum(id) => match &self.enums[*id].representation {
                Some(representation) => self.underlying(representation),
                None => ty.clone(),
            },
            _ => ty.clone(),
        }
    }

    /// The minimum and maximum width in bits of an emitted value; `None` for a type without a fixed layout. The sum of
    /// widths is unbounded, so it is a big integer.
    pub(crate) fn size_bits(&self, ty: &Type) -> Option<(BigInt, BigInt)> {
        let both = |width: u32| Some((BigInt::from(width), BigInt::from(width)));
        match ty {
            Type::Bool => both(1),
            Type::Bit(width) | Type::Int(width) => both(*width),
            Type::Varbit(width) => Some((BigInt::zero(), BigInt::from(*width))),
            Type::Enum(_) | Type::NewType(_) => match self.underlying(ty) {
                Type::Enum(_) | Type::NewType(_) => None,
                inner => self.size_bits(&inner),
            },
            Type::Array(element, count) => {
                let (low, high) = self.size_bits(element)?;
                Some((low * *count, high * *count))
            }
            Type::Tuple(elements) => self.sum_sizes(elements),
            Type::Struct(id, args) if self.structs[*id].kind == StructKind::HeaderUnion => {
                let fields = self.field_types(*id, args);
                let sizes: Vec<_> = fields.iter().map(|field| self.size_bits(field)).collect::<Option<_>>()?;
                let low = sizes.iter().map(|(low, _)| low.clone()).min().unwrap_or_default();
                let high = sizes.iter().map(|(_, high)| high.clone()).max().unwrap_or_default();
                Some((low, high))
            }
            Type::Struct(id, args) => self.sum_sizes(&self.field_types(*id, args)),
            _ => None,
        }
    }

    fn sum_sizes(&self, types: &[Type]) -> Option<(BigInt, BigInt)> {
        types.iter().try_fold((BigInt::zero(), BigInt::zero()), |(low, high), ty| {
            let (more_low, more_high) = self.size_bits(ty)?;
            Some((low + more_low, high + more_high))
        })
    }
}
