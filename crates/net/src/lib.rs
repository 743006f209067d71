//! Networks of hosts and switches on one machine, from the topology files of the P4 tutorials.
//!
//! What enters: the text of a topology. What leaves: namespaces with the interfaces of hosts and switches, connected
//! as the topology describes, in which commands and switches can be started. The crate does not depend on what runs
//! in the switches.
//!
//! The modules:
//! - [`topology`]: parses the text into a [`Topology`], or reports all errors in it, each with its line; [`located`]
//!   is the JSON reader that keeps line numbers.
//! - [`sandbox`]: the processes of a network, which all end together, however the process that created them ends.
//! - [`network`]: the namespaces, their interfaces and the links between them.
//! - [`net_tools`]: replaces `route` and `arp` on machines that only have `ip`.

pub mod located;
pub mod net_tools;
pub mod network;
pub mod sandbox;
pub mod topology;

pub use network::Network;
pub use sandbox::Sandbox;
pub use topology::Topology;
