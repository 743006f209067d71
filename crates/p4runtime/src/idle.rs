//! Notifications of idle entries.
//!
//! The tables with idle timeouts are scanned periodically, and at the next known timeout. Scans are bounded in
//! processor time: a scan that waits for a busy switch does not put off the next one. Nothing is reported while a
//! controller has not read the last report: one that falls behind would get the same entries again and again.

use crate::feed::timestamp;
use crate::service::Core;
use crate::tasks::blocking;
use crate::to_proto::{Asked, Encoder};
use control::api::entity::TableEntry;
use nix::time::{ClockId, clock_gettime};
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::stream_message_response::Update as Answer;
use std::sync::Arc;
use std::time::Duration;

/// The interval of scans, if they are short and no entry is due sooner.
const INTERVAL: Duration = Duration::from_millis(50);

/// The minimum interval of scans.
const INTERVAL_MIN: Duration = Duration::from_millis(1);

/// Scans take at most this fraction of a processor.
const SHARE: u32 = 20;

/// The most entries in a message.
const ENTRIES_MAX: usize = 512;

/// Scans the tables until the server ends.
pub(crate) async fn watch(core: Arc<Core>) {
    loop {
        let there = Arc::clone(&core);
        let looked = blocking(move || {
            let began = processor_time();
            let due_in = look(&there);
            (due_in, processor_time().saturating_sub(began))
        });
        let (due_in, used) = looked.await.unwrap_or_default();
        tokio::time::sleep(pause(due_in, used)).await;
    }
}

/// How long to wait after a scan that has used this processor time.
fn pause(due_in: Option<Duration>, used: Duration) -> Duration {
    due_in.map_or(INTERVAL, |due_in| due_in.clamp(INTERVAL_MIN, INTERVAL)).max(used * SHARE)
}

/// The processor time of this thread; 0 if the system does not say.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Reports the entries that are due. Returns the time until the next one, as far as is known.
fn look(core: &Core) -> Option<Duration> {
    let target = core.pipelines().current()?;
    let schema = &target.schema;
    if !schema.program.tables.iter().any(|table| table.support_timeout) {
        return None;
    }
    if core.has_unread_idle() {
        return None;
    }
    let numbered = target.numbered().clone();
    let encoder = Encoder { schema, numbered: &numbered, asked: Asked::default() };
    let mut sink = |entries: Vec<TableEntry>| {
        let names: Vec<v1::TableEntry> = entries.iter().filter_map(|entry| encoder.entry_name(entry)).collect();
        names.chunks(ENTRIES_MAX).for_each(|some| notify(core, some.to_vec()));
    };
    // The switch is ending, or another program runs: there is nothing to report.
    let due_in_ns = target.api.idle_entries(&schema.program, &mut sink).ok()??;
    Some(Duration::from_nanos(due_in_ns))
}

fn notify(core: &Core, table_entry: Vec<v1::TableEntry>) {
    core.notify(Answer::IdleTimeoutNotification(v1::IdleTimeoutNotification { table_entry, timestamp: timestamp() }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_scan_is_when_an_entry_is_due_unless_scans_take_long() {
        let [due, late, short, long] = [10, 900, 1, 7].map(Duration::from_millis);
        assert_eq!(pause(Some(due), Duration::ZERO), due);
        assert_eq!(pause(Some(Duration::ZERO), Duration::ZERO), INTERVAL_MIN);
        assert_eq!([pause(Some(late), short), pause(None, short)], [INTERVAL; 2]);
        assert_eq!(pause(Some(due), long), long * SHARE);
    }
}
