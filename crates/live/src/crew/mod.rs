//! The crew: the first worker's helpers, as it sees them.
//!
//! What enters: how many workers there should be, frames for helpers. What leaves: what helpers send to ports that are
//! the first worker's, and what they tell. The first worker halts its helpers whenever it does something with the
//! switch or the ports as a whole; then everything comes home, and it is as if it were alone.

pub(crate) mod batch;
pub(crate) mod bell;
pub(crate) mod helper;

use crate::flow;
use crate::ports::Ports;
use base::limits::BURST_PACKETS_MAX;
use batch::Batch;
use bell::Bell;
use helper::{Common, Post, Round, Slot};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::Scope;
use switch::Frame;

/// Batches that wait for a worker.
const BATCHES_MAX: usize = 16;

/// So many frames are handed over at once while more are coming, if they come within so many rounds: what it costs to
/// hand something over is then nothing for each.
const FRAMES_AT_ONCE: usize = 2 * BURST_PACKETS_MAX;
const ROUNDS_MAX: u32 = 8;

/// Empty batches that are kept, and the most memory that one of them may hold, in bytes.
const SPARE_MAX: usize = 64;
const SPARE_BYTES_MAX: usize = 1 << 20;

/// A helper as the first worker sees it.
struct Helper {
    slot: Arc<Slot>,
    to: SyncSender<Box<Batch>>,
    from: Receiver<Box<Batch>>,
    /// Frames that it gets next, and for how many rounds they have waited for more.
    next: Box<Batch>,
    rounds: u32,
    /// Batches that it has and will give back.
    lent: usize,
}

/// The helpers of the first worker.
pub(crate) struct Crew<'scope, 'env, 's> {
    scope: &'scope Scope<'scope, 'env>,
    common: &'env Common<'s>,
    helpers: Vec<Helper>,
    /// Whether it pays to hand frames over.
    pub pays: bool,
    /// Whether frames are spread over helpers.
    spreads: bool,
    /// What was found of a helper's when nothing more could be done with it.
    found: Option<Box<Batch>>,
    #[expect(clippy::vec_box, reason = "boxes are what goes from one thread to another")]
    spare: Vec<Box<Batch>>,
}

