//! Traversals of the typed tree.

use crate::hir::*;

/// Calls `work` with each direct part of an expression, in the order of evaluation.
pub fn for_each_part<'e>(e: &'e Expr, work: &mut dyn FnMut(&'e Expr)) {
    match &e.kind {
        ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::String(_)
        | ExprKind::Error(_)
        | ExprKind::MatchKind(_)
        | ExprKind::EnumMember(_)
        | ExprKind::Var(_)
        | ExprKind::Instance(_)
        | ExprKind::Table(_)
        | ExprKind::This
        | ExprKind::Default
        | ExprKind::Invalid
        | ExprKind::Poisoned => {}
        ExprKind::Construct { args, .. } | ExprKind::Aggregate(args) => args.iter().flatten().for_each(work),
        ExprKind::Field(inner, _)
        | ExprKind::TupleIndex(inner, _)
        | ExprKind::StackNext(inner)
        | ExprKind::StackLast(inner)
        | ExprKind::StackLastIndex(inner)
        | ExprKind::Slice(inner, _, _)
        | ExprKind::Unary(_, inner)
        | ExprKind::Cast(inner)
        | ExprKind::Hit(inner)
        | ExprKind::Miss(inner) => work(inner),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Mask(a, b) | ExprKind::Range(a, b) => {
            work(a);
            work(b);
        }
        ExprKind::IndexedSlice { base, low, .. } => {
            work(base);
            work(low);
        }
        ExprKind::Conditional(condition, yes, no) => [condition, yes, no].into_iter().for_each(|part| work(part)),
        ExprKind::Call(call) => {
            match &call.callee {
                Callee::Function(_) | Callee::Action(_) => {}
                Callee::Method(object, _)
                | Callee::Apply(object)
                | Callee::ApplyTable(object)
                | Callee::Builtin(_, object) => work(object),
            }
            call.args.iter().flatten().for_each(work);
        }
    }
}

/// The blocks of a statement that may run any number of times.
pub fn blocks_of(stmt: &Stmt) -> Vec<&Block> {
    match &stmt.kind {
        StmtKind::Block(block) => vec![block],
        StmtKind::If { then_body, else_body, .. } => vec![then_body, else_body],
        StmtKind::SwitchValue { cases, default, .. } => {
            cases.iter().map(|case| &case.body).chain(default.as_ref()).collect()
        }
        StmtKind::SwitchAction { cases, default, .. } => {
            cases.iter().map(|(_, body)| body).chain(default.as_ref()).collect()
        }
        StmtKind::For { body, .. } | StmtKind::ForIn { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// Calls `work` with each call in the statements, including nested ones, in source order.
pub fn for_each_call<'b>(stmts: &'b [Stmt], work: &mut dyn FnMut(&'b Expr, &'b Call)) {
    for stmt in stmts {
        for e in exprs_of(stmt) {
            for_each_call_in(e, work);
        }
        if let StmtKind::For { init, update, .. } = &stmt.kind {
            for_each_call(init, work);
            for_each_call(update, work);
        }
        for block in blocks_of(stmt) {
            for_each_call(&block.stmts, work);
        }
    }
}

fn for_each_call_in<'e>(e: &'e Expr, work: &mut dyn FnMut(&'e Expr, &'e Call)) {
    for_each_part(e, &mut |part| for_each_call_in(part, work));
    if let ExprKind::Call(call) = &e.kind {
        work(e, call);
    }
}

/// Whether the expression contains a call.
pub fn has_call(e: &Expr) -> bool {
    let mut found = false;
    for_each_call_in(e, &mut |_, _| found = true);
    found
}

/// The direct expressions of a statement, without the labels of a `switch`.
pub fn exprs_of(stmt: &Stmt) -> Vec<&Expr> {
    match &stmt.kind {
        StmtKind::Local(Local::Var(_, value)) => value.iter().collect(),
        StmtKind::Local(Local::Const(_, value)) => vec![value],
        StmtKind::Assign { target, value } => vec![target, value],
        StmtKind::Call(e) | StmtKind::Return(Some(e)) => vec![e],
        StmtKind::If { condition, .. } => vec![condition],
        StmtKind::SwitchValue { subject, .. } => vec![subject],
        StmtKind::SwitchAction { table, .. } => vec![table],
        StmtKind::For { condition, .. } => vec![condition],
        StmtKind::ForIn { collection: Collection::Items(items), .. } => vec![items],
        StmtKind::ForIn { collection: Collection::Range(low, high), .. } => vec![low, high],
        StmtKind::Local(_)
        | StmtKind::Block(_)
        | StmtKind::Return(None)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Exit => Vec::new(),
    }
}
