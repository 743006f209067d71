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

use super::liveness::for_each_stage;
use crate::Unit;

/// Runs the pass.
pub(super) fn run(unit: &mut Unit) {
    for_each_stage(
        unit,
        |flow, stage| flow.without_dead_stores(stage),
        |stage, bodies| stage.nodes.iter_mut().zip(bodies).for_each(|(node, body)| node.body = body),
    );
}
