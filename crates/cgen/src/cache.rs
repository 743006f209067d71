//! Limits the size of the cache of compiled programs: specialised code is compiled again and again, and hardly ever
//! used twice.
//!
//! What enters: the folder, after a program was added. What leaves: the folder, without abandoned temporary
//! files, and without the least recently used programs if it was too large. All its files count. The
//! modification time of a program's object is its last use.

use crate::cache_entry::SEAL;
use base::OrderedMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The most bytes of all files together.
pub(crate) const BYTES_MAX: u64 = 256 << 20;

/// Programs that were used within this time stay, since they may not be loaded yet.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(3600);

/// The ending of the names of files that are not complete: `NAME.PROCESS.NUMBER.tmp`.
pub(crate) const TEMPORARY: &str = "tmp";

/// No compiler runs longer than this.
const WRITTEN_FOR: Duration = Duration::from_secs(3600);

/// For this long a temporary file stays although its process is not found here: another machine or container may share
/// the cache.
const ELSEWHERE_FOR: Duration = Duration::from_secs(60);

/// A file in the cache.
struct Found {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

/// A program in the cache. Its object may be missing, if it was never compiled to the end.
struct Cached {
    used: SystemTime,
    files: Vec<Found>,
}

/// Records that a program is used. If that fails, it is only deleted sooner.
pub(crate) fn note_use(object: &Path) {
    let _ = fs::File::open(object).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes the least recently used programs until all files together have at most `bytes_max` bytes, or the programs
/// were used within `protected_for`. Files that cannot be read or removed stay: the next call tries again.
pub(crate) fn shrink(folder: &Path, bytes_max: u64, protected_for: Duration) {
    let mut found = files(folder);
    found.retain(|file| !(is_abandoned(file) && fs::remove_file(&file.path).is_ok()));
    let mut bytes: u64 = found.iter().map(|file| file.bytes).sum();
    for program in programs(found) {
        let is_young = age(program.used) < protected_for;
        if bytes <= bytes_max || is_young {
            return;
        }
        // Any order will do: an object without its text or its seal is compiled again.
        let removed = program.files.iter().filter(|file| fs::remove_file(&file.path).is_ok());
        bytes -= removed.map(|file| file.bytes).sum::<u64>();
    }
}

/// All files of a folder and of the folders in it, which are those of the runtime headers.
fn files(folder: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Links are not followed.
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if let Ok(modified) = metadata.modified() {
                found.push(Found { path: entry.path(), bytes: metadata.len(), modified });
            }
        }
    }
    found
}

/// A time in the future is now.
fn age(time: SystemTime) -> Duration {
    time.elapsed().unwrap_or_default()
}

/// Whether it is an abandoned temporary file: its process was killed.
fn is_abandoned(file: &Found) -> bool {
    let name = file.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let mut parts = name.rsplit('.');
    if parts.next() != Some(TEMPORARY) {
        return false;
    }
    let is_number = |part: &&str| part.parse::<u64>().is_ok();
    let process = parts.next().filter(is_number).and_then(|_| parts.next()).filter(is_number);
    let is_gone = process.is_some_and(|process| !Path::new("/proc").join(process).exists());
    age(file.modified) >= if is_gone { ELSEWHERE_FOR } else { WRITTEN_FOR }
}

/// The programs among the files, the least recently used first.
fn programs(found: Vec<Found>) -> Vec<Cached> {
    let mut by_key: OrderedMap<PathBuf, Vec<Found>> = OrderedMap::new();
    let is_of_program = |path: &Path| path.extension().is_some_and(|it| it == "so" || it == "c" || it == SEAL);
    for file in found.into_iter().filter(|file| is_of_program(&file.path)) {
        by_key.entry(file.path.with_extension("")).or_default().push(file);
    }
    let mut programs: Vec<Cached> = by_key.into_values().filter_map(Cached::new).collect();
    programs.sort_by_key(|program| program.used);
    programs
}

impl Cached {
    fn new(files: Vec<Found>) -> Option<Cached> {
        let object = files.iter().find(|file| file.path.extension().is_some_and(|it| it == "so"));
        let used = object.map(|object| object.modified).or_else(|| files.iter().map(|file| file.modified).max())?;
        Some(Cached { used, files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> String {
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names.join(" ")
    }

    fn put(path: &Path, bytes: usize, age_s: u64) {
        fs::write(path, vec![0; bytes]).unwrap();
        fs::File::open(path).unwrap().set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
    }

    #[test]
    fn abandoned_temporary_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let here = std::process::id();
        // No process has such a number.
        let gone = u32::MAX;
        for (name, age_s) in [
            (format!("a.{here}.0.tmp"), 1800),
            (format!("b.{here}.1.tmp"), 3700),
            (format!("c.{gone}.0.tmp"), 5),
            (format!("d.{gone}.1.tmp"), 70),
            (format!("e.so.{gone}.2.tmp"), 70),
            ("f.tmp".to_owned(), 1800),
            ("g.tmp".to_owned(), 3700),
        ] {
            put(&folder.path().join(name), 10, age_s);
        }
        shrink(folder.path(), 1 << 20, Duration::ZERO);
        assert_eq!(names(folder.path()), format!("a.{here}.0.tmp c.{gone}.0.tmp f.tmp"));
    }

    #[test]
    fn all_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("runtime-1")).unwrap();
        put(&path("runtime-1/wirespeed.h"), 30, 900);
        put(&path("notes.json"), 20, 900);
        put(&path(&format!("new.{}.0.tmp", std::process::id())), 10, 1);
        // A program that was not compiled to the end, and one that was.
        put(&path("half.c"), 5, 900);
        for ending in ["c", "so", "seal"] {
            put(&path(&format!("whole.{ending}")), 10, 500);
        }
        let all = names(folder.path());
        shrink(folder.path(), 95, Duration::ZERO);
        assert_eq!(names(folder.path()), all);
        shrink(folder.path(), 90, Duration::ZERO);
        assert_eq!(names(folder.path()), all.replace("half.c ", ""));
        shrink(folder.path(), 89, Duration::ZERO);
        let rest = format!("new.{}.0.tmp notes.json runtime-1", std::process::id());
        assert_eq!(names(folder.path()), rest);
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let put = |name: &str, age_s: u64| {
            fs::write(path(&format!("{name}.c")), [0; 40]).unwrap();
            fs::write(path(&format!("{name}.so")), [0; 60]).unwrap();
            fs::write(path(&format!("{name}.seal")), [0; 9]).unwrap();
            let used = SystemTime::now() - Duration::from_secs(age_s);
            fs::File::open(path(&format!("{name}.so"))).unwrap().set_modified(used).unwrap();
        };
        for (name, age_s) in [("old", 500), ("older", 900), ("used", 700), ("young", 5)] {
            put(name, age_s);
        }
        fs::write(path("notes.json"), [0; 7]).unwrap();
        note_use(&path("used.so"));
        let there = || names(folder.path());
        let all = there();
        shrink(folder.path(), 443, Duration::ZERO);
        assert_eq!(there(), all);
        shrink(folder.path(), 442, Duration::ZERO);
        assert_eq!(there(), "notes.json old.c old.seal old.so used.c used.seal used.so young.c young.seal young.so");
        // Whatever their size, programs that may not be loaded yet stay.
        shrink(folder.path(), 0, Duration::from_secs(60));
        assert_eq!(there(), "notes.json used.c used.seal used.so young.c young.seal young.so");
    }
}
