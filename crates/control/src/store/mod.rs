//! Persistent state: what was acknowledged is restored after a restart, however the switch ended.
//!
//! What enters: the updates that a control plane carried out, and periodically the cells that packets have changed.
//! What leaves: after a restart, the same updates, for a switch that may run another program by then. See
//! `docs/design/state.md`.
//!
//! * `log`: files that preserve records through a crash; `system`: the system calls that they use.
//! * `folder`: the folder and its lock, without access for others.
//! * `format`: updates as bytes, by the names of the program.

mod folder;
pub(crate) mod format;
mod log;
mod system;

pub use log::StoreError;

use crate::api::{Api, Atomicity, Code, Entity, Fault, Steps, Update};
use ir::Program;
use log::{Beside, Log};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A log shorter than this does not justify a snapshot.
const LOG_BYTES_MIN: u64 = 64 << 20;

/// Updates in one record of a snapshot, and in one write when state is restored.
const RECORD_UPDATES: usize = 1024;

/// Complaints about updates that are shown one by one.
const COMPLAINTS_MAX: usize = 20;

/// A folder in which the state of a switch is stored.
#[derive(Debug)]
pub struct Store {
    inner: Mutex<Inner>,
    /// The durable records.
    synchronised: Mutex<u64>,
}

#[derive(Debug)]
struct Inner {
    log: Log,
    /// What the owner stores with the state, to recognise the program.
    program: Value,
    /// Records appended so far.
    appended: u64,
    /// Previous logs that may not be durable yet.
    earlier: Vec<Arc<File>>,
    /// The length of the log in bytes at which a new snapshot is due.
    snapshot_due_bytes: u64,
    /// Why a change is in no file. Later changes would then refer to a state that no start restores, so that nothing
    /// is stored until a snapshot has everything.
    lacking: Option<String>,
}

/// Why a snapshot is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// A change is missing in the log.
    Change,
    /// The log has grown long.
    LongLog,
}

/// A record that is JSON.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Record {
    /// The first record of a snapshot, and the head of a log: what the owner stores to recognise the program.
    Program(Value),
    /// What clients of the control plane store beside entities; null removes one.
    Notes(BTreeMap<String, Value>),
}

/// The contents of a folder when it was opened.
#[derive(Debug, Default)]
pub struct Saved {
    /// What the owner stored with the state; null if there was no state.
    pub program: Value,
    /// Records with updates.
    writes: Vec<Box<[u8]>>,
    /// What clients of the control plane have stored beside entities.
    notes: BTreeMap<String, Value>,
    /// Descriptions of damage, for people.
    pub complaints: Vec<String>,
}

