//! `wirespeed demo`: the example router routes a capture that this command makes, on this machine and without root.
//!
//! The result is checked: a sample of the packets also goes through the reference interpreter and must come out the
//! same, on the same ports. Without a C compiler only the interpreter runs, and there is nothing to compare.

use crate::Exit;
use crate::args::{BackendKind, DemoArguments, SourceArguments, SwitchArguments};
use crate::backend;
use crate::frontend;
use crate::reporter::aligned;
use crate::terminal::{self, Progress, grouped, say};
use base::{Bits, Rng};
use ir::DigestId;
use live::port_spec;
use live::traffic::Routes;
use live::worker::{self, Events, Port, Setup};
use live::{DriverError, PortSpec, StopFlag};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use switch::traffic::PORT_MAX;
use switch::{Backend, Output, Switch};

/// The router; also found under `apps/l3fwd` in the source tree.
const ROUTER: &str = include_str!("../../../apps/l3fwd/l3fwd.p4");

/// The most packets that are checked against the interpreter.
const SAMPLE: usize = 500;

/// The router's ports: packets enter by the first and leave by the others.
const PORTS: u32 = 4;

/// Runs the demonstration.
pub fn demo(arguments: &DemoArguments) -> Result<Exit, Exit> {
    let files = Files::prepare(&arguments.dir)?;
    let mut rng = Rng::new(1);
    let routes = Routes::random(arguments.routes, 2..=PORTS, &mut rng);
    write(&files.entries, routes.commands().as_bytes())?;
    let frames = routes.frames(arguments.packets, &mut rng);
    write_capture(&files.input, &frames)?;
    say!("router    {}", files.program.display());
    say!("routes    {} in {}", grouped(u64::from(arguments.routes)), files.entries.display());
    say!("packets   {} in {}", grouped(u64::from(arguments.packets)), files.input.display());

    let source = SourceArguments::plain();
    let started = Instant::now();
    let program = frontend::load(&files.program, &source, true)?.program;
    let backend = backend::choose(&program, None, None)?;
    let kind = if matches!(backend, Backend::Interpreter) { BackendKind::Interp } else { BackendKind::Native };
    say!("compiled  in {:.2} s", started.elapsed().as_secs_f64());

    let options = SwitchArguments::plain(source, vec![files.entries.clone()]);
    let mut switch = backend::build(&program, backend, &options)?;
    if kind == BackendKind::Native {
        let mut reference = backend::build(&program, Backend::Interpreter, &options)?;
        let checked = check_sample(&frames, &mut switch, &mut reference)?;
        say!("checked   {} packets against the interpreter: the same", grouped(checked));
    } else {
        say!("checked   nothing: without native code there is nothing to compare with the interpreter");
    }

    let memory = measure(&frames, &mut switch);
    let counts = run_capture(&files, &mut switch)?;
    report(&counts, &files, memory, frames.len(), kind);
    Ok(Exit::Success)
}

/// The files of a demonstration.
struct Files {
    program: PathBuf,
    entries: PathBuf,
    input: PathBuf,
    outputs: Vec<PathBuf>,
}

impl Files {
    fn prepare(folder: &Path) -> Result<Files, Exit> {
        std::fs::create_dir_all(folder)
            .map_err(|error| system_error(format!("cannot make the folder {}: {error}", folder.display())))?;
        let files = Files {
            program: folder.join("l3fwd.p4"),
            entries: folder.join("entries.txt"),
            input: folder.join("in.pcap"),
            outputs: (1..=PORTS).map(|port| folder.join(format!("out-{port}.pcap"))).collect(),
        };
        write(&files.program, ROUTER.as_bytes())?;
        Ok(files)
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), Exit> {
    std::fs::write(path, content).map_err(|error| system_error(format!("cannot write {}: {error}", path.display())))
}

fn system_error(error: impl std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}

fn write_capture(path: &Path, frames: &[Vec<u8>]) -> Result<(), Exit> {
    let failed = |error: DriverError| system_error(format!("cannot write {}: {error}", path.display()));
    let mut driver = live::pcap::CaptureDriver::open(None, Some(path)).map_err(failed)?;
    for (number, frame) in frames.iter().enumerate() {
        // As on a link of 10 Gbit/s.
        live::Driver::transmit(&mut driver, frame, number as u64 * 67).map_err(failed)?;
    }
    live::Driver::finish(&mut driver).map_err(failed)
}

/// Collects what a switch sends.
#[derive(Default)]
struct Collected(Vec<(u32, Vec<u8>)>);

impl Output for Collected {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push((port, frame.to_vec()));
    }
}

