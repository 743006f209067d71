//! Several workers against one, from memory to memory: the same packets through ports on which each worker has its
//! own queue, and through ports without queues, whose frames the first worker distributes by flow, either when that
//! is faster or always.

use crate::Arguments;
use crate::compiled;
use crate::router::with_routes;
use base::Rng;
use live::memory::GeneratorDriver;
use live::traffic::{Routes, udp_frame};
use live::worker::{self, Events, Port, Setup};
use live::{Driver, StopFlag};
use measure::figures::{median, range};
use nix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use switch::workers::{Wanted, Workers};
use wirespeed::{Backend, Program};

/// Ignores the events of a run.
struct IgnoreEvents;

impl Events for IgnoreEvents {}

/// Ports to which frames are sent.
const TARGETS: std::ops::RangeInclusive<u32> = 2..=4;

/// A configuration of workers.
#[derive(Clone, Copy)]
struct Contestant {
    name: &'static str,
    workers: usize,
    /// Queues of each port.
    queues: usize,
    /// Whether frames are always distributed over workers, whatever the cost.
    spreads: bool,
}

/// Runs the contestants in turn and prints the speedup of several workers over one.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1);
    let routes = Routes::everywhere(arguments.routes, TARGETS, &mut rng);
    let frames: Vec<Vec<u8>> = (0..arguments.destinations)
        .map(|number| {
            let route = rng.pick(&routes.0);
            let host = rng.next_u64() as u32 & !(u32::MAX << (32 - route.prefix_len));
            udp_frame(route.network | host, 64, number)
        })
        .collect();
    let program = compiled::program(arguments.program.as_deref().unwrap_or("bench/programs/router.p4"))?;
    let count = arguments.workers as usize;
    let contestants = [
        Contestant { name: "one worker", workers: 1, queues: 1, spreads: false },
        Contestant { name: "one worker, several queues", workers: 1, queues: count, spreads: false },
        Contestant { name: "several workers, a queue each", workers: count, queues: count, spreads: false },
        Contestant { name: "several workers, one queue", workers: count, queues: 1, spreads: false },
        Contestant { name: "several workers, frames spread", workers: count, queues: 1, spreads: true },
    ];
    let mut times = [const { Times { wall: Vec::new(), processor: Vec::new() } }; 5];
    for _ in 0..arguments.runs {
        for (contestant, times) in contestants.iter().zip(&mut times) {
            measure(arguments, &program, &routes, &frames, *contestant, times)?;
        }
    }
    print(arguments, &contestants, &times);
    Ok(())
}

/// Nanoseconds per packet of each run.
struct Times {
    wall: Vec<f64>,
    /// The processor time of all threads: the increase with several workers is their overhead.
    processor: Vec<f64>,
}

/// Packets of one run. With fewer, the run would end before all workers have started.
fn packets(arguments: &Arguments) -> u64 {
    u64::from(arguments.packets).max(8_000_000)
}

/// One run.
fn measure(
    arguments: &Arguments,
    program: &Program,
    routes: &Routes,
    frames: &[Vec<u8>],
    contestant: Contestant,
    times: &mut Times,
) -> Result<(), Box<dyn Error>> {
    let mut switch = with_routes(program, Backend::Native, routes)?;
    let packets = packets(arguments);
    let port = |number: u32, packets: u64| {
        let queue = |index: usize| {
            // Each queue has its share of the flows.
            let own = frames.iter().skip(index).step_by(contestant.queues).cloned().collect();
            GeneratorDriver::new(own, packets / contestant.queues as u64, 0)
        };
        let driver = (1..contestant.queues).fold(queue(0), |driver, index| driver.with_queue(queue(index)));
        Port { number, driver: Box::new(driver) as Box<dyn Driver>, is_capture: false }
    };
    let ports = std::iter::once(port(1, packets)).chain(TARGETS.map(|number| port(number, 0))).collect();
    let workers = Arc::new(Workers::new(Wanted::Fixed(contestant.workers), contestant.workers));
    if contestant.spreads {
        workers.spread_always();
    }
    let setup = Setup { workers: Some(workers), ..Setup::of_ports(ports) };
    let (started, taken) = (Instant::now(), processor_time()?);
    worker::run(&mut switch, setup, &StopFlag::new(), &mut IgnoreEvents)?;
    let (wall, taken) = (started.elapsed(), processor_time()?.saturating_sub(taken));
    let received = switch.stats().received;
    if received + contestant.queues as u64 <= packets {
        return Err(format!("{received} of {packets} packets were received").into());
    }
    times.wall.push(wall.as_nanos() as f64 / received as f64);
    times.processor.push(taken.as_nanos() as f64 / received as f64);
    Ok(())
}

/// The processor time of this process.
fn processor_time() -> Result<Duration, Box<dyn Error>> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}

fn print(arguments: &Arguments, contestants: &[Contestant], times: &[Times]) {
    let one = median(&times[0].wall);
    let rows = contestants.iter().zip(times);
    if arguments.json {
        let row = |(contestant, times): (&Contestant, &Times)| {
            json!({
                "name": contestant.name,
                "workers": contestant.workers,
                "queues": contestant.queues,
                "ns_per_packet": median(&times.wall),
                "processor_ns_per_packet": median(&times.processor),
                "runs_ns_per_packet": times.wall,
                "runs_processor_ns_per_packet": times.processor,
                "times_one_worker": one / median(&times.wall),
            })
        };
        let rows: Vec<_> = rows.map(row).collect();
        println!("{}", json!({"benchmark": "workers", "packets": packets(arguments), "contestants": rows}));
        return;
    }
    println!("{:32} {:>10} {:>16} {:>16} {:>18}", "", "ns/packet", "of all runs", "of processors", "times one worker");
    for (contestant, times) in rows {
        let (least, greatest) = range(&times.wall);
        let spread = format!("{least:.1} to {greatest:.1}");
        let (wall, processor) = (median(&times.wall), median(&times.processor));
        println!("{:32} {wall:>10.1} {spread:>16} {processor:>16.1} {:>18.2}", contestant.name, one / wall);
    }
}
