//! What the tests share.

pub mod network;
