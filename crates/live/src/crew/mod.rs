//! The crew: the first worker's helpers, as it sees them.
//!
//! What enters: how many workers there should be, frames for helpers. What leaves: what helpers send to ports that are
//! the first worker's, and what they tell. The first worker halts its helpers whenever it does something with the
//! switch or the ports as a whole; then everything comes home, and it is as if it were alone.

pub(crate) mod batch;
pub(crate) mod bell;
pub(crate) mod helper;

use crate::ports::Ports;
use batch::Batch;
use bell::Bell;
use helper::{Common, Post, Round, Slot};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::Scope;

/// Batches that wait for a worker.
const BATCHES_MAX: usize = 16;

/// Empty batches that are kept.
const SPARE_MAX: usize = 64;

/// A helper as the first worker sees it.
struct Helper {
    slot: Arc<Slot>,
    to: SyncSender<Batch>,
    from: Receiver<Batch>,
    /// Frames that it gets next.
    next: Batch,
}

/// The helpers of the first worker.
pub(crate) struct Crew<'scope, 'env, 's> {
    scope: &'scope Scope<'scope, 'env>,
    common: &'env Common<'s>,
    helpers: Vec<Helper>,
    spare: Vec<Batch>,
}

impl<'scope, 'env, 's: 'env> Crew<'scope, 'env, 's> {
    pub fn new(scope: &'scope Scope<'scope, 'env>, common: &'env Common<'s>) -> Crew<'scope, 'env, 's> {
        Crew { scope, common, helpers: Vec::new(), spare: Vec::new() }
    }

    /// Whether there are helpers.
    pub fn is_there(&self) -> bool {
        !self.helpers.is_empty()
    }

    /// Workers in all.
    pub fn workers(&self) -> usize {
        self.helpers.len() + 1
    }

    // ------------------------------------------------------------------------------------------------- side by side

    /// A frame for a worker that is not the first.
    pub fn put(&mut self, worker: usize, port: u32, frame: &[u8], time_ns: u64) {
        self.helpers[worker - 1].next.push(port, frame, time_ns);
    }

    /// Hands over what there is for helpers. False if one of them is behind: nothing more may be put.
    pub fn hand_over(&mut self) -> bool {
        let mut all = true;
        for helper in self.helpers.iter_mut().filter(|helper| !helper.next.is_empty()) {
            let fresh = self.spare.pop().unwrap_or_default();
            match helper.to.try_send(std::mem::replace(&mut helper.next, fresh)) {
                Ok(()) => helper.slot.bell.brought(),
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                    self.spare.push(std::mem::replace(&mut helper.next, batch));
                    all = false;
                }
            }
        }
        all
    }

    /// The next batch that a helper has for the first worker.
    pub fn take(&mut self) -> Option<Batch> {
        let batch = self.helpers.iter().find_map(|helper| helper.from.try_recv().ok())?;
        self.common.bell.taken();
        Some(batch)
    }

    /// Takes a batch's memory back.
    pub fn keep(&mut self, mut batch: Batch) {
        if self.spare.len() < SPARE_MAX {
            batch.clear();
            self.spare.push(batch);
        }
    }

    /// Whether no helper will ever have a packet of its own again, or one of the first worker's.
    pub fn is_exhausted(&self) -> bool {
        let is_exhausted = |helper: &Helper| helper.next.is_empty() && helper.slot.is_exhausted.load(Ordering::Acquire);
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
        let mut is_left = !self.hand_over();
        for helper in &self.helpers {
            if let Some(post) = helper.slot.lock().as_mut() {
                is_left |= post.round(&helper.slot, self.common, false) != Round::Worked(0);
                is_left |= !post.hand_over(self.common);
            }
        }
        is_left
    }

    /// Calls the cores and queues of halted helpers home.
    pub fn call_in(&mut self, ports: &mut Ports) {
        let mut lanes = Vec::new();
        for helper in &self.helpers {
            if let Some(post) = helper.slot.lock().as_mut() {
                lanes.extend(post.lane.take());
                post.ports.detach().into_iter().for_each(|queue| ports.attach(queue));
            }
        }
        self.common.core().call_in(lanes);
    }

    /// Makes so many workers of those that are at home; nothing may be on its way between them.
    pub fn resize(&mut self, workers: usize) -> io::Result<()> {
        while self.helpers.len() + 1 > workers.max(1) {
            if let Some(helper) = self.helpers.pop() {
                *helper.slot.lock() = None;
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
        Ok(Helper { slot, to, from, next: Batch::default() })
    }

    /// Gives the helpers their cores and queues, and lets them go on. Says why they take turns, if they do.
    pub fn go_on(&mut self, ports: &mut Ports) -> Option<String> {
        let mut turns = None;
        if self.is_there() {
            let mut core = self.common.core();
            let mut lanes = core.send_out(self.helpers.len()).into_iter();
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
                    post.lane = lanes.next();
                }
            }
        }
        self.open();
        turns
    }

    fn open(&self) {
        self.common.gate.open();
        // They may wait on descriptors that are no longer theirs.
        self.helpers.iter().for_each(|helper| helper.slot.bell.ring());
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
        self.helpers.iter().for_each(|helper| helper.slot.bell.ring());
    }
}
