//! Runners of text tests, generators of programs and packets.
//!
//! * [`pipeline`]: P4 text to a switch.
//! * [`stf`]: packet tests in the Simple Test Framework's form.
//! * [`random_ir`], [`plain_host`]: random programs with their entries and packets, and a host for the interpreter.
//! * [`netns`]: live tests in network namespaces.

pub mod netns;
pub mod pipeline;
pub mod plain_host;
pub mod random_ir;
pub mod stf;
