//! Statements.

use crate::places::Binding;
use crate::values::Value;
use crate::{Lowered, Lowerer, Refused, fold};
use base::{Bits, OrderedSet, Span};
use ir::{BinaryOp, StmtKind};
use sema::hir::{self, Collection, Expr, Local, Stmt};

impl<'h> Lowerer<'h> {
    /// Lowers the statements of a block. An error in one does not stop the others from being lowered.
    pub fn lower_block(&mut self, block: &'h hir::Block) -> Lowered<()> {
        let mut result = Ok(());
        for stmt in &block.stmts {
            if self.lower_stmt(stmt).is_err() {
                result = Err(Refused);
            }
        }
        result
    }

    /// Lowers a block into a body of its own.
    pub fn body_of(&mut self, block: &'h hir::Block) -> Lowered<ir::Body> {
        Ok(self.collect(|l| l.lower_block(block))?.0)
    }

    /// Lowers one statement.
    pub fn lower_stmt(&mut self, stmt: &'h Stmt) -> Lowered<()> {
        self.nested(stmt.span, |l| l.lower_stmt_here(stmt))
    }

    fn lower_stmt_here(&mut self, stmt: &'h Stmt) -> Lowered<()> {
        let span = stmt.span;
        match &stmt.kind {
            hir::StmtKind::Block(block) => self.lower_block(block),
            hir::StmtKind::Local(local) => self.lower_local(local),
            hir::StmtKind::Assign { target, value } => self.lower_assignment(target, value, span),
            hir::StmtKind::Call(call) => self.eval(call).map(|_| ()),
            hir::StmtKind::If { .. } if is_long_chain(stmt) => self.lower_chain(stmt),
            hir::StmtKind::If { condition, then_body, else_body } => {
                let condition = self.eval_condition(condition)?;
                match fold::truth(&condition) {
                    Some(true) => self.lower_block(then_body),
                    Some(false) => self.lower_block(else_body),
                    None => {
                        let (then_body, else_body) = (self.body_of(then_body), self.body_of(else_body));
                        self.emit_if(condition, then_body?, else_body?, span);
                        Ok(())
                    }
                }
            }
            hir::StmtKind::SwitchValue { subject, cases, default } => {
                self.lower_switch(subject, cases, default.as_ref(), span)
            }
            hir::StmtKind::SwitchAction { table, cases, default } => {
                self.lower_action_switch(table, cases, default.as_ref(), span)
            }
            hir::StmtKind::For { init, condition, update, body } => self.lower_for(init, condition, update, body, span),
            hir::StmtKind::ForIn { var, collection, body } => match collection {
                Collection::Items(items) => self.lower_for_items(*var, items, body, span),
                Collection::Range(low, high) => self.lower_for_range(*var, low, high, body, span),
            },
            hir::StmtKind::Break => self.leave_loop(|(end, _)| end, span),
            hir::StmtKind::Continue => self.leave_loop(|(_, next)| next, span),
            hir::StmtKind::Return(value) => self.lower_return(value.as_ref(), span),
            hir::StmtKind::Exit => self.lower_exit(span),
        }
    }

    /// A long `else if` chain: its arms are consecutive in a block that each of them leaves, not nested.
    fn lower_chain(&mut self, first: &'h Stmt) -> Lowered<()> {
        let end = self.new_label();
        let (body, result) = self.collect(|l| {
            let (mut next, mut result) = (Some(first), Ok(()));
            while let Some(Stmt { kind: hir::StmtKind::If { condition, then_body, else_body }, span }) = next {
                let is_always = l.lower_arm(condition, then_body, end, *span);
                next = else_if(else_body);
                match is_always {
                    Ok(true) => break,
                    Ok(false) if next.is_none() => result = result.and(l.lower_block(else_body)),
                    Ok(false) => {}
                    Err(refused) => result = Err(refused),
                }
            }
            Ok(result)
        })?;
        self.emit_block(end, body, first.span);
        result
    }

