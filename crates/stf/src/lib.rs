//! The Simple Test Framework: a program's packet tests, as the P4 community writes them.
//!
//! What enters: the text of an STF file and a switch that runs the program. What leaves: a [`Report`]: what was
//! expected and did not happen, each with its line; and an [`Observation`]: everything that the switch did, so that two
//! switches can be compared.
//!
//! ```text
//! text ──► parse ──► Script ──► run(&mut Switch) ──► Report, Observation
//! ```
//!
//! * [`script`]: the commands of a file.
//! * [`parse`](mod@parse): text to commands, with `lexer`.
//! * `names`: what tables, actions, keys and counters are called; `values`: what keys and arguments are worth.
//! * [`run`](mod@run): carries the commands out, strictly one after the other.
//! * [`compare`]: what was sent against what was expected.
//! * [`observation`]: what a switch did, and how two runs differ.
//!
//! Every command runs to its end, with everything that a packet causes (resubmissions, recirculations, clones,
//! replicas), before the next one starts. Time stands still but for [`run::PACKET_NS`] per packet and [`run::WAIT_NS`]
//! per `wait`.

pub mod compare;
mod lexer;
mod names;
pub mod observation;
pub mod parse;
pub mod run;
pub mod script;
mod values;

pub use observation::Observation;
pub use parse::parse;
pub use run::{Failure, Outcome, Report, run, run_watched};
pub use script::{Command, Script, StfError};
