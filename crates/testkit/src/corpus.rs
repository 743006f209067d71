//! The corpus of programs with packet tests: the folder `tests` at the root of the repository.
//!
//! A case is an STF file beside the program that it tests: `NAME.stf` or `NAME.WHAT.stf` for `NAME.p4`. If there is a
//! `NAME.json` or a `NAME.txt` (switch commands), its entries are installed first. Every case runs in every execution
//! mode ([`Way`]).

use crate::pipeline::{Engine, code, optimised, program_of_file};
use cgen::{CompileOptions, Optimise, Tuning};
use ir::Program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use switch::{Backend, Config, Switch};
use wirespeed::Code;

/// A program and its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The program.
    pub program: PathBuf,
    /// Entries to install first.
    pub entries: Option<PathBuf>,
    /// The STF files.
    pub scripts: Vec<PathBuf>,
}

/// The folder of the corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// The path of a data file that is not part of the project, or the reason for [`crate::skip`].
pub fn data(name: &str) -> Result<PathBuf, String> {
    let path = folder().join("../../shared/data").join(name);
    if path.exists() { Ok(path) } else { Err(format!("needs the data {}", path.display())) }
}

/// The groups of cases: the folders of the corpus with packet tests.
pub fn groups() -> Vec<String> {
    let has_scripts = |path: &PathBuf| path.is_dir() && files(path).iter().any(|file| has_extension(file, "stf"));
    let folders = files(&folder()).into_iter().filter(has_scripts);
    folders.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect()
}

/// The cases of a group, by name.
pub fn cases(group: &str) -> Vec<Case> {
    let mut cases: BTreeMap<String, Case> = BTreeMap::new();
    let files = files(&folder().join(group));
    for path in files.iter().filter(|path| has_extension(path, "p4")) {
        let entries = ["json", "txt"].map(|extension| path.with_extension(extension));
        let entries = entries.into_iter().find(|path| path.is_file());
        cases.insert(stem(path), Case { program: path.clone(), entries, scripts: Vec::new() });
    }
    for path in files.into_iter().filter(|path| has_extension(path, "stf")) {
        let name = stem(&path).split('.').next().unwrap_or_default().to_owned();
        let case = cases.get_mut(&name).unwrap_or_else(|| panic!("{} has no program {name}.p4", path.display()));
        case.scripts.push(path);
    }
    cases.into_values().collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// An execution mode: how a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Whether native code runs it rather than the interpreter.
    pub is_native: bool,
    /// Whether all passes are applied.
    pub is_optimised: bool,
    /// Whether native code uses the fast path, if the program has one, rather than the staged path.
    pub has_fast_path: bool,
}

impl Way {
    /// All execution modes. The first one, the unoptimised program in the interpreter, defines the right result.
    pub const ALL: [Way; 6] = [
        Way { is_native: false, is_optimised: false, has_fast_path: false },
        Way { is_native: false, is_optimised: true, has_fast_path: false },
        Way { is_native: true, is_optimised: false, has_fast_path: false },
        Way { is_native: true, is_optimised: true, has_fast_path: false },
        Way { is_native: true, is_optimised: false, has_fast_path: true },
        Way { is_native: true, is_optimised: true, has_fast_path: true },
    ];

    /// The mode's name for messages.
    pub fn describe(self) -> &'static str {
        match (self.is_native, self.is_optimised, self.has_fast_path) {
            (false, false, _) => "interpreter, not optimised",
            (false, true, _) => "interpreter, optimised",
            (true, false, false) => "native, block by block, not optimised",
            (true, true, false) => "native, block by block, optimised",
            (true, false, true) => "native, not optimised",
            (true, true, true) => "native, optimised",
        }
    }

    /// The program in the form in which this mode runs it.
    pub fn program(self, program: &Program) -> Result<Program, String> {
        if self.is_optimised { optimised(program) } else { Ok(program.clone()) }
    }

    /// The engine that runs it. `cache` is the folder of compiled programs.
    pub fn engine(self, cache: &Path) -> Engine {
        match (self.is_native, self.has_fast_path) {
            (false, _) => Engine::Interpreter,
            (true, false) => Engine::NativeStaged(quick_options(cache)),
            (true, true) => Engine::Native(quick_options(cache)),
        }
    }
}