    /// Returns whether the condition is always true, so that the rest is unreachable.
    fn lower_arm(&mut self, condition: &'h Expr, body: &'h hir::Block, end: ir::LabelId, span: Span) -> Lowered<bool> {
        let condition = self.eval_condition(condition)?;
        let is_always = fold::truth(&condition) == Some(true);
        let (body, ()) = self.collect(|l| {
            l.lower_block(body)?;
            l.emit(StmtKind::Leave(end), span);
            Ok(())
        })?;
        self.emit_if(condition, body, Vec::new(), span);
        Ok(is_always)
    }

    /// Lowers a declaration.
    pub fn lower_local(&mut self, local: &'h Local) -> Lowered<()> {
        match local {
            Local::Var(var, None) => {
                let span = self.hir.vars[*var].span;
                let (place, is_old) = self.declare(*var)?;
                if is_old {
                    self.reset(&place, span);
                }
                Ok(())
            }
            Local::Var(var, Some(value)) => {
                let span = self.hir.vars[*var].span;
                let value = self.eval(value);
                // Also after an error, so that uses of the variable are not errors, too.
                let declared = self.declare(*var);
                let (value, (place, _)) = (value?, declared?);
                self.assign(&place, value, span)
            }
            Local::Const(var, value) => {
                let value = self.eval(value)?;
                self.env.insert(*var, Binding::Value(value));
                Ok(())
            }
            Local::Instance(instance) => {
                let span = self.hir.instances[*instance].span;
                let object = self.instance(*instance, span)?;
                self.clear_declared_checksum(object, span);
                Ok(())
            }
            Local::Action(_) | Local::Table(_) | Local::ValueSet(_) => Ok(()),
        }
    }

    fn lower_assignment(&mut self, target: &'h Expr, value: &'h Expr, span: Span) -> Lowered<()> {
        let mut place = self.place(target)?;
        if self.has_effects(value) {
            place = self.pin(place, target.span)?;
        }
        let value = match self.eval(value)? {
            Value::Integer(number) => self.convert(Value::Integer(number), &target.ty, span)?,
            value => value,
        };
        self.assign(&place, value, span)
    }

    fn lower_switch(
        &mut self,
        subject: &'h Expr,
        cases: &'h [hir::SwitchValueCase],
        default: Option<&'h hir::Block>,
        span: Span,
    ) -> Lowered<()> {
        let value = self.eval_scalar(subject)?;
        let mut lowered = Vec::new();
        let mut seen: OrderedSet<Bits> = OrderedSet::new();
        for case in cases {
            let mut values = Vec::new();
            for label in &case.labels {
                let label_value = fold::cast(value.ty, self.eval_scalar(label)?);
                match label_value.as_const() {
                    Some(bits) if seen.insert(bits.clone()) => values.push(bits.clone()),
                    Some(_) => {}
                    None => return self.unsupported(label.span, "labels that are not known at compile time"),
                }
            }
            let body = self.body_of(&case.body)?;
            if !values.is_empty() {
                lowered.push(ir::SwitchCase { values, body });
            }
        }
        let default = default.map_or(Ok(Vec::new()), |body| self.body_of(body))?;
        self.emit_switch(value, lowered, default, span);
        Ok(())
    }

    /// `switch`, unless the value is constant.
    pub fn emit_switch(&mut self, value: ir::Expr, cases: Vec<ir::SwitchCase>, default: ir::Body, span: Span) {
        if let Some(constant) = value.as_const() {
            let chosen = cases.iter().position(|case| case.values.contains(constant));
            match chosen {
                Some(chosen) => {
                    self.body.extend(cases.into_iter().nth(chosen).map(|case| case.body).into_iter().flatten())
                }
                None => self.body.extend(default),
            }
        } else {
            self.emit(StmtKind::Switch { value, cases, default }, span);
        }
    }

