//! Networks in modelled time.
//!
//! What enters: nodes (hosts, switches, generators), links with their properties, a seed. What leaves: the same nodes
//! and the counters of all channels after any time. The result depends on nothing else: the crate reads no clock and
//! does no I/O, and any number of threads gives the same bytes. docs/design/simulator.md has the reasons.
//!
//! The way through:
//! * [`time`], [`random`]: picoseconds, rates, and random numbers that are the same on every machine.
//! * [`packet`]: packets and the pools of their memory. [`wire`]: their formats.
//! * [`channel`]: one direction of a link: transmitter, queue, impairments, packets in flight.
//! * [`events`]: which event is next.
//! * [`node`]: what all nodes have in common. [`network`]: nodes and links, run on one thread or several.
//! * [`host`]: stations with addresses: ARP, NDP, ICMP, UDP, TCP (the crate `tcp`).
//! * [`switch_node`]: switches that run a program. [`router`]: switches without one.
//! * [`scenario`]: from a file to a network that runs, and to results.
//! * [`topology`]: generators of topologies, topology files, shortest paths.
//! * [`statistics`]: histograms and confidence intervals.
//! * [`generator`], [`arrivals`]: sources and sinks of plain frames; times and sizes of generated packets.

pub mod arrivals;
pub mod channel;
pub mod events;
pub mod generator;
pub mod host;
pub mod network;
pub mod node;
pub mod packet;
pub mod random;
pub mod router;
pub mod scenario;
pub mod statistics;
pub mod switch_node;
pub mod time;
pub mod topology;
pub mod wire;

pub use channel::ChannelConfig;
pub use network::{Network, NetworkBuilder};
pub use node::{Context, Node};
pub use packet::Packet;
pub use time::Time;
