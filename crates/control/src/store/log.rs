//! Files that preserve records through a crash.
//!
//! What enters: records, each some bytes. What leaves: the intact records, in order, after any crash.
//!
//! A folder has one *generation*: `snapshot-N.state`, the state at some moment, and `log-N.state`, the changes since
//! then. A file is a sequence of frames: [`MARK`], the length of the record in bytes and the CRC-32 of that length
//! and the record (four bytes each, the least significant first), the record. The first record of a file identifies
//! it and, in a log, has what its owner needs if the snapshot is lost ([`Beginning`]). The last record of a snapshot
//! has the number of records; without it the snapshot is incomplete and ignored. A new generation is written beside
//! the old one and synchronised, and only then is the old one removed: a crash at any moment leaves a complete
//! generation.
//!
//! A crash may tear the end of a log; those records were never acknowledged, and they are ignored. A log that
//! something else has truncated looks the same, so the loss is reported. The number of durable records of a log is
//! noted from time to time in the file `lock`, and once more where the next log begins: if any of those records is
//! missing, this is reported, too. Damaged records are reported, with their contents as far as they can be read, and
//! a copy of the file is preserved under another name; the next intact record is found by its mark.

use crate::store::system::{self, Writer};
use crate::store::{folder, format};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first bytes of each frame.
const MARK: [u8; 4] = *b"\x93WSR";

/// Bytes of a frame before its record.
const HEAD_BYTES: usize = 12;

/// The longest record: one write of a controller is shorter.
const RECORD_BYTES_MAX: usize = 1 << 30;

/// The extension of snapshots and logs.
const EXTENSION: &str = "state";

/// The first byte of the last record of a snapshot; the number of records before it follows, in eight bytes.
const COUNT: u8 = 2;

/// The first byte of the first record of a file: see [`Beginning`].
const BEGINNING: u8 = 3;

/// Their extension in the version whose records were lines of JSON.
const EXTENSION_OF_LINES: &str = "jsonl";

/// Files with greater numbers belong to somebody else.
const GENERATION_MAX: u64 = 1 << 60;

/// The extension of a snapshot while it is written.
const UNFINISHED: &str = "unfinished";

/// What is wrong with a state folder.
#[derive(Debug)]
pub struct StoreError {
    /// The failed operation, as in `cannot {doing}`.
    pub doing: String,
    /// The system's error.
    pub source: io::Error,
}

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.doing, self.source)
    }
}

/// Names the operation that the system refused.
fn doing<T>(result: io::Result<T>, what: impl FnOnce() -> String) -> Result<T, StoreError> {
    result.map_err(|source| StoreError { doing: what(), source })
}

/// Passes records, one after the other, to the function that writes them.
pub(crate) type Records<'a> = &'a mut dyn FnMut(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>;

/// The contents of a folder.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The records of the snapshot and of the log, in order.
    pub records: Vec<Box<[u8]>>,
    /// The head of the log, if the log belongs to anything.
    pub head: Option<Box<[u8]>>,
    /// Descriptions of damage, for people.
    pub complaints: Vec<String>,
}

/// A state folder that this process has locked.
#[derive(Debug)]
pub(crate) struct Log {
    folder: PathBuf,
    /// The lock, held as long as this lives. The file contains the number of durable records of the log.
    lock: File,
    /// The greatest generation number of a file in the folder.
    generation: u64,
    /// The log of this generation, once it exists.
    file: Option<Arc<File>>,
    /// Bytes in it.
    bytes: u64,
    /// Records in it.
    records: u64,
    /// Those of them that are durable.
    stored: u64,
}

/// The number of records that a log had at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    generation: u64,
    records: u64,
}

/// The first record of a file: the byte [`BEGINNING`], the number of the generation, the number of durable records of
/// the log before (eight bytes each, the least significant first), then the owner's head of the log.
struct Beginning<'a> {
    generation: u64,
    stored_before: u64,
    head: &'a [u8],
}

