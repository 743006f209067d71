//! The worker: joins the drivers of some ports to a switch core.
//!
//! What enters: a [`Switch`], a [`Setup`] with one driver per port, a stop flag. What leaves: frames on the drivers,
//! digests, log lines and packets for the CPU to an [`Events`], and in the end [`Ended`]. Everything happens on the
//! calling thread, which may be any. Other threads access the switch through a mailbox, whose jobs are run between
//! bursts; an empty one costs a load per round.
//!
//! There are two modes of time. With an interface among the ports, time is that of the clock. With captures alone,
//! time is that of their time stamps: frames enter in the order of their stamps over all ports, the core's time is
//! the difference from the first stamp, and sent frames get the stamp of the moment at which they left. A run over
//! captures thus gives the same packets each time, however fast the machine is (unless jobs intervene). `by_stamps`
//! implements this mode.
//!
//! A run ends when no port will ever deliver again. A switch without ports continues while it has a mailbox: its
//! packets come from there. So does one that controllers use ([`Setup::keeps_running`]).
//!
//! A stop ends reception at the drivers, processes everything that they had already received, sends the contents of
//! coalescing buffers, drains the queues that are due, and flushes: no packet that was received is lost. Only a queue
//! with a rate may hold packets for longer than `DRAIN_MAX`; those stay in the core, and [`Switch::queued`] is their
//! number.

mod by_stamps;

use crate::clock::Clock;
use crate::driver::{Driver, DriverError};
use crate::load::{Policy, Worth};
use crate::mailbox::Inbox;
use crate::poll::Poller;
use crate::processor_time::{Activity, ProcessorTime};
use crate::signals::StopFlag;
use crate::specialiser::{News, Specialiser};
use crate::timer::TimerDriver;
use crate::worker_pool::WorkerPool;
use crate::worker_pool::batch::Note;
use crate::worker_pool::worker_thread::{Common, LOOKS_NS};
use base::Bits;
use base::limits::BURST_PACKETS_MAX;
use ir::{DigestId, Program};
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use switch::timers::Timers;
use switch::workers::{Wanted, Workers};
use switch::{Burst, CpuPort, Output, Switch};

pub use crate::ports::{Port, Ports};

/// How long a worker without packets waits before it checks the stop flag again.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// How often the load of the workers is measured, in nanoseconds.
const LOOK_NS: u64 = 100_000_000;

/// How often [`Events::tick`] is called.
const TICK: Duration = Duration::from_secs(1);

/// How long packets may wait in queues with a rate after a stop before they are given up.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// How many times a timer that was added during the run ticks after the last packet of captures.
const TICKS_AFTER: u64 = 1;

/// The remark while frames are not distributed.
const STAY: &str = "frames of ports with one queue stay with the first worker, since handing them over would cost more \
                    than it gains";

/// The remark on a program whose packets' order only one worker can preserve.
const ORDERED: &str = "the program joins or splits packets or adds entries, and one worker keeps their order";
/// And on ports that do not.
const DIVIDED: &str = "; ports with several queues reorder them: open them with one (--workers 1 when the switch \
                       starts, ?queues=1 for DPDK, one channel of an interface for AF_XDP)";

/// The components of a run beside its switch.
#[derive(Default)]
pub struct Setup {
    /// The ports.
    pub ports: Vec<Port>,
    /// Jobs of other threads.
    pub inbox: Option<Inbox>,
    /// The CPU port: frames that are sent to it go to [`Events::packet_in`]. No port of this number may have a
    /// driver. It is the one for the program that runs.
    pub cpu_port: CpuPort,
    /// The run continues when no port will ever deliver again: somebody else uses the switch, through the mailbox.
    pub keeps_running: bool,
    /// Set when a link may have changed ([`crate::links`]); without it, links are polled once a second.
    pub links_changed: Option<Arc<AtomicBool>>,
    /// Specialises the pipeline to the contents of tables, if requested.
    pub specialiser: Option<Specialiser>,
    /// The number of workers, which may change during the run; without it, one.
    pub workers: Option<Arc<Workers>>,
    /// The timers of the ports; those that are added during the run get ports. A thread that adds one sends a job.
    pub timers: Option<Arc<Timers>>,
}

