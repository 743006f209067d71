//! The form of the files that describe a simulation.
//!
//! What enters: the text of a scenario, and changes of single values. What leaves: its sections as they were written,
//! or an error with its place. What sections mean together is decided in the crate `scenario`. This one is long to
//! optimise, and no packet waits for it.
//!
//! * [`sources`]: the texts, and places in them. [`read()`]: from the texts to the sections.
//! * [`sections`]: the file and most of its sections. [`loads`]: those that make many flows. [`device`]: queues, ports,
//!   buffer and pipeline of a switch. [`controller`]: who answers packets and digests of switches.
//! * [`values`]: times, rates, probabilities, and names of nodes.

pub mod controller;
pub mod device;
pub mod loads;
mod read;
pub mod sections;
pub mod sources;
pub mod values;

pub use read::read;
pub use sections::ScenarioFile;
pub use sources::{Place, ScenarioFault, Sources};
