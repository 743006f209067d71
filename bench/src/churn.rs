//! Entries that come and go while traffic flows: bindings of the broadband network gateway, stations of the Ethernet
//! switch, each made and ended by the real controller in the process of the switch.
//!
//! What enters: the duration, how many flows or stations are active. What leaves: how many frames came out right, wrong
//! and not at all, how many right in each part of the time, the entries that were made, and the memory of the process
//! at the begin and the end. One worker runs the switch; its drivers make frames as fast as they are taken, and examine
//! each that comes out.

mod gateway;
mod stations;

use crate::Arguments;
use crate::compiled;
use crate::switches::resident_kb;
use crate::updates::NoPrograms;
use base::Bits;
use command_line::logging::{self, FILTER_VARIABLE, LogArguments};
use control::Api;
use controller::Running;
use ir::DigestId;
use live::driver::Deliver;
use live::mailbox::mailbox;
use live::worker::{self, Events, Setup};
use live::{Driver, DriverError, Port, PortCounters, StopFlag};
use p4runtime::{Feed, Options, Ports, Server, Started};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use switch::CpuPort;
use wirespeed::Backend;

/// How long a binding or a station may be idle.
const IDLE: Duration = Duration::from_secs(1);

/// What is idle for less has not ended: the switch looks at its entries at intervals.
const ALIVE: Duration = Duration::from_millis(900);

/// The port behind which the controller is.
const CPU: u32 = 510;

/// The parts of the duration, of which each is counted by itself: what makes entries must not come to a stop.
const PARTS: u32 = 12;

/// After this many of them, memory is that of the begin: tables and queues have grown.
const BEGIN: u32 = 2;

/// What is around the switch.
trait Surroundings: Send {
    /// The next frame that arrives at a port; `None` if nothing does now.
    fn next(&mut self, port: u32, now: Duration) -> Option<&[u8]>;
    /// A frame has left at a port.
    fn left(&mut self, port: u32, now: Duration, frame: &[u8]);
    /// Nothing more arrives: the rest of what is in flight is counted.
    fn finish(&mut self);
    /// What was counted so far.
    fn counts(&self) -> Counts;
}

/// Frames, by what became of them.
#[derive(Clone, Debug, Default)]
struct Counts {
    sent: u64,
    right: u64,
    wrong: u64,
    /// Of a flow with a binding, or to a known station, but not seen again.
    lost: u64,
    /// Further counts, by name.
    more: Vec<(&'static str, u64)>,
    /// The first that were wrong.
    examples: Vec<String>,
}

/// The most examples.
const EXAMPLES_MAX: usize = 10;

impl Counts {
    fn wrong(&mut self, example: impl FnOnce() -> String) {
        self.wrong += 1;
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(example());
        }
    }
}

/// A case: its program, its ports, its controller.
struct Case {
    name: &'static str,
    program: &'static str,
    ports: Vec<u32>,
    world: Arc<Mutex<dyn Surroundings>>,
    controller: Box<Prepare>,
}

/// Makes the controller of a switch.
type Prepare = dyn Fn(&ctl::Options) -> Result<Running, String>;

fn lock(world: &Mutex<dyn Surroundings>) -> MutexGuard<'_, dyn Surroundings + 'static> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A port of the world.
struct End {
    number: u32,
    world: Arc<Mutex<dyn Surroundings>>,
    start: Instant,
    is_quiet: Arc<AtomicBool>,
    is_over: bool,
    counters: Arc<PortCounters>,
}

impl Driver for End {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        if self.is_over || self.is_quiet.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let now = self.start.elapsed();
        let mut world = lock(&self.world);
        for count in 0..limit {
            match world.next(self.number, now) {
                Some(frame) => deliver(frame, 0),
                None => return Ok(count),
            }
        }
        Ok(limit)
    }

    fn transmit(&mut self, frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        lock(&self.world).left(self.number, self.start.elapsed(), frame);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.is_over
    }

    fn frame_bytes_max(&self) -> usize {
        2000
    }

    fn stop_receiving(&mut self) {
        self.is_over = true;
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

/// Hands packets and digests to the controller.
struct ToController(Feed);

impl Events for ToController {
    fn packet_in(&mut self, frame: &[u8]) {
        self.0.packet_in(frame);
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        self.0.digest(digest, values);
    }
}

/// Runs both cases, or the one that is named, and prints them.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    // Log lines of controllers are shown with WIRESPEED_LOG=info.
    let log_level = std::env::var(FILTER_VARIABLE).is_err().then(|| "warn".to_owned());
    let log = LogArguments { log_level, ..LogArguments::default() };
    logging::start(&log).map_err(|exit| format!("{exit:?}"))?;
    let is_selected = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut wrong = 0;
    for (name, make) in [("bng", gateway::case as fn(u32) -> Result<Case, Box<dyn Error>>), ("l2fwd", stations::case)] {
        if is_selected(name) {
            wrong += measure(arguments, make(arguments.flows)?)?;
        }
    }
    if wrong > 0 { Err(format!("{wrong} frames were wrong").into()) } else { Ok(()) }
}

