//! Runners of text tests, generators of programs and packets

pub mod netns;
