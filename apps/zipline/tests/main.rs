//! The integration tests of `zipline`, one program so that they are linked once.

mod never_a_wrong_byte;
mod programs;
