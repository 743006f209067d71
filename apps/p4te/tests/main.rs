//! The integration tests of `p4te`, one program so that they are linked once.

mod frames;
mod leaf;
mod monitoring;
mod paths;
mod switches;
