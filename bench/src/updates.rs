//! Updates of the control plane while a worker forwards at full speed.
//!
//! A worker thread forwards frames from memory to memory. Another thread inserts entries into two tables through
//! `control::Api`, in batches that must be atomic: each batch has the same keys for both tables, and the program
//! sends a packet that finds its key in only one of them to a separate port, where it is counted. Then single entries
//! are changed, and the time from the call to the first packet that shows the change is measured. All of this is done
//! twice: by calls, and by a controller over P4Runtime.

mod grpc;

use crate::Arguments;
use crate::compiled;
use base::FieldMatch;
use base::index::Id as _;
use control::Api;
use control::api::entity::{Call, EntryAction, EntryName, TableEntry};
use control::api::{Atomicity, Entity, Update, UpdateKind};
use grpc::Controller;
pub use grpc::NoPrograms;
use ir::TableId;
use live::driver::Deliver;
use live::mailbox::mailbox;
use live::worker::{self, Setup};
use live::{Driver, DriverError, Port, PortCounters, StopFlag};
use measure::figures::{median, quantile, range};
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::WriteRequest;
use serde_json::{Value, json};
use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use switch::Switch;
use wirespeed::Backend;

/// Entries that a run inserts into each table.
const KEYS: u32 = 100_000;

/// Entries in a batch, for each table.
const BATCHES: [u32; 3] = [1, 100, 10_000];

/// Changes of single entries whose delay is measured.
const CHANGES: usize = 2_000;

/// The key whose entry is changed; one frame in `PROBES` carries it.
const PROBE: u32 = KEYS;
const PROBES: u32 = 64;

/// What the drivers observe.
#[derive(Default)]
struct Seen {
    frames: AtomicU64,
    /// Packets that found half a batch.
    torn: AtomicU64,
    /// The port at which a probe is expected; 0 for none.
    awaited_port: AtomicU64,
    /// The time of its arrival there, in nanoseconds of the run's clock; 0 if it has not arrived.
    arrived_ns: AtomicU64,
}

/// A port: number 1 generates frames as fast as they are received, the others only examine the frames sent to them.
struct Bench {
    number: u32,
    seen: Arc<Seen>,
    start: Instant,
    next: u32,
    frame: [u8; 60],
    is_over: bool,
    counters: Arc<PortCounters>,
}

