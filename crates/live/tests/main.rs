//! The integration tests of `live`, one program so that they are linked once.

mod af_packet;
mod captures;
mod mailbox;
mod signals;
mod specialiser;
mod timers;
mod workers;
mod xdp;
