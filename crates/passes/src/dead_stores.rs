//! Removes assignments to local variables that nothing reads.
//!
//! Before:
//! ```text
//! v5 = h0.2
//! if (h0.2 == 16w0x800) {
//!   v6 = 8w0x1
//!   v6 = 8w0x2
//!   v1 = v6
//! }
//! apply table0 hit v7
//! ```
//! After:
//! ```text
//! if (h0.2 == 16w0x800) {
//!   v6 = 8w0x2
//!   v1 = v6
//! }
//! apply table0
//! ```
//! A walk against the direction of control flow that carries the set of local variables which may still be read; local
//! variables end with their block. Statements that only compute are removed (assignments, register reads, hashes,
//! lookaheads that cannot fail); those with an effect of their own stay (random numbers advance the generator, meters
//! meter).
//!
//! Limits: of a routine's locals, all that are read anywhere are live at its end; metadata and header fields are never
//! dead, as other blocks may read them; local headers are not followed.

use crate::Pass;
use crate::var_set::VarSet as Live;
use base::index::Id as _;
use base::{IndexVec, OrderedMap, OrderedSet};
use ir::walk::{self, Item};
use ir::{
    ActionId, Block, BlockId, BlockKind, Body, Expr, ExprKind, HeaderRef, LabelId, ParserState, Place, Program,
    RoutineId, StateId, Stmt, StmtKind, Table, TableId, VarId, VarKind,
};

/// See the module.
pub const PASS: Pass =
    Pass { name: "dead-stores", description: "removes assignments to local variables that nothing reads", run };

fn run(program: &mut Program) {
    let mut blocks = std::mem::take(&mut program.blocks);
    let mut actions = std::mem::take(&mut program.actions);
    let mut routines = std::mem::take(&mut program.routines);
    let mut ends: OrderedMap<ActionId, Live> = OrderedMap::new();
    let mut walk = Walk {
        program,
        routine_reads: IndexVec::new(),
        action_reads: IndexVec::new(),
        ends: &mut ends,
        exits: OrderedMap::new(),
        heads: OrderedMap::new(),
        remove: false,
        in_known_loop: false,
    };
    for routine in &routines {
        let reads = walk.reads(&routine.body);
        walk.routine_reads.push(reads);
    }
    walk.action_reads = actions.iter().map(|action| walk.reads(&action.body)).collect();
    for block in blocks.iter_mut() {
        match &mut block.kind {
            BlockKind::Parser { states, .. } => walk.parser(states),
            BlockKind::Control { body } => {
                walk.remove = true;
                walk.body(body, Live::default());
            }
        }
    }
    if !routines.is_empty() {
        let end = walk.read_anywhere(&blocks);
        walk.remove = true;
        for routine in routines.iter_mut() {
            walk.body(&mut routine.body, end.clone());
        }
    }
    let routine_reads = std::mem::take(&mut walk.routine_reads);
    let ends = std::mem::take(walk.ends);
    for (id, end) in ends {
        let mut unused = OrderedMap::new();
        let exits = free_exits(&actions[id].body, &end);
        let mut walk = Walk {
            program,
            routine_reads: routine_reads.clone(),
            action_reads: IndexVec::new(),
            ends: &mut unused,
            exits,
            heads: OrderedMap::new(),
            remove: true,
            in_known_loop: false,
        };
        walk.body(&mut actions[id].body, end);
    }
    program.routines = routines;
    program.blocks = blocks;
    program.actions = actions;
}

/// The live set where an action leaves its block's labels: a superset of that at its end.
fn free_exits(body: &[Stmt], end: &Live) -> OrderedMap<LabelId, Live> {
    crate::effects::free_labels(body).into_iter().map(|label| (label, end.clone())).collect()
}

struct Walk<'w> {
    program: &'w Program,
    /// The local variables that each routine reads, and those that it calls.
    routine_reads: IndexVec<RoutineId, Live>,
    /// The local variables that each action reads.
    action_reads: IndexVec<ActionId, Live>,
    /// The live set after each action that a table runs.
    ends: &'w mut OrderedMap<ActionId, Live>,
    /// The live set after each open labelled statement.
    exits: OrderedMap<LabelId, Live>,
    /// The live set at the start of each loop that was walked.
    heads: OrderedMap<LabelId, Live>,
    /// Whether the walk removes dead statements, or only computes the live set of a loop.
    remove: bool,
    /// Whether the walk is within a loop whose live set at the start is known.
    in_known_loop: bool,
}

