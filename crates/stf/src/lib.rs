//! The Simple Test Framework (STF): packet tests of a program, in the form in which the P4 community writes them.
//!
//! What enters: the text of an STF file and a switch that runs the program. What leaves: a [`Report`] of the
//! expectations that were not met, each with its line; and an [`Observation`] of everything that the switch did, so
//! that two switches can be compared.
//!
//! ```text
//! text ──► parse ──► Script ──► run(&mut Switch) ──► Report, Observation
//! ```
//!
//! * [`script`]: the commands of a file.
//! * [`parse`](mod@parse): from text to commands, with `lexer`.
//! * `names`: resolves the names of tables, actions, keys and counters; `values`: evaluates keys and arguments.
//! * [`run`](mod@run): carries out the commands in order, one at a time.
//! * [`compare`]: compares the packets sent with those expected.
//! * [`observation`]: what a switch did, and how two runs differ.
//!
//! Each command completes, with everything that a packet causes (resubmissions, recirculations, clones, replicas),
//! before the next one starts. Time advances only by [`run::PACKET_NS`] per packet and [`run::WAIT_NS`] per `wait`.

pub mod compare;
mod keys;
mod lexer;
mod names;
pub mod observation;
pub mod parse;
pub mod run;
pub mod script;

pub use observation::Observation;
pub use parse::parse;
pub use run::{Failure, Report, RunResult, run, run_watched};
pub use script::{Command, Script, StfError};
