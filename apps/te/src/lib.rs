//! Traffic engineering outside of the data plane.
//!
//! What enters: which ports a switch has and what is behind them. What leaves: orders, which say what is in its tables,
//! groups and sessions. No clock, no connection: whoever drives a controller carries its orders out.
//!
//! * [`order`]: orders. [`updates`]: what they are as updates of a program's state.
//! * [`place`]: the ports of a switch. [`fabric`]: the tables of the baselines. [`polling`]: HULA by polls.

pub mod fabric;
pub mod order;
pub mod place;
pub mod polling;
pub mod updates;

pub use order::{Match, Order, Rates};
pub use place::{Behind, Place, Port, Prefix};
pub use polling::Polling;
pub use updates::Translator;
