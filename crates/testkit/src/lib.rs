//! Runners of text tests, and generators of programs and packets.
//!
//! * [`pipeline`]: from P4 text to a switch.
//! * [`corpus`]: the programs in `tests`, and their execution modes.
//! * [`random_ir`], [`outline`], [`plain_host`]: random IR programs with entries and packets, with or without
//!   routines, and a host for the interpreter.
//! * [`random_p4`], [`random_p4_14`], [`random_stacks`], [`random_tunnels`]: random P4 programs as text;
//!   [`calculation`], [`model`]: random programs with known results.
//! * [`differential`]: differential testing on random input.
//! * [`low_ir`]: an interpreter of the low IR.
//! * [`netns`]: live tests in network namespaces.
//! * [`skip`]: reports a test that cannot run on this machine.

pub mod calculation;
pub mod corpus;
pub mod differential;
mod lines;
pub mod low_ir;
pub mod model;
pub mod netns;
pub mod outline;
pub mod pipeline;
pub mod plain_host;
pub mod random_ir;
pub mod random_p4;
pub mod random_p4_14;
pub mod random_stacks;
pub mod random_tunnels;

pub use skipped::skip;
