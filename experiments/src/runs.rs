//! Runs that are made on all cores, and stored.
//!
//! What enters: experiments. What leaves: their outcomes, in their order. Each is a line of `runs.jsonl` as soon as it
//! is there, and is not run again.

use crate::experiment::{Experiment, Outcome};
use crate::report;
use crate::scheme::Programs;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The file of outcomes in the folder of results.
const FILE: &str = "runs.jsonl";

/// The stored outcomes. Lines that were not written in full are left out.
pub fn stored(folder: &Path) -> BTreeMap<Experiment, Outcome> {
    let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    let outcomes = text.lines().filter_map(|line| serde_json::from_str::<Outcome>(line).ok());
    outcomes.map(|outcome| (outcome.experiment.clone(), outcome)).collect()
}

/// Makes the runs that are not stored, `jobs` at a time.
pub fn make(experiments: &[Experiment], folder: &Path, jobs: usize) -> Result<(), String> {
    let stored = stored(folder);
    let missing: Vec<&Experiment> = experiments.iter().filter(|it| !stored.contains_key(it)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let file = Mutex::new(open(folder).map_err(|error| format!("{}: {error}", folder.join(FILE).display()))?);
    let (programs, next, failure) = (Mutex::new(Programs::default()), AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        while let Some(experiment) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            let done = experiment.run(&programs).and_then(|outcome| append(&file, &outcome));
            if let Err(message) = done {
                next.store(missing.len(), Ordering::Relaxed);
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{experiment:?}: {message}"));
            }
            let begun = next.load(Ordering::Relaxed).min(missing.len());
            report(&format!("{begun} of {} runs begun", missing.len()));
        }
    };
    thread::scope(|scope| (0..jobs.max(1)).for_each(|_| drop(scope.spawn(work))));
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Opens the file behind its last whole line.
fn open(folder: &Path) -> std::io::Result<File> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(FILE);
    let is_torn = std::fs::read(&path).is_ok_and(|bytes| bytes.last().is_some_and(|last| *last != b'\n'));
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    if is_torn {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn append(file: &Mutex<File>, outcome: &Outcome) -> Result<(), String> {
    let line = serde_json::to_string(outcome).map_err(|error| error.to_string())? + "\n";
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).map_err(|error| format!("{FILE}: {error}"))
}
