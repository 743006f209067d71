//! From the IR to native code.
//!
//! What enters: an [`ir::Program`]. What leaves: C text, and a loaded shared object whose functions run a block of the
//! program over a burst of packets.
//!
//! ```text
//! program ──► Plan::new ──► lir::Unit ──► C ──► Native::build (compile, load) ──► Native::run_block
//! ```
//!
//! * [`abi`]: the layouts shared with generated code (`runtime/c/wirespeed.h`).
//! * [`plan`]: where everything is stored, and which packets may run together.
//! * [`mod@describe`]: the plan for people and tools.
//! * [`emit`]: the low IR ([`lir`]) from program and plan, and C from that, built as a tree (`ctree`) and printed last.
//! * [`tuning`]: settings that the plan leaves open and that were measured.
//! * [`runtime`]: the C headers that generated code includes.
//! * [`compile`](mod@compile): the system's compiler (`compiler`), and a cache of its results (`cache_entry`, `cache`);
//!   `units`: into how many translation units a text is divided.
//! * [`plug_in`]: calls a user's shared objects, which implement a program's own externs.
//! * [`native`]: loads shared objects and calls them.

pub mod abi;
mod cache;
mod cache_entry;
pub mod compile;
mod compiler;
mod ctree;
pub mod describe;
pub mod emit;
pub mod native;
pub mod plan;
pub mod plug_in;
mod private_copy;
pub mod runtime;
pub mod tuning;
mod units;

pub use compile::{CacheNote, CompileError, CompileOptions, Optimise, SharedObject, compile};
pub use describe::{Description, describe};
pub use emit::{COMMENT_LETTERS_MAX, SourceLine, emit_c, emit_lir, lir_units};
pub use native::{BuildError, LoadError, Native};
pub use plan::sharing::{Sharing, WholeProgram};
pub use plan::{
    AssertSite, LogSite, Plan, PlanError, TablePlan, VarSlot, key_fields, param_widths_bits, pre_encoded_params,
};
pub use plug_in::{PlugIn, PlugInError};
pub use tuning::Tuning;