impl Beginning<'_> {
    fn record(&self) -> Vec<u8> {
        let Beginning { generation, stored_before, head } = self;
        [&[BEGINNING][..], &generation.to_le_bytes(), &stored_before.to_le_bytes(), head].concat()
    }

    fn of(record: &[u8]) -> Option<Beginning<'_>> {
        let (numbers, head) = record.strip_prefix(&[BEGINNING])?.split_at_checked(16)?;
        let (generation, stored_before) = numbers.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
        Some(Beginning { generation: number(generation)?, stored_before: number(stored_before)?, head })
    }
}

impl Log {
    /// Opens a folder, which is created if it is missing, and reads its contents. The records must be in the next
    /// snapshot: the caller begins a generation next.
    pub fn open(folder: &Path) -> Result<(Log, Recovered), StoreError> {
        let using = || format!("use the state folder {}", folder.display());
        doing(folder::make(folder), using)?;
        let mut recovered = Recovered::default();
        let lock_path = folder.join("lock");
        // Before anything is changed or set aside.
        doing(check_writers(folder, &lock_path), using)?;
        if let Some(why) = folder::objection_to_lock(&lock_path) {
            move_aside(&lock_path, why, &mut recovered);
        }
        let was_used = lock_path.exists();
        let lock = doing(folder::open_lock(&lock_path), || format!("open {}", lock_path.display()))?;
        if let Err(error) = locked(&lock) {
            return Err(StoreError { doing: using(), source: error });
        }
        let generation = recover(folder, system::noted(&lock).and_then(noted_extent), &mut recovered)?;
        if was_used && generation == 0 && recovered.complaints.is_empty() {
            let folder = folder.display();
            recovered
                .complaints
                .push(format!("{folder}: a switch has used the folder, but its state is gone: it starts empty"));
        }
        let folder = folder.to_owned();
        Ok((Log { folder, lock, generation, file: None, bytes: 0, records: 0, stored: 0 }, recovered))
    }

