//! Removes stores to state that is not live: to variables, and to saved places that no later stage reads.
//!
//! ```text
//! saved(h1_arp) = bytes + 14L      (nothing: every stage that uses the header knows where it lies)
//! v3_instance_type = 0L            (nothing)
//! v2_port = v1_spec                v2_port = v1_spec
//! end u32(v2_port)                 end u32(v2_port)
//! ```
//!
//! A value that the switch core computes, such as a random number, is computed in any case. In a unit whose state is in
//! the packet's context, where others read it, nothing is removed.

use super::liveness::{AtEntries, Flow, keeps_all};
use crate::Unit;

/// Runs the pass.
pub(super) fn run(unit: &mut Unit) {
    if keeps_all(unit) {
        return;
    }
    let mut later = AtEntries::new();
    for number in (0..unit.stages.len()).rev() {
        let stage = &unit.stages[number];
        let mut flow = Flow::new(unit, number, &later);
        flow.analyse(stage);
        let entries: Vec<_> = stage.entries.iter().map(|entry| (entry.node, flow.at_entry(entry))).collect();
        let bodies = flow.without_dead_stores(stage);
        later.extend(entries);
        for (node, body) in unit.stages[number].nodes.iter_mut().zip(bodies) {
            node.body = body;
        }
    }
}
