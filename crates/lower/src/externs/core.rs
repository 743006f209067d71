//! The externs of core.p4: `packet_in`, `packet_out`, `verify`.

use crate::externs::ExternKind;
use crate::objects::ObjectKind;
use crate::places::{HeaderPlace, Place};
use crate::types::{FieldShape, Form};
use crate::values::{HeaderKind, Value};
use crate::{Lowered, Lowerer, Refused, fold};
use base::Span;
use ir::{HeaderRef, StmtKind};
use sema::hir::{Call, Callee, Expr, ExprKind, Type};

impl<'h> Lowerer<'h> {
    /// Calls a method of `packet_in` or `packet_out`; `None` if there is none of this name.
    pub(super) fn call_packet_method(
        &mut self,
        name: &str,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Option<Value>> {
        let in_parser = self.parser.is_some();
        self.check_packet_type(name, call, span)?;
        match name {
            "extract" if in_parser => self.extract(call, span)?,
            "lookahead" if in_parser => return self.lookahead(ty, true, span).map(Some),
            "advance" if in_parser => {
                let bits = self.argument(call, 0, span)?;
                let bits = fold::cast(ir::Type::Bit(32), self.eval_scalar(bits)?);
                self.emit(StmtKind::Advance { bits }, span);
            }
            "length" if in_parser => {
                return Ok(Some(Value::Scalar(ir::Expr { kind: ir::ExprKind::PacketLength, ty: ir::Type::Bit(32) })));
            }
            "emit" if !in_parser => {
                let arg = self.argument(call, 0, span)?;
                let value = self.eval(arg)?;
                self.emit_value(&value, &arg.ty, span)?;
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::Void))
    }

    /// Reports a type argument of a generic parser or control that packets are not made of.
    fn check_packet_type(&mut self, method: &str, call: &Call, span: Span) -> Lowered<()> {
        let Some(ty) = call.type_args.first() else { return Ok(()) };
        let ty = self.resolve(ty);
        match self.hir.packet_fault(method, &ty, call.args.len() == 2, span) {
            Some(fault) => {
                self.diagnostics.push(fault);
                Err(Refused)
            }
            None => Ok(()),
        }
    }

    /// `extract(header)`, `extract(header, bits)`, `extract<T>(_)`
    fn extract(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        let place = match call.args.first() {
            Some(Some(target)) => self.extract_target(target)?,
            _ => match call.type_args.first() {
                Some(ty) => self.temporary_place(ty, span)?,
                None => return self.unsupported(span, "extracting nothing"),
            },
        };
        let varbit_bits = match call.args.get(1) {
            Some(Some(bits)) => Some(fold::cast(ir::Type::Bit(32), self.eval_scalar(bits)?)),
            _ => None,
        };
        self.extract_to(place, varbit_bits, span)
    }

    /// Extracts to a header. A header that a run-time index selects does not exist if the index is out of range.
    fn extract_to(&mut self, place: Place, varbit_bits: Option<ir::Expr>, span: Span) -> Lowered<()> {
        let header = match place {
            Place::Header(header) => header,
            Place::Choice { index, items } => {
                let mut ways = Vec::new();
                for item in items {
                    ways.push(self.collect(|l| l.extract_to(item, varbit_bits.clone(), span))?.0);
                }
                self.emit_choice(&index, ways, span);
                return Ok(());
            }
            _ => return self.unsupported(span, "extracting this, which is not a header,"),
        };
        if header.shape.has_varbit_parts() {
            return self.unsupported(span, "extracting a header with several varbit fields");
        }
        let has_varbit = self.ir.header_types[header.shape.ty].varbit().is_some();
        if has_varbit != varbit_bits.is_some() {
            return self
                .unsupported(span, "extracting a header with a varbit field without its length, or the reverse,");
        }
        let header = match &header.header {
            HeaderRef::Element { .. } if !header.siblings.is_empty() => self.pin_header_place(header, span)?,
            _ => header,
        };
        let dst = header.header.clone();
        let moved_to = match &dst {
            HeaderRef::Next(_) => header.siblings.iter().map(after_extraction).collect(),
            _ => header.siblings.clone(),
        };
        self.emit(StmtKind::Extract { dst, varbit_bits }, span);
        self.invalidate_siblings(&HeaderPlace { siblings: moved_to, ..header }, span);
        Ok(())
    }

    /// The target of an extraction. `stack.next` is not resolved, since the extraction itself checks and advances it.
    fn extract_target(&mut self, target: &'h Expr) -> Lowered<Place> {
        match &target.kind {
            ExprKind::StackNext(stack) => {
                let stack = self.place(stack)?;
                next_element(&stack)
            }
            ExprKind::Field(base, member) if matches!(base.kind, ExprKind::StackNext(_)) => {
                let element = self.extract_target(base)?;
                crate::exprs::field_of(element, *member).ok_or(Refused)
            }
            _ => self.place(target),
        }
    }

    /// The value of a select key that is `packet.lookahead<T>()` itself, which does not check the packet's length.
    pub fn unchecked_lookahead(&mut self, key: &'h Expr) -> Option<Lowered<Value>> {
        let ExprKind::Call(call) = &key.kind else { return None };
        let Callee::Method(object, method) = &call.callee else { return None };
        let object = match self.eval_object(object) {
            Ok(object) => object,
            Err(refused) => return Some(Err(refused)),
        };
        let ObjectKind::Extern(object) = &self.objects[object].kind else { return None };
        let is_lookahead = matches!(object.kind, ExternKind::PacketIn)
            && self.hir.externs[object.id].methods.get(*method).is_some_and(|method| &*method.name == "lookahead");
        is_lookahead.then(|| self.lookahead(&key.ty, false, key.span))
    }

    /// The bits at the cursor as a value. Only the lookahead of the last field is checked, and it comes first, so that
    /// the others can be removed where their values are not used.
    fn lookahead(&mut self, ty: &Type, checked: bool, span: Span) -> Lowered<Value> {
        let place = self.temporary_place(ty, span)?;
        let mut fields = Vec::new();
        self.fields_to_look_at(&place, &mut fields, span)?;
        let mut offset_bits = 0;
        let mut looks = Vec::new();
        for (dst, ty) in fields {
            looks.push(StmtKind::Lookahead { dst, offset_bits, checked: false });
            offset_bits += ty.width();
        }
        if let Some(StmtKind::Lookahead { dst, offset_bits, .. }) = looks.pop() {
            self.emit(StmtKind::Lookahead { dst, offset_bits, checked }, span);
        }
        looks.into_iter().for_each(|look| self.emit(look, span));
        Ok(self.read(&place))
    }

    /// The scalars of a place in order; its headers become valid.
    fn fields_to_look_at(&mut self, place: &Place, fields: &mut Vec<(ir::Place, ir::Type)>, span: Span) -> Lowered<()> {
        match place {
            Place::Scalar { place, ty } => {
                fields.push((place.clone(), *ty));
                Ok(())
            }
            Place::Tuple(items) => items.iter().try_for_each(|item| self.fields_to_look_at(item, fields, span)),
            Place::Header(header) => {
                self.emit(StmtKind::SetValid(header.header.clone()), span);
                if header
                    .shape
                    .fields
                    .iter()
                    .any(|field| matches!(field, FieldShape::Varbit { .. } | FieldShape::VarbitParts { .. }))
                {
                    return self.unsupported(span, "looking ahead at a header with a varbit field");
                }
                let parts: Vec<Place> = (0..header.shape.fields.len()).filter_map(|i| header.field(i)).collect();
                parts.iter().try_for_each(|part| self.fields_to_look_at(part, fields, span))
            }
            Place::Stack(stack) if !stack.is_union => (0..stack.size).try_for_each(|position| {
                let element = stack.at_position(&self.ir, position);
                self.fields_to_look_at(&element, fields, span)
            }),
            _ => self.unsupported(span, "looking ahead at a value of this type"),
        }
    }

    /// Emits the headers in a value, in order.
    fn emit_value(&mut self, value: &Value, ty: &Type, span: Span) -> Lowered<()> {
        match value {
            Value::Header(header) => match &header.kind {
                HeaderKind::Ref(_) => self.emit_header(header, span),
                HeaderKind::Invalid => Ok(()),
                HeaderKind::Fields(_) => {
                    let place = self.temporary_place(ty, span)?;
                    self.assign(&place, value.clone(), span)?;
                    let value = self.read(&place);
                    self.emit_value(&value, ty, span)
                }
            },
            Value::Union(members) => {
                let mut present = members.iter().filter(|member| member.kind != HeaderKind::Invalid);
                present.try_for_each(|member| self.emit_header(member, span))
            }
            Value::Tuple(_) | Value::Stack(_) => {
                let types = self.part_types(ty, span)?;
                let items = self.elements(value, span)?;
                let parts = items.iter().zip(types.iter().cycle());
                parts.into_iter().try_for_each(|(item, ty)| self.nested(span, |l| l.emit_value(item, ty, span)))
            }
            _ => self.unsupported(span, "emitting a value that is not a header"),
        }
    }

    /// The types of the parts of a struct or tuple; of an array, the one type of all.
    fn part_types(&mut self, ty: &Type, span: Span) -> Lowered<Vec<Type>> {
        if let Type::Array(element, _) = self.resolve(ty) {
            return Ok(vec![*element]);
        }
        match self.form(ty, span)? {
            Form::Tuple(fields) => Ok(fields.into_iter().map(|(_, ty)| ty).collect()),
            _ => self.unsupported(span, "emitting a value of this type"),
        }
    }

    /// Calls an extern function of core.p4; `None` if there is none of this name.
    pub(super) fn call_core_function(&mut self, name: &str, call: &'h Call, span: Span) -> Lowered<Option<Value>> {
        match name {
            "verify" if self.parser.is_some() => {
                let args = [self.argument(call, 0, span)?, self.argument(call, 1, span)?];
                let values = self.eval_in_order(&args)?;
                let [cond, error] = self.scalars(values, span)?;
                self.emit(StmtKind::Verify { cond, error }, span);
                Ok(Some(Value::Void))
            }
            "static_assert" => Ok(Some(Value::Scalar(ir::Expr::bool(true)))),
            _ => Ok(None),
        }
    }
}

/// `stack.next` of a stack, which a run-time index may select.
fn next_element(stack: &Place) -> Lowered<Place> {
    match stack {
        Place::Stack(stack) => Ok(stack.element(HeaderRef::Next)),
        Place::Choice { index, items } => {
            let items = items.iter().map(next_element).collect::<Lowered<_>>()?;
            Ok(Place::Choice { index: index.clone(), items })
        }
        _ => Err(Refused),
    }
}

/// The element that was filled by an extraction to its stack's `next`, which has advanced.
fn after_extraction(header: &HeaderRef) -> HeaderRef {
    match header {
        HeaderRef::Next(stack) => HeaderRef::Last(*stack),
        other => other.clone(),
    }
}
