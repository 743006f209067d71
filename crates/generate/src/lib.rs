//! Packets and entries for any program, from its own parser.
//!
//! What enters: a program's IR, and settings. What leaves: packets that reach every state of its parser for which
//! there is a packet, as frames of flows; entries whose keys are those of the flows, as commands of
//! `simple_switch_CLI`; and a report of what was reached, and why the rest was not. [`describe`] makes packets without
//! a program.
//!
//! * `term`, `solve`: symbolic values, and input for which conditions hold.
//! * `path`, `walk`: the paths through a parser.
//! * `layout`, [`template`]: known headers; frames.
//! * [`expression`], [`settings`], [`presets`], [`flows`]: what users choose.
//! * `choice`, `host`, `known`: what entries do, which are needed, and which are there.
//! * [`run`]: all of it.

mod choice;
pub mod describe;
pub mod expression;
pub mod flows;
mod host;
mod known;
mod layout;
mod path;
pub mod presets;
pub mod run;
pub mod settings;
mod solve;
pub mod template;
mod term;
mod walk;

pub use choice::ActionSetting;
pub use describe::Description;
pub use host::TableReport;
pub use presets::{PRESETS, Preset};
pub use run::{Generator, Report, StateReport};
pub use settings::{Settings, Traffic};
