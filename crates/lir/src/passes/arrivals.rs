//! How each stage finds its packets, and whether all of them end in it.
//!
//! ```text
//! stage by masks {                 stage by list ends {
//!   entry 3 { }                      entry 3 { }
//!   node 3 found table0 {            node 3 found table0 {
//!     end u32(v1_port)                 end u32(v1_port)
//! ```
//!
//! A table that is the only entrance of its stage passes its packets in a list, in the order in which their keys were
//! written. Where every stage so far passes all of its packets to the next, the list is the whole burst, and none is
//! needed.

use crate::{Arrival, NodeId, Stage, Stmt, Unit, walk};
use base::OrderedSet;

/// How packets leave a stage.
struct Exits {
    /// The nodes of later stages that they go to.
    next: OrderedSet<NodeId>,
    /// Whether a packet may end with a verdict.
    ends: bool,
    /// Whether a packet may reach the end of its block.
    leaves: bool,
}

impl Exits {
    fn of(stage: &Stage) -> Exits {
        let mut exits = Exits { next: OrderedSet::new(), ends: false, leaves: false };
        for node in &stage.nodes {
            walk::stmts(&node.body, &mut |stmt| match stmt {
                Stmt::Pass(next) | Stmt::LookUp { node: next, .. } => _ = exits.next.insert(*next),
                Stmt::End(_) | Stmt::Punt(_) => exits.ends = true,
                Stmt::Leave => exits.leaves = true,
                _ => {}
            });
        }
        exits
    }

    /// The one node that all packets go to.
    fn only_next(&self) -> Option<NodeId> {
        match self.next.iter().collect::<Vec<_>>()[..] {
            [&next] if !self.ends && !self.leaves => Some(next),
            _ => None,
        }
    }
}

/// Runs the pass.
pub(super) fn run(unit: &mut Unit) {
    // The node that all packets of the burst have reached.
    let mut all_at: Option<NodeId> = None;
    for (number, stage) in unit.stages.iter_mut().enumerate() {
        let exits = Exits::of(stage);
        stage.ends_all = exits.ends && !exits.leaves && exits.next.is_empty();
        let listed = match &stage.entries[..] {
            [entry] => stage.nodes.iter().find(|node| node.id == entry.node && node.found.is_some()),
            _ => None,
        };
        stage.arrival = match listed {
            _ if number == 0 => Arrival::Burst,
            None => Arrival::Masks,
            Some(node) if all_at == Some(node.id) => Arrival::WholeBurst,
            Some(_) => Arrival::List,
        };
        let is_whole = matches!(stage.arrival, Arrival::Burst | Arrival::WholeBurst);
        all_at = exits.only_next().filter(|_| is_whole);
    }
}
