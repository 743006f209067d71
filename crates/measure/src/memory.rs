//! Runs from memory to memory: frames are lent to the core as a driver lends its buffers, and the core records the
//! port on which each frame leaves.
//!
//! The first worker has the switch itself, further workers have shards of it. Each worker processes the whole trace,
//! and each starts at a different place, so that all have the same work.

use crate::events::{self, Counted, Counters, Event};
use crate::histogram::Histogram;
use crate::traffic::{Lent, Trace};
use base::limits::BURST_PACKETS_MAX;
use live::Clock;
use std::io;
use std::sync::{Barrier, LazyLock};
use std::thread;
use std::time::{Duration, Instant};
use switch::{CoreStage, Departures, Frame, Output, Shard, Switch};

/// The minimum number of frames in a lap. A lap is timed; lending its frames again is not.
const LAP_FRAMES_MIN: usize = 4096;

/// Bursts whose frames are prepared together, as a driver does. The preparation is not measured.
pub const BURSTS_AT_ONCE: usize = 2;

/// A switch, or a shard of one.
pub trait Core: Send {
    /// Processes frames.
    fn forward(&mut self, now_ns: u64, frames: &mut [Frame<'_>], output: &mut dyn Output);
}

impl Core for Switch {
    fn forward(&mut self, now_ns: u64, frames: &mut [Frame<'_>], output: &mut dyn Output) {
        Switch::forward(self, now_ns, frames, output);
    }
}

impl Core for Shard {
    fn forward(&mut self, now_ns: u64, frames: &mut [Frame<'_>], output: &mut dyn Output) {
        Shard::forward(self, now_ns, frames, output);
    }
}

/// Consumes the output: frames in place, with the port on which the core sends each of them.
#[derive(Default)]
struct Sink {
    sent: u64,
}

impl Output for Sink {
    fn transmit(&mut self, port: u32, _frame: &[u8], _time_ns: u64) {
        self.sent += 1;
        std::hint::black_box(port);
    }

    fn transmit_burst(&mut self, departures: &Departures<'_>) {
        self.sent += departures.sent();
        std::hint::black_box(departures);
    }
}

/// What a core has processed.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Packets received.
    pub packets: u64,
    /// Packets sent.
    pub sent: u64,
    /// The time it took.
    pub elapsed: Duration,
}

impl Pass {
    fn add(&mut self, other: Pass) {
        self.packets += other.packets;
        self.sent += other.sent;
        self.elapsed += other.elapsed;
    }

    /// Nanoseconds per packet.
    pub fn packet_ns(&self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.packets as f64
    }
}

/// Sends all frames through a core `laps` times, `burst` frames per call. The clock gives the time of each burst.
pub fn drive(core: &mut impl Core, lent: &mut Lent, burst: usize, laps: usize, clock: impl Fn() -> u64) -> Pass {
    let mut pass = Pass { packets: 0, sent: 0, elapsed: Duration::ZERO };
    for _ in 0..laps {
        lent.restore();
        pass.add(lap_within(core, lent, burst, &clock, |body| body()));
    }
    pass
}

/// Sends all frames through a core once. The measured part runs in the closures that `around` is given.
pub fn lap_within(
    core: &mut impl Core,
    lent: &mut Lent,
    burst: usize,
    clock: impl Fn() -> u64,
    mut around: impl FnMut(&mut dyn FnMut()),
) -> Pass {
    let (mut sink, mut elapsed, packets) = (Sink::default(), Duration::ZERO, lent.len() as u64);
    lent.each_burst(burst * BURSTS_AT_ONCE, &clock, |frames| {
        around(&mut || {
            let started = Instant::now();
            frames.chunks_mut(burst).for_each(|frames| core.forward(clock(), frames, &mut sink));
            elapsed += started.elapsed();
        });
    });
    Pass { packets, sent: sink.sent, elapsed }
}

/// A switch under measurement. Its only source of time is this clock.
pub struct Bench<'a> {
    switch: &'a mut Switch,
    clock: Clock,
    lent: Lent,
    /// Frames that are lent at once.
    burst: usize,
    /// How often a run goes through all frames.
    laps: usize,
}

/// What a worker did in a run.
#[derive(Clone, Copy, Debug)]
pub struct Worker {
    /// Packets and time.
    pub pass: Pass,
    /// The counts of hardware events during the run.
    pub counted: Counted,
    /// Ticks of the time stamp counter during the run.
    pub ticks: Option<u64>,
}

impl<'a> Bench<'a> {
    /// Creates a bench for a switch that has not run before. Warms everything up and determines what a run of about
    /// `run` consists of: as much of the trace as fits, or several laps through all of it.
    pub fn new(switch: &'a mut Switch, trace: &Trace, burst: usize, run: Duration) -> Bench<'a> {
        let lent = Lent::of(trace, usize::MAX, LAP_FRAMES_MIN, switch.headroom_bytes());
        let mut bench = Bench { switch, clock: Clock::start(), lent, burst, laps: 1 };
        let started = Instant::now();
        let (mut seen, mut sink) = (0, Sink::default());
        let Bench { switch, clock, lent, .. } = &mut bench;
        let time = || clock.since_start_ns();
        lent.each_burst(burst, time, |frames| {
            // One burst at least: the thread may not get a processor for as long as the run lasts.
            if seen == 0 || started.elapsed() < run {
                seen += frames.len();
                switch.forward(clock.since_start_ns(), frames, &mut sink);
            }
        });
        if seen < bench.lent.len() {
            bench.lent = Lent::of(trace, seen, 1, bench.switch.headroom_bytes());
            return bench;
        }
        // The first lap ran with cold caches.
        let started = Instant::now();
        let (mut laps, mut elapsed) = (0, Duration::ZERO);
        while laps == 0 || started.elapsed() < run / 4 {
            elapsed += bench.drive(1).elapsed;
            laps += 1;
        }
        let lap = elapsed.as_secs_f64() / f64::from(laps);
        bench.laps = ((run.as_secs_f64() / lap).round() as usize).max(1);
        bench
    }

    fn drive(&mut self, laps: usize) -> Pass {
        let clock = &self.clock;
        drive(self.switch, &mut self.lent, self.burst, laps, || clock.since_start_ns())
    }

    /// The switch.
    pub fn switch(&self) -> &Switch {
        self.switch
    }

    /// The number of distinct frames of the trace that a run sends.
    pub fn used(&self) -> usize {
        self.lent.distinct()
    }

    /// One run with this number of workers, each of which makes all laps. More than one worker requires a switch that
    /// can be divided into shards; otherwise only one runs.
    pub fn run(&mut self, workers: usize) -> io::Result<Vec<Worker>> {
        let mut shards = self.switch.resume_shards(workers.saturating_sub(1));
        let (all, clock, burst, laps) = (shards.len() + 1, &self.clock, self.burst, self.laps);
        let frames = self.lent.len();
        let ready = Barrier::new(all);
        let done = thread::scope(|scope| {
            let others: Vec<_> = shards
                .iter_mut()
                .zip(1..)
                .map(|(shard, worker)| {
                    let (mut lent, ready) = (self.lent.beginning_at(worker * frames / all), &ready);
                    scope.spawn(move || run_worker(shard, &mut lent, burst, laps, ready, clock))
                })
                .collect();
            let first = run_worker(self.switch, &mut self.lent, burst, laps, &ready, clock);
            let others =
                others.into_iter().map(|worker| worker.join().map_err(|_| io::Error::other("a worker failed")));
            std::iter::once(Ok(first)).chain(others).collect()
        });
        self.switch.quiesce(shards);
        done
    }

    /// The time that packets spend in the switch: from the reception of a burst, of at most as many packets as the
    /// core processes together, until everything that it causes has been sent.
    pub fn latencies(&mut self) -> Histogram {
        let (mut histogram, mut sink) = (Histogram::default(), Sink::default());
        let Bench { switch, clock, lent, burst, laps } = self;
        for _ in 0..*laps {
            lent.restore();
            let time = || clock.since_start_ns();
            lent.each_burst((*burst).min(BURST_PACKETS_MAX), time, |frames| {
                let received_ns = clock.since_start_ns();
                switch.forward(received_ns, frames, &mut sink);
                histogram.record(clock.since_start_ns().saturating_sub(received_ns), frames.len() as u64);
            });
        }
        histogram
    }

    /// Nanoseconds per packet of each stage of the core, including the cost of reading the clock.
    pub fn stages(&mut self) -> Vec<(&'static str, f64)> {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        self.switch.measure_stages(Some(|| START.elapsed().as_nanos() as u64));
        let pass = self.drive(self.laps);
        let stage = |stage: CoreStage| (stage.name(), self.switch.stage_ns(stage) as f64 / pass.packets as f64);
        let stages = CoreStage::ALL.map(stage).to_vec();
        self.switch.measure_stages(None);
        stages
    }
}

/// The run of one worker, which begins when all workers are ready. Lending frames again is not measured.
fn run_worker(
    core: &mut impl Core,
    lent: &mut Lent,
    burst: usize,
    laps: usize,
    ready: &Barrier,
    clock: &Clock,
) -> Worker {
    let mut counters = Counters::open();
    let pass = Pass { packets: 0, sent: 0, elapsed: Duration::ZERO };
    let mut worker = Worker { pass, counted: [Some(0.0); Event::ALL.len()], ticks: Some(0) };
    ready.wait();
    for _ in 0..laps {
        lent.restore();
        let (ticks, counted) = (&mut worker.ticks, &mut worker.counted);
        let pass = lap_within(
            core,
            lent,
            burst,
            || clock.since_start_ns(),
            |body| {
                let before = events::ticks();
                let ((), more) = counters.count(body);
                let spent = before.zip(events::ticks()).map(|(before, after)| after.wrapping_sub(before));
                *ticks = ticks.zip(spent).map(|(sum, more)| sum + more);
                for (sum, more) in counted.iter_mut().zip(more) {
                    *sum = sum.zip(more).map(|(sum, more)| sum + more);
                }
            },
        );
        worker.pass.add(pass);
    }
    worker
}
