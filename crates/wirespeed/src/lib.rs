//! Wirespeed as a library: P4 programs compiled, and switches that run them.
//!
//! What enters: the text of a P4 program, commands for its tables, packets with a time. What leaves: the packets that
//! the switch sends, and on request the journey of each.
//!
//! The way through:
//! * [`Options`]: how a program is compiled. [`Source`] has the stages one by one.
//! * [`Program`]: a compiled program, and its native code, which all its switches share.
//! * [`SwitchBuilder`]: backend, seed, queues, rates, state. [`Switch`]: packets in and out, control, time.
//! * [`Journey`]: what happened to a packet.
//! * [`error`]: what can be wrong; each error renders as the text that the command `wirespeed` shows.
//!
//! The rest of this page is `docs/guide/library.md`.
//!
#![doc = include_str!("../../../docs/guide/library.md")]

mod builder;
pub mod error;
mod journey;
mod options;
mod program;
pub mod source;
mod switch;

pub use ::switch::traffic::ETHERNET_OVERHEAD_BYTES;
pub use ::switch::{Config, Decision, DropReason, Frame, Observer, Output, PoolLimits, Stats};
pub use base::Bits;
pub use builder::{Backend, SwitchBuilder};
pub use cgen::{CacheNote, CompileOptions, Optimise, Tuning};
pub use control::{Api, Reply};
pub use error::{BuildError, CodeError, CompileError, ControlErrors, NoSuchPort, WrongArchitecture};
pub use journey::{Journey, Named, Step, What};
pub use options::Options;
pub use p4_14::Standard;
pub use program::{Code, Program, specialise};
pub use source::Source;
pub use switch::{Digest, Packet, Sent, Switch};
pub use syntax::{Diagnostic, DiskFiles, FileLoader, Location, MemoryFiles};
