//! What a running switch tells of itself.
//!
//! What enters: the control plane of the switch, the counters of its ports, what the worker has published of itself.
//! What leaves: text in the exposition format of Prometheus, over HTTP, at `/metrics`; and at `/healthz` whether the
//! worker answers. Nothing is collected unless somebody asks, and then by one job between two bursts: packets pay
//! nothing.
//!
//! * [`exposition`]: the format.
//! * [`sources`]: what is told.
//! * [`server`]: to whom.

pub mod exposition;
pub mod server;
pub mod sources;

pub use exposition::Exposition;
pub use server::{Bound, Server};
pub use sources::{Published, Sources};
