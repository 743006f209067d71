//! The README's test command as on a machine that has nothing but Rust and a C compiler, then the tests that were
//! skipped there, with every tool of this machine.
//!
//! What enters: the tools that `.ci/run` installs. What leaves: an error if a test failed, or failed for want of a tool
//! where it should have skipped itself. Each test runs to its end once: those that need no tool in the first run, the
//! others in the second, straight from the programs that the first has built.

use crate::{cargo, finish, root};
use skipped::{RECORD_VARIABLE, Skipped};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Optional commands that `.ci/run` does not install by these names.
const FURTHER_TOOLS: [&str; 4] = ["tc", "python", "python3", "pkg-config"];

/// Runs tests without optional tools, then with them those that were skipped. `options` are of `cargo test`, and say
/// which tests these are: all if there are none.
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
    without.args(if options.is_empty() { &["--workspace"] } else { options });
    let first = finish(&mut without);
    let second = again(&record);
    let failed: Vec<String> = [first, second].into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Runs the tests of a record, each program once, with all tools.
fn again(record: &Path) -> Result<(), String> {
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

/// The tests of each program and the folder that it runs in.
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

/// The commands that a plain machine lacks: those before the colons of the list `tools` in `.ci/run`, and some more.
fn hidden(ci: &str) -> BTreeSet<String> {
    let list = ci.lines().skip_while(|line| line.trim() != "tools=(").skip(1).take_while(|line| line.trim() != ")");
    let listed = list.filter_map(|line| line.trim().split_once(':')).map(|(command, _)| command.to_owned());
    listed.chain(FURTHER_TOOLS.map(str::to_owned)).collect()
}

/// Whether a file of this name is one of the tools, perhaps of a certain version, as `clang-19` or `python3.13`.
fn is_hidden(name: &str, hidden: &BTreeSet<String>) -> bool {
    let is_version = |rest: &str| rest.starts_with(|c: char| c == '-' || c == '.' || c.is_ascii_digit());
    hidden.iter().any(|tool| name.strip_prefix(tool.as_str()).is_some_and(|rest| rest.is_empty() || is_version(rest)))
}

/// Fills a folder with links to all commands that this process can call, but for hidden ones.
fn visible_commands(folder: &Path, hidden: &BTreeSet<String>) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(folder)?,
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut seen: BTreeSet<OsString> = BTreeSet::new();
    // As in a search, the first folder that has a name counts.
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
