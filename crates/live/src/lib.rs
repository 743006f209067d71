//! Packet drivers and the worker that runs a switch on them.
//!
//! What enters: port specifications as users write them (`1=eth0`, `2=pcap:in.pcap,out.pcap`). What leaves: one
//! [`Driver`] per port, from which a worker takes bursts of frames and to which it hands frames, always as they would
//! be on a wire: checksums complete, large segments cut, VLAN tags in the frame.
//!
//! The modules:
//! - [`driver`]: the trait that all drivers have, and the errors that they return.
//! - [`port_spec`]: `--port` arguments, and [`port_spec::open`], which opens the driver of one.
//! - [`pcap`]: capture files, pcap and pcapng, in and out.
//! - [`af_packet`]: interfaces of Linux through memory-mapped rings; [`offload`] turns what the kernel hands over
//!   (partial checksums, segments of up to 64 KiB) into frames of a wire.
//! - [`xdp`]: the same interfaces through AF_XDP sockets, faster; [`tap`]: interfaces whose other end is the switch.
//! - [`timer`]: ports on which the switch generates packets periodically.
//! - [`interface`]: properties of interfaces; `waiting`: waiting for a full ring.
//! - [`memory`]: queues and generators in memory, for tests and benchmarks; [`traffic`]: routes and frames for a
//!   router.
//! - [`worker`]: joins drivers to a switch core and runs them; [`mailbox`](mod@mailbox): the command queue from other
//!   threads to that core.
//! - [`store`]: copies of frames that a driver cannot lend.
//! - [`ports`]: the ports of a worker; `worker_pool`: further workers beside the first; [`flow`]: distributes frames
//!   over them; [`load`]: how many a load requires.
//! - [`links`]: notifications of link changes.
//! - [`recorded`]: a port whose packets are recorded in captures.
//! - [`wire`]: a wire with latency and bandwidth between two interfaces.
//! - [`namespace`]: network namespaces.
//! - [`counters`], [`clock`], [`signals`], [`poll`]: per-port counts, time, a clean stop, waiting for packets.

pub mod af_packet;
pub mod clock;
pub mod counters;
#[cfg(feature = "dpdk")]
pub mod dpdk;
pub mod driver;
pub mod flow;
pub mod interface;
pub mod links;
pub mod load;
pub mod mailbox;
pub mod memory;
pub mod namespace;
pub mod offload;
pub mod pcap;
pub mod poll;
pub mod port_spec;
pub mod ports;
mod processor_time;
pub mod recorded;
pub mod signals;
pub mod specialiser;
mod statistics;
pub mod store;
pub mod tap;
pub mod timer;
pub mod traffic;
mod waiting;
pub mod wire;
pub mod worker;
mod worker_pool;
pub mod xdp;

pub use clock::Clock;
pub use counters::{CounterSnapshot, PortCounters};
pub use driver::{Driver, DriverError};
pub use mailbox::{Inbox, Mailbox, mailbox};
pub use namespace::NetworkNamespace;
pub use port_spec::{PortKind, PortSpec, PortSpecError};
pub use recorded::RecordedDriver;
pub use signals::StopFlag;
pub use specialiser::{News, Specialiser};
pub use wire::Wire;
pub use worker::{Ended, Events, Port, Ports, Setup};
