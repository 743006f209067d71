//! Values: the results of expressions, at compile time and at run time.

use crate::objects::ObjectId;
use crate::places::{HeaderPlace, Place, StackPlace};
use crate::storage::Life;
use crate::types::{FieldShape, Form, HeaderShape};
use crate::varbits::parts_equal;
use crate::{Lowered, Lowerer, STORAGE_MAX, codes, fold};
use base::{Bits, Span};
use ir::{BinaryOp, HeaderRef};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use sema::hir::Type;
use std::rc::Rc;

/// The result of an expression. Parts in storage are read where the value is used: a value that is used after further
/// statements must be copied with [`Lowerer::spill`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    /// One value at run time.
    Scalar(ir::Expr),
    /// An `int`.
    Integer(BigInt),
    String(Rc<str>),
    /// An instance.
    Object(ObjectId),
    /// A varbit field.
    Varbit {
        header: HeaderRef,
        field: u32,
        max: u32,
    },
    /// A varbit field of a header with several: its length, and a number whose other bits are zero.
    VarbitParts {
        length: ir::Expr,
        bits: ir::Expr,
    },
    Header(HeaderValue),
    /// Fields of a struct, elements of a tuple, list or array.
    Tuple(Vec<Value>),
    /// The members of a union.
    Union(Vec<HeaderValue>),
    Stack(Rc<StackPlace>),
    Void,
}

/// A header as a value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct HeaderValue {
    pub shape: Rc<HeaderShape>,
    pub kind: HeaderKind,
}

/// Where a header's value comes from.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum HeaderKind {
    Ref(HeaderRef),
    /// A valid header with these fields.
    Fields(Vec<Value>),
    Invalid,
}

impl HeaderValue {
    /// Field `field` of the P4 header.
    pub fn field(&self, field: usize, lowerer: &Lowerer<'_>) -> Option<Value> {
        match &self.kind {
            HeaderKind::Ref(header) => {
                let place = HeaderPlace::new(header.clone(), self.shape.clone()).field(field)?;
                Some(lowerer.read(&place))
            }
            HeaderKind::Fields(fields) => fields.get(field).cloned(),
            HeaderKind::Invalid => self.shape.fields.get(field).map(zero_of_shape),
        }
    }

    /// Whether it is valid.
    pub fn is_valid(&self) -> ir::Expr {
        match &self.kind {
            HeaderKind::Ref(header) => ir::Expr { kind: ir::ExprKind::IsValid(header.clone()), ty: ir::Type::Bool },
            HeaderKind::Fields(_) => ir::Expr::bool(true),
            HeaderKind::Invalid => ir::Expr::bool(false),
        }
    }
}

fn zero_of_shape(shape: &FieldShape) -> Value {
    match shape {
        FieldShape::Scalar { ty, .. } => Value::Scalar(zero(*ty)),
        FieldShape::Varbit { .. } | FieldShape::VarbitParts { .. } => Value::Tuple(Vec::new()),
        FieldShape::Struct(fields) => Value::Tuple(fields.iter().map(zero_of_shape).collect()),
    }
}

/// Zero of a type.
pub(crate) fn zero(ty: ir::Type) -> ir::Expr {
    ir::Expr::constant(ty, Bits::zero(ty.width()))
}

/// A constant of a type.
pub(crate) fn number(ty: ir::Type, value: &BigInt) -> ir::Expr {
    ir::Expr::constant(ty, Bits::from_bigint(ty.width(), value))
}

impl<'h> Lowerer<'h> {
    /// The contents of a place.
    pub fn read(&self, place: &Place) -> Value {
        let header = |place: &HeaderPlace| HeaderValue {
            shape: place.shape.clone(),
            kind: HeaderKind::Ref(place.header.clone()),
        };
        match place {
            Place::Scalar { place, .. } => Value::Scalar(self.read_ir_place(place)),
            Place::Varbit(varbit) => {
                Value::Varbit { header: varbit.header.clone(), field: varbit.field, max: varbit.max }
            }
            Place::VarbitParts(parts) => {
                Value::VarbitParts { length: self.read_ir_place(&parts.length), bits: self.read_ir_place(&parts.bits) }
            }
            Place::Bits(bits) => Value::Scalar(self.read_bits(bits)),
            Place::Header(place) => Value::Header(header(place)),
            Place::Tuple(items) => Value::Tuple(items.iter().map(|item| self.read(item)).collect()),
            Place::Union(members) => Value::Union(members.iter().map(header).collect()),
            Place::Stack(stack) => Value::Stack(stack.clone()),
            Place::Choice { index, items } => {
                let items: Vec<_> = items.iter().map(|item| self.read(item)).collect();
                choose(index, &items).unwrap_or(Value::Void)
            }
        }
    }

