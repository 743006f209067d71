//! From the worker to the controllers: packets for the CPU port, digests.
//!
//! What enters: events from the worker's thread. What leaves: messages on the streams of primary controllers. The
//! worker never waits: events that do not fit into the queue are counted and dropped. Also counted are events that
//! are lost on the streams, and those that arrive while no controller is connected. Digests that controllers have
//! already, or that are in the queue, are dropped by the worker: a packet with one must not cause a wake-up.

use crate::digest_filter::{DigestFilter, Mark};
use crate::outbox::Outbox;
use crate::packet_io;
use crate::pipelines::Pipeline;
use crate::service::Core;
use crate::stream::message;
use crate::to_proto::signed;
use crate::watchers::Watchers;
use crate::{data, digest_lists};
use base::Bits;
use control::api::entity::DigestConfig;
use ir::{DigestId, Program};
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::stream_message_response::Update as Answer;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::{self, Receiver, Sender};

/// The most messages, and bytes of packets, that wait for the server.
const MESSAGES_MAX: usize = 8192;
const BYTES_MAX: usize = 16 << 20;

/// An event from the worker.
enum Event {
    Packet(Vec<u8>),
    Digest(DigestId, Vec<Bits>, Mark),
}

/// The worker's end. Digests and packets belong to the program that was set last.
pub struct Feed {
    sender: Sender<(Arc<Program>, Event)>,
    program: Arc<Program>,
    counts: Arc<Counts>,
    /// Digests that need not be sent again, unless a watcher sees every digest.
    filter: Arc<DigestFilter>,
    watchers: Watchers,
}

/// State that both ends share.
#[derive(Default)]
pub(crate) struct Counts {
    waiting_bytes: AtomicUsize,
    /// Shared with the streams' outboxes.
    losses: Losses,
}

/// Why an event reached no controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loss {
    /// The server's queue was full.
    Crowded,
    /// No controller was connected.
    NoController,
    /// A controller did not read, or left.
    Unread,
    /// Another program was set while the digest waited, or its configuration was deleted.
    Replaced,
    /// No controller has subscribed to the digest. This is not a loss, but it explains missing digests.
    NotConfigured,
}

/// The reasons by which lost digests are counted.
const LOSSES: [(Loss, &str); 5] = [
    (Loss::Crowded, "crowded"),
    (Loss::NoController, "no_controller"),
    (Loss::Unread, "unread"),
    (Loss::Replaced, "replaced"),
    (Loss::NotConfigured, "not_configured"),
];

/// The numbers of packets, digests and idle entries that should have reached a controller and did not.
#[derive(Clone, Default)]
pub(crate) struct Losses(Arc<LossCounts>);

#[derive(Default)]
struct LossCounts {
    /// Packets and idle entries.
    others: AtomicU64,
    /// By reason, in their order.
    digests: [AtomicU64; LOSSES.len()],
}

