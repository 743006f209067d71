//! The bodies: the input that each generates, and the property that must hold.

mod bombs;
mod entries;
mod front_end;
mod interpreter;
mod ir_text;
mod mutants;
mod p4_text;
mod p4info;
mod packet_tests;
mod programs;
mod state;
mod tables;

use crate::run::Notes;
use base::Rng;
use testkit::differential;

/// A property that must hold for any seed.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Its name for `cargo xtask fuzz`.
    pub name: &'static str,
    /// The property.
    pub about: &'static str,
    /// The number of seeds in tests: few for bodies that compile a program for each.
    pub test_seeds: u64,
    /// Tests one seed. A panic is a failure, too.
    pub run: fn(&mut Rng, &mut Notes) -> Result<(), String>,
    /// Reduces the input of a failing seed; returns `None` if it does not fail. Only for bodies whose input is one
    /// text.
    pub reduced: Option<fn(&mut Rng) -> Option<String>>,
}

/// All bodies.
pub const BODIES: &[Body] = &[
    Body {
        name: "programs",
        about: "random P4 programs are accepted, and the same however they are run",
        test_seeds: 3,
        run: programs::run,
        reduced: Some(programs::reduced),
    },
    Body {
        name: "psa",
        about: "the same for random programs of the Portable Switch Architecture",
        test_seeds: 3,
        run: programs::run_psa,
        reduced: Some(programs::reduced_psa),
    },
    Body {
        name: "pna",
        about: "the same for random programs of the Portable NIC Architecture",
        test_seeds: 3,
        run: programs::run_pna,
        reduced: Some(programs::reduced_pna),
    },
    Body {
        name: "p4-14",
        about: "the same for random programs of P4_14",
        test_seeds: 3,
        run: programs::run_p4_14,
        reduced: Some(programs::reduced_p4_14),
    },
    Body {
        name: "stacks",
        about: "the same for random programs whose parsers go through header stacks and whose controls move them",
        test_seeds: 4,
        run: programs::run_stacks,
        reduced: Some(programs::reduced_stacks),
    },
    Body {
        name: "calculations",
        about: "random calculations have the results that an evaluator of their own gives",
        test_seeds: 20,
        run: |rng, _| differential::calculations::calculation_holds(rng),
        reduced: None,
    },
    Body {
        name: "model",
        about: "random programs with structured values agree with a model of their own",
        test_seeds: 8,
        run: |rng, _| differential::models::model_holds(rng),
        reduced: None,
    },
    Body {
        name: "front-end",
        about: "any text gives errors or a program that is valid, also optimised",
        test_seeds: 30,
        run: |rng, _| front_end::run(rng),
        reduced: None,
    },
    Body {
        name: "mutate",
        about: "changed programs of the corpora give errors with places, or programs that hold in every stage",
        test_seeds: 30,
        run: mutants::run,
        reduced: Some(mutants::reduced),
    },
    Body {
        name: "mutate-run",
        about: "changed programs that are accepted do the same as native code",
        test_seeds: 2,
        run: mutants::run_native,
        reduced: Some(mutants::reduced_native),
    },
    Body {
        name: "bombs",
        about: "small programs that grow with every line are refused, or compiled, soon and in little memory",
        test_seeds: 7,
        run: bombs::run,
        reduced: None,
    },
    Body {
        name: "packet-tests",
        about: "changed STF and entries files are refused, or run twice alike",
        test_seeds: 20,
        run: packet_tests::run,
        reduced: None,
    },
    Body {
        name: "p4-text",
        about: "any text is parsed without a panic; a tree prints to itself",
        test_seeds: 30,
        run: |rng, _| p4_text::run(rng),
        reduced: None,
    },
    Body {
        name: "p4info",
        about: "programs have a P4Info that fits them; a damaged one is refused, or fits",
        test_seeds: 20,
        run: p4info::run,
        reduced: None,
    },
    Body {
        name: "ir-text",
        about: "programs survive the text form; any text is read without a panic",
        test_seeds: 30,
        run: |rng, _| ir_text::run(rng),
        reduced: None,
    },
    Body {
        name: "entries",
        about: "right entries are read, wrong ones are refused, no text panics",
        test_seeds: 30,
        run: |rng, _| entries::run(rng),
        reduced: None,
    },
    Body {
        name: "state",
        about: "whatever a state folder holds, a switch starts with it, and keeps what it has",
        test_seeds: 30,
        run: state::run,
        reduced: None,
    },
    Body {
        name: "interpreter",
        about: "random packets run through random programs, twice alike",
        test_seeds: 30,
        run: |rng, _| interpreter::run(rng),
        reduced: None,
    },
    Body {
        name: "native",
        about: "native code does what the interpreter does, packet by packet and in bursts",
        test_seeds: 2,
        run: |rng, _| differential::native_agrees(rng),
        reduced: None,
    },
    Body {
        name: "specialised",
        about: "code for the contents of tables does what the program does, also when they change",
        test_seeds: 2,
        run: |rng, _| differential::specialised_agrees(rng),
        reduced: None,
    },
    Body {
        name: "tables",
        about: "whatever is done to tables of any kind, bursts find what a linear scan finds",
        test_seeds: 30,
        run: |rng, _| tables::run(rng),
        reduced: None,
    },
    Body {
        name: "optimised",
        about: "optimised programs do what they did",
        test_seeds: 5,
        run: |rng, _| differential::optimised_agrees(rng),
        reduced: None,
    },
    Body {
        name: "course",
        about: "both backends agree on hostile packets, on the programs in tests/",
        test_seeds: 2,
        run: |rng, _| differential::course::hostile_packets(rng),
        reduced: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of tests among which the bodies are divided, so that several processors run them in parallel.
    const SHARES: usize = 4;

    fn bodies_hold(share: usize) {
        for body in BODIES.iter().skip(share).step_by(SHARES) {
            for seed in 0..body.test_seeds {
                if let Err(failure) = crate::run::run_seed(body, seed, &mut Notes::default()) {
                    panic!("{failure}");
                }
            }
        }
    }

    #[test]
    fn bodies_hold_for_the_first_seeds() {
        bodies_hold(0);
    }

    #[test]
    fn more_bodies_hold_for_the_first_seeds() {
        bodies_hold(1);
    }

    #[test]
    fn further_bodies_hold_for_the_first_seeds() {
        bodies_hold(2);
    }

    #[test]
    fn the_other_bodies_hold_for_the_first_seeds() {
        bodies_hold(3);
    }

    #[test]
    fn names_are_unique() {
        for (index, body) in BODIES.iter().enumerate() {
            assert!(BODIES[..index].iter().all(|other| other.name != body.name), "{} twice", body.name);
        }
    }
}
