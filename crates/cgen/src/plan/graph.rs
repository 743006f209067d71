//! A control as a graph of nodes, cut where tables are applied.
//!
//! A node runs over all packets of the burst that reach it before the next node runs; a table is asked once for all the
//! packets that apply it. Nodes are listed so that every edge leads forward. A table inside a loop, or with a key so wide that
//! the rows of a burst would need too much stack, is not cut at: its node asks it packet by packet.

use super::state;
use super::walk::{Item, Tables, Visit, Walk};
use base::Bits;
use base::limits::BURST_PACKETS_MAX;
use ir::{Body, Expr, LabelId, Program, Stmt, StmtKind, TableId, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Position in [`Graph::nodes`].
pub(crate) type NodeId = usize;

/// Stack that the key rows of a burst may take.
const KEY_ROWS_BYTES_MAX: usize = 64 << 10;

/// A table's application at a cut.
#[derive(Clone, Copy)]
pub(crate) struct Apply<'p> {
    pub(crate) stmt: &'p Stmt,
    pub(crate) table: TableId,
    pub(crate) hit: Option<VarId>,
    pub(crate) action: Option<VarId>,
}

/// Statements that a packet runs through without waiting for others.
pub(crate) struct Node<'p> {
    /// The table whose answer the node begins with.
    pub(crate) head: Option<Apply<'p>>,
    /// What it does then.
    pub(crate) code: Vec<&'p Stmt>,
    /// Where the packet goes.
    pub(crate) end: End<'p>,
}

