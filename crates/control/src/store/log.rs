//! Files that keep records through a crash.
//!
//! What enters: records, each a JSON value. What leaves: the records that are whole, in order, after whatever happened.
//!
//! A folder holds one *generation*: `snapshot-N.jsonl`, the state at some moment, and `log-N.jsonl`, what was told
//! since. Each line is a record: eight hexadecimal digits (the CRC-32 of the rest), a space, JSON. The last line of a
//! snapshot says how many there are; without it the snapshot was not finished and does not count. A new generation is
//! made beside the old one, synchronised, and only then is the old one removed: a crash at any moment leaves a whole
//! one. The end of a log may be torn by a crash; nobody was told that it is stored, and it is cut off. Lines that are
//! damaged otherwise are reported, and their file is set aside under another name.

use serde_json::{Value, json};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The longest line that is read: one write of a controller.
const LINE_BYTES_MAX: u64 = 1 << 30;

/// What is wrong with a folder of state.
#[derive(Debug)]
pub struct StoreError {
    /// What was being done, as in `cannot {doing}`.
    pub doing: String,
    /// The system's answer.
    pub source: io::Error,
}

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.doing, self.source)
    }
}

/// Names what was being done when the system refused.
fn doing<T>(result: io::Result<T>, what: impl FnOnce() -> String) -> Result<T, StoreError> {
    result.map_err(|source| StoreError { doing: what(), source })
}

/// Hands records, one after the other, to what writes them.
type Records<'a> = &'a mut dyn FnMut(&mut dyn FnMut(&Value) -> io::Result<()>) -> io::Result<()>;

/// What a folder held.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The records of the snapshot and of the log, in order.
    pub records: Vec<Value>,
    /// What was damaged, for people.
    pub complaints: Vec<String>,
}

/// A folder of state that this process has for itself.
#[derive(Debug)]
pub(crate) struct Log {
    folder: PathBuf,
    /// Held as long as this lives.
    _lock: File,
    generation: u64,
    file: File,
    /// Bytes in the log of this generation.
    bytes: u64,
}

impl Log {
    /// Opens a folder, which is made if it is missing, and reads what it holds. The records come back in the next
    /// snapshot or are lost: whoever opens makes a new generation next.
    pub fn open(folder: &Path) -> Result<(Log, Recovered), StoreError> {
        doing(fs::create_dir_all(folder), || format!("make the state folder {}", folder.display()))?;
        let lock_path = folder.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
        let lock = doing(lock, || format!("open {}", lock_path.display()))?;
        if let Err(error) = lock.try_lock() {
            let source = io::Error::other(match error {
                fs::TryLockError::WouldBlock => "another switch uses it".to_owned(),
                fs::TryLockError::Error(error) => error.to_string(),
            });
            return Err(StoreError { doing: format!("use the state folder {}", folder.display()), source });
        }
        let mut recovered = Recovered::default();
        let newest = recover(folder, &mut recovered)?;
        let generation = newest + 1;
        let path = log_path(folder, generation);
        let file = doing(create(&path), || format!("make {}", path.display()))?;
        Ok((Log { folder: folder.to_owned(), _lock: lock, generation, file, bytes: 0 }, recovered))
    }

    /// Appends a record. It is stored for good after [`Log::handle`] was synchronised.
    pub fn append(&mut self, record: &Value) -> Result<(), StoreError> {
        let line = line(record);
        let written = self.file.write_all(line.as_bytes());
        let path = log_path(&self.folder, self.generation);
        if let Err(source) = written {
            // What was written of the line must not run into the next.
            let cut = self.file.set_len(self.bytes);
            doing(cut, || format!("cut {}", path.display()))?;
            return Err(StoreError { doing: format!("write to {}", path.display()), source });
        }
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// What is to be synchronised, by a thread that does not hold up others.
    pub fn handle(&self) -> Result<File, StoreError> {
        doing(self.file.try_clone(), || "duplicate a file's handle".to_owned())
    }

    /// Bytes in the log.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Begins a new generation, of which these records are the state now.
    pub fn begin_generation(&mut self, records: Records<'_>) -> Result<(), StoreError> {
        // The first generation's log is there already; it is empty and belongs to this snapshot.
        let generation = if self.bytes == 0 { self.generation } else { self.generation + 1 };
        let path = snapshot_path(&self.folder, generation);
        doing(write_snapshot(&path, records), || format!("write {}", path.display()))?;
        if generation != self.generation {
            let path = log_path(&self.folder, generation);
            self.file = doing(create(&path), || format!("make {}", path.display()))?;
            (self.generation, self.bytes) = (generation, 0);
        }
        doing(sync_folder(&self.folder), || format!("synchronise {}", self.folder.display()))?;
        self.remove_others();
        Ok(())
    }

    /// Removes the files of other generations. They are in nobody's way if that fails.
    fn remove_others(&self) {
        for (generation, path) in generations(&self.folder).unwrap_or_default() {
            if generation != self.generation {
                let _left = fs::remove_file(path);
            }
        }
    }
}

/// A record as it stands in a file.
fn line(record: &Value) -> String {
    let text = record.to_string();
    format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()))
}

