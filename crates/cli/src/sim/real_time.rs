//! `wirespeed sim --realtime`: the clock of the simulation follows that of the machine.
//!
//! What enters: a simulation, a factor, and requests of programs outside of it. What leaves: a simulation that has run
//! to its end, and how far it was behind.

use super::outside::Outsiders;
use crate::Exit;
use crate::sim::memory;
use crate::terminal::{self, Progress};
use live::StopFlag;
use scenario::Simulation;
use sim::Time;
use std::time::{Duration, Instant};

/// How long the simulation runs at a time before programs outside are served.
const SLICE: Duration = Duration::from_millis(2);

/// How long it waits for programs outside when it has nothing to do.
const WAIT: Duration = Duration::from_millis(1);

/// How far it may be behind until the user is warned.
const LAG_MAX: Duration = Duration::from_millis(100);

/// How much faster than real time the clock of the simulation is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor(f64);

impl Factor {
    /// Reads a factor, as in `1.0`.
    pub fn parse(text: &str) -> Result<Factor, String> {
        let factor = text.parse().ok().filter(|factor: &f64| (1e-6..=1e6).contains(factor));
        factor.map(Factor).ok_or_else(|| "it is a number above 0, such as 1.0, or 0.1 for ten times slower".to_owned())
    }

    /// What the clock of the simulation shows after this time.
    fn scaled(self, elapsed: Duration) -> Time {
        Time::from_ps((elapsed.as_secs_f64() * self.0 * 1e12) as u64)
    }

    /// How long the machine's clock takes for a span of the simulation.
    fn real(self, span: Time) -> Duration {
        Duration::from_secs_f64(span.seconds() / self.0)
    }
}

/// Runs the simulation to its end, or until a signal asks for that; returns how far it was behind at most. After each
/// slice `each` returns whether to continue.
pub fn run(
    simulation: &mut Simulation,
    factor: Factor,
    outsiders: &mut Outsiders,
    each: &mut dyn FnMut(&mut Simulation) -> Result<bool, Exit>,
) -> Result<Duration, Exit> {
    let stop = StopFlag::on_signals().map_err(|error| {
        terminal::error(format!("cannot catch signals: {error}"));
        Exit::System
    })?;
    let progress = Progress::start("simulating");
    let began = Instant::now();
    let clock = || factor.scaled(began.elapsed());
    let (mut slice, mut lag_max) = (factor.scaled(SLICE), Duration::ZERO);
    loop {
        outsiders.receive(simulation, &clock);
        let due = clock();
        let before = Instant::now();
        let end = due.min(simulation.network.now() + slice);
        let has_ended = simulation.run_until(end).map_err(|fault| memory::report(&fault))?;
        let took = before.elapsed();
        outsiders.serve(simulation);
        if !each(simulation)? || has_ended {
            return Ok(lag_max);
        }
        if stop.stopped() {
            end_now(simulation);
            return Ok(lag_max);
        }
        // What is behind has to come in pieces, between which others are served.
        slice = match (took < SLICE / 2, took > SLICE * 2) {
            (true, _) => slice.times(2),
            (_, true) => Time::from_ps((slice.ps() / 2).max(1)),
            _ => slice,
        };
        let lag = factor.real(due.since(simulation.network.now()));
        if lag > LAG_MAX && lag_max <= LAG_MAX {
            terminal::warning(
                "the simulation is slower than the clock: what it does comes late; a smaller factor of --realtime makes \
                 the clock slower",
            );
        }
        lag_max = lag_max.max(lag);
        if lag.is_zero() {
            let next = simulation.network.next_event().since(clock());
            outsiders.wait(factor.real(next.min(factor.scaled(WAIT))));
        }
        progress.set(format!(
            "{:.3} of {:.3} s simulated, {:.3} s behind the clock",
            simulation.network.now().seconds(),
            simulation.scenario.duration.seconds(),
            lag.as_secs_f64()
        ));
    }
}

/// Makes this the end of the run.
fn end_now(simulation: &mut Simulation) {
    let now = simulation.network.now();
    simulation.scenario.end_at(now);
    terminal::note(format!("ended after {now}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_stretches_time_both_ways() {
        let factor = Factor::parse("0.5").unwrap();
        assert_eq!(factor.scaled(Duration::from_millis(3)), Time::from_us(1_500));
        assert_eq!(factor.real(Time::from_us(1_500)), Duration::from_millis(3));
        for text in ["0", "-1", "inf", "NaN", "fast", "1e9"] {
            assert!(Factor::parse(text).is_err(), "{text}");
        }
    }
}
