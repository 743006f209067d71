//! Notifications of idle entries.
//!
//! The tables with idle timeouts are scanned periodically, and at the next known timeout. An entry is reported when
//! its timeout has passed, and again after each further multiple of it, until a packet hits it.

use crate::feed::timestamp;
use crate::service::Core;
use crate::tasks::blocking;
use crate::to_proto::{Asked, Encoder};
use base::OrderedMap;
use control::api::entity::TableEntry;
use control::api::{Entity, Query, TableQuery};
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::stream_message_response::Update as Answer;
use prost::Message as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The interval of scans, if they are short and no entry is due sooner.
const INTERVAL: Duration = Duration::from_millis(50);

/// The minimum interval of scans.
const INTERVAL_MIN: Duration = Duration::from_millis(1);

/// Scans take at most this fraction of a processor.
const SHARE: u32 = 20;

/// The most entries in a message.
const ENTRIES_MAX: usize = 512;

/// How often each entry has been reported since its last hit, by the message that identifies it.
#[derive(Debug, Default)]
pub(crate) struct Reports(OrderedMap<Vec<u8>, u64>);

impl Reports {
    /// Whether to report an entry that has been idle for this time.
    fn is_due(&mut self, name: Vec<u8>, idle_ns: u64, timeout_ns: u64) -> bool {
        let times = idle_ns / timeout_ns.max(1);
        if times == 0 {
            self.0.remove(&name);
            return false;
        }
        let reported = self.0.insert(name, times).unwrap_or(0);
        // Fewer multiples than before: it was hit since.
        times != reported
    }

    /// Forgets entries that were not seen.
    fn keep(&mut self, seen: &OrderedMap<Vec<u8>, ()>) {
        self.0.retain(|name, _| seen.contains_key(name));
    }
}

/// When an entry with this idle time is due next: at each multiple of its timeout.
fn due_in(idle_ns: u64, timeout_ns: u64) -> Duration {
    Duration::from_nanos(timeout_ns - idle_ns % timeout_ns)
}

/// Scans the tables until the server ends.
pub(crate) async fn watch(core: Arc<Core>) {
    let mut reports = Reports::default();
    let mut program = None;
    loop {
        let started = Instant::now();
        let there = Arc::clone(&core);
        let current = core.pipelines().current().map(|target| Arc::clone(&target.schema.program));
        let is_same = match (&program, &current) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        if !is_same {
            reports = Reports::default();
            program = current;
        }
        let mut pause = INTERVAL;
        if program.as_ref().is_some_and(|program| program.tables.iter().any(|table| table.support_timeout)) {
            let looked = blocking(move || {
                let due_in = look(&there, &mut reports);
                (reports, due_in)
            });
            let due_in;
            (reports, due_in) = looked.await.unwrap_or_default();
            pause = due_in.map_or(INTERVAL, |due_in| due_in.clamp(INTERVAL_MIN, INTERVAL));
        }
        tokio::time::sleep(pause.max(started.elapsed() * SHARE)).await;
    }
}

/// Reports the entries that are due. Returns the time until the next one, as far as is known.
fn look(core: &Core, reports: &mut Reports) -> Option<Duration> {
    let target = core.pipelines().current()?;
    let (mut seen, mut next) = (OrderedMap::new(), None::<Duration>);
    let tables = target.schema.program.tables.iter_enumerated().filter(|(_, table)| table.support_timeout);
    for (table, _) in tables {
        let numbered = target.numbered().clone();
        let encoder = Encoder { schema: &target.schema, numbered: &numbered, asked: Asked::default() };
        let mut due = Vec::new();
        let query = TableQuery { table: Some(table), with_idle: true, ..TableQuery::default() };
        let mut sink = |entities: Vec<Entity>| {
            for entity in &entities {
                let Entity::TableEntry(entry) = entity else { continue };
                let timeout_ns = entry.attributes.idle_timeout_ns;
                if let Some(idle_ns) = entry.idle_ns.filter(|_| timeout_ns > 0) {
                    let due_in = due_in(idle_ns, timeout_ns);
                    next = Some(next.map_or(due_in, |next| next.min(due_in)));
                }
                if let Some(message) = report(&encoder, entry, reports, &mut seen) {
                    due.push(message);
                }
                if due.len() >= ENTRIES_MAX {
                    notify(core, std::mem::take(&mut due));
                }
            }
            true
        };
        // The switch is ending, or another program runs: there is nothing to report.
        let _none = target.api.read_of(&target.schema.program, &Query::TableEntries(query), &mut sink);
        if !due.is_empty() {
            notify(core, due);
        }
    }
    reports.keep(&seen);
    next
}

/// The message of an entry that is to be reported.
fn report(
    encoder: &Encoder<'_>,
    entry: &TableEntry,
    reports: &mut Reports,
    seen: &mut OrderedMap<Vec<u8>, ()>,
) -> Option<v1::TableEntry> {
    let (timeout_ns, idle_ns) = (entry.attributes.idle_timeout_ns, entry.idle_ns?);
    if timeout_ns == 0 {
        return None;
    }
    let message = encoder.entry_name(entry)?;
    let name = message.encode_to_vec();
    seen.insert(name.clone(), ());
    reports.is_due(name, idle_ns, timeout_ns).then_some(message)
}

fn notify(core: &Core, table_entry: Vec<v1::TableEntry>) {
    core.notify(Answer::IdleTimeoutNotification(v1::IdleTimeoutNotification { table_entry, timestamp: timestamp() }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_due_at_each_multiple_of_its_time() {
        let due = [0, 1, 99, 100, 101, 250].map(|idle_ns| due_in(idle_ns, 100).as_nanos());
        assert_eq!(due, [100, 99, 1, 100, 99, 50]);
    }

    #[test]
    fn an_entry_is_reported_each_time_its_time_is_over() {
        let mut reports = Reports::default();
        let due: Vec<bool> =
            [5, 99, 100, 150, 199, 200, 301, 20, 90, 120].map(|idle| reports.is_due(vec![1], idle, 100)).to_vec();
        assert_eq!(due, [false, false, true, false, false, true, true, false, false, true]);
    }
}
