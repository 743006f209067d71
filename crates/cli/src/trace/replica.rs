//! A copy of a switch, in the interpreter.
//!
//! What enters: a snapshot of a running switch, or a state folder. What leaves: its program with its text, and a
//! switch that runs it with the same tables, groups, registers and counters. [`unknown`] lists the state that the
//! program may read and a snapshot lacks.

use super::values::Described;
use crate::Exit;
use crate::args::SwitchArguments;
use crate::backend;
use crate::frontend;
use crate::stored_program::StoredProgram;
use crate::terminal;
use control::store::{Saved, Store};
use control::{Api, Problem};
use ir::walk::{bodies, visit_body};
use ir::{Effect, Program, StmtKind};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::Arc;
use switch::{Backend, CommandQueue, IdleOwner, Switch};

/// How many times a folder is read again whose files change meanwhile.
const READS_MAX: usize = 5;

/// The program of a snapshot.
pub struct Original {
    /// The note from which it is compiled.
    note: Value,
    /// The program.
    pub described: Arc<Described>,
}

impl Original {
    /// Compiles the program of a snapshot.
    pub fn of(saved: &Saved) -> Result<Original, Problem> {
        let note = saved.program.clone();
        let program = p4runtime::read_kept(&note).map_or(&note, |(_, program)| program);
        let stored =
            StoredProgram::of(program).ok_or_else(|| Problem::new("it has no program that could be traced"))?;
        let written = frontend::written_program(&stored.file, &stored.source, &stored.files);
        let compiled = written.map_err(|diagnostics| {
            Problem::new(format!("the program {} does not compile here:\n{diagnostics}", stored.file.display()))
        })?;
        let described = Arc::new(Described::new(&compiled));
        Ok(Original { note, described })
    }

    /// Whether a snapshot has the same program.
    pub fn is_of(&self, saved: &Saved) -> bool {
        self.note == saved.program
    }

    /// A switch with the state of a snapshot of this program; what cannot be restored is reported to `complain`.
    pub fn switch(
        &self,
        saved: &Saved,
        options: &SwitchArguments,
        complain: impl FnMut(String),
    ) -> Result<Switch, Problem> {
        let switch = backend::set_up(&self.described.compiled, Backend::Interpreter, options)
            .map_err(|failure| Problem::new(failure.messages.join("\n")))?;
        let parked = Arc::new(IdleOwner::default());
        let api = Api::new(&switch, Arc::clone(&parked) as Arc<dyn CommandQueue>);
        parked.park(switch);
        saved.restore(&api).into_iter().for_each(complain);
        parked.take().ok_or_else(|| Problem::new("the switch is gone"))
    }
}

/// The state that this program may read and no snapshot of a switch has, and its replacement here.
pub fn unknown(program: &Program) -> Vec<&'static str> {
    let mut has_random = false;
    for body in bodies(program) {
        visit_body(body, &mut |stmt| has_random |= matches!(stmt.kind, StmtKind::Random { .. }));
    }
    let all = [
        (
            !program.meters.is_empty() || !program.direct_meters.is_empty(),
            "not known: how full the meters of the switch are; here they begin full, and colors may differ",
        ),
        (
            program.mentions_queues(),
            "not known: the contents of the queues of the switch; here they are empty and stay empty",
        ),
        (
            program.may_request(Effect::Coalescing),
            "not known: which packets wait in the coalescing buffers of the switch; here these begin empty",
        ),
        (
            !program.calculations.is_empty(),
            "not known: parameters of CRCs that were set while the switch runs; here they are the standard ones",
        ),
        (has_random, "not known: the random numbers of the switch; here they differ"),
    ];
    all.into_iter().filter(|(is_used, _)| *is_used).map(|(_, what)| what).collect()
}

/// The contents of a state folder, which is not changed and may be in use.
pub fn read_folder(folder: &Path) -> Result<Saved, Exit> {
    let refused = |error: &dyn std::fmt::Display| {
        terminal::error(format!("cannot read the state in {}: {error}", folder.display()));
        Exit::System
    };
    for _ in 0..READS_MAX {
        let copy = tempfile::tempdir().map_err(|error| refused(&error))?;
        match copy_files(folder, copy.path()) {
            // The switch has begun a new file meanwhile, and removed an old one.
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder.exists() => {}
            Err(error) => return Err(refused(&error)),
            Ok(()) => {
                let (_, saved) = Store::open(copy.path()).map_err(|error| refused(&error))?;
                if !saved.is_some() {
                    terminal::error(format!("{} contains no state", folder.display()));
                    return Err(Exit::BadInput);
                }
                return Ok(saved);
            }
        }
    }
    Err(refused(&"its files change all the time"))
}

fn copy_files(folder: &Path, copy: &Path) -> io::Result<()> {
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "state")
            && let Some(name) = path.file_name()
        {
            io::copy(&mut base::files::open_regular(&path)?, &mut std::fs::File::create(copy.join(name))?)?;
        }
    }
    Ok(())
}
