//! What the tests share.

pub mod kernel;
pub mod line;
pub mod network;
pub mod script;
