//! P4TE outside of the data plane: the local controller of a switch.
//!
//! What enters: the place of a switch in its network, reports of its program. What leaves: orders for its tables. There
//! is no clock and no connection: whoever drives the controller brings reports and carries orders out.
//! docs/design/p4te.md has the reasons.
//!
//! * [`settings`]: the parameters of section 6.1 of the paper. [`set_up`](mod@set_up): what is ordered first.
//! * [`command`]: the same as a program that speaks P4Runtime. [`simulated`]: the same in the simulator.
//! * [`report`]: what the program reports. [`priorities`]: algorithm 3.

#[cfg(feature = "command")]
pub mod command;
pub mod priorities;
pub mod report;
pub mod set_up;
pub mod settings;
#[cfg(feature = "simulated")]
pub mod simulated;

pub use priorities::Priorities;
pub use report::Report;
pub use set_up::set_up;
pub use settings::{Measures, Settings};