    fn lower_action_switch(
        &mut self,
        table: &'h Expr,
        cases: &'h [(Vec<usize>, hir::Block)],
        default: Option<&'h hir::Block>,
        span: Span,
    ) -> Lowered<()> {
        let (_, action) = self.apply_table_of(table, false, true, span)?;
        let Some(action) = action else { return Err(Refused) };
        let mut lowered = Vec::new();
        let mut seen = OrderedSet::new();
        for (labels, body) in cases {
            let values = labels.iter().filter(|&&label| seen.insert(label));
            let values: Vec<Bits> = values.map(|&label| Bits::from_u64(32, label as u64)).collect();
            let body = self.body_of(body)?;
            if !values.is_empty() {
                lowered.push(ir::SwitchCase { values, body });
            }
        }
        let default = default.map_or(Ok(Vec::new()), |body| self.body_of(body))?;
        let value = self.read_var(action);
        self.emit_switch(value, lowered, default, span);
        Ok(())
    }

    // --------------------------------------------------------------------------------------------------- loops

    /// Lowers a loop's body inside a block that `continue` leaves.
    fn loop_body(
        &mut self,
        (end, next): (ir::LabelId, ir::LabelId),
        span: Span,
        body: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        self.frame().loops.push((end, next));
        let result = self.collect(body);
        self.frame().loops.pop();
        let (body, ()) = result?;
        self.emit_block(next, body, span);
        Ok(())
    }

    fn leave_loop(&mut self, which: impl FnOnce((ir::LabelId, ir::LabelId)) -> ir::LabelId, span: Span) -> Lowered<()> {
        match self.frame().loops.last().copied() {
            Some(labels) => {
                self.emit(StmtKind::Leave(which(labels)), span);
                Ok(())
            }
            None => Err(Refused),
        }
    }

    fn lower_for(
        &mut self,
        init: &'h [Stmt],
        condition: &'h Expr,
        update: &'h [Stmt],
        body: &'h hir::Block,
        span: Span,
    ) -> Lowered<()> {
        init.iter().try_for_each(|stmt| self.lower_stmt(stmt))?;
        let labels = (self.new_label(), self.new_label());
        let (iteration, ()) = self.collect(|l| {
            l.frame().loops.push(labels);
            let checked = l.leave_unless(condition, labels.0, span);
            l.frame().loops.pop();
            checked?;
            l.loop_body(labels, span, |l| l.lower_block(body))?;
            l.frame().loops.push(labels);
            let updated = update.iter().try_for_each(|stmt| l.lower_stmt(stmt));
            l.frame().loops.pop();
            updated
        })?;
        self.emit(StmtKind::Loop { label: labels.0, body: iteration }, span);
        Ok(())
    }

    /// The test of a loop. It is not inverted, and has the place of the loop: a trace shows it as it was written.
    fn leave_unless(&mut self, condition: &'h Expr, label: ir::LabelId, span: Span) -> Lowered<()> {
        let leave = vec![ir::Stmt { kind: StmtKind::Leave(label), span: condition.span }];
        let condition = self.eval_condition(condition)?;
        self.emit_if(condition, Vec::new(), leave, span);
        Ok(())
    }

    /// The items that a loop iterates over; copied, where the loop could change them.
    pub fn kept_items(&mut self, var: hir::VarId, items: &'h Expr, span: Span) -> Lowered<Value> {
        let value = self.eval(items)?;
        Ok(match value {
            Value::Tuple(_) => {
                let elements = self.elements(&value, span)?;
                let ty = self.hir.vars[var].ty.clone();
                let kept = elements.into_iter().map(|item| self.spill(item, &ty, span));
                Value::Tuple(kept.collect::<Lowered<_>>()?)
            }
            value => value,
        })
    }

