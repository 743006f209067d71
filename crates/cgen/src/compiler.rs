//! The system's C compiler: which it is, its flags, and runs of it.
//!
//! What enters: options, and lists of arguments. What leaves: that all runs succeeded, or what the first that failed
//! has printed.

use crate::compile::{CompileError, CompileOptions, Optimise};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::num::NonZero;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The flag for code for the processor that the compiler runs on.
const THIS_PROCESSOR: &str = "-march=native";

/// A C compiler that is installed.
pub(crate) struct Compiler {
    /// The command and its first arguments.
    pub words: Vec<String>,
    /// The output of `--version`.
    pub version: String,
}

impl Compiler {
    /// The compiler for these options.
    pub fn find(options: &CompileOptions) -> Result<Compiler, CompileError> {
        let from_environment = || std::env::var("CC").ok().filter(|value| !value.trim().is_empty());
        let candidates: Vec<String> = match (&options.compiler, &options.target) {
            (Some(compiler), _) => vec![compiler.clone()],
            (None, Some(target)) => vec![format!("{target}-gcc"), format!("{target}-clang"), "clang".into()],
            (None, None) => match from_environment() {
                Some(compiler) => vec![compiler],
                None => vec!["cc".into(), "clang".into(), "gcc".into()],
            },
        };
        for candidate in &candidates {
            let words: Vec<String> = candidate.split_whitespace().map(str::to_owned).collect();
            let Some((program, arguments)) = words.split_first() else { continue };
            let output = Command::new(program).args(arguments).arg("--version").output();
            if let Ok(output) = output.as_ref().map(|output| String::from_utf8_lossy(&output.stdout).into_owned()) {
                let compiler = Compiler { words, version: output };
                // A clang may support the machine without having its libraries.
                if candidate != "clang" || options.target.as_ref().is_none_or(|target| compiler.links_for(target)) {
                    return Ok(compiler);
                }
            }
        }
        Err(match &options.target {
            Some(target) => CompileError::NoCrossCompiler { target: target.clone(), tried: candidates },
            None => CompileError::NoCompiler { tried: candidates },
        })
    }

    /// Whether it makes shared objects for another machine.
    fn links_for(&self, target: &str) -> bool {
        let mut command = self.command();
        command.args(["-x", "c", "-shared", "-fPIC", "-o", "/dev/null", "/dev/null"]);
        command.arg(format!("--target={target}")).output().is_ok_and(|output| output.status.success())
    }

    fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }

    /// An error of the system about the compiler.
    fn io(&self, error: io::Error) -> CompileError {
        CompileError::Io { path: self.words[0].clone().into(), error }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// The same, with a umask: a linker gives its output a mode of its own, and replaces a file that is there already.
    fn private_command(&self) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "umask 077 && exec \"$0\" \"$@\""]).args(&self.words);
        command
    }
}

/// The flags for these options, but for what is made.
pub(crate) fn flags(options: &CompileOptions, compiler: &Compiler) -> Vec<OsString> {
    let mut flags = vec!["-std=gnu11", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-g1"];
    flags.push(match options.optimise {
        Optimise::None => "-O0",
        Optimise::Full => "-O3",
    });
    if compiler.is_clang() {
        // Generated code nests as deeply as the program.
        flags.push("-fbracket-depth=65536");
    }
    // Some compilers only warn about these, and the code would be wrong.
    flags.extend(["-Werror=incompatible-pointer-types", "-Werror=int-conversion"]);
    if options.sanitize {
        flags.extend(["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]);
    }
    if options.deny_warnings {
        flags.extend(["-Wall", "-Wextra", "-Wshadow", "-Werror"]);
    }
    let mut flags: Vec<OsString> = flags.into_iter().map(Into::into).collect();
    match &options.target {
        None => flags.push(THIS_PROCESSOR.into()),
        Some(target) if compiler.is_clang() => flags.push(format!("--target={target}").into()),
        Some(_) => {}
    }
    flags
}

/// The most runs at once: each may take some 300 MB.
const AT_ONCE_MAX: usize = 8;

/// Runs the compiler once with each list of arguments, on all processors. Its temporary files go to this folder, if it
/// is not the usual one. Returns the error of the first run that fails, and waits for those that have begun.
pub(crate) fn run_all(
    compiler: &Compiler,
    arguments: Vec<Vec<OsString>>,
    scratch_folder: Option<&Path>,
) -> Result<(), CompileError> {
    let at_once = std::thread::available_parallelism().map_or(1, NonZero::get).min(AT_ONCE_MAX);
    let mut running = VecDeque::with_capacity(at_once);
    let mut result = Ok(());
    let mut left = arguments.into_iter();
    loop {
        while running.len() < at_once && result.is_ok() {
            let Some(arguments) = left.next() else { break };
            match Run::start(compiler, arguments, scratch_folder) {
                Ok(run) => running.push_back(run),
                Err(error) => result = Err(error),
            }
        }
        let Some(run) = running.pop_front() else { return result };
        result = result.and(run.finish());
    }
}

/// A compiler that runs.
struct Run<'a> {
    compiler: &'a Compiler,
    arguments: Vec<OsString>,
    scratch_folder: Option<&'a Path>,
    process: Child,
}

impl<'a> Run<'a> {
    fn start(
        compiler: &'a Compiler,
        arguments: Vec<OsString>,
        scratch_folder: Option<&'a Path>,
    ) -> Result<Run<'a>, CompileError> {
        let mut command = compiler.private_command();
        if let Some(folder) = scratch_folder {
            command.env("TMPDIR", folder);
        }
        command.args(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let process = command.spawn().map_err(|error| compiler.io(error))?;
        Ok(Run { compiler, arguments, scratch_folder, process })
    }

    fn finish(self) -> Result<(), CompileError> {
        let Run { compiler, mut arguments, scratch_folder, process } = self;
        let output = process.wait_with_output().map_err(|error| compiler.io(error))?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if stderr.contains("native") && arguments.iter().any(|argument| argument == THIS_PROCESSOR) {
            // The compiler does not know the processor that it runs on: a cross compiler under an emulator.
            arguments.retain(|argument| argument != THIS_PROCESSOR);
            return Run::start(compiler, arguments, scratch_folder)?.finish();
        }
        let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let command = format!("{} {}", compiler.words.join(" "), words.join(" "));
        Err(CompileError::Failed { command, stderr })
    }
}
