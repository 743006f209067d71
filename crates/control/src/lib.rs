//! The control plane: what users request of a running switch, checked against its program.
//!
//! What enters: text in the forms that users write, and the [`ir::Program`] that it refers to. What leaves:
//! [`Command`]s, in which every name has become an index of the program and every value has its width, so that
//! carrying them out cannot fail on a name; or [`EntryError`]s, each with file, line, the problem and the existing
//! names.
//!
//! The modules:
//! * [`command`]: the operations.
//! * [`names`]: from a name as users write it to an index of the program.
//! * [`cli_text`]: lines of `simple_switch_CLI` commands. Those about action profiles are in `profile_text`, those
//!   about registers, counters and meters in `cells_text`.
//! * [`runtime_json`]: the `sN-runtime.json` form of the P4 tutorials.
//! * [`switch_cli`]: lines of `simple_switch_CLI` on a switch that runs, and what that tool prints.
//! * [`entries`]: a whole file of either form.
//! * [`apply`](mod@apply): carrying commands out on a switch; [`show`]: its state as lines for people.
//! * [`problem`]: what is wrong, and where.
//! * [`api`]: all operations on a running switch, from any thread; every client uses it.
//! * [`store`]: state that survives a restart.
//! * [`device_config`]: a program as JSON, for controllers that send only JSON.

pub mod api;
pub mod apply;
pub mod cli_text;
pub mod command;
pub mod device_config;
pub mod entries;
pub mod names;
pub mod problem;
pub mod runtime_json;
pub mod show;
pub mod store;
pub mod switch_cli;

mod ask;
mod cells_text;
mod json_lines;
mod profile_text;
#[cfg(test)]
mod test_program;

pub use api::Api;
pub use apply::{Reply, apply, apply_all};
pub use command::{Command, CounterRef};
pub use entries::{Entries, load_entries, parse_entries, read_entries};
pub use problem::{EntryError, FilePlace, Origin, Problem};
