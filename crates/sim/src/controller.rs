//! Controllers in modelled time.
//!
//! What enters: packets and digests of programs, entries that have become idle, outcomes of writes, what reads have
//! found, the time. What leaves: packets, updates and queries for switches. A controller is a node of the network like
//! any other: what it sends and receives has a modelled latency, so a seed gives the same bytes on any number of
//! threads.
//!
//! * [`node`](mod@node): the node that a controller runs in: its work takes time, and it may pause.
//! * [`link`]: the link between a controller and a switch: messages with a latency.
//! * [`learning`]: a controller that learns where addresses are. [`outside`]: controllers outside of the simulation.

pub mod learning;
pub mod link;
pub mod node;
pub mod outside;

pub use learning::{Learning, LearningConfig, LearningSource};
pub use link::{Latencies, Message, WorkTimes};
pub use node::{ControllerCounters, ControllerNode, Controls};

use crate::time::Time;
use base::Bits;
use control::api::entity::TableEntry;
use control::api::{Entity, Fault};
use ir::{DigestId, Program};
use std::any::Any;
use std::sync::Arc;

/// What a controller knows of a switch from the beginning.
#[derive(Clone, Debug)]
pub struct SwitchFacts {
    /// Its name.
    pub name: String,
    /// What runs in it.
    pub program: Arc<Program>,
    /// The ports that have links, by the program's numbers, in the order of the links.
    pub ports: Vec<u32>,
    /// The port behind which the controller is.
    pub cpu_port: u32,
}

/// A controller. Its switches are numbered from 0, in the order in which it got them.
///
/// It reads no clock and knows no thread: all that it does is the answer to a call, and reaches the switches through
/// [`Controls`].
pub trait Controller: Any + Send {
    /// A switch can be reached: at the begin of the run, and after each restart, when it may have lost its tables.
    fn connected(&mut self, _controls: &mut Controls<'_, '_>, _switch: usize) {}

    /// A program has sent a frame to the CPU port.
    fn packet_in(&mut self, _controls: &mut Controls<'_, '_>, _switch: usize, _frame: &[u8]) {}

    /// A program has sent a digest: the values of its fields in order.
    fn digest(&mut self, _controls: &mut Controls<'_, '_>, _switch: usize, _digest: DigestId, _values: &[Bits]) {}

    /// No packet has hit an entry for its timeout.
    fn idle(&mut self, _controls: &mut Controls<'_, '_>, _switch: usize, _entry: &TableEntry) {}

    /// A write has been carried out: one outcome for each of its updates. Those of a switch that restarts meanwhile
    /// are not answered.
    fn written(
        &mut self,
        _controls: &mut Controls<'_, '_>,
        _switch: usize,
        _write: WriteId,
        _outcomes: &[Result<(), Fault>],
    ) {
    }

    /// A read has been carried out: the entities that it has found, or why it was refused. Reads of a switch that
    /// restarts meanwhile are not answered.
    fn answered(
        &mut self,
        _controls: &mut Controls<'_, '_>,
        _switch: usize,
        _read: ReadId,
        _outcome: Result<Vec<Entity>, Fault>,
    ) {
    }

    /// The time of the next timer has come.
    fn timer(&mut self, _controls: &mut Controls<'_, '_>) {}

    /// When [`Controller::timer`] is to be called next; [`Time::MAX`] for never. It is read after each call.
    fn next_timer(&self) -> Time {
        Time::MAX
    }
}

/// A write of a controller, in the order of its writes to a switch.
pub type WriteId = u64;

/// A read of a controller, in the order of its reads from a switch.
pub type ReadId = u64;
