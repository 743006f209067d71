//! Registers whose cells are more than one number: structs, tuples, headers, stacks, arrays. A cell is then one number,
//! the concatenation of all values, the first most significant. A header begins with its valid bit. A varbit field is
//! its length in 32 bits and then its greatest width in bits, of which the low ones count. Of a stack only the elements
//! are stored: reading one assigns them, as a list of headers does, and does not change `next`.

use crate::places::{Place, VarbitParts, VarbitPlace};
use crate::types::{FieldShape, Form, HeaderShape};
use crate::values::{HeaderKind, HeaderValue, Value, number};
use crate::varbits::varbit_parts;
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::limits::WIDTH_BITS_MAX;
use base::{Bits, Span};
use ir::{HeaderRef, RegisterId, StmtKind};
use num_bigint::BigInt;
use sema::hir::Type;
use std::rc::Rc;

/// The width of a varbit field's length.
const VARBIT_LENGTH_BITS: u32 = 32;

/// The cell of values of no width, which is 0. The switch has no arrays of nothing, and controllers read the register.
const NO_WIDTH_CELL: ir::Type = ir::Type::Bit(1);

/// A part of the concatenation.
enum Part {
    Scalar {
        place: ir::Place,
        ty: ir::Type,
    },
    Varbit(VarbitPlace),
    VarbitParts(VarbitParts),
    /// The parts that follow, up to the next header, are its fields.
    Validity(HeaderRef),
}

impl<'h> Lowerer<'h> {
    /// The type of a register's cells, that of its values or a number as wide as all their parts, and the bits of each
    /// part.
    pub(super) fn cell_type(&mut self, ty: &Type, span: Span) -> Lowered<(ir::Type, Vec<u32>)> {
        let ty = self.resolve(ty);
        if let Some(ty) = self.scalar(&ty).filter(|ty| ty.width() > 0) {
            return Ok((ty, vec![ty.width()]));
        }
        match self.joined_width(&ty, span)? {
            0 => Ok((NO_WIDTH_CELL, Vec::new())),
            width if width > u64::from(WIDTH_BITS_MAX) => {
                let message = format!("a cell of {width} bits; the most is {WIDTH_BITS_MAX}");
                self.refuse(codes::LIMIT, span, message)
            }
            width => {
                let mut parts_bits = Vec::new();
                self.add_parts(&ty, span, &mut parts_bits)?;
                Ok((ir::Type::Bit(width as u32), parts_bits))
            }
        }
    }

    /// Adds the bits of each part of a value, of which there are some.
    fn add_parts(&mut self, ty: &Type, span: Span, parts: &mut Vec<u32>) -> Lowered<()> {
        if self.joined_width(ty, span)? == 0 {
            // Any number of values of no width may be in it.
            return Ok(());
        }
        match self.form(ty, span)? {
            Form::Scalar(ty) => parts.push(ty.width()),
            Form::Header(shape) => self.add_header(&shape, parts),
            Form::Union(members) => members.iter().for_each(|(_, shape)| self.add_header(shape, parts)),
            Form::Stack { members, size, .. } => {
                (0..size).for_each(|_| members.iter().for_each(|(_, shape)| self.add_header(shape, parts)));
            }
            Form::Tuple(fields) => {
                fields.iter().try_for_each(|(_, ty)| self.nested(span, |l| l.add_parts(ty, span, parts)))?;
            }
            Form::Array(element, size) => {
                (0..size).try_for_each(|_| self.nested(span, |l| l.add_parts(&element, span, parts)))?;
            }
            Form::Varbit(max) => parts.extend([VARBIT_LENGTH_BITS, max]),
            Form::None => {}
        }
        Ok(())
    }

    fn add_header(&self, shape: &HeaderShape, parts: &mut Vec<u32>) {
        parts.push(1);
        for field in self.ir.header_types[shape.ty].fields.iter().filter(|field| field.name != "_padding") {
            match field.ty {
                ir::FieldType::Fixed(ty) => parts.push(ty.width()),
                ir::FieldType::Varbit(max) => parts.extend([VARBIT_LENGTH_BITS, max]),
            }
        }
    }

