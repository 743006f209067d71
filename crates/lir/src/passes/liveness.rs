//! Liveness of state, in its variables within a stage and in its saved place between stages.
//!
//! A backward analysis. Within a stage, what is live at a jump is what is live at its target; nodes and labels are
//! visited until nothing changes. From stage to stage it takes one visit, since packets only go forward: what is live
//! at a stage's entry is what the values there are computed from.
//!
//! State that a stage writes is stored to its saved place at the stage's end, where it is live ([`Flow::refreshed`]).
//! So at the exits of such a stage the variable is live, not the saved place.

use crate::{Entry, Expr, NodeId, Stage, StatePart, Stmt, Unit, walk};
use base::{OrderedMap, OrderedSet};

/// A place that holds state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cell {
    /// Its variable.
    Variable(StatePart),
    /// Its saved place.
    Saved(StatePart),
}

type Live = OrderedSet<Cell>;

/// What is live where packets enter nodes of stages.
type AtEntries = OrderedMap<NodeId, Live>;

/// The analysis of one stage.
pub(super) struct Flow<'u> {
    unit: &'u Unit,
    /// What is live where packets enter later stages.
    later: &'u AtEntries,
    /// State whose variable is stored at the stage's end if it is live: what the stage writes, or wrote before dead
    /// stores were removed. Earlier stages may rely on that and not store it themselves.
    refreshed: OrderedSet<StatePart>,
    /// What is live at the start of the stage's nodes, as far as is known.
    nodes: AtEntries,
    /// The same for labels.
    labels: OrderedMap<String, Live>,
    /// The same for loops, which are numbered as they are walked over.
    loops: Vec<Live>,
    /// The number of the loop that is walked over next.
    next_loop: usize,
    /// What the statements at the stage's end read.
    after: Live,
    /// What is live in its saved place at any exit, and refreshed.
    spilled: OrderedSet<StatePart>,
    has_changed: bool,
    /// Whether dead stores are left out of the bodies that [`Flow::stage`] returns.
    removes: bool,
}

