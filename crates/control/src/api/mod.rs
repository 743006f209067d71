//! The control plane of one switch, for any thread.
//!
//! What enters: writes (lists of [`Update`]s with an [`Atomicity`]), queries, commands of BMv2's tools. What
//! leaves: one outcome per update, entities, replies. All clients of the control plane use this interface, so that no
//! change escapes it: P4Runtime, `simple_switch_CLI` text, entries files, the stored state.
//!
//! A write takes one of two paths. A write to tables and profiles only is carried out by the calling thread, in the
//! copy of the tables that no packet sees, while the worker forwards. Any other write is carried out as a whole by
//! the worker between two bursts; it is split into parts unless it must be atomic for packets. See
//! `docs/design/control-plane.md`.
//!
//! * `entity`: the entities of a switch under control.
//! * `fault`: refusals.
//! * `read`: queries; `idle`: entries whose timeout has passed.
//! * `at_hand`: the same for a switch whose owner carries writes out by itself.
//! * `saving`: what a restart must restore.
//! * `resolve`: updates from what BMv2's tools name by handles.
//! * `arrays`: what is prepared for updates of whole arrays.
//! * `write`, `resources`, `state`: carrying out updates, and what controllers have set outside of the switch.

pub mod entity;
pub mod fault;
pub mod read;

pub(crate) mod arrays;
pub(crate) mod at_hand;
mod idle;
mod named;
pub(crate) mod resolve;
mod resources;
mod saving;
pub(crate) mod state;
#[cfg(test)]
pub(crate) mod tests;
mod timers;
pub(crate) mod write;

pub use at_hand::LocalApi;
pub use entity::{Atomicity, Entity, Update, UpdateKind};
pub use fault::{Code, Fault};
pub use read::{Query, Sink, TableQuery, Which};

use crate::apply::{self, Reply};
use crate::command::Command;
use crate::problem::Problem;
use crate::store::{Begun, Reason, Store, StoreError};
use arrays::{FreshArrays, sets_all_cells};
use base::OrderedSet;
use entity::{DigestConfig, TableEntry};
use ir::{DigestId, Program};
pub(crate) use saving::Steps;
use saving::{Frozen, StoredCells};
use state::ControllerState;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use switch::timers::Timers;
use switch::workers::Workers;
use switch::{CommandQueue, SharedTables, Switch};
use write::{Undo, Writer, Written, needs_switch};

/// Updates that the worker carries out between two bursts, if a write may be split.
const PIECE: usize = 128;

/// Records that a client of the control plane stores beside entities, under its own keys.
pub type Notes = std::collections::BTreeMap<String, serde_json::Value>;

/// Receives the records of a snapshot one by one.
pub type RecordSink<'a> = &'a mut dyn FnMut(&[u8]) -> std::io::Result<()>;

/// The control plane of a switch. Threads share it behind an `Arc`.
pub struct Api {
    command_queue: Arc<dyn CommandQueue>,
    pipeline: RwLock<Arc<Pipeline>>,
    /// Held during a write and while the program is replaced: these run one after the other.
    writing: Mutex<()>,
    /// Where the state is stored, if it is.
    store: OnceLock<Store>,
    /// Records that clients store beside entities, each under its own keys.
    notes: Mutex<Notes>,
    /// From what the running program can be compiled again; null if it was not set.
    program_note: Mutex<serde_json::Value>,
    /// The numbers of updates that were carried out and refused.
    counts: (AtomicU64, AtomicU64),
    /// How many writes, commands and programs may have changed more than tables.
    switch_writes: AtomicU64,
    /// The threads that run the switch, if their number can change.
    workers: OnceLock<Arc<Workers>>,
    /// The ports with timers, once the switch has ports.
    timers: OnceLock<Arc<Timers>>,
}

/// What the control plane knows of the running program.
pub(crate) struct Pipeline {
    program: Arc<Program>,
    tables: SharedTables,
    state: Mutex<ControllerState>,
    /// Hashes of the cells that were stored last.
    stored_cells: Mutex<StoredCells>,
    /// The frozen tables, if this is a copy of another control plane.
    original: Option<SharedTables>,
}

