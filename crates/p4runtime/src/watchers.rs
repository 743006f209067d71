//! Watchers: clients that do not bid and see the messages for controllers.
//!
//! What enters: packets for the CPU port, digests as they arrive, idle entries, changes of the primary controller.
//! What leaves: the same on the stream of each watcher. Nothing waits for a watcher, and watchers do not replace
//! controllers: a message that only watchers have seen counts as lost, and one that a watcher misses because it reads
//! too slowly does not.

use crate::feed::Losses;
use crate::outbox::{Outbox, Outgoing};
use crate::stream::message;
use crate::tasks;
use base::OrderedMap;
use p4runtime_proto::p4::v1::stream_message_response::Update as Answer;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tonic::Status;

/// Watchers at once: up to 8 MiB may wait for each.
const WATCHERS_MAX: usize = 16;

/// All watchers; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Watchers(Arc<Shared>);

#[derive(Default)]
struct Shared {
    present: Mutex<Present>,
    /// Their number, for a check without the lock.
    count: AtomicUsize,
}

#[derive(Default)]
struct Present {
    outboxes: OrderedMap<u64, Outbox>,
    last: u64,
}

impl Watchers {
    /// A stream for a new watcher, which ends when it is dropped.
    pub fn join(&self) -> Result<Outgoing, Status> {
        let (outbox, outgoing) = Outbox::new(Losses::default());
        let id = {
            let mut present = self.lock();
            if present.outboxes.len() >= WATCHERS_MAX {
                let message = format!("there are {WATCHERS_MAX} watchers already: the most that there can be");
                return Err(Status::resource_exhausted(message));
            }
            present.last += 1;
            let id = present.last;
            present.outboxes.insert(id, outbox.clone());
            self.0.count.store(present.outboxes.len(), Ordering::Relaxed);
            id
        };
        let watchers = self.clone();
        tasks::spawn(async move {
            outbox.closed().await;
            let mut present = watchers.lock();
            present.outboxes.remove(&id);
            watchers.0.count.store(present.outboxes.len(), Ordering::Relaxed);
        });
        Ok(outgoing)
    }

    /// Whether there are watchers.
    pub fn is_any(&self) -> bool {
        self.0.count.load(Ordering::Relaxed) != 0
    }

    /// Sends a message to all watchers that read.
    pub fn show(&self, update: &Answer) {
        let now = Instant::now();
        for outbox in self.lock().outboxes.values() {
            outbox.post(message(update.clone()), now, None);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        // Each change is one insertion or removal.
        self.0.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4runtime_proto::p4::v1::PacketIn;
    use tokio_stream::StreamExt as _;

    #[tokio::test]
    async fn all_see_it_and_who_leaves_makes_room() {
        let watchers = Watchers::default();
        let mut all: Vec<Outgoing> = (0..WATCHERS_MAX).map(|_| watchers.join().unwrap_or_else(|_| panic!())).collect();
        assert_eq!(watchers.join().err().map(|refused| refused.code()), Some(tonic::Code::ResourceExhausted));
        watchers.show(&Answer::Packet(PacketIn { payload: vec![7], ..PacketIn::default() }));
        for watcher in &mut all {
            assert!(matches!(watcher.next().await, Some(Ok(_))));
        }
        drop(all.pop());
        while watchers.join().is_err() {
            tokio::task::yield_now().await;
        }
        drop(all);
        while watchers.is_any() {
            tokio::task::yield_now().await;
        }
    }
}