impl Losses {
    fn add(&self, count: u64) {
        self.0.others.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts lost digests.
    pub fn add_digests(&self, loss: Loss, count: u64) {
        self.0.digests[loss as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// Counts a message that will not be sent. A list of digests counts as its digests; responses to messages of a
    /// controller do not count.
    pub fn add_message(&self, loss: Loss, message: &v1::StreamMessageResponse) {
        match &message.update {
            Some(Answer::Packet(_)) => self.add(1),
            Some(Answer::Digest(list)) => self.add_digests(loss, list.data.len() as u64),
            Some(Answer::IdleTimeoutNotification(notification)) => self.add(notification.table_entry.len() as u64),
            _ => {}
        }
    }

    fn digests(&self, loss: Loss) -> u64 {
        self.0.digests[loss as usize].load(Ordering::Relaxed)
    }

    pub fn total(&self) -> u64 {
        let reasons = LOSSES.iter().filter(|(loss, _)| *loss != Loss::NotConfigured);
        let digests: u64 = reasons.map(|(loss, _)| self.digests(*loss)).sum();
        self.0.others.load(Ordering::Relaxed) + digests
    }
}

/// The server's end.
pub(crate) struct Fed {
    receiver: Receiver<(Arc<Program>, Event)>,
    counts: Arc<Counts>,
}

/// Both ends, for a worker that runs this program.
pub(crate) fn feed(program: Arc<Program>, core: &Core) -> (Feed, Fed) {
    let (sender, receiver) = mpsc::channel(MESSAGES_MAX);
    let counts = Arc::new(Counts { losses: core.losses.clone(), ..Counts::default() });
    let (filter, watchers) = (core.digests().filter(), core.watchers.clone());
    (Feed { sender, program, counts: Arc::clone(&counts), filter, watchers }, Fed { receiver, counts })
}

impl Feed {
    /// A frame that was sent to the CPU port.
    pub fn packet_in(&mut self, frame: &[u8]) {
        if self.counts.waiting_bytes.load(Ordering::Relaxed) + frame.len() > BYTES_MAX {
            self.counts.losses.add(1);
            return;
        }
        self.counts.waiting_bytes.fetch_add(frame.len(), Ordering::Relaxed);
        if !self.send(Event::Packet(frame.to_vec())) {
            self.counts.waiting_bytes.fetch_sub(frame.len(), Ordering::Relaxed);
        }
    }

    /// A digest of the program.
    pub fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        let mark = self.filter.mark(digest, &values);
        if self.watchers.is_any() {
            self.send(Event::Digest(digest, values, mark));
        } else if !self.filter.has(mark) {
            // Before it is in the queue: the server removes the mark when it takes the digest out.
            let suppresses = self.filter.suppresses(digest);
            if suppresses {
                self.filter.add(mark);
            }
            if !self.send(Event::Digest(digest, values, mark)) && suppresses {
                self.filter.remove(mark);
            }
        }
    }

    /// Another program runs from now on.
    pub fn program_changed(&mut self, program: &Arc<Program>) {
        self.program = Arc::clone(program);
    }

    /// Packets, digests and idle entries that reached no controller: the queue was full, or no controller was
    /// connected.
    pub fn lost(&self) -> u64 {
        self.counts.losses.total()
    }

    /// Digests that reached no controller, by reason.
    pub fn digests_lost(&self) -> [(&'static str, u64); LOSSES.len()] {
        LOSSES.map(|(loss, name)| (name, self.counts.losses.digests(loss)))
    }

    fn send(&mut self, event: Event) -> bool {
        let is_digest = matches!(event, Event::Digest(..));
        let is_sent = self.sender.try_send((Arc::clone(&self.program), event)).is_ok();
        match is_digest {
            _ if is_sent => {}
            true => self.counts.losses.add_digests(Loss::Crowded, 1),
            false => self.counts.losses.add(1),
        }
        is_sent
    }
}

/// Forwards the worker's events until it ends.
pub(crate) async fn distribute(core: Arc<Core>, mut fed: Fed) {
    let started = Instant::now();
    let filter = core.digests().filter();
    loop {
        let now_ns = started.elapsed().as_nanos() as u64;
        send_due(&core, now_ns);
        let due_ns = next_due_ns(&core);
        // A digest's configuration may change while it waits.
        let wait = due_ns.map_or(Duration::from_millis(100), |due| Duration::from_nanos(due.saturating_sub(now_ns)));
        let event = tokio::select! {
            event = fed.receiver.recv() => event,
            () = tokio::time::sleep(wait.min(Duration::from_millis(100))) => continue,
        };
        let Some((program, event)) = event else { return };
        match event {
            Event::Packet(frame) => {
                fed.counts.waiting_bytes.fetch_sub(frame.len(), Ordering::Relaxed);
                packet_in(&core, &program, &frame);
            }
            Event::Digest(digest, values, mark) => {
                filter.remove(mark);
                let now_ns = started.elapsed().as_nanos() as u64;
                let config = digest_in(&core, &program, digest, (values, mark), now_ns);
                // Lists that are acknowledged: controllers do not get repetitions before.
                filter.set_suppresses(digest, config.is_some_and(|config| config.ack_timeout_ns > 0));
            }
        }
    }
}

fn packet_in(core: &Core, program: &Arc<Program>, frame: &[u8]) {
    let Some(target) = core.pipelines().of_program(program) else { return };
    if let Some(packet) = packet_io::message(&target.schema, frame) {
        core.notify(Answer::Packet(packet));
    }
}

/// Puts a digest in a list. Returns its configuration, if a controller has subscribed to it.
fn digest_in(
    core: &Core,
    program: &Arc<Program>,
    digest: DigestId,
    (values, mark): (Vec<Bits>, Mark),
    now_ns: u64,
) -> Option<DigestConfig> {
    let Some(target) = core.pipelines().of_program(program) else {
        core.losses.add_digests(Loss::Replaced, 1);
        return None;
    };
    let id = target.schema.ids.digests.get(digest).copied();
    if let Some(id) = id.filter(|_| core.watchers.is_any()) {
        show_digest(core, &target, id, &values);
    }
    let Some((id, config)) = id.and_then(|id| Some((id, config_of(core, id)?))) else {
        core.losses.add_digests(Loss::NotConfigured, 1);
        return None;
    };
    let list = core.digests().add(id, config, (values, mark), now_ns);
    if let Some(list) = list {
        send(core, &list);
    }
    Some(config)
}

/// Shows a digest to watchers, as a list of its own, which is not acknowledged.
fn show_digest(core: &Core, target: &Pipeline, id: u32, values: &[Bits]) {
    let Some(digest) = target.schema.model.digest(id) else { return };
    let data = vec![data::write(&target.schema, &digest.data, values)];
    core.watchers.show(&Answer::Digest(v1::DigestList { digest_id: id, list_id: 0, data, timestamp: timestamp() }));
}

fn config_of(core: &Core, id: u32) -> Option<DigestConfig> {
    let target = core.pipelines().current()?;
    let digest = target.schema.model.digest(id)?;
    core.api.digest_config(*digest.digests.first()?)
}

fn next_due_ns(core: &Core) -> Option<u64> {
    core.digests().next_due_ns(|id| config_of(core, id))
}

fn send_due(core: &Core, now_ns: u64) {
    let (lists, forgotten) = core.digests().due(now_ns, |id| config_of(core, id));
    core.losses.add_digests(Loss::Replaced, forgotten);
    lists.iter().for_each(|list| send(core, list));
}

fn send(core: &Core, list: &digest_lists::List) {
    let Some(target) = core.pipelines().current() else { return };
    let Some(digest) = target.schema.model.digest(list.digest) else { return };
    let data = list.messages.iter().map(|leaves| data::write(&target.schema, &digest.data, leaves)).collect();
    let update =
        Answer::Digest(v1::DigestList { digest_id: list.digest, list_id: list.list, data, timestamp: timestamp() });
    let ack_timeout_ns = config_of(core, list.digest).map_or(0, |config| config.ack_timeout_ns);
    // Without an acknowledgement, the program does not report its contents again.
    core.notify_within(update, (ack_timeout_ns > 0).then(|| Duration::from_nanos(ack_timeout_ns)));
}

/// Nanoseconds since the epoch.
pub(crate) fn timestamp() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    signed(since.as_nanos().try_into().unwrap_or(u64::MAX))
}

impl Core {
    /// Whether a primary controller has not read a report of idle entries.
    pub fn has_unread_idle(&self) -> bool {
        let hub = self.hub();
        let primaries = hub.arbitration.primaries();
        primaries.into_iter().any(|(session, _)| hub.sessions.get(&session).is_some_and(Outbox::has_unread_idle))
    }

    /// Sends the primary controllers a message that may be lost.
    pub fn notify(&self, update: Answer) {
        self.notify_within(update, None);
    }

    /// The same with a message that is to be sent within this time, or not at all.
    fn notify_within(&self, update: Answer, time_max: Option<Duration>) {
        // Digests were shown when they arrived.
        if !matches!(update, Answer::Digest(_)) {
            self.watchers.show(&update);
        }
        let primaries = {
            let hub = self.hub();
            let primaries = hub.arbitration.primaries();
            let outbox = |(session, config)| Some((hub.sessions.get(&session)?.clone(), config));
            primaries.into_iter().filter_map(outbox).collect::<Vec<_>>()
        };
        if primaries.is_empty() {
            self.losses.add_message(Loss::NoController, &message(update));
            return;
        }
        let now = Instant::now();
        let expires = time_max.and_then(|it| now.checked_add(it));
        for (outbox, config) in primaries {
            let visible = config.map_or_else(|| Some(update.clone()), |config| config.visible_part(&update));
            let Some(visible) = visible else { continue };
            if outbox.post(message(visible), now, expires) == crate::outbox::Posted::Closed {
                tracing::warn!("a controller that does not read has been disconnected");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::index::Id as _;

    /// The values of the digests that are queued when the worker reports these.
    fn queued(filter: &Arc<DigestFilter>, values: &[u64]) -> Vec<u64> {
        let (sender, mut receiver) = mpsc::channel(3);
        let (program, counts) = (Arc::new(Program::new(&ir::v1model::ARCHITECTURE)), Arc::default());
        let mut feed = Feed { sender, program, counts, filter: Arc::clone(filter), watchers: Watchers::default() };
        values.iter().for_each(|&value| feed.digest(DigestId::from_index(0), vec![Bits::from_u64(8, value)]));
        let mut queued = Vec::new();
        while let Ok((_, Event::Digest(_, values, mark))) = receiver.try_recv() {
            filter.remove(mark);
            queued.push(values[0].low_u64());
        }
        queued
    }

    #[test]
    fn a_digest_that_is_queued_does_not_crowd_others_out() {
        let filter = Arc::new(DigestFilter::default());
        assert_eq!(queued(&filter, &[1, 1, 1, 2]), [1, 1, 1], "each is of interest");
        filter.set_suppresses(DigestId::from_index(0), true);
        assert_eq!(queued(&filter, &[1, 1, 1, 2, 1, 2]), [1, 2]);
        assert_eq!(queued(&filter, &[1, 2, 3, 4, 3]), [1, 2, 3], "there is room for three");
        assert_eq!(queued(&filter, &[4]), [4], "what found no room is reported again");
    }
}
