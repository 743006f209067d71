//! A worker other than the first: its state, and its thread.
//!
//! What enters: frames from its own queues and from the first worker. What leaves: frames on its own queues, and
//! batches to the first worker. Its state is in a slot whose lock it holds for a round. Between rounds the first
//! worker may halt it ([`Pause`]), take its state out, and put it, or another, back.

use super::batch::{Batch, Note};
use super::wake_up::{Pause, WakeUp};
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

/// How long a worker thread without packets waits before it checks other events.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// How long a worker that had packets polls for more before it sleeps, in nanoseconds: to be woken, and to wake,
/// takes several microseconds.
pub(crate) const LOOKS_NS: u64 = 50_000;

/// How often a worker polls for its turn before it sleeps.
const TURN_LOOKS: usize = 100;
/// Pauses between two polls.
const TURN_PAUSES: usize = 6;

/// The only core of a run, which workers without a shard use in turn. No data that others poll shares the cache line
/// of its lock.
#[repr(align(128))]
pub(crate) struct SharedCore<'s>(Mutex<&'s mut Switch>);

/// State that all workers of a run share.
pub(crate) struct Common<'s> {
    core: SharedCore<'s>,
    pub clock: Clock,
    pub pause: Pause,
    /// The first worker's.
    pub wake_up: WakeUp,
    pub workers: Arc<Workers>,
}

impl<'s> Common<'s> {
    pub fn new(switch: &'s mut Switch, workers: Arc<Workers>) -> io::Result<Common<'s>> {
        let core = SharedCore(Mutex::new(switch));
        Ok(Common { core, clock: Clock::start(), pause: Pause::default(), wake_up: WakeUp::new()?, workers })
    }

    /// The core, for a burst, while others may also have it for one. A burst is short, so that waiting begins with
    /// polling.
    pub fn turn(&self) -> MutexGuard<'_, &'s mut Switch> {
        for _ in 0..TURN_LOOKS {
            match self.core.0.try_lock() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                // Each poll takes the lock's cache line from the worker that has it.
                Err(TryLockError::WouldBlock) => (0..TURN_PAUSES).for_each(|_| std::hint::spin_loop()),
            }
        }
        self.core()
    }

