//! Places: what can be assigned to, and which storage a place or an expression touches.

use crate::types::{FieldShape, HeaderShape};
use crate::values::Value;
use crate::{Lowered, Lowerer, fold};
use base::{OrderedSet, Span};
use ir::HeaderRef;
use std::rc::Rc;

/// The binding of a variable, parameter or constant.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Binding {
    /// Storage.
    Place(Rc<Place>),
    /// A value that cannot be assigned to.
    Value(Value),
}

/// A place: something that can be assigned to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Place {
    Scalar {
        place: ir::Place,
        ty: ir::Type,
    },
    Varbit(VarbitPlace),
    VarbitParts(VarbitParts),
    /// Bits of a value from a run-time position on; those beyond its end do not exist.
    Bits(BitsPlace),
    Header(HeaderPlace),
    /// The fields of a struct, the elements of a tuple or array.
    Tuple(Vec<Place>),
    /// The members of a union.
    Union(Vec<HeaderPlace>),
    Stack(Rc<StackPlace>),
    /// The item at a run-time index; none if it is out of range.
    Choice {
        index: ir::Expr,
        items: Vec<Place>,
    },
}

/// A varbit field of a header. A variable is the one field of a header of its own, which is valid once it has been
/// assigned to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct VarbitPlace {
    pub header: HeaderRef,
    pub field: u32,
    pub max: u32,
    pub is_variable: bool,
}

/// A varbit field of a header with several: its length in bits, and a number whose low bits are the field's and whose
/// others are zero.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct VarbitParts {
    pub length: ir::Place,
    pub bits: ir::Place,
    pub max: u32,
}

/// `width` bits of a value from bit `low` on.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BitsPlace {
    pub base: ir::Place,
    /// The base's type.
    pub ty: ir::Type,
    /// A `Bit(64)`.
    pub low: ir::Expr,
    pub width: u32,
}

/// A header; with the other members, if it is a union's.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct HeaderPlace {
    pub header: HeaderRef,
    pub shape: Rc<HeaderShape>,
    pub siblings: Vec<HeaderRef>,
}

/// A stack of headers, or of unions: then one IR stack per member.
#[derive(PartialEq, Debug)]
pub(crate) struct StackPlace {
    pub members: Vec<(ir::StackId, Rc<HeaderShape>)>,
    pub is_union: bool,
    pub size: u32,
    pub next: ir::VarId,
}

impl HeaderPlace {
    /// A header that is not a member of a union.
    pub fn new(header: HeaderRef, shape: Rc<HeaderShape>) -> HeaderPlace {
        HeaderPlace { header, shape, siblings: Vec::new() }
    }

    /// Field `field` of the P4 header.
    pub fn field(&self, field: usize) -> Option<Place> {
        Some(field_place(&self.header, self.shape.fields.get(field)?))
    }
}

fn field_place(header: &HeaderRef, shape: &FieldShape) -> Place {
    match shape {
        FieldShape::Scalar { index, ty } => Place::Scalar { place: ir::Place::Field(header.clone(), *index), ty: *ty },
        FieldShape::Varbit { index, max } => {
            Place::Varbit(VarbitPlace { header: header.clone(), field: *index, max: *max, is_variable: false })
        }
        FieldShape::VarbitParts { index, max } => Place::VarbitParts(VarbitParts::new(header, *index, *max)),
        FieldShape::Struct(fields) => Place::Tuple(fields.iter().map(|field| field_place(header, field)).collect()),
    }
}

/// The members of a union, each with a list of the others.
pub(crate) fn union_place(members: Vec<(HeaderRef, Rc<HeaderShape>)>) -> Place {
    let headers: Vec<HeaderRef> = members.iter().map(|(header, _)| header.clone()).collect();
    let member = |(position, (header, shape)): (usize, (HeaderRef, Rc<HeaderShape>))| {
        let others = headers.iter().enumerate().filter(|(other, _)| *other != position);
        HeaderPlace { header, shape, siblings: others.map(|(_, header)| header.clone()).collect() }
    };
    Place::Union(members.into_iter().enumerate().map(member).collect())
}

impl StackPlace {
    /// One element, which `header` names in each of the stacks.
    pub fn element(&self, header: impl Fn(ir::StackId) -> HeaderRef) -> Place {
        let mut members: Vec<_> = self.members.iter().map(|(stack, shape)| (header(*stack), shape.clone())).collect();
        if self.is_union {
            return union_place(members);
        }
        let (header, shape) = members.swap_remove(0);
        Place::Header(HeaderPlace::new(header, shape))
    }

