//! The arguments of the command.

use crate::explanations::PAGES;
use crate::server_tls::ServerTlsArguments;
pub use crate::trace::arguments::TraceArguments;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use command_line::logging::LogArguments;
use command_line::tls::TlsArguments;
use live::PortSpec;
use p4_14::Standard;
use p4info::Version;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use switch::workers::{WORKERS_MAX, Wanted};
use syntax::WarningLevel;

/// A P4 compiler and software switch.
///
/// Compiles a program in P4_16 or P4_14, for v1model, PSA or PNA, to native code and forwards packets with it: on
/// interfaces, over capture files, or one packet at a time with every step shown.
#[derive(Parser, Debug)]
#[command(name = "wirespeed", version, propagate_version = true, after_help = EXAMPLES)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  wirespeed demo                                  a router at work on this machine, without root
  wirespeed check router.p4                       what is wrong with a program
  wirespeed test router.p4                        packets in, packets expected: the tests in router.stf
  wirespeed run router.p4 --entries s1.json --port 1=eth0 --port 2=eth1
  wirespeed run router.p4 --port 1=pcap:in.pcap --port 2=pcap:,out.pcap
  wirespeed net topology.json                     hosts and switches on this machine, as a topology describes them
  wirespeed ctl show ipv4_lpm                     query or control a running switch
  wirespeed trace router.p4 --entries s1.json --packet 1:ffffffffffff0000000000010806...
  wirespeed gen router.p4 --flows 1000            packets and entries for a program: a capture for each port, commands
  wirespeed bench router.p4 --entries s1.json --trace traffic.pcap

Exit status: 0 success, 1 the program or its entries are wrong, 2 wrong arguments, 3 the system refused something,
4 a bug of wirespeed.";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Check programs and show their errors and warnings
    Check(CheckArguments),
    /// Compile a program, or show one of its stages
    Compile(CompileArguments),
    /// Control a running switch: tables, counters, registers, copies, programs
    Ctl(CtlArguments),
    /// Run a program's packet tests (STF files)
    Test(TestArguments),
    /// Forward packets with a program
    Run(Box<RunArguments>),
    /// Watch a running switch: rates of ports, tables, queues, drops, load
    Top(TopArguments),
    /// Build hosts and switches on this machine from a topology.json, and run commands in them
    Net(NetArguments),
    /// Simulate a network: hosts, links and switches in modelled time
    Sim(Box<crate::sim::SimArguments>),
    /// The process that keeps a network alive
    #[command(name = crate::net::KEEPER_COMMAND, hide = true)]
    NetKeeper,
    /// Checks whether the program at standard input can be compiled
    #[command(name = crate::trial::COMMAND, hide = true)]
    TryProgram(TrialArguments),
    /// Write the files that controllers need, with the arguments of the reference compiler for BMv2
    #[command(name = crate::p4c::COMMAND, hide = true)]
    P4c(crate::p4c::P4cArguments),
    /// Show a packet's journey through a program, or through a running switch
    Trace(Box<TraceArguments>),
    /// Measure what a program costs per packet
    Bench(Box<BenchArguments>),
    /// Make packets and entries for a program, from its own parser
    Gen(Box<crate::packets_and_entries::GenArguments>),
    /// Measure on a capture which settings are best for a program, and store them for later runs
    Tune(Box<TuneArguments>),
    /// Explain the code of an error or warning
    Explain(ExplainArguments),
    /// Route packets through the example router: needs no root and takes seconds
    Demo(DemoArguments),
    #[command(flatten)]
    Application(crate::applications::Application),
    /// Make links with the names of BMv2's switches and of p4c, which scripts call
    Links(crate::tool_links::LinksArguments),
    /// Print the shell's completion script for commands and options
    Completions(crate::generated::CompletionsArguments),
    /// Write manual pages
    Man(crate::generated::ManArguments),
}

/// The source of a program.
#[derive(Args, Debug, Clone)]
pub struct SourceArguments {
    /// Folder for #include, searched before the built-in files
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', long = "undefine", value_name = "NAME")]
    pub undefine: Vec<String>,
    /// The language: p4-14 or p4-16 [default: recognised from the program]
    #[arg(long, value_name = "LANGUAGE", value_parser = standard)]
    pub std: Option<Standard>,
    /// The drop port of mark_to_drop: packets for it are dropped (v1model)
    #[arg(long, default_value_t = 511, value_name = "PORT", value_parser = clap::value_parser!(u16).range(0..=511))]
    pub drop_port: u16,
    /// The ports that belong to hosts: numbers and ranges, as in 4-7,9 (PNA) [default: those that the program names]
    #[arg(long, value_name = "PORTS", value_delimiter = ',', value_parser = port_range)]
    pub host_ports: Vec<(u32, u32)>,
    /// Whether passes are skipped, so that every step of a packet can be shown
    #[arg(skip)]
    pub as_written: bool,
    /// Names of annotations that are ignored
    #[arg(skip)]
    pub ignored_annotations: Vec<String>,
}