/// The record of a line; none if it is damaged.
fn record(line: &[u8]) -> Option<Value> {
    let (sum, text) = line.split_at_checked(9)?;
    let sum = u32::from_str_radix(std::str::from_utf8(sum).ok()?.strip_suffix(' ')?, 16).ok()?;
    let text = text.strip_suffix(b"\n")?;
    if crc32fast::hash(text) != sum { None } else { serde_json::from_slice(text).ok() }
}

fn log_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("log-{generation}.jsonl"))
}

fn snapshot_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("snapshot-{generation}.jsonl"))
}

fn create(path: &Path) -> io::Result<File> {
    File::create(path)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// All snapshots and logs, by generation.
fn generations(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("log-").or_else(|| name.strip_prefix("snapshot-"));
        let number = number.and_then(|rest| rest.strip_suffix(".jsonl")).and_then(|digits| digits.parse().ok());
        found.extend(number.map(|number| (number, path)));
    }
    found.sort();
    Ok(found)
}

/// Writes a snapshot beside its name, and gives it its name when it is whole and stored.
fn write_snapshot(path: &Path, records: Records<'_>) -> io::Result<()> {
    let beside = path.with_extension("unfinished");
    let mut writer = BufWriter::new(File::create(&beside)?);
    let mut count = 0u64;
    records(&mut |record| {
        count += 1;
        writer.write_all(line(record).as_bytes())
    })?;
    writer.write_all(line(&json!({ "records": count })).as_bytes())?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&beside, path)
}

/// Reads the newest generation of which the snapshot is whole, and the logs from there on. Returns the greatest number
/// that a file has.
fn recover(folder: &Path, recovered: &mut Recovered) -> Result<u64, StoreError> {
    let listing = || format!("list {}", folder.display());
    let found = doing(generations(folder), listing)?;
    let newest = found.last().map_or(0, |(generation, _)| *generation);
    let is_log = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log-"));
    let mut from = 0;
    for (generation, path) in found.iter().rev().filter(|(_, path)| !is_log(path)) {
        let (records, damage) = doing(read(path, false), || format!("read {}", path.display()))?;
        let is_whole = damage.is_empty()
            && records.last().and_then(|last| last["records"].as_u64()) == Some(records.len() as u64 - 1);
        recovered.records = records.into_iter().filter(|record| record.get("records").is_none()).collect();
        if !is_whole {
            set_aside(path, &damage, recovered);
        }
        // What is left of a damaged snapshot is better than an older one: that was removed when this was stored.
        if is_whole || !recovered.records.is_empty() {
            from = *generation;
            break;
        }
    }
    for (_, path) in found.iter().filter(|(generation, path)| is_log(path) && *generation >= from) {
        let (records, damage) = doing(read(path, true), || format!("read {}", path.display()))?;
        recovered.records.extend(records);
        if !damage.is_empty() {
            set_aside(path, &damage, recovered);
        }
    }
    Ok(newest)
}

/// Keeps a damaged file for those who want to look at it.
fn set_aside(path: &Path, damage: &[u64], recovered: &mut Recovered) {
    let lines = match damage {
        [] => "it is not finished".to_owned(),
        [first, ..] => format!("{} damaged lines, the first is line {first}", damage.len()),
    };
    let name = |number: u32| path.with_extension(format!("damaged-{number}"));
    let free = (1..).map(name).find(|name| !name.exists());
    let kept = free.filter(|name| fs::rename(path, name).is_ok());
    let kept = kept.map_or_else(|| "it could not be renamed".to_owned(), |name| format!("kept as {}", name.display()));
    recovered.complaints.push(format!("{}: {lines}; {kept}; all else was taken over", path.display()));
}

