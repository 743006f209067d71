//! The queue of messages on a controller's stream.
//!
//! An outbox is bounded. Messages that may be lost (packets, digests, idle entries) are dropped and counted when
//! there is no room; mandatory ones (arbitration, errors) have room of their own. If a controller does not read for a
//! while although messages wait, its stream is closed.
//!
//! A controller that cannot keep up gets fresh packets: those that have waited for long are dropped as long as many
//! messages wait. Otherwise it would decide about each packet when its flow has long been handled, or has ended. A list
//! of digests is dropped when the time for its acknowledgement has passed before it is sent: from then on, the program
//! reports again what is still so, and the list itself may report what is no longer so.

use crate::feed::{Loss, Losses};
use p4runtime_proto::p4::v1::StreamMessageResponse;
use p4runtime_proto::p4::v1::stream_message_response::Update;
use prost::Message as _;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tonic::Status;

/// The most bytes of messages that wait.
const BYTES_MAX: usize = 8 << 20;

/// The most mandatory messages that wait, and of the others.
const URGENT_MAX: usize = 256;
const NOTICES_MAX: usize = 8192;

/// A packet that has waited for this time is dropped if more than [`CROWD`] messages wait.
const STALE: Duration = Duration::from_millis(250);
const CROWD: usize = 256;

/// How long a controller may read nothing while its outbox is full.
const STALL_TIMEOUT: Duration = Duration::from_secs(10);

/// The writing end; clones share the outbox.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Notified when the stream ends.
    closing: Notify,
    /// The counters of all streams.
    losses: Losses,
}

#[derive(Default)]
struct Queue {
    urgent: VecDeque<StreamMessageResponse>,
    notices: VecDeque<Notice>,
    bytes: usize,
    /// Since when it has been full, without anything being read.
    full_since: Option<Instant>,
    /// How the stream ends once no mandatory message waits.
    end: Option<Option<Status>>,
    is_gone: bool,
    waker: Option<Waker>,
}

/// A message that may be lost.
struct Notice {
    message: StreamMessageResponse,
    size: usize,
    posted: Instant,
    /// When it is of no use any more.
    expires: Option<Instant>,
}

impl Notice {
    fn has_expired(&self, now: Instant) -> bool {
        self.expires.is_some_and(|expires| now >= expires)
    }

    fn is_packet(&self) -> bool {
        matches!(self.message.update, Some(Update::Packet(_)))
    }

    fn is_idle(&self) -> bool {
        matches!(self.message.update, Some(Update::IdleTimeoutNotification(_)))
    }
}

/// The result of adding a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Posted {
    /// It waits.
    Waits,
    /// There was no room for it.
    Dropped,
    /// The controller has not read for too long; its stream is closed.
    Closed,
}

impl Outbox {
    /// An outbox and its reading end, which is the response stream. Dropped messages are added to these losses.
    pub fn new(losses: Losses) -> (Outbox, Outgoing) {
        let shared = Arc::new(Shared { losses, ..Shared::default() });
        (Outbox(Arc::clone(&shared)), Outgoing(shared))
    }

    /// Adds a mandatory message.
    pub fn post_urgent(&self, message: StreamMessageResponse) -> Posted {
        let mut queue = self.0.lock();
        if queue.end.is_some() || queue.is_gone {
            return Posted::Dropped;
        }
        if queue.urgent.len() >= URGENT_MAX {
            self.0.give_up(&mut queue);
            return Posted::Closed;
        }
        queue.urgent.push_back(message);
        queue.wake();
        Posted::Waits
    }

    /// Adds a message that may be lost, and is dropped if it is not sent before it expires.
    pub fn post(&self, message: StreamMessageResponse, now: Instant, expires: Option<Instant>) -> Posted {
        let size = message.encoded_len();
        let mut queue = self.0.lock();
        if queue.end.is_some() || queue.is_gone {
            self.0.losses.add_message(Loss::Unread, &message);
            return Posted::Dropped;
        }
        if queue.bytes + size > BYTES_MAX || queue.notices.len() >= NOTICES_MAX {
            self.0.losses.add_message(Loss::Unread, &message);
            let since = *queue.full_since.get_or_insert(now);
            if now.duration_since(since) >= STALL_TIMEOUT {
                self.0.give_up(&mut queue);
                return Posted::Closed;
            }
            return Posted::Dropped;
        }
        queue.bytes += size;
        queue.notices.push_back(Notice { message, size, posted: now, expires });
        queue.wake();
        Posted::Waits
    }

    /// Ends the stream, with this error if there is one. Mandatory messages that wait are sent before.
    pub fn end(&self, status: Option<Status>) {
        let mut queue = self.0.lock();
        if queue.end.is_none() {
            queue.end = Some(status);
        }
        queue.wake();
        self.0.closing.notify_one();
    }