    /// As [`Lowerer::read`], also for a header that a run-time index selects: a copy of it.
    pub fn load(&mut self, place: &Place, span: Span) -> Lowered<Value> {
        match (self.read(place), place) {
            (Value::Void, Place::Choice { index, items }) => {
                let Some(first) = items.first() else { return Err(crate::Refused) };
                let copy = self.storage_like(first, span)?;
                self.reset(&copy, span);
                let items = items.iter().map(|item| self.read(item)).collect();
                self.choose_into(&copy, index, items, span)?;
                Ok(self.read(&copy))
            }
            (value, _) => Ok(value),
        }
    }

    /// The item at a run-time index; if it is out of range, the default value of the items' type.
    pub fn choose(&mut self, index: &ir::Expr, items: &[Value], ty: &Type, span: Span) -> Lowered<Value> {
        if let Some(value) = choose(index, items) {
            return Ok(value);
        }
        let copy = self.temporary_place(ty, span)?;
        self.reset(&copy, span);
        self.choose_into(&copy, index, items.to_vec(), span)?;
        Ok(self.read(&copy))
    }

    fn choose_into(&mut self, copy: &Place, index: &ir::Expr, items: Vec<Value>, span: Span) -> Lowered<()> {
        let mut ways = Vec::new();
        for item in items {
            ways.push(self.collect(|l| l.assign(copy, item, span))?.0);
        }
        self.emit_choice(index, ways, span);
        Ok(())
    }

    /// Runs the body at a run-time index; none if it is out of range.
    pub fn emit_choice(&mut self, index: &ir::Expr, ways: Vec<ir::Body>, span: Span) {
        let mut cases = Vec::new();
        for (position, body) in ways.into_iter().enumerate() {
            if let Some(value) = position_bits(index.ty.width(), position) {
                cases.push(ir::SwitchCase { values: vec![value], body });
            }
        }
        self.emit_switch(index.clone(), cases, Vec::new(), span);
    }

    /// The value as one run-time value.
    pub fn scalar_value(&mut self, value: Value, span: Span) -> Lowered<ir::Expr> {
        match value {
            Value::Scalar(expr) => Ok(expr),
            _ => self.unsupported(span, "a value of this type here"),
        }
    }

    /// The value as a number, if it is one that is known at compile time.
    pub fn known_number(value: &Value) -> Option<BigInt> {
        match value {
            Value::Integer(number) => Some(number.clone()),
            Value::Scalar(expr) => expr.as_const().map(|bits| match expr.ty.is_signed() {
                true => bits.to_signed_bigint(),
                false => bits.to_bigint(),
            }),
            _ => None,
        }
    }

    /// The value as a number known at compile time.
    pub fn constant_number(&mut self, value: &Value, span: Span) -> Lowered<BigInt> {
        match Self::known_number(value) {
            Some(number) => Ok(number),
            None => self.refuse(codes::NOT_CONSTANT, span, "this must be a number known at compile time"),
        }
    }

    /// The value as a count known at compile time, at most `max`.
    pub fn constant_count(&mut self, value: &Value, max: u64, span: Span) -> Lowered<u64> {
        let number = self.constant_number(value, span)?;
        match number.to_u64() {
            Some(count) if count <= max => Ok(count),
            _ => self.refuse(codes::LIMIT, span, format!("{number} is out of range: it must be between 0 and {max}")),
        }
    }

    /// The scalars of the value, in order; of headers, their fields.
    pub fn leaves(&mut self, value: &Value, span: Span) -> Lowered<Vec<ir::Expr>> {
        Ok(match value {
            Value::Scalar(expr) => vec![expr.clone()],
            Value::Tuple(items) => {
                let mut leaves = Vec::new();
                for item in items {
                    leaves.extend(self.leaves(item, span)?);
                }
                leaves
            }
            Value::Header(header) => {
                let fields = (0..header.shape.fields.len()).filter_map(|field| header.field(field, self));
                let fields = Value::Tuple(fields.collect());
                self.leaves(&fields, span)?
            }
            Value::Integer(_) => {
                return self.refuse(codes::NOT_CONSTANT, span, "the width of this number is not known");
            }
            _ => return self.unsupported(span, "a value of this type here"),
        })
    }

