//! Random input thrown at the project's stages.
//!
//! What enters: a seed. What leaves: nothing, or what went wrong. A body is a function from a random generator to a
//! verdict, so that a run is reproduced by its seed alone; the generators of valid programs and packets are
//! `testkit`'s.
//!
//! * [`bodies`]: what is thrown, and what must hold.
//! * [`run`]: runs a body on seed after seed, and tells the seed that fails.
//! * [`mutate`]: text that is almost right; [`mutants`]: programs that are almost right.
//! * [`reduce`](mod@crate::reduce): from a text that fails to a small one.
//!
//! `cargo xtask fuzz` runs the bodies for as long as one likes, the tests of this crate run each for a moment.

pub mod bodies;
pub mod mutants;
pub mod mutate;
pub mod reduce;
pub mod run;

pub use bodies::{BODIES, Body};
