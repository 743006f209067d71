//! From a source file to a program. Diagnostics are shown on standard error.

use crate::Exit;
use crate::args::{SourceArguments, WarningArguments};
use crate::logging;
use crate::terminal;
use base::OrderedMap;
use p4info::v1::P4Info;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use syntax::{DiskFiles, FileLoader, ast};
use wirespeed::{Options, Program, Source, WrongArchitecture, source};

/// A compiled program, with its tree for those who show values as it declares them.
pub struct Compiled {
    /// The tree of its text.
    pub tree: ast::Program,
    /// The program.
    pub program: Program,
}

/// A program with its P4Info.
pub struct Shown {
    /// The program, optimised.
    pub compiled: Compiled,
    /// Its P4Info.
    pub info: P4Info,
}

impl SourceArguments {
    /// How the program is compiled.
    pub fn options(&self) -> Options {
        let define = |text: &String| match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (text.clone(), "1".to_owned()),
        };
        Options {
            language: self.std,
            include: self.include.clone(),
            define: self.define.iter().map(define).collect(),
            undefine: self.undefine.clone(),
            ignored_annotations: self.ignored_annotations.clone(),
            drop_port: self.drop_port,
            host_ports: Some(self.host_ports.clone()).filter(|ports| !ports.is_empty()),
            optimise: !self.as_written,
            ..Options::default()
        }
    }
}

/// Reads and parses a file.
pub fn parse(path: &Path, arguments: &SourceArguments) -> Source {
    Source::read(path, &arguments.options(), &ProgramFiles)
}

/// The text of a file after the preprocessor, which does not depend on the language, and a source without a tree.
pub fn preprocessed(path: &Path, arguments: &SourceArguments) -> (String, Source) {
    Source::preprocessed(path, &arguments.options(), &ProgramFiles)
}

/// The files of the disk. A program may be wrapped in JSON, as `p4c` under our name writes it.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFiles;

impl FileLoader for ProgramFiles {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let content = DiskFiles.load(path)?;
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        match content {
            Some(content) if is_json => match control::device_config::read(&content) {
                Some(text) => Ok(Some(text.into_bytes())),
                None => Err(OTHER_JSON.to_owned()),
            },
            content => Ok(content),
        }
    }

    fn load_program(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        match path.extension().is_some_and(|ending| ending == "json") {
            true => self.load(path),
            false if path == Path::new("-") => load_once(Path::new("/dev/stdin")),
            false if std::fs::metadata(path).is_ok_and(|found| found.is_file()) => DiskFiles.load_program(path),
            false => load_once(path),
        }
    }
}

