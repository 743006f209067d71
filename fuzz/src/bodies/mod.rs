//! What is thrown, and what must hold.

mod entries;
mod front_end;
mod interpreter;
mod ir_text;
mod p4_text;

use base::Rng;
use testkit::differential;

/// Something that must hold for any seed.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// What `cargo xtask fuzz` calls it.
    pub name: &'static str,
    /// What must hold.
    pub about: &'static str,
    /// Seeds that the tests try: few where a program is compiled for each.
    pub test_seeds: u64,
    /// One try. A panic is a failure too.
    pub run: fn(&mut Rng) -> Result<(), String>,
}

/// All bodies.
pub const BODIES: &[Body] = &[
    Body {
        name: "front-end",
        about: "any text gives errors or a program that is valid, also optimised",
        test_seeds: 30,
        run: front_end::run,
    },
    Body {
        name: "p4-text",
        about: "any text is parsed without a panic; a tree prints to itself",
        test_seeds: 30,
        run: p4_text::run,
    },
    Body {
        name: "ir-text",
        about: "programs survive the text form; any text is read without a panic",
        test_seeds: 30,
        run: ir_text::run,
    },
    Body {
        name: "entries",
        about: "right entries are read, wrong ones are refused, no text panics",
        test_seeds: 30,
        run: entries::run,
    },
    Body {
        name: "interpreter",
        about: "random packets run through random programs, twice alike",
        test_seeds: 30,
        run: interpreter::run,
    },
    Body {
        name: "native",
        about: "native code does what the interpreter does, packet by packet and in bursts",
        test_seeds: 2,
        run: differential::native_agrees,
    },
    Body {
        name: "optimised",
        about: "optimised programs do what they did",
        test_seeds: 5,
        run: differential::optimised_agrees,
    },
    Body {
        name: "course",
        about: "hostile packets do not tell the backends apart, on the programs in tests/",
        test_seeds: 2,
        run: differential::course::hostile_packets,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_holds_for_the_first_seeds() {
        for body in BODIES {
            for seed in 0..body.test_seeds {
                if let Err(failure) = crate::run::one(body, seed) {
                    panic!("{failure}");
                }
            }
        }
    }

    #[test]
    fn names_are_unique() {
        for (index, body) in BODIES.iter().enumerate() {
            assert!(BODIES[..index].iter().all(|other| other.name != body.name), "{} twice", body.name);
        }
    }
}