    /// The value, copied to new storage unless it is known at compile time, so that later statements do not change it.
    pub fn spill(&mut self, value: Value, ty: &Type, span: Span) -> Lowered<Value> {
        match &value {
            Value::Scalar(expr) => Ok(Value::Scalar(self.pin_expr(expr.clone(), span)?)),
            Value::Integer(_) | Value::String(_) | Value::Object(_) | Value::Void => Ok(value),
            Value::Tuple(items) => {
                if let Form::Tuple(fields) = self.form(ty, span)? {
                    let items = items.iter().zip(&fields).map(|(item, (_, ty))| self.spill(item.clone(), ty, span));
                    return Ok(Value::Tuple(items.collect::<Lowered<_>>()?));
                }
                self.keep(value, ty, span)
            }
            _ => self.keep(value, ty, span),
        }
    }

    fn keep(&mut self, value: Value, ty: &Type, span: Span) -> Lowered<Value> {
        let place = self.temporary_place(ty, span)?;
        self.assign(&place, value, span)?;
        Ok(self.read(&place))
    }

    /// The default value of a type.
    pub fn default_value(&mut self, ty: &Type, span: Span) -> Lowered<Value> {
        match self.resolve(ty) {
            Type::Integer => return Ok(Value::Integer(BigInt::ZERO)),
            Type::String => return Ok(Value::String(Rc::from(""))),
            _ => {}
        }
        let invalid = |shape: Rc<HeaderShape>| HeaderValue { shape, kind: HeaderKind::Invalid };
        Ok(match self.form(ty, span)? {
            Form::Scalar(ty) => Value::Scalar(zero(ty)),
            Form::Header(shape) => Value::Header(invalid(shape)),
            Form::Union(members) => Value::Union(members.into_iter().map(|(_, shape)| invalid(shape)).collect()),
            Form::Tuple(fields) => {
                let items = fields.iter().map(|(_, ty)| self.nested(span, |l| l.default_value(ty, span)));
                Value::Tuple(items.collect::<Lowered<_>>()?)
            }
            Form::Stack { members, is_union, size } => {
                let members: Vec<_> = members.into_iter().map(|(_, shape)| invalid(shape)).collect();
                let element = if is_union { Value::Union(members) } else { Value::Header(members[0].clone()) };
                Value::Tuple(vec![element; size as usize])
            }
            Form::Array(ty, size) => {
                let item = self.nested(span, |l| l.default_value(&ty, span))?;
                if part_count(&item).saturating_mul(size as usize) > STORAGE_MAX {
                    return self.refuse(codes::LIMIT, span, "the array is too large");
                }
                Value::Tuple(vec![item; size as usize])
            }
            Form::Varbit(_) => Value::Tuple(Vec::new()),
            Form::None => return self.unsupported(span, "a default value of this type"),
        })
    }

    /// The elements of a stack, tuple, array or list.
    pub fn elements(&mut self, value: &Value, span: Span) -> Lowered<Vec<Value>> {
        match value {
            Value::Tuple(items) => Ok(items.clone()),
            Value::Stack(stack) => {
                let element = |position| self.read(&stack.at_position(&self.ir, position));
                Ok((0..stack.size).map(element).collect())
            }
            _ => self.unsupported(span, "a collection of this type"),
        }
    }

