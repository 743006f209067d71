//! The tables of a switch, shared between the worker that forwards and the threads of the control plane.
//!
//! What enters: batches of updates, from any thread. What leaves: nothing here; packets meet what the batches changed
//! with their next burst. A switch that runs native code never takes the lock: it looks up in the copy that the reader
//! of [`tables::TableSet`] shows, and a batch is worked into the other one. The interpreter looks up in the store
//! itself and therefore holds the lock for the whole of a run, so that it too sees one state; it does not enter the
//! reader, since a writer that holds the lock may wait for that to be left.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use tables::TableSet;

/// The tables, locked against changes by others.
pub type LockedTables<'a> = MutexGuard<'a, TableSet>;

/// A handle to the tables of one switch; clones are handles to the same.
#[derive(Clone, Debug)]
pub struct SharedTables(Arc<Mutex<TableSet>>);

impl SharedTables {
    /// A handle to these tables and their like as they are now: what is changed from now on does not show in it.
    pub fn frozen(&self) -> SharedTables {
        SharedTables::new(self.lock().frozen())
    }

    pub(crate) fn new(tables: TableSet) -> SharedTables {
        SharedTables(Arc::new(Mutex::new(tables)))
    }

    /// Whether this is a handle to the same tables. Switches of one program have each their own.
    pub(crate) fn are(&self, other: &SharedTables) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether [`Self::lock`] would probably not block.
    pub fn is_free(&self) -> bool {
        !matches!(self.0.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// The tables, by position in the program, to be read and changed. Changes show from the next run on.
    ///
    /// The holder of the result must neither lock again nor run the switch. An [`crate::Output`] or
    /// [`crate::Observer`] must not lock while the switch runs.
    pub fn lock(&self) -> LockedTables<'_> {
        // A batch is checked before it is carried out, and what was refused is undone: a thread that ended with a panic
        // while it held the lock leaves tables that are worth as much as before.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