    /// Appends a record. It is durable once [`Log::handle`] was synchronised. After an error the log lacks records,
    /// and only a new generation helps.
    pub fn append(&mut self, record: &[u8]) -> Result<(), StoreError> {
        let path = log_path(&self.folder, self.generation);
        let writing = || format!("write to {}", path.display());
        let file = doing(self.file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into()), writing)?;
        let frame = doing(frame(record), writing)?;
        if let Err(source) = system::write(file, &frame) {
            // If a part of the frame stays, it is torn and ignored.
            let _left = system::cut(file, self.bytes);
            return Err(StoreError { doing: writing(), source });
        }
        self.bytes += frame.len() as u64;
        self.records += 1;
        Ok(())
    }

    /// Preserves the files of the folder under other names, too, before a new generation replaces them.
    pub fn set_all_aside(&self, why: &str, recovered: &mut Recovered) {
        for (_, path) in generations(&self.folder).unwrap_or_default() {
            set_aside(&path, why, recovered);
        }
    }

    /// The file to synchronise, by a thread that does not block others.
    pub fn handle(&self) -> Option<Arc<File>> {
        self.file.clone()
    }

    /// The contents of the log now.
    pub fn extent(&self) -> Extent {
        Extent { generation: self.generation, records: self.records }
    }

    /// These records of the log are durable.
    pub fn was_stored(&mut self, extent: Extent) {
        if extent.generation == self.generation {
            self.stored = self.stored.max(extent.records);
        }
    }

    /// Notes how many records of the log are durable, so that a start knows. Errors are ignored.
    pub fn note_stored(&self) {
        let noted = Beginning { generation: self.generation, stored_before: self.stored, head: b"" };
        if let (Some(_), Ok(frame)) = (&self.file, frame(&noted.record())) {
            system::note(&self.lock, &frame);
        }
    }

    /// Synchronises the appended records.
    pub fn synchronise(file: &File) -> Result<(), StoreError> {
        doing(system::synchronise(file), || "synchronise the log".to_owned())
    }

    /// Bytes in the log.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Begins a new generation with these records as its snapshot. If this fails the old generation continues, unless
    /// only the very last step failed; then the new one does. `head` is what the owner stores at the beginning of the
    /// log.
    pub fn begin_generation(&mut self, head: &[u8], records: Records<'_>) -> Result<(), StoreError> {
        let generation = self.generation + 1;
        // The log exists before the snapshot does: a valid snapshot always has one.
        let path = log_path(&self.folder, generation);
        let begun = begin_log(&path, &Beginning { generation, stored_before: 0, head });
        let (file, bytes) = doing(begun, || format!("make {}", path.display()))?;
        let snapshot = snapshot_path(&self.folder, generation);
        let unfinished = snapshot.with_extension(UNFINISHED);
        let written =
            write_snapshot(&unfinished, generation, records).and_then(|()| system::rename(&unfinished, &snapshot));
        if written.is_err() {
            system::remove(&unfinished);
            system::remove(&path);
        }
        doing(written, || format!("write {}", snapshot.display()))?;
        self.switch_to(generation, file, bytes);
        doing(system::synchronise_folder(&self.folder), || format!("synchronise {}", self.folder.display()))?;
        self.remove_others();
        Ok(())
    }

    /// Begins the log of a new generation whose snapshot is written beside what is appended from now on. Until the
    /// snapshot is finished, a start reads the old snapshot and both logs.
    pub fn begin_beside(&mut self, head: &[u8]) -> Result<Beside, StoreError> {
        let generation = self.generation + 1;
        let path = log_path(&self.folder, generation);
        let begun = begin_log(&path, &Beginning { generation, stored_before: self.stored, head })
            .and_then(|log| system::synchronise_folder(&self.folder).map(|()| log))
            .inspect_err(|_| system::remove(&path));
        let (file, bytes) = doing(begun, || format!("make {}", path.display()))?;
        self.switch_to(generation, file, bytes);
        Ok(Beside { generation, snapshot: snapshot_path(&self.folder, generation) })
    }

    /// New records go to the log of this generation, whose beginning was written.
    fn switch_to(&mut self, generation: u64, file: File, bytes: u64) {
        (self.generation, self.file, self.bytes) = (generation, Some(Arc::new(file)), bytes);
        (self.records, self.stored) = (1, 1);
    }

    /// Installs a snapshot that was written beside the log.
    pub fn finish_beside(&mut self, beside: &Beside) -> Result<(), StoreError> {
        if self.generation != beside.generation {
            // A newer one exists, which contains all of it.
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

    /// Removes the files of other generations, snapshots first: a snapshot without its log would be incomplete.
    fn remove_others(&self) {
        let mut others = generations(&self.folder).unwrap_or_default();
        others.retain(|(generation, _)| *generation != self.generation);
        others.sort_by_key(|(_, path)| is_log(path));
        others.iter().for_each(|(_, path)| system::remove(path));
    }
}

/// A snapshot that is written while records are appended to the log after it.
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
        let unfinished = self.unfinished();
        let written =
            write_snapshot(&unfinished, self.generation, records).inspect_err(|_| system::remove(&unfinished));
        doing(written, || format!("write {}", self.snapshot.display()))
    }
}

/// How long to wait for a folder that another switch has locked: a switch that has just ended may still hold the
/// lock, and so may a child that it was starting.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// Locks the file until it is closed.
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

