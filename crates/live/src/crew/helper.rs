//! A worker that is not the first: what it works with, and its thread.
//!
//! What enters: frames from its own queues and from the first worker. What leaves: frames on its own queues, and
//! batches to the first worker. All that a helper works with lies in a slot behind a lock that it holds for a round.
//! Between rounds the first worker may halt it ([`Gate`]), take everything out, and put it, or something else, back.

use super::batch::{Batch, Note};
use super::bell::{Bell, Gate};
use crate::clock::Clock;
use crate::driver::{Driver, DriverError};
use crate::poll::Poller;
use crate::ports::Ports;
use crate::processor_time::{Activity, ProcessorTime};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use switch::workers::Workers;
use switch::{Burst, Frame, Output, Shard, Switch};

/// How long a helper without packets waits before it looks round.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// How long a worker that had packets looks for more before it waits to be woken, in nanoseconds: to be woken, and to
/// wake, takes several microseconds.
pub(crate) const LOOKS_NS: u64 = 50_000;

/// How often a worker looks whether its turn has come before it waits to be told.
const TURN_LOOKS: usize = 100;
/// Pauses between two looks.
const TURN_PAUSES: usize = 6;

/// The one core of a run, which workers without a shard take turns at. Nothing lies beside its lock that others look
/// at.
#[repr(align(128))]
pub(crate) struct SharedCore<'s>(Mutex<&'s mut Switch>);

/// What all workers of a run share.
pub(crate) struct Common<'s> {
    core: SharedCore<'s>,
    pub clock: Clock,
    pub gate: Gate,
    /// The first worker's.
    pub bell: Bell,
    pub workers: Arc<Workers>,
}

impl<'s> Common<'s> {
    pub fn new(switch: &'s mut Switch, workers: Arc<Workers>) -> io::Result<Common<'s>> {
        let core = SharedCore(Mutex::new(switch));
        Ok(Common { core, clock: Clock::start(), gate: Gate::default(), bell: Bell::new()?, workers })
    }

    /// The one core, for a burst, while others may have it for one. A burst is short, so that it is not waited for by
    /// sleeping at first.
    pub fn turn(&self) -> MutexGuard<'_, &'s mut Switch> {
        for _ in 0..TURN_LOOKS {
            match self.core.0.try_lock() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                // Each look takes the lock's line from who works.
                Err(TryLockError::WouldBlock) => (0..TURN_PAUSES).for_each(|_| std::hint::spin_loop()),
            }
        }
        self.core()
    }

    /// The one core, for a turn.
    pub fn core(&self) -> MutexGuard<'_, &'s mut Switch> {
        self.core.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a helper works with.
pub(crate) struct Post {
    /// Its core; without one it takes turns at the one that all share.
    pub shard: Option<Shard>,
    /// Its queues.
    pub ports: Ports,
    /// Frames from the first worker.
    pub inbound: Receiver<Box<Batch>>,
    /// The next of them, if it was found when nothing more could be done with it.
    pub found: Option<Box<Batch>>,
    /// To the first worker.
    pub outbound: SyncSender<Box<Batch>>,
    /// What goes there next.
    pub exceptions: Option<Box<Batch>>,
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
    Own(&'a mut Shard),
    Shared(MutexGuard<'a, &'s mut Switch>),
}

impl Turn<'_, '_> {
    /// Works on frames. Says whether somebody must see to packets that wait in queues.
    fn forward(&mut self, now_ns: u64, frames: &mut [Frame<'_>], output: &mut dyn Output) -> bool {
        match self {
            Turn::Own(shard) => {
                shard.forward(now_ns, frames, output);
                false
            }
            Turn::Shared(switch) => {
                switch.forward(now_ns, frames, output);
                switch.next_event_ns().is_some()
            }
        }
    }

    fn refuse(&mut self, count: u64) {
        match self {
            Turn::Own(shard) => shard.refuse(count),
            Turn::Shared(switch) => switch.refuse(count),
        }
    }
}

impl Post {
    /// A post without queues and core.
    pub fn new(inbound: Receiver<Box<Batch>>, outbound: SyncSender<Box<Batch>>) -> Post {
        Post { shard: None, ports: Ports::new(Vec::new()), inbound, found: None, outbound, exceptions: None }
    }

    /// Takes up to a burst from each queue, and a batch from the first worker, and works on them. Without `receives`,
    /// the queues are left alone.
    pub fn round(&mut self, slot: &Slot, common: &Common<'_>, receives: bool) -> Round {
        if !self.hand_over(common) {
            return Round::Blocked;
        }
        let mut count = 0;
        let now_ns = common.clock.since_start_ns();
        for position in 0..if receives { self.ports.len() } else { 0 } {
            count += self.receive(position, now_ns, common);
        }
        // What it has received itself goes first, in a batch of its own.
        if self.hand_over(common)
            && self.has_inbound()
            && let Some(mut batch) = self.found.take()
        {
            count += batch.len();
            self.work_on(&mut batch, common);
            self.exceptions = Some(batch);
        }
        self.each_driver(|driver| driver.flush());
        let is_left = !self.hand_over(common);
        let is_exhausted = count == 0 && !is_left && self.ports.all_exhausted();
        if slot.is_exhausted.load(Ordering::Relaxed) != is_exhausted {
            slot.is_exhausted.store(is_exhausted, Ordering::Release);
            // The first worker may wait for this alone.
            common.bell.brought();
        }
        Round::Worked(count)
    }

    /// Takes up to a burst from a queue and works on it.
    fn receive(&mut self, position: usize, now_ns: u64, common: &Common<'_>) -> usize {
        let Post { shard, ports, exceptions, .. } = self;
        let number = ports.number(position);
        let (count, error) = ports.lend(position, now_ns, |ports, burst: &mut Burst<'_>| {
            let mut output = exceptions.get_or_insert_default().output(ports, common.clock.start_ns());
            let mut turn = turn(shard, common);
            turn.refuse(burst.refused());
            let leaves_packets = turn.forward(common.clock.since_start_ns(), burst.frames(), &mut output);
            drop(turn);
            tell_of_packets(leaves_packets, common);
        });
        if let Some(error) = error {
            exceptions.get_or_insert_default().notes.push(Note::PortFailed(number, error));
        }
        count
    }

    /// Works on a batch of the first worker.
    fn work_on(&mut self, batch: &mut Batch, common: &Common<'_>) {
        let Post { shard, ports, .. } = self;
        batch.work(ports, common.clock.start_ns(), |frames, output| {
            let mut turn = turn(shard, common);
            let leaves_packets = turn.forward(common.clock.since_start_ns(), frames, output);
            drop(turn);
            tell_of_packets(leaves_packets, common);
        });
    }

    /// Whether the first worker has brought a batch.
    pub fn has_inbound(&mut self) -> bool {
        if self.found.is_none() {
            self.found = self.inbound.try_recv().ok();
        }
        self.found.is_some()
    }

    /// Does the same to every queue; the first worker is told of those that fail.
    fn each_driver(&mut self, act: impl FnMut(&mut dyn Driver) -> Result<(), DriverError>) {
        let Post { ports, exceptions, .. } = self;
        ports.each_failing(act, |port, error| {
            exceptions.get_or_insert_default().notes.push(Note::PortFailed(port, error));
        });
    }

    /// Hands over what there is for the first worker; false if that must wait.
    pub fn hand_over(&mut self, common: &Common<'_>) -> bool {
        let Some(batch) = self.exceptions.take_if(|batch| !batch.is_empty()) else { return true };
        match self.outbound.try_send(batch) {
            Ok(()) => {
                common.bell.brought();
                true
            }
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                self.exceptions = Some(batch);
                false
            }
        }
    }
}

fn turn<'a, 's>(shard: &'a mut Option<Shard>, common: &'a Common<'s>) -> Turn<'a, 's> {
    match shard {
        Some(shard) => Turn::Own(shard),
        None => Turn::Shared(common.turn()),
    }
}

/// The first worker sees to packets in queues; it may be asleep.
fn tell_of_packets(are_there: bool, common: &Common<'_>) {
    if are_there {
        common.bell.brought();
    }
}

/// Ends the process when a thread panics that has it.
struct PanicIsTheEnd;

impl Drop for PanicIsTheEnd {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // What a main thread that panics ends with.
            std::process::exit(101);
        }
    }
}

