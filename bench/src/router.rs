//! A plain IPv4 router from memory to memory on one core.

use crate::Arguments;
use crate::compiled;
use crate::figures::{median, range};
use crate::limit::{Frames, Limit};
use base::Rng;
use base::limits::BURST_PACKETS_MAX;
use ir::Program;
use live::traffic::{Routes, udp_frame};
use serde_json::json;
use std::error::Error;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use switch::{Backend, Config, CoreStage, Departures, Frame, Output, Switch};

/// Packets of the interpreter's run, which is too slow for more.
const INTERPRETER_PACKETS: usize = 5_000;

/// Bytes from one frame to the next.
const STRIDE_BYTES: usize = 64;

/// Frames that are lent at once.
const LENT_FRAMES_MAX: usize = 256;

/// Runs the contestants in turn and prints what a packet costs each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1);
    let routes = Routes::everywhere(arguments.routes, 2..=4, &mut rng);
    let frames = frames(&routes, arguments.destinations, &mut rng);
    let lent: Vec<&[u8]> = frames.bytes.chunks(frames.stride).map(|frame| &frame[..60]).collect();
    let program = Arc::new(compiled::program(&arguments.program)?);
    let mut native = with_routes(&program, compiled::native(&program)?, &routes)?;
    let mut interpreter = with_routes(&program, Backend::Interpreter, &routes)?;
    let mut limit = Limit::new(&routes)?;
    let rounds = (arguments.packets as usize).div_ceil(frames.count());

    let mut times = Times::default();
    for _ in 0..arguments.runs {
        let (ns, sent) = drive_in_place(&mut native, &frames, rounds);
        times.copied.push(drive(&mut native, &lent, rounds).0);
        let (limit_ns, limit_sent) = drive_limit(&mut limit, &frames, rounds)?;
        if sent != limit_sent {
            return Err(format!("the routers disagree: {sent} and {limit_sent} packets sent").into());
        }
        times.native.push(ns);
        times.by_hand.push(limit_ns);
        times.interpreter.push(drive(&mut interpreter, &lent[..lent.len().min(INTERPRETER_PACKETS)], 1).0);
    }
    let stages = stages(&mut native, &lent, rounds);
    times.print(arguments, &stages);
    Ok(())
}

/// Frames of 60 bytes to random hosts behind the routes.
fn frames(routes: &Routes, count: u32, rng: &mut Rng) -> Frames {
    let mut bytes = Vec::with_capacity(count as usize * STRIDE_BYTES);
    for number in 0..count {
        let route = rng.pick(&routes.0);
        let host = rng.next_u64() as u32 & !(u32::MAX << (32 - route.prefix_len));
        bytes.extend(udp_frame(route.network | host, 64, number));
        bytes.resize((number as usize + 1) * STRIDE_BYTES, 0);
    }
    Frames { bytes, stride: STRIDE_BYTES }
}

/// A switch with the routes in its table.
pub fn with_routes(program: &Arc<Program>, backend: Backend, routes: &Routes) -> Result<Switch, Box<dyn Error>> {
    let mut switch = Switch::new(Arc::clone(program), backend, Config::default())?;
    let joined =
        |errors: Vec<control::EntryError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let commands = control::parse_entries("routes", &routes.commands(), program).map_err(joined)?;
    control::apply_all(&mut switch, &commands).map_err(joined)?;
    Ok(switch)
}

/// Notes on which port each packet leaves, as the limit does.
struct Sink {
    sent: u64,
    ports: [u32; BURST_PACKETS_MAX],
}

impl Default for Sink {
    fn default() -> Self {
        Sink { sent: 0, ports: [0; BURST_PACKETS_MAX] }
    }
}

impl Output for Sink {
    fn transmit(&mut self, port: u32, _frame: &[u8], _time_ns: u64) {
        self.sent += 1;
        self.ports[0] = port;
    }

    fn transmit_burst(&mut self, departures: &Departures<'_>) {
        let mut sent = 0;
        for (noted, port) in self.ports.iter_mut().zip(departures.ports()) {
            *noted = port.unwrap_or(0);
            sent += u32::from(port.is_some());
        }
        self.sent += u64::from(sent);
    }
}

/// Nanoseconds per packet, and packets sent.
fn drive(switch: &mut Switch, frames: &[&[u8]], rounds: usize) -> (f64, u64) {
    let mut sink = Sink::default();
    let started = Instant::now();
    for _ in 0..rounds {
        for burst in frames.chunks(BURST_PACKETS_MAX) {
            switch.receive_burst(0, 1, burst);
            switch.run(0, &mut sink);
        }
    }
    let ns = started.elapsed().as_nanos() as f64 / (rounds * frames.len()) as f64;
    std::hint::black_box(sink.ports);
    (ns, sink.sent)
}

