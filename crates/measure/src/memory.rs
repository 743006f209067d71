//! Runs from memory to memory: frames are lent to the core, what it sends is looked at and forgotten.
//!
//! One worker has the switch itself, further ones have lanes of it. Each goes through the whole trace, from a place of
//! its own on, so that all have the same work.

use crate::events::{self, Counted, Counters};
use crate::histogram::Histogram;
use crate::traffic::Burst;
use base::limits::BURST_PACKETS_MAX;
use live::Clock;
use std::io;
use std::sync::{Barrier, LazyLock};
use std::thread;
use std::time::{Duration, Instant};
use switch::{CoreStage, Departures, Frame, Lane, Output, Switch};

/// A core of a switch.
pub trait Core: Send {
    /// Takes packets in.
    fn receive_burst(&mut self, now_ns: u64, port: u32, frames: &[&[u8]]);
    /// Works on them.
    fn run(&mut self, now_ns: u64, output: &mut dyn Output);
}

impl Core for Switch {
    fn receive_burst(&mut self, now_ns: u64, port: u32, frames: &[&[u8]]) {
        Switch::receive_burst(self, now_ns, port, frames);
    }
    fn run(&mut self, now_ns: u64, output: &mut dyn Output) {
        Switch::run(self, now_ns, output);
    }
}

impl Core for Lane {
    fn receive_burst(&mut self, now_ns: u64, port: u32, frames: &[&[u8]]) {
        Lane::receive_burst(self, now_ns, port, frames);
    }
    fn run(&mut self, now_ns: u64, output: &mut dyn Output) {
        Lane::run(self, now_ns, output);
    }
}

/// Notes on which port each packet leaves, as a switch does that hands frames over without looking at them.
struct Sink {
    sent: u64,
    ports: [u32; BURST_PACKETS_MAX],
}

impl Default for Sink {
    fn default() -> Sink {
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

/// What a core has done.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Packets that it got.
    pub packets: u64,
    /// Packets that it sent.
    pub sent: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl Pass {
    /// Nanoseconds per packet.
    pub fn packet_ns(&self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.packets as f64
    }
}

/// Sends these bursts through a core. The clock tells it the time; it is asked once per burst.
pub fn drive<'a, 'b: 'a>(
    core: &mut impl Core,
    bursts: impl Iterator<Item = &'a Burst<'b>>,
    mut clock: impl FnMut() -> u64,
) -> Pass {
    let (mut sink, mut packets) = (Sink::default(), 0);
    let started = Instant::now();
    for burst in bursts {
        let now_ns = clock();
        core.receive_burst(now_ns, burst.port, &burst.frames);
        core.run(now_ns, &mut sink);
        packets += burst.frames.len() as u64;
    }
    let elapsed = started.elapsed();
    std::hint::black_box(sink.ports);
    Pass { packets, sent: sink.sent, elapsed }
}

/// Frames that are lent at once.
const LENT_FRAMES_MAX: usize = 256;

/// The same with frames of one size that are lent as a driver lends its buffers: each lies at the beginning of a piece
/// of `stride` bytes. They are worked on where they lie, all at one moment.
pub fn drive_in_place(switch: &mut Switch, bytes: &mut [u8], stride: usize, frame_bytes: usize) -> Pass {
    let (mut sink, packets) = (Sink::default(), (bytes.len() / stride) as u64);
    let mut lent = Vec::with_capacity(LENT_FRAMES_MAX);
    let started = Instant::now();
    for burst in bytes.chunks_mut(LENT_FRAMES_MAX * stride) {
        lent.extend(burst.chunks_exact_mut(stride).map(|frame| Frame::new(&mut frame[..frame_bytes], 1, 0)));
        switch.forward(0, &mut lent, &mut sink);
        lent.clear();
    }
    let elapsed = started.elapsed();
    std::hint::black_box(sink.ports);
    Pass { packets, sent: sink.sent, elapsed }
}

/// The bursts of a trace again and again, beginning somewhere.
fn again<'a, 'b>(
    bursts: &'a [Burst<'b>],
    rounds: usize,
    first: usize,
) -> impl Iterator<Item = &'a Burst<'b>> + use<'a, 'b> {
    (0..rounds).flat_map(move |_| bursts[first..].iter().chain(&bursts[..first]))
}

/// How much of a trace fits into the time of a run, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first bursts.
    pub bursts: usize,
    /// Rounds through them.
    pub rounds: usize,
}

/// A switch that is measured: it knows no other time than that of this clock.
pub struct Bench<'a> {
    switch: &'a mut Switch,
    clock: Clock,
}

