//! `wirespeed run --p4runtime`: a switch that controllers reach over gRPC.
//!
//! What enters: the arguments, the switch. What leaves: a running server with a compiler for the programs that
//! controllers send. Such a program may include the built-in files and those in the folders of `-I`, and no others: a
//! client that may set a program need not be allowed to read every file.

use crate::Exit;
use crate::applications;
use crate::args::{P4RuntimeArguments, RunArguments};
use crate::backend;
use crate::frontend::Shown;
use crate::ports;
use crate::starting::Origin;
use crate::terminal;
use crate::trace::log::PacketLog;
use crate::trial;
use control::Api;
use control::api::{Code, Fault};
use live::PortSpec;
use p4runtime::{CompileDeadline, Compiled, Compiler, Feed, Options, Ports, Server};
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use switch::CpuPort;
use syntax::{DiskFiles, FileLoader};

/// The default address for controllers.
const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9559);

/// The time limit for compiling a program from a controller.
const COMPILE_TIME_MAX: Duration = Duration::from_secs(120);

/// The parts of the server that the run needs.
pub struct Controllers {
    /// Ends with the run.
    pub server: Server,
    /// The feed of packets and digests.
    pub feed: Feed,
    /// The CPU port.
    pub cpu_port: CpuPort,
}

/// The switch for which a server is started.
pub struct ServedSwitch<'a> {
    /// Its control plane.
    pub api: Arc<Api>,
    /// Its first program, if controllers may see it.
    pub started: Option<p4runtime::Started>,
    /// How to compile that again.
    pub origin: Origin,
    /// Its ports.
    pub specs: &'a [PortSpec],
    /// The log of its packets' journeys, if there is one.
    pub log: Option<PacketLog>,
}

/// Starts the server, if it is requested.
pub fn start(arguments: &RunArguments, subject: ServedSwitch<'_>) -> Result<Option<Controllers>, Exit> {
    let ServedSwitch { api, started, origin, specs, log } = subject;
    let options = &arguments.p4runtime;
    let Some(address) = options.p4runtime else { return Ok(None) };
    let address = address.unwrap_or(DEFAULT_ADDRESS);
    let cpu_port = cpu_port(options, specs)?;
    let tls = options.tls.settings(address)?;
    let named = ports::names(arguments).into_iter().map(|(number, name)| (number, name.to_owned()));
    let compiler = ProgramCompiler {
        arguments: arguments.clone(),
        origin,
        log,
        ports: specs.iter().map(|spec| spec.number).chain(options.cpu_port).collect(),
    };
    let server_options = Options {
        address,
        further: options.thrift_port.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        device_id: options.device_id,
        ports: Ports::new(named, cpu_port),
        tls,
        compile_time_max: COMPILE_TIME_MAX,
    };
    let (server, feed) =
        Server::start(api, Arc::new(compiler), started, server_options).map_err(|error| options.tls.refuse(&error))?;
    applications::start(&arguments.with, options.device_id, &server)?;
    Ok(Some(Controllers { server, feed, cpu_port }))
}

fn cpu_port(options: &P4RuntimeArguments, specs: &[PortSpec]) -> Result<CpuPort, Exit> {
    let is_taken = |port: u32| specs.iter().any(|spec| spec.number == port);
    match options.cpu_port {
        Some(port) if is_taken(port) => {
            terminal::error(format!("port {port} cannot be the CPU port and have an interface"));
            Err(Exit::Usage)
        }
        Some(port) => Ok(CpuPort::fixed(port)),
        None => Ok(CpuPort::usual(is_taken)),
    }
}

/// Compiles the programs that controllers send.
struct ProgramCompiler {
    arguments: RunArguments,
    origin: Origin,
    log: Option<PacketLog>,
    /// The ports that a program must be able to name.
    ports: Vec<u32>,
}

/// The name of a controller's program in messages.
pub const SENT_NAME: &str = "device_config.p4";

/// The maximum size of diagnostics in a response, which are sent in a header.
const DIAGNOSTICS_BYTES_MAX: usize = 3_000;

