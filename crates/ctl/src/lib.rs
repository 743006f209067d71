//! `wirespeed ctl`: a language for what people ask of a running switch, on P4Runtime.
//!
//! What enters: lines of text, and the P4Info of the program that a switch runs. What leaves: requests of P4Runtime,
//! and answers as text or JSON. Nothing here knows a terminal or a file.
//!
//! Without input or output, and tested without them:
//! * [`words`], [`language`]: a line becomes a [`Plan`].
//! * [`schema`], [`value`], [`key`], [`data`]: names, values, keys and structs between text and P4Runtime.
//! * [`render`]: entities and messages as text, JSON and commands; [`grid`]: columns.
//! * [`mod@complete`]: what may come next in a line.
//!
//! With a switch at the other end:
//! * [`session`]: who is primary, requests; `way`, `plain`: the connection. [`failure`]: what may go wrong.
//! * [`engine`]: plans carried out.

pub mod complete;
pub mod data;
pub mod engine;
pub mod failure;
pub mod grid;
pub mod key;
pub mod language;
mod plain;
pub mod plan;
pub mod render;
pub mod schema;
pub mod session;
pub mod value;
mod way;
pub mod words;

pub use complete::complete;
pub use failure::Failure;
pub use language::parse;
pub use plan::Plan;
pub use schema::Schema;
pub use session::{Options, Session, Tls};
