//! `simple_switch` and `simple_switch_grpc`: BMv2's switches.
//!
//! What enters: their options, as in scripts. What leaves: the arguments of `run`. Options without a counterpart
//! (BMv2's debugger, its message queues) are dropped, with a note if that may matter. The program is the output of
//! `p4c` under our name, or a `.p4` file; JSON of the reference compiler is replaced by the program that it was made
//! from.
//!
//! Both listen at the Thrift port, with P4Runtime: `simple_switch_CLI` under our name connects there.

use super::{Given, Word, usage};
use crate::Exit;
use crate::terminal::{self, say};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `simple_switch`, which is controlled by Thrift only.
    Thrift,
    /// `simple_switch_grpc`, which P4Runtime controllers use.
    Grpc,
}

/// The usage, without the name.
pub const USAGE: &str = "[OPTIONS] PROGRAM.json [-- OPTIONS OF THE TARGET]";

const HELP: &str = "\
Forwards packets with a program: `wirespeed run` with the options of BMv2's simple_switch and simple_switch_grpc.

Usage: simple_switch[_grpc] [OPTIONS] PROGRAM.json [-- OPTIONS OF THE TARGET]

  -i, --interface PORT@INTERFACE   a port; may be repeated
  --use-files SECONDS              interfaces are captures: INTERFACE_in.pcap and INTERFACE_out.pcap
  --pcap [DIR]                     write captures of all ports into a folder
  --no-p4                          start without a program: a controller sets it
  --device-id N                    the number by which controllers name the switch
  --thrift-port PORT               where simple_switch_CLI finds the switch [default: 9090]
  --log-console, --log-file FILE, -L LEVEL
  --max-port-count, --nanolog, --notifications-addr, --debugger, --dump-packet-data, --log-flush: no effect

Options of the target:
  --grpc-server-addr ADDRESS       where controllers reach the switch [default: 127.0.0.1:9559]
  --cpu-port PORT, --drop-port PORT, --priority-queues N
  --grpc-server-cert FILE, --grpc-server-key FILE, --grpc-server-cacert FILE

PROGRAM.json is what p4c or p4c-bm2-ss writes where these are links to wirespeed (`wirespeed links DIR`). Options of
`wirespeed run` may be given too, written as --name=value.";

/// Options without effect here, without and with a value.
const DROPPED: [&str; 6] =
    ["--log-console", "--log-flush", "--debugger", "--grpc-server-ssl", "--enable-swap", "--disable-swap"];
const DROPPED_WITH_VALUE: [&str; 6] =
    ["--nanolog", "--notifications-addr", "--debugger-addr", "--max-port-count", "--dump-packet-data", "--packet-in"];
/// Those of them whose effect may be missed.
const MISSED: [&str; 4] = ["--debugger", "--debugger-addr", "--packet-in", "--notifications-addr"];

/// The parsed options.
#[derive(Debug, Default)]
struct Wanted {
    ports: Vec<(String, String)>,
    are_files: bool,
    has_no_program: bool,
    program: Option<OsString>,
    device_id: Option<String>,
    thrift_port: Option<String>,
    grpc_address: Option<String>,
    log_file: Option<String>,
    /// Equivalent arguments of `run`.
    same: Vec<OsString>,
    /// Options without effect.
    missed: Vec<String>,
}

/// The arguments of `run`; messages of the run go to the file that the options name.
pub fn meant(kind: Kind, given: Vec<OsString>) -> Result<Vec<OsString>, Exit> {
    if given.iter().take_while(|word| *word != "--").any(|word| word == "-h" || word == "--help") {
        say!("{HELP}");
        std::process::exit(0);
    }
    if given.iter().any(|word| word == "-v" || word == "--version") {
        return Ok(vec!["--version".into()]);
    }
    let wanted = Wanted::read(given)?;
    if let Some(file) = &wanted.log_file {
        log_to(file)?;
    }
    for option in &wanted.missed {
        terminal::note(format!("{option} has no effect: Wirespeed has nothing of the kind"));
    }
    wanted.arguments(kind)
}

impl Wanted {
    fn read(given: Vec<OsString>) -> Result<Wanted, Exit> {
        let (mut wanted, mut given) = (Wanted::default(), Given::new(given));
        while let Some(word) = given.next("iL") {
            match word {
                Word::Plain(word) if wanted.program.is_none() => wanted.program = Some(word),
                Word::Plain(word) => {
                    let message = format!("`{}` is a second program: {HELP}", word.to_string_lossy());
                    return Err(usage(message));
                }
                // Options of the target follow, with names of their own.
                Word::Option(option) if option == "--" => {}
                Word::Option(option) => wanted.option(&option, &mut given)?,
            }
        }
        Ok(wanted)
    }