/// A snapshot of a captured state, which is written beside the log.
pub(crate) struct SnapshotBeside<'a> {
    command_queue: &'a dyn CommandQueue,
    store: &'a Store,
    pipeline: Arc<Pipeline>,
    frozen: Frozen,
    begun: Begun,
}

impl SnapshotBeside<'_> {
    /// Writes the snapshot.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        let SnapshotBeside { command_queue, store, pipeline, frozen, begun } = self;
        let read = |sink: Steps<'_>| frozen.read_all(pipeline.queue(command_queue), sink);
        let finished = store.finish_beside(begun, &pipeline.program, &read).map_err(unavailable);
        finished.inspect_err(|_| pipeline.forget_stored_cells())
    }
}

/// Entries of tables, members and groups as they were at one moment. What packets change of them is not part of it.
pub struct Copied {
    pipeline: Pipeline,
    command_queue: Arc<dyn CommandQueue>,
}

impl Copied {
    /// Passes all entities that the query selects to `sink`, some at a time. The query must be one that
    /// [`Query::is_of_copies`].
    pub fn read(&self, query: &Query, sink: Sink<'_>) -> Result<(), Fault> {
        self.pipeline.read(self.pipeline.queue(&*self.command_queue), query, sink)
    }
}

fn problem(fault: Fault) -> Problem {
    Problem::new(fault.message)
}

/// Whether a command changes tables and profiles only.
fn of_tables(command: &Command) -> bool {
    match command {
        Command::Write(update) => !needs_switch(update),
        Command::Change(change) => resolve::is_of_tables(change),
        Command::Ask(_) | Command::Set(_) => false,
    }
}

fn unavailable(error: StoreError) -> Fault {
    Fault::new(Code::Unavailable, error.to_string())
}

/// The command queue to the switch for one program; it is closed once another program runs.
#[derive(Clone, Copy)]
pub(crate) struct ProgramQueue<'a> {
    command_queue: &'a dyn CommandQueue,
    program: &'a Arc<Program>,
}

impl ProgramQueue<'_> {
    /// Runs a job on the switch if the program is still the same.
    pub(crate) fn ask<T: Send + 'static>(
        self,
        job: impl FnOnce(&mut Switch) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let program = Arc::clone(self.program);
        let done =
            self.command_queue.ask(move |switch| Arc::ptr_eq(switch.program(), &program).then(|| job(switch)))?;
        done.ok_or_else(other_program)
    }
}

/// How many of these updates the worker carries out between two bursts. Of updates that set whole arrays it is one,
/// since another array is in memory meanwhile.
fn piece(updates: &[Update]) -> usize {
    let whole = updates.iter().position(sets_all_cells);
    whole.map_or(updates.len(), |position| position + 1).min(PIECE)
}

fn other_program() -> Fault {
    Fault::new(Code::Aborted, "another program has been put in the switch meanwhile")
}

impl Pipeline {
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn tables(&self) -> &SharedTables {
        &self.tables
    }

    pub(crate) fn queue<'a>(&'a self, command_queue: &'a dyn CommandQueue) -> ProgramQueue<'a> {
        ProgramQueue { command_queue, program: &self.program }
    }

    pub(crate) fn of(switch: &Switch) -> Pipeline {
        Pipeline {
            program: Arc::clone(switch.program()),
            tables: switch.shared_tables(),
            state: Mutex::new(ControllerState::default()),
            stored_cells: Mutex::new(StoredCells::default()),
            original: None,
        }
    }

    fn state(&self) -> MutexGuard<'_, ControllerState> {
        // A refused update leaves nothing; a thread that ended in the midst of one has left no less than it found.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out updates in this thread, without the switch.
    fn write_tables(&self, updates: &[Update], atomicity: Atomicity) -> Vec<Result<(), Fault>> {
        let mut state = self.state();
        let mut tables = self.tables.lock();
        Writer::new(&self.program, &mut state, tables.begin(), None).write(updates, atomicity).outcomes
    }

    fn port_changed(&self, port: u32, is_up: bool) {
        let mut state = self.state();
        let mut tables = self.tables.lock();
        Writer::new(&self.program, &mut state, tables.begin(), None).port_changed(port, is_up);
    }

