//! What the tests share.

pub mod line;
pub mod network;
pub mod script;