impl ProgramCompiler {
    fn build(&self, (shown, note): (Shown, Value)) -> Result<Compiled, Fault> {
        let Shown { compiled, info } = shown;
        let architecture = compiled.program.ir().architecture;
        let most = architecture.port_max;
        if let Some(port) = self.ports.iter().find(|&&port| port > most) {
            let architecture = architecture.name;
            let message = format!("the switch has a port {port}, and ports of {architecture} are at most {most}");
            return Err(Fault::new(Code::FailedPrecondition, message));
        }
        let (kind, cc) = (self.arguments.backend, self.arguments.switch.cc.as_deref());
        let (backend, warning) = backend::choose_quietly(&compiled.program, kind, cc).map_err(Fault::invalid)?;
        warning.iter().for_each(terminal::warning);
        let mut options = self.arguments.switch.clone();
        options.entries.clear();
        options.starts_anew = true;
        let mut switch = backend::set_up_with_log(compiled, backend, &options, self.log.as_ref())
            .map_err(|failure| Fault::invalid(failure.messages.join("\n")))?;
        let rates = ports::rates(&self.arguments.port_rate).and_then(|rates| ports::set_rates(&mut switch, &rates));
        rates.map_err(|_| Fault::invalid("a port whose rate is limited is not one of the program's"))?;
        Ok(Compiled { switch, info, note })
    }
}

impl Compiler for ProgramCompiler {
    fn compile(&self, text: &str, deadline: &CompileDeadline) -> Result<Compiled, Fault> {
        trial::try_program(text, &self.arguments, deadline)?;
        let source = &self.arguments.switch.source;
        let files = SentFiles { text, include: &source.include };
        let made = self.origin.compile_from(Path::new(SENT_NAME), source, &files);
        self.build(made.map_err(|diagnostics| Fault::invalid(wrong_program(&diagnostics)))?)
    }

    fn compile_started(&self) -> Option<Result<Compiled, Fault>> {
        let (file, made) = self.origin.compile(&self.arguments)?;
        let wrong = |diagnostics: String| format!("{} now has errors:\n{}", file.display(), shortened(&diagnostics));
        Some(made.map_err(|diagnostics| Fault::invalid(wrong(diagnostics))).and_then(|made| self.build(made)))
    }
}

/// The message to a controller about a program with errors.
pub fn wrong_program(diagnostics: &str) -> String {
    format!("the program has errors:\n{}", shortened(diagnostics))
}

fn shortened(diagnostics: &str) -> String {
    if diagnostics.len() <= DIAGNOSTICS_BYTES_MAX {
        return diagnostics.trim_end().to_owned();
    }
    let end = (0..=DIAGNOSTICS_BYTES_MAX).rev().find(|&end| diagnostics.is_char_boundary(end)).unwrap_or(0);
    format!("{}...", &diagnostics[..end])
}

/// A program that was sent, and the files that it may include.
pub struct SentFiles<'a> {
    /// Its text.
    pub text: &'a str,
    /// Folders whose files it may include.
    pub include: &'a [PathBuf],
}

impl FileLoader for SentFiles<'_> {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        if path == Path::new(SENT_NAME) {
            return Ok(Some(self.text.as_bytes().to_vec()));
        }
        let inside = |folder: &PathBuf| {
            let rest = path.strip_prefix(folder);
            rest.is_ok_and(|rest| {
                rest.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
            })
        };
        if self.include.iter().any(inside) { DiskFiles.load(path) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_sent_reads_the_folders_of_includes_only() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("defs.p4"), "const bit<8> X = 1;").unwrap();
        let include = [folder.path().to_owned()];
        let files = SentFiles { text: "text", include: &include };
        assert_eq!(files.load(Path::new(SENT_NAME)), Ok(Some(b"text".to_vec())));
        assert!(files.load(&folder.path().join("defs.p4")).unwrap().is_some());
        assert_eq!(files.load(&folder.path().join("../defs.p4")), Ok(None));
        assert_eq!(files.load(Path::new("/etc/hostname")), Ok(None));
    }
}
