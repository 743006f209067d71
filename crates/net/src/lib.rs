//! Networks of hosts and switches on one machine, from the topology files of the P4 tutorials.
//!
//! What enters: the text of a topology. What leaves: namespaces with the hosts' and switches' interfaces, wired as the
//! topology says, in which commands and switches can be started. What runs in the switches is not known here.
//!
//! The way through:
//! - [`topology`]: from text to a [`Topology`], or everything that is wrong with it, each fault with its line;
//!   [`located`] is the JSON reader that keeps the lines.
//! - [`sandbox`]: the processes of a network, which end together, whatever becomes of the process that made them.
//! - [`network`]: the namespaces, their interfaces and the wires between them.
//! - [`net_tools`]: `route` and `arp` for machines that have `ip` only.

pub mod located;
pub mod net_tools;
pub mod network;
pub mod sandbox;
pub mod topology;

pub use network::Network;
pub use sandbox::Sandbox;
pub use topology::Topology;
