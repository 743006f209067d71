//! Text that is almost P4, compiled to optimised IR: the result is errors, or a program that the verifier accepts
//! after each step.

use crate::bodies::p4_text::{PROGRAMS, WORDS};
use crate::mutate::mutated;
use base::Rng;
use testkit::corpus::{cases, groups};
use wirespeed::{MemoryFiles, Options, Source};

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
    let mut source = Source::parse("fuzz.p4", &text, &Options::default(), &MemoryFiles::new());
    let Some(typed) = source.check() else { return Ok(()) };
    source.lint(&typed);
    let Some(mut program) = source.lower(&typed, &Options::default()) else {
        return match source.diagnostics.has_errors() {
            true => Ok(()),
            false => Err(format!("no program and no error\n{text}")),
        };
    };
    ir::verify(&program).map_err(|errors| format!("the program lowered is not valid: {errors:?}\n{text}"))?;
    passes::run(&mut program, passes::pipelines::STANDARD, true).map_err(|broken| format!("{broken}\n{text}"))
}
