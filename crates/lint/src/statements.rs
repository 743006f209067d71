//! Statements that are never reached, or that do nothing.

use crate::diagnostics as d;
use crate::expressions::names_variable;
use crate::linter::Linter;
use crate::sink::{NO_EFFECT, UNREACHABLE, UNUSED};
use crate::walk::{blocks_of, direction, for_each_part, is_pure, is_same};
use sema::hir::*;
use std::collections::BTreeMap;
use syntax::ast::Direction;

impl Linter<'_, '_> {
    /// Statements one after another.
    pub(crate) fn check_sequence(&mut self, stmts: &[Stmt]) {
        if let Some(position) = stmts.iter().position(never_goes_on)
            && let Some(next) = stmts.get(position + 1)
        {
            self.sink.warn(UNREACHABLE, d::unreachable_statement(next.span, stmts[position].span));
        }
        self.check_overwritten(stmts);
    }

    /// Assignments to a whole local variable that is assigned again before anything can have read it. Only assignments
    /// may stand between the two.
    fn check_overwritten(&mut self, stmts: &[Stmt]) {
        let mut unread: BTreeMap<VarId, base::Span> = BTreeMap::new();
        for stmt in stmts {
            let StmtKind::Assign { target, value } = &stmt.kind else {
                unread.clear();
                continue;
            };
            forget_read(value, &mut unread);
            let ExprKind::Var(var) = target.kind else {
                forget_read(target, &mut unread);
                continue;
            };
            if !is_pure(value) {
                // A call may read or change anything.
                unread.clear();
            }
            let declared = &self.program.vars[var];
            if !matches!(declared.kind, VarKind::Variable) {
                continue;
            }
            if let Some(first) = unread.insert(var, stmt.span) {
                let warning = d::overwritten(first, &declared.name, stmt.span);
                self.sink.warn_about(UNUSED, &declared.annotations, warning);
            }
        }
    }

    /// A statement by itself; its parts come later.
    pub(crate) fn check_statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value }
                if names_variable(target) && is_pure(target) && is_same(target, value) =>
            {
                self.sink.warn(NO_EFFECT, d::self_assignment(stmt.span));
            }
            StmtKind::Call(Expr { kind: ExprKind::Call(call), .. }) => self.check_ignored_result(call, stmt),
            StmtKind::If { then_body, else_body, .. } => {
                self.check_empty_body(then_body, "if");
                let text = |block: &Block| words(self.sink.sources.text(block.span));
                let has_else = !else_body.stmts.is_empty() && !then_body.stmts.is_empty();
                if has_else && text(then_body) == text(else_body) {
                    let (yes, no) = (then_body.span, else_body.span);
                    self.sink.warn(NO_EFFECT, d::same_branches(stmt.span, yes, no));
                }
                self.check_repeated_conditions(stmt);
            }
            StmtKind::For { body, .. } | StmtKind::ForIn { body, .. } => self.check_empty_body(body, "for"),
            _ => {}
        }
    }

    /// `if (c);` followed by what was meant to be its body.
    fn check_empty_body(&mut self, body: &Block, keyword: &str) {
        if self.sink.sources.text(body.span).trim() == ";" {
            self.sink.warn(NO_EFFECT, d::empty_body(body.span, keyword));
        }
    }

    /// A condition of an `else if` that an earlier one of the same chain has asked already. Only so many branches are
    /// compared with each that long chains cost no more than their length.
    fn check_repeated_conditions(&mut self, stmt: &Stmt) {
        const DISTANCE_MAX: usize = 8;
        let StmtKind::If { condition, else_body, .. } = &stmt.kind else { return };
        if !is_pure(condition) || self.values.number(condition).is_some() {
            return;
        }
        let mut next = else_body;
        for _ in 0..DISTANCE_MAX {
            let [Stmt { kind: StmtKind::If { condition: other, else_body, .. }, .. }] = next.stmts.as_slice() else {
                return;
            };
            if !is_pure(other) {
                return;
            }
            if is_same(condition, other) {
                self.sink.warn(UNREACHABLE, d::repeated_condition(other.span, condition.span));
                return;
            }
            next = else_body;
        }
    }

    /// The call of a function that does nothing but compute a result, which nobody looks at.
    fn check_ignored_result(&mut self, call: &Call, stmt: &Stmt) {
        let is_useless = match &call.callee {
            Callee::Builtin(Builtin::IsValid, object) => is_pure(object),
            Callee::Function(id) => {
                let function = &self.program.functions[*id];
                let is_input =
                    |param: &VarId| matches!(direction(self.program, *param), Direction::In | Direction::None);
                let body_is_pure = function.body.as_ref().is_some_and(|body| computes_only(&body.stmts));
                function.return_type != Type::Void
                    && function.params.iter().all(is_input)
                    && body_is_pure
                    && call.args.iter().flatten().all(is_pure)
            }
            _ => false,
        };
        if is_useless {
            self.sink.warn(NO_EFFECT, d::ignored_result(stmt.span));
        }
    }
}

/// Whether control never reaches what follows a statement.
fn never_goes_on(stmt: &Stmt) -> bool {
    let block_never = |block: &Block| block.stmts.iter().any(never_goes_on);
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Exit | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(block) => block_never(block),
        StmtKind::If { then_body, else_body, .. } => block_never(then_body) && block_never(else_body),
        StmtKind::SwitchValue { cases, default: Some(default), .. } => {
            block_never(default) && cases.iter().all(|case| block_never(&case.body))
        }
        StmtKind::SwitchAction { cases, default: Some(default), .. } => {
            block_never(default) && cases.iter().all(|(_, body)| block_never(body))
        }
        _ => false,
    }
}

/// Takes the variables away that an expression reads.
fn forget_read(e: &Expr, unread: &mut BTreeMap<VarId, base::Span>) {
    if unread.is_empty() {
        return;
    }
    if let ExprKind::Var(var) = &e.kind {
        unread.remove(var);
    }
    for_each_part(e, &mut |part| forget_read(part, unread));
}

/// Whether statements work on local variables only, and call nothing.
fn computes_only(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| {
        let own = match &stmt.kind {
            StmtKind::Assign { target, value } => is_pure(target) && is_pure(value),
            StmtKind::Local(Local::Var(_, value)) => value.as_ref().is_none_or(is_pure),
            StmtKind::Local(Local::Const(..)) | StmtKind::Block(_) | StmtKind::Return(None) => true,
            StmtKind::Return(Some(value)) => is_pure(value),
            StmtKind::If { condition, .. } => is_pure(condition),
            _ => false,
        };
        own && blocks_of(stmt).into_iter().all(|block| computes_only(&block.stmts))
    })
}

/// A text with its white space made equal.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