/// What a worker has done in a run.
#[derive(Clone, Copy, Debug)]
pub struct Worker {
    /// Packets and time.
    pub pass: Pass,
    /// What the processor has counted meanwhile.
    pub counted: Counted,
    /// Ticks of the time stamp counter.
    pub ticks: Option<u64>,
}

impl<'a> Bench<'a> {
    /// A bench for a switch that was not run before.
    pub fn new(switch: &'a mut Switch) -> Bench<'a> {
        Bench { switch, clock: Clock::start() }
    }

    /// The switch.
    pub fn switch(&self) -> &Switch {
        self.switch
    }

    /// Warms everything up and finds out what a run of about so long is.
    pub fn extent(&mut self, bursts: &[Burst<'_>], run: Duration) -> Extent {
        let started = Instant::now();
        let (mut seen, mut rounds) = (0, 0_u32);
        while seen < bursts.len() && started.elapsed() < run {
            seen += self.one_round(&bursts[seen..(seen + 16).min(bursts.len())]);
        }
        if seen < bursts.len() {
            return Extent { bursts: seen, rounds: 1 };
        }
        // The first round was through cold caches.
        let started = Instant::now();
        while rounds == 0 || started.elapsed() < run / 4 {
            self.one_round(bursts);
            rounds += 1;
        }
        let round = started.elapsed().as_secs_f64() / f64::from(rounds);
        Extent { bursts: seen, rounds: ((run.as_secs_f64() / round).round() as usize).max(1) }
    }

    fn one_round(&mut self, bursts: &[Burst<'_>]) -> usize {
        let clock = &self.clock;
        drive(self.switch, bursts.iter(), || clock.since_start_ns());
        bursts.len()
    }

    /// One run with so many workers, each of which makes so many rounds. The switch must divide if they are more than
    /// one; if it does not, only one works.
    pub fn run(&mut self, bursts: &[Burst<'_>], rounds: usize, workers: usize) -> io::Result<Vec<Worker>> {
        let mut lanes = self.switch.send_out(workers.saturating_sub(1));
        let (all, clock) = (lanes.len() + 1, &self.clock);
        let place = |worker: usize| worker * bursts.len() / all;
        let ready = Barrier::new(all);
        let done = thread::scope(|scope| {
            let others: Vec<_> = lanes
                .iter_mut()
                .zip(1..)
                .map(|(lane, worker)| {
                    let (bursts, ready) = (again(bursts, rounds, place(worker)), &ready);
                    scope.spawn(move || work(lane, bursts, ready, clock))
                })
                .collect();
            let first = work(self.switch, again(bursts, rounds, 0), &ready, clock);
            let others =
                others.into_iter().map(|worker| worker.join().map_err(|_| io::Error::other("a worker failed")));
            std::iter::once(Ok(first)).chain(others).collect()
        });
        self.switch.call_in(lanes);
        done
    }

    /// How long packets are in the switch: from the reception of a burst until all that it causes has been sent.
    pub fn latencies(&mut self, bursts: &[Burst<'_>], rounds: usize) -> Histogram {
        let (mut histogram, mut sink) = (Histogram::default(), Sink::default());
        for burst in again(bursts, rounds, 0) {
            let received_ns = self.clock.since_start_ns();
            Core::receive_burst(self.switch, received_ns, burst.port, &burst.frames);
            Core::run(self.switch, received_ns, &mut sink);
            let sent_ns = self.clock.since_start_ns();
            histogram.record(sent_ns.saturating_sub(received_ns), burst.frames.len() as u64);
        }
        std::hint::black_box(sink.ports);
        histogram
    }

    /// Nanoseconds per packet of each stage of the core. The clock's own cost is in it.
    pub fn stages(&mut self, bursts: &[Burst<'_>], rounds: usize) -> Vec<(&'static str, f64)> {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        self.switch.measure_stages(Some(|| START.elapsed().as_nanos() as u64));
        let clock = &self.clock;
        let pass = drive(self.switch, again(bursts, rounds, 0), || clock.since_start_ns());
        let stage = |stage: CoreStage| (stage.name(), self.switch.stage_ns(stage) as f64 / pass.packets as f64);
        let stages = CoreStage::ALL.map(stage).to_vec();
        self.switch.measure_stages(None);
        stages
    }
}

/// The run of one worker, which begins when all are there.
fn work<'a, 'b: 'a>(
    core: &mut impl Core,
    bursts: impl Iterator<Item = &'a Burst<'b>>,
    ready: &Barrier,
    clock: &Clock,
) -> Worker {
    let mut counters = Counters::open();
    ready.wait();
    let before = events::ticks();
    let (pass, counted) = counters.count(|| drive(core, bursts, || clock.since_start_ns()));
    let ticks = before.zip(events::ticks()).map(|(before, after)| after.wrapping_sub(before));
    Worker { pass, counted, ticks }
}
