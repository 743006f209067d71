//! Removes unreachable code and statements without effect.
//!
//! Before:
//! ```text
//! if true {
//!   v0 = 9w0x1
//! }
//! if v1 {
//! } else {
//!   v0 = v0
//!   set_valid h0
//! }
//! block l1 {
//!   v2 = 9w0x2
//!   leave l1
//!   v2 = 9w0x3
//! }
//! ```
//! After:
//! ```text
//! v0 = 9w0x1
//! if !v1 {
//!   set_valid h0
//! }
//! v2 = 9w0x2
//! ```
//! In parsers: states that no transition leads to, cases behind one that always matches, cases that never match, and
//! selects with one remaining case.
//!
//! Limits: parser states are not merged, as each counts towards the budget of a packet's steps.

use crate::Pass;
use crate::flow::{matches_all, targets};
use base::{Bits, IndexVec, index::Id as _};
use base::{OrderedMap, OrderedSet};
use ir::walk;
use ir::{
    BlockKind, Body, Expr, ExprKind, HeaderRef, KeySet, LabelId, ParserState, Place, Program, SelectCase, StateId,
    Stmt, StmtKind, SwitchCase, Target, Transition, UnaryOp,
};

/// See the module.
pub const PASS: Pass =
    Pass { name: "dead-code", description: "removes branches, states and statements without effect", run };

fn run(program: &mut Program) {
    for body in walk::bodies_mut(program) {
        clean(body);
    }
    program.decisions.iter_mut().for_each(clean);
    remove_labels(program);
    for block in program.blocks.iter_mut() {
        if let BlockKind::Parser { start, states, .. } = &mut block.kind {
            for state in states.iter_mut() {
                decide(&mut state.transition);
            }
            *start = remove_states(*start, states);
        }
    }
}

// --- statements

/// Rebuilds a body without statements that have no effect.
fn clean(body: &mut Body) {
    let mut cleaned = Vec::new();
    for mut stmt in std::mem::take(body) {
        for inner in stmt.kind.bodies_mut() {
            clean(inner);
        }
        let leaves = ends(&stmt);
        cleaned.extend(replaced(stmt));
        if leaves || cleaned.last().is_some_and(ends) {
            break;
        }
    }
    *body = cleaned;
}

/// Whether nothing behind the statement runs.
fn ends(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Leave(_)) || stmt.kind.is_decision()
}

/// The replacement of a statement whose bodies are clean.
fn replaced(stmt: Stmt) -> Body {
    let span = stmt.span;
    let kind = match stmt.kind {
        StmtKind::If { cond, then_body, else_body } => match cond.as_const() {
            Some(value) => return if value.is_zero() { else_body } else { then_body },
            None if then_body.is_empty() && else_body.is_empty() => return Vec::new(),
            None if then_body.is_empty() => {
                StmtKind::If { cond: Expr::unary(UnaryOp::Not, cond), then_body: else_body, else_body: Vec::new() }
            }
            None => StmtKind::If { cond, then_body, else_body },
        },
        StmtKind::Switch { value, cases, default } => return replaced_switch(value, cases, default, span),
        StmtKind::Block { label, mut body } => {
            if matches!(body.last(), Some(Stmt { kind: StmtKind::Leave(left), .. }) if *left == label) {
                body.pop();
            }
            if body.is_empty() {
                return Vec::new();
            }
            StmtKind::Block { label, body }
        }
        StmtKind::Loop { label, body } => match body.first() {
            Some(Stmt { kind: StmtKind::Leave(left), .. }) if *left == label => return Vec::new(),
            _ => StmtKind::Loop { label, body },
        },
        kind if is_idle(&kind) => return Vec::new(),
        kind => kind,
    };
    vec![Stmt { kind, span }]
}

fn replaced_switch(value: Expr, cases: Vec<SwitchCase>, default: Body, span: base::Span) -> Body {
    if let Some(constant) = value.as_const() {
        let chosen = cases.iter().position(|case| case.values.contains(constant));
        return match chosen.and_then(|position| cases.into_iter().nth(position)) {
            Some(case) => case.body,
            None => default,
        };
    }
    if cases.iter().all(|case| case.body == default) {
        return default;
    }
    vec![Stmt { kind: StmtKind::Switch { value, cases, default }, span }]
}

/// Whether a statement without bodies changes nothing.
fn is_idle(stmt: &StmtKind) -> bool {
    let is_true = |cond: &Expr| cond.as_const().is_some_and(|value| !value.is_zero());
    match stmt {
        StmtKind::Assign { dst: Place::Var(var), src } => src.kind == ExprKind::Var(*var),
        StmtKind::Assign { dst: Place::Field(header, field), src } => {
            src.kind == ExprKind::Field(header.clone(), *field)
        }
        StmtKind::CopyHeader { dst: HeaderRef::Fixed(dst), src: HeaderRef::Fixed(src) } => dst == src,
        StmtKind::Verify { cond, .. } | StmtKind::Assert { cond, .. } => is_true(cond),
        StmtKind::Advance { bits } => bits.as_const().is_some_and(Bits::is_zero),
        _ => false,
    }
}

