//! Random P4 programs: the front end accepts them, and they behave the same in every execution mode.

use crate::reduce::reduce;
use crate::run::{Notes, caught, same_kind};
use base::Rng;
use testkit::differential::p4::{Verdict, p4_program_agrees};
use testkit::random_p4::{Architecture, Options, RandomP4, random_p4};
use testkit::random_p4_14::random_p4_14;
use testkit::random_stacks::random_stacks;

/// Random entries and packets with which a smaller program is tried before it counts as one that does not fail.
const SCENARIOS: u64 = 3;

fn program(rng: &mut Rng, architecture: Architecture) -> RandomP4 {
    let statements = *rng.pick(&[4, 8, 14, 25]);
    random_p4(rng, &Options { statements, architecture, ..Options::default() })
}

pub(crate) fn run(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let program = program(rng, Architecture::V1Model);
    agrees(rng, notes, &program)
}

/// The same for PSA programs.
pub(crate) fn run_psa(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let program = program(rng, Architecture::Psa);
    agrees(rng, notes, &program)
}

/// The same for PNA programs.
pub(crate) fn run_pna(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let program = program(rng, Architecture::Pna);
    agrees(rng, notes, &program)
}

/// The same for P4_14 programs.
pub(crate) fn run_p4_14(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let program = random_p4_14(rng);
    agrees(rng, notes, &program)
}

/// The same for programs that change header stacks.
pub(crate) fn run_stacks(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let program = random_stacks(rng);
    agrees(rng, notes, &program)
}

fn agrees(rng: &mut Rng, notes: &mut Notes, program: &RandomP4) -> Result<(), String> {
    match p4_program_agrees(rng, program)? {
        Verdict::Agreed => notes.add("programs compared"),
        Verdict::Compiled => notes.add("programs for a plug-in compiled"),
        Verdict::Unsupported(gaps) => gaps.iter().for_each(|gap| notes.add(gap)),
    }
    Ok(())
}

/// Reduces the program of a failing seed; `None` if it does not fail.
pub(crate) fn reduced(rng: &mut Rng) -> Option<String> {
    let program = program(rng, Architecture::V1Model);
    reduced_program(rng, &program)
}

/// The same for a PSA program.
pub(crate) fn reduced_psa(rng: &mut Rng) -> Option<String> {
    let program = program(rng, Architecture::Psa);
    reduced_program(rng, &program)
}

/// The same for a PNA program.
pub(crate) fn reduced_pna(rng: &mut Rng) -> Option<String> {
    let program = program(rng, Architecture::Pna);
    reduced_program(rng, &program)
}

/// The same for a P4_14 program.
pub(crate) fn reduced_p4_14(rng: &mut Rng) -> Option<String> {
    let program = random_p4_14(rng);
    reduced_program(rng, &program)
}

/// The same for a program that changes header stacks.
pub(crate) fn reduced_stacks(rng: &mut Rng) -> Option<String> {
    let program = random_stacks(rng);
    reduced_program(rng, &program)
}

fn reduced_program(rng: &mut Rng, program: &RandomP4) -> Option<String> {
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
