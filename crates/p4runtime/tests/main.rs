//! The integration tests of `p4runtime`, one program so that they are linked once.

mod crowd;
mod hostile;
mod idle;
mod loopback;
mod names;
mod pauses;
mod reconcile;
mod resources;
mod support;
mod tls;
mod turns;
