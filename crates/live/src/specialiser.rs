//! Specialises the pipeline to the contents of tables, in the background.
//!
//! What enters: calls between bursts; a [`Compile`] function that compiles. What leaves: code for the switch to
//! run ([`Switch::specialise`]), and events. The worker never waits: it hands over a few handles and takes the result
//! at a later call.
//!
//! Code is compiled when the tables have not changed for a while and packets arrived meanwhile, one pipeline at a
//! time. If a change of the tables soon makes it invalid, the next one is compiled later: the delay doubles with each
//! that did not last, and returns to its minimum with one that did.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;
use switch::specialise::{SpecialisationInput, SpecialisedProgram};
use switch::{Specialisation, Switch};

/// How long tables must be unchanged.
pub const SETTLED: Duration = Duration::from_secs(2);

/// The longest delay after frequent changes.
const WAIT_MAX_NS: u64 = 300_000_000_000;

/// Code that is used for this many times the delay was worth it.
const WORTH: u64 = 5;

/// Compiles and loads a specialised pipeline; an error is for people.
pub type Compile = Box<dyn Fn(SpecialisedProgram) -> Result<Specialisation, String> + Send>;

/// An event.
#[derive(Debug)]
pub enum News {
    /// The switch runs code for these tables.
    Runs(Arc<Specialisation>),
    /// A change of a table has made it invalid.
    Ended,
    /// It could not be compiled; this is not tried again.
    Failed(String),
}

/// The result of the compiling thread. No code: it would be the same as the general code.
type Made = Option<Result<Specialisation, String>>;

/// Decides when to specialise, and starts it.
#[derive(Debug)]
pub struct Specialiser {
    to: Sender<SpecialisationInput>,
    from: Receiver<Made>,
    pace: Pace,
    /// A compilation is running.
    is_busy: bool,
    /// A compilation has failed, or the thread is gone.
    gives_up: bool,
}