impl SourceArguments {
    /// The default settings.
    pub fn plain() -> SourceArguments {
        let (include, define, undefine, host_ports, ignored_annotations) = Default::default();
        let (std, drop_port, as_written) = (None, 511, false);
        SourceArguments { include, define, undefine, std, drop_port, host_ports, as_written, ignored_annotations }
    }
}

fn standard(text: &str) -> Result<Standard, String> {
    Standard::from_name(text).ok_or_else(|| "it is p4-14 or p4-16".to_owned())
}

/// Reads a port, or a range of ports.
fn port_range(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.parse::<u32>().ok();
    let range = match text.split_once('-') {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(text).map(|port| (port, port)),
    };
    range.filter(|(first, last)| first <= last).ok_or_else(|| "it is a port, or a range such as 4-7".to_owned())
}

/// Ports and ranges as [`port_range`] reads them.
pub fn port_ranges_text(ranges: &[(u32, u32)]) -> String {
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Ports and ranges of ports, from such a text.
pub fn port_ranges(text: &str) -> Option<Vec<(u32, u32)>> {
    text.split(',').filter(|part| !part.is_empty()).map(|part| port_range(part).ok()).collect()
}

/// Warning levels.
#[derive(Args, Debug, Clone, Default)]
pub struct WarningArguments {
    /// Treat this warning as an error, or all (warnings); may be repeated
    #[arg(long, value_name = "CODE|warnings", value_parser = warning_name)]
    pub deny: Vec<String>,
    /// Hide this warning, or all (warnings); may be repeated. A warning that is denied by its code stays denied
    #[arg(long, value_name = "CODE|warnings", value_parser = warning_name)]
    pub allow: Vec<String>,
}

impl WarningArguments {
    /// The level of the warning with this code: options for the code take precedence over options for all.
    pub fn level_of(&self, code: &str) -> WarningLevel {
        for name in [code, ALL_WARNINGS] {
            if self.deny.iter().any(|denied| denied == name) {
                return WarningLevel::Error;
            }
            if self.allow.iter().any(|allowed| allowed == name) {
                return WarningLevel::Silent;
            }
        }
        WarningLevel::Shown
    }
}

/// Denotes all codes.
const ALL_WARNINGS: &str = "warnings";

fn warning_name(text: &str) -> Result<String, String> {
    if text == ALL_WARNINGS {
        return Ok(text.to_owned());
    }
    let code = text.to_ascii_uppercase();
    let is_known = code.starts_with('W') && PAGES.iter().any(|(known, _)| *known == code);
    if is_known { Ok(code) } else { Err("it is `warnings` or the code of a warning, as W0301".to_owned()) }
}

/// `wirespeed check`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed check router.p4
  wirespeed check -I include -D DEBUG=1 a.p4 b.p4
  wirespeed check --summary *.p4                  one line per file
  wirespeed check --deny warnings --allow W0201 a.p4")]
pub struct CheckArguments {
    /// The programs
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub source: SourceArguments,
    #[command(flatten)]
    pub warnings: WarningArguments,
    /// One line per file instead of the full messages
    #[arg(long)]
    pub summary: bool,
    /// One line of JSON per file
    #[arg(long)]
    pub json: bool,
}

/// `wirespeed explain`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed explain E0301                         what it means, a wrong program, a right one
  wirespeed explain                               all codes")]
pub struct ExplainArguments {
    /// The codes; by default all codes with their titles
    #[arg(value_name = "CODE")]
    pub codes: Vec<String>,
}

/// A stage that `wirespeed compile` can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Emit {
    /// The text after the preprocessor
    Preprocessed,
    /// The syntax tree
    Ast,
    /// The program as P4 text, printed from the syntax tree
    P4,
    /// The intermediate representation, after the passes
    Ir,
    /// The plan: the location of variables, batch stages, tables, guarded state, each with its reason
    Plan,
    /// The low IR: the statements of generated code, batch stage by batch stage, before they are printed as C
    Lir,
    /// The C code
    C,
    /// The interface for controllers (P4Info of P4Runtime), as text; in a file in the format of its extension: .txtpb
    /// or .txt, .bin, .json
    P4info,
    /// The program as JSON, for P4Runtime controllers that send a JSON file as device config
    DeviceConfig,
    /// The prototypes of the functions that a plug-in (--extern) for the program must implement, as a C header
    ExternHeader,
    /// The time of each stage, up to loading the shared object; the cache is not used
    Times,
    /// The shared object
    So,
}

