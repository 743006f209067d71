//! The metrics of a running switch.
//!
//! What enters: the control plane of the switch, the counters of its ports, and the figures that the worker
//! publishes. What leaves: text in the exposition format of Prometheus, over HTTP, at `/metrics`; and at `/healthz`
//! whether the worker responds. Values are collected only on request, by one command that the worker runs between two
//! bursts, so they cost packets nothing.
//!
//! * [`exposition`]: the format.
//! * [`sources`]: which values are collected.
//! * [`server`]: the HTTP server.

pub mod exposition;
pub mod server;
pub mod sources;

pub use exposition::Exposition;
pub use server::{Bound, Server};
pub use sources::{Published, Sources};
