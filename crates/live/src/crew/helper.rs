//! A worker that is not the first: what it works with, and its thread.
//!
//! What enters: frames from its own queues and from the first worker. What leaves: frames on its own queues, and
//! batches to the first worker. All that a helper works with lies in a slot behind a lock that it holds for a round.
//! Between rounds the first worker may halt it ([`Gate`]), take everything out, and put it, or something else, back.

use super::batch::{Batch, BatchOutput, Note};
use super::bell::{Bell, Gate};
use crate::clock::Clock;
use crate::poll::Poller;
use crate::ports::Ports;
use base::limits::BURST_PACKETS_MAX;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use switch::workers::Workers;
use switch::{Lane, Output, Switch};

/// How long a helper without packets waits before it looks round.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// The one core of a run, which workers without a lane take turns at.
pub(crate) type SharedCore<'s> = Mutex<&'s mut Switch>;

/// What all workers of a run share.
pub(crate) struct Common<'s> {
    pub core: SharedCore<'s>,
    pub clock: Clock,
    pub gate: Gate,
    /// The first worker's.
    pub bell: Bell,
    pub workers: Arc<Workers>,
}

impl<'s> Common<'s> {
    /// The one core, for a turn.
    pub fn core(&self) -> MutexGuard<'_, &'s mut Switch> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a helper works with.
pub(crate) struct Post {
    /// Its core; without one it takes turns at the one that all share.
    pub lane: Option<Lane>,
    /// Its queues.
    pub ports: Ports,
    /// Frames from the first worker.
    pub inbound: Receiver<Batch>,
    /// To the first worker.
    pub outbound: SyncSender<Batch>,
    /// What goes there next.
    pub unsent: Batch,
}

/// Where a helper's post lies.
pub(crate) struct Slot {
    /// Which worker this is.
    pub worker: usize,
    /// None: there is no such worker any more.
    pub post: Mutex<Option<Post>>,
    pub bell: Bell,
    /// Whether nothing will ever come from its own queues, and nothing is left of what came.
    pub is_exhausted: AtomicBool,
}

impl Slot {
    pub fn lock(&self) -> MutexGuard<'_, Option<Post>> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// So many frames were worked on.
    Worked(usize),
    /// The first worker must take something first.
    Blocked,
}

/// A core for a turn.
enum Turn<'a, 's> {
    Own(&'a mut Lane),
    Shared(MutexGuard<'a, &'s mut Switch>),
}

impl Turn<'_, '_> {
    fn receive(&mut self, now_ns: u64, port: u32, frame: &[u8]) -> bool {
        match self {
            Turn::Own(lane) => lane.receive(now_ns, port, frame),
            Turn::Shared(switch) => switch.receive(now_ns, port, frame),
        }
    }

    fn run(&mut self, now_ns: u64, output: &mut dyn Output) {
        match self {
            Turn::Own(lane) => lane.run(now_ns, output),
            Turn::Shared(switch) => switch.run(now_ns, output),
        }
    }

    /// Whether somebody must see to packets that wait in queues.
    fn leaves_packets(&self) -> bool {
        match self {
            Turn::Own(_) => false,
            Turn::Shared(switch) => switch.next_event_ns().is_some(),
        }
    }
}

impl Post {
    /// A post without queues and core.
    pub fn new(inbound: Receiver<Batch>, outbound: SyncSender<Batch>) -> Post {
        Post { lane: None, ports: Ports::new(Vec::new()), inbound, outbound, unsent: Batch::default() }
    }