/// `wirespeed compile`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed compile router.p4 -o router.so
  wirespeed compile router.p4 --emit c | less
  wirespeed compile router.p4 --emit lir          the same before it is printed as C
  wirespeed compile router.p4 --emit plan         where everything is stored, and why
  wirespeed compile router.p4 --emit times        what takes long
  wirespeed compile router.p4 --emit p4info -o router.p4info.txtpb
  wirespeed compile router.p4 --emit p4info --for 1.3      for older clients, without what they do not know
  wirespeed compile router.p4 --emit device-config -o router.json
  wirespeed compile router.p4 --target aarch64-linux-gnu -o router.so")]
pub struct CompileArguments {
    /// The program
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub source: SourceArguments,
    #[command(flatten)]
    pub warnings: WarningArguments,
    /// The stage to write
    #[arg(long, value_enum, default_value = "so")]
    pub emit: Emit,
    /// The output file [default: standard output; for a shared object FILE with the extension .so, in this folder]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The version of P4Runtime for a P4Info, such as 1.3: later features are omitted [default: the newest]
    #[arg(long = "for", value_name = "VERSION", value_parser = p4runtime_version)]
    pub for_version: Option<Version>,
    /// The target machine, such as aarch64-linux-gnu [default: this one]
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// The C compiler [default: $CC, else cc, clang or gcc]
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// Skip the passes
    #[arg(long)]
    pub no_optimise: bool,
    /// The plan, or the times, as JSON
    #[arg(long)]
    pub json: bool,
}

fn p4runtime_version(text: &str) -> Result<Version, String> {
    Version::from_name(text).ok_or_else(|| "a version of P4Runtime is 1.0 to 1.5".to_owned())
}

/// The engine that runs the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum BackendKind {
    /// Compiled code
    Native,
    /// The reference interpreter
    Interp,
}

impl BackendKind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BackendKind::Native => "native",
            BackendKind::Interp => "interp",
        }
    }
}

/// The engine that runs the tests of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TestBackend {
    /// Compiled code
    Native,
    /// The reference interpreter
    Interp,
    /// One after the other, and the results are compared
    Both,
}

/// The names of the architectures.
pub fn architectures() -> PossibleValuesParser {
    ir::architecture::ALL.map(|it| it.name).into()
}

/// The settings for running a program.
#[derive(Args, Debug, Clone)]
pub struct SwitchArguments {
    #[command(flatten)]
    pub source: SourceArguments,
    /// Entries: switch commands (table_add ...) or a runtime JSON file; may be repeated
    #[arg(short, long, value_name = "FILE")]
    pub entries: Vec<PathBuf>,
    /// A plug-in that supplies the program's own extern functions; may be repeated
    #[arg(long = "extern", value_name = "LIB.so")]
    pub plug_ins: Vec<PathBuf>,
    /// The C compiler [default: $CC, else cc, clang or gcc]
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// Seed of the program's random numbers
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Queues per port; standard_metadata.priority chooses one
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub priority_queues: u8,
    /// Whether the start number differs for each start; where the same input must give the same output it is the seed
    #[arg(skip)]
    pub starts_anew: bool,
}

impl SwitchArguments {
    /// A program with entries, and default settings.
    pub fn plain(source: SourceArguments, entries: Vec<PathBuf>) -> SwitchArguments {
        SwitchArguments {
            source,
            entries,
            plug_ins: Vec::new(),
            cc: None,
            seed: 1,
            priority_queues: 1,
            starts_anew: false,
        }
    }
}

/// The settings for controllers.
#[derive(Args, Debug, Clone)]
pub struct P4RuntimeArguments {
    /// Serve P4Runtime controllers at this address [default if none is given: 127.0.0.1:9559]
    #[arg(
        long,
        visible_alias = "grpc-server-addr",
        value_name = "[ADDRESS:]PORT",
        num_args = 0..=1,
        value_parser = controllers_address
    )]
    pub p4runtime: Option<Option<SocketAddr>>,
    /// The device id of the switch
    #[arg(long, default_value_t = 1, value_name = "N", requires = "p4runtime")]
    pub device_id: u64,
    /// Serve controllers at this port of loopback, too, where simple_switch_CLI connects to the switch
    #[arg(long, value_name = "PORT", requires = "p4runtime", hide = true)]
    pub thrift_port: Option<u16>,
    /// The CPU port, which sends packets to controllers and receives theirs [default: that of the architecture]
    #[arg(long, value_name = "PORT", requires = "p4runtime")]
    pub cpu_port: Option<u32>,
    #[command(flatten)]
    pub tls: ServerTlsArguments,
}

