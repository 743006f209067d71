//! From a program to a switch with its entries.

use crate::Exit;
use crate::args::{BackendKind, SwitchArguments};
use crate::frontend::Compiled;
use crate::terminal::{self, Progress};
use crate::trace::log::PacketLog;
use crate::trace::values::Described;
use cgen::{CacheNote, CompileOptions, Plan, PlugIn, PlugInError, Tuning};
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use switch::{Backend, Specialisation, SpecialisedProgram, Switch};
use wirespeed::{BuildError, CodeError, Program};

/// The program's C text and plan without stored tuning: the same for the same program.
pub fn generate(program: &Program) -> Result<(String, Plan), Exit> {
    let plan = plan(program, Tuning::default())?;
    Ok((program.c_text(&plan), plan))
}

/// The plan of a program with this tuning.
pub fn plan(program: &Program, tuning: Tuning) -> Result<Plan, Exit> {
    Plan::tuned(program.ir(), tuning).map_err(|error| {
        terminal::error(error);
        Exit::BadInput
    })
}

/// The options with this compiler.
pub fn compiler(cc: Option<&str>) -> CompileOptions {
    CompileOptions { compiler: cc.map(str::to_owned), ..CompileOptions::default() }
}

/// The requested backend. By default native code, or the interpreter with a warning.
pub fn choose(program: &Program, kind: Option<BackendKind>, cc: Option<&str>) -> Result<Backend, Exit> {
    let chosen = {
        let _progress = (kind != Some(BackendKind::Interp)).then(|| Progress::start("compiling to native code"));
        chosen(program, kind, cc)
    };
    match chosen {
        Ok((backend, None)) => {
            cache_note(&backend).into_iter().for_each(terminal::note);
            Ok(backend)
        }
        Ok((backend, Some(error @ CodeError::Build(_)))) => {
            terminal::warning(interpreter_instead(&error));
            Ok(backend)
        }
        Ok((_, Some(error @ CodeError::Plan(_)))) | Err(error) => {
            terminal::error(&error);
            Err(if matches!(error, CodeError::Plan(_)) { Exit::BadInput } else { Exit::System })
        }
    }
}

fn chosen(
    program: &Program,
    kind: Option<BackendKind>,
    cc: Option<&str>,
) -> Result<(Backend, Option<CodeError>), CodeError> {
    let wanted = match kind {
        None => wirespeed::Backend::Best,
        Some(BackendKind::Native) => wirespeed::Backend::Native,
        Some(BackendKind::Interp) => wirespeed::Backend::Interpreter,
    };
    program.backend(wanted, &compiler(cc))
}

/// Compiles specialised code for the contents of tables.
pub fn special_code(specialised: SpecialisedProgram, cc: Option<&str>) -> Result<Specialisation, String> {
    wirespeed::specialise(specialised, &compiler(cc)).map_err(|error| error.to_string())
}

/// The message about the cache, if anything was wrong with it.
pub fn cache_note(backend: &Backend) -> Option<String> {
    let Backend::Native(native, _) = backend else { return None };
    native.cache_note().map(|note| said_of("native code", note))
}

fn said_of(code: &str, note: &CacheNote) -> String {
    match note {
        CacheNote::Aside(why) => format!("{why}\nthe {code} is in a temporary folder, and is not kept"),
        CacheNote::Replaced(why) => format!("{why}\nthe {code} in the cache was not used, and was compiled again"),
    }
}

fn interpreter_instead(error: &CodeError) -> String {
    format!("{error}\nrunning in the interpreter, which is much slower")
}

/// The same without a terminal: problems are the error, a warning is returned with the backend.
pub fn choose_quietly(
    program: &Program,
    kind: Option<BackendKind>,
    cc: Option<&str>,
) -> Result<(Backend, Option<String>), String> {
    let (backend, error) = chosen(program, kind, cc).map_err(|error| error.to_string())?;
    let said = error.as_ref().map(interpreter_instead).or_else(|| cache_note(&backend));
    Ok((backend, said))
}

/// Why there is no switch: the problems, and the exit status.
pub struct Failure {
    /// All problems.
    pub messages: Vec<String>,
    /// The exit status.
    pub exit: Exit,
}

impl Failure {
    /// Shows the problems.
    pub fn show(self) -> Exit {
        self.messages.iter().for_each(terminal::error);
        self.exit
    }

    fn of(error: BuildError) -> Failure {
        let exit = match error {
            BuildError::PlugIn(PlugInError::Missing(_) | PlugInError::NoObject(_)) => Exit::BadInput,
            BuildError::PlugIn(_) => Exit::System,
            _ => Exit::BadInput,
        };
        Failure { messages: vec![error.to_string()], exit }
    }
}

/// A switch that runs the program, with the entries of all files; otherwise shows the problems and returns the exit
/// status.
pub fn build(program: &Program, backend: Backend, arguments: &SwitchArguments) -> Result<Switch, Exit> {
    set_up(program, backend, arguments).map_err(Failure::show)
}

/// The same with a log: if there is one, the program runs in the interpreter and the journey of every packet is
/// written to the log.
pub fn set_up_with_log(
    compiled: Compiled,
    backend: Backend,
    arguments: &SwitchArguments,
    log: Option<&PacketLog>,
) -> Result<Switch, Failure> {
    let mut switch = set_up(&compiled.program, backend, arguments)?;
    log.into_iter().for_each(|log| switch.observe(log.observer(Described::new(&compiled))));
    Ok(switch)
}

/// A switch that runs the program, with the entries of all files.
pub fn set_up(program: &Program, backend: Backend, arguments: &SwitchArguments) -> Result<Switch, Failure> {
    let builder = program
        .switch()
        .compiler(compiler(arguments.cc.as_deref()))
        .seed(arguments.seed)
        .start_number(if arguments.starts_anew { RandomState::new().hash_one(()) } else { arguments.seed })
        .queues(usize::from(arguments.priority_queues))
        .plug_ins(arguments.plug_ins.iter().cloned());
    let is_reported = cache_note(&backend).is_some();
    let mut switch = builder.build_core_on(backend).map_err(Failure::of)?;
    // The cache is the same for both: one note is enough.
    if let (false, Some(why)) = (is_reported, switch.plug_in().and_then(PlugIn::cache_note)) {
        terminal::note(said_of("adapter to the plug-in", why));
    }
    install(&mut switch, &arguments.entries)?;
    Ok(switch)
}

/// Reads entries files and carries them out.
fn install(switch: &mut Switch, files: &[PathBuf]) -> Result<(), Failure> {
    for file in files {
        let _progress = Progress::start(format!("installing {}", file.display()));
        let program = Arc::clone(switch.program());
        let done = control::read_entries(file, &program).and_then(|entries| {
            entries.passed_over.iter().for_each(terminal::warning);
            control::apply_all(switch, &entries.commands)
        });
        let replies = done.map_err(|errors| {
            let messages = errors.iter().map(ToString::to_string).collect();
            Failure { messages, exit: Exit::BadInput }
        })?;
        for reply in replies {
            if let control::Reply::Text(text) = reply {
                eprintln!("{text}");
            }
        }
    }
    Ok(())
}
