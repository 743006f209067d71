//! The first program of a run, and the switch that runs it.
//!
//! What enters: the arguments, the contents of the state folder. What leaves: the switch, the P4Info of its program,
//! and the note by which the program is found again. There are three sources: the file of the command, the state, a
//! controller of an earlier run. The latest wins: a file takes precedence over the state, unless it is the file of
//! the previous start and a controller has set another program since.

use crate::Exit;
use crate::args::{RunArguments, SourceArguments};
use crate::backend;
use crate::frontend::{self, Compiled, ProgramFiles, Shown};
use crate::state::StateFolder;
use crate::stored_program::{Recorder, StoredProgram};
use crate::terminal;
use crate::trace::log::PacketLog;
use p4runtime::Started;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use switch::{Backend, Switch};
use syntax::{DiskFiles, FileLoader, MemoryFiles};
use wirespeed::{Program, Source};

/// A program for a switch that has none yet: it drops everything.
const IDLE_PROGRAM: &str = "\
#include <v1model.p4>
struct none_t {}
parser P(packet_in p, out none_t h, inout none_t m, inout standard_metadata_t s) { state start { transition accept; } }
control V(inout none_t h, inout none_t m) { apply {} }
control I(inout none_t h, inout none_t m, inout standard_metadata_t s) { apply { mark_to_drop(s); } }
control E(inout none_t h, inout none_t m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in none_t h) { apply {} }
V1Switch(P(), V(), I(), E(), V(), D()) main;
";

/// The note of a switch that has no program yet.
pub const NO_PROGRAM: &str = "none";

/// The key of the note of a controller's program for the file with which the switch was started.
const BEGUN_WITH: &str = "begun_with";

/// A switch, and the program that it begins with.
pub struct Loaded {
    /// The switch.
    pub switch: Switch,
    /// The name of the program; `None` if there is none yet.
    pub name: Option<PathBuf>,
    /// The program for controllers, if there may be some.
    pub started: Option<Started>,
    /// The note by which it is found again.
    pub note: Value,
    /// How to compile it again.
    pub origin: Origin,
}

/// A program with its note, or its errors.
pub type Recompiled = Result<(Shown, Value), String>;

/// The program with which the switch was started.
pub struct Origin {
    /// Its files as they were stored; `None` if they are on the disk, or if there is no program.
    kept: Option<StoredProgram>,
    /// The note of the file that the switch was started with; null if there was none.
    begun_with: Value,
}

impl Origin {
    /// The program again, if there is one, with its note.
    pub fn compile(&self, arguments: &RunArguments) -> Option<(PathBuf, Recompiled)> {
        let (file, source, files): (&Path, &SourceArguments, &dyn FileLoader) = match (&self.kept, &arguments.file) {
            (Some(kept), _) => (&kept.file, &kept.source, &kept.files),
            (None, Some(file)) => (file, &arguments.switch.source, &ProgramFiles),
            (None, None) => return None,
        };
        Some((file.to_owned(), self.compile_from(file, source, files)))
    }

    /// A program, with the note of one that a controller has set.
    pub fn compile_from(&self, file: &Path, source: &SourceArguments, files: &dyn FileLoader) -> Recompiled {
        let files = Recorder::new(files);
        let shown = frontend::show_program(file, source, &files)?;
        let mut note = files.note(file, source);
        note[BEGUN_WITH] = self.begun_with.clone();
        Ok((shown, note))
    }
}

/// The contents of the state.
struct Kept {
    program: StoredProgram,
    /// The config, if a controller has set it.
    started: Option<Started>,
    note: Value,
    begun_with: Value,
}

impl Kept {
    /// None if no program can be compiled.
    fn of(note: &Value) -> Option<Kept> {
        let Some((config, program)) = p4runtime::read_kept(note) else {
            let begun_with = note.clone();
            return Some(Kept { program: StoredProgram::of(note)?, started: None, note: note.clone(), begun_with });
        };
        Some(Kept {
            program: StoredProgram::of(program)?,
            started: Some(Started { config }),
            note: note.clone(),
            begun_with: program[BEGUN_WITH].clone(),
        })
    }
}

