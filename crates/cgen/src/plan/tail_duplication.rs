//! Nodes of their own for regions that would share them.
//!
//! What enters: a graph in which a node to which several regions lead belongs to the last of them. Packets that pass
//! by a table must then wait for it like those that ask it, and are taken up again behind it: a table costs packets
//! that have nothing to do with it. What leaves: the same graph with copies of such nodes, one for each region that
//! leads to them, so that packets go on to the next table that they ask, or to the end.
//!
//! Packets that passed by come to a later table before others that did not, though they were received after them. So
//! only nodes are copied from which packets come to no state whose order of use they would see. That depends on where
//! they come from: at the end of ingress a digest is sent if a variable says so, and for packets that met nothing yet
//! that sets it there is none.

use super::graph::{End, Graph, NodeId};
use super::state;
use super::walk::{Item, Tables, walk_block};
use ir::{BlockRole, Expr, ExprKind, Program, RegisterId, Stmt, StmtKind, VarId, VarKind};
use std::collections::{BTreeMap, BTreeSet};

impl<'p> Graph<'p> {
    /// The graph with nodes copied for each region, unless its nodes would then have more statements than that.
    pub(crate) fn with_duplicated_tails(mut self, program: &'p Program, statements_max: usize) -> Graph<'p> {
        let copied = self.without_order(program);
        let present = self.present(&copied);
        let statements = present.iter().flatten().map(|&id| self.statements(program, id)).sum::<usize>();
        if statements > statements_max {
            return self;
        }
        // What regions without a copy lead to is that of the region to which it belongs.
        let mut taken = BTreeSet::new();
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
        let left: BTreeSet<NodeId> = self.regions.iter().enumerate().flat_map(is_left_by).collect();
        let regions: Vec<Vec<(NodeId, NodeId)>> = present
            .iter()
            .zip(&self.regions)
            .map(|(nodes, home)| {
                nodes.iter().map(|&id| (id, own_or_copy(id, home.contains(&id) || left.contains(&id)))).collect()
            })
            .collect();
        // Copies lead where their originals do until all are made.
        for nodes in &regions {
            let own: BTreeMap<NodeId, NodeId> = nodes.iter().copied().collect();
            for id in own.values() {
                self.nodes[*id].lead_to(|target| own.get(&target).copied().unwrap_or(target));
            }
        }
        self.set_regions(regions.iter().map(|nodes| nodes.iter().map(|(_, id)| *id).collect()).collect());
        self
    }

    /// For each region the nodes from which packets that come from there get to nothing whose order of use they would
    /// see.
    fn without_order(&self, program: &'p Program) -> Vec<BTreeSet<NodeId>> {
        let written = state::written_registers(program);
        let mut before = BTreeSet::new();
        let parser = program.architecture.first(BlockRole::Parser).map(|parser| &program.blocks[parser]);
        if let Some(parser) = parser {
            walk_block(program, parser, Tables::Inside, &mut |item| before.extend(variable(&item)));
        }
        let of_region = |region: &Vec<NodeId>| {
            region.iter().for_each(|&id| self.meet(program, id, &mut before));
            let mut met = before.clone();
            self.without_tables(region).into_iter().for_each(|id| self.meet(program, id, &mut met));
            let zeros = Zeros { program, written: &written, met: &met };
            let mut without = BTreeSet::new();
            for &id in self.regions.iter().flatten().rev() {
                let leads_to_none =
                    self.nodes[id].targets().iter().all(|next| without.contains(next) || self.is_end(*next));
                if leads_to_none && !self.touches(id, &zeros) {
                    without.insert(id);
                }
            }
            without
        };
        self.regions.iter().map(of_region).collect()
    }

    /// The nodes to which a region leads without a table between.
    fn without_tables(&self, region: &[NodeId]) -> BTreeSet<NodeId> {
        let mut reached = BTreeSet::new();
        let mut pending = region.to_vec();
        while let Some(id) = pending.pop() {
            if reached.insert(id) {
                pending.extend(self.nodes[id].targets().into_iter().filter(|next| self.nodes[*next].head.is_none()));
            }
        }
        reached
    }

    /// Adds the variables that a node mentions, but for those that it only asks whether to do something.
    fn meet(&self, program: &'p Program, id: NodeId, met: &mut BTreeSet<VarId>) {
        let asked: Vec<VarId> = self.nodes[id].code.iter().filter_map(|stmt| asked(stmt)).collect();
        let mut count: BTreeMap<VarId, usize> = BTreeMap::new();
        self.walk_node(program, id, &mut |item| {
            if let Some(var) = variable(&item) {
                *count.entry(var).or_default() += 1;
            }
        });
        let only_asked = |var: VarId, times: usize| asked.iter().filter(|it| **it == var).count() == times;
        met.extend(count.into_iter().filter(|&(var, times)| !only_asked(var, times)).map(|(var, _)| var));
    }

    /// Whether a node touches state whose order of use is seen, if some variables are zero.
    fn touches(&self, id: NodeId, zeros: &Zeros<'_>) -> bool {
        let node = &self.nodes[id];
        let is_guarded = node.head.is_none() && !matches!(node.end, End::Apply { .. });
        let touched = || self.touched(zeros.program, &[id], zeros.written);
        !touched().is_empty() && (!is_guarded || node.code.iter().any(|stmt| zeros.touches(stmt)))
    }

    /// The nodes of each region in order, of those that may be copied all to which it leads without a table between.
    fn present(&self, copied: &[BTreeSet<NodeId>]) -> Vec<Vec<NodeId>> {
        let order: Vec<NodeId> = self.regions.iter().flatten().copied().collect();
        let begins = |region: &[NodeId], id: NodeId| region.first() == Some(&id);
        let of_region = |(number, region): (usize, &Vec<NodeId>)| {
            // All regions that lead to one of these have their own.
            let is_left = |id: NodeId| copied[..number].iter().all(|copied| copied.contains(&id));
            let mut reached: BTreeSet<NodeId> =
                region.iter().copied().filter(|&id| begins(region, id) || !is_left(id)).collect();
            let mut present = Vec::new();
            for &id in &order {
                if reached.contains(&id) {
                    present.push(id);
                    let is_own = |next: &NodeId| {
                        self.nodes[*next].head.is_none() && (copied[number].contains(next) || region.contains(next))
                    };
                    reached.extend(self.nodes[id].targets().into_iter().filter(is_own));
                }
            }
            present
        };
        self.regions.iter().enumerate().map(of_region).collect()
    }

    fn statements(&self, program: &'p Program, id: NodeId) -> usize {
        let mut count = 0;
        self.walk_node(program, id, &mut |item| count += usize::from(matches!(item, Item::Stmt(_))));
        count
    }
}

/// The variable of a statement that does one thing or another, by its value.
fn asked(stmt: &Stmt) -> Option<VarId> {
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

/// What is known of packets that have met some variables: the program's other own ones are still zero.
struct Zeros<'a> {
    program: &'a Program,
    written: &'a BTreeSet<RegisterId>,
    met: &'a BTreeSet<VarId>,
}

impl Zeros<'_> {
    /// Whether a statement can touch state whose order of use is seen.
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