/// A record as a frame of a file.
fn frame(record: &[u8]) -> io::Result<Vec<u8>> {
    if record.len() > RECORD_BYTES_MAX {
        return Err(io::Error::other(format!("a record of {} bytes: the maximum is {RECORD_BYTES_MAX}", record.len())));
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

/// What a byte string begins with.
enum Front<'a> {
    /// An intact record, and the rest.
    Whole(&'a [u8], &'a [u8]),
    /// A frame whose end is missing.
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

/// The rest from the next intact record on; empty if there is none.
fn next_whole(bytes: &[u8]) -> &[u8] {
    let starts = (0..bytes.len()).filter(|&start| bytes[start] == MARK[0]);
    let mut whole = starts.map(|start| &bytes[start..]).filter(|rest| matches!(Front::of(rest), Front::Whole(..)));
    whole.next().unwrap_or_default()
}

/// The last record of a snapshot, with the number of records before it.
fn count_record(count: u64) -> Vec<u8> {
    [&[COUNT][..], &count.to_le_bytes()].concat()
}

/// The number of records that the note says are durable.
fn noted_extent(frame: Vec<u8>) -> Option<Extent> {
    let Front::Whole(record, _) = Front::of(&frame) else { return None };
    Beginning::of(record).map(|noted| Extent { generation: noted.generation, records: noted.stored_before })
}

/// The number of records, if this is the last record of a snapshot.
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

/// An error if another user may have written the lock or a file of the state.
fn check_writers(folder: &Path, lock: &Path) -> io::Result<()> {
    // The owner of the lock only: its mode is put right.
    if fs::symlink_metadata(lock).is_ok() {
        folder::check_owner(lock)?;
    }
    generations(folder)?.iter().try_for_each(|(_, path)| folder::check_writer(path))
}

/// Reports files that only earlier versions can read. They stay as they are.
fn report_lines(folder: &Path, recovered: &mut Recovered) -> io::Result<()> {
    let found = files(folder, EXTENSION_OF_LINES)?;
    if !found.is_empty() {
        let names: Vec<&str> = found.iter().map(|(_, path)| name(path)).collect();
        recovered.complaints.push(format!(
            "{}: {} of an earlier version, which kept its state as lines of JSON: nothing of that was taken over. To \
             have it, start that version with the folder, save what it shows (`wirespeed ctl dump > FILE`) and run the \
             file with `wirespeed ctl` on this switch; then, or if you do not need it, remove the .{EXTENSION_OF_LINES} \
             files",
            folder.display(),
            names.join(", ")
        ));
    }
    Ok(())
}

/// Removes files that a crash has left unfinished.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_ours = name(&path).starts_with("snapshot-") || is_log(&path);
        if is_ours && path.extension().is_some_and(|it| it == UNFINISHED) {
            system::remove(&path);
        }
    }
    Ok(())
}

/// Creates a log with its beginning, which is durable before the file gets its name: a log without a beginning is
/// damaged. Returns the number of bytes, too.
fn begin_log(path: &Path, beginning: &Beginning<'_>) -> io::Result<(File, u64)> {
    let unfinished = path.with_extension(UNFINISHED);
    let frame = frame(&beginning.record())?;
    let file = system::create(&unfinished)?;
    let made = system::write(&file, &frame)
        .and_then(|()| system::synchronise(&file))
        .and_then(|()| system::rename(&unfinished, path));
    made.inspect_err(|_| system::remove(&unfinished))?;
    Ok((file, frame.len() as u64))
}

/// Writes a snapshot and synchronises it.
fn write_snapshot(path: &Path, generation: u64, records: Records<'_>) -> io::Result<()> {
    let mut writer = Writer::create(path)?;
    writer.write(&frame(&Beginning { generation, stored_before: 0, head: b"" }.record())?)?;
    let mut count = 1u64;
    records(&mut |record| {
        count += 1;
        writer.write(&frame(record)?)
    })?;
    writer.write(&frame(&count_record(count))?)?;
    writer.finish()
}

/// Reads the newest intact snapshot, or what is left of the newest damaged one, and the logs from there on. `noted`
/// is the number of durable records of a log. Returns the greatest generation number of a file.
fn recover(folder: &Path, noted: Option<Extent>, recovered: &mut Recovered) -> Result<u64, StoreError> {
    let listing = || format!("list {}", folder.display());
    doing(remove_unfinished(folder), listing)?;
    doing(report_lines(folder, recovered), listing)?;
    let found = doing(generations(folder), listing)?;
    let Chosen { from, is_whole, is_earlier } = recover_snapshot(&found, recovered);
    let has_snapshot = found.iter().any(|(_, path)| !is_log(path));
    let logs: Vec<_> = found.iter().filter(|(generation, path)| is_log(path) && *generation >= from).collect();
    let mut contents = Vec::new();
    for (generation, path) in &logs {
        let Some(content) = read_or_set_aside(path, true, recovered) else { continue };
        contents.push((*generation, path, content));
    }
    let mut has_records = false;
    for position in 0..contents.len() {
        // The count in the beginning of the next log is as good as the last note.
        let next = contents.get(position + 1).and_then(|(generation, _, content)| {
            Some(Extent { generation: generation - 1, records: content.beginning()?.stored_before })
        });
        let (generation, path, content) = &mut contents[position];
        let extents = next.into_iter().chain(noted).filter(|extent| extent.generation == *generation);
        let stored = extents.map(|extent| extent.records).max().unwrap_or(0);
        if let Some(why) = content.faults_of_log(stored, is_earlier) {
            set_aside(path, &why, recovered);
        }
        let head = content.take_beginning();
        has_records |= !content.records.is_empty();
        if recovered.head.is_none() && (has_snapshot || has_records) {
            recovered.head = head;
        }
        if !has_snapshot && (*generation > 1 || !content.records.is_empty()) {
            let missing = snapshot_path(folder, *generation);
            set_aside(path, &format!("{} is missing, without which it is incomplete", name(&missing)), recovered);
        }
        recovered.records.append(&mut content.records);
    }
    // An intact snapshot had its log before it got its name.
    if is_whole && logs.first().is_none_or(|(generation, _)| *generation != from) {
        let missing = log_path(folder, from);
        recovered.complaints.push(format!("{}: the file is missing, and its contents are lost", missing.display()));
    }
    Ok(found.last().map_or(0, |(generation, _)| *generation))
}