/// A switch with the program that takes precedence.
pub fn load(arguments: &RunArguments, state: Option<&StateFolder>, log: Option<&PacketLog>) -> Result<Loaded, Exit> {
    let mut kept = state.and_then(|state| Kept::of(state.program_note()));
    if let Some(kept) = &mut kept {
        kept.program.source.as_written = arguments.switch.source.as_written;
    }
    let Some(file) = &arguments.file else {
        return match (kept, state) {
            (Some(kept), _) => load_kept(arguments, state, log, kept),
            (None, state) if arguments.p4runtime.p4runtime.is_some() => {
                state.filter(|state| state.is_some()).into_iter().for_each(StateFolder::waits_for_program);
                load_idle(arguments)
            }
            (None, Some(state)) if state.is_some() => Err(state.has_no_program("its program is damaged")),
            // The arguments request a file, a state or controllers.
            (None, state) => Err(state.map_or(Exit::Usage, |state| state.has_no_program("it has no program yet"))),
        };
    };
    let note = note_of(file, &arguments.switch.source);
    if let (Some(kept), Some(state)) = (kept, state) {
        let shown = kept.program.file.display();
        match (kept.begun_with == note, kept.started.is_some()) {
            (true, true) => {
                let folder = state.folder().display();
                let file = file.display();
                terminal::note(format!(
                    "{folder} has a program that a controller has set since {file} was started: the switch runs that program"
                ));
                return load_kept(arguments, Some(state), log, kept);
            }
            (true, false) => {}
            (false, true) => state.is_of_another("a program that a controller has set", file),
            (false, false) if kept.program.file == *file => state.is_of_another(&format!("another {shown}"), file),
            (false, false) => state.is_of_another(&format!("the program {shown}"), file),
        }
    }
    let made = compile(arguments, file, &arguments.switch.source, &ProgramFiles)?;
    let started = match made.info {
        Some(info) => Some(Started::of_text(info, read(file)?)),
        None => None,
    };
    let switch = build(arguments, state, log, made.compiled)?;
    let origin = Origin { kept: None, begun_with: made.note.clone() };
    Ok(Loaded { switch, name: Some(file.clone()), started, note: made.note, origin })
}

/// The switch continues with its previous program.
fn load_kept(
    arguments: &RunArguments,
    state: Option<&StateFolder>,
    log: Option<&PacketLog>,
    kept: Kept,
) -> Result<Loaded, Exit> {
    let Kept { program, started, note, begun_with } = kept;
    let made = compile(arguments, &program.file, &program.source, &program.files)?;
    let of_text = |info| {
        let text = program.files.load(&program.file).ok().flatten().unwrap_or_default();
        Started::of_text(info, text)
    };
    let started = made.info.map(|info| started.unwrap_or_else(|| of_text(info)));
    let switch = build(arguments, state, log, made.compiled)?;
    let name = Some(program.file.clone());
    Ok(Loaded { switch, name, started, note, origin: Origin { kept: Some(program), begun_with } })
}

/// The program of a switch that waits for its own.
pub fn idle_program() -> Result<Program, String> {
    let path = Path::new("idle.p4");
    let files = MemoryFiles::new().with(path, IDLE_PROGRAM);
    Ok(frontend::show_program(path, &SourceArguments::plain(), &files)?.compiled.program)
}

/// A switch that waits for its program.
fn load_idle(arguments: &RunArguments) -> Result<Loaded, Exit> {
    let program = idle_program().map_err(|diagnostics| {
        terminal::error(diagnostics);
        Exit::Internal
    })?;
    let switch = backend::build(&program, Backend::Interpreter, &arguments.switch)?;
    let origin = Origin { kept: None, begun_with: Value::Null };
    Ok(Loaded { switch, name: None, started: None, note: json!(NO_PROGRAM), origin })
}

/// A program that was compiled.
struct Made {
    compiled: Compiled,
    /// For controllers, if there may be some: some programs can be run but have no P4Info.
    info: Option<p4info::v1::P4Info>,
    note: Value,
}

fn compile(
    arguments: &RunArguments,
    file: &Path,
    source: &SourceArguments,
    files: &dyn FileLoader,
) -> Result<Made, Exit> {
    let files = Recorder::new(files);
    let (compiled, info) = if arguments.p4runtime.p4runtime.is_some() {
        let Shown { compiled, info } = frontend::load_shown(file, source, &files)?;
        (compiled, Some(info))
    } else {
        (frontend::load_from(file, source, &files)?, None)
    };
    Ok(Made { compiled, info, note: files.note(file, source) })
}

/// The present note of a file. Errors are reported when it is compiled.
fn note_of(file: &Path, source: &SourceArguments) -> Value {
    let files = Recorder::new(&ProgramFiles);
    Source::read(file, &source.options(), &files);
    files.note(file, source)
}

fn build(
    arguments: &RunArguments,
    state: Option<&StateFolder>,
    log: Option<&PacketLog>,
    compiled: Compiled,
) -> Result<Switch, Exit> {
    let backend = backend::choose(&compiled.program, arguments.backend, arguments.switch.cc.as_deref())?;
    let mut options = arguments.switch.clone();
    options.starts_anew = arguments.starts_anew();
    if let Some(state) = state.filter(|state| state.is_some()) {
        state.leaves_out(&options.entries);
        options.entries.clear();
    }
    backend::set_up_with_log(compiled, backend, &options, log).map_err(backend::Failure::show)
}

fn read(path: &Path) -> Result<Vec<u8>, Exit> {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let found = match is_json {
        true => DiskFiles.load(path).map(Option::unwrap_or_default),
        false => ProgramFiles.load_program(path).map(Option::unwrap_or_default),
    };
    found.map_err(|error| {
        terminal::error(format!("cannot read {}: {error}", path.display()));
        Exit::System
    })
}