/// Runs a case. Returns how many frames were wrong.
fn measure(arguments: &Arguments, case: Case) -> Result<u64, Box<dyn Error>> {
    let (program, info) = compiled::shown_program(case.program)?;
    let mut switch = compiled::switch(&program, Backend::Native, "")?;
    let (command_queue, inbox) = mailbox()?;
    let api = Arc::new(Api::new(&switch, Arc::new(command_queue)));
    let (cpu_port, stop, is_quiet) = (CpuPort::fixed(CPU), StopFlag::new(), Arc::new(AtomicBool::new(false)));
    let options = Options {
        address: ([127, 0, 0, 1], 0).into(),
        further: None,
        device_id: 1,
        ports: Ports::new(Vec::new(), cpu_port),
        tls: None,
        compile_time_max: Duration::from_secs(1),
    };
    let started = Started::of_text(info, Vec::new());
    let (server, feed) = Server::start(Arc::clone(&api), Arc::new(NoPrograms), Some(started), options)?;
    let address = server.address().to_string();
    eprintln!("{}: controllers reach the switch at {address}", case.name);
    let here = ctl::Options { near: Some(server.near()), address, device_id: 1, ..ctl::Options::default() };
    server.spawn((case.controller)(&here)?);
    let start = Instant::now();
    let port = |&number: &u32| {
        let (world, is_quiet) = (Arc::clone(&case.world), Arc::clone(&is_quiet));
        let driver = End { number, world, start, is_quiet, is_over: false, counters: Arc::default() };
        Port { number, driver: Box::new(driver), is_capture: false }
    };
    let ports = case.ports.iter().map(port).collect();
    let setup = Setup { inbox: Some(inbox), cpu_port, keeps_running: true, ..Setup::of_ports(ports) };
    let mut events = ToController(feed);
    let duration = Duration::from_secs_f64(arguments.duration);
    let seen = thread::scope(|scope| -> Result<Seen, Box<dyn Error>> {
        let worker = scope.spawn(|| worker::run(&mut switch, setup, &stop, &mut events).map(drop));
        let seen = watch(duration, &case.world);
        is_quiet.store(true, Ordering::Relaxed);
        thread::sleep(IDLE);
        stop.stop();
        worker.join().map_err(|_| "the worker ended with a panic")??;
        seen
    })?;
    let lost_messages = events.0.lost();
    drop(server);
    let mut world = lock(&case.world);
    world.finish();
    let counts = world.counts();
    print(arguments, case.name, &counts, &seen, lost_messages);
    Ok(counts.wrong)
}

/// What was seen while the case ran.
struct Seen {
    begin_kb: f64,
    end_kb: f64,
    /// The frames that came out right in each part of the time, per second.
    right_per_s: Vec<f64>,
}

fn watch(duration: Duration, world: &Mutex<dyn Surroundings>) -> Result<Seen, Box<dyn Error>> {
    let mut seen = Seen { begin_kb: 0.0, end_kb: 0.0, right_per_s: Vec::new() };
    let (mut right, mut since) = (0, Instant::now());
    for part in 1..=PARTS {
        thread::sleep(duration / PARTS);
        let now = lock(world).counts().right;
        let took = since.elapsed().as_secs_f64();
        seen.right_per_s.push((now - std::mem::replace(&mut right, now)) as f64 / took);
        since = Instant::now();
        seen.end_kb = resident_kb()?;
        if part == BEGIN {
            seen.begin_kb = seen.end_kb;
        }
    }
    Ok(seen)
}

fn print(arguments: &Arguments, name: &str, counts: &Counts, seen: &Seen, lost_messages: u64) {
    let Seen { begin_kb, end_kb, right_per_s } = seen;
    let Counts { sent, right, wrong, lost, more, examples } = counts;
    let rate = *sent as f64 / arguments.duration;
    if arguments.json {
        let more: Map<String, Value> = more.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect();
        println!(
            "{}",
            json!({
                "benchmark": "churn", "case": name, "seconds": arguments.duration, "flows": arguments.flows,
                "sent": sent, "right": right, "wrong": wrong, "lost": lost, "more": more, "frames_per_s": rate,
                "right_per_s": right_per_s, "begin_kb": begin_kb, "end_kb": end_kb,
                "messages_lost": lost_messages,
            })
        );
        return;
    }
    println!("{name}: {} s, {} active at a time, {:.2} M frames/s", arguments.duration, arguments.flows, rate / 1e6);
    println!("  sent {sent}, right {right}, wrong {wrong}, lost {lost}");
    let parts: Vec<String> = right_per_s.iter().map(|rate| format!("{:.2}", rate / 1e6)).collect();
    println!("  M right/s, in each twelfth of the time: {}", parts.join(" "));
    more.iter().for_each(|(name, count)| println!("  {name}: {count}"));
    println!("  messages to the controller that were dropped: {lost_messages}");
    println!("  memory: {:.1} MB at the begin, {:.1} MB at the end", begin_kb / 1e3, end_kb / 1e3);
    examples.iter().for_each(|example| println!("  wrong: {example}"));
}
