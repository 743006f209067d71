//! The controller of the router `router.p4`.
//!
//! What enters: a file that describes the router, and the packets that the program does not forward itself. What
//! leaves: commands for the switch's tables, and packets.
//!
//! * [`config`]: the file.
//! * [`tables`]: the entries for it. [`router`]: decisions about packets.
//! * [`command`]: the command.

pub mod command;
pub mod config;
pub mod router;
pub mod tables;
