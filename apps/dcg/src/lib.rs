//! The controller of the gateway `dcg.p4`.
//!
//! What enters: a file with interfaces, tenants, servers and services, and the packets that the program does not
//! forward itself. What leaves: commands for the switch's tables, and packets.
//!
//! * [`config`]: the file. [`tables`]: the entries for it.
//! * [`slots`]: which server has which slot of a service.
//! * [`probes`]: whether servers answer. [`draining`]: flows that keep their server.
//! * [`gateway`]: decisions. [`tunnelled`]: packets in VXLAN tunnels as bytes.
//! * [`command`]: the command.

pub mod command;
pub mod config;
pub mod draining;
pub mod gateway;
pub mod probes;
pub mod slots;
pub mod tables;
pub mod tunnelled;
