//! The integration tests of `syntax`, one program so that they are linked once.

mod codes;
mod common;
mod hostile;
mod round_trip;
mod trees;
