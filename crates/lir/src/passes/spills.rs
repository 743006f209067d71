//! What is stored at the end of each stage: of the state that the stage has written, that which is live in its saved
//! place afterwards.
//!
//! ```text
//! stage by burst spills valid0 v2_port {      stage by burst spills valid0 {
//!   node 0 {                                    node 0 {
//!     valid0 |= 1L                                valid0 |= 1L
//!     ask 4 row row_1 { ... }                     ask 4 row row_1 { ... }
//! ```
//!
//! Live is what a later stage reads before it writes it, and what others read when a packet is punted or has left.

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
        let spills = flow.spilled();
        later.extend(entries);
        unit.stages[number].spills = spills;
    }
}
