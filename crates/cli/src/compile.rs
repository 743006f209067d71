//! `wirespeed compile`: a shared object, or any stage before it.

use crate::Exit;
use crate::args::{CompileArguments, Emit, SourceArguments};
use crate::backend;
use crate::frontend;
use crate::terminal::{self, Progress, say};
use crate::times;
use cgen::{CompileOptions, Tuning};
use p4info::Format;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use wirespeed::Program;

/// Compiles a file up to the requested stage and writes the result.
pub fn compile(arguments: &CompileArguments) -> Result<Exit, Exit> {
    if arguments.json && !matches!(arguments.emit, Emit::Plan | Emit::Times) {
        terminal::error("--json is for --emit plan and --emit times");
        return Err(Exit::Usage);
    }
    if arguments.for_version.is_some() && arguments.emit != Emit::P4info {
        terminal::error("--for is for --emit p4info");
        return Err(Exit::Usage);
    }
    match arguments.emit {
        Emit::Preprocessed => preprocessed(&arguments.file, &arguments.source, arguments.output.as_deref()),
        Emit::Ast | Emit::P4 => {
            let source = frontend::parse(&arguments.file, &arguments.source);
            frontend::show(&source);
            if source.diagnostics.has_errors() {
                return Err(Exit::BadInput);
            }
            let text = match arguments.emit {
                Emit::Ast => syntax::dump(&source.tree),
                _ => syntax::print(&source.tree),
            };
            write_text(arguments.output.as_deref(), &text)
        }
        Emit::Ir => {
            let program = load(arguments, !arguments.no_optimise)?;
            write_text(arguments.output.as_deref(), &ir::text::print_annotated(program.ir()))
        }
        Emit::C => {
            let (text, _) = backend::generate(&load(arguments, !arguments.no_optimise)?)?;
            write_text(arguments.output.as_deref(), &text)
        }
        Emit::Lir => {
            let program = load(arguments, !arguments.no_optimise)?;
            write_text(arguments.output.as_deref(), &program.lir_text(&backend::plan(&program, Tuning::default())?))
        }
        Emit::Plan => plan(arguments),
        Emit::ExternHeader => {
            write_text(arguments.output.as_deref(), &cgen::plug_in::header(load(arguments, false)?.ir()))
        }
        Emit::P4info => p4info(arguments),
        Emit::DeviceConfig => {
            frontend::load_p4info(&arguments.file, &arguments.source, &arguments.warnings)?;
            write_text(arguments.output.as_deref(), &device_config(&arguments.file, &arguments.source)?)
        }
        Emit::Times => write_text(arguments.output.as_deref(), &times::measured(arguments)?),
        Emit::So => shared_object(arguments),
    }
}

/// The program with its warnings shown.
fn load(arguments: &CompileArguments, optimise: bool) -> Result<Program, Exit> {
    frontend::load_with_warnings(&arguments.file, &arguments.source, &arguments.warnings, optimise)
}

/// Writes the text of a file after the preprocessor.
pub fn preprocessed(file: &Path, source: &SourceArguments, output: Option<&Path>) -> Result<Exit, Exit> {
    let (text, source) = frontend::preprocessed(file, source);
    frontend::show(&source);
    match source.diagnostics.has_errors() {
        true => Err(Exit::BadInput),
        false => write_text(output, &text),
    }
}

/// A program as JSON that a switch accepts as device config. The program was checked before.
pub fn device_config(file: &Path, source: &SourceArguments) -> Result<String, Exit> {
    let source = frontend::parse(file, source);
    if source.diagnostics.has_errors() {
        frontend::show(&source);
        return Err(Exit::BadInput);
    }
    Ok(control::device_config::write(&syntax::print(&source.tree)))
}

/// The plan, as text or as JSON.
fn plan(arguments: &CompileArguments) -> Result<Exit, Exit> {
    let program = load(arguments, !arguments.no_optimise)?;
    let tuning = Tuning::stored(program.ir(), &backend::compiler(arguments.cc.as_deref())).unwrap_or_default();
    let description = cgen::describe(program.ir(), &backend::plan(&program, tuning)?);
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&description).map_err(system_error)? + "\n",
        false => description.to_string(),
    };
    write_text(arguments.output.as_deref(), &text)
}

/// P4Info in the format for the extension of the output file.
fn p4info(arguments: &CompileArguments) -> Result<Exit, Exit> {
    let output = arguments.output.as_deref();
    let Some(format) = output.map_or(Some(Format::Text), Format::of_path) else {
        terminal::error("the format of a P4Info follows from the extension of its file: .txtpb or .txt, .bin, .json");
        return Err(Exit::Usage);
    };
    let mut info = frontend::load_p4info(&arguments.file, &arguments.source, &arguments.warnings)?;
    if let Some(version) = arguments.for_version {
        p4info::restrict(&mut info, version).map_err(|problems| {
            problems.iter().for_each(terminal::error);
            Exit::BadInput
        })?;
    }
    write_bytes(output, &p4info::encode(&info, format))
}

fn shared_object(arguments: &CompileArguments) -> Result<Exit, Exit> {
    let (text, _) = backend::generate(&load(arguments, !arguments.no_optimise)?)?;
    let output = arguments.output.clone().unwrap_or_else(|| default_output(&arguments.file));
    let options = CompileOptions { target: arguments.target.clone(), ..backend::compiler(arguments.cc.as_deref()) };
    let object = {
        let _progress = Progress::start("compiling to native code");
        cgen::compile(&text, &options).map_err(system_error)?
    };
    // Written rather than copied: the cache is private, and the output need not be.
    let bytes = std::fs::read(&object.path)
        .map_err(|error| system_error(format!("cannot read {}: {error}", object.path.display())))?;
    write_bytes(Some(&output), &bytes)?;
    if !is_standard_output(&output) {
        say!("{}", output.display());
    }
    Ok(Exit::Success)
}

fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

fn default_output(file: &Path) -> PathBuf {
    PathBuf::from(file.file_stem().unwrap_or(file.as_os_str())).with_extension("so")
}

fn write_text(output: Option<&Path>, text: &str) -> Result<Exit, Exit> {
    write_bytes(output, text.as_bytes())
}

/// Writes a file, or to standard output, which `-` means, too.
pub fn write_bytes(output: Option<&Path>, bytes: &[u8]) -> Result<Exit, Exit> {
    let written = match output.filter(|path| !is_standard_output(path)) {
        Some(path) => std::fs::write(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display())),
        None => match std::io::stdout().write_all(bytes) {
            // The reader has closed the pipe.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(|error| format!("cannot write to standard output: {error}")),
        },
    };
    written.map(|()| Exit::Success).map_err(system_error)
}

pub fn system_error(error: impl std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}
