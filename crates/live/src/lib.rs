//! Packet drivers and what a run needs around them: the only threads, sockets and clocks of the project.
//!
//! What enters: port specifications as users write them (`1=eth0`, `2=pcap:in.pcap,out.pcap`). What leaves: one
//! [`Driver`] per port, from which a worker takes bursts of frames and to which it hands frames, always as they would
//! be on a wire: checksums complete, large segments cut, VLAN tags in the frame.
//!
//! The way through:
//! - [`driver`]: the trait that all drivers have, and the errors that they return.
//! - [`port_spec`]: `--port` arguments, and [`port_spec::open`], which makes the driver of one.
//! - [`pcap`]: capture files, pcap and pcapng, in and out.
//! - [`af_packet`]: interfaces of Linux through memory-mapped rings; [`offload`] turns what the kernel hands over
//!   (partial checksums, segments of up to 64 KiB) into frames of a wire.
//! - [`xdp`]: the same interfaces through AF_XDP sockets, faster; [`tap`]: interfaces whose other end is the switch.
//! - [`timer`]: ports where packets arrive by themselves, again and again.
//! - [`interface`]: what drivers ask of an interface; `waiting`: how long they wait for a full ring.
//! - [`memory`]: queues and generators in memory, for tests and benchmarks; [`traffic`]: routes and frames for a
//!   router.
//! - [`worker`]: joins drivers to a switch core and runs them; [`mailbox`](mod@mailbox): how other threads reach that
//!   core.
//! - [`store`]: copies of frames that a driver cannot lend.
//! - [`ports`]: the ports of a worker; `crew`: further workers beside the first; [`flow`]: what spreads frames over
//!   them; [`load`]: how many a load asks for.
//! - [`links`]: news of links that come and go.
//! - [`recorded`]: a port with captures beside it.
//! - [`wire`]: a slow or long wire between two interfaces.
//! - [`namespace`]: network namespaces.
//! - [`counters`], [`clock`], [`signals`], [`poll`]: per-port counts, time, a clean stop, waiting for packets.

pub mod af_packet;
pub mod clock;
pub mod counters;
mod crew;
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
