//! Handles of new entries, for the owners of cells by handle: counters, meters, times of the last hit.
//!
//! What enters: the insertions of each batch, from the writer. What leaves: the handles whose cells must be reset
//! before a packet hits the new entry. Handles are reused, and packets may still hit the old entry while the batch that
//! replaces it is being published; so each worker resets its cells when it first enters a state with the new entry.
//! States with arrivals are numbered; a worker that finds the same number as before has nothing to do.

use crate::spec::Handle;
use crate::table::Change;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of arrivals from which superseded ones are removed.
const WAITING_MAX: usize = 1 << 16;

/// An entry that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// Position of its table.
    pub table: usize,
    /// Its handle.
    pub handle: Handle,
    /// The first state with the entry.
    version: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    batches: Vec<Vec<Arrival>>,
    /// The number of arrivals.
    count: usize,
    /// The number of arrivals from which superseded ones are removed next.
    count_max: usize,
}

/// The arrivals of a [`crate::TableSet`] for one worker; clones are of the same.
#[derive(Clone, Debug, Default)]
pub struct Arrivals(Arc<Mutex<Waiting>>);

impl Arrivals {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a worker holds a clone.
    pub(crate) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Adds the insertions among these changes to tables that `keeps_cells`, as those of the state `version`. Returns
    /// whether there are any.
    pub(crate) fn note(
        &self,
        changes: &[(usize, Vec<Change>)],
        keeps_cells: impl Fn(usize) -> bool,
        version: u64,
    ) -> bool {
        let mut batch = Vec::new();
        for (table, changes) in changes.iter().filter(|(table, _)| keeps_cells(*table)) {
            batch.extend(changes.iter().filter_map(|change| match change {
                Change::Insert { handle, .. } => Some(Arrival { table: *table, handle: *handle, version }),
                _ => None,
            }));
        }
        if batch.is_empty() {
            return false;
        }
        let mut waiting = self.lock();
        waiting.count += batch.len();
        waiting.batches.push(batch);
        if waiting.count > waiting.count_max.max(WAITING_MAX) {
            waiting.thin_out();
        }
        true
    }

    /// Takes the arrivals of the state `version` and of those before it, in their order.
    pub fn take(&self, version: u64) -> Vec<Arrival> {
        let mut waiting = self.lock();
        // After a removal one batch has arrivals of several states.
        let is_due = |arrival: &Arrival| arrival.version <= version;
        let mut due = Vec::new();
        for batch in std::mem::take(&mut waiting.batches) {
            let (now, later): (Vec<Arrival>, Vec<Arrival>) = batch.into_iter().partition(is_due);
            due.push(now);
            if !later.is_empty() {
                waiting.batches.push(later);
            }
        }
        waiting.count = waiting.batches.iter().map(Vec::len).sum();
        drop(waiting);
        due.concat()
    }
}

impl Waiting {
    /// Of the arrivals under one handle only the last counts: the entries before it are gone. So no more remain than
    /// the tables have handles.
    fn thin_out(&mut self) {
        let mut all = std::mem::take(&mut self.batches).concat();
        all.sort_unstable();
        let is_overtaken =
            |earlier: &Arrival, later: &Arrival| (earlier.table, earlier.handle) == (later.table, later.handle);
        all.reverse();
        all.dedup_by(|earlier, later| is_overtaken(earlier, later));
        all.sort_unstable_by_key(|arrival| arrival.version);
        self.count = all.len();
        self.count_max = 2 * self.count;
        self.batches = vec![all];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insertions(table: usize, handles: impl IntoIterator<Item = u32>) -> Vec<(usize, Vec<Change>)> {
        let packed =
            || crate::canonical::PackedMatch { rows: Vec::new().into(), priority: 0, sequence: 0, prefix_len: 0 };
        let insert =
            |handle| Change::Insert { handle: Handle(handle), packed: packed(), action: 0, data: Box::new([]) };
        vec![(table, handles.into_iter().map(insert).collect())]
    }

    fn taken(arrivals: &Arrivals, version: u64) -> Vec<(usize, u32)> {
        arrivals.take(version).iter().map(|arrival| (arrival.table, arrival.handle.0)).collect()
    }

    #[test]
    fn arrivals_wait_for_their_state() {
        let arrivals = Arrivals::default();
        assert!(arrivals.note(&insertions(1, [3, 4]), |_| true, 1));
        assert!(arrivals.note(&insertions(0, [5]), |_| true, 2));
        assert!(!arrivals.note(&insertions(2, [5]), |table| table != 2, 3));
        assert_eq!(taken(&arrivals, 1), [(1, 3), (1, 4)]);
        assert_eq!(taken(&arrivals, 1), []);
        assert_eq!(taken(&arrivals, 9), [(0, 5)]);
    }

    #[test]
    fn a_worker_that_never_looks_costs_bounded_memory_and_misses_nothing() {
        let arrivals = Arrivals::default();
        for version in 1..=10_000 {
            arrivals.note(&insertions(0, 0..100), |_| true, version);
            assert!(arrivals.lock().count <= WAITING_MAX + 100);
        }
        arrivals.note(&insertions(1, [7]), |_| true, 10_001);
        let mut all = taken(&arrivals, 10_001);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 101);
    }
}
