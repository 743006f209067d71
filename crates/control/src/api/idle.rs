//! Entries that no packet has hit for as long as their controller wanted to wait.
//!
//! What enters: the time of each entry's last hit, which the switch knows, and its timeout, which is stored with it.
//! What leaves: the entries that are idle, each once; an entry that is hit again becomes idle anew. Tables are looked
//! through a piece at a time, so that neither the switch nor a writer waits for long.

use crate::api::Pipeline;
use crate::api::entity::TableEntry;
use crate::api::fault::Fault;
use base::index::Id as _;
use ir::TableId;
use std::collections::BTreeMap;
use switch::Door;
use tables::Handle;

/// Entries that are looked at together.
const PIECE: usize = 512;

/// The idle entries that were told, each with its sequence number and the time of its last hit.
pub(crate) type Told = BTreeMap<(TableId, Handle), (u64, u64)>;

/// An entry with a timeout.
#[derive(Clone, Copy)]
struct Timed {
    handle: Handle,
    sequence: u64,
    timeout_ns: u64,
}

impl Pipeline {
    /// Gives the entries that have become idle since this was called last to the sink, some at a time.
    pub(crate) fn idle_entries(&self, door: &dyn Door, sink: &mut dyn FnMut(Vec<TableEntry>)) -> Result<(), Fault> {
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
                let (now_ns, last_hits_ns) = door.ask(move |switch| {
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
        state.idle_told.retain(|&(table, handle), &mut (sequence, _)| {
            set.tables()[table.index()].get(handle).is_some_and(|entry| entry.sequence == sequence)
        });
        Ok(())
    }

    /// Those of a piece of a table's entries that have a timeout, and where the next piece starts.
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

    /// Those that are idle now and were not told.
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
            if state.idle_told.insert((table, handle), (sequence, last_hit_ns)) != Some((sequence, last_hit_ns)) {
                idle.push(self.entry(&mut state, table, entry));
            }
        }
        idle
    }
}
