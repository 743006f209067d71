//! The control plane of one switch, for any thread.
//!
//! What enters: writes (lists of [`Update`]s with an [`Atomicity`]), queries, commands of the other faces. What leaves:
//! one outcome per update, entities, replies. All faces of the control plane come through here, so that none works
//! behind another's back: P4Runtime, `simple_switch_CLI` text, entries files, the state that survives.
//!
//! A write takes one of two ways. One that speaks only of tables and profiles is carried out by the calling thread, in
//! the copy of the tables that no packet sees, while the worker forwards. Any other is carried out as a whole by the
//! worker between two bursts; such a write is cut into pieces unless all of it must be seen at once. See
//! `docs/design/control-plane.md`.
//!
//! * [`mod@entity`], what a switch under control consists of.
//! * [`mod@fault`], refusals.
//! * [`mod@read`], queries.
//! * `write`, `resources`, `state`, carrying updates out, and what controllers have told beyond the switch.

pub mod entity;
pub mod fault;
pub mod read;

mod resources;
mod state;
#[cfg(test)]
mod tests;
mod write;

pub use entity::{Atomicity, Entity, Update, UpdateKind};
pub use fault::{Code, Fault};
pub use read::{Query, Sink, TableQuery, Which};

use crate::apply::{Reply, apply};
use crate::command::Command;
use crate::problem::Problem;
use entity::DigestConfig;
use ir::{DigestId, Program};
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use switch::{Door, SharedTables, Switch};
use write::{Writer, needs_switch};

/// Updates that the worker carries out between two bursts, if a write may be cut.
const PIECE: usize = 128;

/// The control plane of a switch. Threads share it behind an `Arc`.
pub struct Api {
    door: Arc<dyn Door>,
    pipeline: RwLock<Arc<Pipeline>>,
}

/// What the control plane knows of the program that runs.
pub(crate) struct Pipeline {
    program: Arc<Program>,
    tables: SharedTables,
    state: Mutex<State>,
    /// Held while something is written: writes come one after the other.
    writing: Mutex<()>,
}

impl Pipeline {
    fn of(switch: &Switch) -> Pipeline {
        Pipeline {
            program: Arc::clone(switch.program()),
            tables: switch.shared_tables(),
            state: Mutex::new(State::default()),
            writing: Mutex::new(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A refused update leaves nothing; a thread that ended in the midst of one has left no less than it found.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries updates out here, without the switch.
    fn write_tables(&self, updates: &[Update], atomicity: Atomicity) -> Vec<Result<(), Fault>> {
        let mut state = self.state();
        let mut tables = self.tables.lock();
        Writer::new(&self.program, &mut state, tables.begin(), None).write(updates, atomicity)
    }

    /// Carries updates out where the switch is.
    fn write_in_switch(&self, switch: &mut Switch, updates: &[Update], atomicity: Atomicity) -> Vec<Result<(), Fault>> {
        let mut state = self.state();
        let mut tables = self.tables.lock();
        Writer::new(&self.program, &mut state, tables.begin(), Some(switch)).write(updates, atomicity)
    }
}

impl Api {
    /// The control plane of the switch behind the door, before or after it runs.
    pub fn new(switch: &Switch, door: Arc<dyn Door>) -> Api {
        Api { door, pipeline: RwLock::new(Arc::new(Pipeline::of(switch))) }
    }

    fn pipeline(&self) -> Arc<Pipeline> {
        Arc::clone(&self.pipeline.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The program that runs.
    pub fn program(&self) -> Arc<Program> {
        Arc::clone(&self.pipeline().program)
    }

    /// The way to the switch itself, for what has no entity: packets, statistics.
    pub fn door(&self) -> &Arc<dyn Door> {
        &self.door
    }

    /// The tables of the program that runs.
    pub fn tables(&self) -> SharedTables {
        self.pipeline().tables.clone()
    }

    /// Carries updates out, in their order: one outcome for each. What was refused has changed nothing.
    pub fn write(&self, updates: Vec<Update>, atomicity: Atomicity) -> Vec<Result<(), Fault>> {
        let pipeline = self.pipeline();
        let _turn = pipeline.writing();
        if !updates.iter().any(|update| needs_switch(&pipeline.program, update)) {
            return pipeline.write_tables(&updates, atomicity);
        }
        if atomicity != Atomicity::ContinueOnError {
            return self.write_by_worker(&pipeline, updates, atomicity);
        }
        let mut outcomes = Vec::with_capacity(updates.len());
        let mut rest = updates;
        while !rest.is_empty() {
            let later = rest.split_off(rest.len().min(PIECE));
            outcomes.extend(self.write_by_worker(&pipeline, rest, atomicity));
            rest = later;
        }
        outcomes
    }

    fn write_by_worker(
        &self,
        pipeline: &Arc<Pipeline>,
        updates: Vec<Update>,
        atomicity: Atomicity,
    ) -> Vec<Result<(), Fault>> {
        let (count, there) = (updates.len(), Arc::clone(pipeline));
        let outcomes = self.door.ask(move |switch| there.write_in_switch(switch, &updates, atomicity));
        outcomes.unwrap_or_else(|closed| vec![Err(closed.into()); count])
    }

    /// Gives all entities that the query means to the sink, some at a time.
    pub fn read(&self, query: &Query, sink: Sink<'_>) -> Result<(), Fault> {
        self.pipeline().read(&*self.door, query, sink)
    }

    /// Carries a command of one of the other faces out.
    pub fn command(&self, command: Command) -> Result<Reply, Problem> {
        let pipeline = self.pipeline();
        let _turn = pipeline.writing();
        let there = Arc::clone(&pipeline);
        let done = self.door.ask(move |switch| {
            let reply = apply(switch, &command);
            let mut state = there.state();
            let mut tables = there.tables.lock();
            Writer::new(&there.program, &mut state, tables.begin(), None).sweep();
            reply
        });
        done.unwrap_or_else(|closed| Err(Problem::new(Fault::from(closed).message)))
    }

    /// How controllers want the messages of a digest; none if they do not.
    pub fn digest_config(&self, digest: DigestId) -> Option<DigestConfig> {
        self.pipeline().state().digests.get(&digest).copied()
    }

    /// A port went down or came up: members that watch it stop being choices, or are choices again.
    pub fn port_changed(&self, port: u32, is_up: bool) {
        let pipeline = self.pipeline();
        let _turn = pipeline.writing();
        let mut state = pipeline.state();
        let mut tables = pipeline.tables.lock();
        Writer::new(&pipeline.program, &mut state, tables.begin(), None).port_changed(port, is_up);
    }

    /// Puts another switch, which runs another program, in the place of the one that runs. What controllers had told of
    /// the old one is forgotten; what is wanted of it must be in the new one already.
    pub fn replace(&self, new: Switch) -> Result<(), Fault> {
        let pipeline = Arc::new(Pipeline::of(&new));
        let old = self.pipeline();
        let _turn = old.writing();
        self.door.ask(move |switch| drop(std::mem::replace(switch, new)))?;
        *self.pipeline.write().unwrap_or_else(PoisonError::into_inner) = pipeline;
        Ok(())
    }
}
