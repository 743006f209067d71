//! The integration tests of `p4info`, one program so that they are linked once.

mod corpus;
mod model;
