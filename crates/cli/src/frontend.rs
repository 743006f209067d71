//! From a source file to a program. Diagnostics are shown on standard error.

use crate::Exit;
use crate::args::{SourceArguments, WarningArguments};
use crate::logging;
use crate::terminal;
use base::Span;
use p4_14::Standard;
use p4info::v1::P4Info;
use sema::hir::Type;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use syntax::{Diagnostics, DiskFiles, FileLoader, Options, SourceMap, ast};

/// A source file, as far as it could be read.
pub struct Source {
    /// All its text.
    pub map: SourceMap,
    /// Its tree.
    pub tree: ast::Program,
    /// The diagnostics so far.
    pub diagnostics: Diagnostics,
}

/// A checked and lowered program, with its text for those who show source positions.
pub struct Compiled {
    /// All its text.
    pub map: SourceMap,
    /// The tree of its text.
    pub tree: ast::Program,
    /// The program.
    pub program: ir::Program,
}

/// A program with its P4Info.
pub struct Shown {
    /// The program, optimised.
    pub compiled: Compiled,
    /// Its P4Info.
    pub info: P4Info,
}

/// Reads and parses a file.
pub fn parse(path: &Path, arguments: &SourceArguments) -> Source {
    parse_from(path, arguments, &ProgramFiles)
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
    static READ: Mutex<BTreeMap<PathBuf, Vec<u8>>> = Mutex::new(BTreeMap::new());
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

/// Reads and parses a file of the loader.
pub fn parse_from(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Source {
    let define = |text: &String| match text.split_once('=') {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (text.clone(), "1".to_owned()),
    };
    let mut options = Options::new(files);
    options.include_paths = arguments.include.clone();
    options.defines = arguments.define.iter().map(define).collect();
    options.undefines = arguments.undefine.clone();
    let mut map = SourceMap::new();
    let (tree, diagnostics) = p4_14::parse_program(&mut map, path, &options, arguments.std);
    Source { map, tree, diagnostics }
}

/// Lowers a checked file; adds diagnostics. `None` if there are errors.
pub fn lower_typed(source: &mut Source, typed: &sema::hir::Program, drop_port: u16) -> Option<ir::Program> {
    let options = lower::Options { drop_port: u64::from(drop_port), ..lower::Options::default() };
    let program = lower::lower_with(typed, options, &mut source.diagnostics)?;
    if source.diagnostics.has_errors() { None } else { Some(program) }
}

/// Checks a parsed file; adds diagnostics. `None` if there are errors.
pub fn check(source: &mut Source) -> Option<sema::hir::Program> {
    if source.diagnostics.has_errors() {
        return None;
    }
    let typed = sema::check(&source.tree, &mut source.diagnostics);
    if source.diagnostics.has_errors() { None } else { Some(typed) }
}

/// Runs the lints on a checked program. A P4_14 program is skipped: its translation contains much that its author did
/// not write.
pub fn lint(source: &mut Source, typed: &sema::hir::Program) {
    if p4_14::standard_of_sources(&source.map) == Standard::P4_16 {
        lint::lint(typed, &source.map, &mut source.diagnostics);
    }
}

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
    let is_coloured = terminal::is_coloured() && !logging::is_json();
    let text = syntax::render_all(&source.map, &source.diagnostics, is_coloured);
    if !text.is_empty() {
        terminal::diagnostics(text.trim_end());
    }
}

/// The package of which `main` is an instance; none if there is no `main`.
pub fn package(typed: &sema::hir::Program) -> Option<&str> {
    match &typed.instances[typed.main?].ty {
        Type::Apply(package, _) => Some(&typed.apply_types[*package].name),
        _ => None,
    }
}

/// The supported architectures, and the packages of their programs with the number of their arguments.
const ARCHITECTURES: [(&str, &str, usize); 2] = [("v1model", "V1Switch", 6), ("psa", "PSA_Switch", 4)];

/// Whether a program can be run: its `main` is of a package of a known architecture. A package of the same name with
/// other parameters is the program's own.
pub fn is_runnable(typed: &sema::hir::Program) -> bool {
    let arguments = typed.main.map(|main| typed.instances[main].args.len());
    ARCHITECTURES.iter().any(|(_, runnable, count)| package(typed) == Some(*runnable) && arguments == Some(*count))
}

/// Optimises a program, unless it is requested as written.
fn optimise(program: &mut ir::Program, arguments: &SourceArguments) {
    if !arguments.as_written {
        passes::optimise(program);
    }
}

/// A file of the loader as an optimised program with its P4Info, or the file with its diagnostics.
fn shown(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> (Source, Option<(ir::Program, P4Info)>) {
    let mut source = parse_from(path, arguments, files);
    let made = check(&mut source).and_then(|typed| {
        let program = lower_typed(&mut source, &typed, arguments.drop_port)?;
        let info = p4info::generate(&typed, &program, &mut source.diagnostics)?;
        Some((program, info))
    });
    let made = made.filter(|_| !source.diagnostics.has_errors()).map(|(mut program, info)| {
        optimise(&mut program, arguments);
        (program, info)
    });
    (source, made)
}

/// A file of the loader as an optimised program with its P4Info, or its diagnostics as text.
pub fn show_program(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Result<Shown, String> {
    let (source, made) = shown(path, arguments, files);
    let text = |source: &Source| syntax::render_all(&source.map, &source.diagnostics, false);
    let (program, info) = made.ok_or_else(|| text(&source))?;
    Ok(Shown { compiled: Compiled { map: source.map, tree: source.tree, program }, info })
}

/// The same, or the exit status after its errors were shown.
pub fn load_shown(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Result<Shown, Exit> {
    let (source, made) = shown(path, arguments, files);
    show(&source);
    let (program, info) = made.ok_or(Exit::BadInput)?;
    Ok(Shown { compiled: Compiled { map: source.map, tree: source.tree, program }, info })
}

/// A file of the loader as a program that is not optimised, or its diagnostics as text.
pub fn written_program(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Result<Compiled, String> {
    let mut source = parse_from(path, arguments, files);
    let lowered = check(&mut source).and_then(|typed| lower_typed(&mut source, &typed, arguments.drop_port));
    match lowered {
        Some(program) => Ok(Compiled { map: source.map, tree: source.tree, program }),
        None => Err(syntax::render_all(&source.map, &source.diagnostics, false)),
    }
}

/// A file of the loader as an optimised program, or the exit status after its errors were shown.
pub fn load_from(path: &Path, arguments: &SourceArguments, files: &dyn FileLoader) -> Result<Compiled, Exit> {
    let mut source = parse_from(path, arguments, files);
    let lowered = check(&mut source).and_then(|typed| lower_typed(&mut source, &typed, arguments.drop_port));
    show(&source);
    let mut program = lowered.ok_or(Exit::BadInput)?;
    optimise(&mut program, arguments);
    Ok(Compiled { map: source.map, tree: source.tree, program })
}

/// A file as an optimised program, or the exit status after its errors were shown.
pub fn load(path: &Path, arguments: &SourceArguments, optimise: bool) -> Result<Compiled, Exit> {
    let mut compiled = load_for(path, arguments, None)?;
    if optimise {
        passes::optimise(&mut compiled.program);
    }
    Ok(compiled)
}

/// The same for authors of the program: with all warnings.
pub fn load_with_warnings(
    path: &Path,
    arguments: &SourceArguments,
    warnings: &WarningArguments,
    optimise: bool,
) -> Result<Compiled, Exit> {
    let mut source = parse(path, arguments);
    let lowered = check(&mut source).and_then(|typed| {
        lint(&mut source, &typed);
        lower_typed(&mut source, &typed, arguments.drop_port)
    });
    apply_warning_levels(&mut source, warnings);
    show(&source);
    match lowered {
        Some(mut program) if !source.diagnostics.has_errors() => {
            if optimise {
                passes::optimise(&mut program);
            }
            Ok(Compiled { map: source.map, tree: source.tree, program })
        }
        _ => Err(Exit::BadInput),
    }
}

/// The P4Info of a file's program, or the exit status after its errors were shown.
pub fn load_p4info(path: &Path, arguments: &SourceArguments, warnings: &WarningArguments) -> Result<P4Info, Exit> {
    let mut source = parse(path, arguments);
    let made = check(&mut source).and_then(|typed| {
        lint(&mut source, &typed);
        let program = lower_typed(&mut source, &typed, arguments.drop_port)?;
        p4info::generate(&typed, &program, &mut source.diagnostics)
    });
    apply_warning_levels(&mut source, warnings);
    show(&source);
    made.filter(|_| !source.diagnostics.has_errors()).ok_or(Exit::BadInput)
}

/// A file as a program that is not optimised, or the exit status after its errors were shown. If an architecture is
/// given, the program must be for that one.
pub fn load_for(path: &Path, arguments: &SourceArguments, architecture: Option<&str>) -> Result<Compiled, Exit> {
    let mut source = parse(path, arguments);
    let lowered = check(&mut source).and_then(|typed| {
        let package = package(&typed).unwrap_or("none");
        let named = |it| ARCHITECTURES.iter().find(|(name, ..)| *name == it);
        match architecture.and_then(named) {
            Some((name, wanted, _)) if *wanted != package => {
                Some(Err(format!("the program is not for {name}: its `main` is of package {package}, not {wanted}")))
            }
            _ => lower_typed(&mut source, &typed, arguments.drop_port).map(Ok),
        }
    });
    show(&source);
    match lowered {
        Some(Ok(program)) => Ok(Compiled { map: source.map, tree: source.tree, program }),
        Some(Err(message)) => {
            terminal::error(message);
            Err(Exit::BadInput)
        }
        None => Err(Exit::BadInput),
    }
}

/// The source line of a position, for generated code.
pub fn source_line(map: &SourceMap, span: Span) -> Option<cgen::SourceLine> {
    if span.is_none() {
        return None;
    }
    let location = map.location(span.lo)?;
    let text = map.line_text(span.lo).trim().to_owned();
    Some(cgen::SourceLine { file: location.file.to_string(), line: location.line, text })
}