    /// The element at a position.
    pub fn at(&self, program: &ir::Program, index: &ir::Expr) -> Place {
        let constant = index.as_const().and_then(|bits| bits.to_u64());
        self.element(|stack| match constant.and_then(|i| program.stacks[stack].elements.get(i as usize)) {
            Some(header) => HeaderRef::Fixed(*header),
            None => HeaderRef::Element { stack, index: Box::new(index.clone()) },
        })
    }

    /// The element at a position that is less than the size.
    pub fn at_position(&self, program: &ir::Program, position: u32) -> Place {
        self.at(program, &ir::Expr::bit(32, u64::from(position)))
    }
}

/// The storage that something touches: variables, and headers with a field or as a whole.
#[derive(Default, Debug)]
pub(crate) struct Footprint {
    vars: OrderedSet<ir::VarId>,
    fields: OrderedSet<(ir::HeaderId, u32)>,
    /// Whether something is touched whose position changes by itself (`next`, `last`, a run-time index).
    pub moves: bool,
}

/// In place of a field: the whole header.
const WHOLE: u32 = u32::MAX;

impl Footprint {
    /// Whether both touch the same storage.
    pub fn overlaps(&self, other: &Footprint) -> bool {
        let field = |&(header, field): &(ir::HeaderId, u32)| {
            if field == WHOLE {
                other.fields.range((header, 0)..=(header, WHOLE)).next().is_some()
            } else {
                other.fields.contains(&(header, field)) || other.fields.contains(&(header, WHOLE))
            }
        };
        self.vars.intersection(&other.vars).next().is_some() || self.fields.iter().any(field)
    }

    /// The variables.
    pub fn vars(&self) -> &OrderedSet<ir::VarId> {
        &self.vars
    }

    /// The headers.
    pub fn headers(&self) -> impl Iterator<Item = ir::HeaderId> {
        self.fields.iter().map(|(header, _)| *header)
    }

    fn header(&mut self, program: &ir::Program, header: &HeaderRef, field: u32) {
        let stack = match header {
            HeaderRef::Fixed(id) => {
                self.fields.insert((*id, field));
                return;
            }
            HeaderRef::Element { stack, index } => {
                self.expr(program, index);
                *stack
            }
            HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                self.vars.insert(program.stacks[*stack].next);
                *stack
            }
        };
        self.moves = true;
        self.fields.extend(program.stacks[stack].elements.iter().map(|id| (*id, field)));
    }

    /// Adds what an expression reads.
    pub fn expr(&mut self, program: &ir::Program, expr: &ir::Expr) {
        use ir::ExprKind::*;
        match &expr.kind {
            Const(_) | PacketLength => {}
            Var(var) => {
                self.vars.insert(*var);
            }
            Field(header, field) => self.header(program, header, *field),
            IsValid(header) => self.header(program, header, WHOLE),
            VarbitLength(header, field) | VarbitBits(header, field) => self.header(program, header, *field),
            VarbitEqual(left, right) => {
                [left, right].into_iter().for_each(|(h, field)| self.header(program, h, *field))
            }
            Unary(_, a) | Cast(a) | Slice { base: a, .. } => self.expr(program, a),
            Binary(_, a, b) | Concat(a, b) => {
                self.expr(program, a);
                self.expr(program, b);
            }
            Mux(a, b, c) => [a, b, c].into_iter().for_each(|operand| self.expr(program, operand)),
        }
    }

    fn ir_place(&mut self, program: &ir::Program, place: &ir::Place) {
        match place {
            ir::Place::Var(var) => {
                self.vars.insert(*var);
            }
            ir::Place::Field(header, field) => self.header(program, header, *field),
            ir::Place::Slice { base, .. } => self.ir_place(program, base),
        }
    }

    /// Adds what a place touches.
    pub fn place(&mut self, program: &ir::Program, place: &Place) {
        match place {
            Place::Scalar { place, .. } => self.ir_place(program, place),
            Place::Varbit(varbit) => self.header(program, &varbit.header, varbit.field),
            Place::VarbitParts(parts) => {
                [&parts.length, &parts.bits].into_iter().for_each(|place| self.ir_place(program, place));
            }
            Place::Bits(bits) => {
                self.moves = true;
                self.expr(program, &bits.low);
                self.ir_place(program, &bits.base);
            }
            Place::Header(header) => self.header_place(program, header),
            Place::Tuple(items) => items.iter().for_each(|item| self.place(program, item)),
            Place::Union(members) => members.iter().for_each(|member| self.header_place(program, member)),
            Place::Stack(stack) => self.stack(program, stack),
            Place::Choice { index, items } => {
                self.moves = true;
                self.expr(program, index);
                items.iter().for_each(|item| self.place(program, item));
            }
        }
    }

    fn header_place(&mut self, program: &ir::Program, place: &HeaderPlace) {
        self.header(program, &place.header, WHOLE);
        place.siblings.iter().for_each(|sibling| self.header(program, sibling, WHOLE));
    }

    fn stack(&mut self, program: &ir::Program, stack: &StackPlace) {
        self.vars.insert(stack.next);
        for (id, _) in &stack.members {
            self.fields.extend(program.stacks[*id].elements.iter().map(|header| (*header, WHOLE)));
        }
    }

    /// Adds what a value reads.
    pub fn value(&mut self, program: &ir::Program, value: &Value) {
        use crate::values::HeaderKind;
        match value {
            Value::Scalar(expr) => self.expr(program, expr),
            Value::Varbit { header, field, .. } => self.header(program, header, *field),
            Value::VarbitParts { length, bits } => {
                [length, bits].into_iter().for_each(|expr| self.expr(program, expr));
            }
            Value::Header(header) => match &header.kind {
                HeaderKind::Ref(header) => self.header(program, header, WHOLE),
                HeaderKind::Fields(fields) => fields.iter().for_each(|field| self.value(program, field)),
                HeaderKind::Invalid => {}
            },
            Value::Union(members) => {
                members.iter().for_each(|member| self.value(program, &Value::Header(member.clone())));
            }
            Value::Tuple(items) => items.iter().for_each(|item| self.value(program, item)),
            Value::Stack(stack) => self.stack(program, stack),
            Value::Integer(_) | Value::String(_) | Value::Object(_) | Value::Void => {}
        }
    }
}

