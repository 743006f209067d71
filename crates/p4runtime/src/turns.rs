//! Who waits for whom.
//!
//! What enters: requests. What leaves: turns. Writes, changes of the program and reads take place one after the other
//! in the order of their arrival, except that reads run in parallel. How many reads are collected at once is limited.
//! Short ones do not wait for long ones, and long ones take turns by connection: of those that wait, the one whose
//! connection had its last turn the longest ago is next. Primary controllers wait for no other client.

use crate::connections::Client;
use crate::service::permit;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock, Semaphore, SemaphorePermit, oneshot,
};
use tonic::Status;

/// The most concurrent reads of all clients: short ones, and long ones, each of which keeps a processor busy.
const SHORT_MAX: usize = 16;
const LONG_MAX: usize = 4;

/// Additional ones of primary controllers.
const OF_PRIMARIES_MAX: usize = 4;

/// The order of writes and reads.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Those who wait get it in the order of their arrival.
    lock: Arc<RwLock<()>>,
    /// How many wait in order to write.
    writers: AtomicUsize,
}

struct Waits<'a>(&'a AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Turn {
    /// Waits until all that has begun is over. Nothing else begins as long as the result exists.
    pub async fn write(&self) -> OwnedRwLockWriteGuard<()> {
        self.writers.fetch_add(1, Ordering::Relaxed);
        let _waits = Waits(&self.writers);
        Arc::clone(&self.lock).write_owned().await
    }

    /// Waits until all writes before are over. Nothing is written as long as the result exists.
    pub async fn read(&self) -> OwnedRwLockReadGuard<()> {
        Arc::clone(&self.lock).read_owned().await
    }

    /// Whether something is to be written.
    pub fn is_awaited(&self) -> bool {
        self.writers.load(Ordering::Relaxed) > 0
    }
}

/// Limits of what is collected at once.
#[derive(Debug)]
pub(crate) struct Reads {
    short: Arc<Semaphore>,
    short_of_primaries: Arc<Semaphore>,
    long: Arc<Rota>,
    long_of_primaries: Arc<Semaphore>,
    /// Held by a read for which writes wait until it is over.
    holding_up: Semaphore,
}

impl Default for Reads {
    fn default() -> Reads {
        let semaphore = |count| Arc::new(Semaphore::new(count));
        Reads {
            short: semaphore(SHORT_MAX),
            short_of_primaries: semaphore(OF_PRIMARIES_MAX),
            long: Rota::new(LONG_MAX),
            long_of_primaries: semaphore(OF_PRIMARIES_MAX),
            holding_up: Semaphore::new(1),
        }
    }
}

/// A read that is being collected.
pub(crate) struct Reading {
    _own: OwnedSemaphorePermit,
    _of_all: OfAll,
}

enum OfAll {
    Permit { _held: OwnedSemaphorePermit },
    Place { _held: Place },
}

impl Reads {
    /// Waits until a read of the client may be collected: first for the client's own, then for those of others.
    pub async fn begin(&self, client: &Client, is_short: bool) -> Result<Reading, Status> {
        let shares = client.shares();
        let own = permit(if is_short { &shares.collecting_short } else { &shares.collecting }).await?;
        let held = |semaphore| async move { Ok::<_, Status>(OfAll::Permit { _held: permit(semaphore).await? }) };
        let of_all = match (is_short, client.is_primary()) {
            (true, true) => held(&self.short_of_primaries).await?,
            (true, false) => held(&self.short).await?,
            (false, true) => held(&self.long_of_primaries).await?,
            (false, false) => OfAll::Place { _held: Rota::place(&self.long, &shares.last_turn).await? },
        };
        Ok(Reading { _own: own, _of_all: of_all })
    }

    /// Waits until no other read holds up writes.
    pub async fn hold_up(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.holding_up.acquire().await.ok()
    }
}

/// Places that connections take in turns.
#[derive(Debug)]
struct Rota(Mutex<Waiting>);

