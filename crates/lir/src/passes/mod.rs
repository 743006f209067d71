//! Passes over units: each finds one thing that the printer then needs, or removes what nothing needs.
//!
//! Before the first pass a unit already means what it means after the last: its stages find their packets by masks and
//! store all state that they write ([`spill_all`]). [`run`] runs all passes, in order, and verifies the unit after each
//! in debug builds.

mod arrivals;
mod dead_stores;
mod liveness;
mod spills;

use crate::{Unit, verify};

/// A pass.
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub what: &'static str,
    /// The pass itself.
    pub run: fn(&mut Unit),
}

/// All passes, in the order in which they run.
pub const PASSES: [Pass; 3] = [
    Pass { name: "arrivals", what: "how each stage finds its packets, and where all of them end", run: arrivals::run },
    Pass { name: "dead-stores", what: "stores to state that is not live are removed", run: dead_stores::run },
    Pass {
        name: "spills",
        what: "state that is not live between stages is not stored at the ends of stages",
        run: spills::run,
    },
];

/// Makes all stages store what they write: where the passes begin.
pub fn spill_all(unit: &mut Unit) {
    for number in 0..unit.stages.len() {
        unit.stages[number].spills = liveness::written(unit, number);
    }
}

/// Runs all passes.
pub fn run(unit: &mut Unit) {
    for pass in &PASSES {
        (pass.run)(unit);
        debug_assert_eq!(verify(unit), Ok(()), "after the pass {}", pass.name);
    }
}
