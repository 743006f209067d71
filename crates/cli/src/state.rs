//! `wirespeed run --state`: what a switch keeps in a folder.
//!
//! What enters: the folder; the switch that was built. What leaves: the program that the folder holds, the switch with
//! everything that the folder brings back, and a thread that stores once a second what packets have changed.

use crate::Exit;
use crate::starting::NO_PROGRAM;
use crate::terminal::{self, Progress};
use control::Api;
use control::store::{Saved, Store, StoreError};
use live::Mailbox;
use p4runtime::{Started, Words};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use switch::{Closed, Door, IdleOwner, Job};

/// How often what packets change is stored.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// The way to a switch that a worker runs, or that nobody runs yet or any more and that is parked here.
pub struct SwitchCommands {
    mailbox: Mailbox,
    pub parked: IdleOwner,
}

impl SwitchCommands {
    /// The door to a switch that will be parked here. The worker that runs it has the mailbox's inbox.
    pub fn new(mailbox: Mailbox) -> SwitchCommands {
        SwitchCommands { mailbox, parked: IdleOwner::default() }
    }
}

impl Door for SwitchCommands {
    fn send(&self, job: Job) -> Result<(), Closed> {
        self.parked.offer(job).or_else(|job| self.mailbox.send(job))
    }
}

/// A folder of state that was opened.
pub struct State {
    folder: PathBuf,
    store: Store,
    saved: Saved,
}

impl State {
    /// Opens it and tells what is damaged.
    pub fn open(folder: &Path) -> Result<State, Exit> {
        let _progress = Progress::start(format!("reading the state in {}", folder.display()));
        let (store, saved) = Store::open(folder).map_err(|error| {
            terminal::error(with_cure(&error));
            Exit::System
        })?;
        saved.complaints.iter().for_each(terminal::warning);
        Ok(State { folder: folder.to_owned(), store, saved })
    }

    /// Whether it holds what a switch with a program had.
    pub fn is_some(&self) -> bool {
        self.saved.is_some() && self.saved.program != NO_PROGRAM
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// By what the program that it holds is found again; null if it holds none.
    pub fn program_note(&self) -> &Value {
        &self.saved.program
    }

    /// Says that a program must be named.
    pub fn has_no_program(&self, why: &str) -> Exit {
        terminal::error(format!("{}: {why}: name the program to run", self.folder.display()));
        Exit::Usage
    }

    /// Warns that the program that it held cannot be had, so that the switch begins without.
    pub fn waits_for_program(&self) {
        let folder = self.folder.display();
        terminal::warning(format!(
            "{folder}: the program that it held is damaged: the switch waits for another one, and begins with no entries"
        ));
    }

    /// Warns that a file goes before the program that it holds.
    pub fn is_of_another(&self, what: &str, file: &Path) {
        terminal::warning(format!(
            "{} is of {what}: {} takes over what it has a place for",
            self.folder.display(),
            file.display()
        ));
    }

    /// Warns that entries of files are not read.
    pub fn leaves_out(&self, entries: &[PathBuf]) {
        if !entries.is_empty() {
            terminal::warning(format!(
                "{} holds the entries of an earlier run, which go on: --entries is not read again",
                self.folder.display()
            ));
        }
    }

    /// Brings back what the folder holds and keeps everything there from now on, with this note of the program.
    /// `started` is what controllers may see of it.
    pub fn begin(self, api: Arc<Api>, program: Value, started: Option<&Started>) -> Result<Saver, Exit> {
        let _progress = Progress::start(format!("taking over the state in {}", self.folder.display()));
        // Without a program there is no place for anything.
        if self.saved.is_some() && program != NO_PROGRAM {
            let left_out = self.saved.restore(&api);
            let info = started.and_then(|started| started.config.p4info.as_ref());
            let words = info.and_then(|info| Words::of(info, &api.program(), &api.notes()));
            for what in left_out {
                let what = words.as_ref().map_or_else(|| what.clone(), |words| words.tell(&what));
                terminal::warning(format!("not taken over: {what}"));
            }
        }
        let goes_on = self.saved.is_some();
        drop(self.saved);
        let mut trouble = Trouble::default();
        if let Err(error) = api.keep_in(self.store, program) {
            if !goes_on {
                terminal::error(with_cure(&error));
                return Err(Exit::System);
            }
            // A switch that has forwarded must not stay down because its disk is full by now.
            trouble.tell(Some(with_cure(&error)));
        }
        let (stop, stopped) = mpsc::channel();
        let saved = Arc::clone(&api);
        let work = move || {
            while stopped.recv_timeout(SAVE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let failed = saved.save().err();
                // A worker that ends takes no more requests; then the end of this is near, and the state is saved
                // there.
                if failed.is_some() && stopped.recv_timeout(SAVE_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                trouble.tell(failed.map(|fault| fault.message));
            }
        };
        let thread = std::thread::Builder::new().name("saver".to_owned()).spawn(work);
        let thread = thread.map_err(|error| {
            terminal::error(format!("cannot start a thread: {error}"));
            Exit::System
        })?;
        Ok(Saver { api, stop, thread })
    }
}

/// What is wrong with a folder, and what helps.
fn with_cure(error: &StoreError) -> String {
    let cure = match error.source.kind() {
        io::ErrorKind::PermissionDenied => {
            "; who runs the switch must be its owner: change that, or name another folder"
        }
        io::ErrorKind::ReadOnlyFilesystem => "; name a folder that can be written to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room there, or name another folder",
        _ => "",
    };
    format!("{error}{cure}")
}

/// Says once what goes wrong each second.
#[derive(Default)]
struct Trouble(Option<String>);

impl Trouble {
    fn tell(&mut self, trouble: Option<String>) {
        match (&self.0, &trouble) {
            (None, Some(new)) => terminal::warning(format!("the state cannot be kept for now: {new}")),
            (Some(_), None) => terminal::warning("the state is kept again"),
            _ => {}
        }
        self.0 = trouble;
    }
}

/// Stores what packets change.
pub struct Saver {
    api: Arc<Api>,
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Saver {
    /// Stores what has changed since, once the switch is parked again.
    pub fn finish(self) -> Result<(), Exit> {
        drop(self.stop);
        let _ended = self.thread.join();
        self.api.save().map_err(|fault| {
            terminal::error(format!("what packets have changed last is not in the state: {fault}"));
            Exit::System
        })
    }
}
