//! A control as a graph of nodes, split where tables are applied.
//!
//! Nodes are pieces of straight-line code, listed so that every edge leads forward. A table is looked up once for all
//! packets that apply it, and its results start a batch stage; every other node belongs to the last of the stages that
//! lead to it ([`super::tail_duplication`] gives each of them a copy where that is allowed). A stage runs over all
//! packets of the burst that reach it before the next stage runs. Packets from earlier stages enter it at the node that
//! they go to. The control is not split at a table inside a loop, a table with a key so wide that the rows of a burst
//! would need too much stack, or a table so small that its search is cheap: such a table is looked up packet by packet.

use super::fast_path::FastPath;
use super::sharing::Sharing;
use super::state;
use super::walk::{Item, Tables, Visit, Walk};
use base::limits::BURST_PACKETS_MAX;
use base::{Bits, OrderedMap, OrderedSet};
use ir::{Body, Expr, LabelId, Program, RegisterId, Stmt, StmtKind, TableId, VarId};
use std::ops::RangeInclusive;

/// Position in [`Graph::nodes`].
pub(crate) type NodeId = usize;

/// Stack that the key rows of a burst may take for one table, and for all tables of a control.
const KEY_ROWS_BYTES_MAX: usize = 64 << 10;
const ALL_KEY_ROWS_BYTES_MAX: usize = 256 << 10;

/// The application of a table at which the control is split.
#[derive(Clone, Copy)]
pub(crate) struct Apply<'p> {
    pub(crate) stmt: &'p Stmt,
    pub(crate) table: TableId,
    pub(crate) hit: Option<VarId>,
    pub(crate) action: Option<VarId>,
}

/// Statements that a packet runs through independently of others.
#[derive(Clone)]
pub(crate) struct Node<'p> {
    /// The table whose result the node begins with.
    pub(crate) head: Option<Apply<'p>>,
    /// The statements after that.
    pub(crate) code: Vec<&'p Stmt>,
    /// Where the packet goes.
    pub(crate) end: End<'p>,
    /// Where it goes instead if a statement or an action inside leaves a `Block` that tables split.
    pub(crate) leaves: OrderedMap<LabelId, NodeId>,
}

/// Where a packet goes after a node.
#[derive(Clone)]
pub(crate) enum End<'p> {
    /// The block is done.
    Done,
    /// Always to this node.
    Goto(NodeId),
    /// One of two.
    Branch { stmt: &'p Stmt, cond: &'p Expr, yes: NodeId, no: NodeId },
    /// One of many.
    Switch { stmt: &'p Stmt, value: &'p Expr, cases: Vec<(&'p [Bits], NodeId)>, default: NodeId },
    /// The packet is looked up in a table; the next node begins with the result.
    Apply { apply: Apply<'p>, next: NodeId },
}

/// The nodes of a control.
pub(crate) struct Graph<'p> {
    pub(crate) nodes: Vec<Node<'p>>,
    /// The batch stages in the order in which they run, each with its nodes in order. Unreachable and empty nodes are
    /// in none.
    pub(crate) stages: Vec<Vec<NodeId>>,
    /// The nodes of each stage that packets enter from other stages, or at the start.
    pub(crate) entries: Vec<Vec<NodeId>>,
    /// Whether code runs for each packet that reaches the end.
    has_finish: bool,
    /// Why it is not split at its tables, or not at all of them.
    pub(crate) uncut: Option<Uncut>,
}

/// Why a control is not split at its tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Uncut {
    /// A label names two statements.
    LabelTwice,
    /// The key rows of a burst would take too much stack.
    KeyRows,
    /// Packets would observe the order in which they touch this.
    Order(state::Object),
    /// They would where one is punted, or in the parser.
    RunToCompletion(state::Object),
}