/// `width` bits of a value from a run-time position on; zero beyond its end.
pub(crate) fn bits_from(value: ir::Expr, low: ir::Expr, width: u32) -> ir::Expr {
    let bits = fold::cast(ir::Type::Bit(value.ty.width()), value);
    fold::cast(ir::Type::Bit(width), fold::binary(ir::BinaryOp::Shr, bits, low))
}

/// The headers that a reference may refer to at run time.
pub(crate) fn headers_of(program: &ir::Program, header: &HeaderRef) -> Vec<ir::HeaderId> {
    match header {
        HeaderRef::Fixed(id) => vec![*id],
        HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
            program.stacks[*stack].elements.clone()
        }
    }
}

/// The storage that a place touches.
pub(crate) fn footprint_of_place(program: &ir::Program, place: &Place) -> Footprint {
    let mut footprint = Footprint::default();
    footprint.place(program, place);
    footprint
}

/// The storage that a value reads.
pub(crate) fn footprint_of_value(program: &ir::Program, value: &Value) -> Footprint {
    let mut footprint = Footprint::default();
    footprint.value(program, value);
    footprint
}

impl<'h> Lowerer<'h> {
    /// The type of an IR place.
    pub fn place_type(&self, place: &ir::Place) -> ir::Type {
        match place {
            ir::Place::Var(var) => self.ir.vars[*var].ty,
            ir::Place::Field(header, field) => {
                match self.ir.header_types[self.header_type(header)].fields[*field as usize].ty {
                    ir::FieldType::Fixed(ty) => ty,
                    ir::FieldType::Varbit(max) => ir::Type::Bit(max),
                }
            }
            ir::Place::Slice { high, low, .. } => ir::Type::Bit(high - low + 1),
        }
    }

    /// The value in an IR place.
    pub fn read_ir_place(&self, place: &ir::Place) -> ir::Expr {
        let ty = self.place_type(place);
        match place {
            ir::Place::Var(var) => ir::Expr { kind: ir::ExprKind::Var(*var), ty },
            ir::Place::Field(header, field) => ir::Expr { kind: ir::ExprKind::Field(header.clone(), *field), ty },
            ir::Place::Slice { base, high, low } => fold::slice(self.read_ir_place(base), *high, *low),
        }
    }

    /// The bits in a place whose position is known at run time.
    pub fn read_bits(&self, bits: &BitsPlace) -> ir::Expr {
        bits_from(self.read_ir_place(&bits.base), bits.low.clone(), bits.width)
    }