impl Walk<'_> {
    fn is_local(&self, var: VarId) -> bool {
        self.program.vars[var].kind == VarKind::Local
    }

    /// Adds the variables that an item reads, if it is not the target of a write.
    fn read_item(&self, item: Item<'_>, live: &mut Live) {
        match item {
            Item::Expr(Expr { kind: ExprKind::Var(var), .. }) if self.is_local(*var) => live.insert(*var),
            Item::Header(header) | Item::Field(header, _) => self.read_stack(header, live),
            _ => {}
        }
    }

    fn read_stack(&self, header: &HeaderRef, live: &mut Live) {
        if let HeaderRef::Next(stack) | HeaderRef::Last(stack) = header {
            let next = self.program.stacks[*stack].next;
            if self.is_local(next) {
                live.insert(next);
            }
        }
    }

    fn read_expr(&self, expr: &Expr, live: &mut Live) {
        walk::visit_expr(expr, &mut |item| self.read_item(item, live));
    }

    /// Adds the variables that a statement itself reads.
    fn read_own(&self, stmt: &StmtKind, live: &mut Live) {
        walk::visit_own(stmt, &mut |item| self.read_item(item, live));
        if let StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } = stmt {
            self.read_stack(&HeaderRef::Next(*stack), live);
        }
        if let StmtKind::Call(routine) = stmt {
            live.add(&self.routine_reads[*routine]);
        }
    }

    /// All local variables that a body reads, and those it writes only in part.
    fn reads(&self, body: &[Stmt]) -> Live {
        let mut live = Live::default();
        walk::visit_body(body, &mut |stmt| self.read_own(&stmt.kind, &mut live));
        live
    }

    /// All local variables that are read anywhere: the live set at the end of a routine, for all callers.
    fn read_anywhere(&self, blocks: &IndexVec<BlockId, Block>) -> Live {
        let mut live = Live::default();
        self.action_reads.iter().chain(&self.routine_reads).for_each(|reads| live.add(reads));
        for block in blocks {
            match &block.kind {
                BlockKind::Control { body } => live.add(&self.reads(body)),
                BlockKind::Parser { states, .. } => {
                    for state in states {
                        live.add(&self.reads(&state.body));
                        walk::transition_exprs(&state.transition)
                            .iter()
                            .for_each(|expr| self.read_expr(expr, &mut live));
                    }
                }
            }
        }
        for table in &self.program.tables {
            self.read_table(table, &mut live);
        }
        live
    }

    /// Each state after its successors, and again whenever the live set at the start of one of them grows.
    fn parser(&mut self, states: &mut IndexVec<StateId, ParserState>) {
        let mut live_in: IndexVec<StateId, Live> = states.iter().map(|_| Live::default()).collect();
        let order = successors_first(states);
        let mut position = vec![0; states.len()];
        let mut sources: IndexVec<StateId, Vec<StateId>> = states.iter().map(|_| Vec::new()).collect();
        for (at, &id) in order.iter().enumerate() {
            position[id.index()] = at;
            for next in successors(&states[id]) {
                sources[next].push(id);
            }
        }
        let mut waiting: OrderedSet<usize> = (0..order.len()).collect();
        self.remove = false;
        while let Some(at) = waiting.pop_first() {
            let id = order[at];
            let end = self.parser_end(&states[id], &live_in);
            let live = self.body(&mut states[id].body, end);
            if live != live_in[id] {
                waiting.extend(sources[id].iter().map(|source| position[source.index()]));
                live_in[id] = live;
            }
        }
        self.remove = true;
        for id in states.ids() {
            let end = self.parser_end(&states[id], &live_in);
            self.body(&mut states[id].body, end);
        }
    }

    fn parser_end(&self, state: &ParserState, live_in: &IndexVec<StateId, Live>) -> Live {
        let mut live = Live::default();
        for next in successors(state) {
            live.add(&live_in[next]);
        }
        for expr in walk::transition_exprs(&state.transition) {
            self.read_expr(expr, &mut live);
        }
        live
    }

    /// Walks a body backwards from the live set after it to the live set before it.
    fn body(&mut self, body: &mut Body, mut live: Live) -> Live {
        let mut kept = Vec::new();
        for mut stmt in std::mem::take(body).into_iter().rev() {
            if self.remove && self.is_known(&stmt.kind, &live) {
                continue;
            }
            live = self.stmt(&mut stmt.kind, live);
            kept.push(stmt);
        }
        kept.reverse();
        *body = kept;
        live
    }

    /// Whether a statement only computes a local that is not read.
    fn is_known(&self, stmt: &StmtKind, live: &Live) -> bool {
        let pure = match stmt {
            StmtKind::Assign { .. } | StmtKind::RegisterRead { .. } | StmtKind::Hash { .. } => true,
            StmtKind::Lookahead { checked, .. } => !checked,
            _ => false,
        };
        pure && stmt.dst().is_some_and(|dst| {
            let var = whole_var(dst);
            var.is_some_and(|var| self.is_local(var) && !live.contains(var))
        })
    }

    fn stmt(&mut self, stmt: &mut StmtKind, mut live: Live) -> Live {
        match stmt {
            StmtKind::If { cond, then_body, else_body } => {
                let mut before = self.body(then_body, live.clone());
                before.add(&self.body(else_body, live));
                self.read_expr(cond, &mut before);
                before
            }
            StmtKind::Switch { value, cases, default } => {
                let mut before = self.body(default, live.clone());
                for case in cases {
                    before.add(&self.body(&mut case.body, live.clone()));
                }
                self.read_expr(value, &mut before);
                before
            }
            StmtKind::Block { label, body } => {
                self.exits.insert(*label, live.clone());
                let before = self.body(body, live);
                self.exits.remove(label);
                before
            }
            StmtKind::Loop { label, body } => self.loop_statement(*label, body, live),
            StmtKind::Leave(label) => self.exits.get(label).cloned().unwrap_or_default(),
            StmtKind::ApplyTable { table, hit, action } => self.apply(*table, hit, action, live),
            _ => {
                if let Some(Place::Var(var)) = stmt.dst().filter(|_| always_writes(stmt)) {
                    live.remove(*var);
                }
                self.read_own(stmt, &mut live);
                // A write to a part of a variable does not change the rest.
                live
            }
        }
    }

    /// The live set at the end of a loop's body is that at its start. One iteration finds it: a body maps a set to the
    /// variables that it reads itself and those of the set that it does not write first, so that a second iteration
    /// adds nothing. A nested loop is not analysed again when stores are removed from the outer one, or the work would
    /// double with every level: its former result has all variables that it reads itself, and the live set after it is
    /// added.
    fn loop_statement(&mut self, label: LabelId, body: &mut Body, after: Live) -> Live {
        self.exits.insert(label, after.clone());
        let remove = std::mem::replace(&mut self.remove, false);
        let mut head = after;
        let known = self.heads.remove(&label);
        let is_known = remove && self.in_known_loop && known.is_some();
        head.add(&known.unwrap_or_default());
        if !is_known {
            let before = self.body(body, head.clone());
            head.add(&before);
        }
        self.remove = remove;
        if remove {
            let is_outer_known = std::mem::replace(&mut self.in_known_loop, true);
            self.body(body, head.clone());
            self.in_known_loop = is_outer_known;
        }
        self.exits.remove(&label);
        self.heads.insert(label, head.clone());
        head
    }

    /// A table runs one of its actions, or none. All variables that actions read are live before, in whatever order
    /// they read and write.
    fn apply(&mut self, id: TableId, hit: &mut Option<VarId>, action: &mut Option<VarId>, mut live: Live) -> Live {
        let table = &self.program.tables[id];
        let mut in_actions = Live::default();
        for listed in &table.actions {
            in_actions.add(&self.action_reads[listed.action]);
        }
        let mut after_action = live.clone();
        // An action may run again, or leave another label's statement.
        after_action.add(&in_actions);
        self.exits.values().for_each(|exit| after_action.add(exit));
        for listed in &table.actions {
            self.ends.entry(listed.action).or_default().add(&after_action);
        }
        live.add(&after_action);
        if self.remove {
            for result in [&mut *hit, &mut *action] {
                *result = result.filter(|var| !self.is_local(*var) || live.contains(*var));
            }
        }
        for var in [hit, action].into_iter().flatten() {
            live.remove(*var);
        }
        self.read_table(table, &mut live);
        live
    }

    /// Adds the variables that a table itself reads.
    fn read_table(&self, table: &Table, live: &mut Live) {
        walk::visit_table_inputs(table, &mut |item| self.read_item(item, live));
        if let Some((_, Some(place))) = &table.direct_meter {
            walk::visit_place(place, &mut |item| self.read_item(item, live));
        }
    }
}

