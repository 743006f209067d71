//! The example router from memory to memory on one core.

use crate::Arguments;
use crate::by_hand;
use crate::compiled;
use crate::figures::{median, range};
use base::Rng;
use base::limits::BURST_PACKETS_MAX;
use ir::Program;
use live::traffic::Routes;
use serde_json::json;
use std::error::Error;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::Instant;
use switch::{Backend, Config, CoreStage, Departing, Departures, Output, Switch};

/// Distinct frames; they are used round and round. They fit the second-level cache of no machine and the third of most.
const FRAMES: u32 = 65_536;

/// Packets of the interpreter's run, which is too slow for more.
const INTERPRETER_PACKETS: u32 = 5_000;

/// Runs the contestants in turn and prints what a packet costs each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1);
    let routes = Routes::random(arguments.routes, 2..=4, &mut rng);
    let frames = routes.frames(FRAMES.min(arguments.packets), &mut rng);
    let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    let program = Arc::new(compiled::program("apps/l3fwd/l3fwd.p4")?);
    let mut native = with_routes(&program, compiled::native(&program)?, &routes)?;
    let mut interpreter = with_routes(&program, Backend::Interpreter, &routes)?;
    let mut by_hand = by_hand::Router::new(&routes);

    let mut times = Times::default();
    for _ in 0..arguments.runs {
        let (ns, sent) = drive(&mut native, &frames, arguments.packets);
        let (limit_ns, limit_sent) = drive_by_hand(&mut by_hand, &frames, arguments.packets);
        if sent != limit_sent {
            return Err(format!("the routers disagree: {sent} and {limit_sent} packets sent").into());
        }
        times.native.push(ns);
        times.by_hand.push(limit_ns);
        times.interpreter.push(drive(&mut interpreter, &frames, INTERPRETER_PACKETS.min(arguments.packets)).0);
    }
    let stages = stages(&mut native, &frames, arguments.packets);
    times.print(arguments, &stages);
    Ok(())
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

/// Looks at a byte of each frame, as a driver would.
#[derive(Default)]
struct Sink {
    sent: u64,
    sum: u64,
}

impl Sink {
    fn take(&mut self, port: u32, frame: &[u8]) {
        self.sent += 1;
        self.sum += u64::from(port) + u64::from(frame[0]);
    }
}

impl Output for Sink {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.take(port, frame);
    }

    fn transmit_burst(&mut self, departures: &Departures<'_>) {
        for Departing { port, frame, .. } in departures.iter() {
            self.take(port, frame);
        }
    }
}

/// Nanoseconds per packet, and packets sent.
fn drive(switch: &mut Switch, frames: &[&[u8]], packets: u32) -> (f64, u64) {
    let mut sink = Sink::default();
    let started = Instant::now();
    let mut left = packets as usize;
    while left > 0 {
        for burst in frames.chunks(BURST_PACKETS_MAX) {
            let burst = &burst[..burst.len().min(left)];
            switch.receive_burst(0, 1, burst);
            switch.run(0, &mut sink);
            left -= burst.len();
        }
    }
    let ns = started.elapsed().as_nanos() as f64 / f64::from(packets);
    std::hint::black_box(sink.sum);
    (ns, sink.sent)
}

fn drive_by_hand(router: &mut by_hand::Router, frames: &[&[u8]], packets: u32) -> (f64, u64) {
    let mut sink = Sink::default();
    let started = Instant::now();
    for frame in frames.iter().cycle().take(packets as usize) {
        router.route(frame, &mut |port, frame| sink.take(port, frame));
    }
    let ns = started.elapsed().as_nanos() as f64 / f64::from(packets);
    std::hint::black_box(sink.sum);
    (ns, sink.sent)
}

/// Nanoseconds per received packet of each stage of the core, in one more run. The clock's own cost is in it.
fn stages(switch: &mut Switch, frames: &[&[u8]], packets: u32) -> Vec<(&'static str, f64)> {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    switch.measure_stages(Some(|| START.elapsed().as_nanos() as u64));
    drive(switch, frames, packets);
    let stage = |stage: CoreStage| (stage.name(), switch.stage_ns(stage) as f64 / f64::from(packets));
    let result = CoreStage::ALL.map(stage).to_vec();
    switch.measure_stages(None);
    result
}

/// Nanoseconds per packet of each run.
#[derive(Default)]
struct Times {
    native: Vec<f64>,
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
                    "benchmark": "router", "packets": arguments.packets, "routes": arguments.routes,
                    "native_ns": self.native, "by_hand_ns": self.by_hand, "interpreter_ns": self.interpreter,
                    "stages_ns": stages,
                })
            );
            return;
        }
        println!("IPv4 router, {} routes, 60-byte frames, memory to memory, one core", arguments.routes);
        println!("median of {} runs of {} packets (least to greatest)", arguments.runs, arguments.packets);
        for (name, runs) in [("native", &self.native), ("by hand", &self.by_hand), ("interpreter", &self.interpreter)] {
            let (least, greatest) = range(runs);
            println!("  {name:<12} {:>9.1} ns per packet  ({least:.1} to {greatest:.1})", median(runs));
        }
        println!("native is {:.0} times as fast as the interpreter", interpreter / native);
        println!("native takes {:.1} times what the same work takes by hand", native / by_hand);
        println!("stages of the core, ns per packet:");
        for (name, ns) in stages {
            println!("  {name:<18} {ns:>6.1}");
        }
    }
}