    /// Carries out updates in the thread that owns the switch.
    fn write_in_switch(
        &self,
        switch: &mut Switch,
        updates: &[Update],
        atomicity: Atomicity,
        fresh: FreshArrays,
    ) -> Written {
        let mut state = self.state();
        let mut tables = self.tables.lock();
        let writer = Writer::new(&self.program, &mut state, tables.begin(), Some(switch));
        writer.with_arrays(fresh).write(updates, atomicity)
    }

    /// Carries out a command that is an update or becomes some; those that need the switch where it is.
    fn command(&self, switch: Option<&mut Switch>, command: &Command, fresh: FreshArrays) -> Result<Done, Problem> {
        let mut state = self.state();
        let mut tables = self.tables.lock();
        let writer = Writer::new(&self.program, &mut state, tables.begin(), switch);
        let mut writer = writer.with_arrays(fresh).for_tools();
        let (reply, updates) = writer.command(command)?;
        Ok(Done { reply, updates, left: writer.finish() })
    }
}

/// A command that was carried out.
struct Done {
    reply: Reply,
    /// The updates that it has become.
    updates: Vec<Update>,
    /// What is no longer needed.
    left: Vec<Undo>,
}

impl Api {
    /// The control plane of this switch, before or after it runs.
    pub fn new(switch: &Switch, command_queue: Arc<dyn CommandQueue>) -> Api {
        let pipeline = RwLock::new(Arc::new(Pipeline::of(switch)));
        Api {
            command_queue,
            pipeline,
            writing: Mutex::new(()),
            store: OnceLock::new(),
            notes: Mutex::default(),
            program_note: Mutex::default(),
            counts: Default::default(),
            switch_writes: AtomicU64::default(),
            workers: OnceLock::new(),
            timers: OnceLock::new(),
        }
    }

    /// Must be locked before the pipeline is looked up, since the pipeline may be replaced while waiting.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pipeline(&self) -> Arc<Pipeline> {
        Arc::clone(&self.pipeline.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The pipeline, if this is still its program.
    fn pipeline_of(&self, program: &Arc<Program>) -> Result<Arc<Pipeline>, Fault> {
        let pipeline = self.pipeline();
        if Arc::ptr_eq(&pipeline.program, program) { Ok(pipeline) } else { Err(other_program()) }
    }

    /// The program that runs.
    pub fn program(&self) -> Arc<Program> {
        Arc::clone(&self.pipeline().program)
    }

    /// The command queue of the switch, for what is not an entity: packets, statistics.
    pub fn command_queue(&self) -> &Arc<dyn CommandQueue> {
        &self.command_queue
    }

    /// The threads that run the switch, if they were set.
    pub fn workers(&self) -> Option<Arc<Workers>> {
        self.workers.get().cloned()
    }

    /// Sets the threads that run the switch, once.
    pub fn set_workers(&self, workers: Arc<Workers>) {
        // Said a second time, it would be the same.
        let _known = self.workers.set(workers);
    }

    /// Whether the ports are such that a program may run.
    pub fn admit(&self, switch: &Switch) -> Result<(), Fault> {
        let broken = self.workers().filter(|_| switch.is_ordered()).and_then(|workers| workers.what_breaks_order());
        broken.map_or(Ok(()), |what| Err(Fault::new(Code::FailedPrecondition, what)))
    }

    /// The tables of the program that runs.
    pub fn tables(&self) -> SharedTables {
        self.pipeline().tables.clone()
    }

    /// Carries out updates in their order: one outcome for each. A refused update has changed nothing. Updates that
    /// were carried out are stored, if the state is stored; if storing fails, the outcomes say so.
    pub fn write(&self, updates: Vec<Update>, atomicity: Atomicity) -> Vec<Result<(), Fault>> {
        let (mut outcomes, record) = self.write_ahead(updates, atomicity);
        if let Err(fault) = self.synchronise(record) {
            outcomes.iter_mut().filter(|outcome| outcome.is_ok()).for_each(|outcome| *outcome = Err(fault.clone()));
        }
        outcomes
    }

    /// The same without waiting until the updates are durable: before anything is acknowledged, [`Api::synchronise`]
    /// must be called with the number that comes with the outcomes. So all parts of a long write wait once.
    pub fn write_ahead(&self, updates: Vec<Update>, atomicity: Atomicity) -> (Vec<Result<(), Fault>>, u64) {
        let _turn = self.turn();
        let pipeline = self.pipeline();
        let updates = Arc::new(updates);
        let mut outcomes = self.carry_out(&pipeline, &updates, atomicity);
        let mut record = 0;
        if let Some(store) = self.store.get() {
            let done = updates.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok()).map(|(update, _)| update);
            match store.append(&pipeline.program, &mut { done }) {
                Ok(appended) => record = appended,
                Err(fault) => {
                    outcomes.iter_mut().filter(|it| it.is_ok()).for_each(|outcome| *outcome = Err(fault.clone()));
                }
            }
        }
        let done = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        self.count(done, outcomes.len() - done);
        (outcomes, record)
    }

