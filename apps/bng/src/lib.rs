//! The controller of the gateway `bng.p4`.
//!
//! What enters: a file with interfaces, public addresses and subscribers, and the packets that the program does not
//! forward itself. What leaves: commands for the switch's tables and meters, and packets.
//!
//! * [`config`]: the file. [`tables`]: the entries for it.
//! * [`bindings`]: who has which public address and port.
//! * [`gateway`]: decisions about packets. [`tunnelled`]: those packets as bytes.
//! * [`report`]: accounts, read out of the switch.
//! * [`command`]: the command.

pub mod bindings;
pub mod command;
pub mod config;
pub mod gateway;
mod pace;
pub mod report;
pub mod tables;
pub mod tunnelled;