    /// The core, for a turn.
    pub fn core(&self) -> MutexGuard<'_, &'s mut Switch> {
        self.core.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of a worker thread.
pub(crate) struct WorkerContext {
    /// Its core; without one it uses the common one in turn.
    pub shard: Option<Shard>,
    /// Its queues.
    pub ports: Ports,
    /// Frames from the first worker.
    pub inbound: Receiver<Box<Batch>>,
    /// The next of them, if it was received when the halted worker could not process it.
    pub found: Option<Box<Batch>>,
    /// The channel to the first worker.
    pub outbound: SyncSender<Box<Batch>>,
    /// The next batch for it.
    pub exceptions: Option<Box<Batch>>,
}

/// The slot of a worker thread's state.
pub(crate) struct ContextSlot {
    /// Which worker this is.
    pub worker: usize,
    /// None: the worker no longer exists.
    pub context: Mutex<Option<WorkerContext>>,
    pub wake_up: WakeUp,
    /// Whether its own queues will never deliver again, and everything from them has been processed.
    pub is_exhausted: AtomicBool,
}

impl ContextSlot {
    pub fn lock(&self) -> MutexGuard<'_, Option<WorkerContext>> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// The number of processed frames.
    Worked(usize),
    /// The first worker must receive a batch first.
    Blocked,
}

/// A core for a turn.
enum Turn<'a, 's> {
    Own(&'a mut Shard),
    Shared(MutexGuard<'a, &'s mut Switch>),
}

impl Turn<'_, '_> {
    /// Processes frames. Returns whether packets wait in queues.
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

impl WorkerContext {
    /// The state of a worker thread without queues and core.
    pub fn new(inbound: Receiver<Box<Batch>>, outbound: SyncSender<Box<Batch>>) -> WorkerContext {
        WorkerContext { shard: None, ports: Ports::new(Vec::new()), inbound, found: None, outbound, exceptions: None }
    }

    /// Takes up to a burst from each queue, and a batch from the first worker, and processes them. Without
    /// `receives`, the queues are not read.
    pub fn round(&mut self, slot: &ContextSlot, common: &Common<'_>, receives: bool) -> Round {
        if !self.hand_over(common) {
            return Round::Blocked;
        }
        let mut count = 0;
        let now_ns = common.clock.since_start_ns();
        for position in 0..if receives { self.ports.len() } else { 0 } {
            count += self.receive(position, now_ns, common);
        }
        // Its own received frames go first, in a batch of their own.
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
            // The first worker may wait for just this batch.
            common.wake_up.notify();
        }
        Round::Worked(count)
    }

    /// Takes up to a burst from a queue and processes it.
    fn receive(&mut self, position: usize, now_ns: u64, common: &Common<'_>) -> usize {
        let WorkerContext { shard, ports, exceptions, .. } = self;
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

    /// Processes a batch of the first worker.
    fn work_on(&mut self, batch: &mut Batch, common: &Common<'_>) {
        let WorkerContext { shard, ports, .. } = self;
        batch.work(ports, common.clock.start_ns(), |frames, output| {
            let mut turn = turn(shard, common);
            let leaves_packets = turn.forward(common.clock.since_start_ns(), frames, output);
            drop(turn);
            tell_of_packets(leaves_packets, common);
        });
    }

    /// Whether there is a batch from the first worker.
    pub fn has_inbound(&mut self) -> bool {
        if self.found.is_none() {
            self.found = self.inbound.try_recv().ok();
        }
        self.found.is_some()
    }

    /// Calls `act` on every queue; failures are reported to the first worker.
    fn each_driver(&mut self, act: impl FnMut(&mut dyn Driver) -> Result<(), DriverError>) {
        let WorkerContext { ports, exceptions, .. } = self;
        ports.each_failing(act, |port, error| {
            exceptions.get_or_insert_default().notes.push(Note::PortFailed(port, error));
        });
    }

    /// Hands over the batch for the first worker; false if that must wait.
    pub fn hand_over(&mut self, common: &Common<'_>) -> bool {
        let Some(batch) = self.exceptions.take_if(|batch| !batch.is_empty()) else { return true };
        match self.outbound.try_send(batch) {
            Ok(()) => {
                common.wake_up.notify();
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

/// The first worker handles packets in queues; it may be asleep.
fn tell_of_packets(are_there: bool, common: &Common<'_>) {
    if are_there {
        common.wake_up.notify();
    }
}

/// Ends the process when the thread that has it panics.
struct PanicIsTheEnd;

impl Drop for PanicIsTheEnd {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The exit status of a main thread that panics.
            std::process::exit(101);
        }
    }
}

/// The loop of a worker thread: rounds, until its state is removed for good. If it panics, the process ends: a switch
/// without one of its workers would silently drop the flows of that worker.
pub(crate) fn work(slot: &ContextSlot, common: &Common<'_>) {
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
        if common.pause.wait() {
            spend(&mut mark_ns, Activity::Sleeping);
        }
        let mut guard = slot.lock();
        if common.pause.is_on() {
            continue;
        }
        let Some(context) = guard.as_mut() else { return };
        match context.round(slot, common, true) {
            Round::Blocked => {
                drop(guard);
                spend(&mut mark_ns, Activity::Working);
                std::thread::yield_now();
            }
            Round::Worked(0) => {
                // Nothing but a poll for packets: that does not count as work.
                spend(&mut mark_ns, Activity::Looking);
                if mark_ns.saturating_sub(worked_ns) < LOOKS_NS {
                    drop(guard);
                    std::thread::yield_now();
                    continue;
                }
                let must_wait = poller.gather(context.ports.drivers(), &[slot.wake_up.fd()]);
                slot.wake_up.begin_sleep();
                let may_sleep = must_wait && !context.has_inbound() && !common.pause.is_on();
                drop(guard);
                if may_sleep {
                    wait(slot, common, &mut poller);
                } else {
                    std::thread::yield_now();
                }
                slot.wake_up.end_sleep();
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

/// Waits for packets without the lock of the slot, whose contents may be replaced meanwhile.
fn wait(slot: &ContextSlot, common: &Common<'_>, poller: &mut Poller) {
    match poller.wait_gathered(WAIT_MAX) {
        Ok(true) if poller.has_errors() => {
            let mut guard = slot.lock();
            let Some(context) = guard.as_mut().filter(|_| !common.pause.is_on()) else { return };
            context.each_driver(|driver| driver.acknowledge_error());
        }
        Ok(_) => {}
        // The error has no receiver; a worker that cannot sleep keeps polling.
        Err(_) => std::thread::sleep(Duration::from_millis(1)),
    }
}