    /// Ends the stream at once with this error, instead of all that waits.
    pub fn cut_off(&self, status: Status) {
        let mut queue = self.0.lock();
        self.0.forget_all(&mut queue);
        queue.end = Some(Some(status));
        queue.wake();
        self.0.closing.notify_one();
    }

    /// Whether a message waits that the controller has not read.
    pub fn has_unread(&self) -> bool {
        let queue = self.0.lock();
        !queue.urgent.is_empty() || !queue.notices.is_empty()
    }

    /// Whether a report of idle entries waits that the controller has not read.
    pub fn has_unread_idle(&self) -> bool {
        self.0.lock().notices.iter().any(Notice::is_idle)
    }

    /// Waits until the reading end is dropped, or the stream is ended by another task. Only one task may wait.
    pub async fn closed(&self) {
        self.0.closing.notified().await;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Each change leaves the queue whole.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self, queue: &mut Queue) {
        self.forget_all(queue);
        queue.give_up();
        self.closing.notify_one();
    }

    /// Drops all waiting messages.
    fn forget_all(&self, queue: &mut Queue) {
        queue.urgent.clear();
        queue.notices.drain(..).for_each(|notice| self.losses.add_message(Loss::Unread, &notice.message));
        queue.bytes = 0;
    }

    /// Drops the first messages that have expired, and the first packets that are stale while many messages wait.
    fn forget_stale(&self, queue: &mut Queue, now: Instant) {
        let is_stale = |it: &Notice| it.is_packet() && now.saturating_duration_since(it.posted) >= STALE;
        while let Some(first) = queue.notices.front()
            && (first.has_expired(now) || queue.notices.len() > CROWD && is_stale(first))
        {
            let Some(stale) = queue.notices.pop_front() else { return };
            queue.bytes -= stale.size;
            self.losses.add_message(Loss::Unread, &stale.message);
        }
    }
}

impl Queue {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn give_up(&mut self) {
        let message = "the controller does not read its messages";
        self.end = Some(Some(Status::resource_exhausted(message)));
        self.wake();
    }

    fn take(&mut self) -> Option<StreamMessageResponse> {
        if let Some(message) = self.urgent.pop_front() {
            return Some(message);
        }
        if self.end.is_some() {
            return None;
        }
        let Notice { message, size, .. } = self.notices.pop_front()?;
        self.bytes -= size;
        self.full_since = None;
        Some(message)
    }
}

/// The reading end of an outbox.
pub(crate) struct Outgoing(Arc<Shared>);

