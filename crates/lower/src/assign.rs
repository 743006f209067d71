//! Assignments, also of whole structs, headers, unions and stacks, with the right side read before the left side
//! changes.

use crate::places::{HeaderPlace, Place, StackPlace, VarbitPlace, footprint_of_place, footprint_of_value};
use crate::storage::Life;
use crate::values::{HeaderKind, HeaderValue, Value};
use crate::{Lowered, Lowerer, fold};
use base::Span;
use ir::{HeaderRef, StmtKind};

impl<'h> Lowerer<'h> {
    /// `place = value`.
    pub fn assign(&mut self, place: &Place, value: Value, span: Span) -> Lowered<()> {
        if takes_steps(place, &value) {
            let place = self.pin(place.clone(), span)?;
            return self.assign_parts(&place, value, span);
        }
        self.assign_parts(place, value, span)
    }

    fn assign_parts(&mut self, place: &Place, value: Value, span: Span) -> Lowered<()> {
        let is_whole = matches!(value, Value::Scalar(_) | Value::Stack(_));
        let value = if !is_whole && self.read(place) != value && self.hazard(place, &value) {
            self.copy_of(place, value, span)?
        } else {
            value
        };
        self.store(place, value, span)
    }

    /// Whether parts of the value could be changed by storing other parts. A copy from one storage to another has no
    /// hazard.
    fn hazard(&self, place: &Place, value: &Value) -> bool {
        let parts_are_few = matches!(value, Value::Header(HeaderValue { kind: HeaderKind::Ref(_), .. }));
        !parts_are_few && footprint_of_place(&self.ir, place).overlaps(&footprint_of_value(&self.ir, value))
    }

    /// The value in new storage shaped like the place.
    fn copy_of(&mut self, place: &Place, value: Value, span: Span) -> Lowered<Value> {
        Ok(match (place, value) {
            (_, Value::Scalar(expr)) => Value::Scalar(self.pin_expr(expr, span)?),
            (_, value @ Value::Varbit { max, .. }) => {
                let copy = Place::Varbit(self.new_varbit("tmp", max, Life::Local));
                self.store(&copy, value, span)?;
                self.read(&copy)
            }
            (_, Value::VarbitParts { length, bits }) => {
                Value::VarbitParts { length: self.pin_expr(length, span)?, bits: self.pin_expr(bits, span)? }
            }
            (Place::Tuple(places), Value::Tuple(items)) => {
                let items = places.iter().zip(items).map(|(place, item)| self.copy_of(place, item, span));
                Value::Tuple(items.collect::<Lowered<_>>()?)
            }
            (Place::Header(place), Value::Header(value)) => Value::Header(self.copy_of_header(place, value, span)?),
            (Place::Union(places), Value::Union(members)) => {
                let members = places.iter().zip(members).map(|(place, value)| self.copy_of_header(place, value, span));
                Value::Union(members.collect::<Lowered<_>>()?)
            }
            (Place::Stack(stack), Value::Tuple(items)) => {
                let stack = stack.clone();
                let places = (0..stack.size).map(|position| stack.at_position(&self.ir, position)).collect::<Vec<_>>();
                let items = places.iter().zip(items).map(|(place, item)| self.copy_of(place, item, span));
                Value::Tuple(items.collect::<Lowered<_>>()?)
            }
            (_, value) => value,
        })
    }

    fn copy_of_header(&mut self, place: &HeaderPlace, value: HeaderValue, span: Span) -> Lowered<HeaderValue> {
        if matches!(value.kind, HeaderKind::Invalid) {
            return Ok(value);
        }
        let header = ir::Header { name: "tmp".to_owned(), ty: place.shape.ty, metadata: false };
        let header = HeaderRef::Fixed(self.ir.headers.push(header));
        let copy = HeaderPlace::new(header.clone(), place.shape.clone());
        self.store_header(&copy, value, span)?;
        Ok(HeaderValue { shape: place.shape.clone(), kind: HeaderKind::Ref(header) })
    }

    fn store(&mut self, place: &Place, value: Value, span: Span) -> Lowered<()> {
        match (place, value) {
            (Place::Scalar { place, ty }, Value::Scalar(src)) => {
                if self.read_ir_place(place) != src {
                    self.emit(StmtKind::Assign { dst: place.clone(), src: fold::cast(*ty, src) }, span);
                }
                Ok(())
            }
            (Place::Bits(bits), Value::Scalar(src)) => {
                let src = self.with_bits(bits, src);
                self.emit(StmtKind::Assign { dst: bits.base.clone(), src }, span);
                Ok(())
            }
            (Place::Header(place), Value::Header(value)) => self.store_header(place, value, span),
            (Place::Tuple(places), Value::Tuple(items)) if places.len() == items.len() => {
                let mut pairs = places.iter().zip(items);
                pairs.try_for_each(|(place, item)| self.nested(span, |l| l.store(place, item, span)))
            }
            (Place::Union(places), Value::Union(members)) => self.store_union(places, members, span),
            (Place::Stack(to), Value::Stack(from)) => {
                if to != &from {
                    for position in 0..to.size.min(from.size) {
                        let (place, source) =
                            (to.at_position(&self.ir, position), from.at_position(&self.ir, position));
                        let value = self.read(&source);
                        self.store(&place, value, span)?;
                    }
                    let src = self.read_var(from.next);
                    self.emit(StmtKind::Assign { dst: ir::Place::Var(to.next), src }, span);
                }
                Ok(())
            }
            (Place::Stack(stack), Value::Tuple(items)) => self.store_elements(stack, items, span),
            (Place::Choice { index, items }, value) => {
                let mut ways = Vec::new();
                for item in items {
                    let value = value.clone();
                    ways.push(self.collect(|l| l.store(item, value, span))?.0);
                }
                self.emit_choice(index, ways, span);
                Ok(())
            }
            (Place::Varbit(varbit), value) => self.store_varbit(varbit, value, span),
            (Place::VarbitParts(parts), value) => self.store_varbit_parts(parts, &value, span),
            // A field of no bits.
            (Place::Tuple(places), Value::Varbit { max: 0, .. }) if places.is_empty() => Ok(()),
            _ => self.unsupported(span, "an assignment of this type"),
        }
    }

