//! Drivers against each other: the example router between two veth pairs.
//!
//! One thread takes turns: as a sender it fills the first pair with frames, as the switch it receives and forwards all
//! of them to the second pair, at whose end the system counts and throws away. So both do what they do in full bursts,
//! and neither waits for the other. What a frame takes is told for both turns, as processor time with system calls: the
//! switch's turn is what its thread takes, and bounds what it forwards; the sender's has in it what the kernel does for
//! the receiver, since it runs a veth pair's reception there. The drivers take turns as well.
//!
//! The same router between generators in memory shows what is left when drivers cost next to nothing. Needs root and
//! `ip`; everything happens in a network namespace of its own.

use crate::Arguments;
use crate::compiled;
use crate::figures::{median, range};
use base::Rng;
use base::limits::BURST_PACKETS_MAX;
use live::af_packet::{AfPacketDriver, AfPacketOptions};
use live::memory::GeneratorDriver;
use live::traffic::Routes;
use live::xdp::{Attach, XdpDriver, XdpOptions};
use live::{Driver, DriverError, NetworkNamespace};
use nix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::error::Error;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use switch::{Output, Switch};

/// Frames in a turn: fewer than any driver's ring holds, and than the queue of a veth pair.
const TURN_FRAMES: usize = 192;
/// Turns of a run.
const TURNS: usize = 500;
/// Distinct frames.
const FRAMES: u32 = 4096;
/// Both ends of the pairs: sender and switch, switch and nobody.
const PAIRS: [[&str; 2]; 2] = [["send0", "in0"], ["out0", "sink0"]];

/// Who carries the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contestant {
    PacketSocket,
    PacketSocketWithoutRing,
    Xdp,
    XdpGeneric,
    Memory,
}

const ALL: [Contestant; 5] = [
    Contestant::PacketSocket,
    Contestant::PacketSocketWithoutRing,
    Contestant::Xdp,
    Contestant::XdpGeneric,
    Contestant::Memory,
];

impl Contestant {
    fn name(self) -> &'static str {
        match self {
            Contestant::PacketSocket => "packet socket",
            Contestant::PacketSocketWithoutRing => "packet socket, no ring",
            Contestant::Xdp => "AF_XDP",
            Contestant::XdpGeneric => "AF_XDP, generic",
            Contestant::Memory => "in memory",
        }
    }

    fn open(self, name: &str, frames: &[Vec<u8>]) -> Result<Box<dyn Driver>, DriverError> {
        let ring = AfPacketOptions::default();
        Ok(match self {
            Contestant::PacketSocket => Box::new(AfPacketDriver::open(name, &ring)?),
            Contestant::PacketSocketWithoutRing => {
                Box::new(AfPacketDriver::open(name, &AfPacketOptions { tx_ring: false, ..ring })?)
            }
            Contestant::Xdp => Box::new(XdpDriver::open(name, &XdpOptions::default())?),
            Contestant::XdpGeneric => {
                Box::new(XdpDriver::open(name, &XdpOptions { attach: Attach::Generic, ..XdpOptions::default() })?)
            }
            Contestant::Memory if name == PAIRS[0][1] => Box::new(GeneratorDriver::new(frames.to_vec(), u64::MAX, 0)),
            Contestant::Memory => Box::new(GeneratorDriver::new(Vec::new(), 0, 0)),
        })
    }
}

/// What one run has shown.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    sender_ns: f64,
    switch_ns: f64,
}

/// Runs the benchmark and prints it.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let namespace = NetworkNamespace::create()?;
    // Errors of another thread come back as text.
    let figures = namespace.inside(|| measure_all(arguments).map_err(|error| error.to_string()))??;
    print(arguments, &figures);
    Ok(())
}

fn measure_all(arguments: &Arguments) -> Result<[Vec<Outcome>; ALL.len()], Box<dyn Error>> {
    for [first, second] in PAIRS {
        ip(&format!("link add {first} type veth peer name {second}"))?;
        ip(&format!("link set {first} up"))?;
        ip(&format!("link set {second} up"))?;
    }
    let mut rng = Rng::new(1);
    let routes = Routes::random(arguments.routes, 2..=2, &mut rng);
    let frames = routes.frames(FRAMES, &mut rng);
    let program = Arc::new(compiled::program("apps/l3fwd/l3fwd.p4")?);
    let mut figures = [const { Vec::new() }; ALL.len()];
    for _ in 0..arguments.runs {
        for (contestant, outcomes) in ALL.into_iter().zip(&mut figures) {
            let switch = crate::router::with_routes(&program, compiled::native(&program)?, &routes)?;
            outcomes.push(measure(contestant, switch, &frames)?);
        }
    }
    Ok(figures)
}