impl<'p> Graph<'p> {
    /// The graph of a control's body: split at tables if no packet can observe that, else a single node. `key_words`
    /// returns the number of words of a table's key.
    pub(crate) fn new(program: &'p Program, body: &'p Body, key_words: &dyn Fn(TableId) -> usize) -> Graph<'p> {
        Graph::cut(program, &[body], key_words, false).unwrap_or_else(|why| Graph::single(&[body], why))
    }

    /// The graph of bodies that a packet runs through one after the other, with code that runs for each packet at the
    /// end.
    pub(crate) fn of_path(
        program: &'p Program,
        bodies: &[&'p [Stmt]],
        key_words: &dyn Fn(TableId) -> usize,
    ) -> Graph<'p> {
        Graph::cut(program, bodies, key_words, true).unwrap_or_else(|why| Graph::single(bodies, why))
    }

    fn cut(
        program: &'p Program,
        bodies: &[&'p [Stmt]],
        key_words: &dyn Fn(TableId) -> usize,
        has_finish: bool,
    ) -> Result<Graph<'p>, Uncut> {
        let rows_bytes = |table| key_words(table) * size_of::<u64>() * BURST_PACKETS_MAX;
        // Tables between two uses of state of observable order.
        let mut between = OrderedSet::new();
        let mut uncut = None;
        loop {
            let cuttable = |table| rows_bytes(table) <= KEY_ROWS_BYTES_MAX && !between.contains(&table);
            let mut graph = Builder::new(&cuttable).build(program, bodies).ok_or(Uncut::LabelTwice)?;
            graph.has_finish = has_finish;
            graph.skip_idle_nodes();
            graph.form_stages();
            let all_rows: usize = graph.applied().map(rows_bytes).sum();
            if all_rows > ALL_KEY_ROWS_BYTES_MAX {
                return Err(Uncut::KeyRows);
            }
            match (graph.visible_order(program), uncut) {
                (Some((object, stages)), _) => {
                    uncut = Some(Uncut::Order(object));
                    between.extend(stages.flat_map(|stage| graph.looked_up_before(stage)));
                }
                (None, Some(why)) if !graph.is_cut() => return Err(why),
                (None, _) => return Ok(Graph { uncut, ..graph }),
            }
        }
    }

    /// The tables with whose results a stage begins.
    fn looked_up_before(&self, stage: usize) -> impl Iterator<Item = TableId> {
        self.stages[stage].iter().filter_map(|&id| self.nodes[id].head.map(|apply| apply.table))
    }

    /// All as one node.
    pub(crate) fn single(bodies: &[&'p [Stmt]], why: Uncut) -> Graph<'p> {
        let code = bodies.iter().flat_map(|body| body.iter()).collect();
        let node = Node { head: None, code, end: End::Done, leaves: OrderedMap::new() };
        let (stages, entries) = (vec![vec![0]], vec![vec![0]]);
        Graph { nodes: vec![node], stages, entries, has_finish: true, uncut: Some(why) }
    }

    /// Whether the control is split at a table.
    pub(crate) fn is_cut(&self) -> bool {
        self.applied().next().is_some()
    }

    /// Tables that nodes end at.
    fn applied(&self) -> impl Iterator<Item = TableId> {
        self.stages.iter().flatten().filter_map(|&id| match &self.nodes[id].end {
            End::Apply { apply, .. } => Some(apply.table),
            _ => None,
        })
    }

    /// Whether nothing happens in a node, and the block is done after it.
    pub(crate) fn is_end(&self, id: NodeId) -> bool {
        let node = &self.nodes[id];
        !self.has_finish && node.head.is_none() && node.code.is_empty() && matches!(node.end, End::Done)
    }

    /// Redirects edges that lead to empty nodes to the nodes that follow.
    fn skip_idle_nodes(&mut self) {
        let forward: Vec<NodeId> = (0..self.nodes.len()).map(|id| self.first_busy(id)).collect();
        self.nodes.iter_mut().for_each(|node| node.lead_to(|target| forward[target]));
    }

    fn first_busy(&self, mut id: NodeId) -> NodeId {
        while let Node { head: None, code, end: End::Goto(next), .. } = &self.nodes[id]
            && code.is_empty()
        {
            id = *next;
        }
        id
    }

    /// Assigns each reachable node to a stage.
    fn form_stages(&mut self) {
        let order = std::mem::take(&mut self.stages).concat();
        // The last stage that leads to a node; none for the first node.
        let mut last: OrderedMap<NodeId, Option<usize>> =
            order.first().map(|&first| (first, None)).into_iter().collect();
        let mut stages: Vec<Vec<NodeId>> = Vec::new();
        for id in order {
            let Some(&source) = last.get(&id) else { continue };
            if self.is_end(id) {
                continue;
            }
            let stage = match source {
                Some(stage) if self.nodes[id].head.is_none() => stage,
                _ => {
                    stages.push(Vec::new());
                    stages.len() - 1
                }
            };
            stages[stage].push(id);
            for next in self.nodes[id].targets() {
                let known = last.entry(next).or_insert(None);
                *known = (*known).max(Some(stage));
            }
        }
        self.set_stages(stages);
    }

    /// Sets the stages, and finds where they are entered.
    pub(crate) fn set_stages(&mut self, stages: Vec<Vec<NodeId>>) {
        // Targets of a stage's own nodes are entered from within, unless another stage leads there too.
        let mut from: OrderedMap<NodeId, OrderedSet<usize>> = OrderedMap::new();
        for (number, stage) in stages.iter().enumerate() {
            for next in stage.iter().flat_map(|&id| self.nodes[id].targets()) {
                from.entry(next).or_default().insert(number);
            }
        }
        let is_entered =
            |number: usize, id: &NodeId| from.get(id).is_none_or(|from| from.iter().any(|it| *it != number));
        let entries = |(number, stage): (usize, &Vec<NodeId>)| {
            stage.iter().copied().filter(|id| is_entered(number, id)).collect()
        };
        self.entries = stages.iter().enumerate().map(entries).collect();
        self.stages = stages;
    }

    /// Finds where statements and actions inside of nodes leave to.
    fn find_leaves(&mut self, program: &'p Program, labels: &OrderedMap<LabelId, NodeId>) {
        for id in 0..self.nodes.len() {
            let mut found = OrderedMap::new();
            self.walk_node(program, id, &mut |item| {
                if let Item::Stmt(Stmt { kind: StmtKind::Leave(label), .. }) = item {
                    found.extend(labels.get(label).map(|&node| (*label, node)));
                }
            });
            self.nodes[id].leaves = found;
        }
    }

    /// Walks over what runs in a node.
    pub(crate) fn walk_node(&self, program: &'p Program, id: NodeId, visit: Visit<'_, 'p>) {
        let (node, walk) = (&self.nodes[id], Walk::new(program, Tables::Inside));
        if let Some(apply) = &node.head {
            walk.results(&program.tables[apply.table], [apply.hit, apply.action], visit);
        }
        walk.stmts(node.code.iter().copied(), visit);
        match &node.end {
            End::Done | End::Goto(_) => {}
            End::Branch { cond, .. } => walk.expr(cond, visit),
            End::Switch { value, .. } => walk.expr(value, visit),
            End::Apply { apply, .. } => walk.keys(&program.tables[apply.table], visit),
        }
    }

    /// State of observable order that is touched in two stages, and the stages after the first of them up to the
    /// second. Within a stage, packets stay in order.
    fn visible_order(&self, program: &'p Program) -> Option<(state::Object, RangeInclusive<usize>)> {
        let written = state::written_registers(program);
        let mut seen = OrderedMap::new();
        (0..).zip(&self.stages).find_map(|(number, stage)| {
            let here = self.touched(program, stage, &written);
            here.into_iter().find_map(|object| Some((object, seen.insert(object, number)? + 1..=number)))
        })
    }

    /// State that is touched in a stage.
    pub(crate) fn touched(
        &self,
        program: &'p Program,
        stage: &[NodeId],
        written: &OrderedSet<RegisterId>,
    ) -> OrderedSet<state::Object> {
        let mut here = OrderedSet::new();
        for &id in stage {
            let head = self.nodes[id].head.and_then(|apply| program.tables[apply.table].direct_meter.as_ref());
            here.extend(head.map(|(meter, _)| state::Object::DirectMeter(*meter)));
            self.walk_node(program, id, &mut |item| {
                if let Item::Stmt(stmt) = item {
                    here.extend(state::touched(program, stmt, written));
                }
            });
        }
        here
    }

    /// The stages, from the first to the last, for which workers must have the guard ([`super::sharing`]).
    pub(crate) fn guarded_for(
        &self,
        program: &'p Program,
        sharing: &Sharing,
        fast_path: Option<&FastPath>,
    ) -> Option<RangeInclusive<usize>> {
        if sharing.guarded.is_empty() {
            return None;
        }
        // Not those that this program writes: it may be specialised while another worker runs the general one.
        let is_guarded = |stage: &Vec<NodeId>| {
            self.touched(program, stage, &sharing.guarded).into_iter().any(|object| sharing.guards(object))
        };
        let first = self.stages.iter().position(is_guarded)?;
        let last = self.stages.iter().rposition(is_guarded)?;
        let reads_time = |stage: &Vec<NodeId>| {
            let mut found = false;
            for &id in stage {
                self.walk_node(program, id, &mut |item| {
                    found |= matches!(item, Item::Var(var) if Some(var) == sharing.time);
                });
            }
            found
        };
        // On the fast path a spilled variable has its value from the start.
        let is_spilled = |time| fast_path.is_some_and(|fast_path| fast_path.spilled.contains_key(&time));
        let time = match sharing.time.is_some_and(is_spilled) {
            true => Some(0),
            false => self.stages.iter().position(reads_time),
        };
        Some(time.map_or(first, |time| time.min(first))..=last)
    }
}

impl Node<'_> {
    /// Where packets go from here.
    pub(crate) fn targets(&self) -> Vec<NodeId> {
        let mut targets = match &self.end {
            End::Done => Vec::new(),
            End::Goto(next) | End::Apply { next, .. } => vec![*next],
            End::Branch { yes, no, .. } => vec![*yes, *no],
            End::Switch { cases, default, .. } => cases.iter().map(|(_, id)| *id).chain([*default]).collect(),
        };
        targets.extend(self.leaves.values());
        targets
    }

    /// Redirects the node's edges.
    pub(crate) fn lead_to(&mut self, instead: impl Fn(NodeId) -> NodeId) {
        match &mut self.end {
            End::Done => {}
            End::Goto(next) | End::Apply { next, .. } => *next = instead(*next),
            End::Branch { yes, no, .. } => (*yes, *no) = (instead(*yes), instead(*no)),
            End::Switch { cases, default, .. } => {
                cases.iter_mut().for_each(|(_, node)| *node = instead(*node));
                *default = instead(*default);
            }
        }
        self.leaves.values_mut().for_each(|node| *node = instead(*node));
    }
}

