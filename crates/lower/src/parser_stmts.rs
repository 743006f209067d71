//! Statements of parser states that apply sub-parsers.
//!
//! A sub-parser is a state machine, so statements that contain one become states: the branches of an `if`, the
//! iterations of a loop. All other statements remain statements of their state.
//!
//! ```text
//! for (init; condition; update) { body }      ==>      init; goto head
//!                                                      head:   select(condition) { true: body; _: end }
//!                                                      body:   ... goto next      // `break`: end, `continue`: next
//!                                                      next:   update; goto head
//!                                                      end:    what follows
//! ```

use crate::parsers::StateLoop;
use crate::values::Value;
use crate::{Lowered, Lowerer, Refused, fold};
use base::{Bits, Span};
use ir::{BinaryOp, KeySet, StateId, StmtKind, Target, Transition};
use sema::hir::{self, Block, Callee, Collection, Expr, ExprKind, Stmt};

/// Whether the statements after one are reachable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// They are.
    GoesOn,
    /// They are not: a `break` or `continue` ended the state.
    Left,
}

impl<'h> Lowerer<'h> {
    /// Lowers the statements of a state, which may become several. An error in one does not stop the others from being
    /// lowered.
    pub fn lower_state_stmts(&mut self, stmts: &'h [Stmt]) -> Lowered<Flow> {
        let mut result = Ok(Flow::GoesOn);
        for stmt in stmts {
            match self.lower_state_stmt(stmt) {
                Ok(Flow::GoesOn) => {}
                Ok(Flow::Left) => return result.map(|_| Flow::Left),
                Err(Refused) => result = Err(Refused),
            }
        }
        result
    }

    fn lower_state_stmt(&mut self, stmt: &'h Stmt) -> Lowered<Flow> {
        let span = stmt.span;
        match &stmt.kind {
            hir::StmtKind::Block(block) => self.nested(span, |l| l.lower_state_stmts(&block.stmts)),
            hir::StmtKind::Break | hir::StmtKind::Continue => {
                let around = self.state_loops().last().copied().ok_or(Refused)?;
                let is_break = matches!(stmt.kind, hir::StmtKind::Break);
                self.go_to(if is_break { around.end } else { around.next });
                Ok(Flow::Left)
            }
            _ if !needs_states(stmt) => self.lower_stmt(stmt).map(|()| Flow::GoesOn),
            hir::StmtKind::If { condition, then_body, else_body } => {
                let condition = self.eval_condition(condition)?;
                self.nested(span, |l| l.split_state(condition, then_body, else_body, span))
            }
            hir::StmtKind::For { init, condition, update, body } => {
                self.lower_state_stmts(init)?;
                self.nested(span, |l| l.split_for(condition, update, body, span))?;
                Ok(Flow::GoesOn)
            }
            hir::StmtKind::ForIn { var, collection, body } => {
                self.nested(span, |l| match collection {
                    Collection::Items(items) => l.split_for_items(*var, items, body, span),
                    Collection::Range(low, high) => l.split_for_range(*var, low, high, body, span),
                })?;
                Ok(Flow::GoesOn)
            }
            _ => self.lower_stmt(stmt).map(|()| Flow::GoesOn),
        }
    }

    fn go_to(&mut self, state: StateId) {
        self.finish_state(Transition::Goto(Target::State(state)));
    }

    fn go_by(&mut self, condition: ir::Expr, (then_state, else_state): (StateId, StateId), span: Span) {
        let case = |set, state| ir::SelectCase { sets: vec![set], target: Target::State(state), span };
        let cases = vec![case(KeySet::Value(ir::Expr::bool(true)), then_state), case(KeySet::Any, else_state)];
        self.finish_state(Transition::Select { keys: vec![condition], cases });
    }

    /// An `if`: states for both branches, which join.
    fn split_state(
        &mut self,
        condition: ir::Expr,
        then_body: &'h Block,
        else_body: &'h Block,
        span: Span,
    ) -> Lowered<Flow> {
        let then_state = self.new_part("then", span)?;
        let else_state = self.new_part("else", span)?;
        let join = self.new_part("join", span)?;
        self.go_by(condition, (then_state, else_state), span);
        let mut flow = Flow::Left;
        for (state, body) in [(then_state, then_body), (else_state, else_body)] {
            self.begin_state(state);
            if self.lower_state_stmts(&body.stmts)? == Flow::GoesOn {
                self.go_to(join);
                flow = Flow::GoesOn;
            }
        }
        self.begin_state(join);
        Ok(flow)
    }

