//! Entries that no packet has hit for the idle timeout that their controller has set.
//!
//! What enters: the time of each entry's last hit, from the switch, and its timeout, which is stored with it. What
//! leaves: the idle entries, each once; an entry that is hit again can become idle again. Tables are scanned in
//! parts, so that neither the switch nor a writer waits for long.

use crate::api::Pipeline;
use crate::api::entity::TableEntry;
use crate::api::fault::Fault;
use base::OrderedMap;
use base::index::Id as _;
use ir::TableId;
use switch::CommandQueue;
use tables::Handle;

/// Entries that are scanned together.
const PIECE: usize = 512;

/// The idle entries that were reported, each with its sequence number and the time of its last hit.
pub(crate) type ReportedIdle = OrderedMap<(TableId, Handle), (u64, u64)>;

/// An entry with a timeout.
#[derive(Clone, Copy)]
struct Timed {
    handle: Handle,
    sequence: u64,
    timeout_ns: u64,
}

impl Pipeline {
    /// Passes the entries that have become idle since the last call to `sink`, some at a time.
    pub(crate) fn idle_entries(
        &self,
        command_queue: &dyn CommandQueue,
        sink: &mut dyn FnMut(Vec<TableEntry>),
    ) -> Result<(), Fault> {
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
                let entries = self.newly_idle(table, now_ns, timed.into_iter().zip(last_hits_ns));
                if !entries.is_empty() {
                    sink(entries);
                }
            }
        }
        let (mut state, set) = (self.state(), self.tables.lock());
        state.idle_reported.retain(|&(table, handle), &mut (sequence, _)| {
            set.tables()[table.index()].get(handle).is_some_and(|entry| entry.sequence == sequence)
        });
        Ok(())
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

    /// The entries that are idle now and were not reported yet.
    fn newly_idle(&self, table: TableId, now_ns: u64, entries: impl Iterator<Item = (Timed, u64)>) -> Vec<TableEntry> {
        let (mut state, set) = (self.state(), self.tables.lock());
        let mut idle = Vec::new();
        for (Timed { handle, sequence, timeout_ns }, last_hit_ns) in entries {
            if now_ns.saturating_sub(last_hit_ns) < timeout_ns {
                continue;
            }
            // The handle may have gone to another entry since.
            let entry = set.tables()[table.index()].get(handle).filter(|entry| entry.sequence == sequence);
            let Some(entry) = entry else { continue };
            if state.idle_reported.insert((table, handle), (sequence, last_hit_ns)) != Some((sequence, last_hit_ns)) {
                idle.push(self.entry(&mut state, table, entry));
            }
        }
        idle
    }
}
