//! `wirespeed ctl`: a command language for a running switch, on top of P4Runtime.
//!
//! What enters: lines of text, and the P4Info of the program that a switch runs. What leaves: P4Runtime requests, and
//! responses as text or JSON. The crate does not depend on a terminal or on files.
//!
//! Without input and output, and tested without them:
//! * [`words`], [`language`]: a line becomes a [`Plan`].
//! * [`schema`], [`value`], [`key`], [`data`]: names, values, keys and structs between text and P4Runtime.
//! * [`render`]: entities and messages as text, JSON and commands; [`grid`]: columns.
//! * [`complete`](mod@complete): completion.
//!
//! With a connection to a switch:
//! * [`session`]: requests and arbitration; `connection`, `plain`: the connection; [`failure`]: errors.
//! * [`engine`]: executes plans.

pub mod complete;
mod connection;
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
pub mod words;

pub use complete::complete;
pub use failure::{Failure, RefusedUpdate};
pub use language::parse;
pub use plan::Plan;
pub use schema::Schema;
pub use session::{Options, Session, Tls};