/// A helper's thread: rounds, until its post is taken away for good. If it panics, the process ends: a switch that
/// lacks a worker would drop the flows that are this worker's without a word.
pub(crate) fn work(slot: &Slot, common: &Common<'_>) {
    let _end = PanicIsTheEnd;
    let mut poller = Poller::new();
    let mut mark_ns = common.clock.since_start_ns();
    let mut worked_ns = mark_ns;
    let mut processor_time = ProcessorTime::default();
    let mut spend = |mark_ns: &mut u64, activity: Activity| {
        let now_ns = common.clock.since_start_ns();
        let spent_ns = now_ns.saturating_sub(std::mem::replace(mark_ns, now_ns));
        let waited_ns = if activity == Activity::Working { 0 } else { spent_ns };
        let busy_ns = processor_time.note(activity, spent_ns);
        common.workers.load(slot.worker).into_iter().for_each(|load| load.spend(busy_ns, waited_ns));
    };
    loop {
        if common.gate.pass() {
            spend(&mut mark_ns, Activity::Sleeping);
        }
        let mut guard = slot.lock();
        if common.gate.is_closed() {
            continue;
        }
        let Some(post) = guard.as_mut() else { return };
        match post.round(slot, common, true) {
            Round::Blocked => {
                drop(guard);
                spend(&mut mark_ns, Activity::Working);
                std::thread::yield_now();
            }
            Round::Worked(0) => {
                // Nothing but the look for packets: that is no work.
                spend(&mut mark_ns, Activity::Looking);
                if mark_ns.saturating_sub(worked_ns) < LOOKS_NS {
                    drop(guard);
                    std::thread::yield_now();
                    continue;
                }
                let must_wait = poller.gather(post.ports.drivers(), &[slot.bell.fd()]);
                slot.bell.lies_down();
                let may_sleep = must_wait && !post.has_inbound() && !common.gate.is_closed();
                drop(guard);
                if may_sleep {
                    wait(slot, common, &mut poller);
                } else {
                    std::thread::yield_now();
                }
                slot.bell.awake();
                spend(&mut mark_ns, if may_sleep { Activity::Sleeping } else { Activity::Looking });
            }
            Round::Worked(count) => {
                drop(guard);
                common.workers.load(slot.worker).into_iter().for_each(|load| load.count(count as u64));
                spend(&mut mark_ns, Activity::Working);
                worked_ns = mark_ns;
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
            post.each_driver(|driver| driver.acknowledge_error());
        }
        Ok(_) => {}
        // There is nobody to tell; who cannot wait looks again and again.
        Err(_) => std::thread::sleep(Duration::from_millis(1)),
    }
}