impl tokio_stream::Stream for Outgoing {
    type Item = Result<StreamMessageResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut queue = self.0.lock();
        self.0.forget_stale(&mut queue, Instant::now());
        if let Some(message) = queue.take() {
            return Poll::Ready(Some(Ok(message)));
        }
        match &mut queue.end {
            Some(status) => Poll::Ready(status.take().map(Err)),
            None => {
                queue.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.is_gone = true;
        self.0.forget_all(&mut queue);
        self.0.closing.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4runtime_proto::p4::v1::{DigestList, IdleTimeoutNotification, MasterArbitrationUpdate, P4Data, PacketIn};
    use tokio_stream::StreamExt as _;
    use tonic::Code;

    fn packet(bytes: usize) -> StreamMessageResponse {
        let packet = PacketIn { payload: vec![0; bytes], ..PacketIn::default() };
        StreamMessageResponse { update: Some(Update::Packet(packet)) }
    }

    fn arbitration() -> StreamMessageResponse {
        StreamMessageResponse { update: Some(Update::Arbitration(MasterArbitrationUpdate::default())) }
    }

    /// Adds packets of a mebibyte until one does not fit, and returns how many there are.
    fn fill(outbox: &Outbox, now: Instant) -> usize {
        (0..100).take_while(|_| outbox.post(packet(1 << 20), now, None) == Posted::Waits).count()
    }

    #[tokio::test]
    async fn what_there_is_no_room_for_is_dropped_until_something_is_read() {
        let (outbox, mut outgoing) = Outbox::new(Losses::default());
        let now = Instant::now();
        assert_eq!(fill(&outbox, now), 7);
        assert_eq!(outbox.post(packet(1 << 20), now, None), Posted::Dropped);
        assert_eq!(outbox.post_urgent(arbitration()), Posted::Waits, "there is room of its own for it");
        let first = outgoing.next().await.unwrap().unwrap();
        assert!(matches!(first.update, Some(Update::Arbitration(_))), "it goes first");
        outgoing.next().await.unwrap().unwrap();
        assert_eq!(fill(&outbox, now + STALL_TIMEOUT), 1, "who reads, however slowly, stays");
    }

    #[tokio::test]
    async fn who_never_reads_is_disconnected() {
        let (outbox, mut outgoing) = Outbox::new(Losses::default());
        let now = Instant::now();
        fill(&outbox, now);
        assert_eq!(outbox.post(packet(1 << 20), now + STALL_TIMEOUT / 2, None), Posted::Dropped);
        assert_eq!(outbox.post(packet(1 << 20), now + STALL_TIMEOUT, None), Posted::Closed);
        outbox.closed().await;
        let end = outgoing.next().await.unwrap().unwrap_err();
        assert_eq!(end.code(), Code::ResourceExhausted);
        assert!(outgoing.next().await.is_none());
        assert_eq!(outbox.post(packet(1), now, None), Posted::Dropped);
    }

    #[test]
    fn what_is_dropped_is_counted() {
        let losses = Losses::default();
        let (outbox, outgoing) = Outbox::new(losses.clone());
        let now = Instant::now();
        let digests = DigestList { data: vec![P4Data::default(); 5], ..DigestList::default() };
        outbox.post(StreamMessageResponse { update: Some(Update::Digest(digests)) }, now, None);
        let waiting = fill(&outbox, now) as u64;
        assert_eq!(losses.total(), 1, "the packet that found no room");
        outbox.post_urgent(arbitration());
        drop(outgoing);
        assert_eq!(losses.total(), 1 + waiting + 5, "and what waits for one who leaves, digest by digest");
        assert_eq!(outbox.post(packet(1), now, None), Posted::Dropped);
        assert_eq!(losses.total(), 1 + waiting + 5 + 1);
        let (outbox, _outgoing) = Outbox::new(losses.clone());
        fill(&outbox, now);
        outbox.post(packet(1 << 20), now + STALL_TIMEOUT, None);
        assert_eq!(losses.total(), 7 + waiting + 2 + waiting, "one who does not read and is cut off");
    }

    #[test]
    fn small_messages_and_urgent_ones_are_bounded_by_their_number() {
        let (outbox, _outgoing) = Outbox::new(Losses::default());
        let now = Instant::now();
        let waiting = (0..20_000).take_while(|_| outbox.post(packet(1), now, None) == Posted::Waits).count();
        assert_eq!(waiting, NOTICES_MAX);
        let urgent = (0..1000).take_while(|_| outbox.post_urgent(arbitration()) == Posted::Waits).count();
        assert_eq!(urgent, URGENT_MAX);
    }

    #[tokio::test]
    async fn who_cannot_keep_up_gets_fresh_packets_and_all_reports() {
        let losses = Losses::default();
        let (outbox, mut outgoing) = Outbox::new(losses.clone());
        let idle = || StreamMessageResponse {
            update: Some(Update::IdleTimeoutNotification(IdleTimeoutNotification::default())),
        };
        let now = Instant::now();
        let long_ago = now.checked_sub(STALE).unwrap();
        outbox.post(idle(), long_ago, None);
        let posted: Vec<Posted> = (0..1000).map(|_| outbox.post(packet(1), long_ago, None)).collect();
        assert!(posted.iter().chain(&[outbox.post(packet(2), now, None)]).all(|it| *it == Posted::Waits));
        assert!(outbox.has_unread_idle());
        let first = outgoing.next().await.unwrap().unwrap();
        assert!(matches!(first.update, Some(Update::IdleTimeoutNotification(_))));
        assert!(!outbox.has_unread_idle());
        let mut lengths = Vec::new();
        while outbox.has_unread() {
            let Some(Update::Packet(packet)) = outgoing.next().await.unwrap().unwrap().update else { panic!() };
            lengths.push(packet.payload.len());
        }
        let fresh = lengths.iter().filter(|length| **length == 2).count();
        assert_eq!((lengths.len(), fresh), (CROWD, 1), "where few wait, old ones are sent, too");
        assert_eq!(losses.total(), 1001 - CROWD as u64);
    }

    #[tokio::test]
    async fn digests_whose_time_has_passed_are_not_sent() {
        let losses = Losses::default();
        let (outbox, mut outgoing) = Outbox::new(losses.clone());
        let digests = |list_id| {
            let list = DigestList { list_id, data: vec![P4Data::default(); 5], ..DigestList::default() };
            StreamMessageResponse { update: Some(Update::Digest(list)) }
        };
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let long_ago = now.checked_sub(second).unwrap();
        outbox.post(digests(1), long_ago, Some(now));
        outbox.post(digests(2), long_ago, Some(now));
        outbox.post(digests(3), now, Some(now + 3600 * second));
        outbox.post(digests(4), long_ago, None);
        for expected in [3, 4] {
            let Some(Update::Digest(list)) = outgoing.next().await.unwrap().unwrap().update else { panic!() };
            assert_eq!(list.list_id, expected);
        }
        assert_eq!((losses.total(), outbox.has_unread()), (10, false));
    }
}
