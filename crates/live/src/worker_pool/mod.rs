//! The worker pool: the worker threads, as the first worker sees them.
//!
//! What enters: the number of workers, frames for worker threads. What leaves: frames that worker threads send to
//! ports of the first worker, and their events. The first worker halts the worker threads whenever it does something
//! with the switch or the ports as a whole; all state is then available to it, as if it were the only worker.

pub(crate) mod batch;
pub(crate) mod wake_up;
pub(crate) mod worker_thread;

use crate::flow;
use crate::ports::Ports;
use base::limits::BURST_PACKETS_MAX;
use batch::Batch;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::Scope;
use switch::Frame;
use wake_up::WakeUp;
use worker_thread::{Common, ContextSlot, Round, WorkerContext};

/// The most batches that wait for a worker.
const BATCHES_MAX: usize = 16;

/// While more frames are arriving, they are handed over in groups of this many, if they arrive within this many
/// rounds: the cost of a hand-over per frame is then negligible.
const FRAMES_AT_ONCE: usize = 2 * BURST_PACKETS_MAX;
const ROUNDS_MAX: u32 = 8;

/// The number of empty batches that are kept, and the maximum size of one of them, in bytes.
const SPARE_MAX: usize = 64;
const SPARE_BYTES_MAX: usize = 1 << 20;

/// A worker thread as the first worker sees it.
struct WorkerThread {
    slot: Arc<ContextSlot>,
    to: SyncSender<Box<Batch>>,
    from: Receiver<Box<Batch>>,
    /// The frames for it, and for how many rounds they have waited for more.
    next: Box<Batch>,
    rounds: u32,
    /// Batches that it has and will return.
    lent: usize,
}

/// The worker threads.
pub(crate) struct WorkerPool<'scope, 'env, 's> {
    scope: &'scope Scope<'scope, 'env>,
    common: &'env Common<'s>,
    threads: Vec<WorkerThread>,
    /// Whether handing frames over is worthwhile.
    pub pays: bool,
    /// Whether frames are distributed over worker threads.
    spreads: bool,
    /// A batch of a worker thread that was received when it could not be processed.
    found: Option<Box<Batch>>,
    #[expect(clippy::vec_box, reason = "boxes are what goes from one thread to another")]
    spare: Vec<Box<Batch>>,
}