struct Builder<'p, 'c> {
    cuttable: &'c dyn Fn(TableId) -> bool,
    /// Statements that tables in them split, by their addresses.
    cut: OrderedSet<*const Stmt>,
    nodes: Vec<Node<'p>>,
    order: Vec<NodeId>,
    labels: OrderedMap<LabelId, NodeId>,
    current: NodeId,
    label_twice: bool,
}

impl<'p, 'c> Builder<'p, 'c> {
    fn new(cuttable: &'c dyn Fn(TableId) -> bool) -> Self {
        Builder {
            cuttable,
            cut: OrderedSet::new(),
            nodes: Vec::new(),
            order: Vec::new(),
            labels: OrderedMap::new(),
            current: 0,
            label_twice: false,
        }
    }

    /// None if a label names two statements.
    fn build(mut self, program: &'p Program, bodies: &[&'p [Stmt]]) -> Option<Graph<'p>> {
        let first = self.node(None);
        self.start(first);
        for body in bodies {
            self.find_cut(body);
            self.body(body);
        }
        let stages = vec![self.order];
        let mut graph = Graph { nodes: self.nodes, stages, entries: Vec::new(), has_finish: false, uncut: None };
        graph.find_leaves(program, &self.labels);
        (!self.label_twice).then_some(graph)
    }

    fn node(&mut self, head: Option<Apply<'p>>) -> NodeId {
        self.nodes.push(Node { head, code: Vec::new(), end: End::Done, leaves: OrderedMap::new() });
        self.nodes.len() - 1
    }

    fn start(&mut self, id: NodeId) {
        self.order.push(id);
        self.current = id;
    }

    /// Ends the current node. Statements that follow without a new node are unreachable.
    fn end(&mut self, end: End<'p>) {
        self.nodes[self.current].end = end;
    }

    fn body(&mut self, body: &'p [Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'p Stmt) {
        match &stmt.kind {
            StmtKind::ApplyTable { table, hit, action } if (self.cuttable)(*table) => {
                let apply = Apply { stmt, table: *table, hit: *hit, action: *action };
                let next = self.node(Some(apply));
                self.end(End::Apply { apply, next });
                self.start(next);
            }
            StmtKind::Leave(label) if self.labels.contains_key(label) => {
                self.end(End::Goto(self.labels[label]));
                let unreachable = self.node(None);
                self.start(unreachable);
            }
            _ if !self.is_cut(stmt) => self.nodes[self.current].code.push(stmt),
            StmtKind::If { cond, then_body, else_body } => {
                let (yes, no, join) = (self.node(None), self.node(None), self.node(None));
                self.end(End::Branch { stmt, cond, yes, no });
                self.arm(yes, then_body, join);
                self.arm(no, else_body, join);
                self.start(join);
            }
            StmtKind::Switch { value, cases, default } => {
                let ids: Vec<NodeId> = cases.iter().map(|_| self.node(None)).collect();
                let (default_id, join) = (self.node(None), self.node(None));
                let edges = cases.iter().zip(&ids).map(|(case, &id)| (&case.values[..], id)).collect();
                self.end(End::Switch { stmt, value, cases: edges, default: default_id });
                for (case, id) in cases.iter().zip(ids) {
                    self.arm(id, &case.body, join);
                }
                self.arm(default_id, default, join);
                self.start(join);
            }
            StmtKind::Block { label, body } => {
                let join = self.node(None);
                self.label_twice |= self.labels.insert(*label, join).is_some();
                self.body(body);
                self.end(End::Goto(join));
                self.start(join);
            }
            _ => self.nodes[self.current].code.push(stmt),
        }
    }

    fn arm(&mut self, id: NodeId, body: &'p [Stmt], join: NodeId) {
        self.start(id);
        self.body(body);
        self.end(End::Goto(join));
    }

    /// Records which statements of a body are split by tables in them. Each is visited once, since programs nest
    /// deeply.
    fn find_cut(&mut self, body: &'p [Stmt]) -> bool {
        body.iter().fold(false, |any, stmt| self.is_cut_inside(stmt) | any)
    }

    fn is_cut_inside(&mut self, stmt: &'p Stmt) -> bool {
        let is_cut = match &stmt.kind {
            StmtKind::ApplyTable { table, .. } => (self.cuttable)(*table),
            StmtKind::If { then_body, else_body, .. } => self.find_cut(then_body) | self.find_cut(else_body),
            StmtKind::Switch { cases, default, .. } => {
                cases.iter().fold(self.find_cut(default), |any, case| self.find_cut(&case.body) | any)
            }
            StmtKind::Block { body, .. } => self.find_cut(body),
            _ => false,
        };
        if is_cut {
            self.cut.insert(std::ptr::from_ref(stmt));
        }
        is_cut
    }

    /// Whether a table in the statement splits it.
    fn is_cut(&self, stmt: &Stmt) -> bool {
        self.cut.contains(&std::ptr::from_ref(stmt))
    }
}
