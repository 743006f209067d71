//! The runs of a sweep in a file, one line for each, which survives interruptions.
//!
//! What enters: finished runs. What leaves: those that the file has. A line is written at once and synchronised before
//! [`RunsFile::append`] returns; what an interruption has left of a line is removed when the file is opened again. One
//! process writes a file at a time, which a lock of the system ensures.

use crate::Exit;
use crate::terminal;
use base::{OrderedMap, OrderedSet};
use scenario::sweep::{RunRecord, Shard, Table};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// The longest file.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// The most missing parts of a sweep that are named.
const PARTS_SHOWN_MAX: usize = 20;

/// The file of a sweep, or of a part of it.
pub struct RunsFile {
    path: PathBuf,
    file: File,
    records: Vec<RunRecord>,
}

impl RunsFile {
    /// Opens the file in a folder, which is made if it does not exist.
    pub fn open(folder: &Path, shard: Option<Shard>) -> Result<RunsFile, Exit> {
        let name = match shard {
            Some(Shard { number, count }) => format!("runs-{number}-of-{count}.jsonl"),
            None => "runs.jsonl".to_owned(),
        };
        let path = folder.join(name);
        let failed = |error: io::Error| refused(&path, &error);
        fs::create_dir_all(folder).map_err(failed)?;
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = "another process writes it: wait for its end, or give another folder with --output";
                terminal::error(format!("{}: {message}", path.display()));
                return Err(Exit::System);
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        synchronise(folder).map_err(failed)?;
        let mut runs = RunsFile { path: path.clone(), file, records: Vec::new() };
        runs.read()?;
        Ok(runs)
    }

    /// Reads the lines, and removes what an interruption has left of the last.
    fn read(&mut self) -> Result<(), Exit> {
        let failed = |error: io::Error| refused(&self.path, &error);
        let mut text = String::new();
        (&self.file).take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            terminal::warning(format!("{}: the last line is not whole; its run is repeated", self.path.display()));
            self.file.set_len(whole as u64).map_err(failed)?;
        }
        self.file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        self.records = parse(&self.path, &text[..whole])?;
        Ok(())
    }

    /// The runs that it has.
    pub fn records(&self) -> &[RunRecord] {
        &self.records
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a run. When this has returned, it is on the disk.
    pub fn append(&mut self, record: RunRecord) -> Result<(), Exit> {
        let line = record.line() + "\n";
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| refused(&self.path, &error))?;
        self.records.push(record);
        Ok(())
    }

    /// Puts the lines into the order of the sweep, in which they are the same whatever was finished first.
    pub fn sort(&mut self) -> Result<(), Exit> {
        let table = table(self.records.clone())?;
        let text: String = table.records().map(|record| record.line() + "\n").collect();
        replace(&self.path, &text).map_err(|error| refused(&self.path, &error))
    }
}

/// The parts of a sweep that are missing: the names of others, as in `runs-2-of-8.jsonl`, say how many there are.
pub fn missing_parts(folders: &[PathBuf]) -> Result<Vec<Shard>, Exit> {
    let mut found: OrderedMap<usize, OrderedSet<usize>> = OrderedMap::new();
    for folder in folders {
        for path in paths(folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let part = name.strip_prefix("runs-").and_then(|rest| rest.strip_suffix(".jsonl"));
            let shard = part.and_then(|part| Shard::parse(&part.replacen("-of-", "/", 1)).ok());
            if let Some(Shard { number, count }) = shard {
                found.entry(count).or_default().insert(number);
            }
        }
    }
    let missing = found.into_iter().flat_map(|(count, numbers)| {
        let absent = (1..=count).filter(move |number| !numbers.contains(number));
        absent.map(move |number| Shard { number, count })
    });
    // A name may have any number of parts.
    Ok(missing.take(PARTS_SHOWN_MAX).collect())
}

/// The files of runs in a folder, in order.
fn paths(folder: &Path) -> Result<Vec<PathBuf>, Exit> {
    let failed = |error: io::Error| refused(folder, &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("runs") && name.ends_with(".jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// All runs in a folder, of all parts.
pub fn read_all(folder: &Path) -> Result<Vec<RunRecord>, Exit> {
    let paths = paths(folder)?;
    if paths.is_empty() {
        terminal::error(format!("{} has no runs: a sweep writes runs.jsonl into its --output", folder.display()));
        return Err(Exit::BadInput);
    }
    let mut records = Vec::new();
    for path in paths {
        let bytes = base::files::read(&path, FILE_BYTES_MAX).map_err(|error| refused(&path, &error))?;
        let text = String::from_utf8_lossy(&bytes);
        // A run that is being written is not there yet.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        records.extend(parse(&path, &text[..whole])?);
    }
    Ok(records)
}

/// The table of runs.
pub fn table(records: Vec<RunRecord>) -> Result<Table, Exit> {
    Table::new(records).map_err(|message| {
        terminal::error(message);
        Exit::BadInput
    })
}

fn parse(path: &Path, text: &str) -> Result<Vec<RunRecord>, Exit> {
    let wrong = |number: usize| {
        terminal::error(format!("{}:{number}: this is not a run: remove the line", path.display()));
        Exit::BadInput
    };
    (1..).zip(text.lines()).map(|(number, line)| RunRecord::parse(line).ok_or_else(|| wrong(number))).collect()
}

/// Replaces a file, or makes it: at any time there is the old one or the new one.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new("."));
    let scratch = folder.join(format!(".{name}.part"));
    let mut file = File::create(&scratch)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&scratch, path)?;
    synchronise(folder)
}

/// Makes names in a folder survive.
fn synchronise(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

fn refused(path: &Path, error: &io::Error) -> Exit {
    terminal::error(format!("{}: {error}", path.display()));
    Exit::System
}
