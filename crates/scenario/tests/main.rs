//! The integration tests of `scenario`, one program so that they are linked once.

mod bursts;
mod checks;
mod common;
mod controllers;
mod copies;
mod devices;
mod external;
mod transport;
