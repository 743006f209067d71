//! What a program shows to its controllers.
//!
//! P4Info names everything that can be written and read, gives it an id, and says how wide its values are. The other
//! direction is [`Model`]: what an id in a request means for the switch that runs the program.

mod model;

pub use model::*;
pub use p4runtime_proto::p4::config::v1;