fn successors(state: &ParserState) -> OrderedSet<StateId> {
    crate::flow::targets(&state.transition).into_iter().filter_map(crate::flow::state_of).collect()
}

/// All states, each after its successors, as far as there are no cycles.
fn successors_first(states: &IndexVec<StateId, ParserState>) -> Vec<StateId> {
    let (mut order, mut seen) = (Vec::new(), vec![false; states.len()]);
    for first in states.ids() {
        let mut path: Vec<(StateId, OrderedSet<StateId>)> = Vec::new();
        let mut enter = Some(first);
        loop {
            if let Some(id) = enter.filter(|id| !std::mem::replace(&mut seen[id.index()], true)) {
                path.push((id, successors(&states[id])));
            }
            let Some((id, left)) = path.last_mut() else { break };
            enter = left.pop_first();
            if enter.is_none() {
                order.push(*id);
                path.pop();
            }
        }
    }
    order
}

/// The variable that a place is, as a whole or in part.
fn whole_var(place: &Place) -> Option<VarId> {
    match place {
        Place::Var(var) => Some(*var),
        Place::Field(..) => None,
        Place::Slice { base, .. } => whole_var(base),
    }
}

/// Whether a statement with a target certainly writes it.
fn always_writes(stmt: &StmtKind) -> bool {
    matches!(
        stmt,
        StmtKind::Assign { .. } | StmtKind::Hash { .. } | StmtKind::Lookahead { .. } | StmtKind::CallExtern { .. }
    )
}