/// The settings for compiling a program that a controller sends.
#[derive(Args, Debug, Clone)]
pub struct TrialArguments {
    #[command(flatten)]
    pub source: SourceArguments,
    /// The C compiler
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// The engine that will run the program
    #[arg(long, value_enum)]
    pub backend: Option<BackendKind>,
}

/// `wirespeed run`
#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  wirespeed run router.p4 --entries s1-runtime.json --port 1=eth0 --port 2=eth1
  wirespeed run router.p4 --entries cmds.txt --port 1=pcap:in.pcap,back.pcap --port 2=pcap:,out.pcapng
  wirespeed run --port 1=eth0 --port 2=eth1 --p4runtime         controllers set the program
  wirespeed run aggregator.p4 --port 1=eth0 --port 2=eth1 --port 9=timer:50ms,flush.pcap
  wirespeed run router.p4 --port 1=eth0 --port 2=eth1 --state /var/lib/router
  wirespeed run --port 1=eth0 --port 2=eth1 --state /var/lib/router       continues with the program stored there
  wirespeed run --port 1=eth0 --port 2=eth1 --p4runtime --state /var/lib/router --metrics 9090

Ctrl-C stops cleanly: packets already received are forwarded first. A second Ctrl-C stops at once.")]
pub struct RunArguments {
    /// The program [default: the one stored by --state; with --p4runtime, the one that controllers set]
    #[arg(value_name = "FILE", required_unless_present_any = ["p4runtime", "state"])]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub switch: SwitchArguments,
    /// A port: NUMBER=INTERFACE, NUMBER=xdp:INTERFACE (AF_XDP, faster), NUMBER=tap:NAME (an interface of its own),
    /// NUMBER=dpdk:DEVICE, NUMBER=pcap:INPUT,OUTPUT, NUMBER=timer:PERIOD,TEMPLATE (a capture's packets arrive
    /// periodically; an empty one without TEMPLATE), or NUMBER=null; may be repeated. See docs/guide/ports.md
    #[arg(short, long = "port", required_unless_present = "p4runtime", value_name = "PORT")]
    pub ports: Vec<String>,
    /// The rate limit of a port in megabits per second: PORT=MBIT; packets wait in the port's queues. Each packet is
    /// charged 24 additional bytes of Ethernet (preamble, checksum, gap), or with PORT=MBIT/BYTES this many; with 24
    /// or more, packets shorter than 60 bytes count as 60
    #[arg(long, value_name = "PORT=MBIT")]
    pub port_rate: Vec<String>,
    /// The number of threads that process packets, or auto, which follows the load. `wirespeed ctl workers` changes
    /// it while the switch runs
    #[arg(long, value_name = "N|auto", default_value = "1", value_parser = wanted_workers)]
    pub workers: Wanted,
    /// Open the interfaces in this network namespace: its name, or a path as /proc/PID/ns/net
    #[arg(long, value_name = "NAME|PATH")]
    pub netns: Option<PathBuf>,
    /// Record packets in captures in this folder: INTERFACE_in.pcap and INTERFACE_out.pcap
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<PathBuf>,
    #[command(flatten)]
    pub p4runtime: P4RuntimeArguments,
    /// Run the controller of an application within the switch, which it calls `here`: a command as
    /// "zipline learn --encoder here --decoder 10.0.0.2:9559"; may be repeated
    #[arg(long, value_name = "COMMAND", requires = "p4runtime", value_parser = crate::applications::controller)]
    pub with: Vec<crate::applications::Controller>,
    /// Store program, entries, groups, registers and counters in this folder, and restore them at the start
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Serve Prometheus metrics at this address, at /metrics and /healthz
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address)]
    pub metrics: Option<SocketAddr>,
    #[command(flatten)]
    pub log: LogArguments,
    /// Write the journey of every packet to this file, - for standard output: parser states, tables with keys and
    /// entries, actions. The program then runs in the interpreter, which is much slower
    #[arg(long, value_name = "FILE")]
    pub log_packets: Option<PathBuf>,
    /// The engine [default: native; the interpreter, with a warning, if there is no C compiler]
    #[arg(long, value_enum)]
    pub backend: Option<BackendKind>,
    /// Do not compile specialised code for the contents of tables
    #[arg(long)]
    pub no_specialise: bool,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Print the final counters, and digests and log lines as they occur, as JSON lines
    #[arg(long)]
    pub json: bool,
    /// Print neither the greeting with the address for controllers nor the counter line. A port that the system chose
    /// (--p4runtime 0) is printed in any case
    #[arg(short, long)]
    pub quiet: bool,
}