    /// Whether a write of table entries would probably not block: no state is stored on a disk, and no other thread
    /// uses the tables.
    pub fn is_at_hand(&self) -> bool {
        let pipeline = self.pipeline();
        self.store.get().is_none()
            && self.writing.try_lock().is_ok()
            && pipeline.state.try_lock().is_ok()
            && pipeline.tables.is_free()
    }

    /// Waits until everything up to this record is durable.
    pub fn synchronise(&self, record: u64) -> Result<(), Fault> {
        self.store.get().map_or(Ok(()), |store| store.synchronise(record))
    }

    /// Counts updates that were refused before they reached the control plane, such as those that cannot be decoded.
    pub fn count_refused(&self, refused: usize) {
        self.count(0, refused);
    }

    fn count(&self, done: usize, refused: usize) {
        self.counts.0.fetch_add(done as u64, Ordering::Relaxed);
        self.counts.1.fetch_add(refused as u64, Ordering::Relaxed);
    }

    /// How many updates and commands were carried out, and how many were refused.
    pub fn update_counts(&self) -> (u64, u64) {
        (self.counts.0.load(Ordering::Relaxed), self.counts.1.load(Ordering::Relaxed))
    }

    /// Grows whenever clients may have changed more than tables: cells of arrays, or the program.
    pub fn switch_writes(&self) -> u64 {
        self.switch_writes.load(Ordering::Relaxed)
    }

