//! A forward data-flow walk that carries a state of known facts, for analyses that rewrite as they go.
//!
//! What enters: a [`Domain`], which defines the facts, how statements change them and how they are used. What leaves:
//! bodies in which the domain has rewritten each statement with the facts that hold when it runs. After a branch the
//! facts of both branches hold; in a loop, those that its body cannot change.

use crate::effects::{Context, Writes};
use base::OrderedMap;
use base::{IndexVec, index::Id as _};
use ir::walk::{self, Part};
use ir::{
    BlockKind, Body, Expr, KeySet, LabelId, ParserState, Program, StateId, StmtKind, Table, TableId, Target, Transition,
};

/// The facts of an analysis, and their use.
pub(crate) trait Domain {
    /// The facts at a point.
    type State: Clone;
    /// The facts at the start of a control or parser.
    fn start(&self) -> Self::State;
    /// The state without facts.
    fn nothing(&self) -> Self::State;
    /// Keeps in `state` only the facts of `other`.
    fn meet(&self, state: &mut Self::State, other: &Self::State);
    /// Forgets facts that writes may have invalidated.
    fn forget(&self, state: &mut Self::State, writes: &Writes);
    /// Rewrites a part of an expression that is evaluated here.
    fn rewrite(&self, state: &Self::State, part: Part<'_>);
    /// Whether a statement has no effect given these facts, and may be removed.
    fn is_idle(&self, _state: &Self::State, _stmt: &StmtKind) -> bool {
        false
    }
    /// Rewrites a statement beyond its expressions.
    fn rewrite_stmt(&self, _state: &Self::State, _stmt: &mut StmtKind) {}
    /// Adds facts from a statement that has just run. Facts that it may have invalidated are forgotten before.
    fn learn(&self, state: &mut Self::State, stmt: &StmtKind);
    /// Adds the fact that a condition has this value.
    fn assume(&self, state: &mut Self::State, cond: &Expr, value: bool);
}

/// Walks all blocks, routines and actions of a program.
pub(crate) fn walk_program<D: Domain>(program: &mut Program, domain: &D) {
    let context = Context::new(program);
    let mut walk = Walk { domain, context: &context, tables: &mut program.tables, exits: OrderedMap::new() };
    for block in program.blocks.iter_mut() {
        match &mut block.kind {
            BlockKind::Parser { start, states, .. } => walk.parser(*start, states),
            BlockKind::Control { body } => _ = walk.body(body, Some(domain.start())),
        }
    }
    for routine in program.routines.iter_mut() {
        walk.body(&mut routine.body, Some(domain.nothing()));
    }
    for action in program.actions.iter_mut() {
        walk.body(&mut action.body, Some(domain.nothing()));
    }
}

struct Walk<'w, D: Domain> {
    domain: &'w D,
    context: &'w Context,
    tables: &'w mut IndexVec<TableId, Table>,
    /// The facts where an open label is left; none if it is not left so far.
    exits: OrderedMap<LabelId, Option<D::State>>,
}

