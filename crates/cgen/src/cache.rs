//! Limits the size of the cache of compiled programs: specialised code is compiled again and again, and hardly ever
//! used twice.
//!
//! What enters: the folder, after a program was added. What leaves: the folder, without the least recently used
//! programs if it was too large. The modification time of a program's object is its last use.

use crate::cache_entry::SEAL;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The most bytes of all programs together.
pub(crate) const BYTES_MAX: u64 = 256 << 20;

/// Programs that were used within this time stay, since they may not be loaded yet.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(3600);

/// A program in the cache.
struct Cached {
    used: SystemTime,
    bytes: u64,
    object: PathBuf,
}

/// Records that a program is used. If that fails, it is only deleted sooner.
pub(crate) fn note_use(object: &Path) {
    let _ = fs::File::open(object).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes the least recently used programs until all together have at most `bytes_max` bytes or were used within
/// `kept_for`. Files that cannot be read or removed stay: the next call tries again.
pub(crate) fn shrink(folder: &Path, bytes_max: u64, kept_for: Duration) {
    let mut programs: Vec<Cached> =
        fs::read_dir(folder).into_iter().flatten().filter_map(|entry| program(entry.ok()?.path())).collect();
    let mut bytes: u64 = programs.iter().map(|program| program.bytes).sum();
    programs.sort_by_key(|program| program.used);
    for program in programs {
        let is_young = program.used.elapsed().is_ok_and(|age| age < kept_for);
        if bytes <= bytes_max || is_young {
            return;
        }
        // The text is removed first: an object without it is compiled again.
        let _ = fs::remove_file(program.object.with_extension("c"));
        let _ = fs::remove_file(program.object.with_extension(SEAL));
        let _ = fs::remove_file(&program.object);
        bytes -= program.bytes;
    }
}

fn program(object: PathBuf) -> Option<Cached> {
    if object.extension()? != "so" {
        return None;
    }
    let found = fs::metadata(&object).ok()?;
    let text = fs::metadata(object.with_extension("c")).map_or(0, |text| text.len());
    Some(Cached { used: found.modified().ok()?, bytes: found.len() + text, object })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        fs::write(path("notes.json"), [0; 1000]).unwrap();
        note_use(&path("used.so"));
        let there = || {
            let mut names: Vec<String> = fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names.join(" ")
        };
        let all = there();
        shrink(folder.path(), 400, Duration::ZERO);
        assert_eq!(there(), all);
        shrink(folder.path(), 399, Duration::ZERO);
        assert_eq!(there(), "notes.json old.c old.seal old.so used.c used.seal used.so young.c young.seal young.so");
        // Whatever their size, programs that may not be loaded yet stay.
        shrink(folder.path(), 0, Duration::from_secs(60));
        assert_eq!(there(), "notes.json used.c used.seal used.so young.c young.seal young.so");
    }
}
