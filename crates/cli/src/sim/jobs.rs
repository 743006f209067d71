//! Several runs at the same time, each on a thread.
//!
//! What enters: how many runs there are, and what makes one of them. What leaves: that all are done, or that one has
//! failed. Runs are begun in their order, so whoever stops behind one knows that all before it are made.

use crate::Exit;
use crate::sim::SimArguments;
use crate::terminal::Progress;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often the progress is shown.
const SHOWN_EVERY: Duration = Duration::from_millis(200);

/// How many of `runs` runs are made at the same time.
pub fn at_once(arguments: &SimArguments, runs: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from) / usize::from(arguments.threads);
    arguments.jobs.map_or(cores, usize::from).clamp(1, runs.max(1))
}

/// Makes the runs `0..runs`, at most `at_once` at the same time. `run` returns whether others are to be begun;
/// `describe` how far all are.
pub fn work(
    runs: usize,
    at_once: usize,
    progress: Progress,
    describe: &dyn Fn() -> String,
    run: &(dyn Fn(usize) -> Result<bool, Exit> + Sync),
) -> Result<(), Exit> {
    let queue = Queue { runs, next: AtomicUsize::new(0), is_stopped: AtomicBool::new(false) };
    let (working, shown_by) = (AtomicUsize::new(at_once), thread::current());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once)
            .map(|_| {
                scope.spawn(|| {
                    // Also after a panic: the progress ends when no thread works.
                    let _end = End { working: &working, waiting: &shown_by };
                    queue.work(run)
                })
            })
            .collect();
        while working.load(Ordering::Acquire) > 0 {
            thread::park_timeout(SHOWN_EVERY);
            progress.set(describe());
        }
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Err(Exit::Internal)))
    })
}

/// Which runs have been begun.
struct Queue {
    runs: usize,
    /// The first run that no thread has begun.
    next: AtomicUsize,
    is_stopped: AtomicBool,
}

impl Queue {
    fn work(&self, run: &(dyn Fn(usize) -> Result<bool, Exit> + Sync)) -> Result<(), Exit> {
        while !self.is_stopped.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.runs {
                break;
            }
            let keeps_running = run(index);
            if !matches!(keeps_running, Ok(true)) {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
            keeps_running?;
        }
        Ok(())
    }
}

/// Reports that a worker has ended.
struct End<'a> {
    working: &'a AtomicUsize,
    waiting: &'a thread::Thread,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.working.fetch_sub(1, Ordering::Release);
        self.waiting.unpark();
    }
}