impl Specialiser {
    /// Starts the thread that compiles. It ends with this.
    pub fn start(unchanged: Duration, compile: Compile) -> std::io::Result<Specialiser> {
        let (to, subjects) = channel::<SpecialisationInput>();
        let (results, from) = channel();
        let make = move || {
            for subject in subjects {
                let made = subject.specialised_program().map(&compile);
                if results.send(made).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("specialiser".to_owned()).spawn(make)?;
        let pace = Pace::new(unchanged);
        Ok(Specialiser { to, from, pace, is_busy: false, gives_up: false })
    }

    /// Checks a switch whose shards are quiesced, between two bursts; `now_ns` may be of any clock. `packets` have
    /// been received so far.
    pub fn look(&mut self, switch: &mut Switch, now_ns: u64, packets: u64) -> Option<News> {
        let news = self.take(switch, now_ns).or_else(|| self.notice_end(switch, now_ns));
        self.ask(switch, now_ns, packets);
        news
    }

    /// Takes the result.
    fn take(&mut self, switch: &mut Switch, now_ns: u64) -> Option<News> {
        let made = match self.from.try_recv() {
            Ok(made) => made,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => {
                self.gives_up = true;
                return None;
            }
        };
        self.is_busy = false;
        match made? {
            Ok(special) => {
                let special = Arc::new(special);
                // Code for tables that have changed since is discarded; it cost as much as code that was soon
                // invalid.
                if !switch.specialise(Arc::clone(&special)) {
                    self.pace.ended(now_ns, now_ns);
                    return None;
                }
                self.pace.runs_since_ns = Some(now_ns);
                Some(News::Runs(special))
            }
            Err(error) => {
                self.gives_up = true;
                Some(News::Failed(error))
            }
        }
    }

    fn notice_end(&mut self, switch: &mut Switch, now_ns: u64) -> Option<News> {
        if switch.specialisation().is_some() {
            return None;
        }
        let since_ns = self.pace.runs_since_ns.take()?;
        self.pace.ended(since_ns, now_ns);
        Some(News::Ended)
    }

    /// Starts a compilation, if it is time.
    fn ask(&mut self, switch: &mut Switch, now_ns: u64, packets: u64) {
        let is_idle = !self.is_busy && !self.gives_up && switch.specialisation().is_none();
        let Some(subject) = switch.specialisation_input().filter(|_| is_idle) else { return };
        // Each program has its own sequence of states; its address distinguishes programs well enough.
        let state = (Arc::as_ptr(subject.program()).addr(), switch.revision());
        if self.pace.is_time(state, now_ns, packets) {
            self.is_busy = self.to.send(subject).is_ok();
        }
    }
}

/// When to compile.
#[derive(Debug)]
struct Pace {
    unchanged_ns: u64,
    wait_ns: u64,
    /// The state of the tables, and the time since it is unchanged.
    state: Option<(usize, u64)>,
    since_ns: u64,
    packets: u64,
    /// The state that was tried last.
    tried: Option<(usize, u64)>,
    runs_since_ns: Option<u64>,
    not_before_ns: u64,
}

impl Pace {
    fn new(unchanged: Duration) -> Pace {
        let unchanged_ns = u64::try_from(unchanged.as_nanos()).unwrap_or(WAIT_MAX_NS).min(WAIT_MAX_NS);
        Pace {
            unchanged_ns,
            wait_ns: unchanged_ns,
            state: None,
            since_ns: 0,
            packets: 0,
            tried: None,
            runs_since_ns: None,
            not_before_ns: 0,
        }
    }

    /// Whether to compile for this state of the tables.
    fn is_time(&mut self, state: (usize, u64), now_ns: u64, packets: u64) -> bool {
        if self.state != Some(state) {
            (self.state, self.since_ns, self.packets) = (Some(state), now_ns, packets);
        }
        let is_stable = now_ns.saturating_sub(self.since_ns) >= self.unchanged_ns && now_ns >= self.not_before_ns;
        // A switch without packets does not need specialised code.
        if !is_stable || packets == self.packets || self.tried == Some(state) {
            return false;
        }
        self.tried = Some(state);
        true
    }

    /// The specialised code since then became invalid.
    fn ended(&mut self, since_ns: u64, now_ns: u64) {
        let lasted_ns = now_ns.saturating_sub(since_ns);
        let was_worth_it = lasted_ns >= self.wait_ns.saturating_mul(WORTH);
        self.wait_ns =
            if was_worth_it { self.unchanged_ns } else { self.wait_ns.max(1).saturating_mul(2).min(WAIT_MAX_NS) };
        self.not_before_ns = now_ns.saturating_add(self.wait_ns);
        // The same state may occur again.
        self.tried = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn code_is_made_once_tables_are_stable_and_packets_flow() {
        let mut pace = Pace::new(Duration::from_secs(2));
        assert!(!pace.is_time((0, 1), 0, 0));
        assert!(!pace.is_time((0, 1), 3 * SECOND, 0), "nothing flows");
        assert!(!pace.is_time((0, 2), 4 * SECOND, 9), "the tables changed");
        assert!(!pace.is_time((0, 2), 5 * SECOND, 10), "just now");
        assert!(pace.is_time((0, 2), 6 * SECOND, 10));
        assert!(!pace.is_time((0, 2), 7 * SECOND, 11), "it is made");
        assert!(!pace.is_time((1, 2), 8 * SECOND, 11), "another program");
        assert!(pace.is_time((1, 2), 10 * SECOND, 12));
    }

    #[test]
    fn changes_that_come_often_make_the_wait_longer() {
        let mut pace = Pace::new(Duration::from_secs(2));
        let mut waits = Vec::new();
        let mut now = 0;
        for state in 0..4 {
            let begun = now;
            while !pace.is_time((0, state), now, now) {
                now += SECOND / 4;
            }
            waits.push((now - begun) / SECOND);
            pace.ended(now, now + SECOND);
            now += SECOND;
        }
        assert_eq!(waits, [2, 4, 8, 16]);
        pace.ended(0, 1000 * SECOND);
        assert_eq!(pace.wait_ns, 2 * SECOND, "what lasted was worth it");
    }
}
