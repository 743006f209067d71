//! Runners of text tests, generators of programs and packets

pub mod netns;
pub mod plain_host;
pub mod random_ir;
