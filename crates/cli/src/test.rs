//! `wirespeed test`: a program's packet tests, on the interpreter, on native code, or on both.
//!
//! What enters: a program and STF files. What leaves: a line for each file and backend, the unmet expectations, and a
//! summary. The interpreter runs the program as it was written, native code after all passes: a difference between
//! the two, even in what the file does not check, is a failure.

use crate::Exit;
use crate::args::{BackendKind, TestArguments, TestBackend};
use crate::backend;
use crate::caught::caught;
use crate::frontend;
use crate::terminal::{self, Progress, say};
use serde_json::json;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use stf::observation::{Order, difference};
use stf::{Failure, Observation, RunResult, Script};
use switch::{Backend, Switch};
use wirespeed::Program;

/// Runs the tests. Succeeds if all passed.
pub fn test(arguments: &TestArguments) -> Result<Exit, Exit> {
    let subject = caught(|| TestedProgram::load(arguments)).unwrap_or_else(|message| {
        terminal::error(message);
        None
    });
    let mut tester = Tester { arguments, subject, passed: 0, failed: 0, is_cache_noted: Cell::new(false) };
    let scripts = scripts(arguments);
    if scripts.is_empty() {
        tester.compile_only();
    }
    for script in &scripts {
        tester.script(script);
    }
    let Tester { passed, failed, .. } = tester;
    if arguments.json {
        say!("{}", json!({"event": "summary", "passed": passed, "failed": failed}));
    } else {
        say!("{passed} passed, {failed} failed");
    }
    Ok(if failed == 0 { Exit::Success } else { Exit::BadInput })
}

/// The files to run: the given ones, or the one beside the program.
fn scripts(arguments: &TestArguments) -> Vec<PathBuf> {
    let beside = arguments.file.with_extension("stf");
    match arguments.scripts.is_empty() {
        true if beside.is_file() => vec![beside],
        _ => arguments.scripts.clone(),
    }
}

/// The program under test, in both forms.
struct TestedProgram {
    /// As it was written.
    written: Program,
    /// After all passes.
    optimised: Program,
}

impl TestedProgram {
    /// None after the program's errors were shown.
    fn load(arguments: &TestArguments) -> Option<TestedProgram> {
        let architecture = arguments.arch.as_deref();
        let written = frontend::load_for(&arguments.file, &arguments.switch.source, architecture).ok()?;
        Some(TestedProgram { optimised: written.optimised(), written })
    }
}

/// The result of one file on one backend.
enum Verdict {
    /// It was run.
    Ran(Box<RunResult>),
    /// It could not be run, for this reason.
    NotRun(String),
    /// The program was compiled: there is nothing to run.
    Compiled,
}

impl Verdict {
    fn is_passed(&self) -> bool {
        match self {
            Verdict::Ran(outcome) => outcome.report.is_passed(),
            Verdict::NotRun(_) => false,
            Verdict::Compiled => true,
        }
    }
}

struct Tester<'a> {
    arguments: &'a TestArguments,
    /// None: the program has errors.
    subject: Option<TestedProgram>,
    passed: usize,
    failed: usize,
    /// Whether a note has said that the code is not in the cache: it is the same for all files.
    is_cache_noted: Cell<bool>,
}