impl RunArguments {
    /// Whether this start gets a new start number: not if all input comes from captures.
    pub fn starts_anew(&self) -> bool {
        let is_live = |port: &String| PortSpec::parse(port, u32::MAX).is_ok_and(|port| port.kind.interface().is_some());
        self.state.is_some() || self.p4runtime.p4runtime.is_some() || self.ports.iter().any(is_live)
    }
}

/// Seconds, or a fraction of one.
fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "it is a number of seconds, such as 10 or 0.5".to_owned())
}

/// A number of workers, or `auto`.
fn wanted_workers(text: &str) -> Result<Wanted, String> {
    if text == "auto" {
        return Ok(Wanted::Auto);
    }
    let count = text.parse().ok().filter(|count| (1..=WORKERS_MAX).contains(count));
    count.map(Wanted::Fixed).ok_or_else(|| format!("it is a number from 1 to {WORKERS_MAX}, or auto"))
}

pub fn controllers_address(text: &str) -> Result<SocketAddr, String> {
    address(text).map_err(|wrong| format!("{wrong} (a program goes before this option)"))
}

/// An address as `[ADDRESS:]PORT`; loopback if there is only a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let bare = |(host, port): (&str, &str)| Some((host.parse::<Ipv6Addr>().ok()?, port.parse::<u16>().ok()?));
    text.replace("localhost:", "127.0.0.1:").parse().map_err(|_| match text.rsplit_once(':').and_then(bare) {
        Some((host, port)) => format!("write [{host}]:{port}"),
        None => "it is [ADDRESS:]PORT, as 9559, 0.0.0.0:9559 or [::1]:9559".to_owned(),
    })
}

/// `wirespeed top`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed run router.p4 --port 1=eth0 --port 2=eth1 --metrics 9090 &
  wirespeed top                                   the switch whose metrics are at 127.0.0.1:9090
  wirespeed top 192.0.2.7:9090 --interval 5
  wirespeed top --once                            one report, after an interval
  wirespeed top --json | jq .worker_load          a line each interval

Keys: q quits, p pauses, t shows the journey of the next packet and r the rates again, + and - change the interval,
arrows and pages scroll.")]
pub struct TopArguments {
    /// Where the switch serves its metrics (its --metrics)
    #[arg(value_name = "[ADDRESS:]PORT", default_value = "9090", value_parser = address)]
    pub address: SocketAddr,
    /// The interval between updates, in seconds
    #[arg(long, short, default_value = "1", value_name = "SECONDS", value_parser = interval)]
    pub interval: Interval,
    /// Print one report and end
    #[arg(long)]
    pub once: bool,
    /// Print a line of JSON for each report
    #[arg(long)]
    pub json: bool,
    /// The TLS settings for tracing packets.
    #[command(flatten)]
    pub tls: TlsArguments,
}

/// An interval between updates.
#[derive(Clone, Copy, Debug)]
pub struct Interval(pub Duration);

fn interval(text: &str) -> Result<Interval, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    let seconds = seconds.ok_or_else(|| "it is a number of seconds from 0.1 to 3600".to_owned())?;
    Ok(Interval(Duration::from_secs_f64(seconds)))
}

/// `wirespeed net`
#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  sudo wirespeed net topology.json                a prompt: h1 ping h2, pingall, h1 bash, help
  sudo wirespeed net pod-topo/topology.json --program solution/basic.p4 --command pingall
  sudo wirespeed net topology.json --program s1=firewall.p4 --program basic.p4 --pcap pcaps
  echo 'h1 ping -c 1 h2' | sudo wirespeed net topology.json

Reads the topology.json of the P4 tutorials. Paths in it may start in its folder, the one above or the current one. The
program of a switch is, in this order: what --program says, what its runtime JSON names (build/basic.json stands for
basic.p4), what the topology names, the only .p4 file of the folder.

