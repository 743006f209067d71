//! The integration tests of `control`, one program so that they are linked once.

mod apps;
mod kill;