/// The whole records of a file, and the numbers of the lines that are damaged. The last line of a log may be torn.
fn read(path: &Path, may_be_torn: bool) -> io::Result<(Vec<Value>, Vec<u64>)> {
    let mut reader = BufReader::new(File::open(path)?);
    let (mut records, mut damage) = (Vec::new(), Vec::new());
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        match record(&bytes) {
            Some(record) => records.push(record),
            None if may_be_torn && bytes.last() != Some(&b'\n') => break,
            None => damage.push(number),
        }
    }
    Ok((records, damage))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(recovered: &Recovered) -> Vec<u64> {
        recovered.records.iter().map(|record| record["n"].as_u64().unwrap()).collect()
    }

    /// A folder with 1 and 2 in its snapshot and 3 and 4 in its log.
    fn filled() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, recovered) = Log::open(folder.path()).unwrap();
        assert!(recovered.records.is_empty() && recovered.complaints.is_empty());
        log.begin_generation(&mut |write| [1, 2].iter().try_for_each(|n| write(&json!({ "n": n })))).unwrap();
        log.append(&json!({"n": 3})).unwrap();
        log.append(&json!({"n": 4})).unwrap();
        folder
    }

    fn paths(folder: &Path) -> (PathBuf, PathBuf) {
        (snapshot_path(folder, 1), log_path(folder, 1))
    }

    #[test]
    fn records_come_back() {
        let folder = filled();
        let (mut log, recovered) = Log::open(folder.path()).unwrap();
        assert_eq!((numbers(&recovered), recovered.complaints), (vec![1, 2, 3, 4], vec![]));
        // Before the new generation is begun, all is there once more.
        drop(log);
        (log, _) = Log::open(folder.path()).unwrap();
        log.begin_generation(&mut |write| write(&json!({"n": 5}))).unwrap();
        log.append(&json!({"n": 6})).unwrap();
        log.begin_generation(&mut |write| write(&json!({"n": 7}))).unwrap();
        drop(log);
        assert_eq!(numbers(&Log::open(folder.path()).unwrap().1), [7]);
    }

    #[test]
    fn a_folder_is_one_switchs() {
        let folder = filled();
        let (_log, _) = Log::open(folder.path()).unwrap();
        let refused = Log::open(folder.path()).unwrap_err().to_string();
        assert!(refused.ends_with("another switch uses it"), "{refused}");
    }

    #[test]
    fn every_torn_log_gives_what_was_whole() {
        let folder = filled();
        let (_, log) = paths(folder.path());
        let whole = fs::read(&log).unwrap();
        for length in 0..whole.len() {
            fs::write(&log, &whole[..length]).unwrap();
            let mut recovered = Recovered::default();
            recover(folder.path(), &mut recovered).unwrap();
            let lines = whole[..length].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(numbers(&recovered), [1, 2, 3, 4][..2 + lines], "{length}");
            assert!(recovered.complaints.is_empty());
        }
    }

    #[test]
    fn every_damaged_byte_is_noticed_and_costs_its_line_alone() {
        for position in 0.. {
            let folder = filled();
            let (snapshot, log) = paths(folder.path());
            let length = fs::read(&snapshot).unwrap().len();
            let (path, offset) = if position < length { (snapshot, position) } else { (log, position - length) };
            let mut bytes = fs::read(&path).unwrap();
            let Some(byte) = bytes.get_mut(offset) else { break };
            *byte ^= 1;
            fs::write(&path, &bytes).unwrap();
            let mut recovered = Recovered::default();
            recover(folder.path(), &mut recovered).unwrap();
            let left = numbers(&recovered);
            assert!(left.len() >= 2 && left.is_sorted(), "{position}: {left:?}");
            // The end of the last line is where a torn one is not told from a damaged one.
            assert!(recovered.complaints.len() == 1 || left == [1, 2, 3], "{position}: {:?}", recovered.complaints);
        }
    }
}