    fn option(&mut self, option: &str, given: &mut Given) -> Result<(), Exit> {
        let no_value = || usage(format!("{option} needs a value"));
        if DROPPED.contains(&option) || DROPPED_WITH_VALUE.contains(&option) {
            if DROPPED_WITH_VALUE.contains(&option) {
                given.value().ok_or_else(no_value)?;
            }
            if MISSED.contains(&option) {
                self.missed.push(option.to_owned());
            }
            return Ok(());
        }
        let own = match option {
            "--no-p4" => {
                self.has_no_program = true;
                return Ok(());
            }
            "--pcap" => {
                let folder = given.optional(|next| !is_program(next)).unwrap_or_else(|| ".".to_owned());
                self.same.extend(["--pcap".into(), folder.into()]);
                return Ok(());
            }
            "-L" | "--log-level" => "--log-level",
            "--cpu-port" | "--drop-port" | "--priority-queues" => option,
            "--grpc-server-cert" => "--p4runtime-cert",
            "--grpc-server-key" => "--p4runtime-key",
            "--grpc-server-cacert" => "--p4runtime-ca",
            "--grpc-server-with-client-auth" => return Ok(()),
            "-i" | "--interface" | "--use-files" | "--device-id" | "--thrift-port" | "--grpc-server-addr"
            | "--log-file" => {
                let value = given.value().ok_or_else(no_value)?;
                return self.value(option, value);
            }
            "--restore-state" | "--state-file-path" => {
                let message = "a state of BMv2 cannot be read; `wirespeed run --state DIR` keeps one of its own";
                return Err(usage(format!("{option}: {message}")));
            }
            other => {
                // Perhaps an option of `run`.
                let value = given.value.take().map_or_else(String::new, |value| format!("={value}"));
                self.same.push(format!("{other}{value}").into());
                return Ok(());
            }
        };
        self.same.extend([own.into(), given.value().ok_or_else(no_value)?.into()]);
        Ok(())
    }

    fn value(&mut self, option: &str, value: String) -> Result<(), Exit> {
        match option {
            "-i" | "--interface" => {
                let Some((port, name)) = value.split_once('@') else {
                    return Err(usage(format!("{option} {value}: write PORT@INTERFACE, as 1@eth0")));
                };
                self.ports.push((port.to_owned(), name.to_owned()));
            }
            "--use-files" => self.are_files = true,
            "--device-id" => self.device_id = Some(value),
            "--thrift-port" => self.thrift_port = Some(value),
            "--grpc-server-addr" => self.grpc_address = Some(value),
            _ => self.log_file = Some(value),
        }
        Ok(())
    }

    fn arguments(self, kind: Kind) -> Result<Vec<OsString>, Exit> {
        let mut words: Vec<OsString> = vec!["run".into()];
        match (self.program, self.has_no_program) {
            (Some(program), false) => words.push(source_of(Path::new(&program)).into()),
            (_, true) if kind == Kind::Grpc => {}
            (_, true) => {
                return Err(usage(
                    "--no-p4 is for simple_switch_grpc: there is no other source of a program".to_owned(),
                ));
            }
            (None, false) => {
                return Err(usage(format!(
                    "the program is missing; --no-p4 starts simple_switch_grpc without\n\n{HELP}"
                )));
            }
        }
        for (port, name) in self.ports {
            let port = match self.are_files {
                true => format!("{port}=pcap:{name}_in.pcap,{name}_out.pcap"),
                false => format!("{port}={name}"),
            };
            words.extend(["--port".into(), port.into()]);
        }
        let thrift_port = self.thrift_port.unwrap_or_else(|| THRIFT_PORT.to_owned());
        let own = match kind {
            Kind::Thrift => vec!["--p4runtime", thrift_port.as_str()],
            Kind::Grpc => {
                let address = self.grpc_address.as_deref().unwrap_or(GRPC_ADDRESS);
                vec!["--p4runtime", address, "--thrift-port", thrift_port.as_str()]
            }
        };
        let device = ["--device-id", self.device_id.as_deref().unwrap_or("0")];
        words.extend(own.into_iter().chain(device).map(OsString::from));
        words.extend(self.same);
        Ok(words)
    }
}

/// The default addresses of the switches.
const THRIFT_PORT: &str = "9090";
const GRPC_ADDRESS: &str = "127.0.0.1:9559";

fn is_program(name: &str) -> bool {
    [".json", ".p4"].iter().any(|ending| name.ends_with(ending))
}

