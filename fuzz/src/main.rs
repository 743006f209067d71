//! `cargo xtask fuzz`: runs the bodies, one after the other.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program speaks to the terminal")]

use fuzz::run::{Until, many};
use fuzz::{BODIES, Body};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: cargo xtask fuzz [NAME] [--seconds N | --count N] [--seed S] | --list";

struct Arguments {
    bodies: Vec<&'static Body>,
    until: Until,
    seed: u64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--list"] {
        for body in BODIES {
            println!("{:<12} {}", body.name, body.about);
        }
        return ExitCode::SUCCESS;
    }
    match read(&arguments) {
        Ok(arguments) if run(&arguments) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn read(arguments: &[String]) -> Result<Arguments, String> {
    let mut read = Arguments { bodies: Vec::new(), until: Until::Time(Duration::from_secs(60)), seed: 1 };
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

/// Runs all bodies asked for; whether all held.
fn run(arguments: &Arguments) -> bool {
    let mut all_held = true;
    for body in &arguments.bodies {
        let start = Instant::now();
        match many(body, arguments.seed, arguments.until) {
            Ok(count) => println!("{:<12} held for {count} seeds in {:.1} s", body.name, start.elapsed().as_secs_f64()),
            Err(failure) => {
                println!("{failure}");
                all_held = false;
            }
        }
    }
    all_held
}