    fn joined_width(&mut self, ty: &Type, span: Span) -> Lowered<u64> {
        let width = match self.form(ty, span)? {
            Form::Scalar(ty) => u64::from(ty.width()),
            Form::Header(shape) => self.header_width(&shape),
            Form::Union(members) => self.members_width(&members),
            Form::Stack { members, size, .. } => u64::from(size).saturating_mul(self.members_width(&members)),
            Form::Tuple(fields) => {
                fields.iter().map(|(_, ty)| self.nested(span, |l| l.joined_width(ty, span))).sum::<Lowered<u64>>()?
            }
            Form::Array(element, size) => {
                u64::from(size).saturating_mul(self.nested(span, |l| l.joined_width(&element, span))?)
            }
            Form::Varbit(max) => varbit_width(max),
            Form::None => return self.unsupported(span, "a register of values of this type"),
        };
        Ok(width.min(1 << 40))
    }

    fn members_width(&self, members: &[(Rc<str>, Rc<HeaderShape>)]) -> u64 {
        members.iter().map(|(_, shape)| self.header_width(shape)).sum()
    }

    fn header_width(&self, shape: &HeaderShape) -> u64 {
        let fields = &self.ir.header_types[shape.ty].fields;
        let padding: u32 = fields.iter().filter(|field| field.name == "_padding").map(field_width).sum();
        let varbit = self.ir.header_types[shape.ty].varbit().map_or(0, |(_, max)| varbit_width(max));
        1 + u64::from(self.ir.header_types[shape.ty].fixed_width() - padding) + varbit
    }

    /// The cell's content for a value that is known at compile time.
    pub(super) fn constant_cell(&mut self, ty: &Type, value: &Value, cell: ir::Type, span: Span) -> Lowered<Bits> {
        let ty = self.resolve(ty);
        if self.scalar(&ty).is_some() {
            return Ok(Bits::from_bigint(cell.width(), &self.constant_number(value, span)?));
        }
        let value = self.convert(value.clone(), &ty, span)?;
        let mut joined = Bits::zero(0);
        self.join_constant(&value, &ty, &mut joined, span)?;
        if joined.width() == 0 {
            return Ok(Bits::zero(cell.width()));
        }
        if joined.width() != cell.width() {
            return self.refuse(codes::NOT_CONSTANT, span, "this must be known at compile time");
        }
        Ok(joined)
    }

    fn join_constant(&mut self, value: &Value, ty: &Type, joined: &mut Bits, span: Span) -> Lowered<()> {
        let ty = &self.resolve(ty);
        match (value, self.form(ty, span)?, ty) {
            // No other is known at compile time.
            (Value::Tuple(_), Form::Varbit(max), _) => *joined = joined.concat(&Bits::zero(32 + max)),
            (Value::Tuple(items), Form::Tuple(fields), _) => {
                let mut pairs = items.iter().zip(&fields);
                return pairs
                    .try_for_each(|(item, (_, ty))| self.nested(span, |l| l.join_constant(item, ty, joined, span)));
            }
            (Value::Tuple(items), _, Type::Array(element, _)) => {
                let mut items = items.iter();
                return items.try_for_each(|item| self.nested(span, |l| l.join_constant(item, element, joined, span)));
            }
            (Value::Header(header), ..) => return self.join_header(header, joined, span),
            (Value::Union(members), ..) => {
                return members.iter().try_for_each(|member| self.join_header(member, joined, span));
            }
            _ => return self.join_scalar(value, joined, span),
        }
        Ok(())
    }

    fn join_header(&mut self, header: &HeaderValue, joined: &mut Bits, span: Span) -> Lowered<()> {
        *joined = joined.concat(&Bits::from_bool(header.kind != HeaderKind::Invalid));
        for (position, shape) in header.shape.fields.iter().enumerate() {
            let field = header.field(position, self).ok_or(Refused)?;
            self.join_field(&field, shape, joined, span)?;
        }
        Ok(())
    }

