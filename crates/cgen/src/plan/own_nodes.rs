//! Nodes of their own for regions that would share them.
//!
//! What enters: a graph in which a node to which several regions lead belongs to the last of them. Packets that pass
//! by a table must then wait for it like those that ask it, and are taken up again behind it: a table costs packets
//! that have nothing to do with it. What leaves: the same graph with copies of such nodes, one for each region that
//! leads to them, so that packets go on to the next table that they ask, or to the end.
//!
//! Packets that passed by come to a later table before others that did not, though they were received after them. So
//! only nodes are copied from which packets come to no state whose order of use they would see.

use super::graph::{Graph, NodeId};
use super::state;
use super::walk::Item;
use ir::Program;
use std::collections::{BTreeMap, BTreeSet};

impl<'p> Graph<'p> {
    /// The graph with nodes copied for each region, unless its nodes would then have more statements than that.
    pub(crate) fn with_own_nodes(mut self, program: &'p Program, statements_max: usize) -> Graph<'p> {
        let present = self.present(&self.without_order(program));
        let statements = present.iter().flatten().map(|&id| self.statements(program, id)).sum::<usize>();
        if statements > statements_max {
            return self;
        }
        let mut taken = BTreeSet::new();
        let mut own_or_copy = |id: NodeId| match taken.insert(id) {
            true => id,
            false => {
                self.nodes.push(self.nodes[id].clone());
                self.nodes.len() - 1
            }
        };
        let regions: Vec<Vec<(NodeId, NodeId)>> =
            present.iter().map(|nodes| nodes.iter().map(|&id| (id, own_or_copy(id))).collect()).collect();
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

    /// Nodes from which packets come to nothing whose order of use they would see.
    fn without_order(&self, program: &'p Program) -> BTreeSet<NodeId> {
        let written = state::written_registers(program);
        let mut without = BTreeSet::new();
        for &id in self.regions.iter().flatten().rev() {
            let leads_to_none =
                self.nodes[id].targets().iter().all(|next| without.contains(next) || self.is_end(*next));
            if leads_to_none && self.touched(program, &[id], &written).is_empty() {
                without.insert(id);
            }
        }
        without
    }

    /// The nodes of each region in order, of those in `copied` all to which it leads without a table between.
    fn present(&self, copied: &BTreeSet<NodeId>) -> Vec<Vec<NodeId>> {
        let order: Vec<NodeId> = self.regions.iter().flatten().copied().collect();
        let begins = |region: &[NodeId], id: NodeId| region.first() == Some(&id);
        let of_region = |region: &Vec<NodeId>| {
            let mut reached: BTreeSet<NodeId> =
                region.iter().copied().filter(|&id| begins(region, id) || !copied.contains(&id)).collect();
            let mut present = Vec::new();
            for &id in &order {
                if reached.contains(&id) {
                    present.push(id);
                    let is_copied = |next: &NodeId| copied.contains(next) && self.nodes[*next].head.is_none();
                    reached.extend(self.nodes[id].targets().into_iter().filter(is_copied));
                }
            }
            present
        };
        self.regions.iter().map(of_region).collect()
    }

    fn statements(&self, program: &'p Program, id: NodeId) -> usize {
        let mut count = 0;
        self.walk_node(program, id, &mut |item| count += usize::from(matches!(item, Item::Stmt(_))));
        count
    }
}
