//! `wirespeed run --log-packets`: the journey of every packet of a running switch, which the interpreter runs.
//!
//! What enters: every step of the switch. What leaves: lines in a file, or on standard output.

use super::journey::Journey;
use super::values::Described;
use crate::Exit;
use crate::terminal;
use base::Span;
use interp::{Event, Tracer};
use serde_json::json;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use switch::{Decision, Observer};
use tables::TableSet;

/// Denotes standard output among the names of files.
const STANDARD_OUTPUT: &str = "-";

/// The log file, for all programs that run.
#[derive(Clone)]
pub struct PacketLog {
    shared: Arc<Mutex<Shared>>,
    json: bool,
}

struct Shared {
    path: PathBuf,
    writer: Box<dyn Write + Send>,
    /// Runs of the core that were logged.
    count: u64,
    /// Writing has failed, and this was reported.
    has_failed: bool,
}

impl PacketLog {
    /// Opens the log.
    pub fn open(path: &Path, json: bool) -> Result<PacketLog, Exit> {
        let writer: Box<dyn Write + Send> = match path == Path::new(STANDARD_OUTPUT) {
            true => Box::new(io::stdout()),
            false => Box::new(File::create(path).map_err(|error| {
                terminal::error(format!("cannot write the packet log {}: {error}", path.display()));
                Exit::System
            })?),
        };
        let shared = Shared { path: path.to_owned(), writer, count: 0, has_failed: false };
        Ok(PacketLog { shared: Arc::new(Mutex::new(shared)), json })
    }

    /// The tracer for a switch that runs this program.
    pub fn observer(&self, described: Described) -> Box<dyn Observer + Send> {
        let described = Arc::new(described);
        let journey = Journey::new(Arc::clone(&described));
        Box::new(LogObserver { log: self.clone(), described, journey, arrived: None })
    }

    fn write(&self, journey: &Journey, arrived: Option<(u32, u32)>, now_ns: u64) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.count += 1;
        let text = text(self.json, journey, shared.count, arrived, now_ns);
        let written = shared.writer.write_all(text.as_bytes()).and_then(|()| shared.writer.flush());
        if let (Err(error), false) = (written, shared.has_failed) {
            shared.has_failed = true;
            terminal::warning(format!("the packet log {} is not written any more: {error}", shared.path.display()));
        }
    }
}

fn text(json: bool, journey: &Journey, count: u64, arrived: Option<(u32, u32)>, now_ns: u64) -> String {
    let seconds = now_ns as f64 / 1e9;
    if json {
        let (port, bytes) = arrived.unzip();
        let line = json!({
            "event": "packet", "packet": count, "time_s": seconds, "port": port, "bytes": bytes,
            "steps": journey.json(),
        });
        return format!("{line}\n");
    }
    let head = match arrived {
        Some((port, bytes)) => format!("packet {count} at {seconds:.6} s: {bytes} bytes on port {port}"),
        None => format!("packet {count} at {seconds:.6} s: continues after waiting"),
    };
    std::iter::once(head).chain(journey.text()).map(|line| line + "\n").collect()
}

/// The tracer of a program.
struct LogObserver {
    log: PacketLog,
    described: Arc<Described>,
    journey: Journey,
    /// The port and the length of the packet that has just arrived.
    arrived: Option<(u32, u32)>,
}

impl Tracer for LogObserver {
    fn event(&mut self, span: Span, event: Event<'_>) {
        self.journey.event(span, event);
    }
}

impl Observer for LogObserver {
    fn decision(&mut self, decision: Decision) {
        if let (Decision::IngressStarts { port, bytes, .. }, true) = (decision, self.journey.is_empty()) {
            self.arrived = Some((port, bytes));
        }
        self.journey.decision(decision);
    }

    fn finish(&mut self, tables: &TableSet, now_ns: u64) {
        if self.journey.is_empty() {
            return;
        }
        let next = Journey::new(Arc::clone(&self.described));
        let mut journey = std::mem::replace(&mut self.journey, next);
        journey.finish(tables, now_ns);
        self.log.write(&journey, self.arrived.take(), now_ns);
    }
}