Exit status: 1 if a command failed; else as for all commands. Nothing of the network is left when the command has ended,
however it ended.")]
pub struct NetArguments {
    /// The topology file
    #[arg(value_name = "TOPOLOGY.json")]
    pub topology: PathBuf,
    /// The program of all switches, or of one, or the folder with the programs; may be repeated
    #[arg(short, long = "program", value_name = "[SWITCH=]FILE.p4|DIR")]
    pub programs: Vec<String>,
    /// Run a command instead of the prompt; may be repeated
    #[arg(short, long = "command", value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// The folder for the switches' logs
    #[arg(long, default_value = "logs", value_name = "DIR")]
    pub log_dir: PathBuf,
    #[command(flatten)]
    pub log: LogArguments,
    /// Write the journey of every packet to the switches' logs, as `wirespeed run --log-packets` does
    #[arg(long)]
    pub log_packets: bool,
    /// Record packets of switches in captures in this folder: s1-eth1_in.pcap, s1-eth1_out.pcap
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<PathBuf>,
    /// Serve P4Runtime controllers: the first switch (device 0) at this port of 127.0.0.1, each further one at the
    /// next; or `off`
    #[arg(long, default_value = "50051", value_name = "PORT|off", value_parser = controller_port)]
    pub p4runtime: ControllerPort,
    /// Serve the metrics of the first switch at this port of loopback; those of the others at the next ports
    #[arg(long, value_name = "PORT")]
    pub metrics: Option<u16>,
    /// Store the state of each switch in a folder of its name in this one
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Lines of JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: SourceArguments,
    /// The number of threads of each switch that process packets, or auto, which follows the load
    #[arg(long, value_name = "N|auto", default_value = "1", value_parser = wanted_workers)]
    pub workers: Wanted,
    /// The engine [default: native; the interpreter, with a warning, if there is no C compiler]
    #[arg(long, value_enum)]
    pub backend: Option<BackendKind>,
    /// Do not compile specialised code for the contents of tables
    #[arg(long)]
    pub no_specialise: bool,
    /// A plug-in that supplies the programs' own extern functions; may be repeated
    #[arg(long = "extern", value_name = "LIB.so")]
    pub plug_ins: Vec<PathBuf>,
    /// The C compiler [default: $CC, else cc, clang or gcc]
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// Seed of the programs' random numbers
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}

/// `wirespeed ctl`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed ctl                                   a prompt; help lists the commands
  wirespeed ctl help add                          how a command is written
  wirespeed ctl show ipv4_lpm
  wirespeed ctl add ipv4_lpm 10.0.1.0/24 do ipv4_forward 08:00:00:00:01:11 1
  wirespeed ctl --json counters rx
  wirespeed ctl --atomic --file commands.txt      all lines or none
  wirespeed ctl watch digests
  wirespeed ctl trace --port 1                    the journey of the next packet that comes in by port 1
  wirespeed ctl --simple-switch-cli s1-commands.txt

Without COMMAND, it shows a prompt on a terminal, and else carries out the lines of standard input. Reading needs no rights. To
write, it becomes the primary controller while it works, unless another controller is primary: then it says which.

Exit status: 1 if a command was refused, 3 if the switch cannot be reached; else as for all commands.")]
pub struct CtlArguments {
    /// The command; see `wirespeed ctl help`
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
    /// Folder for #include in a program to load, searched before the built-in files
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Define a macro in programs to load
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// Undefine a macro in programs to load
    #[arg(short = 'U', long = "undefine", value_name = "NAME")]
    pub undefine: Vec<String>,
    /// Run the lines of this file; - for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "command")]
    pub file: Option<PathBuf>,
    /// Run lines of simple_switch_CLI from this file or standard input
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["command", "atomic", "json"])]
    pub simple_switch_cli: Option<Option<PathBuf>>,
    /// The address of the switch
    #[arg(short, long, value_name = "HOST:PORT", default_value = "127.0.0.1:9559")]
    pub address: String,
    /// The device id of the switch [default: the one that it reports; 1 if it reports none]
    #[arg(long, value_name = "N")]
    pub device_id: Option<u64>,
    /// Become primary with this election id [default: one that does not displace another controller]
    #[arg(long, value_name = "N", conflicts_with = "as_primary")]
    pub election_id: Option<u128>,
    /// Write with the election id of the primary controller, which stays primary
    #[arg(long)]
    pub as_primary: bool,
    /// The role to act in
    #[arg(long, value_name = "NAME")]
    pub role: Option<String>,
    #[command(flatten)]
    pub tls: TlsArguments,
    /// Print results as lines of JSON
    #[arg(long)]
    pub json: bool,
    /// Write all lines as one batch: all or none, and no packet sees a part of it
    #[arg(long)]
    pub atomic: bool,
    /// Continue after a line that is refused
    #[arg(short, long)]
    pub keep_going: bool,
}

