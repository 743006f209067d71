//! Types: bindings of type parameters, which types are scalars, how the fields of headers are laid out.

use crate::varbits::LENGTH;
use crate::{Lowered, Lowerer, codes};
use base::Span;
use base::limits::WIDTH_BITS_MAX;
use sema::hir::{self, Type};
use std::rc::Rc;
use syntax::ast::StructKind;

/// A header type: the IR's type and where the P4 fields are in it. Structs inside a header are flattened.
#[derive(PartialEq, Debug)]
pub(crate) struct HeaderShape {
    pub ty: ir::HeaderTypeId,
    pub fields: Vec<FieldShape>,
}

/// A field of a header.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum FieldShape {
    /// Field `index` of the IR's type.
    Scalar { index: u32, ty: ir::Type },
    /// Field `index` of the IR's type.
    Varbit { index: u32, max: u32 },
    /// A varbit field of a header with several: its length is field `index` of the IR's type, its bits are the next.
    VarbitParts { index: u32, max: u32 },
    /// A struct: its fields.
    Struct(Vec<FieldShape>),
}

/// The structure of a type.
pub(crate) enum Form {
    Scalar(ir::Type),
    Varbit(u32),
    Header(Rc<HeaderShape>),
    /// The members.
    Union(Vec<(Rc<str>, Rc<HeaderShape>)>),
    /// Names and types of a struct's fields or a tuple's elements.
    Tuple(Vec<(Rc<str>, Type)>),
    /// A stack of headers (one member) or unions, and its size.
    Stack {
        members: Vec<(Rc<str>, Rc<HeaderShape>)>,
        is_union: bool,
        size: u32,
    },
    /// Any other array.
    Array(Type, u32),
    /// No storage: extern objects, compile-time values, `void`.
    None,
}

impl<'h> Lowerer<'h> {
    /// `ty` with type parameters replaced by their bindings.
    pub fn resolve(&self, ty: &Type) -> Type {
        if self.types.is_empty() { ty.clone() } else { substitute(ty, &|param| self.types.get(&param).cloned()) }
    }

    /// The types of a struct's fields, given its type arguments.
    pub fn field_types(&self, id: hir::StructId, args: &[Type]) -> Vec<(Rc<str>, Type)> {
        let declaration = &self.hir.structs[id];
        let argument =
            |param| declaration.type_params.iter().position(|&p| p == param).and_then(|i| args.get(i).cloned());
        declaration.fields.iter().map(|field| (field.name.clone(), substitute(&field.ty, &argument))).collect()
    }

    /// The IR's type, if values of the (resolved) type are one value at run time.
    pub fn scalar(&self, ty: &Type) -> Option<ir::Type> {
        match ty {
            Type::Bool => Some(ir::Type::Bool),
            Type::Bit(width) => Some(ir::Type::Bit(*width)),
            Type::Int(width) => Some(ir::Type::Int(*width)),
            Type::Error | Type::ActionEnum(_) => Some(ir::Type::Bit(32)),
            Type::Enum(id) => match &self.hir.enums[*id].representation {
                Some(representation) => self.scalar(representation),
                None => Some(ir::Type::Bit(32)),
            },
            Type::NewType(id) => self.scalar(&self.hir.new_types[*id].target),
            _ => None,
        }
    }

    /// The resolved type as one run-time value, or an error.
    pub fn scalar_or_refuse(&mut self, ty: &Type, span: Span) -> Lowered<ir::Type> {
        let ty = self.resolve(ty);
        match self.scalar(&ty) {
            Some(scalar) if scalar.width() == 0 => self.unsupported(span, "values of no width"),
            Some(scalar) => Ok(scalar),
            None => self.unsupported(span, "a value of this type here"),
        }
    }

    /// The structure of the type.
    pub fn form(&mut self, ty: &Type, span: Span) -> Lowered<Form> {
        let ty = self.resolve(ty);
        if let Some(scalar) = self.scalar(&ty) {
            return Ok(Form::Scalar(scalar));
        }
        Ok(match &ty {
            Type::Varbit(max) => Form::Varbit(*max),
            Type::Struct(id, args) => match self.hir.structs[*id].kind {
                StructKind::Struct => Form::Tuple(self.field_types(*id, args)),
                StructKind::Header => Form::Header(self.header_shape(*id, args)?),
                StructKind::HeaderUnion => Form::Union(self.union_members(*id, args, span)?),
            },
            Type::Tuple(items) => {
                Form::Tuple(items.iter().enumerate().map(|(i, item)| (Rc::from(i.to_string()), item.clone())).collect())
            }
            // An empty array has no storage, whatever its element type.
            Type::Array(_, 0) => Form::Tuple(Vec::new()),
            Type::Array(element, size) => match self.form(element, span)? {
                Form::Header(shape) => {
                    Form::Stack { members: vec![(Rc::from(""), shape)], is_union: false, size: *size }
                }
                Form::Union(members) => Form::Stack { members, is_union: true, size: *size },
                _ => Form::Array((**element).clone(), *size),
            },
            Type::NewType(id) => {
                let target = self.hir.new_types[*id].target.clone();
                return self.nested(span, |l| l.form(&target, span));
            }
            Type::Unknown => return Err(crate::Refused),
            _ => Form::None,
        })
    }

    fn union_members(
        &mut self,
        id: hir::StructId,
        args: &[Type],
        span: Span,
    ) -> Lowered<Vec<(Rc<str>, Rc<HeaderShape>)>> {
        let fields = self.field_types(id, args);
        let shape = |(name, ty): &(Rc<str>, Type)| match self.form(ty, span)? {
            Form::Header(shape) => Ok((name.clone(), shape)),
            _ => self.unsupported(span, "members of a header union that are not headers"),
        };
        fields.iter().map(shape).collect()
    }

