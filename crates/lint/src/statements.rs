//! Statements that are never reached, or that have no effect.

use crate::diagnostics as d;
use crate::expressions::names_variable;
use crate::flow::layout::is_header;
use crate::linter::Linter;
use crate::sink::{INVALID_HEADER, NO_EFFECT, UNREACHABLE, UNUSED};
use crate::walk::{blocks_of, direction, for_each_part, is_pure, is_same};
use base::{OrderedMap, OrderedSet};
use sema::hir::*;
use syntax::ast::Direction;

impl Linter<'_, '_> {
    /// Checks a sequence of statements.
    pub(crate) fn check_sequence(&mut self, stmts: &[Stmt]) {
        // Nothing follows the last statement. Skipping it keeps long `else if` chains cheap.
        let position = stmts.split_last().and_then(|(_, before)| before.iter().position(never_goes_on));
        if let Some(position) = position {
            let warning = d::unreachable_statement(stmts[position + 1].span, stmts[position].span);
            self.sink.warn(UNREACHABLE, warning);
        }
        self.check_overwritten(stmts);
        self.check_written_before_valid(stmts);
    }

    /// Reports assignments to a whole local variable that is assigned again before anything can read it. Only
    /// assignments may stand between the two.
    fn check_overwritten(&mut self, stmts: &[Stmt]) {
        let mut unread: OrderedMap<VarId, base::Span> = OrderedMap::new();
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

    /// Reports assignments to fields of headers that are made valid later in the same sequence of statements. The flow
    /// analysis covers headers that are not parameters of the block.
    fn check_written_before_valid(&mut self, stmts: &[Stmt]) {
        let mut written: Vec<(&Expr, base::Span)> = Vec::new();
        // Those that were made valid before, and not invalid in this sequence itself: they most likely still are.
        let mut valid: Vec<&Expr> = Vec::new();
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Assign { target, value } if is_pure(target) && is_pure(value) => {
                    if is_header(self.program, &target.ty) {
                        valid.push(target);
                    } else if let Some(header) = header_of(self.program, target)
                        && is_given(self.program, header)
                        && !valid.iter().any(|known| is_same(known, header))
                    {
                        written.push((header, target.span));
                    }
                }
                StmtKind::Call(Expr { kind: ExprKind::Call(call), .. }) => match &call.callee {
                    Callee::Builtin(Builtin::SetValid, header) => {
                        for (_, span) in written.extract_if(.., |(other, _)| is_same(other, header)) {
                            self.sink.warn(INVALID_HEADER, d::written_before_valid(span, stmt.span));
                        }
                        valid.push(header);
                    }
                    // The program's own functions may do anything; externs only use their arguments.
                    Callee::Method(..) | Callee::Function(_) if call.args.iter().flatten().all(is_small) => {}
                    Callee::Builtin(Builtin::SetInvalid, header) => {
                        written.clear();
                        valid.retain(|known| !is_same(known, header));
                    }
                    _ => written.clear(),
                },
                StmtKind::Local(_) => {}
                // Without a preceding write, the statements between need no examination.
                _ if !written.is_empty() && preserves_validity(self.program, stmt, 0) => {}
                _ => written.clear(),
            }
        }
    }

    /// Checks a statement without its parts, which are visited later.
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
                let has_else = !else_body.stmts.is_empty() && !then_body.stmts.is_empty();
                if has_else && self.is_written_alike(then_body.span, else_body.span) {
                    let (yes, no) = (then_body.span, else_body.span);
                    self.sink.warn(NO_EFFECT, d::same_branches(stmt.span, yes, no));
                }
                self.check_repeated_conditions(stmt);
            }
            StmtKind::For { init, condition, update, body } => {
                self.check_empty_body(body, "for");
                if is_endless(init, condition, update, body) {
                    self.sink.warn(UNREACHABLE, d::endless_for(condition.span));
                }
            }
            StmtKind::ForIn { body, .. } => self.check_empty_body(body, "for"),
            _ => {}
        }
    }

    /// Whether two source ranges have the same text and the same meaning: no macro may have changed between them, and
    /// they must not come from different includes.
    fn is_written_alike(&self, first: base::Span, second: base::Span) -> bool {
        let words = |span| self.sink.sources.text(span).split_whitespace();
        // Most texts differ at once, and what is looked at below grows with the square of a chain's length.
        if !words(first).eq(words(second)) {
            return false;
        }
        let both = self.sink.sources.text(first.to(second));
        let is_of_one_file = first.lo.checked_add(both.len() as u32) == Some(second.hi);
        let has_directive = both.lines().any(|line| line.trim_start().starts_with('#'));
        is_of_one_file && !has_directive
    }

    /// `if (c);` followed by the intended body.
    fn check_empty_body(&mut self, body: &Block, keyword: &str) {
        if self.sink.sources.text(body.span).trim() == ";" {
            self.sink.warn(NO_EFFECT, d::empty_body(body.span, keyword));
        }
    }

    /// Reports an `else if` that repeats an earlier condition of the same chain. Each condition is compared with a
    /// bounded number of branches, so that the time for a long chain is linear.
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

    /// Reports the call of a function that only computes a result, which is not used.
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