    /// The whole value after bits of it have been replaced.
    pub fn with_bits(&self, bits: &BitsPlace, value: ir::Expr) -> ir::Expr {
        use ir::BinaryOp::{And, Or, Shl};
        let (old, whole) = (self.read_ir_place(&bits.base), ir::Type::Bit(bits.ty.width()));
        let ones = ir::Expr::constant(ir::Type::Bit(bits.width), base::Bits::ones(bits.width));
        let mask = fold::binary(Shl, fold::cast(whole, ones), bits.low.clone());
        let value = fold::cast(whole, fold::cast(ir::Type::Bit(bits.width), value));
        let new = fold::binary(Shl, value, bits.low.clone());
        let kept = fold::binary(And, fold::cast(whole, old), fold::unary(ir::UnaryOp::BitNot, mask));
        fold::cast(bits.ty, fold::binary(Or, kept, new))
    }

    /// The place with run-time indices stored in variables, so that later statements do not change which place it is.
    pub fn pin(&mut self, place: Place, span: Span) -> Lowered<Place> {
        Ok(match place {
            Place::Scalar { place, ty } => Place::Scalar { place: self.pin_ir_place(place, span)?, ty },
            Place::Varbit(varbit) => {
                Place::Varbit(VarbitPlace { header: self.pin_header(varbit.header, span)?, ..varbit })
            }
            Place::VarbitParts(parts) => Place::VarbitParts(VarbitParts {
                length: self.pin_ir_place(parts.length, span)?,
                bits: self.pin_ir_place(parts.bits, span)?,
                ..parts
            }),
            Place::Bits(bits) => Place::Bits(BitsPlace {
                base: self.pin_ir_place(bits.base, span)?,
                low: self.pin_expr(bits.low, span)?,
                ..bits
            }),
            Place::Header(header) => Place::Header(self.pin_header_place(header, span)?),
            Place::Tuple(items) => {
                Place::Tuple(items.into_iter().map(|item| self.pin(item, span)).collect::<Lowered<_>>()?)
            }
            Place::Union(members) => {
                let members = members.into_iter().map(|member| self.pin_header_place(member, span));
                Place::Union(members.collect::<Lowered<_>>()?)
            }
            Place::Stack(stack) => Place::Stack(stack),
            Place::Choice { index, items } => Place::Choice {
                index: self.pin_expr(index, span)?,
                items: items.into_iter().map(|item| self.pin(item, span)).collect::<Lowered<_>>()?,
            },
        })
    }

    /// As [`Lowerer::pin`], for a header with what it excludes.
    pub fn pin_header_place(&mut self, place: HeaderPlace, span: Span) -> Lowered<HeaderPlace> {
        Ok(HeaderPlace {
            header: self.pin_header(place.header, span)?,
            shape: place.shape,
            siblings: place.siblings.into_iter().map(|header| self.pin_header(header, span)).collect::<Lowered<_>>()?,
        })
    }

    fn pin_ir_place(&mut self, place: ir::Place, span: Span) -> Lowered<ir::Place> {
        Ok(match place {
            ir::Place::Var(var) => ir::Place::Var(var),
            ir::Place::Field(header, field) => ir::Place::Field(self.pin_header(header, span)?, field),
            ir::Place::Slice { base, high, low } => {
                ir::Place::Slice { base: Box::new(self.pin_ir_place(*base, span)?), high, low }
            }
        })
    }

    /// As [`Lowerer::pin`], for a header.
    pub fn pin_header(&mut self, header: HeaderRef, span: Span) -> Lowered<HeaderRef> {
        let one = || ir::Expr::bit(32, 1);
        Ok(match header {
            HeaderRef::Fixed(id) => HeaderRef::Fixed(id),
            HeaderRef::Element { stack, index } => {
                HeaderRef::Element { stack, index: Box::new(self.pin_expr(*index, span)?) }
            }
            HeaderRef::Next(stack) => {
                let next = self.read_var(self.ir.stacks[stack].next);
                HeaderRef::Element { stack, index: Box::new(self.pin_expr(next, span)?) }
            }
            HeaderRef::Last(stack) => {
                let next = self.read_var(self.ir.stacks[stack].next);
                let last = fold::binary(ir::BinaryOp::Sub, next, one());
                HeaderRef::Element { stack, index: Box::new(self.pin_expr(last, span)?) }
            }
        })
    }

    /// The expression's value, stored in a variable unless it is constant.
    pub fn pin_expr(&mut self, expr: ir::Expr, span: Span) -> Lowered<ir::Expr> {
        if expr.as_const().is_some() {
            return Ok(expr);
        }
        let temporary = self.temporary(expr.ty, span)?;
        self.emit(ir::StmtKind::Assign { dst: ir::Place::Var(temporary), src: expr }, span);
        Ok(self.read_var(temporary))
    }

    /// The value of a variable.
    pub fn read_var(&self, var: ir::VarId) -> ir::Expr {
        ir::Expr { kind: ir::ExprKind::Var(var), ty: self.ir.vars[var].ty }
    }
}
