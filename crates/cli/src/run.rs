//! `wirespeed run`: forward packets until the ports are exhausted or the user stops it.

use crate::Exit;
use crate::args::RunArguments;
use crate::backend;
use crate::frontend;
use crate::terminal::{self, grouped};
use base::Bits;
use ir::{DigestId, Program};
use live::port_spec;
use live::worker::{self, Ended, Events, Port, Ports};
use live::{CounterSnapshot, DriverError, PortKind, PortSpec, StopFlag};
use serde_json::json;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use switch::traffic::PORT_MAX;
use switch::{DropReason, Switch};

/// Runs a program on ports.
pub fn run(arguments: &RunArguments) -> Result<Exit, Exit> {
    let specs = PortSpec::parse_all(&arguments.ports, PORT_MAX).map_err(|error| {
        terminal::error(error);
        Exit::Usage
    })?;
    let compiled = frontend::load(&arguments.file, &arguments.switch.source, true)?;
    let backend = backend::choose(&compiled, arguments.backend, arguments.cc.clone())?;
    let program = Arc::new(compiled.program);
    let mut switch = backend::build(Arc::clone(&program), backend, &arguments.switch)?;
    let ports = open_ports(&specs)?;
    let stop = StopFlag::on_signals().map_err(|error| system_error(format!("cannot catch signals: {error}")))?;
    if let Some(seconds) = arguments.duration {
        let stop = stop.clone();
        // Ends with the process; it holds nothing but the flag.
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(seconds));
            stop.stop();
        });
    }
    if !arguments.quiet && !arguments.json {
        eprintln!("{} on {}", arguments.file.display(), arguments.ports.join(", "));
    }
    let mut reporter = Reporter::new(arguments, program);
    let started = Instant::now();
    let result = worker::run(&mut switch, ports, &stop, &mut reporter);
    let (ended, ports) = result.map_err(|error| system_error(format!("cannot wait for packets: {error}")))?;
    reporter.finish(&switch, &ports, ended, started.elapsed());
    Ok(reporter.exit)
}

fn open_ports(specs: &[PortSpec]) -> Result<Vec<Port>, Exit> {
    let mut ports = Vec::new();
    for spec in specs {
        let driver = port_spec::open(spec).map_err(|error| system_error(format!("port {}: {error}", spec.number)))?;
        let is_capture = !matches!(spec.kind, PortKind::Interface(_));
        ports.push(Port { number: spec.number, driver, is_capture });
    }
    Ok(ports)
}

fn system_error(error: impl std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}

/// Tells the user how the run goes.
struct Reporter {
    program: Arc<Program>,
    json: bool,
    /// Whether the counter line is drawn: on a terminal, over itself.
    live_line: bool,
    last: Vec<CounterSnapshot>,
    last_at: Instant,
    /// How the command will end: a port that failed makes it a failure.
    exit: Exit,
}

impl Reporter {
    fn new(arguments: &RunArguments, program: Arc<Program>) -> Reporter {
        let live_line = !arguments.quiet && !arguments.json && std::io::stderr().is_terminal();
        let json = arguments.json;
        Reporter { program, json, live_line, last: Vec::new(), last_at: Instant::now(), exit: Exit::Success }
    }

    fn clear_line(&self) {
        if self.live_line {
            eprint!("\r\x1b[K");
        }
    }

    fn finish(&mut self, switch: &Switch, ports: &Ports, ended: Ended, elapsed: Duration) {
        self.clear_line();
        if self.json {
            println!("{}", summary_json(switch, ports, ended, elapsed));
        } else {
            print_summary(switch, ports, elapsed);
        }
    }
}

