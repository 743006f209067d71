//! Reports tests that skip themselves, so that skipped tests are visible.
//!
//! What enters: the reason why a test cannot run here, such as "needs the program `ip`". What leaves:
//!
//! * a line on standard error, which bypasses the test harness's capture of output;
//! * a count when the test program ends;
//! * a record of the run. The last test program of the workspace (`tests/summary.rs`) summarises it, and `cargo xtask
//!   skipped` runs the same tests again from it.
//!
//! A run consists of everything that one process has started, usually `cargo test`. Its record is in the target
//! folder, or at the path in [`RECORD_VARIABLE`].
#![allow(unsafe_code, reason = "a function is registered that runs when the process ends")]

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The environment variable with the path of the run's record.
pub const RECORD_VARIABLE: &str = "WIRESPEED_SKIPPED_TESTS";

/// A test that was skipped.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Skipped {
    /// The reason, such as `needs root`.
    pub reason: String,
    /// Its name in the harness; `main` if the name is not known.
    pub test: String,
    /// The test program.
    pub program: PathBuf,
    /// The working folder of the program.
    pub folder: PathBuf,
}

/// The tests that this process has skipped.
static SKIPPED: Mutex<Vec<Skipped>> = Mutex::new(Vec::new());

/// Reports that the calling test cannot run here, with the reason (`needs ...`). The test must then return.
pub fn skip(reason: impl Into<String>) {
    let reason = reason.into();
    // The harness names the thread of a test after the test.
    let test = std::thread::current().name().unwrap_or("main").to_owned();
    let one = Skipped {
        test,
        reason: reason.split_whitespace().collect::<Vec<_>>().join(" "),
        program: std::env::current_exe().unwrap_or_default(),
        folder: std::env::current_dir().unwrap_or_default(),
    };
    let mut all = lock();
    if all.contains(&one) {
        return;
    }
    say(&format!("skipped: {}: {}\n", one.reason, one.test));
    if let Some(record) = record() {
        // If the record cannot be written, the line above still reports the skipped test.
        let _ = append(&record, &one);
    }
    if all.is_empty() {
        // SAFETY: the function takes nothing, returns nothing and does not panic.
        unsafe { libc::atexit(at_exit) };
    }
    all.push(one);
}

fn lock() -> MutexGuard<'static, Vec<Skipped>> {
    SKIPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes to standard error directly, since the harness captures the output of the macros. A failed write is ignored.
fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

extern "C" fn at_exit() {
    say(&format!("\n{}\n", count(lock().iter())));
}

/// `3 tests were skipped`, with each test counted once.
fn count<'a>(skipped: impl Iterator<Item = &'a Skipped>) -> String {
    let mut tests: Vec<(&Path, &str)> = skipped.map(|one| (one.program.as_path(), one.test.as_str())).collect();
    tests.sort_unstable();
    tests.dedup();
    match tests.len() {
        0 => "no test was skipped".to_owned(),
        1 => "1 test was skipped".to_owned(),
        number => format!("{number} tests were skipped"),
    }
}

/// The path of the record of the run to which this process belongs.
pub fn record() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(RECORD_VARIABLE) {
        return Some(path.into());
    }
    let program = std::env::current_exe().ok()?;
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file())?;
    let folder = target.join("skipped");
    fs::create_dir_all(&folder).ok()?;
    let parent = std::os::unix::process::parent_id();
    Some(folder.join(format!("{parent}-{}", start_of(parent)?)))
}

/// The start time of a process, which distinguishes it from another process with the same number.
fn start_of(process: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may contain anything; the start time is the twentieth field after it.
    text.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

fn append(record: &Path, one: &Skipped) -> io::Result<()> {
    let line = format!(
        "{}\t{}\t{}\t{}\n",
        one.program.display(),
        one.folder.display(),
        one.test,
        one.reason.replace('\t', " ")
    );
    // A single write, so that lines of several processes do not mix.
    fs::File::options().append(true).create(true).open(record)?.write_all(line.as_bytes())
}

/// Parses a record. Malformed lines are left out.
pub fn read(text: &str) -> Vec<Skipped> {
    let line = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        let (program, folder) = (fields.next()?.into(), fields.next()?.into());
        Some(Skipped { test: fields.next()?, reason: fields.next()?, program, folder })
    };
    text.lines().filter_map(line).collect()
}

/// The closing lines of a run: how many tests were skipped, and which for which reason.
pub fn summary(skipped: &[Skipped]) -> String {
    let mut sorted: Vec<&Skipped> = skipped.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut text = count(skipped.iter());
    let mut reason = "";
    for one in sorted {
        if one.reason != reason {
            reason = &one.reason;
            text.push_str(&format!("\n  {reason}:"));
        }
        text.push_str(&format!("\n    {} ({})", one.test, name_of(&one.program)));
    }
    text
}

/// The name of a test program without the hash that cargo adds.
fn name_of(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit_once('-').map_or(name.as_ref(), |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "/t/live-1f\t/live\tb\tneeds root\n/t/cgen-2e\t/cgen\ta\tneeds a compiler\nnonsense\n\
                          /t/live-1f\t/live\tb\tneeds IPv6\n/t/live-1f\t/live\tc\tneeds root\n";

    #[test]
    fn a_run_is_summed_up_by_reason() {
        let expected = "3 tests were skipped\n  needs IPv6:\n    b (live)\n  needs a compiler:\n    a (cgen)\n  \
                        needs root:\n    b (live)\n    c (live)";
        assert_eq!(summary(&read(RECORD)), expected);
        assert_eq!(summary(&[]), "no test was skipped");
        assert_eq!(summary(&read(RECORD)[..1]), "1 test was skipped\n  needs root:\n    b (live)");
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = std::env::temp_dir().join(format!("skipped-{}", std::process::id()));
        let one = |test: &str| Skipped {
            reason: "needs this".to_owned(),
            test: test.to_owned(),
            program: "/t/p-1".into(),
            folder: "/f".into(),
        };
        append(&record, &one("a")).unwrap();
        append(&record, &one("b")).unwrap();
        let text = fs::read_to_string(&record).unwrap();
        fs::remove_file(&record).unwrap();
        assert_eq!(read(&text), [one("a"), one("b")]);
    }

    /// Skips itself if the environment requests it. The test below runs this program with that variable.
    #[test]
    fn skips_if_asked() {
        if std::env::var_os(RECORD_VARIABLE).is_some_and(|path| path.to_string_lossy().contains("asked")) {
            skip("needs  a\nmachine");
            skip("needs a machine");
        }
    }

    #[test]
    fn a_skipped_test_shows_without_any_option() {
        let record = std::env::temp_dir().join(format!("skipped-asked-{}", std::process::id()));
        let mut run = std::process::Command::new(std::env::current_exe().unwrap());
        run.args(["--exact", "tests::skips_if_asked"]).env(RECORD_VARIABLE, &record);
        let output = run.output().unwrap();
        assert!(output.status.success());
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "skipped: needs a machine: tests::skips_if_asked\n\n1 test was skipped\n"
        );
        let skipped = read(&fs::read_to_string(&record).unwrap());
        fs::remove_file(&record).unwrap();
        assert_eq!(skipped.len(), 1);
        assert_eq!(skipped[0].folder, std::env::current_dir().unwrap());
    }
}
