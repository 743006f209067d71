//! The P4Runtime server: controllers write, read and watch a switch over gRPC, and load programs.
//!
//! What enters: the control plane of a switch ([`control::Api`]), a compiler from programs to switches
//! ([`Compiler`]), and from the worker that forwards, packets and digests for controllers ([`Feed`]). What leaves:
//! answers. This crate alone knows of tokio and tonic; the worker's thread never waits for it.
//!
//! Without sockets, and tested without them:
//! * [`schema`]: the meaning of ids; `value`, `matches`, `data`: values in messages; `translator`: names for values.
//! * `from_proto`, `query`, `to_proto`: updates, queries, results; `answer`: sends results.
//! * `arbitration`, `digest_lists`, `idle`, `packet_io`, `status`, `device_config`, `agreement`: one rule of the
//!   specification each.
//! * `program_entries`: the entries of a program as a request.
//!
//! With them:
//! * `pipelines`: the running program, and one that is prepared beside it; `reconcile`, `carry`: the state that the
//!   next one takes over; `kept`: notes for a restart.
//! * `commands`: lines of `simple_switch_CLI`; `inspect`: snapshots, and packets as they arrive. `service`: the
//!   requests; `turns`: which of them waits for which; `collect`: reads; `write`: updates one by one;
//!   `stream`: a controller's stream; `outbox`: its queue.
//! * [`feed`]: from the worker to the streams; `digest_filter`: digests that need not be sent again. [`server`]:
//!   addresses, certificates; `connections`, `admission`, `memory`: limits.

#![allow(
    deprecated,
    reason = "older controllers speak of ports, roles and metadata in older ways, which are understood"
)]

mod admission;
mod agreement;
mod answer;
mod arbitration;
mod carry;
mod collect;
mod commands;
mod connections;
mod data;
mod device_config;
mod digest_filter;
mod digest_lists;
mod error_text;
pub mod feed;
mod from_proto;
mod idle;
mod inspect;
mod kept;
mod matches;
mod memory;
mod outbox;
mod packet_io;
mod pipelines;
mod ports;
mod program_entries;
mod query;
mod reconcile;
mod role_config;
pub mod schema;
pub mod server;
mod service;
mod services;
mod shares;
mod status;
mod stream;
mod tasks;
#[cfg(test)]
mod tests;
mod to_proto;
mod translator;
mod turns;
mod value;
mod watchers;
mod write;

pub use error_text::ErrorText;
pub use feed::Feed;
pub use kept::{program_name, read_kept};
pub use pipelines::{CompileDeadline, Compiled, Compiler, Started};
pub use ports::Ports;
pub use program_entries::{WRITE_REQUEST, program_entries};
pub use server::{Options, Server, StartError, Tls};