    /// `a == b`
    pub fn equal(&mut self, a: &Value, b: &Value, span: Span) -> Lowered<ir::Expr> {
        if let Some(equal) = parts_equal(a, b) {
            return Ok(equal);
        }
        Ok(match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if a.ty.width() == b.ty.width() => {
                fold::binary(BinaryOp::Eq, a.clone(), fold::cast(a.ty, b.clone()))
            }
            (Value::Varbit { .. } | Value::Tuple(_), Value::Varbit { .. })
            | (Value::Varbit { .. }, Value::Tuple(_)) => {
                let (a, b) = (self.varbit_operand(a, b)?, self.varbit_operand(b, a)?);
                ir::Expr { kind: ir::ExprKind::VarbitEqual(a, b), ty: ir::Type::Bool }
            }
            (Value::Integer(a), Value::Integer(b)) => ir::Expr::bool(a == b),
            (Value::String(a), Value::String(b)) => ir::Expr::bool(a == b),
            (Value::Header(a), Value::Header(b)) => {
                let fields = |header: &HeaderValue| {
                    let fields = (0..header.shape.fields.len()).filter_map(|field| header.field(field, self));
                    Value::Tuple(fields.collect())
                };
                let (x, y) = (fields(a), fields(b));
                let same = fold::and(fold::and(a.is_valid(), b.is_valid()), self.equal(&x, &y, span)?);
                fold::or(fold::and(fold::not(a.is_valid()), fold::not(b.is_valid())), same)
            }
            (Value::Union(a), Value::Union(b)) => {
                let list = |members: &[HeaderValue]| members.iter().cloned().map(Value::Header).collect();
                self.all_equal(list(a), list(b), span)?
            }
            (Value::Tuple(_) | Value::Stack(_), Value::Tuple(_) | Value::Stack(_)) => {
                let (a, b) = (self.elements(a, span)?, self.elements(b, span)?);
                self.all_equal(a, b, span)?
            }
            _ => return self.unsupported(span, "a comparison of values of this type"),
        })
    }

    /// A varbit value as header and field. For an empty one, which is an empty tuple, a new variable like `other`
    /// without a value is used.
    pub fn varbit_operand(&mut self, value: &Value, other: &Value) -> Lowered<(HeaderRef, u32)> {
        match (value, other) {
            (Value::Varbit { header, field, .. }, _) => Ok((header.clone(), *field)),
            (_, Value::Varbit { max, .. }) => Ok((self.new_varbit("empty", *max, Life::Local).header, 0)),
            _ => Err(crate::Refused),
        }
    }

    fn all_equal(&mut self, a: Vec<Value>, b: Vec<Value>, span: Span) -> Lowered<ir::Expr> {
        let pairs = a.iter().zip(&b).map(|(a, b)| self.nested(span, |l| l.equal(a, b, span)));
        let pairs = pairs.collect::<Lowered<Vec<_>>>()?;
        Ok(all(&pairs))
    }
}

/// The item at a run-time index; zero if it is out of range. Items that are not scalars are selected part by part;
/// headers cannot be.
fn choose(index: &ir::Expr, items: &[Value]) -> Option<Value> {
    if let Some(Value::Tuple(first)) = items.first() {
        let part = |position: usize| {
            let parts = items.iter().map(|item| match item {
                Value::Tuple(parts) => parts.get(position).cloned(),
                _ => None,
            });
            choose(index, &parts.collect::<Option<Vec<_>>>()?)
        };
        return (0..first.len()).map(part).collect::<Option<_>>().map(Value::Tuple);
    }
    let scalar = |item: &Value| match item {
        Value::Scalar(expr) => Some(expr.clone()),
        _ => None,
    };
    let scalars = items.iter().map(scalar).collect::<Option<Vec<_>>>()?;
    let none = zero(scalars.first()?.ty);
    let chosen = choose_scalar(index, &scalars, 0);
    let is_inside = index_below(index, items.len());
    Some(Value::Scalar(fold::mux(is_inside, chosen, none)))
}

/// By bisection, so that the expression is not deep. The first item is at `start`.
pub(crate) fn choose_scalar(index: &ir::Expr, items: &[ir::Expr], start: usize) -> ir::Expr {
    if let [item] = items {
        return item.clone();
    }
    let (low, high) = items.split_at(items.len() / 2);
    let middle = start + low.len();
    let is_low = index_below(index, middle);
    fold::mux(is_low, choose_scalar(index, low, start), choose_scalar(index, high, middle))
}

/// `index < bound`; true where the index's type cannot hold the bound.
pub(crate) fn index_below(index: &ir::Expr, bound: usize) -> ir::Expr {
    match position_bits(index.ty.width(), bound) {
        Some(bound) => fold::binary(BinaryOp::Lt, index.clone(), ir::Expr::constant(index.ty, bound)),
        None => ir::Expr::bool(true),
    }
}

/// A position as an index of a width, if it fits.
pub(crate) fn position_bits(width: u32, position: usize) -> Option<Bits> {
    let bits = Bits::from_u64(64, position as u64);
    (width >= 64 || bits.resize(width).resize(64) == bits).then(|| bits.resize(width))
}

/// Whether all hold. By bisection, so that the expression is not deep.
fn all(conditions: &[ir::Expr]) -> ir::Expr {
    match conditions {
        [] => ir::Expr::bool(true),
        [condition] => condition.clone(),
        _ => {
            let (first, second) = conditions.split_at(conditions.len() / 2);
            fold::and(all(first), all(second))
        }
    }
}

/// The number of parts of a value, on all levels.
fn part_count(value: &Value) -> usize {
    match value {
        Value::Tuple(items) => items.iter().map(part_count).sum::<usize>().max(1),
        _ => 1,
    }
}
