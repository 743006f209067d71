//! Files that keep records through a crash.
//!
//! What enters: records, each some bytes. What leaves: the records that are whole, in order, after whatever happened.
//!
//! A folder holds one *generation*: `snapshot-N.state`, the state at some moment, and `log-N.state`, what was told
//! since. A file is frames, one after the other: [`MARK`], the number of the record's bytes and the CRC-32 of that
//! number and the record (four bytes each, the least significant first), the record. The last record of a snapshot
//! says how many there are; without it the snapshot was not finished and does not count. A new generation is made
//! beside the old one, synchronised, and only then is the old one removed: a crash at any moment leaves a whole one.
//! The end of a log may be torn by a crash; nobody was told that it is stored, and it is left out. A log that something
//! else has cut looks the same, so that it is told. Records that are damaged are reported, too, and the file is kept
//! under another name; the next that is whole is found by its mark.

use crate::store::system::{self, Writer};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What each frame begins with.
const MARK: [u8; 4] = *b"\x93WSR";

/// Bytes of a frame in front of its record.
const HEAD_BYTES: usize = 12;

/// The longest record: one write of a controller is less.
const RECORD_BYTES_MAX: usize = 1 << 30;

/// What the names of snapshots and logs end with.
const EXTENSION: &str = "state";

/// What the last record of a snapshot begins with; the number of those before it follows, in eight bytes.
const COUNT: u8 = 2;

/// What they ended with when their records were lines of JSON.
const EXTENSION_OF_LINES: &str = "jsonl";

/// Files of greater numbers are not ours.
const GENERATION_MAX: u64 = 1 << 60;

/// What the name of a snapshot ends with while it is written.
const UNFINISHED: &str = "unfinished";

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
pub(crate) type Records<'a> = &'a mut dyn FnMut(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>;

/// What a folder held.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The records of the snapshot and of the log, in order.
    pub records: Vec<Box<[u8]>>,
    /// What was damaged, for people.
    pub complaints: Vec<String>,
}

/// A folder of state that this process has for itself.
#[derive(Debug)]
pub(crate) struct Log {
    folder: PathBuf,
    /// Held as long as this lives.
    _lock: File,
    /// The greatest number that a file of the folder has.
    generation: u64,
    /// The log of this generation, once it was begun.
    file: Option<Arc<File>>,
    /// Bytes in it.
    bytes: u64,
}

impl Log {
    /// Opens a folder, which is made if it is missing, and reads what it holds. The records come back in the next
    /// snapshot: whoever opens begins a generation next.
    pub fn open(folder: &Path) -> Result<(Log, Recovered), StoreError> {
        doing(fs::create_dir_all(folder), || format!("make the state folder {}", folder.display()))?;
        let mut recovered = Recovered::default();
        let lock_path = folder.join("lock");
        if lock_path.is_dir() {
            set_aside(&lock_path, "it is a folder", &mut recovered);
        }
        let was_used = lock_path.exists();
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
        let lock = doing(lock, || format!("open {}", lock_path.display()))?;
        if let Err(error) = locked(&lock) {
            return Err(StoreError { doing: format!("use the state folder {}", folder.display()), source: error });
        }
        let generation = recover(folder, &mut recovered)?;
        if was_used && generation == 0 && recovered.complaints.is_empty() {
            let folder = folder.display();
            recovered.complaints.push(format!("{folder}: a switch has used it, and no state is left: it begins empty"));
        }
        Ok((Log { folder: folder.to_owned(), _lock: lock, generation, file: None, bytes: 0 }, recovered))
    }