    fn carry_out(
        &self,
        pipeline: &Arc<Pipeline>,
        updates: &Arc<Vec<Update>>,
        atomicity: Atomicity,
    ) -> Vec<Result<(), Fault>> {
        if !updates.iter().any(needs_switch) {
            return pipeline.write_tables(updates, atomicity);
        }
        self.switch_writes.fetch_add(1, Ordering::Relaxed);
        let mut outcomes = Vec::with_capacity(updates.len());
        while outcomes.len() < updates.len() {
            let first = outcomes.len();
            let range = match atomicity {
                Atomicity::ContinueOnError => first..first + piece(&updates[first..]),
                _ => first..updates.len(),
            };
            let (count, there, shared) = (range.len(), Arc::clone(pipeline), Arc::clone(updates));
            let fresh = FreshArrays::of(&pipeline.program, &updates[range.clone()]);
            let queue = pipeline.queue(&*self.command_queue);
            let done = queue.ask(move |switch| there.write_in_switch(switch, &shared[range], atomicity, fresh));
            match done {
                Ok(Written { outcomes: done, left }) => {
                    outcomes.extend(done);
                    // Old arrays are freed here, while packets are forwarded.
                    drop(left);
                }
                Err(fault) => outcomes.extend(vec![Err(fault); count]),
            }
        }
        if self.store.get().is_some() {
            let done = updates.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok());
            pipeline.note_set_arrays(done.map(|(update, _)| update));
        }
        outcomes
    }

    /// Passes all entities that the query selects to `sink`, some at a time.
    pub fn read(&self, query: &Query, sink: Sink<'_>) -> Result<(), Fault> {
        let pipeline = self.pipeline();
        pipeline.read(pipeline.queue(&*self.command_queue), query, sink)
    }

    /// The same if the running program is still the one that the query refers to.
    pub fn read_of(&self, program: &Arc<Program>, query: &Query, sink: Sink<'_>) -> Result<(), Fault> {
        let pipeline = self.pipeline_of(program)?;
        pipeline.read(pipeline.queue(&*self.command_queue), query, sink)
    }

    /// What these queries name, in their order; none of what is not there. The switch is asked once for all of them.
    /// Each must be one that [`Query::is_named`], and of this program.
    pub fn read_named(&self, program: &Arc<Program>, queries: &[&Query]) -> Result<Vec<Option<Entity>>, Fault> {
        let pipeline = self.pipeline_of(program)?;
        pipeline.read_named(pipeline.queue(&*self.command_queue), queries)
    }

    /// A copy of what the running program's tables hold, if it is still this program. Must be called while nothing is
    /// written.
    pub fn copy_of(&self, program: &Arc<Program>) -> Result<Copied, Fault> {
        let pipeline = self.pipeline_of(program)?;
        Ok(Copied { pipeline: pipeline.copied(), command_queue: Arc::clone(&self.command_queue) })
    }

    /// How many entities the query selects at most, as it is now. Groups and sessions of replication count as one.
    pub fn size_of(&self, query: &Query) -> u64 {
        self.pipeline().size_of(query)
    }

    /// Carries out a command. The updates that it becomes are stored as those of [`Api::write`] are.
    pub fn command(&self, command: Command) -> Result<Reply, Problem> {
        let outcome = match command {
            Command::Ask(ask) => {
                let pipeline = self.pipeline();
                return pipeline.answer(pipeline.queue(&*self.command_queue), &ask).map(Reply::Text);
            }
            Command::Set(setting) => {
                let pipeline = self.pipeline();
                let set = pipeline.queue(&*self.command_queue).ask(move |switch| apply::set(switch, &setting));
                set.unwrap_or_else(|fault| Err(problem(fault))).map(|()| Reply::Done)
            }
            update => self.update(update),
        };
        self.count(usize::from(outcome.is_ok()), usize::from(outcome.is_err()));
        outcome
    }

    fn update(&self, command: Command) -> Result<Reply, Problem> {
        let turn = self.turn();
        let pipeline = self.pipeline();
        let Done { reply, updates, left } = if of_tables(&command) {
            pipeline.command(None, &command, FreshArrays::default())?
        } else {
            self.switch_writes.fetch_add(1, Ordering::Relaxed);
            let fresh = match &command {
                Command::Write(update) => FreshArrays::of(&pipeline.program, std::slice::from_ref(update)),
                _ => FreshArrays::default(),
            };
            let there = Arc::clone(&pipeline);
            let done =
                pipeline.queue(&*self.command_queue).ask(move |switch| there.command(Some(switch), &command, fresh));
            done.unwrap_or_else(|fault| Err(problem(fault)))?
        };
        // Old arrays are freed here, while packets are forwarded.
        drop(left);
        let Some(store) = self.store.get() else { return Ok(reply) };
        pipeline.note_set_arrays(updates.iter());
        let record = store.append(&pipeline.program, &mut updates.iter()).map_err(problem)?;
        drop(turn);
        store.synchronise(record).map_err(problem)?;
        Ok(reply)
    }

    /// Stores the state in a folder from now on. `program` is stored with it, for the caller to find after a restart.
    /// A control plane uses one folder. If this fails, writes are answered with the error until [`Api::save`] was
    /// able to store everything.
    pub fn keep_in(&self, store: Store, program: serde_json::Value) -> Result<(), StoreError> {
        let _turn = self.turn();
        let kept = store.snapshot(Some(program), self);
        let _one_is_kept = self.store.set(store);
        kept
    }

    /// From what the running program can be compiled again, as its owner has set it; null if it was not set.
    pub fn program_note(&self) -> serde_json::Value {
        self.program_note.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets this for the program that the switch begins with. Later programs come with theirs.
    pub fn set_program_note(&self, note: serde_json::Value) {
        *self.program_note.lock().unwrap_or_else(PoisonError::into_inner) = note;
    }

    /// Passes the records of a snapshot to `sink`, from which [`crate::store::Saved::of_records`] restores a switch
    /// like this one: its program as [`Self::program_note`] has it, and, if `with_state`, everything that a restart
    /// would restore. The switch keeps forwarding.
    pub fn stream_snapshot(&self, with_state: bool, sink: RecordSink<'_>) -> Result<(), Fault> {
        let turn = self.turn();
        let (pipeline, program_note, notes) = (self.pipeline(), self.program_note(), self.notes());
        if program_note.is_null() {
            return Err(Fault::new(Code::FailedPrecondition, "the switch has no program"));
        }
        let frozen = match with_state {
            true => Some(pipeline.freeze_for_others(pipeline.queue(&*self.command_queue))?),
            false => None,
        };
        drop(turn);
        let read = |steps: Steps<'_>| match &frozen {
            Some(frozen) => frozen.read_all(pipeline.queue(&*self.command_queue), steps),
            None => Ok(()),
        };
        let written = crate::store::write_records(sink, program_note, &notes, &pipeline.program, &read);
        written.map_err(|error| Fault::new(Code::Aborted, error.to_string()))
    }

    /// The records that clients store with the state beside entities.
    pub fn notes(&self) -> Notes {
        self.kept_notes().clone()
    }

    fn kept_notes(&self) -> MutexGuard<'_, Notes> {
        // Notes are changed one by one, and each is whole.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores notes from now on; null removes one. If the state is stored, they are in it when this returns.
    pub fn keep_notes(&self, notes: Notes) -> Result<(), Fault> {
        if notes.is_empty() {
            return Ok(());
        }
        let turn = self.turn();
        let store = self.store.get();
        let appended = store.map_or(Ok(0), |store| store.append_notes(&notes));
        crate::store::keep(&mut self.kept_notes(), notes);
        drop(turn);
        let record = appended?;
        store.map_or(Ok(()), |store| store.synchronise(record))
    }

    /// Replaces all notes.
    pub(crate) fn take_notes(&self, notes: Notes) {
        *self.kept_notes() = notes;
    }

    /// Stores what packets have changed since the last call: cells of registers and counters. Call it periodically
    /// and at the end. Does nothing if the state is not stored.
    pub fn save(&self) -> Result<(), Fault> {
        let Some(store) = self.store.get() else { return Ok(()) };
        let turn = self.turn();
        let pipeline = self.pipeline();
        match store.is_snapshot_due() {
            Some(Reason::Change) => return store.snapshot(None, self).map_err(unavailable),
            Some(Reason::LongLog) => {
                drop(turn);
                return self.begin_beside()?.finish();
            }
            None => {}
        }
        let mut last = 0;
        pipeline.changed_cells(pipeline.queue(&*self.command_queue), &mut |changed| {
            last = store.append(&pipeline.program, &mut changed.iter())?;
            Ok(())
        })?;
        drop(turn);
        store.synchronise(last)?;
        store.note_stored();
        Ok(())
    }

    /// Begins a snapshot that is made beside the log. Writers wait while the state is captured, not while it is
    /// written.
    pub(crate) fn begin_beside(&self) -> Result<SnapshotBeside<'_>, Fault> {
        let _turn = self.turn();
        let pipeline = self.pipeline();
        let store = self.store.get().ok_or_else(|| Fault::new(Code::FailedPrecondition, "the state is not kept"))?;
        let frozen = pipeline.freeze(pipeline.queue(&*self.command_queue))?;
        let begun = store.begin_beside(&self.notes()).map_err(unavailable);
        let begun = begun.inspect_err(|_| pipeline.forget_stored_cells())?;
        Ok(SnapshotBeside { command_queue: &*self.command_queue, store, pipeline, frozen, begun })
    }

    /// Passes everything that a restart must restore to `sink`, as updates for a switch with empty tables.
    pub(crate) fn read_all(&self, sink: Steps<'_>) -> Result<(), Fault> {
        let pipeline = self.pipeline();
        let queue = pipeline.queue(&*self.command_queue);
        pipeline.freeze(queue)?.read_all(queue, sink)
    }

    /// Deletes the entries that the program itself declares and that are not const.
    pub(crate) fn clear_entries(&self) {
        let _turn = self.turn();
        let pipeline = self.pipeline();
        let mut tables = pipeline.tables.lock();
        let mut batch = tables.begin();
        for table in 0..batch.tables().len() {
            // Const tables refuse, and keep what they have.
            let _kept = batch.perform(table, tables::Operation::Clear);
        }
        batch.commit();
    }

    /// How the messages of a digest are sent to controllers; `None` if they do not subscribe.
    pub fn digest_config(&self, digest: DigestId) -> Option<DigestConfig> {
        self.pipeline().state().digests.get(&digest).copied()
    }

    /// Passes the entries whose idle timeout has passed to `sink`, some at a time: each once, and again after each
    /// further multiple of its timeout, until it is hit. Returns the nanoseconds until the next one is due, if there is
    /// one. `program` is the one that runs.
    pub fn idle_entries(
        &self,
        program: &Arc<Program>,
        sink: &mut dyn FnMut(Vec<TableEntry>),
    ) -> Result<Option<u64>, Fault> {
        let pipeline = self.pipeline_of(program)?;
        pipeline.idle_entries(pipeline.queue(&*self.command_queue), sink)
    }

    /// The ports that have no link, as far as has been reported.
    pub fn ports_down(&self) -> OrderedSet<u32> {
        self.pipeline().state().ports_down.clone()
    }

    /// A port went down or came up: members that watch it can no longer be chosen, or can be chosen again.
    pub fn port_changed(&self, port: u32, is_up: bool) {
        let _turn = self.turn();
        let pipeline = self.pipeline();
        pipeline.port_changed(port, is_up);
        if !pipeline.state().backed_up.is_empty() {
            let there = Arc::clone(&pipeline);
            // A switch that ends copies nothing any more.
            let _ends = pipeline.queue(&*self.command_queue).ask(move |switch| {
                resources::choose_replicas(&there.state(), switch, port);
            });
        }
    }

    /// Replaces the running switch by another one with another program. What controllers have set outside of the old
    /// switch is discarded; what should survive must be in the new one already.
    ///
    /// `program` is what the owner stores with the state, if that is stored.
    pub fn replace(&self, new: Switch, program: serde_json::Value) -> Result<(), Fault> {
        let pipeline = Arc::new(Pipeline::of(&new));
        self.put(pipeline, new, |_, _| Ok(()), program, Notes::new())
    }

    /// The same with a switch that belonged to another control plane until now: what controllers have set there, and
    /// its notes, are used from now on. Between the bursts of the two, `carry` may transfer state from the old switch
    /// to the new one while packets wait; if it refuses, the old switch continues.
    pub fn adopt<T: Send + 'static>(
        &self,
        prepared: &Api,
        new: Switch,
        carry: impl FnOnce(&mut Switch, &mut Switch) -> Result<T, Fault> + Send + 'static,
        program: serde_json::Value,
    ) -> Result<T, Fault> {
        self.put(prepared.pipeline(), new, carry, program, prepared.notes())
    }

    fn put<T: Send + 'static>(
        &self,
        pipeline: Arc<Pipeline>,
        mut new: Switch,
        carry: impl FnOnce(&mut Switch, &mut Switch) -> Result<T, Fault> + Send + 'static,
        program: serde_json::Value,
        mut notes: Notes,
    ) -> Result<T, Fault> {
        let _turn = self.turn();
        self.switch_writes.fetch_add(1, Ordering::Relaxed);
        notes.extend(timers::notes_of_timers(self.notes()));
        // Links are the switch's, whatever runs on it.
        let ports_down = self.pipeline().state().ports_down.clone();
        for port in ports_down {
            pipeline.port_changed(port, false);
            resources::choose_replicas(&pipeline.state(), &mut new, port);
        }
        let (left, put) = self.command_queue.ask(move |switch| match carry(switch, &mut new) {
            Ok(carried) => (switch.replace(new), Ok(carried)),
            Err(fault) => (new, Err(fault)),
        })?;
        // The switch that does not run, or no longer, is dropped here, while packets are forwarded.
        drop(left);
        let carried = put?;
        *self.pipeline.write().unwrap_or_else(PoisonError::into_inner) = pipeline;
        self.take_notes(notes);
        self.set_program_note(program.clone());
        match self.store.get().map(|store| store.snapshot(Some(program), self)) {
            Some(Err(error)) => {
                let message = format!("the program runs, but a restart will forget it: {error}");
                Err(Fault::new(Code::Unavailable, message))
            }
            _ => Ok(carried),
        }
    }
}
