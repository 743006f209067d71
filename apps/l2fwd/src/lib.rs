//! The controller of the Ethernet switch `l2fwd.p4`.
//!
//! What enters: digests with sources that the program does not know, entries that have become idle. What leaves:
//! commands for the switch's tables.
//!
//! * [`vlans`]: ports and VLANs as users write them, and the entries for them.
//! * [`learning`]: where addresses live; [`settings`](learning::Settings): how long, and how many.
//! * [`command`]: the command.

pub mod command;
pub mod learning;
pub mod vlans;