/// Replaces `Block` statements whose label nothing leaves by their bodies.
fn remove_labels(program: &mut Program) {
    let mut left: OrderedSet<LabelId> = OrderedSet::new();
    for body in walk::bodies(program) {
        walk::visit_body(body, &mut |stmt| {
            if let StmtKind::Leave(label) = stmt.kind {
                left.insert(label);
            }
        });
    }
    for body in walk::bodies_mut(program) {
        splice(body, &left);
    }
    for block in program.blocks.iter_mut() {
        block.exit = block.exit.filter(|label| left.contains(label));
    }
}

fn splice(body: &mut Body, left: &OrderedSet<LabelId>) {
    let mut spliced = Vec::new();
    for mut stmt in std::mem::take(body) {
        for inner in stmt.kind.bodies_mut() {
            splice(inner, left);
        }
        match stmt.kind {
            StmtKind::Block { label, body } if !left.contains(&label) => spliced.extend(body),
            kind => spliced.push(Stmt { kind, span: stmt.span }),
        }
    }
    *body = spliced;
}

// --- parsers

/// Removes cases that never match and those after one that always does.
fn decide(transition: &mut Transition) {
    let Transition::Select { keys, cases } = transition else { return };
    let mut kept: Vec<SelectCase> = Vec::new();
    for case in cases.drain(..) {
        match matches_constants(keys, &case.sets) {
            Some(false) => {}
            Some(true) => {
                kept.push(case);
                break;
            }
            None => kept.push(case),
        }
    }
    let always = kept.first().filter(|case| matches_constants(keys, &case.sets) == Some(true));
    if let Some(target) = always.map(|case| case.target) {
        *transition = Transition::Goto(target);
    } else {
        *cases = kept;
    }
}

/// Whether a case matches, if that is known.
fn matches_constants(keys: &[Expr], sets: &[KeySet]) -> Option<bool> {
    if matches_all(sets) {
        return Some(true);
    }
    let each: Vec<Option<bool>> = keys.iter().zip(sets).map(|(key, set)| contains_constant(key, set)).collect();
    if each.contains(&Some(false)) {
        Some(false)
    } else if each.iter().all(|set| *set == Some(true)) {
        Some(true)
    } else {
        None
    }
}

fn contains_constant(key: &Expr, set: &KeySet) -> Option<bool> {
    match set {
        KeySet::Any => Some(true),
        KeySet::ValueSet(_) => None,
        KeySet::Value(value) => Some(key.as_const()? == value.as_const()?),
        KeySet::Mask(value, mask) => {
            let mask = mask.as_const()?;
            Some(key.as_const()?.and(mask) == value.as_const()?.and(mask))
        }
        KeySet::Range(low, high) => {
            let (key_value, low, high) = (key.as_const()?, low.as_const()?, high.as_const()?);
            Some(if key.ty.is_signed() {
                key_value.cmp_signed(low).is_ge() && key_value.cmp_signed(high).is_le()
            } else {
                key_value.cmp_unsigned(low).is_ge() && key_value.cmp_unsigned(high).is_le()
            })
        }
    }
}

/// Keeps the reachable states, in order, and returns the start's new number.
fn remove_states(start: StateId, states: &mut IndexVec<StateId, ParserState>) -> StateId {
    let mut reached = OrderedSet::new();
    let mut waiting = vec![start];
    while let Some(state) = waiting.pop() {
        if reached.insert(state) {
            let next = targets(&states[state].transition).into_iter().filter_map(|target| match target {
                Target::State(next) => Some(next),
                Target::Accept | Target::Reject => None,
            });
            waiting.extend(next);
        }
    }
    let numbers: OrderedMap<StateId, StateId> =
        reached.iter().enumerate().map(|(new, &old)| (old, StateId::from_index(new))).collect();
    let renumbered = |old: StateId| numbers[&old];
    let retarget = |target: &mut Target| {
        if let Target::State(state) = target {
            *state = renumbered(*state);
        }
    };
    *states = reached
        .iter()
        .map(|&old| {
            let mut state = states[old].clone();
            match &mut state.transition {
                Transition::Goto(target) => retarget(target),
                Transition::Select { cases, .. } => cases.iter_mut().for_each(|case| retarget(&mut case.target)),
            }
            state
        })
        .collect();
    renumbered(start)
}