/// Analyses the stages of a unit from the last to the first. `find` derives what follows from the analysis of a stage,
/// and `set` changes the stage by it. In a unit whose state others read after every packet, nothing follows.
pub(super) fn for_each_stage<T>(unit: &mut Unit, find: impl Fn(Flow<'_>, &Stage) -> T, set: impl Fn(&mut Stage, T)) {
    if keeps_all(unit) {
        return;
    }
    let mut later = AtEntries::new();
    for number in (0..unit.stages.len()).rev() {
        let stage = &unit.stages[number];
        let mut flow = Flow::new(unit, number, &later);
        flow.analyse(stage);
        let entries: Vec<_> = stage.entries.iter().map(|entry| (entry.node, flow.at_entry(entry))).collect();
        let found = find(flow, stage);
        later.extend(entries);
        set(&mut unit.stages[number], found);
    }
}

/// Whether others read the saved places of all state after every packet, so that no store to them is dead.
fn keeps_all(unit: &Unit) -> bool {
    let mut ends = false;
    for node in unit.stages.iter().flat_map(|stage| &stage.nodes) {
        walk::stmts(&node.body, &mut |stmt| ends |= matches!(stmt, Stmt::End(_)));
    }
    !ends && unit.saved.keys().all(|state| unit.live_out.contains(state))
}

/// The state that a stage writes: where it has a value that its saved place has not.
pub(super) fn written(unit: &Unit, number: usize) -> OrderedSet<StatePart> {
    let stage = &unit.stages[number];
    let mut written = OrderedSet::new();
    for node in &stage.nodes {
        walk::stmts(&node.body, &mut |stmt| {
            if let Stmt::Assign(Expr::State(state), ..) = stmt {
                written.insert(*state);
            }
        });
    }
    for (state, value) in stage.entries.iter().flat_map(|entry| &entry.values) {
        let is_new = number == 0 || matches!(state, StatePart::Sum(_));
        if is_new && *value != Expr::Saved(*state) {
            written.insert(*state);
        }
    }
    // The place of a header is stored where it changes: in memory it may have another form.
    written.retain(|state| unit.saved.contains_key(state) && !unit.is_wide(*state));
    written.retain(|state| !matches!(state, StatePart::Header(_)));
    written
}

impl<'u> Flow<'u> {
    fn new(unit: &'u Unit, number: usize, later: &'u AtEntries) -> Flow<'u> {
        Flow {
            unit,
            later,
            refreshed: unit.stages[number].spills.clone(),
            nodes: OrderedMap::new(),
            labels: OrderedMap::new(),
            loops: Vec::new(),
            next_loop: 0,
            after: Live::new(),
            spilled: OrderedSet::new(),
            has_changed: false,
            removes: false,
        }
    }

    /// Analyses a stage.
    fn analyse(&mut self, stage: &Stage) {
        loop {
            self.has_changed = false;
            self.stage(stage);
            if !self.has_changed {
                return;
            }
        }
    }

    /// The bodies of an analysed stage's nodes without dead stores.
    pub(super) fn without_dead_stores(mut self, stage: &Stage) -> Vec<Vec<Stmt>> {
        self.removes = true;
        self.stage(stage)
    }

    /// The state that the stage must store at its end.
    pub(super) fn spilled(self) -> OrderedSet<StatePart> {
        self.spilled
    }

    /// What is live where packets enter the stage.
    fn at_entry(&self, entry: &Entry) -> Live {
        let mut live = Live::new();
        for cell in self.nodes.get(&entry.node).into_iter().flatten() {
            match cell {
                Cell::Saved(_) => _ = live.insert(*cell),
                Cell::Variable(state) => entry.values.get(state).into_iter().for_each(|value| uses(value, &mut live)),
            }
        }
        live
    }

    fn stage(&mut self, stage: &Stage) -> Vec<Vec<Stmt>> {
        self.next_loop = 0;
        self.after = Live::new();
        stage.after.iter().for_each(|stmt| read(stmt, false, &mut self.after));
        let mut after = Live::new();
        if stage.nodes.last().is_some_and(|node| !walk::ends(&node.body)) {
            after = self.at_exit(&self.live_out());
        }
        let mut bodies = Vec::new();
        for node in stage.nodes.iter().rev() {
            bodies.push(self.body(&node.body, &mut after));
            self.has_changed |= add(self.nodes.entry(node.id).or_default(), &after);
        }
        bodies.reverse();
        bodies
    }

    /// What others read of a packet that was punted, or that has left the unit.
    fn live_out(&self) -> Live {
        self.unit.live_out.iter().map(|&state| Cell::Saved(state)).collect()
    }

    /// What is live before the end of the stage if `after` is live behind it.
    fn at_exit(&mut self, after: &Live) -> Live {
        let before = |cell: &Cell| match cell {
            Cell::Saved(state) if self.refreshed.contains(state) => Cell::Variable(*state),
            cell => *cell,
        };
        let live = after.iter().map(before).chain(self.after.iter().copied()).collect();
        let refreshed = after.iter().filter_map(|cell| match cell {
            Cell::Saved(state) => self.refreshed.contains(state).then_some(*state),
            Cell::Variable(_) => None,
        });
        self.spilled.extend(refreshed);
        live
    }

    /// Walks backward over a body. `live` is what is live after it, and then what is live before it.
    fn body(&mut self, body: &[Stmt], live: &mut Live) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in body.iter().rev() {
            if self.removes && is_dead(stmt, live) {
                continue;
            }
            let stmt = self.stmt(stmt, live);
            if self.removes {
                out.push(stmt);
            }
        }
        out.reverse();
        out
    }

    fn stmt(&mut self, stmt: &Stmt, live: &mut Live) -> Stmt {
        match stmt {
            Stmt::If(condition, yes, no) => {
                let mut in_yes = live.clone();
                let (yes, no) = (self.body(yes, &mut in_yes), self.body(no, live));
                live.extend(in_yes);
                uses(condition, live);
                Stmt::If(condition.clone(), yes, no)
            }
            Stmt::Switch { value, cases, default } => {
                let after = live.clone();
                let default = self.body(default, live);
                let mut new_cases = Vec::new();
                for (values, body) in cases {
                    let mut in_case = after.clone();
                    new_cases.push((values.clone(), self.body(body, &mut in_case)));
                    live.extend(in_case);
                }
                uses(value, live);
                Stmt::Switch { value: value.clone(), cases: new_cases, default }
            }
            Stmt::Loop(body) => Stmt::Loop(self.in_loop(body, live)),
            Stmt::Block(body) => Stmt::Block(self.body(body, live)),
            Stmt::LookUp { node, row, key } => {
                *live = self.entering(*node);
                let key = self.body(key, live);
                Stmt::LookUp { node: *node, row: row.clone(), key }
            }
            _ => {
                self.simple(stmt, live);
                stmt.clone()
            }
        }
    }

    /// What is live at the start of a loop is live at its end. The body is visited once, as [`Flow::analyse`] repeats
    /// the stage until nothing changes: visits that repeat within each other would double with each loop in a loop.
    fn in_loop(&mut self, body: &[Stmt], live: &mut Live) -> Vec<Stmt> {
        let number = self.next_loop;
        self.next_loop += 1;
        if number == self.loops.len() {
            self.loops.push(Live::new());
        }
        live.clone_from(&self.loops[number]);
        let out = self.body(body, live);
        self.has_changed |= add(&mut self.loops[number], live);
        out
    }

    fn simple(&mut self, stmt: &Stmt, live: &mut Live) {
        match stmt {
            Stmt::Goto(label) => *live = self.labels.get(label).cloned().unwrap_or_default(),
            Stmt::Label(label) => self.has_changed |= add(self.labels.entry(label.clone()).or_default(), live),
            Stmt::Go(node) => *live = self.nodes.get(node).cloned().unwrap_or_default(),
            Stmt::Pass(node) => *live = self.entering(*node),
            Stmt::End(value) => {
                *live = self.at_exit(&Live::new());
                uses(value, live);
            }
            Stmt::Punt(value) => {
                *live = self.at_exit(&self.live_out());
                uses(value, live);
            }
            Stmt::Leave => *live = self.at_exit(&self.live_out()),
            _ => {
                let whole = overwritten(stmt);
                if let Some(cell) = whole {
                    live.remove(&cell);
                }
                read(stmt, whole.is_some(), live);
            }
        }
    }

    /// What is live where a packet is passed to a node of a later stage.
    fn entering(&mut self, node: NodeId) -> Live {
        let live = self.later.get(&node).cloned().unwrap_or_default();
        self.at_exit(&live)
    }
}

