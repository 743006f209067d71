//! From the IR to native code.
//!
//! What enters: an [`ir::Program`]. What leaves: C text, and a loaded shared object whose functions run a block of the program
//! over a burst of packets.
//!
//! * [`abi`]: the layouts shared with generated code (`runtime/c/wirespeed.h`).
//! * [`plan`]: where everything lives, and what may run together.

pub mod abi;
pub mod plan;

pub use plan::{AssertSite, LogSite, Plan, PlanError, TablePlan, VarSlot};
