//! State that survives: what was acknowledged is there after a restart, however the switch ended.
//!
//! What enters: the updates that a control plane carried out, and now and then the cells that packets changed. What
//! leaves: after a restart, the same updates, for a switch that may run another program by then. See
//! `docs/design/state.md`.
//!
//! * `log`: files that keep records through a crash.
//! * `format`: updates as JSON, by the names of the program.

pub(crate) mod format;
mod log;

pub use log::StoreError;

use crate::api::entity::UpdateKind;
use crate::api::{Api, Atomicity, Code, Fault, Update};
use ir::Program;
use log::{Log, Recovered};
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A log shorter than this is not worth a snapshot.
const LOG_BYTES_MIN: u64 = 64 << 20;

/// Updates of one record of a snapshot, and of one write when state is taken over.
const RECORD_UPDATES: usize = 1024;

/// Complaints about updates that are shown one by one.
const COMPLAINTS_MAX: usize = 20;

/// A folder in which the state of a switch is kept.
#[derive(Debug)]
pub struct Store {
    inner: Mutex<Inner>,
    /// The records that are stored for good.
    synchronised: Mutex<u64>,
}

#[derive(Debug)]
struct Inner {
    log: Log,
    /// What the owner keeps with the state, to know which program it was of.
    program: Value,
    /// Records appended so far.
    appended: u64,
    /// Bytes of the log at which a new snapshot is due.
    snapshot_due_bytes: u64,
}

/// What a folder held when it was opened.
#[derive(Debug, Default)]
pub struct Saved {
    /// What the owner kept with the state; null if there was no state.
    pub program: Value,
    updates: Vec<Value>,
    /// What was damaged, for people.
    pub complaints: Vec<String>,
}

impl Store {
    /// Opens a folder, which is made if it is missing. Until [`Api::keep_in`], nothing new is kept.
    pub fn open(folder: &Path) -> Result<(Store, Saved), StoreError> {
        let (log, Recovered { records, complaints }) = Log::open(folder)?;
        let mut saved = Saved { complaints, ..Saved::default() };
        for mut record in records {
            match (record.get_mut("program").map(Value::take), record.get_mut("write").map(Value::take)) {
                (Some(program), _) => (saved.program, saved.updates) = (program, Vec::new()),
                (None, Some(Value::Array(updates))) => saved.updates.extend(updates),
                _ => saved.complaints.push("a record that this version does not know was left out".to_owned()),
            }
        }
        let inner = Inner { log, program: Value::Null, appended: 0, snapshot_due_bytes: LOG_BYTES_MIN };
        Ok((Store { inner: Mutex::new(inner), synchronised: Mutex::new(0) }, saved))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // An append that fails cuts off what it wrote: the log is whole whoever held the lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends updates that were carried out. They are stored for good once [`Store::synchronise`] was called with the
    /// result.
    pub(crate) fn append(&self, program: &Program, updates: &mut dyn Iterator<Item = &Update>) -> Result<u64, Fault> {
        let updates: Vec<Value> = updates.map(|update| format::to_json(program, update)).collect();
        let mut inner = self.inner();
        if updates.is_empty() {
            return Ok(inner.appended);
        }
        inner.log.append(&json!({ "write": updates })).map_err(not_stored)?;
        inner.appended += 1;
        Ok(inner.appended)
    }

    /// Waits until all records up to this one are stored. Threads that wait at the same time share one synchronisation.
    pub(crate) fn synchronise(&self, record: u64) -> Result<(), Fault> {
        let mut synchronised = self.synchronised.lock().unwrap_or_else(PoisonError::into_inner);
        if *synchronised >= record {
            return Ok(());
        }
        let (file, appended) = {
            let inner = self.inner();
            (inner.log.handle().map_err(not_stored)?, inner.appended)
        };
        let stored = file.sync_data();
        stored.map_err(|source| not_stored(StoreError { doing: "synchronise the log".to_owned(), source }))?;
        *synchronised = appended;
        Ok(())
    }

    /// Whether the log has grown so long that a snapshot would be shorter.
    pub(crate) fn is_snapshot_due(&self) -> bool {
        let inner = self.inner();
        inner.log.bytes() >= inner.snapshot_due_bytes
    }

    /// Begins anew with the state that `api` has, while nothing is written to it. `program` is what the owner keeps
    /// with it; none keeps what is kept.
    pub(crate) fn snapshot(&self, program: Option<Value>, api: &Api) -> Result<(), StoreError> {
        let mut inner = self.inner();
        inner.program = program.unwrap_or_else(|| inner.program.take());
        let head = json!({ "program": inner.program });
        let running = api.program();
        let mut bytes = 0;
        inner.log.begin_generation(&mut |write| {
            write(&head)?;
            let mut failed = None;
            let read = api.read_all(&mut |entities| {
                for entities in entities.chunks(RECORD_UPDATES) {
                    let update = |(kind, entity): &(UpdateKind, _)| {
                        format::to_json(&running, &Update { kind: *kind, entity: Clone::clone(entity) })
                    };
                    let record = json!({ "write": entities.iter().map(update).collect::<Vec<_>>() });
                    bytes += RECORD_UPDATES as u64;
                    if let Err(error) = write(&record) {
                        failed = Some(error);
                        return false;
                    }
                }
                true
            });
            read.map_err(|fault| io::Error::other(fault.message))?;
            failed.map_or(Ok(()), Err)
        })?;
        // A log of the size of its snapshot doubles the time of a start; more is not worth its room.
        inner.snapshot_due_bytes = LOG_BYTES_MIN.max(bytes * 256);
        Ok(())
    }
}

/// A write that was carried out, and that a restart may forget.
fn not_stored(error: StoreError) -> Fault {
    Fault::new(Code::Unavailable, format!("carried out, but a restart will forget it: {error}"))
}

impl Saved {
    /// Whether the folder held a state.
    pub fn is_some(&self) -> bool {
        !self.program.is_null()
    }

    /// Brings a control plane to this state. What its program has no place for is left out. Returns what that was, for
    /// people.
    pub fn restore(&self, api: &Api) -> Vec<String> {
        let program = api.program();
        let mut complaints = Complaints::default();
        api.clear_entries();
        for updates in self.updates.chunks(RECORD_UPDATES) {
            let mut batch = Vec::with_capacity(updates.len());
            for value in updates {
                match format::from_json(&program, value) {
                    Ok(update) => batch.push(update),
                    Err(mismatch) => complaints.add(mismatch),
                }
            }
            for outcome in api.write(batch, Atomicity::ContinueOnError) {
                outcome.unwrap_or_else(|fault| complaints.add(fault.message));
            }
        }
        complaints.finish()
    }
}

/// Complaints, of which only the first are kept.
#[derive(Default)]
struct Complaints {
    first: Vec<String>,
    more: usize,
}

impl Complaints {
    fn add(&mut self, complaint: String) {
        if self.first.len() < COMPLAINTS_MAX { self.first.push(complaint) } else { self.more += 1 }
    }

    fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.first.push(format!("and {} more", self.more));
        }
        self.first
    }
}

#[cfg(test)]
mod tests;