/// Where a packet goes after a node.
pub(crate) enum End<'p> {
    /// The block is done.
    Done,
    /// Always to this node.
    Goto(NodeId),
    /// One of two.
    Branch { stmt: &'p Stmt, cond: &'p Expr, yes: NodeId, no: NodeId },
    /// One of many.
    Switch { stmt: &'p Stmt, value: &'p Expr, cases: Vec<(&'p [Bits], NodeId)>, default: NodeId },
    /// Waits for the table's answer, with which the node begins.
    Apply { apply: Apply<'p>, next: NodeId },
}

/// The nodes of a control.
pub(crate) struct Graph<'p> {
    pub(crate) nodes: Vec<Node<'p>>,
    /// The order in which nodes run; those that nothing leads to are left out.
    pub(crate) order: Vec<NodeId>,
    /// Where packets go that leave a `Block` which tables cut.
    pub(crate) labels: BTreeMap<LabelId, NodeId>,
}

impl<'p> Graph<'p> {
    /// The graph of a control's body: cut at tables if no one can see it, else a single node.
    pub(crate) fn new(program: &'p Program, body: &'p Body, widest_keys: &dyn Fn(TableId) -> usize) -> Graph<'p> {
        let cuttable = |table| widest_keys(table) * size_of::<u64>() * BURST_PACKETS_MAX <= KEY_ROWS_BYTES_MAX;
        let graph = Builder::new(&cuttable).build(body);
        match graph {
            Some(graph) if graph.order_is_invisible(program) => graph,
            _ => Graph::single(body),
        }
    }

    /// The whole control as one node.
    pub(crate) fn single(body: &'p Body) -> Graph<'p> {
        let node = Node { head: None, code: body.iter().collect(), end: End::Done };
        Graph { nodes: vec![node], order: vec![0], labels: BTreeMap::new() }
    }

    /// Walks over what runs in a node.
    pub(crate) fn walk_node(&self, program: &'p Program, id: NodeId, visit: Visit<'_, 'p>) {
        let (node, walk) = (&self.nodes[id], Walk::new(program, Tables::Inside));
        if let Some(apply) = &node.head {
            walk.results(&program.tables[apply.table], [apply.hit, apply.action], visit);
        }
        for stmt in &node.code {
            walk.stmt(stmt, visit);
        }
        match &node.end {
            End::Done | End::Goto(_) => {}
            End::Branch { cond, .. } => walk.expr(cond, visit),
            End::Switch { value, .. } => walk.expr(value, visit),
            End::Apply { apply, .. } => walk.keys(&program.tables[apply.table], visit),
        }
    }

    /// Whether no state that a packet can see the order of is touched in two nodes. Within one node packets keep their order.
    fn order_is_invisible(&self, program: &'p Program) -> bool {
        let written = state::written_registers(program);
        let mut seen = BTreeSet::new();
        self.order.iter().all(|&id| {
            let mut here = BTreeSet::new();
            if let Some(meter) = self.nodes[id].head.and_then(|apply| program.tables[apply.table].direct_meter.as_ref())
            {
                here.insert(state::Object::DirectMeter(meter.0));
            }
            self.walk_node(program, id, &mut |item| {
                if let Item::Stmt(stmt) = item {
                    here.extend(state::touched(program, stmt, &written));
                }
            });
            here.into_iter().all(|object| seen.insert(object))
        })
    }
}

struct Builder<'p, 'c> {
    cuttable: &'c dyn Fn(TableId) -> bool,
    nodes: Vec<Node<'p>>,
    order: Vec<NodeId>,
    labels: BTreeMap<LabelId, NodeId>,
    current: NodeId,
    label_twice: bool,
}

impl<'p, 'c> Builder<'p, 'c> {
    fn new(cuttable: &'c dyn Fn(TableId) -> bool) -> Self {
        Builder {
            cuttable,
            nodes: Vec::new(),
            order: Vec::new(),
            labels: BTreeMap::new(),
            current: 0,
            label_twice: false,
        }
    }

    /// None if a label names two statements, so that nothing can be said of it.
    fn build(mut self, body: &'p Body) -> Option<Graph<'p>> {
        let first = self.node(None);
        self.start(first);
        self.body(body);
        let reached = self.reached();
        self.order.retain(|id| reached.contains(id));
        (!self.label_twice).then_some(Graph { nodes: self.nodes, order: self.order, labels: self.labels })
    }

    fn node(&mut self, head: Option<Apply<'p>>) -> NodeId {
        self.nodes.push(Node { head, code: Vec::new(), end: End::Done });
        self.nodes.len() - 1
    }

    fn start(&mut self, id: NodeId) {
        self.order.push(id);
        self.current = id;
    }

    /// Ends the current node. What follows in the text without a node of its own cannot be reached.
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

    /// Whether a table in the statement cuts it.
    fn is_cut(&self, stmt: &Stmt) -> bool {
        let any = |body: &Body| body.iter().any(|stmt| self.is_cut(stmt));
        match &stmt.kind {
            StmtKind::ApplyTable { table, .. } => (self.cuttable)(*table),
            StmtKind::If { then_body, else_body, .. } => any(then_body) || any(else_body),
            StmtKind::Switch { cases, default, .. } => any(default) || cases.iter().any(|case| any(&case.body)),
            StmtKind::Block { body, .. } => any(body),
            _ => false,
        }
    }

    /// Nodes that a packet can get to. Edges lead forward in `order`, so that one walk along it finds all.
    fn reached(&self) -> BTreeSet<NodeId> {
        let mut reached: BTreeSet<NodeId> = self.order.first().copied().into_iter().collect();
        for &id in &self.order {
            if !reached.contains(&id) {
                continue;
            }
            match &self.nodes[id].end {
                End::Done => {}
                End::Goto(next) | End::Apply { next, .. } => reached.extend([*next]),
                End::Branch { yes, no, .. } => reached.extend([*yes, *no]),
                End::Switch { cases, default, .. } => {
                    reached.extend(cases.iter().map(|(_, id)| *id));
                    reached.insert(*default);
                }
            }
            self.leaves(&self.nodes[id], &mut reached);
        }
        reached
    }

    /// The nodes that statements and actions inside of a node leave to.
    fn leaves(&self, node: &Node<'p>, reached: &mut BTreeSet<NodeId>) {
        fn visit(labels: &BTreeMap<LabelId, NodeId>, stmt: &Stmt, reached: &mut BTreeSet<NodeId>) {
            let mut each = |body: &Body| body.iter().for_each(|stmt| visit(labels, stmt, reached));
            match &stmt.kind {
                StmtKind::If { then_body, else_body, .. } => {
                    each(then_body);
                    each(else_body);
                }
                StmtKind::Switch { cases, default, .. } => {
                    cases.iter().for_each(|case| each(&case.body));
                    each(default);
                }
                StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => each(body),
                StmtKind::Leave(label) => reached.extend(labels.get(label)),
                _ => {}
            }
        }
        // An action may leave to any label of the block that applies its table; which, only `exit` can be.
        if node.head.is_some() || node.code.iter().any(|stmt| applies_table(stmt)) {
            reached.extend(self.labels.values());
        }
        node.code.iter().for_each(|stmt| visit(&self.labels, stmt, reached));
    }
}

fn applies_table(stmt: &Stmt) -> bool {
    let any = |body: &Body| body.iter().any(applies_table);
    match &stmt.kind {
        StmtKind::ApplyTable { .. } => true,
        StmtKind::If { then_body, else_body, .. } => any(then_body) || any(else_body),
        StmtKind::Switch { cases, default, .. } => any(default) || cases.iter().any(|case| any(&case.body)),
        StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => any(body),
        _ => false,
    }
}