impl Driver for Bench {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        if self.is_over || self.number != 1 {
            return Ok(0);
        }
        for _ in 0..limit {
            self.next = self.next.wrapping_add(1);
            let key = if self.next.is_multiple_of(PROBES) { PROBE } else { self.next.wrapping_mul(0x9E37_79B1) % KEYS };
            self.frame[..4].copy_from_slice(&key.to_be_bytes());
            deliver(&self.frame, 0);
        }
        self.seen.frames.fetch_add(limit as u64, Ordering::Relaxed);
        Ok(limit)
    }

    fn transmit(&mut self, frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        if self.number == 9 {
            self.seen.torn.fetch_add(1, Ordering::Relaxed);
        }
        if frame[..4] == PROBE.to_be_bytes() && self.seen.awaited_port.load(Ordering::Acquire) == u64::from(self.number)
        {
            self.seen.awaited_port.store(0, Ordering::Release);
            self.seen.arrived_ns.store(self.start.elapsed().as_nanos() as u64, Ordering::Release);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.is_over || self.number != 1
    }

    fn frame_bytes_max(&self) -> usize {
        1514
    }

    fn stop_receiving(&mut self) {
        self.is_over = true;
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

struct Silent;
impl worker::Events for Silent {}

/// How updates reach the switch.
enum UpdatePath {
    Calls(Arc<Api>),
    P4Runtime(Box<Controller>),
}

/// Updates that are prepared.
enum Batch {
    Updates(Vec<Update>),
    Request(WriteRequest),
}

impl UpdatePath {
    /// The same update in both tables, for each of these keys.
    fn batch(&self, kind: UpdateKind, keys: Range<u32>, port: u32) -> Batch {
        match self {
            UpdatePath::Calls(api) => Batch::Updates(keys.flat_map(|key| both(api, kind, key, port)).collect()),
            UpdatePath::P4Runtime(controller) => Batch::Request(controller.request(kind, keys, port)),
        }
    }

    /// Carries out a batch atomically.
    fn write(&mut self, batch: Batch) -> Result<(), Box<dyn Error>> {
        match (self, batch) {
            (UpdatePath::Calls(api), Batch::Updates(updates)) => {
                for outcome in api.write(updates, Atomicity::DataplaneAtomic) {
                    outcome?;
                }
                Ok(())
            }
            (UpdatePath::P4Runtime(controller), Batch::Request(request)) => controller.write(request),
            _ => Err("a batch is for the path that it was made for".into()),
        }
    }
}

/// Figures of all runs.
#[derive(Default)]
struct Figures {
    /// Frames per second while nothing is written.
    quiet_fps: Vec<f64>,
    calls: PathFigures,
    p4runtime: PathFigures,
    torn: u64,
}

/// The figures of calls, or those of P4Runtime.
#[derive(Default)]
struct PathFigures {
    /// For each size of batch: updates per second, and frames per second in that time.
    batches: [(Vec<f64>, Vec<f64>); BATCHES.len()],
    /// The time from a call to the first packet that shows the change, in nanoseconds.
    delays_ns: Vec<f64>,
}

/// Runs the benchmark and prints it.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (program, info) = compiled::shown_program("bench/programs/updates.p4")?;
    let mut figures = Figures::default();
    for _ in 0..arguments.runs {
        let switch = compiled::switch(&program, Backend::Native, "")?;
        measure(switch, &info, &mut figures)?;
    }
    figures.print(arguments);
    Ok(())
}

/// One run.
fn measure(mut switch: Switch, info: &P4Info, figures: &mut Figures) -> Result<(), Box<dyn Error>> {
    let (command_queue, inbox) = mailbox()?;
    let api = Arc::new(Api::new(&switch, Arc::new(command_queue)));
    let (seen, start, stop) = (Arc::new(Seen::default()), Instant::now(), StopFlag::new());
    let port = |number| {
        let (seen, counters) = (Arc::clone(&seen), Arc::new(PortCounters::default()));
        let driver = Bench { number, seen, start, next: 0, frame: [0; 60], is_over: false, counters };
        Port { number, driver: Box::new(driver), is_capture: false }
    };
    let ports = [1, 2, 3, 9].map(port).into();
    let setup = Setup { inbox: Some(inbox), ..Setup::of_ports(ports) };
    thread::scope(|scope| {
        let worker = scope.spawn(|| worker::run(&mut switch, setup, &stop, &mut Silent).map(drop));
        let controlled = control(&api, info, &seen, start, figures);
        stop.stop();
        let worked = worker.join().map_err(|_| "the worker ended with a panic")?;
        worked?;
        controlled
    })
}

fn control(
    api: &Arc<Api>,
    info: &P4Info,
    seen: &Seen,
    start: Instant,
    figures: &mut Figures,
) -> Result<(), Box<dyn Error>> {
    let frames = || seen.frames.load(Ordering::Relaxed);
    thread::sleep(Duration::from_millis(100));
    let (before, quiet) = (frames(), Instant::now());
    thread::sleep(Duration::from_millis(500));
    figures.quiet_fps.push((frames() - before) as f64 / quiet.elapsed().as_secs_f64());
    measure_path(&mut UpdatePath::Calls(Arc::clone(api)), seen, start, &mut figures.calls)?;
    let controller = Controller::connect(Arc::clone(api), info.clone())?;
    measure_path(&mut UpdatePath::P4Runtime(Box::new(controller)), seen, start, &mut figures.p4runtime)?;
    figures.torn += seen.torn.load(Ordering::Relaxed);
    Ok(())
}

/// Fills the tables and empties them again, and changes an entry.
fn measure_path(
    path: &mut UpdatePath,
    seen: &Seen,
    start: Instant,
    figures: &mut PathFigures,
) -> Result<(), Box<dyn Error>> {
    let frames = || seen.frames.load(Ordering::Relaxed);
    for (&size, (updates_per_s, fps)) in BATCHES.iter().zip(&mut figures.batches) {
        // For single entries there are a tenth as many keys, so that the run does not take too long.
        let keys = if size == 1 { KEYS / 10 } else { KEYS };
        let batches = |kind, size: u32| -> Vec<Batch> {
            let part = |batch: u32| batch * size..keys.min((batch + 1) * size);
            (0..keys.div_ceil(size)).map(|batch| path.batch(kind, part(batch), 2)).collect()
        };
        let (batches, deletions) = (batches(UpdateKind::Insert, size), batches(UpdateKind::Delete, BATCHES[2]));
        let (before, started) = (frames(), Instant::now());
        for batch in batches {
            path.write(batch)?;
        }
        let seconds = started.elapsed().as_secs_f64();
        updates_per_s.push(2.0 * f64::from(keys) / seconds);
        fps.push((frames() - before) as f64 / seconds);
        for batch in deletions {
            path.write(batch)?;
        }
    }

    let probe = PROBE..PROBE + 1;
    path.write(path.batch(UpdateKind::Insert, probe.clone(), 2))?;
    for change in 0..CHANGES {
        let port = 3 - change as u32 % 2;
        let batch = path.batch(UpdateKind::Modify, probe.clone(), port);
        seen.arrived_ns.store(0, Ordering::Release);
        let called_ns = start.elapsed().as_nanos() as u64;
        seen.awaited_port.store(u64::from(port), Ordering::Release);
        path.write(batch)?;
        let arrived_ns = await_probe(seen)?;
        figures.delays_ns.push(arrived_ns.saturating_sub(called_ns) as f64);
    }
    path.write(path.batch(UpdateKind::Delete, probe, 2))
}

fn await_probe(seen: &Seen) -> Result<u64, Box<dyn Error>> {
    let started = Instant::now();
    loop {
        match seen.arrived_ns.load(Ordering::Acquire) {
            0 if started.elapsed() > Duration::from_secs(5) => return Err("no packet shows the change".into()),
            0 => thread::yield_now(),
            arrived_ns => return Ok(arrived_ns),
        }
    }
}

/// The same update in both tables.
fn both(api: &Api, kind: UpdateKind, key: u32, port: u32) -> [Update; 2] {
    let program = api.program();
    [0, 1].map(|table| {
        let table = TableId::from_index(table);
        let action = program.tables[table].actions[0].action;
        let call = Call { action, args: vec![base::Bits::from_u64(9, u64::from(port))] };
        let key = vec![FieldMatch::Exact(base::Bits::from_u64(32, u64::from(key)))];
        let entry = TableEntry::new(table, Some(EntryName { key, priority: 0 }), Some(EntryAction::Call(call)));
        Update { kind, entity: Entity::TableEntry(entry) }
    })
}

impl PathFigures {
    fn delay_us(&self, part: f64) -> f64 {
        quantile(&self.delays_ns, part) / 1000.0
    }

    fn json(&self) -> Value {
        let batches = BATCHES.iter().zip(&self.batches);
        let batches: Vec<_> = batches
            .map(|(size, (updates, fps))| json!({"entries": 2 * size, "updates_per_s": updates, "frames_per_s": fps}))
            .collect();
        let [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(|part| self.delay_us(part));
        json!({"batches": batches, "delay_us": {"p50": p50, "p90": p90, "p99": p99, "max": max}})
    }

    fn print(&self, path: &str) {
        println!("{path}");
        for (size, (updates, fps)) in BATCHES.iter().zip(&self.batches) {
            let (least, greatest) = range(updates);
            println!(
                "  batches of {:>6}      {:>6.2} M frames/s  {:>8.0} updates/s  ({least:.0} to {greatest:.0})",
                2 * size,
                median(fps) / 1e6,
                median(updates),
            );
        }
        let [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(|part| self.delay_us(part));
        println!(
            "  from a write to the first packet that shows it: median {p50:.1} us, 90 % {p90:.1}, 99 % {p99:.1}, \
             longest {max:.1}"
        );
    }
}

impl Figures {
    fn print(&self, arguments: &Arguments) {
        if arguments.json {
            println!(
                "{}",
                json!({
                    "benchmark": "updates", "quiet_frames_per_s": self.quiet_fps, "torn": self.torn,
                    "calls": self.calls.json(), "p4runtime": self.p4runtime.json(),
                })
            );
            return;
        }
        println!("Updates of two tables while a worker forwards at full speed, memory to memory");
        println!("median of {} runs (least to greatest)", arguments.runs);
        println!("  nothing written         {:>6.2} M frames/s", median(&self.quiet_fps) / 1e6);
        self.calls.print("by calls of the control plane");
        self.p4runtime.print("by a controller over P4Runtime, on loopback");
        println!("packets that saw half a batch: {}", self.torn);
    }
}
