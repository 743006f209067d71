//! `wirespeed bench`: the cost of a program per packet, from memory to memory or between virtual interfaces.
//!
//! What enters: a program with its entries, captures or a description of packets. What leaves: a table, or JSON with
//! the figures of every run. The measurements are made by `measure`.
//!
//! * [`report`]: figures as text and as JSON.

mod report;

use crate::Exit;
use crate::args::{BackendKind, BenchArguments, BenchCarrier};
use crate::backend;
use crate::frontend;
use crate::ports;
use crate::terminal::{self, Progress};
use generate::Description;
use measure::memory::Bench;
use measure::traffic::Trace;
use measure::veth::{Carrier, Failure, Outcome, Pairs};
use report::{Measured, MemoryReport, TableSize, VethReport};
use std::hint::black_box;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use switch::tap::{Arrival, PATTERN_BYTES_MAX, Pattern, Taken, TapFilter, Watching};
use switch::{Backend, Switch};

/// Measures a program.
pub fn bench(arguments: &BenchArguments) -> Result<Exit, Exit> {
    let compiled = frontend::load(&arguments.file, &arguments.switch.source, true)?;
    let program = compiled.program.ir();
    let number_max = program.architecture.port_max;
    let (trace, traffic) = trace(arguments, number_max)?;
    let backend = backend::choose(&compiled.program, arguments.backend, arguments.switch.cc.as_deref())?;
    let (kind, hindrance) = match &backend {
        Backend::Interpreter => (BackendKind::Interp, None),
        Backend::Native(_, plan) => (BackendKind::Native, cgen::describe(program, plan).hindrance()),
    };
    let mut switch = backend::build(&compiled.program, backend, &arguments.switch)?;
    let specialised = if arguments.specialise { specialise(arguments, &mut switch)? } else { None };
    let subject = Measured {
        specialised,
        hindrance,
        program: arguments.file.display().to_string(),
        backend: kind,
        traffic,
        frames: trace.len(),
        frame_bytes: trace.frame_bytes() as f64 / trace.len() as f64,
        tables: table_sizes(&switch),
    };
    let _watching = arguments.watch.as_deref().map(|digits| watch(digits, &switch)).transpose()?;
    if arguments.over.is_empty() {
        memory(arguments, subject, &mut switch, &trace)
    } else {
        virtual_interfaces(arguments, subject, &mut switch, &trace)
    }
}

/// Starts a tap that searches all packets for bytes, until the result is dropped.
fn watch(digits: &str, switch: &Switch) -> Result<Watching, Exit> {
    let wrong = || usage(format!("--watch: `{digits}` is not 1 to {PATTERN_BYTES_MAX} bytes in hexadecimal digits"));
    let is_right = digits.len().is_multiple_of(2) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map_while(byte).collect();
    let pattern = Pattern::new(&bytes, &vec![0xff; bytes.len()], None).filter(|_| is_right).ok_or_else(wrong)?;
    let filter = TapFilter { ports: Vec::new(), patterns: vec![pattern] };
    let copy = |arrival: Arrival<'_>| {
        black_box(arrival.bytes.to_vec());
        Taken::Kept
    };
    Ok(switch.tap().watch(filter, u64::MAX, Box::new(copy)))
}

/// The fill levels of the tables.
fn table_sizes(switch: &Switch) -> Vec<TableSize> {
    let shared = switch.shared_tables();
    let tables = shared.lock();
    let sizes = tables.tables().iter().zip(tables.lookup_bytes());
    sizes.map(|(table, bytes)| TableSize { name: table.spec().name.clone(), entries: table.len(), bytes }).collect()
}

/// Runs specialised code for the entries. Returns what it is specialised for, if it differs from the general code.
fn specialise(arguments: &BenchArguments, switch: &mut Switch) -> Result<Option<String>, Exit> {
    let Some(specialised) = switch.specialisation_input().and_then(|input| input.specialised_program()) else {
        terminal::note(match arguments.backend {
            Some(BackendKind::Interp) => "--specialise changes nothing: the interpreter runs no code",
            _ => "--specialise changes nothing: no code could be better for the entries as they are",
        });
        return Ok(None);
    };
    let _progress = Progress::start("compiling for the entries");
    let special = backend::special_code(specialised, arguments.switch.cc.as_deref()).map_err(|error| {
        terminal::error(error);
        Exit::System
    })?;
    switch.specialise(Arc::new(special));
    Ok(switch.specialisation().map(|special| special.to_string()))
}

/// The packets and their description.
fn trace(arguments: &BenchArguments, number_max: u32) -> Result<(Trace, String), Exit> {
    if arguments.in_port > number_max {
        terminal::error(format!("--in-port: the greatest port is {number_max}"));
        return Err(Exit::Usage);
    }
    if arguments.traces.is_empty() {
        let text = arguments.generate.as_deref().unwrap_or_default();
        let mut description = Description::parse(text).map_err(|why| usage(format!("--generate: {why}")))?;
        description.count = description.count.min(arguments.count.unwrap_or(usize::MAX));
        let mut trace = Trace::default();
        if !description.packets(arguments.switch.seed, |frame| trace.push(arguments.in_port, frame)) {
            return Err(no_room());
        }
        let described = if text.is_empty() { "generated".to_owned() } else { format!("generated ({text})") };
        return Ok((trace, described));
    }
    let captures = Captures { option: "--trace", files: &arguments.traces, in_port: arguments.in_port, number_max };
    captures.trace(arguments.count)
}

