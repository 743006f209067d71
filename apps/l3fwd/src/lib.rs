//! The controller of the router `router.p4`.
//!
//! What enters: a file that describes the router, and the packets that the program does not forward itself. What
//! leaves: commands for the switch's tables, and packets.
//!
//! * [`config`]: the file; [`address`]: addresses and networks.
//! * [`tables`]: the entries for it. [`router`]: decisions about packets.
//! * [`neighbours`]: stations that are looked for, found and lost; [`bucket`]: a rate.
//! * [`packet`]: packets as bytes.
//! * [`command`]: the command.

pub mod address;
pub mod bucket;
pub mod command;
pub mod config;
pub mod neighbours;
pub mod packet;
pub mod router;
pub mod tables;
