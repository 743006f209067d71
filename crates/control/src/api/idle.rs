//! Entries that no packet has hit for the idle timeout that their controller has set.
//!
//! What enters: the time of each entry's last hit, from the switch, and its timeout, which is stored with it. What
//! leaves: the idle entries, each when its timeout has passed and again after each further multiple of it, until a
//! packet hits it. Tables are scanned in parts, so that neither the switch nor a writer waits for long.

use crate::api::entity::TableEntry;
use crate::api::fault::Fault;
use crate::api::{Pipeline, ProgramQueue};
use base::OrderedMap;
use base::index::Id as _;
use ir::TableId;
use tables::Handle;

/// Entries that are scanned together: the switch reads this many times of hits in ten to twenty microseconds.
const PIECE: usize = 2048;

/// The idle entries that were reported.
pub(crate) type ReportedIdle = OrderedMap<(TableId, Handle), Reported>;

/// A report of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    /// The sequence number of the entry: a handle may go to another one.
    sequence: u64,
    last_hit_ns: u64,
    /// How many of its timeouts had passed.
    times: u64,
}

/// An entry with a timeout.
#[derive(Clone, Copy)]
struct Timed {
    handle: Handle,
    sequence: u64,
    timeout_ns: u64,
}

impl Pipeline {
    /// Passes the entries that are to be reported to `sink`, some at a time. Returns the nanoseconds until the next
    /// one is due; `None` if no entry has a timeout.
    pub(crate) fn idle_entries(
        &self,
        command_queue: ProgramQueue<'_>,
        sink: &mut dyn FnMut(Vec<TableEntry>),
    ) -> Result<Option<u64>, Fault> {
        let mut due_in_ns = None::<u64>;
        let tables = self.program.tables.iter_enumerated().filter(|(_, table)| table.support_timeout);
        for (table, _) in tables {
            let mut next = Some(Handle(0));
            while let Some(from) = next {
                let timed;
                (timed, next) = self.timed(table, from);
                if timed.is_empty() {
                    continue;
                }
                let handles: Vec<Handle> = timed.iter().map(|entry| entry.handle).collect();
                let (now_ns, last_hits_ns) = command_queue.ask(move |switch| {
                    let now_ns = switch.now_ns();
                    let times = &switch.externs_mut().last_hits_ns[table];
                    let last_hit_ns = |handle: &Handle| times.get(handle.0 as usize).copied().unwrap_or(now_ns);
                    (now_ns, handles.iter().map(last_hit_ns).collect::<Vec<u64>>())
                })?;
                let seen: Vec<(Timed, u64)> = timed.into_iter().zip(last_hits_ns).collect();
                let due_in =
                    |(it, hit_ns): &(Timed, u64)| it.timeout_ns - now_ns.saturating_sub(*hit_ns) % it.timeout_ns;
                due_in_ns = due_in_ns.into_iter().chain(seen.iter().map(due_in)).min();
                let entries = self.newly_idle(table, now_ns, seen);
                if !entries.is_empty() {
                    sink(entries);
                }
            }
        }
        let (mut state, set) = (self.state(), self.tables.lock());
        state.idle_reported.retain(|&(table, handle), reported| {
            set.tables()[table.index()].get(handle).is_some_and(|entry| entry.sequence == reported.sequence)
        });
        Ok(due_in_ns)
    }

    /// The entries with a timeout in one part of a table, and where the next part starts.
    fn timed(&self, table: TableId, from: Handle) -> (Vec<Timed>, Option<Handle>) {
        let set = self.tables.lock();
        let (mut timed, mut next) = (Vec::new(), None);
        for entry in set.tables()[table.index()].entries_from(from).take(PIECE) {
            next = Some(Handle(entry.handle.0 + 1));
            let timeout_ns = entry.attributes.as_ref().map_or(0, |attributes| attributes.idle_timeout_ns);
            if timeout_ns > 0 {
                timed.push(Timed { handle: entry.handle, sequence: entry.sequence, timeout_ns });
            }
        }
        (timed, next)
    }

    /// The entries that are idle now, for as many of their timeouts as was not reported yet.
    fn newly_idle(&self, table: TableId, now_ns: u64, entries: Vec<(Timed, u64)>) -> Vec<TableEntry> {
        let (mut state, set) = (self.state(), self.tables.lock());
        let mut idle = Vec::new();
        for (Timed { handle, sequence, timeout_ns }, last_hit_ns) in entries {
            let times = now_ns.saturating_sub(last_hit_ns) / timeout_ns;
            if times == 0 {
                continue;
            }
            // The handle may have gone to another entry since.
            let entry = set.tables()[table.index()].get(handle).filter(|entry| entry.sequence == sequence);
            let Some(entry) = entry else { continue };
            let reported = Reported { sequence, last_hit_ns, times };
            if state.idle_reported.insert((table, handle), reported) != Some(reported) {
                idle.push(self.entry(&mut state, table, entry));
            }
        }
        idle
    }
}