/// The program to run: for JSON of the reference compiler the source that it names, or the one with the same name, if
/// that exists.
fn source_of(file: &Path) -> PathBuf {
    let Ok(content) = base::files::read(file, 256 << 20) else { return file.to_owned() };
    if !content.trim_ascii_start().starts_with(b"{") || control::device_config::read(&content).is_some() {
        return file.to_owned();
    }
    let json: serde_json::Value = serde_json::from_slice(&content).unwrap_or_default();
    let named = json["program"].as_str().map(PathBuf::from);
    let folder = file.parent().unwrap_or(Path::new(""));
    let name = file.with_extension("p4");
    let name = name.file_name().unwrap_or_default();
    let beside = [folder.join(name), folder.parent().unwrap_or(folder).join(name)];
    let source =
        named.into_iter().chain(beside).find(|path| path.extension().is_some_and(|it| it == "p4") && path.is_file());
    match source {
        Some(source) => {
            let (file, shown) = (file.display(), source.display());
            terminal::note(format!(
                "{file} is of the reference compiler: the program that it was made from is run, {shown}"
            ));
            source
        }
        None => file.to_owned(),
    }
}

/// Redirects messages to a file, named `FILE.txt` as by BMv2.
fn log_to(file: &str) -> Result<(), Exit> {
    let path = format!("{file}.txt");
    let opened = OpenOptions::new().append(true).create(true).open(&path);
    let done = opened.and_then(|file| Ok(nix::unistd::dup2_stderr(&file)?));
    done.map_err(|error| {
        terminal::error(format!("cannot write {path}: {error}"));
        Exit::System
    })
}

#[cfg(test)]
mod tests {
    use super::super::{line, words};
    use super::*;

    fn check(kind: Kind, text: &str) -> Result<String, Exit> {
        Wanted::read(words(text)).and_then(|wanted| wanted.arguments(kind)).map(|words| line(&words))
    }

    #[test]
    fn options_of_simple_switch() {
        assert_eq!(
            check(Kind::Thrift, "-i 1@eth0 --interface=2@eth1 -i3@eth2 --log-console --thrift-port 9091 build/x.json"),
            Ok("run build/x.json --port 1=eth0 --port 2=eth1 --port 3=eth2 --p4runtime 9091 --device-id 0".to_owned())
        );
        assert_eq!(
            check(Kind::Thrift, "--use-files 0 -i 1@a --pcap x.json -L debug -- --enable-swap --drop-port 3"),
            Ok("run x.json --port 1=pcap:a_in.pcap,a_out.pcap --p4runtime 9090 --device-id 0 --pcap . --log-level debug \
                --drop-port 3"
                .to_owned())
        );
        assert_eq!(
            check(Kind::Thrift, "--device-id 7 x.json"),
            Ok("run x.json --p4runtime 9090 --device-id 7".to_owned())
        );
        assert_eq!(check(Kind::Thrift, "-i 1@eth0"), Err(Exit::Usage), "no program");
        assert_eq!(check(Kind::Thrift, "-i eth0 x.json"), Err(Exit::Usage), "no port");
        assert_eq!(check(Kind::Thrift, "x.json --device-id"), Err(Exit::Usage), "no value");
        assert_eq!(check(Kind::Thrift, "x.json --restore-state old"), Err(Exit::Usage));
    }

    #[test]
    fn options_of_simple_switch_grpc() {
        assert_eq!(
            check(
                Kind::Grpc,
                "-i 1@s1-eth1 -i 2@s1-eth2 --pcap pcaps --nanolog ipc:///tmp/l.ipc --device-id 3 build/x.json --log-console \
                 --thrift-port 9093 -- --grpc-server-addr 0.0.0.0:50054 --cpu-port 255"
            ),
            Ok("run build/x.json --port 1=s1-eth1 --port 2=s1-eth2 --p4runtime 0.0.0.0:50054 --thrift-port 9093 \
                --device-id 3 --pcap pcaps --cpu-port 255"
                .to_owned())
        );
        assert_eq!(
            check(Kind::Grpc, "--no-p4 --workers=2"),
            Ok("run --p4runtime 127.0.0.1:9559 --thrift-port 9090 --device-id 0 --workers=2".to_owned())
        );
    }

    #[test]
    fn json_of_the_reference_compiler_stands_for_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("build")).unwrap();
        std::fs::write(path("build/x.json"), "{\"program\": \"x.p4\", \"tables\": []}").unwrap();
        assert_eq!(source_of(&path("build/x.json")), path("build/x.json"), "there is no source");
        std::fs::write(path("x.p4"), "").unwrap();
        assert_eq!(source_of(&path("build/x.json")), path("x.p4"));
        std::fs::write(path("build/x.json"), control::device_config::write("// text")).unwrap();
        assert_eq!(source_of(&path("build/x.json")), path("build/x.json"), "it holds the program");
    }
}
