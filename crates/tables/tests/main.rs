//! The integration tests of `tables`, one program so that they are linked once.

mod concurrent;
mod differential;
mod million;
mod refusals;
mod support;
mod transactions;
mod trees;
