//! The project's automation: every check and every chore is a command here, so there are no scripts to maintain.
//!
//! What enters: `cargo xtask COMMAND`. What leaves: exit code 0 on success, otherwise text that explains the failure.
//!
//! * [`ci`]: all checks, in stages.
//! * [`aarch64`]: the tests on another machine, emulated.
//! * [`bare`]: all tests as on a machine without optional tools, then the skipped ones with them.
//! * [`tidy`]: the project's rules that neither the compiler nor clippy checks; also a test of this crate.
//! * [`pages`]: the pages about diagnostics.
//! * `bless` updates the expectations of snapshot tests; `fuzz` runs the bodies of the crate `fuzz`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program speaks to the terminal")]

mod aarch64;
mod bare;
mod ci;
mod pages;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci [--skip STAGE]... [--only STAGE]...   every check; stages: fmt lint tidy test dpdk fuzz-smoke docs aarch64
  bare [CARGO TEST ARGUMENT]...            all tests without optional tools, then the skipped ones with them
  tidy                                     the rules that the compiler and clippy do not know
  pages                                    writes docs/diagnostics from the comments beside the codes
  aarch64                                  the tests of engines and backends on AArch64, emulated
  bless [CARGO TEST ARGUMENT]...           rewrites the expectations of snapshot tests; read the difference before you commit
  fuzz [NAME] [--seconds N] [--seed S]     runs the fuzz bodies, or one, optimised; without N, 60 s each; --list";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["ci", options @ ..] => ci::run(options),
        ["tidy"] => ci::tidy(),
        ["bare", options @ ..] => bare::test(options),
        ["aarch64"] => aarch64::all(),
        ["pages"] => write_pages(),
        ["bless", options @ ..] => bless(options),
        ["fuzz", options @ ..] => fuzz(options),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => Err(USAGE.to_string()),
        [command, ..] => Err(format!("`{command}` with these arguments is not a command\n\n{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.expect("xtask lies in the repository").to_path_buf()
}

/// The `cargo` that started this process, at the root of the repository.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command to its end; a non-zero exit code is an error.
fn finish(command: &mut Command) -> Result<(), String> {
    let shown = shown(command);
    println!("$ {shown}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` failed: {status}")),
        Err(error) => Err(format!("`{shown}` cannot be run: {error}")),
    }
}

/// The command as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    words.join(" ")
}

fn write_pages() -> Result<(), String> {
    pages::write(&root()).map_err(|error| format!("the pages cannot be written: {error}"))
}

fn bless(options: &[&str]) -> Result<(), String> {
    write_pages()?;
    let mut command = cargo();
    command.env("UPDATE_EXPECT", "1").arg("test");
    if options.is_empty() {
        command.arg("--workspace");
    }
    finish(command.args(options))
}

fn fuzz(options: &[&str]) -> Result<(), String> {
    finish(cargo().args(["run", "--release", "--package", "fuzz", "--"]).args(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chores_of_the_pages_are_known() {
        let mut count = 0;
        for page in ["CONTRIBUTING.md", "README.md", "ARCHITECTURE.md"] {
            let text = std::fs::read_to_string(root().join(page)).unwrap();
            for line in text.lines().filter_map(|line| line.strip_prefix("cargo xtask ")) {
                let words: Vec<&str> = line.split_whitespace().take_while(|word| *word != "#").collect();
                let listed = USAGE.lines().any(|usage| usage.split_whitespace().next() == Some(words[0]));
                assert!(listed, "{page}: cargo xtask {line}");
                if let ["ci", options @ ..] = words.as_slice() {
                    ci::selected(options).unwrap_or_else(|problem| panic!("{page}: {problem}"));
                }
                count += 1;
            }
        }
        assert!(count > 5, "the pages name only {count} chores");
    }
}
