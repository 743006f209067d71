//! The comparisons with the first seeds; `cargo xtask fuzz` runs them with further seeds.

use base::Rng;
use testkit::differential::{native_agrees, optimised_agrees, specialised_agrees};

fn check(name: &str, body: fn(&mut Rng) -> Result<(), String>, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        if let Err(difference) = body(&mut Rng::new(seed)) {
            panic!("{name}, seed {seed}: {difference}");
        }
    }
}

#[test]
fn native_code_agrees_with_the_interpreter() {
    check("native", native_agrees, 0..12);
}

#[test]
fn specialised_code_agrees_with_the_interpreter() {
    check("specialised", specialised_agrees, 0..12);
}

#[test]
fn optimised_programs_are_equivalent() {
    check("optimised", optimised_agrees, 0..40);
}