/// A program that comes through a pipe, which can be read only once, however often the program is needed.
fn load_once(path: &Path) -> Result<Option<Vec<u8>>, String> {
    static READ: Mutex<OrderedMap<PathBuf, Vec<u8>>> = Mutex::new(OrderedMap::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(content) = read.get(path) {
        return Ok(Some(content.clone()));
    }
    let content = DiskFiles.load_program(path)?;
    content.iter().for_each(|content| drop(read.insert(path.to_owned(), content.clone())));
    Ok(content)
}

/// The error for JSON without a program.
const OTHER_JSON: &str = "it is not a program: JSON that p4c writes for BMv2 cannot be run; name the .p4 file, or have the \
                          JSON written by `p4c` as a link to wirespeed (`wirespeed links DIR`)";

/// Sorts warnings, removes those that are allowed, and turns those that are denied into errors.
pub fn apply_warning_levels(source: &mut Source, arguments: &WarningArguments) {
    if !source.diagnostics.has_errors() {
        source.diagnostics.sort();
    }
    source.diagnostics.apply_warning_levels(|code| arguments.level_of(code));
    source.diagnostics.move_into_macros(&source.map);
}

/// Shows all diagnostics, and how many errors there were.
pub fn show(source: &Source) {
    let text = source.rendered(terminal::is_coloured() && !logging::is_json());
    if !text.is_empty() {
        terminal::diagnostics(text.trim_end());
    }
}

/// The program of a source without errors, after all passes unless the options exclude some.
fn compiled(source: Source, program: ir::Program, options: &Options) -> Compiled {
    let (program, tree) = source.into_program(program, options);
    Compiled { tree, program }
}

/// A file of the loader, and its program with its P4Info if there are no errors.
fn with_p4info(path: &Path, options: &Options, files: &dyn FileLoader) -> (Source, Option<(ir::Program, P4Info)>) {
    let mut source = Source::read(path, options, files);
    let made = source.check().and_then(|typed| {
        let program = source.lower(&typed, options)?;
        let info = p4info::generate(&typed, &program, &mut source.diagnostics)?;
        Some((program, info))
    });
    let made = made.filter(|_| !source.diagnostics.has_errors());
    (source, made)
}

/// A file of the loader as an optimised program with its P4Info, or its diagnostics as text.
pub fn show_program(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Result<Shown, String> {
    let options = arguments.options();
    let (source, made) = with_p4info(path, &options, files);
    let (program, info) = made.ok_or_else(|| source.rendered(false))?;
    Ok(Shown { compiled: compiled(source, program, &options), info })
}

/// The same, or the exit status after its errors were shown.
pub fn load_shown(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Result<Shown, Exit> {
    let options = arguments.options();
    let (source, made) = with_p4info(path, &options, files);
    show(&source);
    let (program, info) = made.ok_or(Exit::BadInput)?;
    Ok(Shown { compiled: compiled(source, program, &options), info })
}

/// A file of the loader as a program that is not optimised, or its diagnostics as text.
pub fn written_program(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Result<Compiled, String> {
    let options = Options { optimise: false, ..arguments.options() };
    let mut source = Source::read(path, &options, files);
    let lowered = source.check_and_lower(&options);
    let program = lowered.ok_or_else(|| source.rendered(false))?;
    Ok(compiled(source, program, &options))
}

/// A file of the loader as an optimised program, or the exit status after its errors were shown.
pub fn load_from(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Result<Compiled, Exit> {
    load_with(path, &arguments.options(), files)
}

fn load_with(path: &Path, options: &Options, files: &dyn FileLoader) -> Result<Compiled, Exit> {
    let mut source = Source::read(path, options, files);
    let lowered = source.check_and_lower(options);
    show(&source);
    Ok(compiled(source, lowered.ok_or(Exit::BadInput)?, options))
}

/// A file as a program, or the exit status after its errors were shown.
pub fn load(path: &Path, arguments: &SourceArguments, optimise: bool) -> Result<Compiled, Exit> {
    load_with(path, &Options { optimise, ..arguments.options() }, &ProgramFiles)
}

/// The same for authors of the program: with all warnings.
pub fn load_with_warnings(
    path: &Path,
    arguments: &SourceArguments,
    warnings: &WarningArguments,
    optimise: bool,
) -> Result<Program, Exit> {
    let options = Options { optimise, ..arguments.options() };
    let mut source = parse(path, arguments);
    let lowered = source.check().and_then(|typed| {
        source.lint(&typed);
        source.lower(&typed, &options)
    });
    apply_warning_levels(&mut source, warnings);
    show(&source);
    let lowered = lowered.filter(|_| !source.diagnostics.has_errors());
    Ok(source.into_program(lowered.ok_or(Exit::BadInput)?, &options).0)
}

/// The P4Info of a file's program, or the exit status after its errors were shown.
pub fn load_p4info(path: &Path, arguments: &SourceArguments, warnings: &WarningArguments) -> Result<P4Info, Exit> {
    load_described(path, arguments, None, warnings).map(|(_, info)| info)
}

/// The same with the program. If an architecture is given, the program must be for that one.
pub fn load_described(
    path: &Path,
    arguments: &SourceArguments,
    architecture: Option<&str>,
    warnings: &WarningArguments,
) -> Result<(ir::Program, P4Info), Exit> {
    let mut source = parse(path, arguments);
    let mut other_architecture = Ok(());
    let made = source.check().and_then(|typed| {
        source.lint(&typed);
        other_architecture = architecture.map_or(Ok(()), |name| source::require_architecture(&typed, name));
        let program = source.lower(&typed, &arguments.options())?;
        let info = p4info::generate(&typed, &program, &mut source.diagnostics)?;
        Some((program, info))
    });
    apply_warning_levels(&mut source, warnings);
    show(&source);
    other_architecture.map_err(refused)?;
    made.filter(|_| !source.diagnostics.has_errors()).ok_or(Exit::BadInput)
}

/// A file as a program that is not optimised, or the exit status after its errors were shown. If an architecture is
/// given, the program must be for that one.
pub fn load_for(path: &Path, arguments: &SourceArguments, architecture: Option<&str>) -> Result<Program, Exit> {
    let options = Options { optimise: false, ..arguments.options() };
    let mut source = parse(path, arguments);
    let lowered = source.check().map(|typed| {
        architecture.map_or(Ok(()), |name| source::require_architecture(&typed, name))?;
        Ok(source.lower(&typed, &options))
    });
    show(&source);
    let lowered = lowered.unwrap_or(Ok(None)).map_err(refused)?;
    Ok(source.into_program(lowered.ok_or(Exit::BadInput)?, &options).0)
}

/// Shows that a program is for another architecture.
fn refused(error: WrongArchitecture) -> Exit {
    terminal::error(error);
    Exit::BadInput
}
