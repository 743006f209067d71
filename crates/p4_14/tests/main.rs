//! The integration tests of `p4_14`, one program so that they are linked once.

mod accepted;
mod codes;
mod printed;