    /// Takes up to a burst from each queue, and a batch from the first worker, and works on them. Without `receives`,
    /// the queues are left alone.
    pub fn round(&mut self, slot: &Slot, common: &Common<'_>, receives: bool) -> Round {
        if !self.hand_over(common) {
            return Round::Blocked;
        }
        let mut count = 0;
        for position in 0..if receives { self.ports.len() } else { 0 } {
            count += self.receive(position, common);
        }
        match self.inbound.try_recv() {
            Ok(batch) => {
                slot.bell.taken();
                count += batch.len();
                self.take_in(batch, common);
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        let unsent = &mut self.unsent;
        self.ports
            .each_failing(|driver| driver.flush(), |port, error| unsent.notes.push(Note::PortFailed(port, error)));
        let is_left = !self.hand_over(common);
        let is_exhausted = count == 0 && !is_left && self.ports.all_exhausted();
        if slot.is_exhausted.swap(is_exhausted, Ordering::AcqRel) != is_exhausted {
            // The first worker may wait for this alone.
            common.bell.ring();
        }
        Round::Worked(count)
    }

    /// Takes up to a burst from a queue and works on it.
    fn receive(&mut self, position: usize, common: &Common<'_>) -> usize {
        let Post { lane, ports, unsent, .. } = self;
        let number = ports.number(position);
        let mut turn = turn(lane, common);
        let now_ns = common.clock.since_start_ns();
        let mut deliver = |frame: &[u8], _stamp_ns: u64| {
            turn.receive(now_ns, number, frame);
        };
        let received = ports.driver(position).receive(BURST_PACKETS_MAX, &mut deliver);
        let count = *received.as_ref().unwrap_or(&0);
        if let Err(error) = received
            && ports.note_failure(position)
        {
            unsent.notes.push(Note::PortFailed(number, error));
        }
        // What came before an error was delivered.
        run(&mut turn, common, &mut BatchOutput { ports, batch: unsent, start_ns: common.clock.start_ns() });
        count
    }

    /// Works on a batch of the first worker.
    fn take_in(&mut self, mut batch: Batch, common: &Common<'_>) {
        let Post { lane, ports, unsent, .. } = self;
        let mut turn = turn(lane, common);
        let mut output = BatchOutput { ports, batch: unsent, start_ns: common.clock.start_ns() };
        for (port, frame, time_ns) in batch.frames() {
            if turn.receive(time_ns, port, frame) {
                turn.run(common.clock.since_start_ns(), &mut output);
            }
        }
        run(&mut turn, common, &mut output);
        drop(turn);
        if unsent.is_empty() {
            // Its memory is as good as new.
            batch.clear();
            *unsent = batch;
        }
    }

    /// Hands over what there is for the first worker; false if that must wait.
    pub fn hand_over(&mut self, common: &Common<'_>) -> bool {
        if self.unsent.is_empty() {
            return true;
        }
        match self.outbound.try_send(std::mem::take(&mut self.unsent)) {
            Ok(()) => {
                common.bell.brought();
                true
            }
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                self.unsent = batch;
                false
            }
        }
    }
}

fn turn<'a, 's>(lane: &'a mut Option<Lane>, common: &'a Common<'s>) -> Turn<'a, 's> {
    match lane {
        Some(lane) => Turn::Own(lane),
        None => Turn::Shared(common.core()),
    }
}

fn run(turn: &mut Turn<'_, '_>, common: &Common<'_>, output: &mut dyn Output) {
    turn.run(common.clock.since_start_ns(), output);
    if turn.leaves_packets() {
        // The first worker sees to the queues; it may be asleep.
        common.bell.ring();
    }
}

/// A helper's thread: rounds, until its post is taken away for good.
pub(crate) fn work(slot: &Slot, common: &Common<'_>) {
    let mut poller = Poller::new();
    let mut mark_ns = common.clock.since_start_ns();
    let spend = |mark_ns: &mut u64, is_busy: bool| {
        let now_ns = common.clock.since_start_ns();
        let spent_ns = now_ns.saturating_sub(std::mem::replace(mark_ns, now_ns));
        let (busy_ns, waited_ns) = if is_busy { (spent_ns, 0) } else { (0, spent_ns) };
        common.workers.load(slot.worker).into_iter().for_each(|load| load.spend(busy_ns, waited_ns));
    };
    loop {
        if common.gate.pass() {
            spend(&mut mark_ns, false);
        }
        let mut guard = slot.lock();
        if common.gate.is_closed() {
            continue;
        }
        let Some(post) = guard.as_mut() else { return };
        match post.round(slot, common, true) {
            Round::Blocked => {
                drop(guard);
                spend(&mut mark_ns, true);
                std::thread::yield_now();
            }
            Round::Worked(0) => {
                let must_wait = poller.gather(post.ports.drivers(), &[slot.bell.fd()]);
                let may_sleep = must_wait && slot.bell.may_sleep() && !common.gate.is_closed();
                drop(guard);
                // Nothing but the look for packets: that is no work.
                spend(&mut mark_ns, false);
                if may_sleep {
                    wait(slot, common, &mut poller);
                } else {
                    std::thread::yield_now();
                }
                slot.bell.awake();
                spend(&mut mark_ns, false);
            }
            Round::Worked(count) => {
                drop(guard);
                common.workers.load(slot.worker).into_iter().for_each(|load| load.count(count as u64));
                spend(&mut mark_ns, true);
            }
        }
    }
}

/// Waits for packets without holding the slot, whose contents may go and come back meanwhile.
fn wait(slot: &Slot, common: &Common<'_>, poller: &mut Poller) {
    match poller.wait_gathered(WAIT_MAX) {
        Ok(true) if poller.has_errors() => {
            let mut guard = slot.lock();
            let Some(post) = guard.as_mut().filter(|_| !common.gate.is_closed()) else { return };
            let Post { ports, unsent, .. } = post;
            ports.each_failing(
                |driver| driver.acknowledge_error(),
                |port, error| unsent.notes.push(Note::PortFailed(port, error)),
            );
        }
        Ok(_) => {}
        // There is nobody to tell; who cannot wait looks again and again.
        Err(_) => std::thread::sleep(Duration::from_millis(1)),
    }
}
