//! What the tests share.

pub mod network;
pub mod script;
