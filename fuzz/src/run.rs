//! Runs a body on one seed after the other, and reports the seed that fails.

use crate::bodies::Body;
use base::Rng;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The polling interval for the memory that a body uses.
const WATCH_STEP: Duration = Duration::from_millis(50);

/// A body that takes longer than this is considered to hang. Compilation with sanitizers on a busy machine takes less.
const HANG_TIME: Duration = Duration::from_secs(120);

/// The memory limit of one seed.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// The memory limit of the process.
const PROCESS_BYTES_MAX: u64 = 6 << 30;

/// How long a body runs.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// For this time, but at least one seed.
    Time(Duration),
    /// For this number of seeds.
    Count(u64),
}

/// Events that bodies count besides their verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    counts: BTreeMap<String, u64>,
}

impl Notes {
    /// Counts an event.
    pub fn add(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_insert(0) += 1;
    }

    /// Adds the counts of `others`.
    fn append(&mut self, others: Notes) {
        for (what, count) in others.counts {
            *self.counts.entry(what).or_insert(0) += count;
        }
    }

    /// The events with their counts, the most frequent first.
    pub fn lines(&self) -> Vec<String> {
        let mut counts: Vec<(&String, &u64)> = self.counts.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        counts.iter().map(|(what, count)| format!("{count:>8} {what}")).collect()
    }
}

/// Runs `body` on `first_seed` and the seeds after it. Returns the number of seeds, or the first failure.
pub fn run_seeds(body: &'static Body, first_seed: u64, until: Until, notes: &mut Notes) -> Result<u64, String> {
    let start = Instant::now();
    for count in 0.. {
        let is_over = match until {
            Until::Time(time) => count > 0 && start.elapsed() >= time,
            Until::Count(most) => count == most,
        };
        if is_over {
            return Ok(count);
        }
        run_seed(body, first_seed.wrapping_add(count), notes)?;
    }
    Ok(u64::MAX)
}

/// Runs `body` on one seed, in a thread of its own. The thread's name contains the seed, so that a stack overflow
/// shows it; a thread that hangs is abandoned.
pub fn run_seed(body: &'static Body, seed: u64, notes: &mut Notes) -> Result<(), String> {
    let name = body.name;
    let (sender, receiver) = channel();
    let work = move || {
        let mut notes = Notes::default();
        let verdict = caught(|| (body.run)(&mut Rng::new(seed), &mut notes));
        // After a timeout, nothing receives the result.
        let _late = sender.send((verdict, notes));
    };
    // The stack is as large as the command's, because generated programs may be nested to any depth.
    let thread = std::thread::Builder::new().name(format!("{seed} {name}")).stack_size(base::limits::STACK_BYTES);
    let thread = thread.spawn(work);
    thread.map_err(|error| format!("no thread: {error}"))?;
    let (verdict, said) = watch(&receiver, name, seed);
    notes.append(said);
    verdict.map_err(|what| {
        format!("{name} fails with seed {seed}; again: cargo xtask fuzz {name} --seed {seed} --count 1\n{what}")
    })
}

/// Waits for the verdict of a body, within the limits of time and memory.
fn watch(receiver: &Receiver<(Result<(), String>, Notes)>, name: &str, seed: u64) -> (Result<(), String>, Notes) {
    let start = Instant::now();
    let memory_before = memory_bytes();
    let mut memory_max = memory_before;
    loop {
        match receiver.recv_timeout(WATCH_STEP) {
            Ok((Err(failure), notes)) => return (Err(failure), notes),
            Ok((Ok(()), notes)) if memory_max - memory_before <= MEMORY_BYTES_MAX => return (Ok(()), notes),
            Ok((Ok(()), notes)) => {
                let taken = (memory_max - memory_before) >> 20;
                return (Err(format!("memory: {taken} MiB were taken")), notes);
            }
            Err(RecvTimeoutError::Disconnected) => return (Err("the thread is gone".into()), Notes::default()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        memory_max = memory_max.max(memory_bytes());
        // A thread cannot be killed, so the process ends before the machine runs out of memory.
        assert!(memory_max < PROCESS_BYTES_MAX, "{name} takes all memory with seed {seed}");
        if start.elapsed() > HANG_TIME {
            return (Err(format!("hang: no end after {} s", HANG_TIME.as_secs())), Notes::default());
        }
    }
}

/// The current memory of the process; 0 if the system does not report it.
fn memory_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    pages * 4096
}

/// The processor time of this thread, which excludes other work on the machine; 0 if the system does not report it.
pub(crate) fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

thread_local! {
    /// The place of this thread's last panic.
    static PANIC_PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Suppresses the messages of panics from now on. `caught` reports them with their places.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        PANIC_PLACE.set(place.unwrap_or_default());
    }));
}

/// The result of `attempt`; a panic is a failure.
pub(crate) fn caught(attempt: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(verdict) => verdict,
        Err(panic) => Err(format!("panic: {}{}", panic_text(&*panic), PANIC_PLACE.take())),
    }
}

fn panic_text(panic: &dyn std::any::Any) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// Whether two failures probably have the same cause: their first lines, and the lines of their first errors, are
/// equal without numbers and names.
pub(crate) fn same_kind(left: &str, right: &str) -> bool {
    kind(left) == kind(right)
}

fn kind(failure: &str) -> String {
    let error = failure.lines().find(|line| line.starts_with("error[")).unwrap_or_default();
    let first = failure.lines().next().unwrap_or_default();
    // A panic is identified by its place; its message may contain the whole program.
    let first = first.rsplit_once(" (crates/").filter(|_| first.starts_with("panic")).map_or(first, |(_, place)| place);
    let is_kept = |c: &char| !c.is_ascii_digit() || first.ends_with(".rs");
    format!("{first}{}", error.split('`').step_by(2).collect::<String>()).chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails on purpose, in one of two ways.
    fn canary(rng: &mut Rng, _: &mut Notes) -> Result<(), String> {
        match rng.below(4) {
            0 => Err("a verdict".to_string()),
            1 => panic!("the canary sings"),
            _ => Ok(()),
        }
    }

    const CANARY: Body = Body { name: "canary", about: "fails on purpose", test_seeds: 0, run: canary, reduced: None };

    #[test]
    fn failures_are_found_and_their_seed_fails_again() {
        let mut found = [false; 2];
        for first in 0..50 {
            let failure = run_seeds(&CANARY, first, Until::Count(100), &mut Notes::default()).unwrap_err();
            let seed: u64 = failure.split("--seed ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
            assert_eq!(run_seed(&CANARY, seed, &mut Notes::default()).unwrap_err(), failure);
            found[0] |= failure.ends_with("a verdict");
            found[1] |= failure.ends_with("panic: the canary sings");
        }
        assert_eq!(found, [true; 2]);
    }

    #[test]
    fn a_passing_body_runs_the_requested_number_of_times() {
        const GOOD: Body = Body { name: "good", about: "holds", test_seeds: 0, run: |_, _| Ok(()), reduced: None };
        let notes = &mut Notes::default();
        assert_eq!(run_seeds(&GOOD, 0, Until::Count(7), notes), Ok(7));
        assert_eq!(run_seeds(&GOOD, 0, Until::Time(Duration::ZERO), notes), Ok(1));
    }
}
