//! The integration tests of `passes`, one program so that they are linked once.

mod differential;
mod texts;