/// The header that contains the field of an l-value, or bits of it.
fn header_of<'e>(program: &Program, target: &'e Expr) -> Option<&'e Expr> {
    match &target.kind {
        ExprKind::Slice(base, ..) | ExprKind::IndexedSlice { base, .. } => header_of(program, base),
        ExprKind::Field(base, _) if is_header(program, &base.ty) && names_variable(base) => Some(base),
        _ => None,
    }
}

/// Whether a header is in an `inout` parameter, so that it may be valid initially.
fn is_given(program: &Program, e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Var(var) => direction(program, *var) == Direction::InOut,
        ExprKind::Field(base, _) | ExprKind::TupleIndex(base, _) | ExprKind::Index(base, _) => is_given(program, base),
        _ => false,
    }
}

/// Whether a value contains no header.
fn is_small(e: &Expr) -> bool {
    matches!(e.ty, Type::Bit(_) | Type::Int(_) | Type::Bool | Type::Integer | Type::Enum(_) | Type::String)
}

/// Whether the code after a statement is unreachable.
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

/// Removes the variables that an expression reads.
fn forget_read(e: &Expr, unread: &mut OrderedMap<VarId, base::Span>) {
    if unread.is_empty() {
        return;
    }
    if let ExprKind::Var(var) = &e.kind {
        unread.remove(var);
    }
    for_each_part(e, &mut |part| forget_read(part, unread));
}

/// How deeply nested blocks and branches are searched for uses of a header. Each sequence of statements searches for
/// itself.
const SEARCH_DEPTH_MAX: u32 = 8;

/// Whether a statement neither changes nor tests the validity of headers, nor leaves the block.
fn preserves_validity(program: &Program, stmt: &Stmt, depth: u32) -> bool {
    let own = match &stmt.kind {
        StmtKind::Assign { target, value } => is_pure(target) && is_pure(value) && !is_header(program, &target.ty),
        StmtKind::Local(Local::Var(_, value)) => value.as_ref().is_none_or(is_pure),
        StmtKind::Local(Local::Const(..)) | StmtKind::Block(_) => true,
        // A pure call tests the validity of a header.
        StmtKind::If { condition, .. } => is_pure(condition) && collect_variables(condition, &mut OrderedSet::new()),
        _ => false,
    };
    let inner_preserve = |block: &Block| block.stmts.iter().all(|stmt| preserves_validity(program, stmt, depth + 1));
    own && depth < SEARCH_DEPTH_MAX && blocks_of(stmt).into_iter().all(inner_preserve)
}

/// Whether statements only use variables, without calls.
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

