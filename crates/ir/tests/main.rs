//! The integration tests of `ir`, one program so that they are linked once.

mod text;
mod verify;
