//! Texts that are almost programs go through the whole front end: an answer each, never a panic.

use crate::corpus::{cases, groups};
use crate::pipeline::{optimised, program_of_text};
use base::Rng;

/// A program of the corpus, changed by `mutate`, is refused with diagnostics, or is a program that the verifier accepts and that
/// optimises to another such.
pub fn almost_programs(rng: &mut Rng, mutate: &dyn Fn(&mut Rng, &str) -> String) -> Result<(), String> {
    let group = rng.pick(&groups()).clone();
    let case = rng.pick(&cases(&group)).clone();
    let text =
        std::fs::read_to_string(&case.program).map_err(|error| format!("{}: {error}", case.program.display()))?;
    let text = mutate(rng, &text);
    match program_of_text("fuzz.p4", &text) {
        Ok(program) => optimised(&program).map(|_| ()).map_err(|error| format!("{error}\n{text}")),
        Err(diagnostics) if diagnostics.contains("not valid") => Err(format!("{diagnostics}\n{text}")),
        Err(diagnostics) if diagnostics.trim().is_empty() => Err(format!("refused without a word\n{text}")),
        Err(_) => Ok(()),
    }
}
