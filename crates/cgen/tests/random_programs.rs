//! Native code against the interpreter on random programs, packets and entries.

use crate::support;

use base::Rng;
use cgen::Optimise;
use support::{Compiled, check_same, options};
use testkit::outline::outline;
use testkit::plain_host::PlainHost;
use testkit::random_ir::{Options, random_entries, random_packet, random_program};

const PACKETS: usize = 100;

/// Programs of these seeds and greater ones call routines.
const WITH_ROUTINES: u64 = 3000;

/// `CGEN_SEEDS=100..200` runs other programs than the usual ones.
fn seeds(usual: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let parse = |text: String| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    };
    std::env::var("CGEN_SEEDS").ok().and_then(parse).unwrap_or(usual)
}

fn check_seed(seed: u64, options_of_program: &Options, optimise: Optimise) {
    let mut rng = Rng::new(seed);
    let mut program = random_program(&mut rng, options_of_program);
    if seed >= WITH_ROUTINES {
        outline(&mut rng, &mut program);
    }
    let entries = random_entries(&mut rng, &program);
    let host = PlainHost::new(&program, entries, seed);
    let packets: Vec<Vec<u8>> = (0..PACKETS).map(|_| random_packet(&mut rng, &program)).collect();
    let compiled = Compiled::new(&program, &options(optimise));
    for burst in [64, 7, 1] {
        check_same(&format!("seed {seed}, bursts of {burst}"), &compiled, &packets, &host, burst);
    }
}

#[test]
fn native_code_agrees_with_the_interpreter() {
    for seed in seeds(0..12) {
        let options = Options { plug_in: seed % 2 == 0, ..Options::default() };
        check_seed(seed, &options, if seed % 4 == 0 { Optimise::Full } else { Optimise::None });
    }
}

#[test]
fn so_it_does_on_very_wide_values() {
    for seed in seeds(1000..1003) {
        let wide = Options { width_bits_max: 2100, statements: 8, plug_in: true, ..Options::default() };
        check_seed(seed, &wide, Optimise::None);
    }
}

#[test]
fn so_it_does_where_stacks_have_names_only() {
    for seed in seeds(2000..2012) {
        let options = Options { indexed_stacks: false, externs: false, ..Options::default() };
        check_seed(seed, &options, Optimise::None);
    }
}

#[test]
fn so_it_does_where_routines_are_called() {
    for seed in seeds(3000..3012) {
        let options = Options { indexed_stacks: seed % 2 == 0, statements: 24, ..Options::default() };
        check_seed(seed, &options, Optimise::None);
    }
}
