//! Passes over the IR.
//!
//! What enters: a program that the verifier accepts. What leaves: a program with exactly the same meaning that costs
//! less to run. "The same" is strict: every packet, every write to a register, every count and metering, every message
//! and the sequence of random numbers are as before, for every packet, valid or hostile.
//!
//! A [`Pass`] is a value; [`pipelines`] are plain lists of them; [`run`] runs one and calls the verifier after each
//! pass in debug builds, or on request.
//!
//! * [`inline`](mod@inline): routines of programs that are short without them.
//! * [`simplify`]: constant folding and algebra.
//! * [`propagate`]: values of variables replace reads of the variables.
//! * [`validity`]: tests of headers whose validity is known.
//! * [`dead_code`]: unreachable branches, states and statements.
//! * [`chains`]: long chains of comparisons become switches.
//! * [`unroll`]: elements of header stacks that parsers extract in loops get names.
//! * [`unread`]: assignments to positions in stacks that are never read.
//! * [`unrequested`]: decisions about requests that the program does not make.
//! * [`specialise`](mod@specialise): tables whose contents are known, replaced by their results.
//! * [`dead_stores`]: assignments to local variables that are never read.
//! * `flow`, `effects`: the data-flow walk that `propagate` and `validity` share, and the effects of statements.

pub mod chains;
pub mod dead_code;
pub mod dead_stores;
mod effects;
mod flow;
pub mod inline;
pub mod pipelines;
pub mod propagate;
mod shared_map;
pub mod simplify;
pub mod specialise;
pub mod unread;
pub mod unrequested;
pub mod unroll;
pub mod validity;
mod var_set;

use ir::{Program, VerifyError};

/// A rewrite of programs.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Short, with hyphens.
    pub name: &'static str,
    /// One line for people.
    pub description: &'static str,
    /// What it does.
    pub run: fn(&mut Program),
}

/// A pass that broke a program: a bug in the pass.
#[derive(Debug)]
pub struct BrokenPass {
    /// Its name.
    pub pass: &'static str,
    /// The verifier's violations.
    pub errors: Vec<VerifyError>,
}

impl std::fmt::Display for BrokenPass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the pass {} broke the program:", self.pass)?;
        self.errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl std::error::Error for BrokenPass {}

/// Runs passes in order. With `verify`, and always in debug builds, the verifier checks the program after each.
pub fn run(program: &mut Program, pipeline: &[Pass], verify: bool) -> Result<(), BrokenPass> {
    for pass in pipeline {
        (pass.run)(program);
        if verify || cfg!(debug_assertions) {
            ir::verify(program).map_err(|errors| BrokenPass { pass: pass.name, errors })?;
        }
    }
    Ok(())
}

/// Runs the standard pipeline.
///
/// # Panics
/// If a pass breaks the program and the verifier sees it: a bug of ours, reported with the pass and the program.
pub fn optimise(program: &mut Program) {
    if let Err(broken) = run(program, pipelines::STANDARD, false) {
        panic!("{broken}\n\nThe program after it:\n{}", ir::text::print(program));
    }
}