impl<D: Domain> Walk<'_, D> {
    /// States with one predecessor start with the facts that hold there.
    fn parser(&mut self, start: StateId, states: &mut IndexVec<StateId, ParserState>) {
        let mut entries = vec![0u32; states.len()];
        entries[start.index()] += 1;
        for state in states.iter() {
            for target in targets(&state.transition) {
                if let Target::State(next) = target {
                    entries[next.index()] += 1;
                }
            }
        }
        let mut known: Vec<Option<D::State>> = vec![None; states.len()];
        let mut done = vec![false; states.len()];
        let mut waiting: Vec<StateId> = states.ids().rev().collect();
        waiting.push(start);
        while let Some(id) = waiting.pop() {
            if std::mem::replace(&mut done[id.index()], true) {
                continue;
            }
            let alone = entries[id.index()] == 1;
            let first = match known[id.index()].take() {
                _ if id == start && alone => self.domain.start(),
                Some(known) if alone => known,
                _ => self.domain.nothing(),
            };
            let state = &mut states[id];
            let Some(last) = self.body(&mut state.body, Some(first)) else { continue };
            walk::rewrite_transition(&mut state.transition, &mut |part| self.domain.rewrite(&last, part));
            let mut last = Some(last);
            let mut next: Vec<StateId> = targets(&state.transition).into_iter().filter_map(state_of).collect();
            waiting.extend(&next);
            next.retain(|next| entries[next.index()] == 1);
            while let Some(id) = next.pop() {
                known[id.index()] = if next.is_empty() { last.take() } else { last.clone() };
            }
        }
    }

    /// Walks a body; without a state, it is unreachable and is not changed.
    fn body(&mut self, body: &mut Body, mut state: Option<D::State>) -> Option<D::State> {
        body.retain_mut(|stmt| {
            let Some(known) = state.take() else { return true };
            if self.domain.is_idle(&known, &stmt.kind) {
                state = Some(known);
                return false;
            }
            state = self.stmt(&mut stmt.kind, known);
            true
        });
        state
    }

    fn stmt(&mut self, stmt: &mut StmtKind, mut state: D::State) -> Option<D::State> {
        walk::rewrite_own(stmt, &mut |part| self.domain.rewrite(&state, part));
        self.domain.rewrite_stmt(&state, stmt);
        match stmt {
            StmtKind::If { cond, then_body, else_body } => {
                let mut taken = state.clone();
                self.domain.assume(&mut taken, cond, true);
                self.domain.assume(&mut state, cond, false);
                let taken = self.body(then_body, Some(taken));
                let not_taken = self.body(else_body, Some(state));
                self.joined(taken, not_taken)
            }
            StmtKind::Switch { cases, default, .. } => {
                let mut after = None;
                for case in cases {
                    let end = self.body(&mut case.body, Some(state.clone()));
                    after = self.joined(after, end);
                }
                let end = self.body(default, Some(state));
                self.joined(after, end)
            }
            StmtKind::Block { label, body } => {
                self.exits.insert(*label, None);
                let end = self.body(body, Some(state));
                let left = self.exits.remove(label).flatten();
                self.joined(end, left)
            }
            StmtKind::Loop { label, body } => {
                let mut writes = Writes::default();
                self.context.body_writes(body, &mut writes);
                self.domain.forget(&mut state, &writes);
                self.exits.insert(*label, None);
                self.body(body, Some(state.clone()));
                let left = self.exits.remove(label).flatten();
                // A loop that has used up its iterations ends at its start.
                self.joined(Some(state), left)
            }
            StmtKind::Leave(label) => {
                self.leave(*label, &state);
                None
            }
            StmtKind::ApplyTable { table, .. } => {
                let id = *table;
                if self.context.table_sites[id] == 1 {
                    let table = &mut self.tables[id];
                    walk::rewrite_table_inputs(table, &mut |part| self.domain.rewrite(&state, part));
                }
                self.after(stmt, &mut state);
                for label in &self.context.table_leaves[id] {
                    self.leave(*label, &state);
                }
                Some(state)
            }
            _ => {
                self.after(stmt, &mut state);
                Some(state)
            }
        }
    }

    fn after(&self, stmt: &StmtKind, state: &mut D::State) {
        let mut writes = Writes::default();
        self.context.own_writes(stmt, &mut writes);
        self.domain.forget(state, &writes);
        self.domain.learn(state, stmt);
    }

    fn leave(&mut self, label: LabelId, state: &D::State) {
        // A label of the applying block is not open in the action that leaves it.
        if let Some(exit) = self.exits.remove(&label) {
            let exit = self.joined(exit, Some(state.clone()));
            self.exits.insert(label, exit);
        }
    }

    fn joined(&self, a: Option<D::State>, b: Option<D::State>) -> Option<D::State> {
        match (a, b) {
            (Some(mut a), Some(b)) => {
                self.domain.meet(&mut a, &b);
                Some(a)
            }
            (a, b) => a.or(b),
        }
    }
}

/// The state that a target is, if it is one.
pub(crate) fn state_of(target: Target) -> Option<StateId> {
    match target {
        Target::State(id) => Some(id),
        _ => None,
    }
}

/// The targets of a transition.
pub(crate) fn targets(transition: &Transition) -> Vec<Target> {
    match transition {
        Transition::Goto(target) => vec![*target],
        Transition::Select { cases, .. } => cases.iter().map(|case| case.target).collect(),
    }
}

/// Whether a case matches whatever the keys are.
pub(crate) fn matches_all(sets: &[KeySet]) -> bool {
    sets.iter().all(|set| *set == KeySet::Any)
}