impl<'scope, 'env, 's: 'env> Crew<'scope, 'env, 's> {
    pub fn new(scope: &'scope Scope<'scope, 'env>, common: &'env Common<'s>) -> Crew<'scope, 'env, 's> {
        Crew { scope, common, helpers: Vec::new(), pays: false, spreads: false, found: None, spare: Vec::new() }
    }

    /// Whether there are helpers.
    pub fn is_there(&self) -> bool {
        !self.helpers.is_empty()
    }

    /// Whether frames are spread over helpers.
    pub fn is_spread_to(&self) -> bool {
        self.is_there() && self.spreads
    }

    /// Workers in all.
    pub fn workers(&self) -> usize {
        self.helpers.len() + 1
    }

    // ------------------------------------------------------------------------------------------------- side by side

    /// Spreads frames by flow. Those of others are taken along, and those of the first worker stay: returns how many
    /// they are, at the front and in order.
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
                worker => self.helpers[worker - 1].next.push(frame),
            }
        }
        own
    }

    /// Hands over what there is for helpers; while `more_come`, few frames may wait for others. False if a helper is
    /// behind: nothing more may be spread.
    pub fn hand_over(&mut self, more_come: bool) -> bool {
        let mut have_room = true;
        for helper in &mut self.helpers {
            let frames = helper.next.len();
            if frames == 0 {
                continue;
            }
            helper.rounds += 1;
            if more_come && frames < FRAMES_AT_ONCE && helper.rounds < ROUNDS_MAX {
                continue;
            }
            let fresh = self.spare.pop().unwrap_or_default();
            let mut batch = std::mem::replace(&mut helper.next, fresh);
            batch.is_returned = true;
            match helper.to.try_send(batch) {
                Ok(()) => {
                    helper.lent += 1;
                    helper.rounds = 0;
                    helper.slot.bell.brought();
                }
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                    self.spare.push(std::mem::replace(&mut helper.next, batch));
                    have_room = false;
                }
            }
        }
        have_room
    }

    /// The next batch that a helper has for the first worker.
    pub fn take(&mut self) -> Option<Box<Batch>> {
        if self.has_return() { self.found.take() } else { None }
    }

    /// Whether a helper has one.
    pub fn has_return(&mut self) -> bool {
        if self.found.is_none() {
            let mut helpers = self.helpers.iter_mut();
            self.found = helpers.find_map(|helper| {
                let batch = helper.from.try_recv().ok()?;
                helper.lent -= usize::from(batch.is_returned);
                Some(batch)
            });
        }
        self.found.is_some()
    }

    /// Takes a batch's memory back.
    pub fn keep(&mut self, mut batch: Box<Batch>) {
        if self.spare.len() < SPARE_MAX && batch.held_bytes() <= SPARE_BYTES_MAX {
            batch.clear();
            self.spare.push(batch);
        }
    }

    /// Whether no helper will ever have a packet of its own again, or one of the first worker's.
    pub fn is_exhausted(&self) -> bool {
        let is_exhausted = |helper: &Helper| {
            helper.next.is_empty() && helper.lent == 0 && helper.slot.is_exhausted.load(Ordering::Acquire)
        };
        self.helpers.iter().all(is_exhausted)
    }

    // ------------------------------------------------------------------------------------------------------ one by one

    /// Halts all helpers between two rounds. Whatever they have may be touched until [`Crew::go_on`].
    pub fn halt(&mut self) {
        self.common.gate.close();
        for helper in &self.helpers {
            // Whoever takes the lock from now on finds the gate closed.
            drop(helper.slot.lock());
        }
    }

    /// Lets halted helpers work on what was put for them. Says whether there was anything, or still is. Their queues
    /// are left alone.
    pub fn drain(&mut self) -> bool {
        let mut is_left = !self.hand_over(false);
        for helper in &self.helpers {
            if let Some(post) = helper.slot.lock().as_mut() {
                is_left |= post.round(&helper.slot, self.common, false) != Round::Worked(0);
                is_left |= !post.hand_over(self.common);
            }
        }
        is_left
    }

    /// Calls the cores and queues of halted helpers home.
    pub fn quiesce(&mut self, ports: &mut Ports) {
        let mut shards = Vec::new();
        for helper in &self.helpers {
            if let Some(post) = helper.slot.lock().as_mut() {
                shards.extend(post.shard.take());
                post.ports.detach().into_iter().for_each(|queue| ports.attach(queue));
            }
        }
        self.common.core().quiesce(shards);
    }

    /// Makes so many workers of those that are at home; nothing may be on its way between them.
    pub fn resize(&mut self, workers: usize) -> io::Result<()> {
        while self.helpers.len() + 1 > workers.max(1) {
            if let Some(helper) = self.helpers.pop() {
                *helper.slot.lock() = None;
                // It may wait for packets, and is not to be waited for.
                helper.slot.bell.brought();
            }
        }
        while self.helpers.len() + 1 < workers {
            self.helpers.push(self.helper()?);
        }
        Ok(())
    }

    fn helper(&self) -> io::Result<Helper> {
        let (to, inbound) = sync_channel(BATCHES_MAX);
        let (outbound, from) = sync_channel(BATCHES_MAX);
        let slot = Arc::new(Slot {
            worker: self.helpers.len() + 1,
            post: Post::new(inbound, outbound).into_slot(),
            bell: Bell::new()?,
            is_exhausted: AtomicBool::new(false),
        });
        let (theirs, common) = (Arc::clone(&slot), self.common);
        std::thread::Builder::new()
            .name(format!("worker {}", slot.worker))
            .spawn_scoped(self.scope, move || helper::work(&theirs, common))?;
        Ok(Helper { slot, to, from, next: Box::default(), rounds: 0, lent: 0 })
    }

    /// Whether frames of ports without queues should be spread: not where all take turns at one core, since nothing
    /// would be done at the same time, and not where it costs more than it gains.
    pub fn should_spread(&self) -> bool {
        self.pays && self.common.core().divides().is_ok()
    }

    /// Whether frames will go another way when halted helpers go on than before: then nothing may be under way.
    pub fn will_spread_otherwise(&self) -> bool {
        self.is_there() && self.should_spread() != self.spreads
    }

    /// Gives the helpers their cores and queues, and lets them go on. Says why they take turns, if they do.
    pub fn go_on(&mut self, ports: &mut Ports) -> Option<String> {
        let mut turns = None;
        self.spreads = self.should_spread();
        if self.is_there() {
            let mut core = self.common.core();
            let mut shards = core.resume_shards(self.helpers.len()).into_iter();
            turns = core.divides().err().map(|undivided| undivided.to_string());
            let workers = self.helpers.len() + 1;
            let queues = ports.detach();
            for queue in queues {
                match queue.index % workers {
                    0 => ports.attach(queue),
                    worker => {
                        if let Some(post) = self.helpers[worker - 1].slot.lock().as_mut() {
                            post.ports.attach(queue);
                        }
                    }
                }
            }
            for helper in &self.helpers {
                helper.slot.is_exhausted.store(false, Ordering::Release);
                if let Some(post) = helper.slot.lock().as_mut() {
                    post.shard = shards.next();
                }
            }
        }
        self.open();
        turns
    }

    fn open(&self) {
        self.common.gate.open();
        // They may wait on descriptors that are no longer theirs.
        self.helpers.iter().for_each(|helper| helper.slot.bell.brought());
    }
}

impl Post {
    fn into_slot(self) -> std::sync::Mutex<Option<Post>> {
        std::sync::Mutex::new(Some(self))
    }
}

impl Drop for Crew<'_, '_, '_> {
    /// However the first worker ends, its helpers end too: the scope waits for them.
    fn drop(&mut self) {
        for helper in &self.helpers {
            *helper.slot.lock() = None;
        }
        self.common.gate.open();
        self.helpers.iter().for_each(|helper| helper.slot.bell.brought());
    }
}
