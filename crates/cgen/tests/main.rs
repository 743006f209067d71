//! The integration tests of the code generator, one program so that they are linked once.

mod cache;
mod compile;
mod describe;
mod programs;
mod random_programs;
mod runtime;
mod support;
