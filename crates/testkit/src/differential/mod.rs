//! Differential testing: two ways of running the same program, compared on random input. Whole switches are compared:
//! the packets they send, their registers and counters, their messages to the control plane.
//!
//! * [`scenario`]: random programs with entries, groups and packets. Processing packets one at a time defines the
//!   right result.
//! * [`p4`]: random P4 programs, in every execution mode.
//! * [`calculations`], [`models`]: random programs with known results.
//! * [`course`]: the programs of the corpus under hostile packets.
//!
//! A body takes a random generator, so that its seed reproduces a failure. Its error contains the program's text.

pub mod calculations;
pub mod course;
pub mod models;
pub mod p4;
mod plane;
pub mod scenario;

use crate::corpus::quick_options;
use crate::pipeline::{Engine, optimised};
use crate::random_ir::Options;
use base::Rng;
use cgen::{CompileOptions, Tuning};
use scenario::{Scenario, Workers};
use stf::observation::{Order, difference};
use tempfile::TempDir;

/// Packets in a burst where bursts are compared.
const BURST: usize = 64;

/// A temporary folder for compiled programs that are used once.
#[derive(Debug)]
pub struct BuildFolder {
    folder: TempDir,
    sanitize: bool,
}

impl BuildFolder {
    /// Creates an empty folder. With `sanitize`, undefined behaviour in compiled programs stops the process.
    pub fn new(sanitize: bool) -> Result<BuildFolder, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        Ok(BuildFolder { folder, sanitize })
    }

    /// Native code, compiled fast.
    pub fn engine(&self) -> Engine {
        Engine::Native(self.options())
    }

    /// Native code that is specialised for the contents of the tables.
    pub fn engine_specialised(&self) -> Engine {
        self.engine_specialised_tuned(Tuning::default())
    }

    /// The same with a tuned plan.
    pub fn engine_specialised_tuned(&self, tuning: Tuning) -> Engine {
        Engine::Specialised(self.options(), tuning)
    }

    /// The same on the staged path only.
    pub fn engine_staged(&self) -> Engine {
        Engine::NativeStaged(self.options())
    }

    fn options(&self) -> CompileOptions {
        CompileOptions { sanitize: self.sanitize, ..quick_options(self.folder.path()) }
    }
}

/// What the random programs of these comparisons may contain.
fn options(rng: &mut Rng) -> Options {
    Options {
        requests: rng.chance(1, 2),
        statements: rng.between(2, 16) as u32,
        width_bits_max: *rng.pick(&[64, 130, 300]),
        indexed_stacks: rng.chance(1, 2),
        ..Options::default()
    }
}

/// Checks that native code behaves as the interpreter does: packet by packet, and in bursts.
pub fn native_agrees(rng: &mut Rng) -> Result<(), String> {
    let folder = BuildFolder::new(rng.chance(1, 4))?;
    let options = options(rng);
    let scenario = Scenario::random(rng, &options);
    let expected = scenario.observe(&scenario.program, &Engine::Interpreter, 1)?;
    let single = scenario.observe(&scenario.program, &folder.engine(), 1)?;
    report(&scenario, "interpreter", "native code", difference(&expected, &single, Order::Same))?;
    let burst = scenario.observe(&scenario.program, &folder.engine(), BURST)?;
    report(&scenario, "one packet at a time", "bursts", difference(&expected, &burst, Order::Same))?;
    let by_blocks = scenario.observe(&scenario.program, &folder.engine_staged(), BURST)?;
    report(
        &scenario,
        "one packet at a time",
        "bursts, block by block",
        difference(&expected, &by_blocks, Order::Same),
    )?;
    let tuning = Tuning { burst_packets: rng.between(1, 64) as u32, cuts: rng.chance(1, 4) };
    let tuned = scenario.observe(&scenario.program, &Engine::Tuned(folder.options(), tuning), BURST)?;
    report(&scenario, "one packet at a time", "a tuned plan", difference(&expected, &tuned, Order::Same))?;
    let engine = folder.engine();
    let by_workers = |burst, workers, order| {
        scenario.difference_by_workers(&expected, &scenario.program, &engine, burst, workers, order)
    };
    report(&scenario, "one core", "several in turn", by_workers(1, Workers::InTurn, Order::Same)?)?;
    report(&scenario, "one core", "several at once", by_workers(7, Workers::AtOnce, Order::Any)?)
}

/// Checks that the optimised program behaves as the original one, in the interpreter and as native code.
pub fn optimised_agrees(rng: &mut Rng) -> Result<(), String> {
    let options = options(rng);
    let scenario = Scenario::random(rng, &options);
    let program = optimised(&scenario.program)?.into();
    let expected = scenario.observe(&scenario.program, &Engine::Interpreter, 1)?;
    let found = scenario.observe(&program, &Engine::Interpreter, 1)?;
    report(&scenario, "not optimised", "optimised", difference(&expected, &found, Order::Same))?;
    if rng.chance(1, 4) {
        let folder = BuildFolder::new(false)?;
        let found = scenario.observe(&program, &folder.engine(), 1)?;
        report(&scenario, "not optimised", "optimised and native", difference(&expected, &found, Order::Same))?;
    }
    Ok(())
}

/// Checks that code that is specialised for the contents of the tables behaves as the program does, before and after
/// the tables change.
pub fn specialised_agrees(rng: &mut Rng) -> Result<(), String> {
    let folder = BuildFolder::new(rng.chance(1, 4))?;
    let options = options(rng);
    let mut scenario = Scenario::random(rng, &options);
    // Code is only specialised for few entries.
    for table in scenario.program.tables.ids() {
        let keep = rng.below(5) as usize;
        let mut seen = 0;
        scenario.entries.retain(|(other, _)| {
            seen += usize::from(*other == table);
            *other != table || seen <= keep
        });
    }
    let expected = scenario.observe(&scenario.program, &Engine::Interpreter, 1)?;
    let engine = folder.engine_specialised();
    let single = scenario.observe(&scenario.program, &engine, 1)?;
    report(&scenario, "interpreter", "specialised code", difference(&expected, &single, Order::Same))?;
    let burst = scenario.observe(&scenario.program, &engine, BURST)?;
    report(&scenario, "interpreter", "specialised code in bursts", difference(&expected, &burst, Order::Same))?;
    let tuning = Tuning { burst_packets: rng.between(1, 64) as u32, cuts: rng.chance(1, 2) };
    let tuned = scenario.observe(&scenario.program, &folder.engine_specialised_tuned(tuning), BURST)?;
    report(&scenario, "interpreter", "specialised code of a tuned plan", difference(&expected, &tuned, Order::Same))?;
    let by_workers = |burst, workers, order| {
        scenario.difference_by_workers(&expected, &scenario.program, &engine, burst, workers, order)
    };
    report(&scenario, "one core", "several in turn, specialised", by_workers(1, Workers::InTurn, Order::Same)?)?;
    report(&scenario, "one core", "several with specialised code", by_workers(7, Workers::AtOnce, Order::Any)?)
}

fn report(scenario: &Scenario, left: &str, right: &str, difference: Option<String>) -> Result<(), String> {
    match difference {
        None => Ok(()),
        Some(text) => Err(format!("{left} and {right} differ: {text}\n{}", ir::text::print(&scenario.program))),
    }
}