impl<'scope, 'env, 's: 'env> WorkerPool<'scope, 'env, 's> {
    pub fn new(scope: &'scope Scope<'scope, 'env>, common: &'env Common<'s>) -> WorkerPool<'scope, 'env, 's> {
        WorkerPool { scope, common, threads: Vec::new(), pays: false, spreads: false, found: None, spare: Vec::new() }
    }

    /// Whether there are worker threads.
    pub fn is_there(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Whether frames are distributed over worker threads.
    pub fn is_spread_to(&self) -> bool {
        self.is_there() && self.spreads
    }

    /// The number of workers.
    pub fn workers(&self) -> usize {
        self.threads.len() + 1
    }

    // ------------------------------------------------------------------------------------------------- side by side

    /// Distributes frames by flow. Those of other workers are removed, those of the first worker stay: returns their
    /// number; they are at the front and in order.
    pub fn spread(&mut self, frames: &mut [Frame<'_>]) -> usize {
        let workers = self.workers();
        let mut own = 0;
        for position in 0..frames.len() {
            let frame = &frames[position];
            match flow::share(flow::hash(frame.bytes()), workers) {
                0 => {
                    frames.swap(own, position);
                    own += 1;
                }
                worker => self.threads[worker - 1].next.push(frame),
            }
        }
        own
    }

    /// Hands over the frames for worker threads; while `more_come`, few frames may wait for others. False if a worker
    /// thread is too slow: nothing more may be distributed.
    pub fn hand_over(&mut self, more_come: bool) -> bool {
        let mut have_room = true;
        for thread in &mut self.threads {
            let frames = thread.next.len();
            if frames == 0 {
                continue;
            }
            thread.rounds += 1;
            if more_come && frames < FRAMES_AT_ONCE && thread.rounds < ROUNDS_MAX {
                continue;
            }
            let fresh = self.spare.pop().unwrap_or_default();
            let mut batch = std::mem::replace(&mut thread.next, fresh);
            batch.is_returned = true;
            match thread.to.try_send(batch) {
                Ok(()) => {
                    thread.lent += 1;
                    thread.rounds = 0;
                    thread.slot.wake_up.notify();
                }
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                    self.spare.push(std::mem::replace(&mut thread.next, batch));
                    have_room = false;
                }
            }
        }
        have_room
    }

    /// The next batch from a worker thread.
    pub fn take(&mut self) -> Option<Box<Batch>> {
        if self.has_return() { self.found.take() } else { None }
    }

    /// Whether a worker thread has one.
    pub fn has_return(&mut self) -> bool {
        if self.found.is_none() {
            let mut threads = self.threads.iter_mut();
            self.found = threads.find_map(|thread| {
                let batch = thread.from.try_recv().ok()?;
                thread.lent -= usize::from(batch.is_returned);
                Some(batch)
            });
        }
        self.found.is_some()
    }

    /// Keeps a batch's memory for reuse.
    pub fn keep(&mut self, mut batch: Box<Batch>) {
        if self.spare.len() < SPARE_MAX && batch.held_bytes() <= SPARE_BYTES_MAX {
            batch.clear();
            self.spare.push(batch);
        }
    }

    /// Whether no worker thread will ever have a packet again, its own or one of the first worker's.
    pub fn is_exhausted(&self) -> bool {
        let is_exhausted = |thread: &WorkerThread| {
            thread.next.is_empty() && thread.lent == 0 && thread.slot.is_exhausted.load(Ordering::Acquire)
        };
        self.threads.iter().all(is_exhausted)
    }

    // ------------------------------------------------------------------------------------------------------ one by one

    /// Halts all worker threads between two rounds. Their state may be accessed until [`WorkerPool::resume`].
    pub fn halt(&mut self) {
        self.common.pause.begin();
        for thread in &self.threads {
            // A thread that takes the lock from now on finds the pause.
            drop(thread.slot.lock());
        }
    }

    /// Lets halted worker threads process the batches for them. Returns whether there was anything, or still is.
    /// Their queues are not read.
    pub fn drain(&mut self) -> bool {
        let mut is_left = !self.hand_over(false);
        for thread in &self.threads {
            if let Some(context) = thread.slot.lock().as_mut() {
                is_left |= context.round(&thread.slot, self.common, false) != Round::Worked(0);
                is_left |= !context.hand_over(self.common);
            }
        }
        is_left
    }

    /// Takes the cores and queues of halted worker threads.
    pub fn quiesce(&mut self, ports: &mut Ports) {
        let mut shards = Vec::new();
        for thread in &self.threads {
            if let Some(context) = thread.slot.lock().as_mut() {
                shards.extend(context.shard.take());
                context.ports.detach().into_iter().for_each(|queue| ports.attach(queue));
            }
        }
        self.common.core().quiesce(shards);
    }

    /// Changes the number of workers, whose state was taken; no batch may be in transit between them.
    pub fn resize(&mut self, workers: usize) -> io::Result<()> {
        while self.threads.len() + 1 > workers.max(1) {
            if let Some(thread) = self.threads.pop() {
                *thread.slot.lock() = None;
                // It may wait for packets; do not wait for it.
                thread.slot.wake_up.notify();
            }
        }
        while self.threads.len() + 1 < workers {
            self.threads.push(self.start_thread()?);
        }
        Ok(())
    }

    fn start_thread(&self) -> io::Result<WorkerThread> {
        let (to, inbound) = sync_channel(BATCHES_MAX);
        let (outbound, from) = sync_channel(BATCHES_MAX);
        let slot = Arc::new(ContextSlot {
            worker: self.threads.len() + 1,
            context: WorkerContext::new(inbound, outbound).into_slot(),
            wake_up: WakeUp::new()?,
            is_exhausted: AtomicBool::new(false),
        });
        let (theirs, common) = (Arc::clone(&slot), self.common);
        std::thread::Builder::new()
            .name(format!("worker {}", slot.worker))
            .spawn_scoped(self.scope, move || worker_thread::work(&theirs, common))?;
        Ok(WorkerThread { slot, to, from, next: Box::default(), rounds: 0, lent: 0 })
    }

    /// Whether frames of ports without queues should be distributed: not if all workers use one core in turn, since
    /// nothing would run in parallel, and not if the cost exceeds the gain.
    pub fn should_spread(&self) -> bool {
        self.pays && self.common.core().divides().is_ok()
    }

    /// Whether the distribution of frames will change when halted worker threads resume: then no batch may be in
    /// transit.
    pub fn will_spread_otherwise(&self) -> bool {
        self.is_there() && self.should_spread() != self.spreads
    }

    /// Gives the worker threads their cores and queues, and resumes them. Returns why they use one core in turn, if
    /// they do.
    pub fn resume(&mut self, ports: &mut Ports) -> Option<String> {
        let mut turns = None;
        self.spreads = self.should_spread();
        if self.is_there() {
            let mut core = self.common.core();
            let mut shards = core.resume_shards(self.threads.len()).into_iter();
            turns = core.divides().err().map(|undivided| undivided.to_string());
            let workers = self.threads.len() + 1;
            let queues = ports.detach();
            for queue in queues {
                match queue.index % workers {
                    0 => ports.attach(queue),
                    worker => {
                        if let Some(context) = self.threads[worker - 1].slot.lock().as_mut() {
                            context.ports.attach(queue);
                        }
                    }
                }
            }
            for thread in &self.threads {
                thread.slot.is_exhausted.store(false, Ordering::Release);
                if let Some(context) = thread.slot.lock().as_mut() {
                    context.shard = shards.next();
                }
            }
        }
        self.open();
        turns
    }

    fn open(&self) {
        self.common.pause.end();
        // They may wait on descriptors that they no longer have.
        self.threads.iter().for_each(|thread| thread.slot.wake_up.notify());
    }
}

impl WorkerContext {
    fn into_slot(self) -> std::sync::Mutex<Option<WorkerContext>> {
        std::sync::Mutex::new(Some(self))
    }
}

impl Drop for WorkerPool<'_, '_, '_> {
    /// However the first worker ends, its worker threads end too: the scope waits for them.
    fn drop(&mut self) {
        for thread in &self.threads {
            *thread.slot.lock() = None;
        }
        self.common.pause.end();
        self.threads.iter().for_each(|thread| thread.slot.wake_up.notify());
    }
}