    /// Appends a record. It is stored for good after [`Log::handle`] was synchronised. After a refusal the log lacks
    /// what it should have, and only a new generation helps.
    pub fn append(&mut self, record: &[u8]) -> Result<(), StoreError> {
        let path = log_path(&self.folder, self.generation);
        let writing = || format!("write to {}", path.display());
        let file = doing(self.file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into()), writing)?;
        let frame = doing(frame(record), writing)?;
        if let Err(source) = system::write(file, &frame) {
            // If a part of the frame stays it is torn, and counts for nothing.
            let _left = system::cut(file, self.bytes);
            return Err(StoreError { doing: writing(), source });
        }
        self.bytes += frame.len() as u64;
        Ok(())
    }

    /// Keeps the files of the folder under other names, too, before a new generation takes their place.
    pub fn set_all_aside(&self, why: &str, recovered: &mut Recovered) {
        for (_, path) in generations(&self.folder).unwrap_or_default() {
            set_aside(&path, why, recovered);
        }
    }

    /// What is to be synchronised, by a thread that does not hold up others.
    pub fn handle(&self) -> Option<Arc<File>> {
        self.file.clone()
    }

    /// Has what was appended stored for good.
    pub fn synchronise(file: &File) -> Result<(), StoreError> {
        doing(system::synchronise(file), || "synchronise the log".to_owned())
    }

    /// Bytes in the log.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Begins a new generation, of which these records are the state now. If that fails the old one goes on, unless the
    /// system has refused the very last step; then the new one does.
    pub fn begin_generation(&mut self, records: Records<'_>) -> Result<(), StoreError> {
        let generation = self.generation + 1;
        // The log is there before the snapshot is: a snapshot that counts has one to go with.
        let path = log_path(&self.folder, generation);
        let file = doing(system::create(&path), || format!("make {}", path.display()))?;
        let snapshot = snapshot_path(&self.folder, generation);
        let unfinished = snapshot.with_extension(UNFINISHED);
        let written = write_snapshot(&unfinished, records).and_then(|()| system::rename(&unfinished, &snapshot));
        if written.is_err() {
            system::remove(&unfinished);
            system::remove(&path);
        }
        doing(written, || format!("write {}", snapshot.display()))?;
        (self.generation, self.file, self.bytes) = (generation, Some(Arc::new(file)), 0);
        doing(system::synchronise_folder(&self.folder), || format!("synchronise {}", self.folder.display()))?;
        self.remove_others();
        Ok(())
    }

    /// Begins the log of a new generation whose snapshot is made beside what is appended from now on. Until that is
    /// finished, a start reads the old snapshot and both logs.
    pub fn begin_beside(&mut self) -> Result<Beside, StoreError> {
        let generation = self.generation + 1;
        let path = log_path(&self.folder, generation);
        let begun = system::create(&path)
            .and_then(|file| system::synchronise_folder(&self.folder).map(|()| file))
            .inspect_err(|_| system::remove(&path));
        let file = doing(begun, || format!("make {}", path.display()))?;
        (self.generation, self.file, self.bytes) = (generation, Some(Arc::new(file)), 0);
        Ok(Beside { generation, snapshot: snapshot_path(&self.folder, generation) })
    }

    /// Puts a snapshot that was made beside the log in its place.
    pub fn finish_beside(&mut self, beside: &Beside) -> Result<(), StoreError> {
        if self.generation != beside.generation {
            // There is a newer one, which has all of it.
            system::remove(&beside.unfinished());
            return Ok(());
        }
        doing(system::rename(&beside.unfinished(), &beside.snapshot), || {
            format!("write {}", beside.snapshot.display())
        })?;
        doing(system::synchronise_folder(&self.folder), || format!("synchronise {}", self.folder.display()))?;
        self.remove_others();
        Ok(())
    }

    /// Removes the files of other generations, snapshots first: one without its log would be less than it was.
    fn remove_others(&self) {
        let mut others = generations(&self.folder).unwrap_or_default();
        others.retain(|(generation, _)| *generation != self.generation);
        others.sort_by_key(|(_, path)| is_log(path));
        others.iter().for_each(|(_, path)| system::remove(path));
    }
}

/// A snapshot that is made while records are appended to the log behind it.
#[derive(Debug)]
pub(crate) struct Beside {
    generation: u64,
    snapshot: PathBuf,
}

impl Beside {
    fn unfinished(&self) -> PathBuf {
        self.snapshot.with_extension(UNFINISHED)
    }

    /// Writes it.
    pub fn write(&self, records: Records<'_>) -> Result<(), StoreError> {
        let written = write_snapshot(&self.unfinished(), records).inspect_err(|_| system::remove(&self.unfinished()));
        doing(written, || format!("write {}", self.snapshot.display()))
    }
}

/// How long a folder is waited for that another switch has: one that has just ended may still be about to let go of it,
/// and so may a child that it was starting.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// Has the lock for itself, until the file is closed.
fn locked(lock: &File) -> io::Result<()> {
    let started = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(fs::TryLockError::Error(error)) => return Err(error),
            Err(fs::TryLockError::WouldBlock) if started.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(fs::TryLockError::WouldBlock) => return Err(io::Error::other("another switch uses it")),
        }
    }
}

/// A record as it stands in a file.
fn frame(record: &[u8]) -> io::Result<Vec<u8>> {
    if record.len() > RECORD_BYTES_MAX {
        return Err(io::Error::other(format!("a record of {} bytes: the most are {RECORD_BYTES_MAX}", record.len())));
    }
    let length = (record.len() as u32).to_le_bytes();
    let mut frame = Vec::with_capacity(HEAD_BYTES + record.len());
    frame.extend_from_slice(&MARK);
    frame.extend_from_slice(&length);
    frame.extend_from_slice(&checksum(length, record).to_le_bytes());
    frame.extend_from_slice(record);
    Ok(frame)
}