/// Sends a sample of the frames through both, and returns how many came out the same if all did.
fn check_sample(frames: &[Vec<u8>], native: &mut Switch, reference: &mut Switch) -> Result<u64, Exit> {
    let _progress = Progress::start("checking a sample against the interpreter");
    let step = frames.len().div_ceil(SAMPLE).max(1);
    let mut checked = 0;
    for (number, frame) in frames.iter().enumerate().step_by(step) {
        let mut results = [Collected::default(), Collected::default()];
        for (switch, result) in [&mut *native, &mut *reference].into_iter().zip(&mut results) {
            switch.receive(0, 1, frame);
            switch.run(0, result);
        }
        if results[0].0 != results[1].0 {
            terminal::error(format!("packet {} comes out differently from the interpreter", number + 1));
            return Err(Exit::BadInput);
        }
        checked += 1;
    }
    Ok(checked)
}

/// Counts frames and drops them.
#[derive(Default)]
struct Counted(u64);

impl Output for Counted {
    fn transmit(&mut self, _port: u32, _frame: &[u8], _time_ns: u64) {
        self.0 += 1;
    }
}

/// Nanoseconds per packet from memory to memory.
fn measure(frames: &[Vec<u8>], switch: &mut Switch) -> f64 {
    let mut sent = Counted::default();
    let started = Instant::now();
    for frame in frames {
        if switch.receive(0, 1, frame) {
            switch.run(0, &mut sent);
        }
    }
    switch.run(0, &mut sent);
    started.elapsed().as_nanos() as f64 / frames.len() as f64
}

/// The frames that a port sent, and the duration of the run.
struct Counts {
    ports: Vec<(u32, u64, u64)>,
    dropped: u64,
    elapsed: Duration,
}

fn run_capture(files: &Files, switch: &mut Switch) -> Result<Counts, Exit> {
    let input = files.input.display();
    let specs: Vec<String> = (1..)
        .zip(&files.outputs)
        .map(|(number, output)| {
            let input = if number == 1 { input.to_string() } else { String::new() };
            format!("{number}=pcap:{input},{}", output.display())
        })
        .collect();
    let specs = PortSpec::parse_all(&specs, PORT_MAX).map_err(system_error)?;
    let mut ports = Vec::new();
    for spec in &specs {
        let driver = port_spec::open(spec, 1).map_err(system_error)?;
        ports.push(Port { number: spec.number, driver, is_capture: true });
    }
    let dropped_before = switch.stats().drops_total();
    let started = Instant::now();
    let mut events = Silent { error: None };
    let (_, ports) =
        worker::run(switch, Setup::of_ports(ports), &StopFlag::new(), &mut events).map_err(system_error)?;
    if let Some(error) = events.error {
        return Err(system_error(error));
    }
    let count = |(number, driver): (u32, &dyn live::Driver)| {
        let counters = driver.counters().snapshot();
        (number, counters.tx_packets, counters.tx_bytes)
    };
    Ok(Counts {
        ports: ports.iter().map(count).collect(),
        dropped: switch.stats().drops_total() - dropped_before,
        elapsed: started.elapsed(),
    })
}

/// Keeps the first error of a port.
struct Silent {
    error: Option<String>,
}

impl Events for Silent {
    fn port_failed(&mut self, port: u32, error: &DriverError) {
        self.error.get_or_insert(format!("port {port}: {error}"));
    }
    fn digest(&mut self, _digest: DigestId, _values: Vec<Bits>) {}
}

fn report(counts: &Counts, files: &Files, memory_ns: f64, packets: usize, kind: BackendKind) {
    say!();
    let mut rows = vec![["port", "packets", "bytes"].map(str::to_owned).to_vec()];
    for &(port, packets, bytes) in &counts.ports {
        rows.push(vec![port.to_string(), grouped(packets), grouped(bytes)]);
    }
    rows.push(vec!["dropped".to_owned(), grouped(counts.dropped), String::new()]);
    say!("{}", aligned(&rows));
    say!();
    let seconds = counts.elapsed.as_secs_f64();
    let rate = |per_second: f64| grouped(per_second as u64);
    say!("from file to files    {} packets/s ({seconds:.3} s)", rate(packets as f64 / seconds));
    let backend = if kind == BackendKind::Native { "native code" } else { "the interpreter" };
    say!(
        "from memory to memory {} packets/s ({memory_ns:.0} ns per packet, one core, {backend})",
        rate(1e9 / memory_ns)
    );
    say!();
    say!("Look at the files:");
    let outputs: Vec<String> = files.outputs.iter().map(|path| path.display().to_string()).collect();
    say!("  tcpdump -e -c 3 -r {}", outputs[1]);
    let (program, entries) = (files.program.display(), files.entries.display());
    let command = std::env::args().next().unwrap_or_else(|| "wirespeed".to_owned());
    say!("  {command} trace {program} --entries {entries} --pcap 1={} --count 1", files.input.display());
    say!("  {command} compile {program} --emit c");
}
