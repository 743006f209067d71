//! What is stored at the end of each stage: of the state that the stage has written, that which is live in its saved
//! place afterwards.
//!
//! ```text
//! stage by burst spills valid0 v2_port {      stage by burst spills valid0 {
//!   node 0 {                                    node 0 {
//!     valid0 |= 1L                                valid0 |= 1L
//!     look_up 4 row row_1 { ... }                 look_up 4 row row_1 { ... }
//! ```
//!
//! Live is what a later stage reads before it writes it, and what others read when a packet is punted or has left.

use super::liveness::for_each_stage;
use crate::Unit;

/// Runs the pass.
pub(super) fn run(unit: &mut Unit) {
    for_each_stage(unit, |flow, _| flow.spilled(), |stage, spills| stage.spills = spills);
}
