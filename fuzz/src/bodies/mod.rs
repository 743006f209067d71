//! What is thrown, and what must hold.

mod entries;
mod front_end;
mod interpreter;
mod ir_text;
mod p4_text;

use base::Rng;

/// Something that must hold for any seed.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// What `cargo xtask fuzz` calls it.
    pub name: &'static str,
    /// What must hold.
    pub about: &'static str,
    /// One try. A panic is a failure too.
    pub run: fn(&mut Rng) -> Result<(), String>,
}

/// All bodies.
pub const BODIES: &[Body] = &[
    Body {
        name: "front-end",
        about: "any text gives errors or a program that is valid, also optimised",
        run: front_end::run,
    },
    Body { name: "p4-text", about: "any text is parsed without a panic; a tree prints to itself", run: p4_text::run },
    Body {
        name: "ir-text",
        about: "programs survive the text form; any text is read without a panic",
        run: ir_text::run,
    },
    Body {
        name: "entries",
        about: "right entries are read, wrong ones are refused, no text panics",
        run: entries::run,
    },
    Body {
        name: "interpreter",
        about: "random packets run through random programs, twice alike",
        run: interpreter::run,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_holds_for_the_first_seeds() {
        for body in BODIES {
            for seed in 0..30 {
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
