//! Runners of text tests, generators of programs and packets.
//!
//! * [`pipeline`]: P4 text to a switch.
//! * [`corpus`]: the programs in `tests`, and how they are run.
//! * [`random_ir`], [`outline`], [`plain_host`]: random programs with their entries and packets, with routines or
//!   without, and a host for the interpreter.
//! * [`random_p4`], [`random_p4_14`], [`random_stacks`]: random P4 programs as text; [`calculation`], [`model`]: such
//!   whose results are known.
//! * [`differential`]: two ways of doing the same, compared on random input.
//! * [`netns`]: live tests in network namespaces.
//! * [`skip`]: what a test calls that cannot run on this machine.

pub mod calculation;
pub mod corpus;
pub mod differential;
mod lines;
pub mod model;
pub mod netns;
pub mod outline;
pub mod pipeline;
pub mod plain_host;
pub mod random_ir;
pub mod random_p4;
pub mod random_p4_14;
pub mod random_stacks;

pub use skipped::skip;