fn checksum(length: [u8; 4], record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length);
    hasher.update(record);
    hasher.finalize()
}

/// What bytes begin with.
enum Front<'a> {
    /// A record that is whole, and what is behind it.
    Whole(&'a [u8], &'a [u8]),
    /// A frame of which the end is missing.
    Torn,
    /// Something else.
    Damaged,
}

impl Front<'_> {
    fn of(bytes: &[u8]) -> Front<'_> {
        let Some((head, rest)) = bytes.split_at_checked(HEAD_BYTES) else {
            let is_begun = MARK.iter().zip(bytes).all(|(mark, byte)| mark == byte);
            return if is_begun { Front::Torn } else { Front::Damaged };
        };
        let word = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let length = u32::from_le_bytes(word(4)) as usize;
        if word(0) != MARK || length > RECORD_BYTES_MAX {
            return Front::Damaged;
        }
        let Some((record, rest)) = rest.split_at_checked(length) else { return Front::Torn };
        match checksum(word(4), record) == u32::from_le_bytes(word(8)) {
            true => Front::Whole(record, rest),
            false => Front::Damaged,
        }
    }
}

/// What is left from the next record on that is whole; nothing if there is none.
fn next_whole(bytes: &[u8]) -> &[u8] {
    let starts = (0..bytes.len()).filter(|&start| bytes[start] == MARK[0]);
    let mut whole = starts.map(|start| &bytes[start..]).filter(|rest| matches!(Front::of(rest), Front::Whole(..)));
    whole.next().unwrap_or_default()
}

/// The last record of a snapshot with so many before it.
fn count_record(count: u64) -> Vec<u8> {
    [&[COUNT][..], &count.to_le_bytes()].concat()
}

/// How many records there are, if this is the last of a snapshot.
fn count(record: &[u8]) -> Option<u64> {
    record.strip_prefix(&[COUNT])?.try_into().ok().map(u64::from_le_bytes)
}

fn log_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("log-{generation}.{EXTENSION}"))
}

fn snapshot_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("snapshot-{generation}.{EXTENSION}"))
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn is_log(path: &Path) -> bool {
    name(path).starts_with("log-")
}

/// All snapshots and logs, by generation.
fn generations(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    files(folder, EXTENSION)
}

fn files(folder: &Path, extension: &str) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let number = name(&path).strip_prefix("log-").or_else(|| name(&path).strip_prefix("snapshot-"));
        let number = number.and_then(|rest| rest.strip_suffix(extension)?.strip_suffix('.')?.parse().ok());
        found.extend(number.filter(|&number| number < GENERATION_MAX).map(|number| (number, path)));
    }
    found.sort();
    Ok(found)
}

/// Reports files that only earlier versions can read. They stay as they are.
fn report_lines(folder: &Path, recovered: &mut Recovered) -> io::Result<()> {
    let found = files(folder, EXTENSION_OF_LINES)?;
    if !found.is_empty() {
        let names: Vec<&str> = found.iter().map(|(_, path)| name(path)).collect();
        recovered.complaints.push(format!(
            "{}: {} of an earlier version, which kept its state as lines of JSON: nothing of that was taken over. To \
             have it, start that version with the folder, save what it shows (`wirespeed ctl dump > FILE`) and run the \
             file with `wirespeed ctl` on this switch; then, or if it is not wanted, remove the .{EXTENSION_OF_LINES} \
             files",
            folder.display(),
            names.join(", ")
        ));
    }
    Ok(())
}

/// Removes snapshots that a crash has left unfinished.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if name(&path).starts_with("snapshot-") && path.extension().is_some_and(|it| it == UNFINISHED) {
            system::remove(&path);
        }
    }
    Ok(())
}

/// Writes a snapshot, and has it stored.
fn write_snapshot(path: &Path, records: Records<'_>) -> io::Result<()> {
    let mut writer = Writer::create(path)?;
    let mut count = 0u64;
    records(&mut |record| {
        count += 1;
        writer.write(&frame(record)?)
    })?;
    writer.write(&frame(&count_record(count))?)?;
    writer.finish()
}

