//! Random input for all stages of the project.
//!
//! What enters: a seed. What leaves: success, or an error. A body is a function of a random generator, so that a seed
//! alone reproduces a run. The generators of valid programs and packets are in `testkit`.
//!
//! * [`bodies`]: the input that each generates, and the property that must hold.
//! * [`run`]: runs a body on one seed after the other, and reports the seed that fails.
//! * [`mutate`]: text that is almost valid; [`mutants`]: programs that are almost valid.
//! * [`reduce`](mod@crate::reduce): reduces a failing text.
//!
//! `cargo xtask fuzz` runs the bodies for any length of time, the tests of this crate run each briefly.

pub mod bodies;
pub mod mutants;
pub mod mutate;
pub mod reduce;
pub mod run;

pub use bodies::{BODIES, Body};
