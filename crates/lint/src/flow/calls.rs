//! Calls: arguments are copied in, results are copied out; an action also changes the variables of its control.

use super::state::{Assigned, join};
use super::{Fault, Flow};
use crate::walk::{arguments, callee_params};
use base::Span;
use sema::hir::*;
use syntax::ast::{Direction, UnaryOperator};

impl Flow<'_, '_> {
    pub(super) fn call(&mut self, call: &Call) {
        match &call.callee {
            Callee::ApplyTable(object) => {
                if let ExprKind::Table(table) = object.kind {
                    self.apply_table(table);
                }
            }
            Callee::Builtin(builtin, object) => {
                self.read_indices(object);
                call.args.iter().flatten().for_each(|arg| self.read(arg));
                self.builtin(*builtin, object);
            }
            Callee::Action(id) => self.action(*id, &call.args),
            Callee::Method(object, position) => {
                self.read(object);
                if self.is_emit(object, *position)
                    && let Some(emitted) = call.args.iter().flatten().next()
                {
                    self.check_emitted(emitted);
                }
                self.pass(callee_params(self.program, &call.callee), &call.args);
            }
            Callee::Function(_) | Callee::Apply(_) => self.pass(callee_params(self.program, &call.callee), &call.args),
        }
    }

    /// Copies arguments in and out.
    fn pass(&mut self, params: &[VarId], args: &[Option<Expr>]) {
        self.pass_in(params, args);
        self.pass_out(params, args);
    }

    fn pass_in(&mut self, params: &[VarId], args: &[Option<Expr>]) {
        for (direction, arg) in arguments(self.program, params, args) {
            if direction == Direction::Out { self.read_indices(arg) } else { self.read(arg) }
        }
    }

