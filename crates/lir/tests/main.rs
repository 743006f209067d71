//! The integration tests of `lir`, one program so that they are linked once.

mod passes;
mod text;
mod verify;