/// The default device id of a switch.
pub const DEVICE_ID: u64 = 1;

/// The addresses of a network's switches for controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControllerPort {
    /// At this port; the others at the next ones.
    First(u16),
    /// None.
    Off,
}

fn controller_port(text: &str) -> Result<ControllerPort, String> {
    match text.parse() {
        _ if text == "off" => Ok(ControllerPort::Off),
        Ok(port) if port > 0 => Ok(ControllerPort::First(port)),
        _ => Err("it is a port from 1 to 65535, or `off`".to_owned()),
    }
}

/// `wirespeed test`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed test router.p4                        the tests in router.stf, on both backends
  wirespeed test router.p4 a.stf b.stf --backend interp

Prints a line for each file and backend, what was not as expected, and `N passed, N failed` in the end. Without any STF
file, a program passes that compiles.")]
pub struct TestArguments {
    /// The program
    #[arg(value_name = "PROGRAM")]
    pub file: PathBuf,
    /// Packet tests in the format of the Simple Test Framework [default: PROGRAM with the extension .stf, if it
    /// exists]
    #[arg(value_name = "FILE")]
    pub scripts: Vec<PathBuf>,
    #[command(flatten)]
    pub switch: SwitchArguments,
    /// The engine
    #[arg(long, value_enum, default_value = "both")]
    pub backend: TestBackend,
    /// Refuse a program that is not for this architecture [default: recognised from its `main`]
    #[arg(long, value_name = "NAME", value_parser = architectures())]
    pub arch: Option<String>,
    /// Lines of JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `wirespeed bench`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed bench router.p4 --entries routes.txt --trace traffic.pcap
  wirespeed bench router.p4 --entries routes.txt --generate count=1000000,dst=10.0.0.0/8
  wirespeed bench switch.p4 --entries macs.txt --generate dmac=02:00:00:00:00:00/40 --workers 2
  wirespeed bench router.p4 --entries routes.txt --trace 1=a.pcap --trace 2=b.pcap --json | jq .ns_per_packet.median
  sudo wirespeed bench router.p4 --entries routes.txt --over packet,xdp,memory

Without --over, packets go from memory to memory: what is measured is the program and the switch, without drivers.
With it, they go between two pairs of virtual interfaces in a network namespace of their own, which needs root and `ip`.
The output is the median of several runs, the least and the greatest.

--generate takes parts with commas between them: ipv4 or ipv6, udp or tcp, count=N, flows=N, pick=turn|uniform|zipf:S,
bytes=N|LOW-HIGH|imix, dst=PREFIX, src=PREFIX, dmac=ADDRESS[/BITS], smac=ADDRESS[/BITS], vlan=ID, dport=N, sport=N;
vxlan=VNI or gre or gre=KEY for a tunnel, tdst=PREFIX, tsrc=PREFIX. What is left open is random. More is in
docs/guide/bench.md. `wirespeed gen` makes packets for the program, with entries.")]
pub struct BenchArguments {
    /// The program
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub switch: SwitchArguments,
    /// A capture whose packets are sent, and their ingress port; may be repeated
    #[arg(long = "trace", value_name = "[PORT=]FILE", conflicts_with = "generate")]
    pub traces: Vec<String>,
    /// Packets to generate instead [default: ipv4 and udp, 65,536 to random addresses in 10.0.0.0/8]
    #[arg(long, value_name = "DESCRIPTION")]
    pub generate: Option<String>,
    /// The ingress port of packets
    #[arg(long, default_value_t = 1, value_name = "PORT")]
    pub in_port: u32,
    /// Use only the first N packets
    #[arg(long, value_name = "N", value_parser = count)]
    pub count: Option<usize>,
    /// Drivers to use, separated by commas; they take turns
    #[arg(long, value_enum, value_name = "DRIVER", value_delimiter = ',')]
    pub over: Vec<BenchCarrier>,
    /// Workers, each with a core of its own
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = workers)]
    pub workers: usize,
    /// Packets per burst, at most 4096; latencies are those of at most 64
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = burst)]
    pub burst: usize,
    /// Runs
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = runs)]
    pub runs: usize,
    /// The approximate duration of a run
    #[arg(long, default_value_t = 0.3, value_name = "SECONDS", value_parser = run_seconds)]
    pub seconds: f64,
    /// The engine [default: native; the interpreter, with a warning, if there is no C compiler]
    #[arg(long, value_enum)]
    pub backend: Option<BackendKind>,
    /// Measure specialised code for the entries, which a running switch compiles once its tables are stable
    #[arg(long)]
    pub specialise: bool,
    /// Meanwhile search packets for these bytes, in hexadecimal digits, as `ctl trace` does; matching ones are copied
    #[arg(long, value_name = "BYTES")]
    pub watch: Option<String>,
    /// One JSON object, with the figures of every run
    #[arg(long)]
    pub json: bool,
}