/// The snapshot that a start uses.
#[derive(Default)]
struct Chosen {
    /// Its generation; 0 if there is none.
    from: u64,
    is_whole: bool,
    /// Whether an earlier version wrote it, whose files have no beginning.
    is_earlier: bool,
}

/// Takes the records of the newest intact snapshot, or what is left of the newest damaged one.
fn recover_snapshot(found: &[(u64, PathBuf)], recovered: &mut Recovered) -> Chosen {
    let mut chosen = Chosen::default();
    for (generation, path) in found.iter().rev().filter(|(_, path)| !is_log(path)) {
        let Some(mut content) = read_or_set_aside(path, false, recovered) else { continue };
        let counted = content.records.last().and_then(|last| count(last));
        let is_whole = content.damage.is_empty() && counted == Some((content.records.len() as u64).wrapping_sub(1));
        let is_earlier = content.beginning().is_none();
        let faults = (!is_whole).then(|| content.described("it is not finished"));
        let _says_nothing_more = content.take_beginning();
        content.records.retain(|record| count(record).is_none());
        if let Some(faults) = faults {
            set_aside(path, &faults, recovered);
        }
        if is_whole || (chosen.from == 0 && !content.records.is_empty()) {
            recovered.records = content.records;
            chosen = Chosen { from: *generation, is_whole, is_earlier: is_whole && is_earlier };
        }
        if is_whole {
            break;
        }
    }
    chosen
}

/// The contents of a file; `None`, and the file renamed, if it cannot be read.
fn read_or_set_aside(path: &Path, may_be_torn: bool, recovered: &mut Recovered) -> Option<Content> {
    // Opening a pipe would block until somebody writes to it.
    let content = fs::symlink_metadata(path).and_then(|found| match () {
        () if found.is_file() => read(path, may_be_torn),
        () if found.is_symlink() => Err(io::Error::other("it is a symbolic link")),
        () => Err(io::Error::other(if found.is_dir() { "it is a folder" } else { "it is not a regular file" })),
    });
    content.inspect_err(|error| set_aside(path, &format!("it cannot be read ({error})"), recovered)).ok()
}

/// Preserves a damaged file for inspection. It keeps its name, too, until there is a new generation: what is left of
/// it must not depend on this start alone. Anything but a readable regular file is only renamed.
fn set_aside(path: &Path, why: &str, recovered: &mut Recovered) {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if !is_file || File::open(path).is_err() {
        return move_aside(path, why, recovered);
    }
    // Not every file system has hard links.
    let keep = |name: &Path| fs::hard_link(path, name).or_else(|_| fs::copy(path, name).map(drop));
    keep_aside(path, why, recovered, &|name| keep(name).or_else(|_| fs::rename(path, name)));
}

/// Renames the file at a path.
fn move_aside(path: &Path, why: &str, recovered: &mut Recovered) {
    keep_aside(path, why, recovered, &|name| fs::rename(path, name));
}