impl Setup {
    /// Ports and nothing else.
    pub fn of_ports(ports: Vec<Port>) -> Setup {
        Setup { ports, ..Setup::default() }
    }
}

/// Receives the events of a run. It is called between packets and must not lock the switch's tables
/// ([`switch::SharedTables::lock`]), nor wait for a thread that does.
pub trait Events {
    /// About once a second, and once at the end.
    fn tick(&mut self, _switch: &Switch, _ports: &Ports) {}
    /// A digest of the program.
    fn digest(&mut self, _digest: DigestId, _values: Vec<Bits>) {}
    /// A line that the program logs.
    fn log(&mut self, _line: &str) {}
    /// An assertion of the program failed.
    fn assertion_failed(&mut self, _text: &str) {}
    /// A frame for the control plane, sent to the CPU port.
    fn packet_in(&mut self, _frame: &[u8]) {}
    /// A job has installed another program in the switch; later digests belong to it.
    fn program_changed(&mut self, _program: &Arc<Program>) {}
    /// The switch has begun or ceased to run specialised code.
    fn specialised(&mut self, _news: &News) {}
    /// A port lost its link, or has it again. Reported at once if the system notifies ([`Setup::links_changed`]),
    /// else within about a second; at the start all have it.
    fn link_changed(&mut self, _port: u32, _has_link: bool) {}
    /// There is a further port.
    fn port_added(&mut self, _port: u32, _driver: &dyn Driver) {}
    /// A port has failed. The others continue.
    fn port_failed(&mut self, _port: u32, _error: &DriverError) {}
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The stop flag was set.
    Stopped,
    /// No port will ever deliver a frame again.
    Exhausted,
}

/// Runs the switch on its ports until they are exhausted or the flag is set, and returns the ports with their
/// counters. Jobs that were not run by then are dropped.
pub fn run(switch: &mut Switch, setup: Setup, stop: &StopFlag, events: &mut dyn Events) -> io::Result<(Ended, Ports)> {
    let Setup { ports, inbox, cpu_port: cpu_ports, keeps_running, links_changed, specialiser, workers, timers } = setup;
    let keeps_running = inbox.is_some() && (keeps_running || ports.is_empty());
    let by_stamps = !ports.is_empty() && ports.iter().all(|port| port.is_capture);
    let mut ports = Ports::new(ports);
    ports.open_queues();
    let workers = workers.unwrap_or_else(|| Arc::new(Workers::new(Wanted::Fixed(1), 1)));
    let cpu_port = cpu_ports.of(switch.program().architecture);
    let common = Common::new(switch, workers)?;
    std::thread::scope(|scope| {
        let pool = WorkerPool::new(scope, &common);
        let (common, last_tick) = (&common, Instant::now());
        let load = Follower::default();
        let mut worker = Worker {
            common,
            pool,
            load,
            ports,
            inbox,
            cpu_ports,
            cpu_port,
            keeps_running,
            links_changed,
            specialiser,
            timers_known: 0,
            timers,
            events,
            last_tick,
            goes_alone: by_stamps,
            is_ordered: false,
        };
        // There may be timers of an earlier run, for which no port was opened.
        worker.take_in_timers();
        worker.follow_order();
        let ended = if by_stamps { worker.run_by_stamps(stop)? } else { worker.run_by_clock(stop)? };
        worker.each_driver(|driver| driver.finish());
        worker.each_driver(|driver| driver.housekeeping());
        worker.events.tick(&common.core(), &worker.ports);
        Ok((ended, worker.ports))
    })
}

struct Worker<'a, 'scope, 'env, 's> {
    common: &'env Common<'s>,
    pool: WorkerPool<'scope, 'env, 's>,
    load: Follower,
    ports: Ports,
    inbox: Option<Inbox>,
    cpu_ports: CpuPort,
    /// The one for the program that runs.
    cpu_port: Option<u32>,
    keeps_running: bool,
    links_changed: Option<Arc<AtomicBool>>,
    specialiser: Option<Specialiser>,
    timers: Option<Arc<Timers>>,
    /// How many of them have ports.
    timers_known: usize,
    events: &'a mut dyn Events,
    last_tick: Instant,
    /// No frame will arrive that other workers could help with.
    goes_alone: bool,
    /// Only one worker can preserve the order of packets.
    is_ordered: bool,
}