impl Tester<'_> {
    fn backends(&self) -> &'static [BackendKind] {
        match self.arguments.backend {
            TestBackend::Interp => &[BackendKind::Interp],
            TestBackend::Native => &[BackendKind::Native],
            TestBackend::Both => &[BackendKind::Interp, BackendKind::Native],
        }
    }

    /// Without a test, a program that compiles on the backends passes.
    fn compile_only(&mut self) {
        let file = self.arguments.file.clone();
        for &kind in self.backends() {
            let verdict = match self.switch(kind) {
                Ok(_) => Verdict::Compiled,
                Err(message) => Verdict::NotRun(message),
            };
            self.report(&file, kind, &verdict);
        }
    }

    fn script(&mut self, file: &Path) {
        let mut script = read(file);
        let mut observations: Vec<Observation> = Vec::new();
        for &kind in self.backends() {
            let verdict = match &mut script {
                Ok(script) => self.run(script, kind),
                // Errors of the file are the same for all backends and are shown once.
                Err(message) if self.arguments.json => Verdict::NotRun(message.clone()),
                Err(message) => Verdict::NotRun(std::mem::replace(message, "for the same reasons".to_owned())),
            };
            self.report(file, kind, &verdict);
            if let Verdict::Ran(outcome) = verdict {
                observations.push(outcome.observation);
            }
        }
        if let [interpreted, native] = &observations[..]
            && let Some(text) = difference(interpreted, native, Order::Same)
        {
            self.show_difference(file, &text);
        }
    }

    fn run(&self, script: &Script, kind: BackendKind) -> Verdict {
        let result = caught(|| {
            let mut switch = self.switch(kind)?;
            Ok(stf::run(script, &mut switch))
        });
        match result.unwrap_or_else(Err) {
            Ok(outcome) => Verdict::Ran(Box::new(outcome)),
            Err(message) => Verdict::NotRun(message),
        }
    }

    /// A fresh switch with the entries of the command line.
    fn switch(&self, kind: BackendKind) -> Result<Switch, String> {
        let subject = self.subject.as_ref().ok_or("the program does not compile")?;
        let (program, backend) = match kind {
            BackendKind::Interp => (&subject.written, Backend::Interpreter),
            BackendKind::Native => {
                let _progress = Progress::start("compiling to native code");
                let code = subject.optimised.code(&backend::compiler(self.arguments.switch.cc.as_deref()));
                (&subject.optimised, code.map_err(|error| error.to_string())?.backend())
            }
        };
        if let Some(text) = backend::cache_note(&backend)
            && !self.is_cache_noted.replace(true)
        {
            terminal::note(text);
        }
        let built = backend::set_up(program, backend, &self.arguments.switch);
        built.map_err(|failure| failure.messages.join("\n"))
    }

    /// Counts and shows a verdict.
    fn report(&mut self, file: &Path, kind: BackendKind, verdict: &Verdict) {
        let is_passed = verdict.is_passed();
        *(if is_passed { &mut self.passed } else { &mut self.failed }) += 1;
        if self.arguments.json {
            say!("{}", as_json(file, kind, verdict));
            return;
        }
        let word = if is_passed { "passed" } else { "failed" };
        let title = format!("{} ({}): {word}", file.display(), kind.name());
        match verdict {
            Verdict::Ran(outcome) => {
                let is_empty = is_passed && outcome.report.packets == 0 && outcome.report.checks == 0;
                // The reference test driver takes such files as tests that a program can be loaded.
                let hint = if is_empty { ", the file sends no packets and expects nothing" } else { "" };
                say!("{title}{hint}");
                let notes = outcome.report.notes.iter().map(|note| format!("note: {note}"));
                let failures = outcome.report.failures.iter().map(|failure| self.failure(file, failure));
                notes.chain(failures).for_each(|text| say!("{}", indented(&text)));
            }
            Verdict::NotRun(message) => say!("{title}\n{}", indented(message)),
            Verdict::Compiled => say!("{title}, compiled (there is no STF file)"),
        }
    }

    /// A failure, with the command for a closer look.
    fn failure(&self, file: &Path, failure: &Failure) -> String {
        match failure.cause_line {
            Some(line) => format!(
                "{failure}\n  help: it came from line {line}; see its journey with: wirespeed trace {} --stf {}",
                self.arguments.file.display(),
                file.display()
            ),
            None => failure.to_string(),
        }
    }

    fn show_difference(&mut self, file: &Path, text: &str) {
        self.failed += 1;
        let what = "the interpreter (first) and native code (second) differ, which is a bug of ours";
        if self.arguments.json {
            let file = file.display().to_string();
            say!("{}", json!({"event": "test", "file": file, "backend": "both", "passed": false, "error": text}));
        } else {
            say!("{} (both): failed\n{}", file.display(), indented(&format!("{what}: {text}")));
        }
    }
}

/// The longest file of packet tests.
const SCRIPT_BYTES_MAX: u64 = 256 << 20;

/// The commands of a file, or its errors.
fn read(file: &Path) -> Result<Script, String> {
    let bytes = base::files::read(file, SCRIPT_BYTES_MAX)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let parsed = stf::parse(&file.display().to_string(), &String::from_utf8_lossy(&bytes));
    parsed.map_err(|errors| errors.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn as_json(file: &Path, kind: BackendKind, verdict: &Verdict) -> serde_json::Value {
    let mut line = json!({
        "event": "test",
        "file": file.display().to_string(),
        "backend": kind.name(),
        "passed": verdict.is_passed(),
    });
    let item = |it: &Failure| {
        json!({
            "line": it.line,
            "port": it.packet.map(|(port, _)| port),
            "packet": it.packet.map(|(_, number)| number),
            "cause_line": it.cause_line,
            "message": it.message,
        })
    };
    match verdict {
        Verdict::Ran(outcome) => {
            let report = &outcome.report;
            line["packets"] = report.packets.into();
            line["checks"] = report.checks.into();
            line["failures"] = report.failures.iter().map(item).collect();
            line["notes"] = report.notes.iter().map(item).collect();
        }
        Verdict::NotRun(message) => line["error"] = message.clone().into(),
        Verdict::Compiled => {}
    }
    line
}

/// Parses an STF file for other commands; shows its errors.
pub fn load_script(file: &Path) -> Result<Script, Exit> {
    read(file).map_err(|message| {
        terminal::error(message);
        Exit::BadInput
    })
}
