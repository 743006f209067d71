//! Controllers of applications: a state machine that decides, and everything around it.
//!
//! What enters: an application's [`Logic`], and where its switch is. What leaves: what the switch reports (digests,
//! packets, idle entries), for the logic; the logic's commands, for the switch, in the language of `wirespeed ctl`.
//! Everything is P4Runtime, so a controller controls any switch that runs the application's program.
//!
//! * [`logic`]: the interface of a state machine. It has no clock, file or connection, so tests call it directly.
//! * `report`: messages of the switch by the names of the program.
//! * `connection`: a connection that is made again whenever it is lost; [`writing`]: how it writes.
//! * [`desired`]: the entries that a switch is to have, compared with those that it has.
//! * `file`: configuration files. [`address`]: addresses and networks.
//! * [`neighbours`]: stations that are looked for, found and lost; [`hops`]: those with numbers; [`bucket`]: a rate.
//! * [`packet`]: packets as bytes.
//! * [`command`]: the arguments that these controllers share, and running one until it is interrupted.

pub mod address;
pub mod bucket;
pub mod command;
mod connection;
pub mod desired;
pub mod file;
pub mod hops;
pub mod logic;
pub mod neighbours;
pub mod packet;
mod report;
pub mod writing;

pub use command::{Running, SwitchArguments};
pub use logic::{Entry, EntryName, Fields, Logic, Orders};