/// Reads the newest snapshot that is whole, or what is left of the newest that is not, and the logs from there on.
/// Returns the greatest number that a file has.
fn recover(folder: &Path, recovered: &mut Recovered) -> Result<u64, StoreError> {
    let listing = || format!("list {}", folder.display());
    doing(remove_unfinished(folder), listing)?;
    doing(report_lines(folder, recovered), listing)?;
    let found = doing(generations(folder), listing)?;
    let mut best: Option<(u64, Vec<Box<[u8]>>)> = None;
    let mut is_whole = false;
    for (generation, path) in found.iter().rev().filter(|(_, path)| !is_log(path)) {
        let Some(Content { mut records, damage, .. }) = read_or_set_aside(path, false, recovered) else { continue };
        let counted = records.last().and_then(|last| count(last));
        is_whole = damage.is_empty() && counted == Some((records.len() as u64).wrapping_sub(1));
        records.retain(|record| count(record).is_none());
        if is_whole {
            best = Some((*generation, records));
            break;
        }
        set_aside(path, &described(&damage, &records), recovered);
        if best.is_none() && !records.is_empty() {
            best = Some((*generation, records));
        }
    }
    let has_snapshot = found.iter().any(|(_, path)| !is_log(path));
    let (from, records) = best.unwrap_or_default();
    recovered.records = records;
    let mut logs = Vec::new();
    for (generation, path) in found.iter().filter(|(generation, path)| is_log(path) && *generation >= from) {
        logs.push(*generation);
        let Some(Content { records, damage, torn_bytes }) = read_or_set_aside(path, true, recovered) else { continue };
        if !damage.is_empty() {
            set_aside(path, &described(&damage, &records), recovered);
        } else if torn_bytes > 0 {
            // Most often of a crash, and never acknowledged; but a file that something else has cut looks the same.
            let behind = records.len();
            let why = format!("its end ({torn_bytes} bytes behind record {behind}) is not whole and was left out");
            set_aside(path, &why, recovered);
        }
        if !has_snapshot && (*generation > 1 || !records.is_empty()) {
            let missing = snapshot_path(folder, *generation);
            set_aside(path, &format!("{} is missing, without which it says little", name(&missing)), recovered);
        }
        recovered.records.extend(records);
    }
    // A snapshot that is whole had its log before it had its name.
    if is_whole && logs.first() != Some(&from) {
        let missing = log_path(folder, from);
        recovered.complaints.push(format!("{} is missing: what it held is lost", missing.display()));
    }
    Ok(found.last().map_or(0, |(generation, _)| *generation))
}

/// What is in a file; none, and the file set aside, if it cannot be read.
fn read_or_set_aside(path: &Path, may_be_torn: bool, recovered: &mut Recovered) -> Option<Content> {
    let content = if path.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { read(path, may_be_torn) };
    content.inspect_err(|error| set_aside(path, &format!("it cannot be read ({error})"), recovered)).ok()
}

fn described(damage: &[u64], records: &[Box<[u8]>]) -> String {
    let what = match damage {
        [] => "it is not finished".to_owned(),
        [one] => format!("record {one} is damaged"),
        [first, ..] => format!("{} damaged places, the first is record {first}", damage.len()),
    };
    match records.len() {
        0 => format!("{what}, and nothing of it could be read"),
        1 => format!("{what}; 1 other record was read"),
        count => format!("{what}; {count} other records were read"),
    }
}

/// Keeps a damaged file for those who want to look at it. Under its own name it stays until there is a new generation:
/// what is left of it must not depend on this start alone. What is no file, or cannot be read, gets the other name
/// alone.
fn set_aside(path: &Path, why: &str, recovered: &mut Recovered) {
    let another = |number: u32| path.with_extension(format!("damaged-{number}"));
    let kept = (1..u32::MAX).map(another).find(|name| !name.exists()).filter(|name| {
        // Not every file system has links.
        let is_readable = !path.is_dir() && File::open(path).is_ok();
        let is_linked = is_readable && (fs::hard_link(path, name).is_ok() || fs::copy(path, name).is_ok());
        is_linked || fs::rename(path, name).is_ok()
    });
    let kept = kept.map_or_else(|| "it could not be kept".to_owned(), |name| format!("kept as {}", name.display()));
    recovered.complaints.push(format!("{}: {why}; {kept}", path.display()));
}

/// What is in a file.
struct Content {
    records: Vec<Box<[u8]>>,
    /// The numbers of the records that are damaged.
    damage: Vec<u64>,
    /// Bytes at the end of a log that look torn.
    torn_bytes: usize,
}