    /// An empty tuple is an empty varbit value.
    fn store_varbit(&mut self, place: &VarbitPlace, value: Value, span: Span) -> Lowered<()> {
        let dst = (place.header.clone(), place.field);
        let empty = matches!(&value, Value::Tuple(items) if items.is_empty());
        if empty && place.is_variable {
            self.emit(StmtKind::SetInvalid(dst.0), span);
            return Ok(());
        }
        if let Value::VarbitParts { length, bits } = value {
            self.set_varbit(place, length, bits, span);
            return Ok(());
        }
        let like = Value::Varbit { header: dst.0.clone(), field: dst.1, max: place.max };
        let src = self.varbit_operand(&value, &like)?;
        if src != dst {
            if place.is_variable {
                self.emit(StmtKind::SetValid(dst.0.clone()), span);
            }
            self.emit(StmtKind::CopyVarbit { dst, src }, span);
        }
        Ok(())
    }

    fn store_elements(&mut self, stack: &StackPlace, items: Vec<Value>, span: Span) -> Lowered<()> {
        for (position, item) in items.into_iter().enumerate().take(stack.size as usize) {
            let place = stack.at_position(&self.ir, position as u32);
            self.store(&place, item, span)?;
        }
        Ok(())
    }

    fn store_header(&mut self, place: &HeaderPlace, value: HeaderValue, span: Span) -> Lowered<()> {
        let dst = place.header.clone();
        match value.kind {
            HeaderKind::Ref(src) => {
                if src == dst {
                    return Ok(());
                }
                self.emit(StmtKind::CopyHeader { dst, src }, span);
                if !place.siblings.is_empty() {
                    let condition = HeaderValue { shape: value.shape, kind: HeaderKind::Ref(place.header.clone()) };
                    let (then_body, ()) = self.collect(|l| {
                        l.invalidate_siblings(place, span);
                        Ok(())
                    })?;
                    self.emit_if(condition.is_valid(), then_body, Vec::new(), span);
                }
                Ok(())
            }
            HeaderKind::Fields(fields) => {
                self.emit(StmtKind::SetValid(dst), span);
                for (position, field) in fields.into_iter().enumerate() {
                    if let Some(place) = place.field(position) {
                        self.store(&place, field, span)?;
                    }
                }
                self.invalidate_siblings(place, span);
                Ok(())
            }
            HeaderKind::Invalid => {
                self.emit(StmtKind::SetInvalid(dst), span);
                Ok(())
            }
        }
    }

    /// Member by member, with validity, so that at most one member is valid afterwards.
    fn store_union(&mut self, places: &[HeaderPlace], members: Vec<HeaderValue>, span: Span) -> Lowered<()> {
        for (place, value) in places.iter().zip(members) {
            self.store_header(&HeaderPlace::new(place.header.clone(), place.shape.clone()), value, span)?;
        }
        Ok(())
    }

    /// Makes the other members of a union invalid.
    pub fn invalidate_siblings(&mut self, place: &HeaderPlace, span: Span) {
        for sibling in &place.siblings {
            self.emit(StmtKind::SetInvalid(sibling.clone()), span);
        }
    }

    /// `if`, unless the condition is constant.
    pub fn emit_if(&mut self, cond: ir::Expr, then_body: ir::Body, else_body: ir::Body, span: Span) {
        match fold::truth(&cond) {
            Some(true) => self.body.extend(then_body),
            Some(false) => self.body.extend(else_body),
            None if then_body.is_empty() && else_body.is_empty() => {}
            None => self.emit(StmtKind::If { cond, then_body, else_body }, span),
        }
    }
}

/// Whether an assignment takes several steps, the first of which could change a run-time index of the others.
fn takes_steps(place: &Place, value: &Value) -> bool {
    match (place, value) {
        (_, Value::Scalar(_)) => false,
        (Place::Header(place), Value::Header(HeaderValue { kind: HeaderKind::Ref(_), .. })) => {
            !place.siblings.is_empty()
        }
        _ => true,
    }
}
