//! Text that is almost P4, compiled to optimised IR: the result is errors, or a program that the verifier accepts
//! after each step.

use crate::bodies::p4_text::{PROGRAMS, WORDS};
use crate::mutate::mutated;
use base::Rng;
use syntax::{MemoryFiles, Options, SourceMap};
use testkit::corpus::{cases, groups};

/// A valid program to start from, of the applications or of the corpus.
fn program(rng: &mut Rng) -> Result<String, String> {
    if rng.chance(1, 8) {
        return Ok((*rng.pick(&PROGRAMS)).to_owned());
    }
    let group = rng.pick(&groups()).clone();
    let case = rng.pick(&cases(&group)).clone();
    std::fs::read_to_string(&case.program).map_err(|error| format!("{}: {error}", case.program.display()))
}

pub(crate) fn run(rng: &mut Rng) -> Result<(), String> {
    let program = program(rng)?;
    let text = mutated(rng, &program, &WORDS);
    let files = MemoryFiles::new();
    let mut sources = SourceMap::new();
    let (tree, mut diagnostics) = p4_14::parse_text(&mut sources, "fuzz.p4", &text, &Options::new(&files), None);
    if diagnostics.has_errors() {
        return Ok(());
    }
    let typed = sema::check(&tree, &mut diagnostics);
    if diagnostics.has_errors() {
        return Ok(());
    }
    lint::lint(&typed, &sources, &mut diagnostics);
    let lowered = lower::lower(&typed, &mut diagnostics);
    let Some(mut program) = lowered.filter(|_| !diagnostics.has_errors()) else {
        return match diagnostics.has_errors() {
            true => Ok(()),
            false => Err(format!("no program and no error\n{text}")),
        };
    };
    ir::verify(&program).map_err(|errors| format!("the program lowered is not valid: {errors:?}\n{text}"))?;
    passes::run(&mut program, passes::pipelines::STANDARD, true).map_err(|broken| format!("{broken}\n{text}"))
}