    /// The layout of a header type; made once.
    pub fn header_shape(&mut self, id: hir::StructId, args: &[Type]) -> Lowered<Rc<HeaderShape>> {
        let key = (id, args.to_vec());
        if let Some(shape) = self.memo.shapes.get(&key) {
            return Ok(shape.clone());
        }
        let declaration = &self.hir.structs[id];
        let mut flat = Vec::new();
        let fields = self.field_types(id, args);
        let mut shapes = self.field_shapes(&fields, "", false, &mut flat, declaration.span)?;
        if flat.iter().filter(|field| matches!(field.ty, ir::FieldType::Varbit(_))).count() > 1 {
            flat.clear();
            shapes = self.field_shapes(&fields, "", true, &mut flat, declaration.span)?;
        }
        let mut ty = ir::HeaderType { name: declaration.name.to_string(), fields: flat };
        // As in the reference switch, it is padded at the end to whole bytes.
        let missing = ty.fixed_width().next_multiple_of(8) - ty.fixed_width();
        if missing > 0 {
            let padding = ir::FieldType::Fixed(ir::Type::Bit(missing));
            ty.fields.push(ir::HeaderField { name: "_padding".to_owned(), ty: padding });
        }
        let shape = Rc::new(HeaderShape { ty: self.ir.header_types.push(ty), fields: shapes });
        self.memo.shapes.insert(key, shape.clone());
        Ok(shape)
    }

    /// The fields, which are added to `flat` as the IR has them; varbit fields `in_parts` as length and number.
    fn field_shapes(
        &mut self,
        fields: &[(Rc<str>, Type)],
        prefix: &str,
        in_parts: bool,
        flat: &mut Vec<ir::HeaderField>,
        span: Span,
    ) -> Lowered<Vec<FieldShape>> {
        let mut shapes = Vec::new();
        for (name, ty) in fields {
            let name = format!("{prefix}{name}");
            let index = flat.len() as u32;
            shapes.push(match self.form(ty, span)? {
                Form::Scalar(ty) => {
                    flat.push(ir::HeaderField { name, ty: ir::FieldType::Fixed(ty) });
                    FieldShape::Scalar { index, ty }
                }
                // Nothing can be stored in it.
                Form::Varbit(0) if in_parts => FieldShape::Struct(Vec::new()),
                Form::Varbit(max) if in_parts => {
                    let length = ir::HeaderField { name: format!("{name}.$length"), ty: ir::FieldType::Fixed(LENGTH) };
                    let bits = ir::HeaderField { name, ty: ir::FieldType::Fixed(ir::Type::Bit(max)) };
                    flat.extend([length, bits]);
                    FieldShape::VarbitParts { index, max }
                }
                Form::Varbit(max) => {
                    flat.push(ir::HeaderField { name, ty: ir::FieldType::Varbit(max) });
                    FieldShape::Varbit { index, max }
                }
                Form::Array(element, size) => {
                    let inner: Vec<_> = (0..size).map(|at| (Rc::from(at.to_string()), element.clone())).collect();
                    let prefix = format!("{name}.");
                    FieldShape::Struct(self.nested(span, |l| l.field_shapes(&inner, &prefix, in_parts, flat, span))?)
                }
                Form::Tuple(inner) => {
                    let prefix = format!("{name}.");
                    FieldShape::Struct(self.nested(span, |l| l.field_shapes(&inner, &prefix, in_parts, flat, span))?)
                }
                _ => return self.unsupported(span, format!("the type of field `{name}` in a header")),
            });
        }
        if flat.iter().map(|field| field_width(field.ty) as u64).sum::<u64>() > u64::from(WIDTH_BITS_MAX) * 4 {
            return self.refuse(codes::LIMIT, span, "the header is too large");
        }
        Ok(shapes)
    }

    /// The IR's type of the header that is referred to.
    pub fn header_type(&self, header: &ir::HeaderRef) -> ir::HeaderTypeId {
        let first = |stack: ir::StackId| self.ir.headers[self.ir.stacks[stack].elements[0]].ty;
        match header {
            ir::HeaderRef::Fixed(id) => self.ir.headers[*id].ty,
            ir::HeaderRef::Element { stack, .. } | ir::HeaderRef::Next(stack) | ir::HeaderRef::Last(stack) => {
                first(*stack)
            }
        }
    }
}

fn field_width(ty: ir::FieldType) -> u32 {
    match ty {
        ir::FieldType::Fixed(ty) => ty.width(),
        ir::FieldType::Varbit(max) => max,
    }
}

fn substitute(ty: &Type, argument: &dyn Fn(hir::TypeParamId) -> Option<Type>) -> Type {
    let all = |types: &[Type]| types.iter().map(|ty| substitute(ty, argument)).collect::<Vec<_>>();
    match ty {
        Type::Param(id) => argument(*id).unwrap_or_else(|| ty.clone()),
        Type::Struct(id, args) => Type::Struct(*id, all(args)),
        Type::Array(element, size) => Type::Array(Box::new(substitute(element, argument)), *size),
        Type::Tuple(items) => Type::Tuple(all(items)),
        Type::List(item) => Type::List(Box::new(substitute(item, argument))),
        Type::Extern(id, args) => Type::Extern(*id, all(args)),
        Type::Parser(id, args) => Type::Parser(*id, all(args)),
        Type::Control(id, args) => Type::Control(*id, all(args)),
        Type::Apply(id, args) => Type::Apply(*id, all(args)),
        Type::ValueSet(item) => Type::ValueSet(Box::new(substitute(item, argument))),
        Type::Set(item) => Type::Set(Box::new(substitute(item, argument))),
        _ => ty.clone(),
    }
}