impl Events for Reporter {
    fn tick(&mut self, _switch: &Switch, ports: &Ports) {
        let now: Vec<CounterSnapshot> = ports.iter().map(|(_, driver)| driver.counters().snapshot()).collect();
        if self.live_line && self.last.len() == now.len() {
            let seconds = self.last_at.elapsed().as_secs_f64().max(0.001);
            let rate = |new: u64, old: u64| ((new - old) as f64 / seconds) as u64;
            let port = |((number, _), (new, old)): ((u32, _), (&CounterSnapshot, &CounterSnapshot))| {
                let rx = grouped(rate(new.rx_packets, old.rx_packets));
                let tx = grouped(rate(new.tx_packets, old.tx_packets));
                format!("port {number}: rx {rx}/s tx {tx}/s")
            };
            let line: Vec<String> = ports.iter().zip(now.iter().zip(&self.last)).map(port).collect();
            eprint!("\r\x1b[K{}", line.join(" | "));
        }
        self.last = now;
        self.last_at = Instant::now();
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        let digest = &self.program.digests[digest];
        if self.json {
            let fields = digest.fields.iter().zip(&values);
            let fields: serde_json::Map<_, _> =
                fields.map(|((name, _), value)| (name.clone(), json!(value.to_string()))).collect();
            println!("{}", json!({"event": "digest", "digest": digest.name, "fields": fields}));
        } else {
            self.clear_line();
            let fields = digest.fields.iter().zip(&values);
            let fields: Vec<String> = fields.map(|((name, _), value)| format!("{name}={value}")).collect();
            println!("digest {}: {}", digest.name, fields.join(" "));
        }
    }

    fn log(&mut self, line: &str) {
        if self.json {
            println!("{}", json!({"event": "log", "message": line}));
        } else {
            self.clear_line();
            println!("log: {line}");
        }
    }

    fn assertion_failed(&mut self, text: &str) {
        self.clear_line();
        terminal::error(format!("assertion failed, packet dropped: {text}"));
    }

    fn port_failed(&mut self, port: u32, error: &DriverError) {
        self.exit = match error {
            DriverError::Capture(_) => Exit::BadInput,
            _ => Exit::System,
        };
        self.clear_line();
        terminal::error(format!("port {port}: {error}"));
    }
}

fn print_summary(switch: &Switch, ports: &Ports, elapsed: Duration) {
    let header = ["port", "rx packets", "rx bytes", "rx dropped", "tx packets", "tx bytes", "tx dropped"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (number, driver) in ports.iter() {
        let it = driver.counters().snapshot();
        let counts =
            [it.rx_packets, it.rx_bytes, it.rx_dropped(), it.tx_packets, it.tx_bytes, it.tx_dropped()].map(grouped);
        rows.push(std::iter::once(number.to_string()).chain(counts).collect());
    }
    println!("{}", aligned(&rows));
    for reason in DropReason::ALL {
        let count = switch.stats().drops(reason);
        if count > 0 {
            println!("{} packets: {}", grouped(count), reason.describe());
        }
    }
    if ports.unconnected_frames > 0 {
        println!("{} packets: sent to ports without an interface or file", grouped(ports.unconnected_frames));
    }
    println!("{:.3} s", elapsed.as_secs_f64());
}

/// Rows as a table with right-aligned columns.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
        cells.join("  ")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn summary_json(switch: &Switch, ports: &Ports, ended: Ended, elapsed: Duration) -> serde_json::Value {
    let port = |(number, driver): (u32, &dyn live::Driver)| {
        let counters: serde_json::Map<_, _> =
            driver.counters().snapshot().fields().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        json!({"port": number, "counters": counters})
    };
    let stats = switch.stats();
    let drops: serde_json::Map<_, _> = DropReason::ALL
        .iter()
        .filter(|&&reason| stats.drops(reason) > 0)
        .map(|&reason| (reason.describe().to_owned(), json!(stats.drops(reason))))
        .collect();
    json!({
        "event": "summary",
        "ended": if ended == Ended::Stopped { "stopped" } else { "exhausted" },
        "seconds": elapsed.as_secs_f64(),
        "ports": ports.iter().map(port).collect::<Vec<_>>(),
        "received": stats.received,
        "sent": stats.sent,
        "copies": stats.copies,
        "passes": stats.passes,
        "drops": drops,
        "unconnected": ports.unconnected_frames,
    })
}
