//! The integration tests of `sema`, one program so that they are linked once.

mod legal;
mod programs;
mod refused;
