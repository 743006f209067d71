//! Runs the README's test command as on a machine with only Rust and a C compiler, and then the tests that were
//! skipped there, with all tools of this machine.
//!
//! What enters: the list of tools that `.ci/run` installs. What leaves: an error if a test failed, including a test
//! that should have skipped itself because a tool is missing. Each test runs to its end once: tests that need no tool
//! in the first run, the others in the second one, directly from the programs that the first one has built.

use crate::{cargo, finish, root};
use skipped::{RECORD_VARIABLE, Skipped};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Optional commands that `.ci/run` does not install under these names.
const FURTHER_TOOLS: [&str; 4] = ["tc", "python", "python3", "pkg-config"];

/// Runs tests without optional tools, and then the skipped ones with them. `options` are options of `cargo test` and
/// select the tests; without options, all tests run.
pub(crate) fn test(options: &[&str]) -> Result<(), String> {
    let target = root().join("target");
    let [commands, record] = ["bare-path", "skipped-without-tools"].map(|name| target.join(name));
    let hidden = hidden(&fs::read_to_string(root().join(".ci/run")).map_err(|error| format!(".ci/run: {error}"))?);
    let made = visible_commands(&commands, &hidden);
    made.map_err(|error| format!("{} cannot be made: {error}", commands.display()))?;
    forget(&record)?;
    println!("without {}", hidden.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    let mut without = cargo();
    without.env("PATH", &commands).env(RECORD_VARIABLE, &record).arg("test");
    // One failure must not hide others: a run takes long.
    without.arg("--no-fail-fast").args(if options.is_empty() { &["--workspace"] } else { options });
    let first = finish(&mut without);
    let second = run_skipped(&record);
    let failed: Vec<String> = [first, second].into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Runs the tests of a record, each program once, with all tools.
fn run_skipped(record: &Path) -> Result<(), String> {
    let skipped = skipped::read(&fs::read_to_string(record).unwrap_or_default());
    let still = record.with_file_name("skipped-with-tools");
    forget(&still)?;
    println!("\n== what was skipped, with the tools of this machine");
    let mut failed = Vec::new();
    for ((program, folder), tests) in by_program(&skipped) {
        let mut command = Command::new(program);
        command.current_dir(folder).env(RECORD_VARIABLE, &still).arg("--exact").args(tests);
        failed.extend(finish(&mut command).err());
    }
    println!("\nwith the tools of this machine, {}", summary(&still));
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn summary(record: &Path) -> String {
    skipped::summary(&skipped::read(&fs::read_to_string(record).unwrap_or_default()))
}

/// The tests of each program, with the folder in which it runs.
fn by_program(skipped: &[Skipped]) -> BTreeMap<(&Path, &Path), BTreeSet<&str>> {
    let mut programs: BTreeMap<(&Path, &Path), BTreeSet<&str>> = BTreeMap::new();
    for one in skipped {
        programs.entry((&one.program, &one.folder)).or_default().insert(&one.test);
    }
    programs
}

fn forget(file: &Path) -> Result<(), String> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("{}: {error}", file.display())),
        _ => Ok(()),
    }
}

/// The commands that a bare machine lacks: those before the colons in the list `tools` of `.ci/run`, and some more.
fn hidden(ci: &str) -> BTreeSet<String> {
    let list = ci.lines().skip_while(|line| line.trim() != "tools=(").skip(1).take_while(|line| line.trim() != ")");
    let listed = list.filter_map(|line| line.trim().split_once(':')).map(|(command, _)| command.to_owned());
    listed.chain(FURTHER_TOOLS.map(str::to_owned)).collect()
}

/// Whether a file name is one of the tools, possibly with a version, such as `clang-19` or `python3.13`.
fn is_hidden(name: &str, hidden: &BTreeSet<String>) -> bool {
    let is_version = |rest: &str| rest.starts_with(|c: char| c == '-' || c == '.' || c.is_ascii_digit());
    hidden.iter().any(|tool| name.strip_prefix(tool.as_str()).is_some_and(|rest| rest.is_empty() || is_version(rest)))
}

/// Fills a folder with links to all commands in the search path, except hidden ones.
fn visible_commands(folder: &Path, hidden: &BTreeSet<String>) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(folder)?,
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut seen: BTreeSet<OsString> = BTreeSet::new();
    // As in a search, the first folder with the name takes precedence.
    for entry in std::env::split_paths(&path).filter_map(|from| fs::read_dir(from).ok()).flatten().flatten() {
        let name = entry.file_name();
        if !is_hidden(&name.to_string_lossy(), hidden) && seen.insert(name.clone()) {
            let command: PathBuf = entry.path();
            std::os::unix::fs::symlink(command, folder.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_those_that_ci_installs() {
        let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
        let hidden = hidden(&ci);
        for tool in ["ip", "tc", "clang", "tshark", "python3", "aarch64-linux-gnu-gcc", "qemu-aarch64"] {
            assert!(hidden.contains(tool), "{tool}");
        }
        for tool in ["clang-19", "python3.13", "qemu-aarch64-static", "ps"] {
            assert!(is_hidden(tool, &hidden), "{tool}");
        }
        for tool in ["cc", "gcc", "cargo", "psql", "true", "ls", "kill", "timeout"] {
            assert!(!is_hidden(tool, &hidden), "{tool}");
        }
    }

    #[test]
    fn tests_run_again_by_program() {
        let record = "/t/a\t/f\tx\tneeds y\n/t/a\t/f\tx\tneeds z\n/t/a\t/f\tw\tneeds y\n/t/b\t/f\tx\tneeds y\n";
        let skipped = skipped::read(record);
        let programs: Vec<String> = by_program(&skipped)
            .iter()
            .map(|((program, _), tests)| format!("{} {tests:?}", program.display()))
            .collect();
        assert_eq!(programs, ["/t/a {\"w\", \"x\"}", "/t/b {\"x\"}"]);
    }
}
