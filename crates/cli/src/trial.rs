//! Programs that controllers send are compiled in a process of their own first.
//!
//! What enters: the text of a program. What leaves: nothing, if it can be compiled; or the errors. A process can be
//! killed at any moment, with the C compiler that it has started, and its memory is freed; a thread cannot. Its
//! output is in the cache afterwards, so compiling in the switch itself is fast.

use crate::Exit;
use crate::args::{RunArguments, SourceArguments, TrialArguments, port_ranges_text};
use crate::backend;
use crate::controllers::{self, SentFiles};
use crate::frontend::{self, Shown};
use crate::terminal;
use control::api::{Code, Fault};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use p4_14::Standard;
use p4runtime::CompileDeadline;
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// The name of the command that the process runs.
pub const COMMAND: &str = "try-program";

/// The limits of memory, and of processor time in seconds, for compiling a program.
const MEMORY_BYTES_MAX: u64 = 8 << 30;
const PROCESSOR_SECONDS_MAX: u64 = 240;

/// The polling interval for the end of the process.
const INTERVAL: Duration = Duration::from_millis(10);

/// Checks whether a program can be compiled for a run, as long as `deadline` allows.
pub fn try_program(text: &str, arguments: &RunArguments, deadline: &CompileDeadline) -> Result<(), Fault> {
    let system = |error: std::io::Error| Fault::new(Code::Unavailable, format!("cannot start the compiler: {error}"));
    let (sent, said) = (file_of(text.as_bytes()).map_err(system)?, tempfile::tempfile().map_err(system)?);
    let mut command = Command::new("/proc/self/exe");
    command.arg0("wirespeed").arg(COMMAND).args(options(arguments));
    command.stdin(sent).stdout(said.try_clone().map_err(system)?).stderr(Stdio::null());
    // A process group, so that all of it can be killed.
    let mut child = Trial(command.process_group(0).spawn().map_err(system)?);
    let status = loop {
        if let Some(status) = child.0.try_wait().map_err(system)? {
            break status;
        }
        if let Some(fault) = deadline.stop_reason() {
            return Err(fault);
        }
        std::thread::sleep(INTERVAL);
    };
    verdict(status, said)
}

/// The process. It is killed when this is dropped.
struct Trial(Child);

impl Drop for Trial {
    fn drop(&mut self) {
        let group = Pid::from_raw(self.0.id().cast_signed());
        // Children of the process may still run. If there are none, nothing happens.
        let _gone = killpg(group, Signal::SIGKILL);
        let _waited = self.0.wait();
    }
}

fn file_of(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn verdict(status: ExitStatus, mut said: File) -> Result<(), Fault> {
    if status.success() {
        return Ok(());
    }
    let mut message = Vec::new();
    let read = said.rewind().and_then(|()| said.read_to_end(&mut message));
    let message = String::from_utf8_lossy(&message).trim_end().to_owned();
    match (status.code(), read) {
        (Some(1), Ok(_)) if !message.is_empty() => Err(Fault::invalid(message)),
        _ => {
            let how = match (status.signal(), status.code()) {
                (Some(signal), _) => format!("signal {signal}"),
                (None, code) => format!("exit status {}", code.unwrap_or(-1)),
            };
            Err(Fault::new(
                Code::ResourceExhausted,
                format!(
                    "the compiler gave up on the program ({how}): it may need more than the {} GiB of memory that it has",
                    MEMORY_BYTES_MAX >> 30
                ),
            ))
        }
    }
}

/// The arguments of a run that affect its compilation.
fn options(arguments: &RunArguments) -> Vec<std::ffi::OsString> {
    let SourceArguments {
        include,
        define,
        undefine,
        std,
        drop_port,
        host_ports,
        as_written: _,
        ignored_annotations: _,
    } = &arguments.switch.source;
    let mut options: Vec<std::ffi::OsString> = vec!["--drop-port".into(), drop_port.to_string().into()];
    if !host_ports.is_empty() {
        options.extend(["--host-ports".into(), port_ranges_text(host_ports).into()]);
    }
    include.iter().for_each(|folder| options.extend(["-I".into(), folder.into()]));
    define.iter().for_each(|define| options.extend(["-D".into(), define.into()]));
    undefine.iter().for_each(|name| options.extend(["-U".into(), name.into()]));
    let name = |standard: Standard| if standard == Standard::P4_14 { "p4-14" } else { "p4-16" };
    std.iter().for_each(|&standard| options.extend(["--std".into(), name(standard).into()]));
    arguments.switch.cc.iter().for_each(|cc| options.extend(["--cc".into(), cc.into()]));
    arguments.backend.iter().for_each(|backend| options.extend(["--backend".into(), backend.name().into()]));
    options
}

/// The process: compiles the program from standard input, and prints its errors.
pub fn carry_out(arguments: &TrialArguments) -> Result<Exit, Exit> {
    // This never fails; without it the machine's limits apply. The second limit holds even if the parent no longer
    // waits.
    let _limited = setrlimit(Resource::RLIMIT_AS, MEMORY_BYTES_MAX, MEMORY_BYTES_MAX);
    let _limited = setrlimit(Resource::RLIMIT_CPU, PROCESSOR_SECONDS_MAX, PROCESSOR_SECONDS_MAX);
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|_| Exit::System)?;
    let files = SentFiles { text: &text, include: &arguments.source.include };
    let shown = frontend::show_program(Path::new(controllers::SENT_NAME), &arguments.source, &files);
    let Shown { compiled, .. } = shown.map_err(|diagnostics| wrong(&controllers::wrong_program(&diagnostics)))?;
    let chosen = backend::choose_quietly(&compiled.program, arguments.backend, arguments.cc.as_deref());
    chosen.map(|_| Exit::Success).map_err(|message| wrong(&message))
}

fn wrong(message: &str) -> Exit {
    terminal::say!("{message}");
    Exit::BadInput
}