impl Store {
    /// Opens a folder, which is created if it is missing. Until [`Api::keep_in`], nothing new is stored.
    pub fn open(folder: &Path) -> Result<(Store, Saved), StoreError> {
        let (log, mut recovered) = Log::open(folder)?;
        let mut saved = Saved::of_records(std::mem::take(&mut recovered.records));
        recovered.complaints.append(&mut saved.complaints);
        // What the head of the log has, in case that the snapshot was lost.
        if let (Value::Null, Some(head)) = (&saved.program, &recovered.head)
            && let Ok(Record::Program(program)) = serde_json::from_slice(head)
        {
            saved.program = program;
        }
        if saved.program.is_null() && !saved.writes.is_empty() {
            log.set_all_aside("the program of this state is unknown", &mut recovered);
        }
        saved.complaints = recovered.complaints;
        let inner = Inner {
            log,
            program: Value::Null,
            appended: 0,
            earlier: Vec::new(),
            snapshot_due_bytes: LOG_BYTES_MIN,
            lacking: None,
        };
        Ok((Store { inner: Mutex::new(inner), synchronised: Mutex::new(0) }, saved))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A failed append truncates what it wrote: the log is intact whoever held the lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends updates that were carried out. They are durable once [`Store::synchronise`] was called with the
    /// result.
    pub(crate) fn append(&self, program: &Program, updates: &mut dyn Iterator<Item = &Update>) -> Result<u64, Fault> {
        self.append_record(format::record(program, updates))
    }

    /// The same for notes; null removes one.
    pub(crate) fn append_notes(&self, notes: &BTreeMap<String, Value>) -> Result<u64, Fault> {
        self.append_record(Some(json!({ "notes": notes }).to_string().into_bytes()))
    }

    fn append_record(&self, record: Option<Vec<u8>>) -> Result<u64, Fault> {
        let mut inner = self.inner();
        let Some(record) = record else { return Ok(inner.appended) };
        if let Some(lacking) = &inner.lacking {
            return Err(not_stored(lacking));
        }
        if let Err(error) = inner.log.append(&record) {
            return Err(not_stored(inner.lacking.insert(error.to_string())));
        }
        inner.appended += 1;
        Ok(inner.appended)
    }

    /// Waits until all records up to this one are durable. Threads that wait at the same time share one
    /// synchronisation.
    pub(crate) fn synchronise(&self, record: u64) -> Result<(), Fault> {
        let mut synchronised = self.synchronised.lock().unwrap_or_else(PoisonError::into_inner);
        if *synchronised >= record {
            return Ok(());
        }
        let (files, appended, extent) = {
            let inner = self.inner();
            if let Some(lacking) = &inner.lacking {
                return Err(not_stored(lacking));
            }
            let files: Vec<Arc<File>> = inner.earlier.iter().cloned().chain(inner.log.handle()).collect();
            (files, inner.appended, inner.log.extent())
        };
        let stored = files.iter().try_for_each(|file| Log::synchronise(file));
        if stored.is_ok() {
            let mut inner = self.inner();
            inner.earlier.retain(|it| !files.iter().any(|file| Arc::ptr_eq(it, file)));
            inner.log.was_stored(extent);
        }
        if let Err(error) = stored {
            // The system may have discarded what it could not write, and report no error the next time.
            return Err(not_stored(self.inner().lacking.insert(error.to_string())));
        }
        *synchronised = appended;
        Ok(())
    }

    /// Notes how many records are durable, so that a start can detect missing ones. Call it periodically.
    pub(crate) fn note_stored(&self) {
        self.inner().log.note_stored();
    }

    /// Why a snapshot should be made now, if it should.
    pub(crate) fn is_snapshot_due(&self) -> Option<Reason> {
        let inner = self.inner();
        match inner.lacking {
            Some(_) => Some(Reason::Change),
            None => (inner.log.bytes() >= inner.snapshot_due_bytes).then_some(Reason::LongLog),
        }
    }

    /// Begins a new generation with the state of `api`, while nothing is written to it. `program` is what the owner
    /// stores with it; none keeps the present value.
    pub(crate) fn snapshot(&self, program: Option<Value>, api: &Api) -> Result<(), StoreError> {
        let mut inner = self.inner();
        inner.program = program.unwrap_or_else(|| inner.program.take());
        let head = json!({ "program": inner.program }).to_string();
        let notes = json!({ "notes": api.notes() }).to_string();
        let mut bytes = 0;
        let program = api.program();
        let begun = inner.log.begin_generation(head.as_bytes(), &mut |write| {
            write_all(write, &head, &notes, &program, &|sink| api.read_all(sink), &mut bytes)
        });
        if let Err(error) = begun {
            inner.lacking = Some(error.to_string());
            return Err(error);
        }
        inner.lacking = None;
        inner.earlier.clear();
        // A log as long as its snapshot doubles the time of a start; a longer one costs more than a snapshot.
        inner.snapshot_due_bytes = LOG_BYTES_MIN.max(bytes);
        Ok(())
    }
}

/// A snapshot that is made beside the log.
pub(crate) struct Begun {
    beside: Beside,
    head: String,
    notes: String,
}

/// Passes everything that a restart must restore to the function that stores it.
type ReadAll<'a> = &'a dyn Fn(Steps<'_>) -> Result<(), Fault>;

impl Store {
    /// Begins a new generation with a captured state, which is written beside what is appended from now on.
    pub(crate) fn begin_beside(&self, notes: &BTreeMap<String, Value>) -> Result<Begun, StoreError> {
        let mut inner = self.inner();
        let before = inner.log.handle();
        let head = json!({ "program": inner.program }).to_string();
        let begun = inner.log.begin_beside(head.as_bytes());
        let beside = begun.inspect_err(|_| inner.snapshot_due_bytes += LOG_BYTES_MIN)?;
        inner.earlier.extend(before);
        Ok(Begun { beside, head, notes: json!({ "notes": notes }).to_string() })
    }

    /// Stores that state. If it fails, the previous generation continues.
    pub(crate) fn finish_beside(&self, begun: Begun, program: &Program, read: ReadAll<'_>) -> Result<(), StoreError> {
        let Begun { beside, head, notes } = begun;
        let mut bytes = 0;
        let written = beside.write(&mut |write| write_all(write, &head, &notes, program, read, &mut bytes));
        let mut inner = self.inner();
        let finished = written.and_then(|()| inner.log.finish_beside(&beside));
        inner.snapshot_due_bytes = match &finished {
            Ok(()) => LOG_BYTES_MIN.max(bytes),
            Err(_) => inner.log.bytes() + LOG_BYTES_MIN,
        };
        finished
    }
}

/// Writes the records of a snapshot, and adds up their bytes.
fn write_all(
    write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    head: &str,
    notes: &str,
    program: &Program,
    read: ReadAll<'_>,
    bytes: &mut u64,
) -> io::Result<()> {
    write(head.as_bytes())?;
    write(notes.as_bytes())?;
    let mut failed = None;
    let read = read(&mut |updates| {
        let mut records = updates.chunks(RECORD_UPDATES);
        let written = records.try_for_each(|updates| {
            let Some(record) = format::record(program, &mut updates.iter()) else { return Ok(()) };
            *bytes += record.len() as u64;
            write(&record)
        });
        failed = written.err();
        failed.is_none()
    });
    read.map_err(|fault| io::Error::other(fault.message))?;
    failed.map_or(Ok(()), Err)?;
    // All entries need them: the names of what they mean by a number. So one damaged record must not take them along.
    write(notes.as_bytes())
}

/// Writes a program and a state as the records of a snapshot.
pub(crate) fn write_records(
    write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    program_note: Value,
    notes: &BTreeMap<String, Value>,
    program: &Program,
    read: ReadAll<'_>,
) -> io::Result<()> {
    let head = json!({ "program": program_note }).to_string();
    let notes = json!({ "notes": notes }).to_string();
    write_all(write, &head, &notes, program, read, &mut 0)
}

/// Merges notes into others: null removes one.
pub(crate) fn keep(notes: &mut BTreeMap<String, Value>, newer: BTreeMap<String, Value>) {
    notes.extend(newer);
    notes.retain(|_, note| !note.is_null());
}

/// A write that was carried out and that a restart may lose.
fn not_stored(error: &str) -> Fault {
    Fault::new(Code::Unavailable, format!("carried out, but a restart will lose it: {error}"))
}

impl Saved {
    /// The records of a snapshot, and those that were written after it.
    pub fn of_records(records: Vec<Box<[u8]>>) -> Saved {
        let mut saved = Saved::default();
        for record in records {
            if record.first() == Some(&format::UPDATES) {
                saved.writes.push(record);
                continue;
            }
            match serde_json::from_slice(&record) {
                Ok(Record::Program(program)) => {
                    saved.program = program;
                    saved.writes.clear();
                    saved.notes.clear();
                }
                Ok(Record::Notes(notes)) => keep(&mut saved.notes, notes),
                Err(_) => saved.complaints.push("a record that this version does not know was ignored".to_owned()),
            }
        }
        saved
    }

    /// Whether the folder held a state.
    pub fn is_some(&self) -> bool {
        !self.program.is_null() || !self.writes.is_empty()
    }

    /// Restores this state in a control plane. What its program does not have is skipped. Returns descriptions of
    /// that.
    pub fn restore(&self, api: &Api) -> Vec<String> {
        let program = api.program();
        let mut complaints = Complaints::default();
        api.clear_entries();
        api.take_notes(self.notes.clone());
        let mut batch = Vec::with_capacity(RECORD_UPDATES);
        for record in &self.writes {
            for update in format::Updates::of(&program, record) {
                match update {
                    // The number of this start.
                    Ok(Update { entity: Entity::Register(cell), .. })
                        if program.registers[cell.array].is_start_number => {}
                    Ok(update) => batch.push(update),
                    Err(mismatch) => complaints.add(mismatch),
                }
                if batch.len() >= RECORD_UPDATES {
                    take_over(api, &mut batch, &mut complaints);
                }
            }
        }
        take_over(api, &mut batch, &mut complaints);
        complaints.finish()
    }
}

/// Carries out stored updates.
fn take_over(api: &Api, batch: &mut Vec<Update>, complaints: &mut Complaints) {
    for outcome in api.write(std::mem::take(batch), Atomicity::ContinueOnError) {
        outcome.unwrap_or_else(|fault| complaints.add(fault.message));
    }
}

/// Complaints, of which only the first are stored.
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