    fn join_field(&mut self, value: &Value, shape: &FieldShape, joined: &mut Bits, span: Span) -> Lowered<()> {
        match (value, shape) {
            (Value::Tuple(_), FieldShape::Varbit { max, .. } | FieldShape::VarbitParts { max, .. }) => {
                *joined = joined.concat(&Bits::zero(32 + max))
            }
            (Value::Tuple(items), FieldShape::Struct(fields)) => {
                let mut pairs = items.iter().zip(fields);
                return pairs
                    .try_for_each(|(item, shape)| self.nested(span, |l| l.join_field(item, shape, joined, span)));
            }
            _ => return self.join_scalar(value, joined, span),
        }
        Ok(())
    }

    fn join_scalar(&mut self, value: &Value, joined: &mut Bits, span: Span) -> Lowered<()> {
        let value = match value {
            Value::Scalar(value) => value.as_const(),
            _ => None,
        };
        match value {
            Some(bits) => *joined = joined.concat(bits),
            None => return self.refuse(codes::NOT_CONSTANT, span, "this must be known at compile time"),
        }
        Ok(())
    }

    /// Reads a cell into a place; if it is out of range, the place does not change.
    pub(super) fn read_cell(&mut self, place: Place, register: RegisterId, index: ir::Expr, span: Span) -> Lowered<()> {
        let cell = self.ir.registers[register].ty;
        if self.ir.registers[register].value_bits() == 0 {
            let dst = ir::Place::Var(self.temporary(cell, span)?);
            self.emit(StmtKind::RegisterRead { dst, register, index }, span);
            return Ok(());
        }
        if is_scalar(&place) {
            return self.through(place, cell, span, |dst| StmtKind::RegisterRead { dst, register, index });
        }
        if matches!(place, Place::Choice { .. }) {
            let (place, index) = (self.pin(place, span)?, self.pin_expr(index, span)?);
            let copy = self.storage_like(&place, span)?;
            let old = self.load(&place, span)?;
            self.assign(&copy, old, span)?;
            self.read_cell(copy.clone(), register, index, span)?;
            let new = self.read(&copy);
            return self.assign(&place, new, span);
        }
        let joined = self.temporary(cell, span)?;
        let old = self.joined(&place, span)?;
        self.emit(StmtKind::Assign { dst: ir::Place::Var(joined), src: old }, span);
        self.emit(StmtKind::RegisterRead { dst: ir::Place::Var(joined), register, index }, span);
        let mut parts = Vec::new();
        self.parts(&place, &mut parts, span)?;
        let mut high = cell.width();
        for part in parts {
            let mut take = |l: &Self, width: u32| {
                high -= width;
                let (base, high, low) = (Box::new(l.read_var(joined)), high + width - 1, high);
                ir::Expr { kind: ir::ExprKind::Slice { base, high, low }, ty: ir::Type::Bit(width) }
            };
            match part {
                Part::Validity(header) => {
                    let valid = fold::cast(ir::Type::Bool, take(self, 1));
                    let set = |kind| vec![ir::Stmt { kind, span }];
                    let (yes, no) = (StmtKind::SetValid(header.clone()), StmtKind::SetInvalid(header));
                    self.emit_if(valid, set(yes), set(no), span);
                }
                Part::Varbit(varbit) => {
                    let (length_bits, value) = (take(self, 32), take(self, varbit.max));
                    self.set_varbit(&varbit, length_bits, value, span);
                }
                Part::VarbitParts(parts) => {
                    let (length_bits, value) = (take(self, 32), take(self, parts.max));
                    self.set_varbit_parts(&parts, length_bits, value, span)?;
                }
                Part::Scalar { place, ty } => {
                    let src = fold::cast(ty, take(self, ty.width()));
                    self.emit(StmtKind::Assign { dst: place, src }, span);
                }
            }
        }
        Ok(())
    }