/// Compile options for tests: fast compilation, with all warnings as errors.
pub fn quick_options(cache: &Path) -> CompileOptions {
    CompileOptions {
        cache_dir: Some(cache.to_owned()),
        optimise: Optimise::None,
        deny_warnings: true,
        ..CompileOptions::default()
    }
}

/// Runs a case in every execution mode and returns the failures.
pub fn check(case: &Case, cache: &Path) -> Vec<String> {
    let name = case.program.strip_prefix(folder()).unwrap_or(&case.program).display().to_string();
    let program = match program_of_file(&case.program) {
        Ok(program) => program,
        Err(errors) => return vec![errors],
    };
    if case.scripts.is_empty() {
        return vec![format!("{name} has no STF file")];
    }
    let mut failures = Vec::new();
    for is_optimised in [false, true] {
        let of_form = |way: &&Way| way.is_optimised == is_optimised;
        let form = match Form::new(&program, is_optimised, cache) {
            Ok(form) => form,
            Err(error) => {
                failures.push(format!("{name} (optimised: {is_optimised}): {error}"));
                continue;
            }
        };
        for way in Way::ALL.iter().filter(of_form) {
            for script in &case.scripts {
                if let Err(failure) = check_one(case, &form, script, *way) {
                    failures.push(format!("{name} ({}):\n{failure}", way.describe()));
                }
            }
        }
    }
    failures
}

/// A program, optimised or not, that is shared by all modes that run it in this form.
struct Form {
    program: Arc<Program>,
    code: Code,
}

impl Form {
    fn new(program: &Program, is_optimised: bool, cache: &Path) -> Result<Form, String> {
        let program = Arc::new(if is_optimised { optimised(program)? } else { program.clone() });
        let code = code(&program, &quick_options(cache), Tuning::default())?;
        Ok(Form { program, code })
    }

    fn switch(&self, way: Way) -> Result<Switch, String> {
        let backend = if way.is_native { self.code.backend() } else { Backend::Interpreter };
        let config = Config { fast_path: way.has_fast_path || !way.is_native, ..Config::default() };
        Switch::new(Arc::clone(&self.program), backend, config).map_err(|error| error.to_string())
    }
}

fn check_one(case: &Case, form: &Form, script: &Path, way: Way) -> Result<(), String> {
    let text = std::fs::read_to_string(script).map_err(|error| format!("{}: {error}", script.display()))?;
    let file = script.file_name().unwrap_or(script.as_os_str()).to_string_lossy().into_owned();
    let script = stf::parse(&file, &text).map_err(lines)?;
    let mut switch = form.switch(way)?;
    if let Some(entries) = &case.entries {
        let commands = control::load_entries(entries, &form.program).map_err(lines)?;
        control::apply_all(&mut switch, &commands).map_err(lines)?;
    }
    let report = stf::run(&script, &mut switch).report;
    if report.checks == 0 {
        return Err(format!("{file} checks nothing"));
    }
    if report.is_passed() { Ok(()) } else { Err(report.to_string()) }
}

fn lines<E: std::fmt::Display>(errors: Vec<E>) -> String {
    errors.iter().map(|error| format!("{error}\n")).collect()
}

/// Defines one test for each group, which calls a function with the group's name, and a test that no group is
/// missing.
#[macro_export]
macro_rules! group_tests {
    ($check:ident) => {
        $crate::group_tests!($check: aggregation course language p4_14 parser pna psa tables v1model zipline);
    };
    ($check:ident: $($group:ident)*) => {
        $(#[test]
        fn $group() {
            $check(stringify!($group));
        })*

        #[test]
        fn every_group_is_tested() {
            assert_eq!($crate::corpus::groups(), [$(stringify!($group)),*]);
        }
    };
}