/// `wirespeed tune`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed tune router.p4 --entries routes.txt --pcap traffic.pcap
  wirespeed compile router.p4 --emit plan         shows what was found
  wirespeed tune router.p4 --forget

What is found is kept beside the compiled code, for this very program on this machine. The packets that leave are the
same.")]
pub struct TuneArguments {
    /// The program
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub switch: SwitchArguments,
    /// A capture whose packets are sent, and their ingress port; may be repeated
    #[arg(long = "pcap", value_name = "[PORT=]FILE", required_unless_present = "forget")]
    pub captures: Vec<String>,
    /// The ingress port of packets
    #[arg(long, default_value_t = 1, value_name = "PORT")]
    pub in_port: u32,
    /// Use only the first N packets
    #[arg(long, value_name = "N", value_parser = count)]
    pub count: Option<usize>,
    /// Runs of each setting
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = runs)]
    pub runs: usize,
    /// The approximate duration of a run
    #[arg(long, default_value_t = 0.1, value_name = "SECONDS", value_parser = run_seconds)]
    pub seconds: f64,
    /// Delete the stored settings of the program
    #[arg(long, conflicts_with = "captures")]
    pub forget: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// A driver to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum BenchCarrier {
    /// Packet sockets with rings, as with --port 1=eth0
    Packet,
    /// The same without a transmit ring
    PacketNoRing,
    /// AF_XDP, as with --port 1=xdp:eth0
    Xdp,
    /// AF_XDP with its program in the network stack
    XdpGeneric,
    /// Generators in memory: the cost without real drivers
    Memory,
}

fn between(text: &str, least: usize, most: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("it is a number from {least} to {most}"))
}

fn count(text: &str) -> Result<usize, String> {
    between(text, 1, 1 << 30)
}

fn workers(text: &str) -> Result<usize, String> {
    between(text, 1, 256)
}

fn burst(text: &str) -> Result<usize, String> {
    between(text, 1, 4096)
}

fn runs(text: &str) -> Result<usize, String> {
    between(text, 1, 1000)
}

fn run_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.001..=60.0).contains(seconds));
    seconds.ok_or_else(|| "it is a number of seconds from 0.001 to 60".to_owned())
}

/// `wirespeed demo`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed demo
  wirespeed demo --packets 1000000 --routes 10000 --dir larger-demo    more of both, elsewhere")]
pub struct DemoArguments {
    /// Packets to route
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub packets: u32,
    /// Routes to install
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub routes: u32,
    /// The folder for the files
    #[arg(long, default_value = "wirespeed-demo", value_name = "DIR")]
    pub dir: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    /// This command and its visible subcommands whose help has no examples.
    fn without_examples(command: &clap::Command) -> Vec<String> {
        let is_shown = |it: &&clap::Command| !it.is_hide_set() && it.get_name() != "help";
        let inner: Vec<&clap::Command> = command.get_subcommands().filter(is_shown).collect();
        let help = command.clone().render_long_help().to_string();
        let own = (!help.contains("\nExamples:\n")).then(|| command.get_name().to_owned());
        own.into_iter().chain(inner.into_iter().flat_map(without_examples)).collect()
    }

    #[test]
    fn the_help_of_every_command_has_examples() {
        assert_eq!(without_examples(&Arguments::command()), Vec::<String>::new());
    }

    #[test]
    fn addresses() {
        assert_eq!(address("9560"), Ok("127.0.0.1:9560".parse().unwrap()));
        assert_eq!(address("0.0.0.0:1"), Ok("0.0.0.0:1".parse().unwrap()));
        assert_eq!(address("localhost:2"), Ok("127.0.0.1:2".parse().unwrap()));
        assert_eq!(address("[::1]:3"), Ok("[::1]:3".parse().unwrap()));
        assert_eq!(address("::1:3"), Err("write [::1]:3".to_owned()));
        assert!(address("router.p4").is_err());
    }
}
