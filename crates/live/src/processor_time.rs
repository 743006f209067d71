//! How much of a worker's processor time was work.
//!
//! What enters: how the worker spent each stretch of elapsed time. What leaves: the processor time in which it had
//! work. Elapsed time alone would include the time in which other threads ran on the processor: on a busy machine
//! every worker would look as if it were near its limit, and more of them would make that worse.
//!
//! Reading a thread's processor time is a system call, so it is done about once a millisecond, and before the worker
//! sleeps; the time since the last reading is split between work and polling like elapsed time.

use nix::time::{ClockId, clock_gettime};

/// How often the processor time is read, in nanoseconds of elapsed time.
const READ_NS: u64 = 1_000_000;

/// What a worker did for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// It processed packets.
    Working,
    /// It polled for packets and found none.
    Looking,
    /// It slept.
    Sleeping,
}

/// Follows one worker.
#[derive(Debug, Default)]
pub(crate) struct ProcessorTime {
    /// Elapsed time of work and of polling since the last reading.
    working_ns: u64,
    looking_ns: u64,
    /// The last reading.
    read_ns: Option<u64>,
}

impl ProcessorTime {
    /// The worker did this for this long. Returns the processor time of work that is known by now and was not
    /// returned before. Must be called by the worker's own thread.
    pub fn note(&mut self, activity: Activity, elapsed_ns: u64) -> u64 {
        self.note_with(activity, elapsed_ns, this_thread_ns)
    }

    fn note_with(&mut self, activity: Activity, elapsed_ns: u64, read: impl FnOnce() -> u64) -> u64 {
        match activity {
            Activity::Working => self.working_ns += elapsed_ns,
            Activity::Looking => self.looking_ns += elapsed_ns,
            Activity::Sleeping => {}
        }
        let awake_ns = self.working_ns + self.looking_ns;
        if awake_ns < READ_NS && activity != Activity::Sleeping && self.read_ns.is_some() {
            return 0;
        }
        let now_ns = read();
        let used_ns = self.read_ns.replace(now_ns).map_or(0, |before| now_ns.saturating_sub(before)).min(awake_ns);
        let working_ns = u128::from(used_ns) * u128::from(self.working_ns) / u128::from(awake_ns.max(1));
        (self.working_ns, self.looking_ns) = (0, 0);
        working_ns as u64
    }
}

/// The processor time of the calling thread. If the system does not report it, it is 0, and no load is seen.
fn this_thread_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or((0, 0), |time| (time.tv_sec(), time.tv_nsec()));
    (time.0 as u64).saturating_mul(1_000_000_000).saturating_add(time.1 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Policy;

    /// Busy nanoseconds that are reported in a second of elapsed time, for a worker that gets this part of the
    /// processor and works for this much of each ten milliseconds.
    fn credit(processor_percent: u64, working_ms: u64) -> u64 {
        let (mut time, mut used_ns, mut credited_ns) = (ProcessorTime::default(), 0, 0);
        time.note_with(Activity::Working, 0, || 0);
        for ms in 0..1000 {
            let activity = if ms % 10 < working_ms { Activity::Working } else { Activity::Looking };
            used_ns += 1_000_000 * processor_percent / 100;
            credited_ns += time.note_with(activity, 1_000_000, || used_ns);
        }
        credited_ns
    }

    #[test]
    fn what_other_threads_got_of_the_processor_is_no_work() {
        assert_eq!(credit(100, 10), 1_000_000_000);
        assert_eq!(credit(40, 10), 400_000_000);
        assert_eq!(credit(100, 3), 300_000_000);
        assert_eq!(credit(50, 4), 200_000_000);
    }

    #[test]
    fn workers_are_not_added_because_others_have_the_processor() {
        let mut policy = Policy::default();
        let share = credit(40, 10) as f64 / 1e9;
        assert!((0..100).all(|look| policy.observe(look * 100_000_000, &[share], 4) == 1));
        let share = credit(100, 10) as f64 / 1e9;
        assert!((100..200).any(|look| policy.observe(look * 100_000_000, &[share], 4) == 2));
    }

    #[test]
    fn sleep_is_no_work_and_short_work_before_it_is() {
        let mut time = ProcessorTime::default();
        time.note_with(Activity::Working, 0, || 0);
        assert_eq!(time.note_with(Activity::Working, 5_000, || unreachable!("that soon it is not read")), 0);
        assert_eq!(time.note_with(Activity::Sleeping, 90_000_000, || 5_500), 5_000);
        assert_eq!(time.note_with(Activity::Sleeping, 90_000_000, || 5_600), 0);
    }

    #[test]
    fn the_thread_that_works_uses_processor_time() {
        let before_ns = this_thread_ns();
        let sum = (0..2_000_000u64).fold(0, |sum, number| std::hint::black_box(sum ^ number));
        assert!(this_thread_ns() > before_ns, "{sum}");
    }
}
