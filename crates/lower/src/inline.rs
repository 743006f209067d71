//! Inlining of functions, actions and controls.
//!
//! Arguments are evaluated from left to right, copied in, and copied out in the same order. Copies are omitted where
//! the difference is not observable: functions and controls access only their parameters, so a parameter may refer to
//! the argument's storage itself if no other argument touches it. Actions access all of their control, so their
//! arguments are copied. So are fields of headers, since an invalid header ignores writes and a parameter does not, and
//! members of unions, since a parameter that becomes valid does not make the other members invalid.

use crate::objects::{ObjectId, ObjectKind};
use crate::places::{Binding, Footprint, Place, footprint_of_place, footprint_of_value};
use crate::routines::{Callee, Code};
use crate::values::{HeaderKind, HeaderValue, Value};
use crate::{Frame, Lowered, Lowerer, Refused};
use base::Span;
use ir::StmtKind;
use sema::hir::{self, Call, Expr, VarKind};
use std::rc::Rc;
use syntax::ast::Direction;

/// An argument, evaluated.
pub(crate) enum Argument {
    /// Of a parameter without direction or with `in`.
    Value(Value),
    /// Of an `out` or `inout` parameter.
    Place(Place, Direction),
    /// Of an `inout` parameter, with its value before a later argument had its effects.
    Kept(Place, Value),
    /// `_`, or left out.
    Missing(Direction),
}

/// The storage that the callee can touch beside its parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Nothing.
    Parameters,
    /// Nothing, but its parameters must have storage of their own, always the same.
    OwnStorage,
    /// The caller's storage.
    Everything,
}

impl<'h> Lowerer<'h> {
    /// The direction of a parameter.
    pub fn direction(&self, param: hir::VarId) -> Direction {
        match &self.hir.vars[param].kind {
            VarKind::Parameter { direction, .. } => *direction,
            _ => Direction::None,
        }
    }

    /// Evaluates arguments from left to right as they are written, which names allow in any order; then default values.
    /// The parameters come in the same order, since arguments are copied out in it, too.
    pub fn eval_written(&mut self, params: &[hir::VarId], call: &'h Call) -> Lowered<(Vec<hir::VarId>, Vec<Argument>)> {
        let left_out = (0..params.len()).filter(|position| !call.order.contains(position));
        let order: Vec<usize> = call.order.iter().copied().chain(left_out).collect();
        let params: Vec<hir::VarId> = order.iter().map(|position| params[*position]).collect();
        let args: Vec<Option<&'h Expr>> = order.iter().map(|position| call.args[*position].as_ref()).collect();
        let evaluated = self.eval_pairs(&params, &args)?;
        Ok((params, evaluated))
    }

    /// Evaluates arguments that are written in the order of their parameters.
    pub fn eval_arguments(&mut self, params: &[hir::VarId], args: &'h [Option<Expr>]) -> Lowered<Vec<Argument>> {
        let args: Vec<Option<&'h Expr>> = args.iter().map(Option::as_ref).collect();
        self.eval_pairs(params, &args)
    }