#[derive(Debug)]
struct Waiting {
    free: usize,
    /// The number of the next turn.
    turn: u64,
    /// In the order of their arrival, with when their connections had their last turn.
    queue: Vec<(Arc<AtomicU64>, oneshot::Sender<Place>)>,
}

/// One of the places, until this is dropped.
#[derive(Debug)]
struct Place(Option<Arc<Rota>>);

impl Rota {
    fn new(places: usize) -> Arc<Rota> {
        Arc::new(Rota(Mutex::new(Waiting { free: places, turn: 1, queue: Vec::new() })))
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Each change is one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn place(rota: &Arc<Rota>, last_turn: &Arc<AtomicU64>) -> Result<Place, Status> {
        let receiver = {
            let mut waiting = rota.waiting();
            if waiting.free > 0 {
                waiting.free -= 1;
                waiting.grant(last_turn);
                return Ok(Place(Some(Arc::clone(rota))));
            }
            waiting.queue.retain(|(_, sender)| !sender.is_closed());
            let (sender, receiver) = oneshot::channel();
            waiting.queue.push((Arc::clone(last_turn), sender));
            receiver
        };
        receiver.await.map_err(|_| Status::unavailable("the switch is ending"))
    }
}

impl Waiting {
    fn grant(&mut self, last_turn: &AtomicU64) {
        last_turn.store(self.turn, Ordering::Relaxed);
        self.turn += 1;
    }

    fn next(&mut self) -> Option<oneshot::Sender<Place>> {
        self.queue.retain(|(_, sender)| !sender.is_closed());
        let turns = self.queue.iter().map(|(last_turn, _)| last_turn.load(Ordering::Relaxed));
        let (position, _) = turns.enumerate().min_by_key(|(_, turn)| *turn)?;
        let (last_turn, sender) = self.queue.remove(position);
        self.grant(&last_turn);
        Some(sender)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(rota) = self.0.take() else { return };
        loop {
            let mut waiting = rota.waiting();
            let Some(next) = waiting.next() else {
                waiting.free += 1;
                return;
            };
            drop(waiting);
            match next.send(Place(Some(Arc::clone(&rota)))) {
                Ok(()) => return,
                // It has gone meanwhile. Its place is still the one that is given away here.
                Err(mut unwanted) => drop(unwanted.0.take()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_take_turns() {
        let rota = Rota::new(1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let first = Rota::place(&rota, &Arc::default()).await.unwrap();
        let connections: Vec<Arc<AtomicU64>> = (0..3).map(|_| Arc::default()).collect();
        let mut tasks = Vec::new();
        for number in [0, 0, 0, 1, 1, 2] {
            let (rota, last, order) = (Arc::clone(&rota), Arc::clone(&connections[number]), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _place = Rota::place(&rota, &last).await.unwrap();
                order.lock().unwrap().push(number);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 0, 1, 0]);
        assert_eq!(rota.waiting().free, 1);
    }

    #[tokio::test]
    async fn who_has_gone_keeps_no_place() {
        let rota = Rota::new(1);
        let first = Rota::place(&rota, &Arc::default()).await.unwrap();
        let gone = tokio::spawn({
            let rota = Arc::clone(&rota);
            async move { Rota::place(&rota, &Arc::default()).await }
        });
        tokio::task::yield_now().await;
        gone.abort();
        assert!(gone.await.is_err());
        drop(first);
        assert_eq!(rota.waiting().free, 1);
    }

    #[tokio::test]
    async fn a_turn_knows_who_waits_to_write() {
        let turn = Arc::new(Turn::default());
        let reads = turn.read().await;
        let there = Arc::clone(&turn);
        let writes = tokio::spawn(async move { drop(there.write().await) });
        tokio::task::yield_now().await;
        assert!(turn.is_awaited());
        drop(reads);
        writes.await.unwrap();
        assert!(!turn.is_awaited());
    }
}
