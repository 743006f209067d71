//! The generators of programs: equal seeds give equal programs, all programs are accepted, and they send packets.

use base::Rng;
use cgen::{Plan, emit_c};
use testkit::differential::p4::{Verdict, p4_program_agrees};
use testkit::differential::scenario::Scenario;
use testkit::pipeline::{Engine, optimised, program_of_text};
use testkit::random_p4::{Architecture, Options, RandomP4, random_p4};
use testkit::random_p4_14::random_p4_14;
use testkit::random_stacks::random_stacks;
use testkit::random_tunnels::random_tunnels;

const SEEDS: u64 = 30;

#[track_caller]
fn check(make: impl Fn(&mut Rng) -> RandomP4) {
    let mut sending = 0;
    let mut accepted = 0;
    for seed in 0..SEEDS {
        let source = make(&mut Rng::new(seed));
        assert_eq!(source, make(&mut Rng::new(seed)));
        let program = match program_of_text("random.p4", &source.text) {
            Ok(program) => program,
            // The fuzz bodies count what is not supported yet.
            Err(errors) if errors.contains("E0801") => continue,
            Err(errors) => panic!("seed {seed}: {errors}"),
        };
        if !program.extern_functions.is_empty() {
            // It can only run with a plug-in.
            continue;
        }
        accepted += 1;
        let scenario = Scenario::of(&mut Rng::new(seed), program, source.makes_copies);
        let seen = scenario.observe(&scenario.program, &Engine::Interpreter, 1).unwrap();
        sending += u64::from(!seen.sent.is_empty());
    }
    assert!(accepted > SEEDS * 3 / 4 && sending > accepted * 3 / 4, "{accepted} accepted, {sending} send packets");
}

fn program_for(architecture: Architecture) -> impl Fn(&mut Rng) -> RandomP4 {
    move |rng| random_p4(rng, &Options { statements: 8, architecture, ..Options::default() })
}

#[test]
fn programs_for_v1model_are_right_and_send_packets() {
    check(program_for(Architecture::V1Model));
}

#[test]
fn programs_for_psa_are_right_and_send_packets() {
    check(program_for(Architecture::Psa));
}

#[test]
fn programs_for_pna_are_right_and_send_packets() {
    check(program_for(Architecture::Pna));
}

#[test]
fn programs_of_p4_14_are_right_and_send_packets() {
    check(random_p4_14);
}

#[test]
fn programs_with_stacks_are_right_and_send_packets() {
    check(random_stacks);
}

#[test]
fn programs_with_tunnels_are_right_and_send_packets() {
    check(random_tunnels);
}

/// Also where the code for each set of headers is generated apart. `TUNNEL_SEEDS=400..900` tries others.
#[test]
fn programs_with_tunnels_do_the_same_however_they_are_run() {
    let (mut agreed, mut apart) = (0, 0);
    let seeds = std::env::var("TUNNEL_SEEDS").unwrap_or("400..416".into());
    let (from, to) = seeds.split_once("..").unwrap();
    for seed in from.parse::<u64>().unwrap()..to.parse().unwrap() {
        let mut rng = Rng::new(seed);
        let source = random_tunnels(&mut rng);
        match p4_program_agrees(&mut rng, &source) {
            Ok(verdict) => agreed += u32::from(verdict == Verdict::Agreed),
            Err(difference) => panic!("seed {seed}: {difference}"),
        }
        let program = optimised(&program_of_text("random.p4", &source.text).unwrap()).unwrap();
        let plan = Plan::new(&program).unwrap();
        apart += u32::from(emit_c(&program, &plan, &|_| None).contains("switch (valid0)"));
    }
    assert!(agreed > 12 && apart > 6, "{agreed} agreed, {apart} have code for sets of headers");
}

/// With all calls of functions and actions inlined, and all calls of routines.
#[test]
fn programs_do_the_same_however_they_are_run() {
    let mut agreed = 0;
    for seed in 100..108 {
        let mut rng = Rng::new(seed);
        let source = random_p4(&mut rng, &Options { statements: 12, ..Options::default() });
        match p4_program_agrees(&mut rng, &source) {
            Ok(verdict) => agreed += u32::from(verdict == Verdict::Agreed),
            Err(difference) => panic!("seed {seed}: {difference}"),
        }
    }
    assert!(agreed > 3, "{agreed} of 8");
}

/// Also with misses that add entries, timers, and packets that turn round.
#[test]
fn programs_for_pna_do_the_same_however_they_are_run() {
    let mut agreed = 0;
    for seed in 300..316 {
        let mut rng = Rng::new(seed);
        let source =
            random_p4(&mut rng, &Options { statements: 8, architecture: Architecture::Pna, ..Options::default() });
        match p4_program_agrees(&mut rng, &source) {
            Ok(verdict) => agreed += u32::from(verdict == Verdict::Agreed),
            Err(difference) => panic!("seed {seed}: {difference}"),
        }
    }
    assert!(agreed > 8, "{agreed} of 16 agreed");
}

/// Also on the fast path, which programs have whose headers are found again in egress.
#[test]
fn programs_for_psa_do_the_same_however_they_are_run() {
    let (mut agreed, mut fast) = (0, 0);
    for seed in 200..216 {
        let mut rng = Rng::new(seed);
        let source =
            random_p4(&mut rng, &Options { statements: 8, architecture: Architecture::Psa, ..Options::default() });
        match p4_program_agrees(&mut rng, &source) {
            Ok(verdict) => agreed += u32::from(verdict == Verdict::Agreed),
            Err(difference) => panic!("seed {seed}: {difference}"),
        }
        let program = program_of_text("random.p4", &source.text).ok().and_then(|program| optimised(&program).ok());
        let plan = program.and_then(|program| Plan::new(&program).ok());
        fast += u32::from(plan.is_some_and(|plan| plan.has_fast_path()));
    }
    assert!(agreed > 8 && fast > 3, "{agreed} of 16 agreed, {fast} have a fast path");
}