    fn eval_pairs(&mut self, params: &[hir::VarId], args: &[Option<&'h Expr>]) -> Lowered<Vec<Argument>> {
        let mut evaluated = Vec::new();
        for (position, (param, arg)) in params.iter().zip(args).enumerate() {
            let direction = self.direction(*param);
            let Some(arg) = *arg else {
                evaluated.push(Argument::Missing(direction));
                continue;
            };
            let later = args[position + 1..].iter().flatten().any(|arg| self.has_effects(arg));
            evaluated.push(match direction {
                Direction::None | Direction::In => {
                    let value = self.eval(arg)?;
                    Argument::Value(if later { self.spill(value, &arg.ty, arg.span)? } else { value })
                }
                Direction::Out | Direction::InOut => {
                    let mut place = self.place(arg)?;
                    if later {
                        place = self.pin(place, arg.span)?;
                    }
                    if later && direction == Direction::InOut {
                        let value = self.load(&place, arg.span)?;
                        let value = self.spill(value, &arg.ty, arg.span)?;
                        Argument::Kept(place, value)
                    } else {
                        Argument::Place(place, direction)
                    }
                }
            });
        }
        Ok(evaluated)
    }

    /// Binds the parameters to the arguments and returns the copies at the end of the call: target, source.
    pub fn bind(
        &mut self,
        params: &[hir::VarId],
        args: Vec<Argument>,
        sight: Sight,
        span: Span,
    ) -> Lowered<Vec<(Place, Place)>> {
        let footprints: Vec<Footprint> = args
            .iter()
            .map(|arg| match arg {
                Argument::Value(value) => footprint_of_value(&self.ir, value),
                Argument::Place(place, _) | Argument::Kept(place, _) => footprint_of_place(&self.ir, place),
                Argument::Missing(_) => Footprint::default(),
            })
            .collect();
        let is_place: Vec<bool> =
            args.iter().map(|arg| matches!(arg, Argument::Place(..) | Argument::Kept(..))).collect();
        // A value that a place touches is copied first; a place may not overlap another.
        let alone = |position: usize| {
            footprints.iter().enumerate().all(|(other, footprint)| {
                other == position || !is_place[other] || !footprint.overlaps(&footprints[position])
            })
        };
        let by_reference: Vec<bool> = (0..args.len())
            .map(|position| {
                let is_part = matches!(&args[position], Argument::Place(place, _) if has_header_part(place));
                sight == Sight::Parameters && !is_part && !footprints[position].moves && alone(position)
            })
            .collect();
        let keeps_constants = sight != Sight::OwnStorage;
        let mut copy_outs = Vec::new();
        let mut outs = Vec::new();
        for (position, (param, arg)) in params.iter().zip(args).enumerate() {
            let by_reference = by_reference[position];
            if let (true, Argument::Place(place, Direction::Out)) = (by_reference, &arg) {
                outs.push(place.clone());
            }
            self.bind_one(*param, arg, (by_reference, keeps_constants), &mut copy_outs, span)?;
        }
        // Done last, since other arguments may be read from there.
        outs.iter().for_each(|place| self.invalidate(place, span));
        Ok(copy_outs)
    }

    fn bind_one(
        &mut self,
        param: hir::VarId,
        arg: Argument,
        (by_reference, keeps_constants): (bool, bool),
        copy_outs: &mut Vec<(Place, Place)>,
        span: Span,
    ) -> Lowered<()> {
        match arg {
            Argument::Value(value)
                if matches!(value, Value::Object(_))
                    || (keeps_constants && is_static(&value))
                    || (by_reference && is_simple(&value)) =>
            {
                self.env.insert(param, Binding::Value(value));
            }
            Argument::Value(value) => {
                let (place, _) = self.declare(param)?;
                let value = self.convert(value, &self.hir.vars[param].ty, span)?;
                self.assign(&place, value, span)?;
            }
            Argument::Place(place, _) if by_reference => {
                self.env.insert(param, Binding::Place(Rc::new(place)));
            }
            Argument::Place(place, direction) => {
                let place = self.pin(place, span)?;
                let (own, is_old) = self.declare(param)?;
                if direction == Direction::InOut {
                    let value = self.load(&place, span)?;
                    self.assign(&own, value, span)?;
                } else if is_old {
                    self.reset(&own, span);
                }
                copy_outs.push((place, (*own).clone()));
            }
            Argument::Kept(place, value) => {
                let (own, _) = self.declare(param)?;
                self.assign(&own, value, span)?;
                copy_outs.push((place, (*own).clone()));
            }
            Argument::Missing(Direction::Out | Direction::InOut) => {
                let (place, is_old) = self.declare(param)?;
                if is_old {
                    self.reset(&place, span);
                }
            }
            Argument::Missing(Direction::In) => {
                let (place, _) = self.declare(param)?;
                self.reset(&place, span);
            }
            Argument::Missing(Direction::None) => {
                let name = &self.hir.vars[param].name;
                return self.unsupported(span, format!("leaving out the argument for `{name}`"));
            }
        }
        Ok(())
    }

    /// Copies out the results of a call.
    pub fn copy_out(&mut self, copy_outs: &[(Place, Place)], span: Span) -> Lowered<()> {
        for (target, source) in copy_outs {
            let value = self.read(source);
            self.assign(target, value, span)?;
        }
        Ok(())
    }

    /// Lowers `body` inside `frame`, which `return` leaves.
    pub fn in_frame(&mut self, frame: Frame, span: Span, body: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        let label = frame.return_label;
        self.frames.push(frame);
        let result = self.collect(body);
        self.frames.pop();
        let (body, ()) = result?;
        self.emit_block(label, body, span);
        Ok(())
    }

    /// Appends a body that may leave `label`; as a block only if it does so before its end.
    pub fn emit_block(&mut self, label: ir::LabelId, mut body: ir::Body, span: Span) {
        drop_last_leaves(&mut body, label);
        if leaves(&body, label) {
            self.emit(StmtKind::Block { label, body }, span);
        } else {
            self.body.extend(body);
        }
    }

    /// Calls a function.
    pub fn call_function(&mut self, id: hir::FunctionId, call: &'h Call, span: Span) -> Lowered<Value> {
        let function = &self.hir.functions[id];
        let Some(body) = &function.body else { return Err(Refused) };
        let (params, args) = self.eval_written(&function.params, call)?;
        let type_args: Vec<_> = call.type_args.iter().map(|ty| self.resolve(ty)).collect();
        let types = function.type_params.iter().copied().zip(type_args.iter().cloned()).collect();
        let code = Code {
            callee: Callee::Function(id),
            name: function.name.to_string(),
            params: &function.params,
            body,
            return_type: &function.return_type,
            type_args,
            span: function.span,
        };
        let outer_types = std::mem::replace(&mut self.types, types);
        let result = self.call_routine(code, &params, args, span).and_then(|called| match called {
            Ok(value) => Ok(value),
            Err(args) => self.inline_function(id, &params, args, span),
        });
        self.types = outer_types;
        result
    }

    /// The code of a function with these arguments of its parameters.
    fn inline_function(
        &mut self,
        id: hir::FunctionId,
        params: &[hir::VarId],
        args: Vec<Argument>,
        span: Span,
    ) -> Lowered<Value> {
        let function = &self.hir.functions[id];
        let Some(body) = &function.body else { return Err(Refused) };
        let before = self.statement_count;
        let result = self.nested(span, |l| {
            let mut frame = l.new_frame(None);
            if function.return_type != hir::Type::Void {
                frame.return_place = Some(Rc::new(l.temporary_place(&function.return_type, span)?));
            }
            let return_place = frame.return_place.clone();
            let mut copy_outs = Vec::new();
            l.frames.push(frame);
            let bound = l.bind(params, args, Sight::Parameters, span);
            let mut frame = l.frames.pop().expect("the frame that was pushed above");
            copy_outs.extend(bound?);
            frame.copy_outs = copy_outs.clone();
            l.in_frame(frame, span, |l| l.lower_block(body))?;
            l.copy_out(&copy_outs, span)?;
            Ok(return_place.map_or(Value::Void, |place| l.read(&place)))
        });
        self.note_inlined(Callee::Function(id), before);
        result
    }

    /// Calls an action from a control or another action.
    pub fn call_action(&mut self, id: hir::ActionId, call: &'h Call, span: Span) -> Lowered<Value> {
        let (params, args) = self.eval_written(&self.hir.actions[id].params, call)?;
        self.run_action(id, &params, args, span)
    }

    /// The same with evaluated arguments.
    pub fn run_action(
        &mut self,
        id: hir::ActionId,
        params: &[hir::VarId],
        args: Vec<Argument>,
        span: Span,
    ) -> Lowered<Value> {
        let action = &self.hir.actions[id];
        let code = Code {
            callee: Callee::Action(id),
            name: action.name.to_string(),
            params: &action.params,
            body: &action.body,
            return_type: &hir::Type::Void,
            type_args: Vec::new(),
            span: action.span,
        };
        match self.call_routine(code, params, args, span)? {
            Ok(value) => Ok(value),
            Err(args) => self.inline_action(id, params, args, span),
        }
    }

    /// The code of an action with these arguments of its parameters.
    fn inline_action(
        &mut self,
        id: hir::ActionId,
        params: &[hir::VarId],
        args: Vec<Argument>,
        span: Span,
    ) -> Lowered<Value> {
        let action = &self.hir.actions[id];
        let before = self.statement_count;
        let result = self.nested(span, |l| {
            let frame = l.new_frame(None);
            l.frames.push(frame);
            let bound = l.bind(params, args, Sight::Everything, span);
            let mut frame = l.frames.pop().expect("the frame that was pushed above");
            let copy_outs = bound?;
            frame.copy_outs = copy_outs.clone();
            l.in_frame(frame, span, |l| l.lower_block(&action.body))?;
            l.copy_out(&copy_outs, span)?;
            Ok(Value::Void)
        });
        self.note_inlined(Callee::Action(id), before);
        result
    }

    /// Applies a control.
    pub fn inline_control(&mut self, object: ObjectId, call: &'h Call, span: Span) -> Lowered<Value> {
        let ObjectKind::Control { control, .. } = self.objects[object].kind else { return Err(Refused) };
        let (params, args) = self.eval_written(&self.hir.controls[control].params, call)?;
        let sight = if self.facts.shared_controls.contains(&object) { Sight::OwnStorage } else { Sight::Parameters };
        self.apply_control(object, (&params, args), sight, span)?;
        Ok(Value::Void)
    }

    /// Lowers the code of a control with these arguments.
    pub fn apply_control(
        &mut self,
        object: ObjectId,
        (params, args): (&[hir::VarId], Vec<Argument>),
        sight: Sight,
        span: Span,
    ) -> Lowered<()> {
        let ObjectKind::Control { control, type_args, args: constructor_args, .. } = &self.objects[object].kind else {
            return Err(Refused);
        };
        let (control, constructor_args) = (&self.hir.controls[*control], constructor_args.clone());
        let types = control.type_params.iter().copied().zip(type_args.iter().cloned()).collect();
        let outer = (std::mem::replace(&mut self.types, types), self.env.clone(), self.object);
        self.object = object;
        let result = self.nested(span, |l| {
            l.enter(&control.constructor_params, &constructor_args);
            let frame = l.new_frame(Some(object));
            l.frames.push(frame);
            let bound = l.bind(params, args, sight, span);
            let mut frame = l.frames.pop().expect("the frame that was pushed above");
            let copy_outs = bound?;
            frame.copy_outs = copy_outs.clone();
            l.remember_bindings(object, control, span)?;
            l.in_frame(frame, span, |l| {
                l.declare_locals(&control.locals)?;
                l.lower_block(&control.body)
            })?;
            l.copy_out(&copy_outs, span)
        });
        (self.types, self.env, self.object) = outer;
        result
    }

    /// A control with tables must be applied with the same bindings everywhere, since its tables and actions name them.
    /// Otherwise, the next attempt gives its parameters storage of their own.
    fn remember_bindings(&mut self, object: ObjectId, control: &hir::Control, span: Span) -> Lowered<()> {
        if !control.locals.iter().any(|local| matches!(local, hir::Local::Table(_))) {
            return Ok(());
        }
        let now: Vec<Binding> = control.params.iter().filter_map(|param| self.env.get(param).cloned()).collect();
        let ObjectKind::Control { first, .. } = &mut self.objects[object].kind else { return Err(Refused) };
        match first {
            None => *first = Some(now),
            Some(first) if *first != now => {
                if self.facts.shared_controls.contains(&object) {
                    let what = "applying a control with tables to different objects";
                    return self.unsupported(span, what);
                }
                self.learned.shared_controls.insert(object);
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// `return`
    pub fn lower_return(&mut self, value: Option<&'h Expr>, span: Span) -> Lowered<()> {
        if let Some(value) = value {
            let result = self.eval(value)?;
            if let Some(place) = self.frame().return_place.clone() {
                self.assign(&place, result, span)?;
            }
        }
        let label = self.frame().return_label;
        self.emit(StmtKind::Leave(label), span);
        Ok(())
    }

    /// `exit`: copies out for every enclosing call, innermost first, and leaves the block. An action of an inlined
    /// control's table cannot know the copies of its control's caller, so it sets a flag that the caller tests.
    pub fn lower_exit(&mut self, span: Span) -> Lowered<()> {
        for position in (0..self.frames.len()).rev() {
            let copy_outs = self.frames[position].copy_outs.clone();
            self.copy_out(&copy_outs, span)?;
            if self.frames[position].is_table_action && position > 1 {
                let flag = self.exit_flag(span)?;
                self.emit(StmtKind::Assign { dst: ir::Place::Var(flag), src: ir::Expr::bool(true) }, span);
                let label = self.frames[position].return_label;
                self.emit(StmtKind::Leave(label), span);
                return Ok(());
            }
        }
        self.block.exit_is_used = true;
        self.emit(StmtKind::Leave(self.block.exit_label), span);
        Ok(())
    }

    fn exit_flag(&mut self, span: Span) -> Lowered<ir::VarId> {
        match self.block.exit_flag {
            Some(flag) => Ok(flag),
            None => {
                let flag = self.temporary(ir::Type::Bool, span)?;
                self.block.exit_flag = Some(flag);
                Ok(flag)
            }
        }
    }
}

/// Whether parts of the place are fields of headers, which ignore assignments while the header is invalid, or single
/// members of unions, which exclude the other members.
fn has_header_part(place: &Place) -> bool {
    match place {
        Place::Scalar { place, .. } => is_header_field(place),
        Place::Bits(bits) => is_header_field(&bits.base),
        Place::Varbit(varbit) => !varbit.is_variable,
        Place::VarbitParts(parts) => is_header_field(&parts.length),
        Place::Tuple(items) | Place::Choice { items, .. } => items.iter().any(has_header_part),
        Place::Header(header) => !header.siblings.is_empty(),
        Place::Union(_) | Place::Stack(_) => false,
    }
}

fn is_header_field(place: &ir::Place) -> bool {
    match place {
        ir::Place::Var(_) => false,
        ir::Place::Field(..) => true,
        ir::Place::Slice { base, .. } => is_header_field(base),
    }
}

/// Whether the value is known at compile time.
fn is_static(value: &Value) -> bool {
    match value {
        Value::Scalar(expr) => expr.as_const().is_some(),
        Value::Integer(_) | Value::String(_) | Value::Object(_) | Value::Void => true,
        Value::Header(header) => is_static_header(header),
        Value::Tuple(items) => items.iter().all(is_static),
        Value::Union(members) => members.iter().all(is_static_header),
        Value::Stack(_) | Value::Varbit { .. } | Value::VarbitParts { .. } => false,
    }
}

fn is_static_header(header: &HeaderValue) -> bool {
    match &header.kind {
        HeaderKind::Ref(_) => false,
        HeaderKind::Fields(fields) => fields.iter().all(is_static),
        HeaderKind::Invalid => true,
    }
}

/// Whether reading the value costs nothing, so that it may replace each read of the parameter.
fn is_simple(value: &Value) -> bool {
    let header = |header: &HeaderValue| !matches!(header.kind, HeaderKind::Fields(_));
    match value {
        Value::Scalar(expr) => {
            matches!(expr.kind, ir::ExprKind::Const(_) | ir::ExprKind::Var(_) | ir::ExprKind::Field(..))
        }
        Value::VarbitParts { bits, .. } => is_simple(&Value::Scalar(bits.clone())),
        Value::Header(value) => header(value),
        Value::Tuple(items) => items.iter().all(is_simple),
        Value::Union(members) => members.iter().all(header),
        _ => true,
    }
}

/// Removes statements that leave `label` at the end of the body.
fn drop_last_leaves(body: &mut ir::Body, label: ir::LabelId) {
    match body.last_mut().map(|stmt| &mut stmt.kind) {
        Some(StmtKind::Leave(to)) if *to == label => {
            body.pop();
            drop_last_leaves(body, label);
        }
        Some(StmtKind::If { then_body, else_body, .. }) => {
            drop_last_leaves(then_body, label);
            drop_last_leaves(else_body, label);
            if then_body.is_empty() && else_body.is_empty() {
                body.pop();
            }
        }
        Some(StmtKind::Switch { cases, default, .. }) => {
            cases.iter_mut().for_each(|case| drop_last_leaves(&mut case.body, label));
            drop_last_leaves(default, label);
        }
        Some(StmtKind::Block { body, .. }) => drop_last_leaves(body, label),
        _ => {}
    }
}

/// Whether the body leaves `label`.
fn leaves(body: &ir::Body, label: ir::LabelId) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Leave(to) => *to == label,
        StmtKind::If { then_body, else_body, .. } => leaves(then_body, label) || leaves(else_body, label),
        StmtKind::Switch { cases, default, .. } => {
            cases.iter().any(|case| leaves(&case.body, label)) || leaves(default, label)
        }
        StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => leaves(body, label),
        _ => false,
    })
}
