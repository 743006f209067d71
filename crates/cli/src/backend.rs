//! From a program to a switch with its entries.

use crate::Exit;
use crate::args::{BackendKind, SwitchArguments};
use crate::frontend::{Compiled, source_line};
use crate::terminal::{self, Progress};
use crate::trace::log::PacketLog;
use crate::trace::values::Described;
use cgen::{CompileOptions, Native, Plan, PlugIn, PlugInError, Tuning};
use ir::Program;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use switch::{Backend, Blueprint, Config, Specialisation, Switch};

/// The program's C text and plan without tuning: the same for the same program.
pub fn generate(compiled: &Compiled) -> Result<(String, Plan), Exit> {
    generate_tuned(compiled, Tuning::default())
}

/// The program's C text and plan as it is run.
pub fn generate_tuned(compiled: &Compiled, tuning: Tuning) -> Result<(String, Plan), Exit> {
    try_generate(compiled, tuning).map_err(|error| {
        terminal::error(error);
        Exit::BadInput
    })
}

/// The stored tuning of a program.
pub fn tuning(compiled: &Compiled, options: &CompileOptions) -> Tuning {
    Tuning::kept(&compiled.program, options).unwrap_or_default()
}

/// The program as native code with this tuning.
pub fn tuned(compiled: &Compiled, tuning: Tuning, options: &CompileOptions) -> Result<Backend, String> {
    load_native(try_generate(compiled, tuning)?, options)
}

fn try_generate(compiled: &Compiled, tuning: Tuning) -> Result<(String, Plan), String> {
    let plan = Plan::tuned(&compiled.program, tuning).map_err(|error| error.to_string())?;
    let text = text(compiled, &plan);
    Ok((text, plan))
}

/// The C text of a program with this plan.
pub fn text(compiled: &Compiled, plan: &Plan) -> String {
    cgen::emit_c(&compiled.program, plan, &|span| source_line(&compiled.map, span))
}

/// The program as native code. The error is the compiler's or the loader's.
pub fn native(compiled: &Compiled, options: &CompileOptions) -> Result<Result<Backend, String>, Exit> {
    let generated = generate_tuned(compiled, tuning(compiled, options))?;
    let _progress = Progress::start("compiling to native code");
    Ok(load_native(generated, options))
}

fn load_native((text, plan): (String, Plan), options: &CompileOptions) -> Result<Backend, String> {
    let native = Native::build(&text, &plan, options).map_err(|error| error.to_string())?;
    Ok(Backend::Native(Box::new(native), Box::new(plan)))
}

/// The requested backend. By default native code, or the interpreter with a warning.
pub fn choose(compiled: &Compiled, kind: Option<BackendKind>, cc: Option<String>) -> Result<Backend, Exit> {
    if kind == Some(BackendKind::Interp) {
        return Ok(Backend::Interpreter);
    }
    let options = CompileOptions { compiler: cc, ..CompileOptions::default() };
    match (native(compiled, &options)?, kind) {
        (Ok(backend), _) => {
            aside(&backend).into_iter().for_each(terminal::note);
            Ok(backend)
        }
        (Err(error), Some(_)) => {
            terminal::error(error);
            Err(Exit::System)
        }
        (Err(error), None) => {
            terminal::warning(interpreter_instead(&error));
            Ok(Backend::Interpreter)
        }
    }
}

/// Compiles specialised code for the contents of tables.
pub fn special_code(blueprint: Blueprint, cc: Option<&str>) -> Result<Specialisation, String> {
    let options = CompileOptions { compiler: cc.map(str::to_owned), ..CompileOptions::default() };
    let native = Native::build(&blueprint.c_text(), blueprint.plan(), &options).map_err(|error| error.to_string())?;
    Ok(blueprint.build(native))
}

/// What to say of code that is not in the cache.
fn aside(backend: &Backend) -> Option<String> {
    let Backend::Native(native, _) = backend else { return None };
    native.aside().map(|why| not_cached("native code", why))
}

fn not_cached(code: &str, why: &str) -> String {
    format!("{why}\nthe {code} is in a temporary folder, and is not kept")
}

fn interpreter_instead(error: &str) -> String {
    format!("{error}\nrunning in the interpreter, which is much slower")
}

/// The same without a terminal: problems are the error, a warning is returned with the backend.
pub fn choose_quietly(
    compiled: &Compiled,
    kind: Option<BackendKind>,
    cc: Option<String>,
) -> Result<(Backend, Option<String>), String> {
    if kind == Some(BackendKind::Interp) {
        return Ok((Backend::Interpreter, None));
    }
    let options = CompileOptions { compiler: cc, ..CompileOptions::default() };
    match (tuned(compiled, tuning(compiled, &options), &options), kind) {
        (Ok(backend), _) => {
            let note = aside(&backend);
            Ok((backend, note))
        }
        (Err(error), Some(_)) => Err(error),
        (Err(error), None) => Ok((Backend::Interpreter, Some(interpreter_instead(&error)))),
    }
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

    fn input(message: impl std::fmt::Display) -> Failure {
        Failure { messages: vec![message.to_string()], exit: Exit::BadInput }
    }
}

/// A switch that runs the program, with the entries of all files; otherwise shows the problems and returns the exit
/// status.
pub fn build(program: Arc<Program>, backend: Backend, arguments: &SwitchArguments) -> Result<Switch, Exit> {
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
    let Some(log) = log else { return set_up(Arc::new(compiled.program), backend, arguments) };
    let described = Described::new(compiled);
    let mut switch = set_up(Arc::clone(&described.program), backend, arguments)?;
    switch.observe(log.observer(described));
    Ok(switch)
}

/// A switch that runs the program, with the entries of all files.
pub fn set_up(program: Arc<Program>, backend: Backend, arguments: &SwitchArguments) -> Result<Switch, Failure> {
    let config = Config {
        seed: arguments.seed,
        start_number: if arguments.starts_anew { RandomState::new().hash_one(()) } else { arguments.seed },
        priorities: usize::from(arguments.priority_queues),
        ..Config::default()
    };
    let plug_in = plug_in(&program, arguments)?;
    // The cache is the same for both: one note is enough.
    if let (None, Some(why)) = (aside(&backend), plug_in.as_ref().and_then(PlugIn::aside)) {
        terminal::note(not_cached("adapter to the plug-in", why));
    }
    let mut switch = Switch::with_plug_in(program, backend, config, plug_in).map_err(Failure::input)?;
    install(&mut switch, &arguments.entries)?;
    Ok(switch)
}

/// The plug-in with the program's own extern functions; `None` if it has none.
fn plug_in(program: &Program, arguments: &SwitchArguments) -> Result<Option<PlugIn>, Failure> {
    if program.extern_functions.is_empty() {
        return Ok(None);
    }
    let options = CompileOptions { compiler: arguments.cc.clone(), ..CompileOptions::default() };
    PlugIn::load(program, &arguments.plug_ins, &options).map(Some).map_err(|error| {
        let exit = match error {
            PlugInError::Missing(_) | PlugInError::NoObject(_) => Exit::BadInput,
            PlugInError::Library { .. }
            | PlugInError::NotAFile { .. }
            | PlugInError::Compile(_)
            | PlugInError::Adapter(_) => Exit::System,
        };
        Failure { messages: vec![error.to_string()], exit }
    })
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
