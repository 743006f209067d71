//! All checks, in stages that can be selected or skipped.
//!
//! All stages run, even after a failure, so that one run shows all problems.

use crate::{aarch64, bare, cargo, finish, root, tidy};
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) struct Stage {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<(), String>,
}

const STAGES: [Stage; 8] = [
    Stage { name: "fmt", about: "the source is formatted", run: fmt },
    Stage { name: "lint", about: "clippy has no warnings", run: lint },
    Stage { name: "tidy", about: "the rules of the house", run: tidy },
    Stage { name: "test", about: "all tests, those that need optional tools apart", run: all_tests },
    Stage { name: "dpdk", about: "ports on DPDK's virtual devices", run: dpdk },
    Stage { name: "fuzz-smoke", about: "a few seconds of each fuzz body", run: fuzz_smoke },
    Stage { name: "docs", about: "the documentation builds without a warning", run: docs },
    Stage { name: "aarch64", about: "the corpus on another machine, emulated", run: aarch64::corpus },
];

/// Runs the stages selected by `options`: `--skip STAGE`, `--only STAGE`, each any number of times.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let stages = selected(options)?;
    let mut summary: Vec<(&str, Duration, Result<(), String>)> = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        println!("\n== {} ({} of {}): {}", stage.name, index + 1, stages.len(), stage.about);
        let start = Instant::now();
        let result = (stage.run)();
        if let Err(message) = &result {
            println!("{message}");
        }
        summary.push((stage.name, start.elapsed(), result));
    }
    println!("\n== summary");
    for (name, time, result) in &summary {
        let verdict = if result.is_ok() { "ok" } else { "FAILED" };
        println!("{name:<12} {verdict:<6} {:>6.1} s", time.as_secs_f64());
    }
    let failed: Vec<&str> = summary.iter().filter(|(.., result)| result.is_err()).map(|(name, ..)| *name).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

pub(crate) fn selected(options: &[&str]) -> Result<Vec<&'static Stage>, String> {
    let (mut skipped, mut only) = (Vec::new(), Vec::new());
    for option in options.chunks(2) {
        match option {
            ["--skip", name] => skipped.push(known(name)?),
            ["--only", name] => only.push(known(name)?),
            _ => return Err(format!("`{}` is not an option of ci: --skip STAGE, --only STAGE", option.join(" "))),
        }
    }
    let chosen = |stage: &&Stage| !skipped.contains(&stage.name) && (only.is_empty() || only.contains(&stage.name));
    Ok(STAGES.iter().filter(chosen).collect())
}

fn known(name: &str) -> Result<&'static str, String> {
    let stage = STAGES.iter().find(|stage| stage.name == name);
    let names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
    stage.map(|stage| stage.name).ok_or_else(|| format!("there is no stage {name}: stages are {}", names.join(", ")))
}

fn fmt() -> Result<(), String> {
    finish(cargo().args(["fmt", "--all", "--check"]))
}

fn lint() -> Result<(), String> {
    finish(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// Prints the findings of tidy.
pub(crate) fn tidy() -> Result<(), String> {
    let findings = tidy::findings(&root()).map_err(|error| format!("the repository cannot be read: {error}"))?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("tidy: {count} findings")),
    }
}

fn all_tests() -> Result<(), String> {
    bare::test(&[])
}

/// Checks the code that is only built with the feature `dpdk`, against the system's libdpdk.
fn dpdk() -> Result<(), String> {
    let known = Command::new("pkg-config").args(["--exists", "libdpdk"]).status();
    if !known.is_ok_and(|status| status.success()) {
        return Err("libdpdk is not here: on Debian, `apt install libdpdk-dev pkg-config`; or `--skip dpdk`".to_owned());
    }
    let lint = ["clippy", "-p", "live", "--features", "dpdk", "--all-targets", "--", "-D", "warnings"];
    finish(cargo().args(lint))?;
    // For the whole workspace, so that dependencies are shared with the tests' build.
    finish(cargo().args(["test", "--workspace", "--features", "live/dpdk", "--test", "conformance", "dpdk"]))
}

/// Runs in debug mode, so that verifiers and assertions run and the tests' build is reused: `cargo run`, or a build
/// without tests, would build dependencies again, with fewer features. One process per processor runs a share of the
/// bodies.
fn fuzz_smoke() -> Result<(), String> {
    finish(cargo().args(["build", "--workspace", "--bin", "fuzz", "--test", "conformance"]))?;
    let own = std::env::current_exe().map_err(|error| format!("this program's file cannot be found: {error}"))?;
    let fuzz = own.with_file_name("fuzz");
    let listed = Command::new(&fuzz).arg("--list").output();
    let listed = listed.map_err(|error| format!("{} cannot be run: {error}", fuzz.display()))?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let bodies: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let processes = std::thread::available_parallelism().map_or(1, usize::from).min(bodies.len());
    let shares = (0..processes).map(|share| bodies.iter().skip(share).step_by(processes).copied().collect::<Vec<_>>());
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let fuzz = &fuzz;
        let run =
            move |share: Vec<&str>| finish(Command::new(fuzz).args(["--seconds", "5", "--seed", "1"]).args(share));
        let started: Vec<_> = shares.map(|share| scope.spawn(move || run(share))).collect();
        started.into_iter().map(|share| share.join().unwrap_or_else(|_| Err("a share panicked".to_owned()))).collect()
    });
    if bodies.is_empty() { Err("fuzz lists no bodies".to_owned()) } else { results.into_iter().collect() }
}

fn docs() -> Result<(), String> {
    finish(cargo().env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--workspace", "--no-deps"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &[&str]) -> Result<String, String> {
        Ok(selected(options)?.iter().map(|stage| stage.name).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn stages_are_chosen_by_name() {
        assert_eq!(names(&[]).as_deref(), Ok("fmt lint tidy test dpdk fuzz-smoke docs aarch64"));
        assert_eq!(
            names(&["--skip", "test", "--skip", "docs"]).as_deref(),
            Ok("fmt lint tidy dpdk fuzz-smoke aarch64")
        );
        assert_eq!(names(&["--only", "tidy"]).as_deref(), Ok("tidy"));
    }

    #[test]
    fn an_unknown_stage_is_an_error() {
        let error = names(&["--skip", "tests"]).unwrap_err();
        assert_eq!(error, "there is no stage tests: stages are fmt, lint, tidy, test, dpdk, fuzz-smoke, docs, aarch64");
        assert!(names(&["--skip"]).is_err());
        assert!(names(&["test"]).is_err());
    }
}