/// The place that a statement overwrites as a whole.
fn overwritten(stmt: &Stmt) -> Option<Cell> {
    let cell = |place: &Expr| match place {
        Expr::State(state) => Some(Cell::Variable(*state)),
        Expr::Saved(state) => Some(Cell::Saved(*state)),
        _ => None,
    };
    match stmt {
        Stmt::Assign(place, "=", _) => cell(place),
        Stmt::Eval(Expr::Call(function, arguments)) => match &**function {
            Expr::Name(name) if name == "ws_wide_zero" || name == "ws_wide_copy" => cell(arguments.first()?),
            _ => None,
        },
        _ => None,
    }
}

/// Adds what a statement reads, except the place that it overwrites as a whole.
fn read(stmt: &Stmt, overwrites: bool, live: &mut Live) {
    match stmt {
        Stmt::Assign(_, _, value) if overwrites => uses(value, live),
        Stmt::Eval(Expr::Call(_, arguments)) if overwrites => arguments[1..].iter().for_each(|it| uses(it, live)),
        _ => walk::exprs(stmt, &mut |value| uses(value, live)),
    }
}

/// Whether a statement only stores to a place that is not live.
fn is_dead(stmt: &Stmt, live: &Live) -> bool {
    let has_effect = || {
        let mut found = false;
        walk::exprs(stmt, &mut |value| walk::expr(value, &mut |it| found |= is_callback(it)));
        found
    };
    overwritten(stmt).is_some_and(|cell| !live.contains(&cell)) && !has_effect()
}

/// Whether an expression calls the switch core. Functions of the runtime that have a value have no side effects.
fn is_callback(value: &Expr) -> bool {
    matches!(value, Expr::Call(function, _) if !matches!(**function, Expr::Name(_)))
}

fn uses(value: &Expr, live: &mut Live) {
    walk::expr(value, &mut |it| match it {
        Expr::State(state) => _ = live.insert(Cell::Variable(*state)),
        Expr::Saved(state) => _ = live.insert(Cell::Saved(*state)),
        _ => {}
    });
}

/// Adds to a set; whether it has grown.
fn add(to: &mut Live, more: &Live) -> bool {
    let before = to.len();
    to.extend(more);
    to.len() > before
}
