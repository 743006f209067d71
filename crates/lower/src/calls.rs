//! Calls, by the kind of their target.

use crate::objects::ObjectKind;
use crate::places::{HeaderPlace, Place};
use crate::values::{HeaderKind, HeaderValue, Value};
use crate::{Lowered, Lowerer, codes, fold};
use base::Span;
use base::limits::STACK_ELEMENTS_MAX;
use ir::StmtKind;
use sema::hir::{Builtin, Call, Callee, Expr, Type};

impl<'h> Lowerer<'h> {
    /// Lowers a call and returns its value, which has type `ty`.
    pub fn eval_call(&mut self, call: &'h Call, ty: &Type, span: Span) -> Lowered<Value> {
        match &call.callee {
            Callee::Function(id) if self.hir.functions[*id].body.is_none() => {
                self.call_extern_function(*id, call, ty, span)
            }
            Callee::Function(id) => self.call_function(*id, call, span),
            Callee::Action(id) => self.call_action(*id, call, span),
            Callee::Method(object, method) => {
                let object = self.eval_object(object)?;
                self.call_method(object, *method, call, ty, span)
            }
            Callee::Apply(object) => {
                let object = self.eval_object(object)?;
                match &self.objects[object].kind {
                    ObjectKind::Control { .. } => self.inline_control(object, call, span),
                    ObjectKind::Parser { .. } => self.inline_parser(object, call, span),
                    _ => self.unsupported(span, "applying this object"),
                }
            }
            Callee::ApplyTable(table) => {
                self.apply_table(table, false, false, span)?;
                Ok(Value::Void)
            }
            Callee::Builtin(builtin, object) => self.call_builtin(*builtin, object, &call.args, span),
        }
    }

    fn call_builtin(
        &mut self,
        builtin: Builtin,
        object: &'h Expr,
        args: &'h [Option<Expr>],
        span: Span,
    ) -> Lowered<Value> {
        match builtin {
            Builtin::IsValid => {
                let valid = match self.eval(object)? {
                    Value::Header(header) => header.is_valid(),
                    Value::Union(members) => {
                        let any = |any, member: &HeaderValue| fold::or(any, member.is_valid());
                        members.iter().fold(ir::Expr::bool(false), any)
                    }
                    _ => return self.unsupported(span, "`isValid` of this value"),
                };
                return Ok(Value::Scalar(valid));
            }
            Builtin::SetValid | Builtin::SetInvalid => {
                let place = self.place(object)?;
                self.set_validity(&place, builtin == Builtin::SetValid, span)?;
            }
            Builtin::PushFront | Builtin::PopFront => {
                let place = self.place(object)?;
                let count = match args.first() {
                    Some(Some(count)) => self.eval(count)?,
                    _ => return Err(crate::Refused),
                };
                let count = self.constant_number(&count, span)?;
                let count = u32::try_from(&count).unwrap_or(STACK_ELEMENTS_MAX).min(STACK_ELEMENTS_MAX);
                self.shift_stack(&place, count, builtin == Builtin::PushFront, span)?;
            }
        }
        Ok(Value::Void)
    }

    fn set_validity(&mut self, place: &Place, valid: bool, span: Span) -> Lowered<()> {
        match place {
            Place::Header(header) => {
                self.note_length(header, valid, span);
                let header = &match header.siblings.is_empty() {
                    true => header.clone(),
                    false => self.pin_header_place(header.clone(), span)?,
                };
                if valid {
                    self.emit(StmtKind::SetValid(header.header.clone()), span);
                    self.invalidate_siblings(header, span);
                } else {
                    self.removals.insert(span);
                    self.emit(StmtKind::SetInvalid(header.header.clone()), span);
                }
                Ok(())
            }
            Place::Choice { index, items } => {
                let mut ways = Vec::new();
                for item in items {
                    ways.push(self.collect(|l| l.set_validity(item, valid, span))?.0);
                }
                self.emit_choice(index, ways, span);
                Ok(())
            }
            _ => self.unsupported(span, "validity of this value"),
        }
    }

    /// Counts the bytes that become valid or invalid in ingress, if egress reads the packet's length.
    fn note_length(&mut self, place: &HeaderPlace, becomes_valid: bool, span: Span) {
        let Some(var) = self.length_delta() else { return };
        let bytes = place.shape.fixed_bits().div_ceil(8);
        let value = HeaderValue { shape: place.shape.clone(), kind: HeaderKind::Ref(place.header.clone()) };
        let (cond, op) = match becomes_valid {
            true => (fold::not(value.is_valid()), ir::BinaryOp::Add),
            false => (value.is_valid(), ir::BinaryOp::Sub),
        };
        let sum = fold::binary(op, self.read_var(var), ir::Expr::bit(32, u64::from(bytes)));
        let assign = ir::Stmt { kind: StmtKind::Assign { dst: ir::Place::Var(var), src: sum }, span };
        self.emit_if(cond, vec![assign], Vec::new(), span);
    }

    /// `push_front` and `pop_front`. The stacks of a union stack share `next`, which must move once.
    fn shift_stack(&mut self, place: &Place, count: u32, push: bool, span: Span) -> Lowered<()> {
        let stack = match place {
            Place::Stack(stack) => stack,
            Place::Choice { index, items } => {
                let mut ways = Vec::new();
                for item in items {
                    ways.push(self.collect(|l| l.shift_stack(item, count, push, span))?.0);
                }
                self.emit_choice(index, ways, span);
                return Ok(());
            }
            _ => return self.unsupported(span, "`push_front` and `pop_front` of this value"),
        };
        let before = match stack.members.len() {
            1 => None,
            _ => Some(self.pin_expr(self.read_var(stack.next), span)?),
        };
        for (position, (id, _)) in stack.members.iter().enumerate() {
            if let (Some(before), 1..) = (&before, position) {
                self.emit(StmtKind::Assign { dst: ir::Place::Var(stack.next), src: before.clone() }, span);
            }
            let stack = *id;
            self.emit(
                if push { StmtKind::PushFront { stack, count } } else { StmtKind::PopFront { stack, count } },
                span,
            );
        }
        Ok(())
    }

    /// Argument `position`, which must exist.
    pub fn argument(&mut self, call: &'h Call, position: usize, span: Span) -> Lowered<&'h Expr> {
        match call.args.get(position) {
            Some(Some(arg)) => Ok(arg),
            _ => self.unsupported(span, "leaving out an argument of this call"),
        }
    }

    /// A compile-time count as an argument.
    pub fn count_argument(&mut self, call: &'h Call, position: usize, max: u64, span: Span) -> Lowered<u64> {
        let arg = self.argument(call, position, span)?;
        let value = self.eval(arg)?;
        self.constant_count(&value, max, arg.span)
    }

    /// Evaluates the condition of a statement.
    pub fn eval_condition(&mut self, expr: &'h Expr) -> Lowered<ir::Expr> {
        let condition = self.eval_scalar(expr)?;
        if condition.ty == ir::Type::Bool {
            return Ok(condition);
        }
        self.refuse(codes::UNSUPPORTED, expr.span, "not supported yet: a condition of this type")
    }
}
