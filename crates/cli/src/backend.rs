//! From a program to a switch with its entries.

use crate::Exit;
use crate::args::{BackendKind, SwitchArguments};
use crate::frontend::{Compiled, source_line};
use crate::terminal::{self, Progress};
use cgen::{CompileOptions, Native, Plan};
use ir::Program;
use std::path::PathBuf;
use std::sync::Arc;
use switch::{Backend, Config, Switch};

/// The program's C text and plan.
pub fn generate(compiled: &Compiled) -> Result<(String, Plan), Exit> {
    let plan = Plan::new(&compiled.program).map_err(|error| {
        terminal::error(error);
        Exit::BadInput
    })?;
    let text = cgen::emit_c(&compiled.program, &plan, &|span| source_line(&compiled.map, span));
    Ok((text, plan))
}

/// The program as native code. The error is the compiler's or the loader's.
pub fn native(compiled: &Compiled, options: &CompileOptions) -> Result<Result<Backend, String>, Exit> {
    let (text, plan) = generate(compiled)?;
    let _progress = Progress::start("compiling to native code");
    let object = match cgen::compile(&text, options) {
        Ok(object) => object,
        Err(error) => return Ok(Err(error.to_string())),
    };
    match Native::load(&object.path, &plan) {
        Ok(native) => Ok(Ok(Backend::Native(Box::new(native), Box::new(plan)))),
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// The backend that was asked for. If none was, native code, or the interpreter with a warning.
pub fn choose(compiled: &Compiled, kind: Option<BackendKind>, cc: Option<String>) -> Result<Backend, Exit> {
    if kind == Some(BackendKind::Interp) {
        return Ok(Backend::Interpreter);
    }
    let options = CompileOptions { compiler: cc, ..CompileOptions::default() };
    match (native(compiled, &options)?, kind) {
        (Ok(backend), _) => Ok(backend),
        (Err(error), Some(_)) => {
            terminal::error(error);
            Err(Exit::System)
        }
        (Err(error), None) => {
            terminal::warning(format!("{error}\nrunning in the interpreter, which is much slower"));
            Ok(Backend::Interpreter)
        }
    }
}

/// A switch that runs the program, with the entries of all files.
pub fn build(program: Arc<Program>, backend: Backend, arguments: &SwitchArguments) -> Result<Switch, Exit> {
    let config =
        Config { seed: arguments.seed, priorities: usize::from(arguments.priority_queues), ..Config::default() };
    let mut switch = Switch::new(program, backend, config).map_err(|error| {
        terminal::error(error);
        Exit::BadInput
    })?;
    install(&mut switch, &arguments.entries)?;
    Ok(switch)
}

/// Reads entries files and carries them out; everything that is wrong in a file is shown.
fn install(switch: &mut Switch, files: &[PathBuf]) -> Result<(), Exit> {
    for file in files {
        let _progress = Progress::start(format!("installing {}", file.display()));
        let program = Arc::clone(switch.program());
        let done = control::load_entries(file, &program).and_then(|commands| control::apply_all(switch, &commands));
        match done {
            Ok(replies) => {
                for reply in replies {
                    if let control::Reply::Text(text) = reply {
                        eprintln!("{text}");
                    }
                }
            }
            Err(errors) => {
                for error in errors {
                    terminal::error(error);
                }
                return Err(Exit::BadInput);
            }
        }
    }
    Ok(())
}
