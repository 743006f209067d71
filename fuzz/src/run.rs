//! Runs a body on seed after seed, and tells the seed that fails.

use crate::bodies::Body;
use base::Rng;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How long a body runs.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// This long; at least one seed.
    Time(Duration),
    /// This many seeds.
    Count(u64),
}

/// What bodies say beside their verdict: how often something happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    counts: BTreeMap<String, u64>,
}

impl Notes {
    /// Counts that something happened.
    pub fn add(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_insert(0) += 1;
    }

    /// What happened, and how often; the most frequent first.
    pub fn lines(&self) -> Vec<String> {
        let mut counts: Vec<(&String, &u64)> = self.counts.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        counts.iter().map(|(what, count)| format!("{count:>8} {what}")).collect()
    }
}

/// Runs `body` on `first_seed` and those after it. The number of seeds, or the first failure.
pub fn many(body: &Body, first_seed: u64, until: Until, notes: &mut Notes) -> Result<u64, String> {
    let start = Instant::now();
    for count in 0.. {
        let is_over = match until {
            Until::Time(time) => count > 0 && start.elapsed() >= time,
            Until::Count(most) => count == most,
        };
        if is_over {
            return Ok(count);
        }
        one(body, first_seed.wrapping_add(count), notes)?;
    }
    Ok(u64::MAX)
}

/// Runs `body` on one seed.
pub fn one(body: &Body, seed: u64, notes: &mut Notes) -> Result<(), String> {
    let name = body.name;
    caught(|| (body.run)(&mut Rng::new(seed), notes)).map_err(|what| {
        format!("{name} fails with seed {seed}; again: cargo xtask fuzz {name} --seed {seed} --count 1\n{what}")
    })
}

/// What `attempt` says; a panic is a failure.
pub(crate) fn caught(attempt: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(verdict) => verdict,
        Err(panic) => Err(format!("panic: {}", panic_text(&*panic))),
    }
}

fn panic_text(panic: &dyn std::any::Any) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails on purpose, now in one way and now in the other.
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
            let failure = many(&CANARY, first, Until::Count(100), &mut Notes::default()).unwrap_err();
            let seed: u64 = failure.split("--seed ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
            assert_eq!(one(&CANARY, seed, &mut Notes::default()).unwrap_err(), failure);
            found[0] |= failure.ends_with("a verdict");
            found[1] |= failure.ends_with("panic: the canary sings");
        }
        assert_eq!(found, [true; 2]);
    }

    #[test]
    fn a_body_that_holds_runs_as_often_as_asked() {
        let body = Body { name: "good", about: "holds", test_seeds: 0, run: |_, _| Ok(()), reduced: None };
        let notes = &mut Notes::default();
        assert_eq!(many(&body, 0, Until::Count(7), notes), Ok(7));
        assert_eq!(many(&body, 0, Until::Time(Duration::ZERO), notes), Ok(1));
    }
}
