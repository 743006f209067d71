//! `cargo xtask fuzz`: runs the bodies one after the other.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program speaks to the terminal")]

use base::Rng;
use fuzz::run::{Notes, Until, keep_panics_quiet, run_seed, run_seeds};
use fuzz::{BODIES, Body};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: cargo xtask fuzz [NAME] [--seconds N | --count N] [--seed S] [--all | --reduce] | --list";

/// The number of lines of a failure that are shown when others follow.
const SHORT_LINES: usize = 8;

struct Arguments {
    bodies: Vec<&'static Body>,
    until: Until,
    seed: u64,
    /// Continues after a failure.
    all: bool,
    /// Reduces the input of the first seed.
    reduce: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--list"] {
        for body in BODIES {
            println!("{:<12} {}", body.name, body.about);
        }
        return ExitCode::SUCCESS;
    }
    keep_panics_quiet();
    match read(&arguments) {
        Ok(arguments) if base::stack::with_deep_stack(|| run(&arguments)) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn read(arguments: &[String]) -> Result<Arguments, String> {
    let mut read = Arguments {
        bodies: Vec::new(),
        until: Until::Time(Duration::from_secs(60)),
        seed: 1,
        all: false,
        reduce: false,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().ok_or_else(|| format!("{word} takes a number"))?;
            value.parse::<u64>().map_err(|_| format!("{word} takes a number, not {value}"))
        };
        match word.as_str() {
            "--seconds" => read.until = Until::Time(Duration::from_secs(number()?)),
            "--count" => read.until = Until::Count(number()?),
            "--seed" => read.seed = number()?,
            "--all" => read.all = true,
            "--reduce" => read.reduce = true,
            name => read.bodies.push(named(name)?),
        }
    }
    if read.bodies.is_empty() {
        read.bodies = BODIES.iter().collect();
    }
    Ok(read)
}

fn named(name: &str) -> Result<&'static Body, String> {
    let names: Vec<&str> = BODIES.iter().map(|body| body.name).collect();
    let body = BODIES.iter().find(|body| body.name == name);
    body.ok_or_else(|| format!("there is no body {name}: bodies are {}", names.join(", ")))
}

/// Runs the selected bodies; returns whether all of them passed.
fn run(arguments: &Arguments) -> bool {
    let mut all_held = true;
    for body in &arguments.bodies {
        all_held &= match (arguments.reduce, arguments.all) {
            (true, _) => reduce(body, arguments.seed),
            (false, true) => run_all(body, arguments),
            (false, false) => run_to_failure(body, arguments),
        };
    }
    all_held
}

fn run_to_failure(body: &'static Body, arguments: &Arguments) -> bool {
    let start = Instant::now();
    let mut notes = Notes::default();
    let result = run_seeds(body, arguments.seed, arguments.until, &mut notes);
    match &result {
        Ok(count) => println!("{:<12} held for {count} seeds in {:.1} s", body.name, start.elapsed().as_secs_f64()),
        Err(failure) => println!("{failure}"),
    }
    notes.lines().iter().for_each(|line| println!("{line}"));
    result.is_ok()
}

/// Continues after failures, each of which is shown in short.
fn run_all(body: &'static Body, arguments: &Arguments) -> bool {
    let start = Instant::now();
    let mut notes = Notes::default();
    let (mut count, mut failures) = (0, 0);
    let is_over = |count: u64| match arguments.until {
        Until::Time(time) => start.elapsed() >= time,
        Until::Count(most) => count == most,
    };
    while !is_over(count) {
        let seed = arguments.seed.wrapping_add(count);
        if let Err(failure) = run_seed(body, seed, &mut notes) {
            failures += 1;
            let lines = failure.lines().skip(1).take(SHORT_LINES).collect::<Vec<_>>().join("\n    ");
            println!("{} --seed {seed}:\n    {lines}", body.name);
        }
        count += 1;
    }
    println!("{:<12} {failures} of {count} seeds fail, in {:.1} s", body.name, start.elapsed().as_secs_f64());
    notes.lines().iter().for_each(|line| println!("{line}"));
    failures == 0
}

fn reduce(body: &Body, seed: u64) -> bool {
    let Some(reduced) = body.reduced else {
        println!("{:<12} has no text that could be reduced", body.name);
        return false;
    };
    let failure = reduced(&mut Rng::new(seed));
    match &failure {
        Some(failure) => println!("{failure}"),
        None => println!("{:<12} holds for seed {seed}", body.name),
    }
    failure.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_the_documentation_are_valid() {
        let page = include_str!("../../CONTRIBUTING.md");
        let mut count = 0;
        for line in page.lines().filter_map(|line| line.strip_prefix("cargo xtask fuzz ")) {
            let words = line.split_whitespace().take_while(|word| *word != "#").map(str::to_owned);
            if let Err(problem) = read(&words.collect::<Vec<_>>()) {
                panic!("cargo xtask fuzz {line}: {problem}");
            }
            count += 1;
        }
        assert!(count > 2, "the page names only {count} runs");
    }
}