/// The same with frames that are lent as a driver lends its buffers. They are changed, so that each round gets them
/// anew, which is not measured.
fn drive_in_place(switch: &mut Switch, frames: &Frames, rounds: usize) -> (f64, u64) {
    let (mut sink, mut spent, mut changed) = (Sink::default(), Duration::ZERO, frames.clone());
    for _ in 0..rounds {
        changed.bytes.copy_from_slice(&frames.bytes);
        let started = Instant::now();
        let mut lent = Vec::with_capacity(LENT_FRAMES_MAX);
        for burst in changed.bytes.chunks_mut(LENT_FRAMES_MAX * STRIDE_BYTES) {
            lent.clear();
            lent.extend(burst.chunks_exact_mut(STRIDE_BYTES).map(|frame| Frame::new(&mut frame[..60], 1, 0)));
            switch.forward(0, &mut lent, &mut sink);
        }
        spent += started.elapsed();
    }
    std::hint::black_box(sink.ports);
    (spent.as_nanos() as f64 / (rounds * frames.count()) as f64, sink.sent)
}

/// The same of the limit. It changes the frames, so that each round gets them anew, which is not measured.
fn drive_limit(limit: &mut Limit, frames: &Frames, rounds: usize) -> Result<(f64, u64), Box<dyn Error>> {
    let (mut sent, mut spent, mut changed) = (0, Duration::ZERO, frames.clone());
    for _ in 0..rounds {
        changed.bytes.copy_from_slice(&frames.bytes);
        let started = Instant::now();
        sent += limit.route(&mut changed)?;
        spent += started.elapsed();
    }
    Ok((spent.as_nanos() as f64 / (rounds * frames.count()) as f64, sent))
}

/// Nanoseconds per received packet of each stage of the core, in one more run. The clock's own cost is in it.
fn stages(switch: &mut Switch, frames: &[&[u8]], rounds: usize) -> Vec<(&'static str, f64)> {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    switch.measure_stages(Some(|| START.elapsed().as_nanos() as u64));
    drive(switch, frames, rounds);
    let packets = (rounds * frames.len()) as f64;
    let stage = |stage: CoreStage| (stage.name(), switch.stage_ns(stage) as f64 / packets);
    let result = CoreStage::ALL.map(stage).to_vec();
    switch.measure_stages(None);
    result
}

/// Nanoseconds per packet of each run.
#[derive(Default)]
struct Times {
    native: Vec<f64>,
    copied: Vec<f64>,
    by_hand: Vec<f64>,
    interpreter: Vec<f64>,
}

impl Times {
    fn print(&self, arguments: &Arguments, stages: &[(&str, f64)]) {
        let [native, by_hand, interpreter] = [&self.native, &self.by_hand, &self.interpreter].map(|it| median(it));
        if arguments.json {
            let stages: serde_json::Map<_, _> =
                stages.iter().map(|(name, ns)| ((*name).to_owned(), json!(ns))).collect();
            println!(
                "{}",
                json!({
                    "benchmark": "router", "program": arguments.program, "packets": arguments.packets,
                    "routes": arguments.routes, "destinations": arguments.destinations,
                    "native_ns": self.native, "native_copied_ns": self.copied, "by_hand_ns": self.by_hand, "interpreter_ns": self.interpreter,
                    "stages_ns": stages,
                })
            );
            return;
        }
        let Arguments { routes, destinations, .. } = arguments;
        println!(
            "IPv4 router, {routes} routes, {destinations} destinations, 60-byte frames, memory to memory, one core"
        );
        println!("median of {} runs of {} packets (least to greatest)", arguments.runs, arguments.packets);
        for (name, runs) in [
            ("native", &self.native),
            ("native, copied", &self.copied),
            ("by hand", &self.by_hand),
            ("interpreter", &self.interpreter),
        ] {
            let (least, greatest) = range(runs);
            println!("  {name:<15} {:>9.1} ns per packet  ({least:.1} to {greatest:.1})", median(runs));
        }
        println!("native is {:.0} times as fast as the interpreter", interpreter / native);
        println!("native takes {:.2} times what the same work takes by hand in place", native / by_hand);
        println!("stages of the core, ns per packet:");
        for (name, ns) in stages.iter().filter(|(_, ns)| *ns > 0.0) {
            println!("  {name:<18} {ns:>6.1}");
        }
    }
}