/// The whole records of a file, and the numbers of those that are damaged. The last of a log may be torn.
fn read(path: &Path, may_be_torn: bool) -> io::Result<Content> {
    let mut bytes = Vec::new();
    let complete = File::open(path)?.read_to_end(&mut bytes);
    let (mut records, mut damage, mut torn_bytes) = (Vec::new(), Vec::new(), 0);
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let front = Front::of(rest);
        if let Front::Whole(record, behind) = front {
            records.push(record.into());
            rest = behind;
            continue;
        }
        let next = next_whole(&rest[1..]);
        // The system may have made a file longer whose end was never written.
        let is_torn = matches!(front, Front::Torn) || rest.iter().all(|&byte| byte == 0);
        if next.is_empty() && may_be_torn && is_torn {
            torn_bytes = rest.len();
        } else {
            damage.push((records.len() + damage.len()) as u64 + 1);
        }
        rest = next;
    }
    // A disk that gives no more: what it gave counts.
    if complete.is_err() {
        damage.push((records.len() + damage.len()) as u64 + 1);
    }
    Ok(Content { records, damage, torn_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(number: u8) -> Vec<u8> {
        vec![b'n', number]
    }

    fn numbers(recovered: &Recovered) -> Vec<u8> {
        recovered.records.iter().map(|record| record[1]).collect()
    }

    /// A folder with 1 and 2 in its snapshot and 3 and 4 in its log.
    fn filled() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, recovered) = Log::open(folder.path()).unwrap();
        assert!(recovered.records.is_empty() && recovered.complaints.is_empty());
        log.begin_generation(&mut |write| [1, 2].iter().try_for_each(|&number| write(&n(number)))).unwrap();
        log.append(&n(3)).unwrap();
        log.append(&n(4)).unwrap();
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
        log.begin_generation(&mut |write| write(&n(5))).unwrap();
        log.append(&n(6)).unwrap();
        log.begin_generation(&mut |write| write(&n(7))).unwrap();
        drop(log);
        assert_eq!(numbers(&Log::open(folder.path()).unwrap().1), [7]);
    }

    #[test]
    fn what_an_earlier_version_kept_is_reported_and_left() {
        let folder = filled();
        for name in ["snapshot-7.jsonl", "log-7.jsonl", "log-x.jsonl"] {
            fs::write(folder.path().join(name), "{}\n").unwrap();
        }
        for _ in 0..2 {
            let (_, recovered) = Log::open(folder.path()).unwrap();
            assert_eq!(numbers(&recovered), [1, 2, 3, 4]);
            let [complaint] = recovered.complaints.as_slice() else { panic!("{:?}", recovered.complaints) };
            assert!(complaint.contains(": log-7.jsonl, snapshot-7.jsonl of an earlier version"), "{complaint}");
        }
    }

    #[test]
    fn a_folder_is_one_switchs() {
        let folder = filled();
        let (_log, _) = Log::open(folder.path()).unwrap();
        let refused = Log::open(folder.path()).unwrap_err().to_string();
        assert!(refused.ends_with("another switch uses it"), "{refused}");
    }

    /// A switch that is just ending is waited for.
    #[test]
    fn a_folder_that_is_let_go_of() {
        let folder = filled();
        let (log, _) = Log::open(folder.path()).unwrap();
        let ending = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(log);
        });
        assert!(Log::open(folder.path()).is_ok());
        ending.join().unwrap();
    }

    #[test]
    fn a_folder_whose_state_is_gone_is_reported() {
        let folder = filled();
        let (snapshot, log) = paths(folder.path());
        fs::remove_file(snapshot).unwrap();
        fs::remove_file(log).unwrap();
        let (_, recovered) = Log::open(folder.path()).unwrap();
        let [complaint] = recovered.complaints.as_slice() else { panic!("{:?}", recovered.complaints) };
        assert!(complaint.ends_with("a switch has used it, and no state is left: it begins empty"), "{complaint}");
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
            let records = length / (HEAD_BYTES + 2);
            assert_eq!(numbers(&recovered), [1, 2, 3, 4][..2 + records], "{length}");
            // A cut between two records cannot be seen.
            let torn = length % (HEAD_BYTES + 2);
            let told = format!("its end ({torn} bytes behind record {records}) is not whole and was left out; kept");
            assert!((torn == 0) == recovered.complaints.is_empty(), "{length}");
            assert!(recovered.complaints.iter().all(|it| it.contains(&told)), "{:?}", recovered.complaints);
        }
    }

    #[test]
    fn every_damaged_byte_is_noticed_and_costs_its_record_alone() {
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
            assert_eq!(recovered.complaints.len(), 1, "{position}: {:?}", recovered.complaints);
        }
    }
}