fn no_room() -> Exit {
    terminal::error("the packets take more memory than a measurement may have: --count N takes the first N of them");
    Exit::BadInput
}

/// Captures whose packets are sent.
pub struct Captures<'a> {
    /// The option that names them.
    pub option: &'static str,
    /// Each a file, or `PORT=FILE`.
    pub files: &'a [String],
    /// The ingress port of packets whose file does not name one.
    pub in_port: u32,
    /// The greatest port.
    pub number_max: u32,
}

impl<'a> Captures<'a> {
    /// The packets, only the first `count` of each file if that is given, and their description.
    pub fn trace(&self, count: Option<usize>) -> Result<(Trace, String), Exit> {
        let (mut trace, mut names) = (Trace::default(), Vec::new());
        for argument in self.files {
            let (port, file) = self.port_and_file(argument)?;
            let _progress = Progress::start(format!("reading {file}"));
            match trace.read(port, Path::new(file), count.unwrap_or(usize::MAX)) {
                Ok(true) => names.push(file),
                Ok(false) => return Err(no_room()),
                Err(error) => {
                    terminal::error(&error);
                    return Err(ports::exit_of(&error));
                }
            }
        }
        if trace.is_empty() {
            terminal::error(format!("there are no packets in {}", names.join(", ")));
            return Err(Exit::BadInput);
        }
        Ok((trace, format!("from {}", names.join(", "))))
    }

    fn port_and_file(&self, argument: &'a str) -> Result<(u32, &'a str), Exit> {
        let Some((number, file)) =
            argument.split_once('=').filter(|(number, _)| number.bytes().all(|it| it.is_ascii_digit()))
        else {
            return Ok((self.in_port, argument));
        };
        match number.parse() {
            Ok(number) if number <= self.number_max => Ok((number, file)),
            _ => Err(usage(format!("{} {argument}: the greatest port is {}", self.option, self.number_max))),
        }
    }
}

fn usage(message: impl std::fmt::Display) -> Exit {
    terminal::error(message);
    Exit::Usage
}

fn memory(arguments: &BenchArguments, subject: Measured, switch: &mut Switch, trace: &Trace) -> Result<Exit, Exit> {
    if arguments.workers > 1
        && let Err(reason) = switch.divides()
    {
        terminal::error(format!("{} workers: {reason}", arguments.workers));
        return Err(Exit::BadInput);
    }
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    if arguments.workers > processors {
        let workers = arguments.workers;
        terminal::warning(format!("{workers} workers share {processors} processors: the measured times are too long"));
    }
    let progress = Progress::start("measuring");
    let mut bench = Bench::new(switch, trace, arguments.burst, Duration::from_secs_f64(arguments.seconds));
    let before = *bench.switch().stats();
    let mut runs = Vec::new();
    for _ in 0..arguments.runs {
        let run = bench.run(arguments.workers);
        runs.push(run.map_err(|error| {
            terminal::error(error);
            Exit::Internal
        })?);
    }
    let after = *bench.switch().stats();
    let (latencies, stages, used) = (bench.latencies(), bench.stages(), bench.used());
    drop(progress);
    let waiting = switch.queued();
    let burst = arguments.burst;
    let report = MemoryReport { subject, burst, used, runs, before, after, waiting, latencies, stages };
    report.print(arguments.json);
    if after.sent == before.sent {
        terminal::warning("no packet was sent: the figures are for dropped packets. Do entries and packets match?");
    }
    Ok(Exit::Success)
}

impl BenchCarrier {
    fn carrier(self) -> Carrier {
        match self {
            BenchCarrier::Packet => Carrier::PacketSocket,
            BenchCarrier::PacketNoRing => Carrier::PacketSocketWithoutRing,
            BenchCarrier::Xdp => Carrier::Xdp,
            BenchCarrier::XdpGeneric => Carrier::XdpGeneric,
            BenchCarrier::Memory => Carrier::Memory,
        }
    }
}

fn virtual_interfaces(
    arguments: &BenchArguments,
    subject: Measured,
    switch: &mut Switch,
    trace: &Trace,
) -> Result<Exit, Exit> {
    if arguments.workers > 1 {
        return Err(usage("--workers: virtual interfaces are measured with one worker"));
    }
    let port = trace.frames().next().map_or(arguments.in_port, |(port, _)| port);
    if trace.frames().any(|(other, _)| other != port) {
        return Err(usage("--over: all packets come in by one interface, so all captures must be of one port"));
    }
    let frames: Vec<&[u8]> = trace.frames().map(|(_, frame)| frame).collect();
    let failed = |error: Failure| {
        terminal::error(&error);
        if matches!(error, Failure::TooLong { .. }) { Exit::BadInput } else { Exit::System }
    };
    let progress = Progress::start("measuring");
    let pairs = Pairs::new().map_err(failed)?;
    let mut outcomes: Vec<(Carrier, Vec<Outcome>)> =
        arguments.over.iter().map(|over| (over.carrier(), Vec::new())).collect();
    // The drivers take turns, so that all see the same state of the machine.
    for _ in 0..arguments.runs {
        for (carrier, outcomes) in &mut outcomes {
            let outcome = pairs.measure(*carrier, switch, port, &frames);
            outcomes.push(outcome.map_err(|error| {
                if !matches!(error, Failure::Network(_)) {
                    terminal::note(format!("this was over {}", carrier.name()));
                }
                failed(error)
            })?);
        }
    }
    drop(progress);
    VethReport { subject, outcomes }.print(arguments.json);
    Ok(Exit::Success)
}
