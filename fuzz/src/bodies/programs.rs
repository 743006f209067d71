//! Random P4 programs: taken by the front end, and the same in every way in which they can be run.

use crate::reduce::reduce;
use crate::run::{Notes, caught, same_kind};
use base::Rng;
use testkit::differential::p4::{Verdict, p4_program_agrees};
use testkit::random_p4::{Options, RandomP4, random_p4};

/// Random entries and packets that a smaller program is tried with before it counts as one that does not fail.
const SCENARIOS: u64 = 3;

fn program(rng: &mut Rng) -> RandomP4 {
    let statements = *rng.pick(&[4, 8, 14, 25]);
    random_p4(rng, &Options { statements, ..Options::default() })
}

pub(crate) fn run(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let program = program(rng);
    match p4_program_agrees(rng, &program)? {
        Verdict::Agreed => notes.add("programs compared"),
        Verdict::Unsupported(gaps) => gaps.iter().for_each(|gap| notes.add(gap)),
    }
    Ok(())
}

/// The program of a seed that fails, made smaller; nothing if it does not fail.
pub(crate) fn reduced(rng: &mut Rng) -> Option<String> {
    let program = program(rng);
    let failure_of = |text: &str| {
        let source = RandomP4 { text: text.to_owned(), makes_copies: program.makes_copies };
        let mut first = caught(|| p4_program_agrees(&mut rng.clone(), &source).map(drop)).err();
        for seed in 0..SCENARIOS {
            if first.is_some() {
                break;
            }
            first = caught(|| p4_program_agrees(&mut Rng::new(seed), &source).map(drop)).err();
        }
        first
    };
    let failure = failure_of(&program.text)?;
    let text = reduce(&program.text, &mut |text| failure_of(text).is_some_and(|found| same_kind(&found, &failure)));
    failure_of(&text)
}