impl<'s> Worker<'_, '_, '_, 's> {
    // ------------------------------------------------------------------------------------------- by the clock

    fn run_by_clock(&mut self, stop: &StopFlag) -> io::Result<Ended> {
        let common = self.common;
        let clock = common.clock;
        let mut poller = Poller::new();
        let mut stopping: Option<Instant> = None;
        let mut has_released = false;
        let mut worked_ns = 0;
        loop {
            if stop.stopped() && stopping.is_none() {
                stopping = Some(Instant::now());
                self.resize(1);
                self.ports.drivers_mut().iter_mut().for_each(|driver| driver.stop_receiving());
            }
            self.work_on_jobs(clock.since_start_ns());
            if stopping.is_none() {
                self.follow_wanted();
            }
            let received = self.receive_round();
            self.run_switch(&mut common.core(), clock.since_start_ns(), clock.start_ns());
            let returned = self.take_returns();
            self.each_driver(|driver| driver.flush());
            self.look_round();
            if let Some(load) = common.workers.load(0) {
                load.count(received as u64);
            }
            let activity = if received + returned > 0 { Activity::Working } else { Activity::Looking };
            self.load.spend(common, activity);
            if received + returned > 0 {
                worked_ns = self.load.told_ns;
                continue;
            }
            if stopping.is_some() && !std::mem::replace(&mut has_released, true) {
                common.core().release_buffers();
                continue;
            }
            let waiting = common.core().next_event_ns();
            if let Some(since) = stopping
                && (waiting.is_none() || since.elapsed() > DRAIN_MAX)
            {
                return Ok(Ended::Stopped);
            }
            if waiting.is_none() && self.ports.all_exhausted() && !self.keeps_running && self.pool.is_exhausted() {
                if !self.pool.is_there() {
                    return Ok(Ended::Exhausted);
                }
                self.resize(1);
                self.goes_alone = true;
                continue;
            }
            if self.inbox.as_ref().is_some_and(Inbox::has_jobs) {
                continue;
            }
            let is_soon = self.pool.is_there() && self.load.told_ns.saturating_sub(worked_ns) < LOOKS_NS;
            if is_soon || !self.pool.hand_over(false) {
                std::thread::yield_now();
                continue;
            }
            self.wait(&mut poller, &clock, waiting)?;
        }
    }

    /// Receives up to a burst from each port and processes it, or distributes it over all workers. Returns the number
    /// of frames.
    fn receive_round(&mut self) -> usize {
        let common = self.common;
        // A worker that is too slow gets no more; frames that are not received wait in their queues.
        let spreads = self.pool.is_spread_to();
        let has_room = self.pool.hand_over(true);
        let now_ns = common.clock.since_start_ns();
        let start_ns = common.clock.start_ns();
        let mut total = 0;
        for position in 0..self.ports.len() {
            let is_spread = spreads && !self.ports.is_divided(position);
            if is_spread && !has_room {
                continue;
            }
            let (pool, events, cpu_port) = (&mut self.pool, &mut *self.events, self.cpu_port);
            let worth = &mut self.load.worth;
            let (count, error) = self.ports.lend(position, now_ns, |ports, burst: &mut Burst<'_>| {
                let refused = burst.refused();
                let frames = burst.frames();
                let own = if is_spread { pool.spread(frames) } else { frames.len() };
                let mut switch = common.turn();
                switch.refuse(refused);
                let mut output = PortsOutput { ports, cpu_port, events: &mut *events, start_ns };
                let began_ns = common.clock.since_start_ns();
                switch.forward(began_ns, &mut frames[..own], &mut output);
                worth.note(own, common.clock.since_start_ns().saturating_sub(began_ns));
            });
            total += count;
            if let Some(error) = error {
                self.events.port_failed(self.ports.number(position), &error);
            }
        }
        self.pool.hand_over(total >= BURST_PACKETS_MAX);
        total
    }

    fn wait(&mut self, poller: &mut Poller, clock: &Clock, waiting_ns: Option<u64>) -> io::Result<()> {
        let until_next = waiting_ns.map(|due| Duration::from_nanos(due.saturating_sub(clock.since_start_ns())));
        self.wait_for(poller, until_next.unwrap_or(WAIT_MAX).min(WAIT_MAX))
    }

    fn wait_for(&mut self, poller: &mut Poller, timeout: Duration) -> io::Result<()> {
        let mut gone = None;
        let mut wake_ups: [RawFd; 2] = [self.common.wake_up.fd(); 2];
        let mut count = 1;
        if let Some(inbox) = &self.inbox {
            wake_ups[count] = inbox.fd();
            count += 1;
        }
        let began = Instant::now();
        self.common.wake_up.begin_sleep();
        let is_over = !self.keeps_running && self.pool.is_there() && self.pool.is_exhausted();
        if !is_over && !self.pool.has_return() {
            let on_gone = &mut |position, error| gone = Some((position, error));
            poller.wait(self.ports.drivers_mut(), &wake_ups[..count], timeout, on_gone)?;
        }
        self.common.wake_up.end_sleep();
        self.ports.waited += began.elapsed();
        self.load.spend(self.common, Activity::Sleeping);
        if let Some((position, error)) = gone
            && self.ports.note_failure(position)
        {
            self.events.port_failed(self.ports.number(position), &error);
        }
        Ok(())
    }

    // ------------------------------------------------------------------------------------------- with other workers

    /// Runs a function on the whole switch and all ports, as if there were no other workers.
    fn alone<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        if !self.pool.is_there() {
            return act(self);
        }
        self.pool.halt();
        // Their pending events belong to the present program and settings.
        self.take_returns();
        self.pool.quiesce(&mut self.ports);
        let result = act(self);
        self.resume();
        result
    }

    /// Lets halted workers process all that is in transit between them.
    fn empty(&mut self) {
        loop {
            let is_left = self.pool.drain();
            if self.take_returns() == 0 && !is_left {
                break;
            }
        }
    }

    fn resume(&mut self) {
        if self.pool.will_spread_otherwise() {
            self.empty();
        }
        let turns = self.pool.resume(&mut self.ports);
        let stay = self.pool.is_there() && !self.pool.is_spread_to() && self.ports.is_any_whole();
        let stay = if stay { STAY.to_owned() } else { self.order_remark() };
        self.common.workers.set_remark(turns.unwrap_or(stay));
    }

    /// Sets the number of workers. Nothing is in transit between them when flows and queues are reassigned.
    fn resize(&mut self, workers: usize) {
        if workers == self.pool.workers() {
            return;
        }
        self.pool.halt();
        self.empty();
        self.pool.quiesce(&mut self.ports);
        self.each_driver(|driver| driver.flush());
        let result = self.pool.resize(workers);
        self.resume();
        let count = self.pool.workers();
        self.common.workers.became(count);
        if let Err(error) = result {
            // The switch continues with the present number.
            self.common.workers.want(Wanted::Fixed(count));
            self.common.workers.set_remark(format!("the system refused more than {count} workers: {error}"));
        }
    }

    /// Reduces to one worker if the program requires it.
    fn follow_order(&mut self) {
        let is_ordered = !self.goes_alone && self.common.core().is_ordered();
        if is_ordered || std::mem::replace(&mut self.is_ordered, is_ordered) {
            self.is_ordered = is_ordered;
            self.common.workers.allow_one(is_ordered);
            self.common.workers.set_remark(self.order_remark());
        }
    }

    /// Why workers cannot help, if it is because of the order of packets.
    fn order_remark(&self) -> String {
        match self.is_ordered {
            true if self.ports.is_any_divided() => format!("{ORDERED}{DIVIDED}"),
            true => ORDERED.to_owned(),
            false => String::new(),
        }
    }

    /// Starts or stops workers until there are as many as requested.
    fn follow_wanted(&mut self) {
        let wanted = match self.common.workers.wanted() {
            _ if self.goes_alone => 1,
            Wanted::Fixed(count) => count,
            Wanted::Auto => match self.load.wanted(self.common) {
                // They would have no work.
                2.. if !self.ports.is_any_divided() && !self.pool.should_spread() => 1,
                wanted => wanted,
            },
        };
        self.resize(wanted);
        self.follow_worth();
    }

    /// Starts or stops the distribution of frames, depending on whether it is worthwhile.
    fn follow_worth(&mut self) {
        let now_ns = self.load.told_ns;
        let judges = now_ns.saturating_sub(self.load.judged_ns) >= LOOK_NS;
        let pays = match self.common.workers.spreads_always() {
            false if !judges => return,
            always => self.load.worth.judge() || always,
        };
        self.load.judged_ns = now_ns;
        if pays != std::mem::replace(&mut self.pool.pays, pays) && self.pool.will_spread_otherwise() {
            self.alone(|_| ());
        }
    }

    /// Handles the frames and events that other workers have for this one. Returns the number of batches.
    fn take_returns(&mut self) -> usize {
        let mut count = 0;
        while let Some(batch) = self.pool.take() {
            let start_ns = self.common.clock.start_ns();
            let (ports, cpu_port) = (&mut self.ports, self.cpu_port);
            let mut output = PortsOutput { ports, cpu_port, events: self.events, start_ns };
            for (port, frame, time_ns) in batch.departing() {
                output.transmit(port, frame, time_ns);
            }
            for note in &batch.notes {
                match note {
                    Note::Digest(digest, values) => self.events.digest(*digest, values.clone()),
                    Note::Log(line) => self.events.log(line),
                    Note::AssertionFailed(text) => self.events.assertion_failed(text),
                    Note::PortFailed(port, error) => self.events.port_failed(*port, error),
                }
            }
            self.pool.keep(batch);
            count += 1;
        }
        count
    }

    // --------------------------------------------------------------------------------------------------- shared

    /// Runs jobs, if there are any, at the core's time `now_ns`.
    fn work_on_jobs(&mut self, now_ns: u64) {
        if !self.inbox.as_ref().is_some_and(Inbox::has_jobs) {
            return;
        }
        self.alone(|worker| {
            let Some(inbox) = &mut worker.inbox else { return };
            let mut switch = worker.common.core();
            let program = Arc::clone(switch.program());
            inbox.work(&mut switch, now_ns);
            let is_other = !Arc::ptr_eq(&program, switch.program());
            if is_other {
                worker.cpu_port = worker.cpu_ports.of(switch.program().architecture);
                worker.events.program_changed(switch.program());
            }
            drop(switch);
            if is_other {
                worker.follow_order();
            }
            worker.take_in_timers();
        });
    }

    /// Opens ports for timers that have been added.
    fn take_in_timers(&mut self) {
        let Some(timers) = self.timers.as_ref().filter(|timers| timers.count() != self.timers_known) else { return };
        let timers = timers.all();
        self.timers_known = timers.len();
        for (number, timer) in timers {
            if self.ports.has(number) {
                continue;
            }
            match TimerDriver::open(timer, TICKS_AFTER) {
                Ok(driver) => {
                    self.events.port_added(number, &driver);
                    self.ports.add(number, Box::new(driver));
                }
                Err(error) => self.events.port_failed(number, &error),
            }
        }
    }

    /// Runs the core at its time `now_ns`; its time 0 is the stamp `start_ns`.
    fn run_switch(&mut self, switch: &mut Switch, now_ns: u64, start_ns: u64) {
        let mut output = PortsOutput { ports: &mut self.ports, cpu_port: self.cpu_port, events: self.events, start_ns };
        switch.run(now_ns, &mut output);
    }

    /// Calls `act` on every driver; a driver that fails is reported once.
    fn each_driver(&mut self, act: impl FnMut(&mut dyn Driver) -> Result<(), DriverError>) {
        let events = &mut *self.events;
        self.ports.each_failing(act, |port, error| events.port_failed(port, &error));
    }

    fn look_at_links(&mut self) {
        let events = &mut *self.events;
        self.ports.look_at_links(|port, has_link| events.link_changed(port, has_link));
    }

    /// Installs specialised code if it is ready, or starts its compilation if the tables are stable.
    fn look_at_tables(&mut self) {
        let Some(specialiser) = &mut self.specialiser else { return };
        let common = self.common;
        let mut switch = common.core();
        let packets = switch.stats().received;
        if let Some(news) = specialiser.look(&mut switch, common.clock.since_start_ns(), packets) {
            let code = switch.specialisation().map(|special| special.to_string());
            common.workers.set_code(code.unwrap_or_default());
            self.events.specialised(&news);
        }
    }

    fn look_round(&mut self) {
        // One load per round, as long as nothing has changed.
        if let Some(changed) = &self.links_changed
            && changed.load(Ordering::Relaxed)
            && changed.swap(false, Ordering::Acquire)
        {
            self.look_at_links();
        }
        if self.last_tick.elapsed() >= TICK {
            self.last_tick = Instant::now();
            self.alone(|worker| {
                worker.each_driver(|driver| driver.housekeeping());
                worker.look_at_links();
                worker.look_at_tables();
                worker.events.tick(&worker.common.core(), &worker.ports);
            });
        }
    }
}