fn ip(arguments: &str) -> Result<(), Box<dyn Error>> {
    let output = Command::new("ip").args(arguments.split(' ')).output()?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(format!("ip {arguments}: {complaint}").into()) }
}

/// One run of one contestant.
fn measure(contestant: Contestant, mut switch: Switch, frames: &[Vec<u8>]) -> Result<Outcome, Box<dyn Error>> {
    let mut drivers = [contestant.open(PAIRS[0][1], frames)?, contestant.open(PAIRS[1][0], frames)?];
    let mut sender: Option<Box<dyn Driver>> = match contestant {
        Contestant::Memory => None,
        _ => Some(Box::new(AfPacketDriver::open(PAIRS[0][0], &AfPacketOptions::default())?)),
    };
    let (mut sending, mut switching) = (Duration::ZERO, Duration::ZERO);
    let mut received = 0;
    // The first turns warm everything up.
    for turn in 0..TURNS + TURNS / 10 {
        let start = thread_time()?;
        if let Some(sender) = &mut sender {
            let turn_frames = frames.iter().cycle().skip(turn * TURN_FRAMES % frames.len()).take(TURN_FRAMES);
            turn_frames.clone().try_for_each(|frame| sender.transmit(frame, 0))?;
            sender.flush()?;
        }
        let sent = thread_time()?;
        let count = forward(&mut switch, &mut drivers)?;
        if turn >= TURNS / 10 {
            sending += sent.saturating_sub(start);
            switching += thread_time()?.saturating_sub(sent);
            received += count;
        }
    }
    if received < TURN_FRAMES * TURNS * 99 / 100 {
        return Err(format!("{}: only {received} frames came", contestant.name()).into());
    }
    let per_frame = |time: Duration| time.as_nanos() as f64 / received as f64;
    Ok(Outcome { sender_ns: per_frame(sending), switch_ns: per_frame(switching) })
}

/// The switch's turn: receives what is there, at most a turn's frames, and forwards it.
fn forward(switch: &mut Switch, drivers: &mut [Box<dyn Driver>; 2]) -> Result<usize, DriverError> {
    let [input, output] = drivers;
    let mut count = 0;
    while count < TURN_FRAMES {
        let received = input.receive(BURST_PACKETS_MAX, &mut |frame, _| {
            switch.receive(0, 1, frame);
        })?;
        if received == 0 {
            break;
        }
        count += received;
        let mut second = Second { driver: &mut **output, outcome: Ok(()) };
        switch.run(0, &mut second);
        second.outcome?;
        output.flush()?;
    }
    Ok(count)
}

/// Where the switch's frames go: all to the second port's driver.
struct Second<'a> {
    driver: &'a mut dyn Driver,
    outcome: Result<(), DriverError>,
}

impl Output for Second<'_> {
    fn transmit(&mut self, _port: u32, frame: &[u8], time_ns: u64) {
        if self.outcome.is_ok() {
            self.outcome = self.driver.transmit(frame, time_ns);
        }
    }
}

/// Time of a processor that this thread has taken.
fn thread_time() -> Result<Duration, Box<dyn Error>> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}

fn print(arguments: &Arguments, figures: &[Vec<Outcome>; ALL.len()]) {
    let switch = |outcomes: &[Outcome]| outcomes.iter().map(|it| it.switch_ns).collect::<Vec<f64>>();
    let sender = |outcomes: &[Outcome]| outcomes.iter().map(|it| it.sender_ns).collect::<Vec<f64>>();
    if arguments.json {
        let contestants: serde_json::Map<_, _> = ALL
            .iter()
            .zip(figures)
            .map(|(it, outcomes)| {
                (it.name().to_owned(), json!({ "switch_ns": switch(outcomes), "sender_ns": sender(outcomes) }))
            })
            .collect();
        println!("{}", json!({ "benchmark": "drivers", "routes": arguments.routes, "contestants": contestants }));
        return;
    }
    println!("IPv4 router, {} routes, 60-byte frames, between two veth pairs", arguments.routes);
    println!("processor time per frame, median of {} runs in turn (least to greatest)", arguments.runs);
    println!("{:<26}{:>38}{:>38}", "", "switch", "sender, and reception in the kernel");
    let (first_switch, first_sender) = (median(&switch(&figures[0])), median(&sender(&figures[0])));
    let cell = |figures: &[f64], first: f64| {
        let ((least, most), middle) = (range(figures), median(figures));
        format!("{middle:.0} ns ({least:.0} to {most:.0}), {:.2} times", middle / first)
    };
    for (contestant, outcomes) in ALL.iter().zip(figures) {
        let (switch, sender) = (cell(&switch(outcomes), first_switch), cell(&sender(outcomes), first_sender));
        println!("  {:<24}{switch:>38}{sender:>38}", contestant.name());
    }
}