    /// Writes a value of this type to a cell.
    pub(super) fn write_cell(
        &mut self,
        register: RegisterId,
        index: ir::Expr,
        value: Value,
        ty: &Type,
        span: Span,
    ) -> Lowered<()> {
        let resolved = self.resolve(ty);
        let value = match self.scalar(&resolved) {
            _ if self.ir.registers[register].value_bits() == 0 => number(NO_WIDTH_CELL, &BigInt::ZERO),
            Some(_) => self.scalar_value(value, span)?,
            None => {
                let place = self.temporary_place(&resolved, span)?;
                self.assign(&place, value, span)?;
                self.joined(&place, span)?
            }
        };
        self.emit(StmtKind::RegisterWrite { register, index, value }, span);
        Ok(())
    }

    /// The contents of a place as one number.
    fn joined(&mut self, place: &Place, span: Span) -> Lowered<ir::Expr> {
        let mut parts = Vec::new();
        self.parts(place, &mut parts, span)?;
        let mut joined: Option<ir::Expr> = None;
        for part in parts {
            let value = match part {
                Part::Scalar { place, .. } => self.read_ir_place(&place),
                Part::Varbit(varbit) => {
                    let [length, bits] = varbit_parts(&varbit.header, varbit.field, varbit.max);
                    fold::concat(length, bits)
                }
                Part::VarbitParts(parts) => {
                    fold::concat(self.read_ir_place(&parts.length), self.read_ir_place(&parts.bits))
                }
                Part::Validity(header) => ir::Expr { kind: ir::ExprKind::IsValid(header), ty: ir::Type::Bool },
            };
            let value = fold::cast(ir::Type::Bit(value.ty.width()), value);
            joined = Some(match joined {
                Some(before) => {
                    let ty = ir::Type::Bit(before.ty.width() + value.ty.width());
                    let kind = ir::ExprKind::Concat(Box::new(before), Box::new(value));
                    // Stored in a variable, so that expressions do not nest without bounds.
                    self.pin_expr(ir::Expr { kind, ty }, span)?
                }
                None => value,
            });
        }
        match joined {
            Some(joined) => Ok(joined),
            None => self.unsupported(span, "a value of no width here"),
        }
    }

    fn parts(&mut self, place: &Place, parts: &mut Vec<Part>, span: Span) -> Lowered<()> {
        match place {
            Place::Scalar { place, ty } => parts.push(Part::Scalar { place: place.clone(), ty: *ty }),
            Place::Varbit(varbit) => parts.push(Part::Varbit(varbit.clone())),
            Place::VarbitParts(varbit) => parts.push(Part::VarbitParts(varbit.clone())),
            Place::Tuple(items) => {
                return items.iter().try_for_each(|item| self.nested(span, |l| l.parts(item, parts, span)));
            }
            Place::Header(header) => {
                parts.push(Part::Validity(header.header.clone()));
                let fields: Vec<Place> = (0..header.shape.fields.len()).filter_map(|i| header.field(i)).collect();
                return fields.iter().try_for_each(|field| self.nested(span, |l| l.parts(field, parts, span)));
            }
            Place::Union(members) => {
                let members: Vec<Place> = members.iter().cloned().map(Place::Header).collect();
                return members.iter().try_for_each(|member| self.nested(span, |l| l.parts(member, parts, span)));
            }
            Place::Stack(stack) => {
                let elements: Vec<_> = (0..stack.size).map(|at| stack.at_position(&self.ir, at)).collect();
                return elements.iter().try_for_each(|element| self.nested(span, |l| l.parts(element, parts, span)));
            }
            _ => return self.unsupported(span, "a register of values of this type"),
        }
        Ok(())
    }
}

/// Whether the place, or the item that a run-time index selects there, is one value.
fn is_scalar(place: &Place) -> bool {
    match place {
        Place::Scalar { .. } | Place::Bits(_) => true,
        Place::Choice { items, .. } => items.first().is_some_and(is_scalar),
        _ => false,
    }
}

/// Bits of a cell that a varbit field of this greatest length takes.
fn varbit_width(max: u32) -> u64 {
    u64::from(VARBIT_LENGTH_BITS) + u64::from(max)
}

fn field_width(field: &ir::HeaderField) -> u32 {
    match field.ty {
        ir::FieldType::Fixed(ty) => ty.width(),
        ir::FieldType::Varbit(_) => 0,
    }
}