    /// Unrolled: once for every item.
    fn lower_for_items(&mut self, var: hir::VarId, items: &'h Expr, body: &'h hir::Block, span: Span) -> Lowered<()> {
        let value = self.kept_items(var, items, span)?;
        let end = self.new_label();
        let (all, ()) = self.collect(|l| {
            let (place, _) = l.declare(var)?;
            for item in l.elements(&value, span)? {
                let next = l.new_label();
                l.assign(&place, item, span)?;
                l.loop_body((end, next), span, |l| l.lower_block(body))?;
            }
            Ok(())
        })?;
        self.emit_block(end, all, span);
        Ok(())
    }

    /// From `low` to `high`, both included. The test for the last value comes before the step, which may wrap.
    fn lower_for_range(
        &mut self,
        var: hir::VarId,
        low: &'h Expr,
        high: &'h Expr,
        body: &'h hir::Block,
        span: Span,
    ) -> Lowered<()> {
        let (counter, high) = self.range_counter(var, low, high, span)?;
        let ty = high.ty;
        let labels = (self.new_label(), self.new_label());
        let here = self.read_var(counter);
        let is_within = fold::binary(BinaryOp::Le, here.clone(), high.clone());
        let (iteration, ()) = self.collect(|l| {
            let (place, _) = l.declare(var)?;
            l.assign(&place, Value::Scalar(here.clone()), span)?;
            l.loop_body(labels, span, |l| l.lower_block(body))?;
            let goes_on = fold::binary(BinaryOp::Ne, here.clone(), high);
            let one = ir::Expr::constant(ty, Bits::from_u64(ty.width(), 1));
            let src = fold::binary(BinaryOp::Add, here, one);
            let step = vec![ir::Stmt { kind: StmtKind::Assign { dst: ir::Place::Var(counter), src }, span }];
            let leave = vec![ir::Stmt { kind: StmtKind::Leave(labels.0), span }];
            l.emit_if(goes_on, step, leave, span);
            Ok(())
        })?;
        let all = vec![ir::Stmt { kind: StmtKind::Loop { label: labels.0, body: iteration }, span }];
        self.emit_if(is_within, all, Vec::new(), span);
        Ok(())
    }

    /// A variable that counts from `low`, and the value of `high`.
    pub fn range_counter(
        &mut self,
        var: hir::VarId,
        low: &'h Expr,
        high: &'h Expr,
        span: Span,
    ) -> Lowered<(ir::VarId, ir::Expr)> {
        let ty = self.scalar_or_refuse(&self.hir.vars[var].ty.clone(), span)?;
        let mut bounds = Vec::new();
        for (value, expr) in self.eval_in_order(&[low, high])?.into_iter().zip([low, high]) {
            let bound = match value {
                Value::Integer(number) => crate::values::number(ty, &number),
                value => fold::cast(ty, self.scalar_value(value, expr.span)?),
            };
            bounds.push(self.pin_expr(bound, expr.span)?);
        }
        let [low, high] = <[ir::Expr; 2]>::try_from(bounds).map_err(|_| Refused)?;
        let counter = self.temporary(ty, span)?;
        self.emit(StmtKind::Assign { dst: ir::Place::Var(counter), src: low }, span);
        Ok((counter, high))
    }
}

/// The length from which a chain of `else if` is lowered without nesting.
const CHAIN_LENGTH_MIN: usize = 64;

/// The `if` after an `else`, if it is the only statement there.
fn else_if(else_body: &hir::Block) -> Option<&Stmt> {
    match else_body.stmts.as_slice() {
        [stmt @ Stmt { kind: hir::StmtKind::If { .. }, .. }] => Some(stmt),
        _ => None,
    }
}

fn is_long_chain(stmt: &Stmt) -> bool {
    let mut next = stmt;
    for _ in 0..CHAIN_LENGTH_MIN {
        let hir::StmtKind::If { else_body, .. } = &next.kind else { return false };
        match else_if(else_body) {
            Some(stmt) => next = stmt,
            None => return false,
        }
    }
    true
}
