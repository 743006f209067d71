//! A TCP endpoint as a state machine: no I/O, no clock, no thread, and no allocation per segment in steady state.
//!
//! What enters: the time, segments, and an application's calls. What leaves: segments, events, and the time of the next
//! call. Payload is synthetic: an application writes a number of bytes, whose contents follow from their position
//! ([`payload`]).
//!
//! A host drives each [`Connection`] so:
//!
//! ```text
//! a packet arrives       wire::parse, find the connection of its addresses and ports, on_segment(now, &segment)
//! next_timeout() passes  on_timer(now)
//! the application acts   write(bytes), read(bytes), close(), abort()
//! after each of these    while let Some(segment) = poll_transmit(now): wire::emit and send
//!                        while let Some(event) = poll_event(): notify the application
//!                        set the host's timer to next_timeout()
//! ```
//!
//! Segments that belong to no connection are answered with [`Segment::reset_in_answer`].
//!
//! `docs/design/tcp.md` lists which RFCs are followed, where Linux and ns-3 differ, and what was chosen. The modules in
//! reading order:
//!
//! * [`segment`], [`wire`], [`payload`]: segments as values and as bytes.
//! * [`config`], [`events`]: settings; what an application gets to know.
//! * `connection`: states, handshake, arriving and departing segments.
//! * `receiver`: reassembly, SACK blocks, windows, delayed acknowledgments; `ecn`: what it does with marks.
//! * `sender`: acknowledgments, and what to send next, on top of `scoreboard`, `rtt`, `rack`, `recovery` and
//!   `congestion`.

pub mod config;
mod congestion;
mod connection;
mod ecn;
pub mod events;
pub mod payload;
mod rack;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
pub mod segment;
mod sender;
mod sequence;
mod timestamps;
pub mod wire;

pub use base::Time;
pub use config::{Config, Congestion};
pub use connection::{Connection, State};
pub use events::{Event, Statistics};
pub use recovery::Phase;
pub use segment::{Ecn, Flags, Segment};