/// Measures how busy the workers are.
#[derive(Default)]
struct Follower {
    policy: Policy,
    /// Whether handing frames to other workers is worthwhile, and when that was decided.
    worth: Worth,
    judged_ns: u64,
    /// When the loads were measured last, and how long each worker had been busy by then.
    looked_ns: u64,
    busy_ns: Vec<u64>,
    /// Up to when this worker has accounted for its time.
    told_ns: u64,
    processor_time: ProcessorTime,
}

impl Follower {
    /// What the first worker did since the last call.
    fn spend(&mut self, common: &Common<'_>, activity: Activity) {
        let now_ns = common.clock.since_start_ns();
        let spent_ns = now_ns.saturating_sub(std::mem::replace(&mut self.told_ns, now_ns));
        if let Some(load) = common.workers.load(0) {
            let waited_ns = if activity == Activity::Working { 0 } else { spent_ns };
            load.spend(self.processor_time.note(activity, spent_ns), waited_ns);
        }
    }

    /// How many workers the load requires.
    fn wanted(&mut self, common: &Common<'_>) -> usize {
        let (now_ns, count) = (self.told_ns, common.workers.now());
        let elapsed_ns = now_ns.saturating_sub(self.looked_ns);
        if elapsed_ns < LOOK_NS {
            return count;
        }
        let busy_ns: Vec<u64> =
            (0..count).map(|worker| common.workers.load(worker).map_or(0, |load| load.snapshot().busy_ns)).collect();
        let before = std::mem::replace(&mut self.busy_ns, busy_ns);
        self.looked_ns = now_ns;
        if before.len() != count {
            // Some of them have not existed all the time.
            return count;
        }
        let share = |(now, before): (&u64, &u64)| (now.saturating_sub(*before) as f64 / elapsed_ns as f64).min(1.0);
        let shares: Vec<f64> = self.busy_ns.iter().zip(&before).map(share).collect();
        self.policy.observe(now_ns, &shares, common.workers.auto_max())
    }
}

/// The receiver of the core's output.
struct PortsOutput<'a> {
    ports: &'a mut Ports,
    cpu_port: Option<u32>,
    events: &'a mut dyn Events,
    /// The time stamp of the core's time 0.
    start_ns: u64,
}

impl Output for PortsOutput<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        if self.cpu_port == Some(port) {
            self.events.packet_in(frame);
            return;
        }
        match self.ports.transmit(port, frame, self.start_ns.saturating_add(time_ns)) {
            None => self.ports.unconnected_frames += 1,
            Some(Ok(())) => {}
            Some(Err(error)) => self.events.port_failed(port, &error),
        }
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        self.events.digest(digest, values);
    }

    fn log(&mut self, line: &str) {
        self.events.log(line);
    }

    fn assertion_failed(&mut self, text: &str) {
        self.events.assertion_failed(text);
    }
}