    fn pass_out(&mut self, params: &[VarId], args: &[Option<Expr>]) {
        for (direction, arg) in arguments(self.program, params, args) {
            if !matches!(direction, Direction::Out | Direction::InOut) {
                continue;
            }
            if let Some(place) = self.layout.place(arg) {
                self.check_written(&place, arg);
                if let Some(state) = &mut self.state {
                    state.set(place.leaves, true);
                }
                self.invalidate_siblings(arg);
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin, object: &Expr) {
        let Some(place) = self.layout.place(object) else { return };
        let header = self.validity_of(object);
        let Some(state) = &mut self.state else { return };
        match (builtin, header) {
            // A program that tests the validity of a header is assumed to handle an invalid one.
            (Builtin::IsValid, Some(_)) => state.assume_values(place.leaves),
            // A union: one of its members is valid, and the program may deduce which.
            (Builtin::IsValid, None) => state.assume_values(place.leaves),
            (Builtin::SetValid, Some((validity, _))) => state.set(validity..validity + 1, true),
            (Builtin::SetInvalid, Some(_)) => state.set(place.leaves, false),
            (Builtin::SetInvalid, None) => {}
            (Builtin::SetValid | Builtin::PushFront | Builtin::PopFront, _) => state.set(place.leaves, true),
        }
        if builtin == Builtin::SetValid {
            self.invalidate_siblings(object);
        }
    }

    /// Making a member of a union valid makes the others invalid.
    pub(super) fn invalidate_siblings(&mut self, member: &Expr) {
        let siblings = self.layout.siblings(member);
        if let Some(state) = &mut self.state {
            siblings.into_iter().for_each(|leaves| state.set(leaves, false));
        }
    }

    fn is_emit(&self, object: &Expr, position: usize) -> bool {
        let Type::Extern(id, _) = &object.ty else { return false };
        let owner = &self.program.externs[*id];
        &*owner.name == "packet_out" && owner.methods.get(position).is_some_and(|method| &*method.name == "emit")
    }

    fn check_emitted(&mut self, emitted: &Expr) {
        if let (Some((validity, var)), Some(state)) = (self.validity_of(emitted), &self.state)
            && !state.may.contains(validity)
        {
            self.fault(Fault::InvalidEmit, validity, var, emitted);
        }
    }

    /// Runs an action with these arguments.
    fn action(&mut self, id: ActionId, args: &[Option<Expr>]) {
        let params = &self.program.actions[id].params;
        self.pass_in(params, args);
        self.act(id);
        self.pass_out(params, args);
    }

    /// Applies the effect of an action on the variables of its control.
    fn act(&mut self, id: ActionId) {
        let (Some(summary), Some(state)) = (self.summaries.get(&id), &self.state) else { return };
        let exposed: Vec<_> =
            summary.exposures.iter().filter(|exposure| !state.may.contains(exposure.leaf)).cloned().collect();
        for exposure in exposed {
            match self.mode {
                super::Mode::Silent => {}
                super::Mode::Expose => self.exposures.push(exposure),
                super::Mode::Report => self.warn(&exposure),
            }
        }
        if let (Some(summary), Some(state)) = (self.summaries.get(&id), &self.state) {
            self.state = summary.effect.apply(state);
        }
    }

    fn apply_table(&mut self, table: TableId) {
        let (outcomes, no_action) = self.outcomes(table);
        let mut after = no_action;
        outcomes.into_iter().for_each(|outcome| join(&mut after, outcome));
        self.state = after;
    }

    /// The states after each action of the table's list, and after none of them if the table may run none.
    fn outcomes(&mut self, id: TableId) -> (Vec<Option<Assigned>>, Option<Assigned>) {
        let table = &self.program.tables[id];
        table.keys.iter().for_each(|key| self.read(&key.expr));
        let before = self.state.clone();
        let mut outcomes = Vec::with_capacity(table.actions.len());
        for listed in &table.actions {
            self.state = before.clone();
            self.action(listed.action.action, &listed.action.args);
            outcomes.push(self.state.take());
        }
        let no_action = if table.default_action.is_none() { before } else { None };
        (outcomes, no_action)
    }

    /// Evaluates a condition, and returns the states if it holds and if it does not. They differ for a table's hit and
    /// miss, which run other actions.
    pub(super) fn decide(&mut self, condition: &Expr) -> (Option<Assigned>, Option<Assigned>) {
        match &condition.kind {
            ExprKind::Unary(UnaryOperator::Not, inner) => {
                let (holds, fails) = self.decide(inner);
                (fails, holds)
            }
            ExprKind::Hit(applied) | ExprKind::Miss(applied) if applied_table(applied).is_some() => {
                let (hit, miss) = applied_table(applied).map_or((None, None), |table| self.hit_and_miss(table));
                if matches!(condition.kind, ExprKind::Hit(_)) { (hit, miss) } else { (miss, hit) }
            }
            _ => {
                self.read(condition);
                (self.state.clone(), self.state.clone())
            }
        }
    }

    /// The states after a table has hit, and after it has missed.
    fn hit_and_miss(&mut self, id: TableId) -> (Option<Assigned>, Option<Assigned>) {
        let (outcomes, mut miss) = self.outcomes(id);
        let table = &self.program.tables[id];
        let is_marked = |listed: &TableAction, name: &str| listed.annotations.iter().any(|it| it.name.as_str() == name);
        let constant = table.default_action.as_ref().filter(|_| table.const_default).map(|action| action.position);
        let mut hit = None;
        for (position, (listed, outcome)) in table.actions.iter().zip(outcomes).enumerate() {
            if !is_marked(listed, "defaultonly") {
                join(&mut hit, outcome.clone());
            }
            if constant.map_or(!is_marked(listed, "tableonly"), |constant| constant == position) {
                join(&mut miss, outcome);
            }
        }
        (hit, miss)
    }

    /// `switch (t.apply().action_run)`
    pub(super) fn switch_on_action(&mut self, table: &Expr, cases: &[(Vec<usize>, Block)], default: Option<&Block>) {
        let Some(id) = applied_table(table) else { return };
        let (mut outcomes, mut otherwise) = self.outcomes(id);
        let mut after = None;
        for (positions, body) in cases {
            let mut start = None;
            for &position in positions {
                match outcomes.get_mut(position) {
                    Some(outcome) => join(&mut start, outcome.take()),
                    // `NoAction` of a table that neither lists it nor has a default action.
                    None => join(&mut start, otherwise.clone()),
                }
            }
            let after_case = self.enter_case(start, body);
            join(&mut after, after_case);
        }
        outcomes.into_iter().for_each(|outcome| join(&mut otherwise, outcome));
        let after_default = match default {
            Some(body) => self.enter_case(otherwise, body),
            None => otherwise,
        };
        join(&mut after, after_default);
        self.state = after;
    }

    fn enter_case(&mut self, start: Option<Assigned>, body: &Block) -> Option<Assigned> {
        self.branch(start, |flow| {
            if flow.state.is_some() {
                flow.block(body)
            }
        })
    }

    /// The scalar `out` parameters without a value at the end of a body, on all paths or on some.
    pub(super) fn missing_results(&self, params: &[VarId]) -> Vec<(VarId, Span, bool)> {
        let Some(state) = &self.state else { return Vec::new() };
        let mut missing = Vec::new();
        for &param in params {
            if crate::walk::direction(self.program, param) != Direction::Out {
                continue;
            }
            let Some(place) = self.layout.variable(param) else { continue };
            let declared = &self.program.vars[param];
            if self.layout.has_header(&declared.ty) || place.leaves.is_empty() {
                continue;
            }
            let is_never = place.leaves.clone().all(|leaf| !state.may.contains(leaf));
            let is_sometimes = place.leaves.len() == 1 && !state.must.contains(place.leaves.start);
            if is_never || is_sometimes {
                missing.push((param, declared.span, is_never));
            }
        }
        missing
    }
}

/// The table that a call of `apply` runs.
fn applied_table(e: &Expr) -> Option<TableId> {
    let ExprKind::Call(call) = &e.kind else { return None };
    let Callee::ApplyTable(object) = &call.callee else { return None };
    match object.kind {
        ExprKind::Table(id) => Some(id),
        _ => None,
    }
}