fn keep_aside(path: &Path, why: &str, recovered: &mut Recovered, keep: &dyn Fn(&Path) -> io::Result<()>) {
    let another = |number: u32| path.with_extension(format!("damaged-{number}"));
    let is_free = |name: &PathBuf| fs::symlink_metadata(name).is_err();
    let kept = (1..u32::MAX).map(another).find(is_free).filter(|name| keep(name).is_ok());
    let kept =
        kept.map_or_else(|| "it could not be preserved".to_owned(), |name| format!("kept as {}", name.display()));
    recovered.complaints.push(format!("{}: {why}; {kept}", path.display()));
}

/// The records of a file.
struct Content {
    records: Vec<Box<[u8]>>,
    damage: Vec<Damage>,
    /// Bytes at the end of a log that look torn.
    torn_bytes: usize,
}

/// A place in a file without an intact record.
struct Damage {
    /// The number of the record, counted from 1.
    record: u64,
    /// A description of its contents, as far as they can be read.
    held: String,
}

/// Damaged places that are described one by one.
const DESCRIBED_MAX: usize = 3;

impl Content {
    /// The beginning of the file, if it is intact.
    fn beginning(&self) -> Option<Beginning<'_>> {
        self.records.first().and_then(|record| Beginning::of(record))
    }

    /// Removes the first record. Returns the owner's head.
    fn take_beginning(&mut self) -> Option<Box<[u8]>> {
        let head = self.beginning()?.head.into();
        self.records.remove(0);
        Some(head)
    }

    /// What is wrong with a log of which this many records were durable.
    fn faults_of_log(&self, stored: u64, is_earlier: bool) -> Option<String> {
        let count = self.records.len() as u64;
        if !self.damage.is_empty() {
            return Some(self.described(""));
        }
        let missing = match stored.saturating_sub(count) {
            0 => String::new(),
            _ => format!("only {count} of {stored} stored records are left, because something has truncated it"),
        };
        if self.torn_bytes > 0 {
            // Usually because of a crash, and never acknowledged; but a file that something else has truncated looks
            // the same.
            let bytes = self.torn_bytes;
            let torn = format!("its end ({bytes} bytes after record {count}) is incomplete and was ignored");
            return Some(if missing.is_empty() { torn } else { format!("{torn}; {missing}") });
        }
        let begins_late = !is_earlier && self.beginning().is_none();
        match (count, begins_late) {
            _ if !missing.is_empty() => Some(missing),
            (0, true) => Some("it is empty: its contents are lost".to_owned()),
            (_, true) => Some("its beginning is missing, with the first records".to_owned()),
            (_, false) => None,
        }
    }

    /// A description of the damage, and how many records could be read; `otherwise` if there is no damage.
    fn described(&self, otherwise: &str) -> String {
        let one = |damage: &Damage| match damage.held.as_str() {
            "" => format!("record {}", damage.record),
            held => format!("record {} ({held})", damage.record),
        };
        let places: Vec<String> = self.damage.iter().take(DESCRIBED_MAX).map(one).collect();
        let what = match self.damage.len() {
            0 => otherwise.to_owned(),
            1 => format!("{} is damaged", places[0]),
            count if count > DESCRIBED_MAX => format!("{count} places are damaged: {}, ...", places.join(", ")),
            count => format!("{count} places are damaged: {}", places.join(", ")),
        };
        match self.records.len() {
            0 => format!("{what}, and nothing of it could be read"),
            1 => format!("{what}; 1 other record was read"),
            count => format!("{what}; {count} other records were read"),
        }
    }
}

/// A description of the contents of a damaged record; empty if nothing can be read.
fn held(frame: &[u8]) -> String {
    let record = frame.get(HEAD_BYTES..).unwrap_or_default();
    match record.first() {
        Some(&BEGINNING) => "the beginning of the file".to_owned(),
        Some(&COUNT) => "the number of its records".to_owned(),
        _ => format::held(record),
    }
}

