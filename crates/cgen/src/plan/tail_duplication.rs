//! Tail duplication: copies of nodes for batch stages that would share them.
//!
//! What enters: a graph in which a node to which several stages lead belongs to the last of them. Packets that skip a
//! table are then delayed by it like those that are looked up in it: a table costs packets that do not use it. What
//! leaves: the same graph with copies of such nodes, one for each stage that leads to them, so that packets continue to
//! the next table that they are looked up in, or to the end.
//!
//! Packets that skip a table reach a later one before others that were received earlier. So only nodes are copied from
//! which packets reach no state of observable order. That depends on where they come from: at the end of ingress a
//! digest is sent if a variable requests it, and packets that have not reached a statement that sets the variable send
//! none.

use super::graph::{End, Graph, NodeId};
use super::state;
use super::walk::{Item, Tables, walk_block};
use base::{OrderedMap, OrderedSet};
use ir::{BlockRole, Expr, ExprKind, Program, RegisterId, Stmt, StmtKind, VarId, VarKind};

impl<'p> Graph<'p> {
    /// The graph with nodes copied for each stage, unless its nodes would then have more than `statements_max`
    /// statements.
    pub(crate) fn with_duplicated_tails(mut self, program: &'p Program, statements_max: usize) -> Graph<'p> {
        let copied = self.without_order(program);
        let present = self.present(&copied);
        let statements = present.iter().flatten().map(|&id| self.statements(program, id)).sum::<usize>();
        if statements > statements_max {
            return self;
        }
        // Stages without a copy lead to the node of the stage to which it belongs.
        let mut taken = OrderedSet::new();
        let mut own_or_copy = |id: NodeId, is_own: bool| match is_own && taken.insert(id) {
            true => id,
            false => {
                self.nodes.push(self.nodes[id].clone());
                self.nodes.len() - 1
            }
        };
        let is_left_by = |(number, home): (usize, &Vec<NodeId>)| {
            let is_left = |id: &&NodeId| copied[..number].iter().all(|copied| copied.contains(*id));
            home.iter().filter(is_left).copied().collect::<Vec<_>>()
        };
        let left: OrderedSet<NodeId> = self.stages.iter().enumerate().flat_map(is_left_by).collect();
        let stages: Vec<Vec<(NodeId, NodeId)>> = present
            .iter()
            .zip(&self.stages)
            .map(|(nodes, home)| {
                nodes.iter().map(|&id| (id, own_or_copy(id, home.contains(&id) || left.contains(&id)))).collect()
            })
            .collect();
        // Until all copies are made, they lead where their originals do.
        for nodes in &stages {
            let own: OrderedMap<NodeId, NodeId> = nodes.iter().copied().collect();
            for id in own.values() {
                self.nodes[*id].lead_to(|target| own.get(&target).copied().unwrap_or(target));
            }
        }
        self.set_stages(stages.iter().map(|nodes| nodes.iter().map(|(_, id)| *id).collect()).collect());
        self
    }

    /// For each stage, the nodes from which packets of that stage reach no state of observable order.
    fn without_order(&self, program: &'p Program) -> Vec<OrderedSet<NodeId>> {
        let written = state::written_registers(program);
        let mut before = OrderedSet::new();
        let parser = program.architecture.first(BlockRole::Parser).map(|parser| &program.blocks[parser]);
        if let Some(parser) = parser {
            walk_block(program, parser, Tables::Inside, &mut |item| before.extend(variable(&item)));
        }
        let of_stage = |stage: &Vec<NodeId>| {
            stage.iter().for_each(|&id| self.meet(program, id, &mut before));
            let mut met = before.clone();
            self.without_tables(stage).into_iter().for_each(|id| self.meet(program, id, &mut met));
            let zeros = Zeros { program, written: &written, met: &met };
            let mut without = OrderedSet::new();
            for &id in self.stages.iter().flatten().rev() {
                let leads_to_none =
                    self.nodes[id].targets().iter().all(|next| without.contains(next) || self.is_end(*next));
                if leads_to_none && !self.touches(id, &zeros) {
                    without.insert(id);
                }
            }
            without
        };
        self.stages.iter().map(of_stage).collect()
    }

    /// The nodes that are reachable from a stage without a table between.
    fn without_tables(&self, stage: &[NodeId]) -> OrderedSet<NodeId> {
        let mut reached = OrderedSet::new();
        let mut pending = stage.to_vec();
        while let Some(id) = pending.pop() {
            if reached.insert(id) {
                pending.extend(self.nodes[id].targets().into_iter().filter(|next| self.nodes[*next].head.is_none()));
            }
        }
        reached
    }

    /// Adds the variables that a node mentions, except those that it only tests to choose a branch.
    fn meet(&self, program: &'p Program, id: NodeId, met: &mut OrderedSet<VarId>) {
        let tested: Vec<VarId> = self.nodes[id].code.iter().filter_map(|stmt| tested(stmt)).collect();
        let mut count: OrderedMap<VarId, usize> = OrderedMap::new();
        self.walk_node(program, id, &mut |item| {
            if let Some(var) = variable(&item) {
                *count.entry(var).or_default() += 1;
            }
        });
        let only_tested = |var: VarId, times: usize| tested.iter().filter(|it| **it == var).count() == times;
        met.extend(count.into_iter().filter(|&(var, times)| !only_tested(var, times)).map(|(var, _)| var));
    }

    /// Whether a node touches state of observable order, given that some variables are zero.
    fn touches(&self, id: NodeId, zeros: &Zeros<'_>) -> bool {
        let node = &self.nodes[id];
        let is_guarded = node.head.is_none() && !matches!(node.end, End::Apply { .. });
        let touched = || self.touched(zeros.program, &[id], zeros.written);
        !touched().is_empty() && (!is_guarded || node.code.iter().any(|stmt| zeros.touches(stmt)))
    }

    /// The nodes of each stage in order: those that may be copied if they are reachable from the stage without a table
    /// between.
    fn present(&self, copied: &[OrderedSet<NodeId>]) -> Vec<Vec<NodeId>> {
        let order: Vec<NodeId> = self.stages.iter().flatten().copied().collect();
        let begins = |stage: &[NodeId], id: NodeId| stage.first() == Some(&id);
        let of_stage = |(number, stage): (usize, &Vec<NodeId>)| {
            // All stages that lead to one of these have a copy.
            let is_left = |id: NodeId| copied[..number].iter().all(|copied| copied.contains(&id));
            let mut reached: OrderedSet<NodeId> =
                stage.iter().copied().filter(|&id| begins(stage, id) || !is_left(id)).collect();
            let mut present = Vec::new();
            for &id in &order {
                if reached.contains(&id) {
                    present.push(id);
                    let is_own = |next: &NodeId| {
                        self.nodes[*next].head.is_none() && (copied[number].contains(next) || stage.contains(next))
                    };
                    reached.extend(self.nodes[id].targets().into_iter().filter(is_own));
                }
            }
            present
        };
        self.stages.iter().enumerate().map(of_stage).collect()
    }

    /// The statements of a node, those of its table's actions included.
    pub(crate) fn statements(&self, program: &'p Program, id: NodeId) -> usize {
        let mut count = 0;
        self.walk_node(program, id, &mut |item| count += usize::from(matches!(item, Item::Stmt(_))));
        count
    }
}

/// The variable whose value a statement tests to choose a branch.
fn tested(stmt: &Stmt) -> Option<VarId> {
    match &stmt.kind {
        StmtKind::Switch { value: Expr { kind: ExprKind::Var(var), .. }, .. } => Some(*var),
        _ => None,
    }
}

/// The variable that is mentioned.
fn variable(item: &Item<'_>) -> Option<VarId> {
    match item {
        Item::Var(var) => Some(*var),
        _ => None,
    }
}

/// What is known about packets that have reached statements with some variables: the program's other local variables
/// are still zero.
struct Zeros<'a> {
    program: &'a Program,
    written: &'a OrderedSet<RegisterId>,
    met: &'a OrderedSet<VarId>,
}

impl Zeros<'_> {
    /// Whether a statement can touch state of observable order.
    fn touches(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Switch { value, cases, default } if self.is_zero(value) => {
                let case = cases.iter().find(|case| case.values.iter().any(base::Bits::is_zero));
                case.map_or(default, |case| &case.body).iter().any(|stmt| self.touches(stmt))
            }
            StmtKind::Block { body, .. } => body.iter().any(|stmt| self.touches(stmt)),
            StmtKind::If { then_body, else_body, .. } => {
                then_body.iter().chain(else_body).any(|stmt| self.touches(stmt))
            }
            StmtKind::Switch { cases, default, .. } => {
                cases.iter().flat_map(|case| &case.body).chain(default).any(|stmt| self.touches(stmt))
            }
            _ => {
                let mut found = false;
                super::walk::Walk::new(self.program, Tables::Inside).stmts([stmt], &mut |item| {
                    if let Item::Stmt(stmt) = item {
                        found |= state::touched(self.program, stmt, self.written).is_some();
                    }
                });
                found
            }
        }
    }

    fn is_zero(&self, value: &Expr) -> bool {
        let ExprKind::Var(var) = &value.kind else { return false };
        !self.met.contains(var) && self.program.vars[*var].kind == VarKind::Local
    }
}
