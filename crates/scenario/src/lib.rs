//! Scenarios: files that describe a network, what its hosts do, and what is measured.
//!
//! What enters: the text of a scenario, changes of single values, and the topology file that it may name. What leaves:
//! a [`Scenario`] in which everything is decided, or faults with their places and what would be right; a network of the
//! crate `sim` that runs; its results, plots, and what its checks found. No packet that
//! is not followed passes this crate: `sim` is optimised in full, this crate is not.
//!
//! The modules in reading order:
//! * The crate `scenario_file`: the form of the file.
//! * [`topology`]: generators of topologies, topology files, shortest paths.
//! * [`resolve`]: from the file to a scenario. [`flows`], `loads`: which host sends what to which.
//!   [`workload`]: flows with random sizes and starts. [`flow_list`], [`trace`]: what is read from other files.
//!   [`faults`]: what fails, and when.
//! * [`controller`]: who answers packets and digests of switches.
//! * [`cost`]: what packets cost, if that is measured before the run.
//! * [`build`]: from a scenario to a network that runs; [`stations`]: the settings of its hosts. [`results`]: what was
//!   measured, as text. [`completion`], [`ideal`]: how long flows took, and how long they would take alone.
//!   [`samples`]: what happened over time. [`metrics`]: a run as a list of numbers.
//! * [`report`]: plots, and a page with them.
//! * [`check`]: properties that are checked packet by packet. [`journeys`]: what happens to each packet of a flow.
//! * [`sweep`]: many runs of one scenario.

pub mod build;
pub mod check;
pub mod completion;
pub mod controller;
pub mod cost;
mod device;
mod device_results;
mod drops;
pub mod faults;
pub mod flow_list;
pub mod flows;
pub mod ideal;
pub mod journeys;
mod loads;
pub mod metrics;
pub mod report;
pub mod resolve;
pub mod results;
pub mod samples;
pub mod stations;
pub mod sweep;
pub mod topology;
pub mod trace;
pub mod workload;

pub use build::{Simulation, SwitchMaker, TooManyPackets};
pub use resolve::{FlowKind, FlowPlan, IncastPlan, Scenario, SwitchKind, SwitchPlan};
pub use scenario_file::{Place, ScenarioFault};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod device_tests;