/// The intact records of a file, and the damaged ones. The last one of a log may be torn.
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
        // The system may have extended a file without writing its end.
        let is_torn = matches!(front, Front::Torn) || rest.iter().all(|&byte| byte == 0);
        if next.is_empty() && may_be_torn && is_torn {
            torn_bytes = rest.len();
        } else {
            let record = (records.len() + damage.len()) as u64 + 1;
            damage.push(Damage { record, held: held(&rest[..rest.len() - next.len()]) });
        }
        rest = next;
    }
    // The disk fails from here on: use what it has delivered.
    if complete.is_err() {
        damage.push(Damage { record: (records.len() + damage.len()) as u64 + 1, held: String::new() });
    }
    Ok(Content { records, damage, torn_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"head";

    /// Bytes of the beginning of a log with this head.
    const BEGINNING_BYTES: usize = HEAD_BYTES + 17 + HEAD.len();

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
        log.begin_generation(HEAD, &mut |write| [1, 2].iter().try_for_each(|&number| write(&n(number)))).unwrap();
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
        // Until a new generation begins, all records can be read again.
        drop(log);
        (log, _) = Log::open(folder.path()).unwrap();
        log.begin_generation(HEAD, &mut |write| write(&n(5))).unwrap();
        log.append(&n(6)).unwrap();
        log.begin_generation(HEAD, &mut |write| write(&n(7))).unwrap();
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

    /// The lock waits for a switch that is just ending.
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
        assert!(
            complaint.ends_with("a switch has used the folder, but its state is gone: it starts empty"),
            "{complaint}"
        );
    }

    #[test]
    fn every_torn_log_gives_what_was_whole() {
        let folder = filled();
        let (_, log) = paths(folder.path());
        let whole = fs::read(&log).unwrap();
        for length in 0..whole.len() {
            fs::write(&log, &whole[..length]).unwrap();
            let mut recovered = Recovered::default();
            recover(folder.path(), None, &mut recovered).unwrap();
            let behind = length.checked_sub(BEGINNING_BYTES);
            let (records, torn) = behind.map_or((0, length), |it| (it / (HEAD_BYTES + 2), it % (HEAD_BYTES + 2)));
            assert_eq!(numbers(&recovered), [1, 2, 3, 4][..2 + records], "{length}");
            let count = records + usize::from(behind.is_some());
            let complaint = match (length, torn) {
                (0, _) => "it is empty: its contents are lost; kept".to_owned(),
                // Without what was noted, a cut between two records cannot be seen.
                (_, 0) => String::new(),
                _ => format!("its end ({torn} bytes after record {count}) is incomplete and was ignored; kept"),
            };
            assert_eq!(complaint.is_empty(), recovered.complaints.is_empty(), "{length}");
            assert!(recovered.complaints.iter().all(|it| it.contains(&complaint)), "{:?}", recovered.complaints);
            // With it, every cut is seen.
            let mut recovered = Recovered::default();
            recover(folder.path(), Some(Extent { generation: 1, records: 3 }), &mut recovered).unwrap();
            let complaint = format!("only {count} of 3 stored records are left");
            assert!(recovered.complaints[0].contains(&complaint), "{length}: {:?}", recovered.complaints);
        }
    }

    #[test]
    fn what_was_stored_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let (_, path) = paths(folder.path());
        let (mut log, _) = Log::open(folder.path()).unwrap();
        log.begin_generation(HEAD, &mut |write| write(&n(1))).unwrap();
        let begun = fs::metadata(&path).unwrap().len();
        log.append(&n(2)).unwrap();
        log.note_stored();
        drop(log);
        // What was not synchronised may be missing after a loss of power: it was never acknowledged.
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..begun as usize]).unwrap();
        assert!(Log::open(folder.path()).unwrap().1.complaints.is_empty());
        fs::write(&path, &whole).unwrap();
        let (mut log, _) = Log::open(folder.path()).unwrap();
        log.begin_generation(HEAD, &mut |write| write(&n(1))).unwrap();
        log.append(&n(2)).unwrap();
        log.was_stored(log.extent());
        log.note_stored();
        drop(log);
        let path = log_path(folder.path(), 2);
        fs::write(&path, &whole[..begun as usize]).unwrap();
        let complaints = Log::open(folder.path()).unwrap().1.complaints;
        assert!(complaints[0].contains("only 1 of 2 stored records are left"), "{complaints:?}");
        fs::remove_file(folder.path().join("lock")).unwrap();
        let complaints = Log::open(folder.path()).unwrap().1.complaints;
        assert!(complaints.is_empty(), "{complaints:?}");
    }

    /// A log with a successor is as long as the successor says.
    #[test]
    fn logs_say_how_long_those_before_them_are() {
        let folder = filled();
        let (_, first) = paths(folder.path());
        let (mut log, _) = Log::open(folder.path()).unwrap();
        log.begin_generation(HEAD, &mut |write| write(&n(1))).unwrap();
        log.append(&n(2)).unwrap();
        log.was_stored(log.extent());
        log.begin_beside(HEAD).unwrap();
        log.append(&n(3)).unwrap();
        drop(log);
        assert!(!first.exists());
        let path = log_path(folder.path(), 2);
        let whole = fs::read(&path).unwrap();
        let (_, recovered) = Log::open(folder.path()).unwrap();
        assert_eq!((numbers(&recovered), recovered.complaints), (vec![1, 2, 3], vec![]));
        fs::write(&path, &whole[..whole.len() - HEAD_BYTES - 2]).unwrap();
        let (_, recovered) = Log::open(folder.path()).unwrap();
        assert_eq!(numbers(&recovered), [1, 3]);
        let complaint = &recovered.complaints[0];
        assert!(complaint.contains("log-2.state: only 1 of 2 stored records are left"), "{complaint}");
    }

    #[test]
    fn what_is_said_at_the_beginning_of_a_log_outlives_its_snapshot() {
        let folder = filled();
        let head = || Log::open(folder.path()).unwrap().1.head;
        assert_eq!(head().as_deref(), Some(HEAD));
        fs::write(paths(folder.path()).0, "nothing").unwrap();
        assert_eq!(head().as_deref(), Some(HEAD));
        fs::remove_file(paths(folder.path()).0).unwrap();
        assert_eq!(head().as_deref(), Some(HEAD));
        // A log without records belongs to nothing.
        let empty = tempfile::tempdir().unwrap();
        let beginning = Beginning { generation: 1, stored_before: 0, head: HEAD };
        drop(begin_log(&log_path(empty.path(), 1), &beginning).unwrap());
        let (_, recovered) = Log::open(empty.path()).unwrap();
        assert_eq!((recovered.head, recovered.complaints), (None, vec![]));
    }

    /// Opening a pipe for reading blocks until somebody opens it for writing.
    #[test]
    fn what_is_no_file_is_set_aside_without_a_wait() {
        for name in ["snapshot-7.state", "log-7.state", "lock"] {
            let folder = filled();
            let path = folder.path().join(name);
            let _there = fs::remove_file(&path);
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            let (_, recovered) = Log::open(folder.path()).unwrap();
            assert_eq!(numbers(&recovered), [1, 2, 3, 4], "{name}");
            assert!(recovered.complaints[0].contains(" file"), "{name}: {:?}", recovered.complaints);
            assert!(path.with_extension("damaged-1").exists(), "{name}");
        }
    }

    /// Files of the version before began with their first record.
    #[test]
    fn files_without_a_beginning_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let (snapshot, log) = paths(folder.path());
        let records = |records: &[&[u8]]| records.iter().flat_map(|it| frame(it).unwrap()).collect::<Vec<u8>>();
        fs::write(&snapshot, records(&[&n(1), &n(2), &count_record(2)])).unwrap();
        for later in [vec![], vec![3]] {
            fs::write(&log, later.iter().flat_map(|&it| frame(&n(it)).unwrap()).collect::<Vec<u8>>()).unwrap();
            let (_, recovered) = Log::open(folder.path()).unwrap();
            assert_eq!((numbers(&recovered), recovered.complaints), ([vec![1, 2], later].concat(), vec![]));
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
            recover(folder.path(), None, &mut recovered).unwrap();
            let left = numbers(&recovered);
            assert!(left.len() >= 2 && left.is_sorted(), "{position}: {left:?}");
            assert_eq!(recovered.complaints.len(), 1, "{position}: {:?}", recovered.complaints);
        }
    }
}