/// Whether a loop's condition stays true, or depends only on the loop's own variables, which nothing in it changes, and
/// no statement leaves the loop.
fn is_endless(init: &[Stmt], condition: &Expr, update: &[Stmt], body: &Block) -> bool {
    let mut tested = OrderedSet::new();
    if !is_pure(condition) || !collect_variables(condition, &mut tested) {
        return false;
    }
    let is_true = matches!(condition.kind, ExprKind::Bool(true));
    let is_own = |var: &VarId| {
        init.iter().any(|stmt| matches!(&stmt.kind, StmtKind::Local(Local::Var(declared, _)) if declared == var))
    };
    let is_constant = is_true || !tested.is_empty() && tested.iter().all(is_own);
    is_constant && !update.iter().chain(&body.stmts).any(|stmt| may_end_loop(stmt, &tested, false))
}

/// Collects the variables of an expression; false if it contains a call.
fn collect_variables(e: &Expr, found: &mut OrderedSet<VarId>) -> bool {
    if let ExprKind::Var(var) = &e.kind {
        found.insert(*var);
    }
    let mut all = !matches!(e.kind, ExprKind::Call(_));
    for_each_part(e, &mut |part| all = collect_variables(part, found) && all);
    all
}

/// Whether a statement leaves the loop, or may change one of the variables. `is_inner`: it is in a nested loop.
fn may_end_loop(stmt: &Stmt, tested: &OrderedSet<VarId>, is_inner: bool) -> bool {
    let is_tested = |e: &Expr| root_variable(e).is_some_and(|var| tested.contains(&var));
    let (own, is_inner) = match &stmt.kind {
        StmtKind::Break => (!is_inner, is_inner),
        StmtKind::Return(_) | StmtKind::Exit => (true, is_inner),
        StmtKind::Assign { target, value } => (is_tested(target) || calls_with(value, &is_tested), is_inner),
        StmtKind::Call(e) => (calls_with(e, &is_tested), is_inner),
        StmtKind::Local(Local::Var(_, Some(value))) => (calls_with(value, &is_tested), is_inner),
        StmtKind::If { condition, .. } => (calls_with(condition, &is_tested), is_inner),
        StmtKind::SwitchValue { subject, .. } => (calls_with(subject, &is_tested), is_inner),
        // An action may execute `exit`.
        StmtKind::SwitchAction { .. } => (true, is_inner),
        StmtKind::For { init, condition, update, .. } => {
            let parts = init.iter().chain(update);
            let changes = parts.into_iter().any(|part| may_end_loop(part, tested, true));
            (changes || calls_with(condition, &is_tested), true)
        }
        StmtKind::ForIn { .. } => (false, true),
        _ => (false, is_inner),
    };
    own || blocks_of(stmt).into_iter().any(|block| block.stmts.iter().any(|stmt| may_end_loop(stmt, tested, is_inner)))
}

/// Whether an expression calls something that may execute `exit` (an action, a table, a control), or passes one of the
/// variables to a call.
fn calls_with(e: &Expr, is_tested: &impl Fn(&Expr) -> bool) -> bool {
    let own = match &e.kind {
        ExprKind::Call(call) => {
            matches!(call.callee, Callee::Action(_) | Callee::ApplyTable(_) | Callee::Apply(_) | Callee::Method(..))
                || call.args.iter().flatten().any(is_tested)
        }
        ExprKind::Hit(_) | ExprKind::Miss(_) => true,
        _ => false,
    };
    let mut any = own;
    for_each_part(e, &mut |part| any = any || calls_with(part, is_tested));
    any
}

/// The variable that contains an l-value.
fn root_variable(e: &Expr) -> Option<VarId> {
    match &e.kind {
        ExprKind::Var(var) => Some(*var),
        ExprKind::Field(base, _)
        | ExprKind::TupleIndex(base, _)
        | ExprKind::Index(base, _)
        | ExprKind::Slice(base, ..)
        | ExprKind::IndexedSlice { base, .. } => root_variable(base),
        _ => None,
    }
}
