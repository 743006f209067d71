//! The integration tests of `ctl`, one program so that they are linked once.

mod hostile;
mod language;
mod render;
mod support;