    /// The states of an iteration, from the current one on, and its end.
    fn split_round(&mut self, around: StateLoop, body: &'h Block) -> Lowered<()> {
        self.state_loops().push(around);
        let flow = self.lower_state_stmts(&body.stmts);
        self.state_loops().pop();
        if flow? == Flow::GoesOn {
            self.go_to(around.next);
        }
        self.begin_state(around.next);
        Ok(())
    }

    fn split_for(&mut self, condition: &'h Expr, update: &'h [Stmt], body: &'h Block, span: Span) -> Lowered<()> {
        let head = self.new_part("head", span)?;
        let round = self.new_part("round", span)?;
        let around = StateLoop { next: self.new_part("next", span)?, end: self.new_part("end", span)? };
        self.go_to(head);
        self.begin_state(head);
        let condition = self.eval_condition(condition)?;
        self.go_by(condition, (round, around.end), span);
        self.begin_state(round);
        self.split_round(around, body)?;
        self.lower_state_stmts(update)?;
        self.go_to(head);
        self.begin_state(around.end);
        Ok(())
    }

    /// Unrolled: once for every item.
    fn split_for_items(&mut self, var: hir::VarId, items: &'h Expr, body: &'h Block, span: Span) -> Lowered<()> {
        let value = self.kept_items(var, items, span)?;
        let (place, _) = self.declare(var)?;
        let end = self.new_part("end", span)?;
        for item in self.elements(&value, span)? {
            self.assign(&place, item, span)?;
            let around = StateLoop { next: self.new_part("next", span)?, end };
            self.split_round(around, body)?;
        }
        self.go_to(end);
        self.begin_state(end);
        Ok(())
    }

    /// From `low` to `high`, both included. The test for the last value comes before the step, which may wrap.
    fn split_for_range(
        &mut self,
        var: hir::VarId,
        low: &'h Expr,
        high: &'h Expr,
        body: &'h Block,
        span: Span,
    ) -> Lowered<()> {
        let (counter, high) = self.range_counter(var, low, high, span)?;
        let ty = high.ty;
        let here = self.read_var(counter);
        let round = self.new_part("round", span)?;
        let step = self.new_part("step", span)?;
        let around = StateLoop { next: self.new_part("next", span)?, end: self.new_part("end", span)? };
        let is_past = fold::binary(BinaryOp::Gt, here.clone(), high.clone());
        self.go_by(is_past, (around.end, round), span);
        self.begin_state(round);
        let (place, _) = self.declare(var)?;
        self.assign(&place, Value::Scalar(here.clone()), span)?;
        self.split_round(around, body)?;
        let is_last = fold::binary(BinaryOp::Eq, here.clone(), high);
        self.go_by(is_last, (around.end, step), span);
        self.begin_state(step);
        let one = ir::Expr::constant(ty, Bits::from_u64(ty.width(), 1));
        let src = fold::binary(BinaryOp::Add, here, one);
        self.emit(StmtKind::Assign { dst: ir::Place::Var(counter), src }, span);
        self.go_to(round);
        self.begin_state(around.end);
        Ok(())
    }
}

/// Whether the statement applies a sub-parser, or leaves an enclosing loop.
fn needs_states(stmt: &Stmt) -> bool {
    applies_parser(stmt) || leaves_loop(stmt)
}

fn applies_parser(stmt: &Stmt) -> bool {
    match &stmt.kind {
        hir::StmtKind::Call(call) => {
            matches!(&call.kind, ExprKind::Call(call) if matches!(call.callee, Callee::Apply(_)))
        }
        hir::StmtKind::Block(block) => block.stmts.iter().any(applies_parser),
        hir::StmtKind::If { then_body, else_body, .. } => {
            then_body.stmts.iter().chain(&else_body.stmts).any(applies_parser)
        }
        hir::StmtKind::For { body, .. } | hir::StmtKind::ForIn { body, .. } => body.stmts.iter().any(applies_parser),
        _ => false,
    }
}

/// Whether a `break` or `continue` inside belongs to an enclosing loop that is made of states.
fn leaves_loop(stmt: &Stmt) -> bool {
    match &stmt.kind {
        hir::StmtKind::Break | hir::StmtKind::Continue => true,
        hir::StmtKind::Block(block) => block.stmts.iter().any(leaves_loop),
        hir::StmtKind::If { then_body, else_body, .. } => {
            then_body.stmts.iter().chain(&else_body.stmts).any(leaves_loop)
        }
        _ => false,
    }
}
