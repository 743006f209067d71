//! Timers of entries that are deleted when they run out.
//!
//! What enters: the entries that packets add, and what actions set the timer of the entry that was hit to, each with
//! the present time. What leaves: the entries whose time is over. A timer has the time of a profile, which controllers
//! can change; that counts from the timer's next start.
//!
//! Each timer has one item in a heap, at a time that is not after the timer's end. An item that is due earlier than its
//! timer is put back, so that a restart costs a store; only a timer that becomes shorter gets an item more. Items that
//! are out of date are removed when there are as many of them as of others.

use base::IndexVec;
use ir::{Program, TableId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tables::Handle;

/// Nanoseconds of a second.
const SECOND_NS: u64 = 1_000_000_000;

/// The times of the first profiles, in seconds, until a controller sets others: those of DPDK's software switch.
const SECONDS: [u64; 5] = [10, 30, 60, 120, 300];

/// The time of all others, in seconds: half a day.
const OTHER_SECONDS: u64 = 43_200;

/// The number of items from which on those that are out of date are removed.
const QUEUE_ITEMS_MIN: usize = 64;

/// The timer of an entry.
#[derive(Clone, Copy, Default)]
struct Timer {
    /// When it runs out; 0 if the entry has none.
    end_ns: u64,
    /// The time of its earliest item in the heap; 0 if it has none.
    queued_ns: u64,
    profile: u8,
}

/// The timers of all tables whose entries expire.
#[derive(Default)]
pub struct EntryTimers {
    /// By handle; empty for tables whose entries do not expire.
    timers: IndexVec<TableId, Vec<Timer>>,
    queue: BinaryHeap<Reverse<(u64, TableId, Handle)>>,
    /// The number of items at which those that are out of date are removed next.
    queue_max: usize,
    /// The time of each profile, in nanoseconds.
    profiles_ns: Vec<u64>,
}

impl EntryTimers {
    /// No timer runs.
    pub(crate) fn new(program: &Program) -> EntryTimers {
        let of_table = |table: &ir::Table| match table.expires {
            true => vec![Timer::default(); table.default_cell() as usize],
            false => Vec::new(),
        };
        let profile = |number: usize| SECONDS.get(number).copied().unwrap_or(OTHER_SECONDS) * SECOND_NS;
        EntryTimers {
            timers: program.tables.iter().map(of_table).collect(),
            queue: BinaryHeap::new(),
            queue_max: QUEUE_ITEMS_MIN,
            profiles_ns: (0..=usize::from(u8::MAX)).map(profile).collect(),
        }
    }

    /// The time of a profile, in nanoseconds.
    pub fn profile_time_ns(&self, profile: u8) -> u64 {
        self.profiles_ns.get(usize::from(profile)).copied().unwrap_or(OTHER_SECONDS * SECOND_NS)
    }

    /// Sets the time of a profile, in nanoseconds: for timers that start from now on.
    pub fn set_profile_time_ns(&mut self, profile: u8, time_ns: u64) {
        if let Some(time) = self.profiles_ns.get_mut(usize::from(profile)) {
            *time = time_ns;
        }
    }

    /// Starts the timer of an entry anew, with the time of a profile or, if it has one, of its present profile.
    pub(crate) fn set(&mut self, table: TableId, entry: Handle, profile: Option<u8>, now_ns: u64) {
        let Some(timer) = self.timers.get(table).and_then(|timers| timers.get(entry.0 as usize)).copied() else {
            return;
        };
        if timer.end_ns == 0 && profile.is_none() {
            return;
        }
        let profile = profile.unwrap_or(timer.profile);
        // The first moment of all time stands for none.
        let end_ns = now_ns.saturating_add(self.profile_time_ns(profile)).max(1);
        let is_queued = timer.queued_ns != 0 && timer.queued_ns <= end_ns;
        let queued_ns = if is_queued { timer.queued_ns } else { end_ns };
        self.timers[table][entry.0 as usize] = Timer { end_ns, queued_ns, profile };
        if !is_queued {
            self.enqueue(end_ns, table, entry);
        }
    }

    fn enqueue(&mut self, time_ns: u64, table: TableId, entry: Handle) {
        if self.queue.len() >= self.queue_max {
            let timers = &self.timers;
            self.queue
                .retain(|Reverse((time_ns, table, entry))| timers[*table][entry.0 as usize].queued_ns == *time_ns);
            self.queue_max = QUEUE_ITEMS_MIN.max(2 * self.queue.len());
        }
        self.queue.push(Reverse((time_ns, table, entry)));
    }

    /// Takes the timer from the entry of a handle: another has the handle now.
    pub(crate) fn forget(&mut self, table: TableId, entry: Handle) {
        // Shards have no timers at all.
        let is_known = self.timers.get(table).is_some_and(|timers| timers.len() > entry.0 as usize);
        if is_known {
            self.timers[table][entry.0 as usize].end_ns = 0;
        }
    }

    /// When an entry may expire next.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.queue.peek().map(|Reverse((time_ns, ..))| *time_ns)
    }

    /// Takes an entry whose time is over.
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<(TableId, Handle)> {
        while self.next_ns().is_some_and(|next_ns| next_ns <= now_ns) {
            let Reverse((time_ns, table, entry)) = self.queue.pop()?;
            let timer = &mut self.timers[table][entry.0 as usize];
            if timer.queued_ns != time_ns {
                // The timer has an earlier item, or had one and got another since.
                continue;
            }
            timer.queued_ns = 0;
            if timer.end_ns == 0 {
                continue;
            }
            if timer.end_ns <= now_ns {
                timer.end_ns = 0;
                return Some((table, entry));
            }
            timer.queued_ns = timer.end_ns;
            let end_ns = timer.end_ns;
            self.enqueue(end_ns, table, entry);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::index::Id as _;

    const TABLE: usize = 0;

    fn timers() -> EntryTimers {
        let mut timers = EntryTimers {
            timers: IndexVec::new(),
            queue: BinaryHeap::new(),
            queue_max: QUEUE_ITEMS_MIN,
            profiles_ns: vec![100, 10, 1_000],
        };
        timers.timers.push(vec![Timer::default(); 4]);
        timers
    }

    fn set(timers: &mut EntryTimers, entry: u32, profile: Option<u8>, now_ns: u64) {
        timers.set(TableId::from_index(TABLE), Handle(entry), profile, now_ns);
    }

    fn due(timers: &mut EntryTimers, now_ns: u64) -> Vec<u32> {
        std::iter::from_fn(|| timers.take_due(now_ns)).map(|(_, entry)| entry.0).collect()
    }

    #[test]
    fn a_timer_runs_out_once() {
        let mut timers = timers();
        set(&mut timers, 0, Some(0), 5);
        set(&mut timers, 1, Some(1), 5);
        assert_eq!(timers.next_ns(), Some(15));
        assert_eq!(due(&mut timers, 14), []);
        assert_eq!(due(&mut timers, 15), [1]);
        assert_eq!(due(&mut timers, 105), [0]);
        assert_eq!((due(&mut timers, u64::MAX), timers.next_ns()), (vec![], None));
    }

    #[test]
    fn a_restart_counts_from_now_and_needs_a_timer() {
        let mut timers = timers();
        set(&mut timers, 0, None, 5);
        assert_eq!(timers.next_ns(), None);
        set(&mut timers, 0, Some(0), 5);
        set(&mut timers, 0, None, 50);
        assert_eq!(due(&mut timers, 149), []);
        assert_eq!(due(&mut timers, 150), [0]);
    }

    #[test]
    fn a_timer_becomes_shorter_and_longer_again() {
        let mut timers = timers();
        set(&mut timers, 0, Some(2), 0);
        set(&mut timers, 0, Some(1), 1);
        set(&mut timers, 0, Some(0), 2);
        assert_eq!(due(&mut timers, 101), []);
        assert_eq!(due(&mut timers, 102), [0]);
        assert_eq!(due(&mut timers, 5_000), []);
    }

    #[test]
    fn a_handle_that_has_gone_to_another_entry_has_no_timer() {
        let mut timers = timers();
        set(&mut timers, 3, Some(1), 0);
        timers.forget(TableId::from_index(TABLE), Handle(3));
        assert_eq!(due(&mut timers, 500), []);
        set(&mut timers, 3, Some(1), 500);
        assert_eq!(due(&mut timers, 510), [3]);
    }

    #[test]
    fn shards_have_no_timers() {
        let mut timers = EntryTimers::default();
        set(&mut timers, 3, Some(1), 0);
        timers.forget(TableId::from_index(TABLE), Handle(3));
        assert_eq!(due(&mut timers, u64::MAX), []);
    }

    #[test]
    fn restarts_do_not_fill_the_queue() {
        let mut timers = timers();
        for now_ns in 0..1_000 {
            set(&mut timers, 0, Some((now_ns % 3) as u8), now_ns);
            due(&mut timers, now_ns);
            assert!(timers.queue.len() <= QUEUE_ITEMS_MIN);
        }
    }
}
