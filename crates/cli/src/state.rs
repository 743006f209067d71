//! `wirespeed run --state`: the state that a switch stores in a folder.
//!
//! What enters: the folder; the new switch. What leaves: the program in the folder, the switch with the restored
//! state, and a thread that once a second stores what packets have changed.

use crate::Exit;
use crate::starting::NO_PROGRAM;
use crate::terminal::{self, Progress};
use control::Api;
use control::store::{Saved, Store, StoreError};
use live::Mailbox;
use p4runtime::{ErrorText, Started};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use switch::{Closed, CommandQueue, IdleOwner, Job};

/// The interval at which changes by packets are stored.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// The command queue to a switch that a worker runs, or that no worker runs yet or any more and that is parked here.
pub struct SwitchCommands {
    mailbox: Mailbox,
    pub parked: IdleOwner,
}

impl SwitchCommands {
    /// The queue to a switch that will be parked here. The worker that runs it has the mailbox's inbox.
    pub fn new(mailbox: Mailbox) -> SwitchCommands {
        SwitchCommands { mailbox, parked: IdleOwner::default() }
    }
}

impl CommandQueue for SwitchCommands {
    fn send(&self, job: Job) -> Result<(), Closed> {
        self.parked.offer(job).or_else(|job| self.mailbox.send(job))
    }
}

/// An open state folder.
pub struct StateFolder {
    folder: PathBuf,
    store: Store,
    saved: Saved,
}

impl StateFolder {
    /// Opens it and reports damage.
    pub fn open(folder: &Path) -> Result<StateFolder, Exit> {
        let _progress = Progress::start(format!("reading the state in {}", folder.display()));
        let (store, saved) = Store::open(folder).map_err(|error| {
            terminal::error(with_cure(&error));
            Exit::System
        })?;
        saved.complaints.iter().for_each(terminal::warning);
        Ok(StateFolder { folder: folder.to_owned(), store, saved })
    }

    /// Whether it contains the state of a switch with a program.
    pub fn is_some(&self) -> bool {
        self.saved.is_some() && self.saved.program != NO_PROGRAM
    }

    /// Its path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The note of its program; null if it has none.
    pub fn program_note(&self) -> &Value {
        &self.saved.program
    }

    /// Reports that a program must be given.
    pub fn has_no_program(&self, why: &str) -> Exit {
        terminal::error(format!("{}: {why}: name the program to run", self.folder.display()));
        Exit::Usage
    }

    /// Warns that its program cannot be restored, so that the switch starts without one.
    pub fn waits_for_program(&self) {
        let folder = self.folder.display();
        terminal::warning(format!(
            "{folder}: its program is damaged: the switch waits for another one, and starts without entries"
        ));
    }

    /// Warns that a file takes precedence over its program.
    pub fn is_of_another(&self, what: &str, file: &Path) {
        terminal::warning(format!(
            "{} belongs to {what}: {} takes over the state that fits it",
            self.folder.display(),
            file.display()
        ));
    }

    /// Warns that entries of files are ignored.
    pub fn leaves_out(&self, entries: &[PathBuf]) {
        if !entries.is_empty() {
            terminal::warning(format!(
                "{} has the entries of an earlier run, which are used: --entries is not read again",
                self.folder.display()
            ));
        }
    }

    /// Restores the contents of the folder and stores all changes there from now on, with this note of the program.
    /// `started` is the program for controllers.
    pub fn begin(self, api: Arc<Api>, program: Value, started: Option<&Started>) -> Result<Saver, Exit> {
        let _progress = Progress::start(format!("taking over the state in {}", self.folder.display()));
        // Without a program nothing can be restored.
        if self.saved.is_some() && program != NO_PROGRAM {
            let left_out = self.saved.restore(&api);
            let info = started.and_then(|started| started.config.p4info.as_ref());
            let words = info.and_then(|info| ErrorText::of(info, &api.program(), &api.notes()));
            for what in left_out {
                let what = words.as_ref().map_or_else(|| what.clone(), |words| words.with_names(&what));
                terminal::warning(format!("not restored: {what}"));
            }
        }
        let keeps_running = self.saved.is_some();
        drop(self.saved);
        let mut trouble = Trouble::default();
        if let Err(error) = api.keep_in(self.store, program) {
            if !keeps_running {
                terminal::error(with_cure(&error));
                return Err(Exit::System);
            }
            // A switch that has forwarded before must not stay down because its disk is full by now.
            trouble.report(Some(with_cure(&error)));
        }
        let (stop, stopped) = mpsc::channel();
        let saved = Arc::clone(&api);
        let work = move || {
            while stopped.recv_timeout(SAVE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let failed = saved.save().err();
                // A worker that ends accepts no more requests; this run then ends soon, and the state is stored at
                // its end.
                if failed.is_some() && stopped.recv_timeout(SAVE_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                trouble.report(failed.map(|fault| fault.message));
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

/// An error of a folder, with its remedy.
fn with_cure(error: &StoreError) -> String {
    let cure = match error.source.kind() {
        io::ErrorKind::PermissionDenied => {
            "; its owner must be the user who runs the switch: change that, or name another folder"
        }
        io::ErrorKind::ReadOnlyFilesystem => "; name a folder that can be written to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room there, or name another folder",
        _ => "",
    };
    format!("{error}{cure}")
}

/// Reports once an error that recurs each second.
#[derive(Default)]
struct Trouble(Option<String>);

impl Trouble {
    fn report(&mut self, trouble: Option<String>) {
        match (&self.0, &trouble) {
            (None, Some(new)) => terminal::warning(format!("the state cannot be stored for now: {new}")),
            (Some(_), None) => terminal::warning("the state is stored again"),
            _ => {}
        }
        self.0 = trouble;
    }
}

/// Stores changes by packets.
pub struct Saver {
    api: Arc<Api>,
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Saver {
    /// Stores the remaining changes, once the switch is parked again.
    pub fn finish(self) -> Result<(), Exit> {
        drop(self.stop);
        let _ended = self.thread.join();
        self.api.save().map_err(|fault| {
            terminal::error(format!("the last changes by packets are not in the state: {fault}"));
            Exit::System
        })
    }
}
