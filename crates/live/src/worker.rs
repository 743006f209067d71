//! The worker: joins the drivers of some ports to a switch core.
//!
//! What enters: a [`Switch`], a [`Setup`] with one driver per port, a stop flag. What leaves: frames on the drivers,
//! digests, log lines and packets for the CPU at an [`Events`], and in the end [`Ended`]. Everything happens on the
//! calling thread, which may be any. Other threads reach the switch through a mailbox, whose jobs are run between
//! bursts; an empty one costs a load per round.
//!
//! Two ways to pass time. With an interface among the ports, time is the clock's. With captures alone, time is that of
//! their stamps: frames enter in the order of their stamps over all ports, the core's time is the stamp's distance from
//! the first, and sent frames get the stamp of the moment that they left at. A run over captures thus gives the same
//! packets each time, whatever the machine is doing (and whatever jobs do not change).
//!
//! A run ends when no port will ever deliver again. A switch without any port runs on while it has a mailbox: its
//! packets come from there. So does one that controllers use ([`Setup::goes_on`]).
//!
//! A stop asks the drivers to end reception, works on everything that they had already handed over, empties the queues
//! that are due, and flushes: no packet that was received is lost. Only a queue with a rate may hold packets for longer
//! than `DRAIN_MAX`; those stay in the core, whose [`Switch::queued`] tells how many they are.

use crate::clock::Clock;
use crate::driver::{Driver, DriverError};
use crate::mailbox::Inbox;
use crate::poll::Poller;
use crate::signals::StopFlag;
use base::Bits;
use base::limits::BURST_PACKETS_MAX;
use ir::{DigestId, Program};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use switch::traffic::PORT_MAX;
use switch::{Output, Switch};

/// How long a worker without packets waits before it looks at the stop flag again.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// How often [`Events::tick`] is called.
const TICK: Duration = Duration::from_secs(1);

/// How long packets may wait in queues with a rate after a stop before they are given up.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// A port of the switch.
pub struct Port {
    /// The number that the program sees.
    pub number: u32,
    /// What is behind it.
    pub driver: Box<dyn Driver>,
    /// Whether its frames come with stamps of a capture.
    pub is_capture: bool,
}

/// What a run works with beside its switch.
#[derive(Default)]
pub struct Setup {
    /// The ports.
    pub ports: Vec<Port>,
    /// Jobs of other threads.
    pub inbox: Option<Inbox>,
    /// The port behind which the control plane is: frames that are sent to it go to [`Events::packet_in`]. No port of
    /// this number may have a driver.
    pub cpu_port: Option<u32>,
    /// The run goes on when no port will ever deliver again: somebody else uses the switch, through the mailbox.
    pub goes_on: bool,
    /// Set by whoever learns that a link may have come or gone ([`crate::links`]); without it, that is found out once a
    /// second.
    pub links_changed: Option<Arc<AtomicBool>>,
}

impl Setup {
    /// Ports and nothing else.
    pub fn of_ports(ports: Vec<Port>) -> Setup {
        Setup { ports, ..Setup::default() }
    }
}

/// What a run tells while it goes. Whoever listens is called between packets and must not ask for the switch's tables
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
    /// A job has put another program in the switch; digests from now on are this one's.
    fn program_changed(&mut self, _program: &Arc<Program>) {}
    /// A port lost its link, or has it again. Told at once if the system tells ([`Setup::links_changed`]), else within
    /// about a second; at the start all have it.
    fn link_changed(&mut self, _port: u32, _has_link: bool) {}
    /// A port goes no further. The others do.
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

/// The ports of a worker.
pub struct Ports {
    numbers: Vec<u32>,
    drivers: Vec<Box<dyn Driver>>,
    /// Positions by number, up to [`PORT_MAX`].
    by_number: Vec<Option<usize>>,
    /// Positions of the ports of greater numbers.
    far: BTreeMap<u32, usize>,
    failed: Vec<bool>,
    has_link: Vec<bool>,
    /// Frames that the core sent to a port that has no driver.
    pub unconnected_frames: u64,
    /// How long the worker has waited for something to do; in the rest of the time it worked.
    pub waited: Duration,
}

impl Ports {
    /// Number and driver of each port.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &dyn Driver)> {
        self.numbers.iter().copied().zip(self.drivers.iter().map(|driver| &**driver))
    }

    fn new(ports: Vec<Port>) -> Ports {
        let mut by_number = Vec::new();
        let mut far = BTreeMap::new();
        for (position, port) in ports.iter().enumerate() {
            if port.number > PORT_MAX {
                far.insert(port.number, position);
                continue;
            }
            let number = port.number as usize;
            if by_number.len() <= number {
                by_number.resize(number + 1, None);
            }
            by_number[number] = Some(position);
        }
        Ports {
            numbers: ports.iter().map(|port| port.number).collect(),
            failed: vec![false; ports.len()],
            has_link: vec![true; ports.len()],
            drivers: ports.into_iter().map(|port| port.driver).collect(),
            by_number,
            far,
            unconnected_frames: 0,
            waited: Duration::ZERO,
        }
    }

    fn position(&self, number: u32) -> Option<usize> {
        if number > PORT_MAX { self.far.get(&number).copied() } else { *self.by_number.get(number as usize)? }
    }

    fn all_exhausted(&self) -> bool {
        self.drivers.iter().all(|driver| driver.exhausted())
    }

    /// Does the same to every driver; a driver that fails is reported once.
    fn each(&mut self, events: &mut dyn Events, mut act: impl FnMut(&mut dyn Driver) -> Result<(), DriverError>) {
        for position in 0..self.drivers.len() {
            if let Err(error) = act(&mut *self.drivers[position]) {
                self.fail(position, &error, events);
            }
        }
    }

    /// Tells of links that came or went. A port that failed has none.
    fn look_at_links(&mut self, events: &mut dyn Events) {
        for position in 0..self.drivers.len() {
            let has_link = !self.failed[position] && self.drivers[position].has_link();
            if std::mem::replace(&mut self.has_link[position], has_link) != has_link {
                events.link_changed(self.numbers[position], has_link);
            }
        }
    }

    fn fail(&mut self, position: usize, error: &DriverError, events: &mut dyn Events) {
        if !std::mem::replace(&mut self.failed[position], true) {
            events.port_failed(self.numbers[position], error);
        }
    }
}

/// Runs the switch on its ports until they are exhausted or the flag is set, and gives the ports back for their
/// counters. Jobs that were not run by then are dropped.
pub fn run(switch: &mut Switch, setup: Setup, stop: &StopFlag, events: &mut dyn Events) -> io::Result<(Ended, Ports)> {
    let Setup { ports, inbox, cpu_port, goes_on, links_changed } = setup;
    let goes_on = inbox.is_some() && (goes_on || ports.is_empty());
    let by_stamps = !ports.is_empty() && ports.iter().all(|port| port.is_capture);
    let (ports, last_tick) = (Ports::new(ports), Instant::now());
    let mut worker = Worker { switch, ports, inbox, cpu_port, goes_on, links_changed, events, last_tick };
    let ended = if by_stamps { worker.run_by_stamps(stop)? } else { worker.run_by_clock(stop)? };
    worker.ports.each(worker.events, |driver| driver.finish());
    worker.ports.each(worker.events, |driver| driver.housekeeping());
    worker.events.tick(worker.switch, &worker.ports);
    Ok((ended, worker.ports))
}

struct Worker<'a> {
    switch: &'a mut Switch,
    ports: Ports,
    inbox: Option<Inbox>,
    cpu_port: Option<u32>,
    goes_on: bool,
    links_changed: Option<Arc<AtomicBool>>,
    events: &'a mut dyn Events,
    last_tick: Instant,
}

impl Worker<'_> {
    // ------------------------------------------------------------------------------------------- by the clock

    fn run_by_clock(&mut self, stop: &StopFlag) -> io::Result<Ended> {
        let clock = Clock::start();
        let mut poller = Poller::new();
        let mut stopping: Option<Instant> = None;
        loop {
            if stop.stopped() && stopping.is_none() {
                stopping = Some(Instant::now());
                self.ports.drivers.iter_mut().for_each(|driver| driver.stop_receiving());
            }
            self.run_jobs(clock.since_start_ns());
            let received = self.receive_round(&clock);
            self.run_switch(clock.since_start_ns(), clock.start_ns());
            self.ports.each(self.events, |driver| driver.flush());
            self.tick();
            if received > 0 {
                continue;
            }
            let waiting = self.switch.next_event_ns();
            if let Some(since) = stopping
                && (waiting.is_none() || since.elapsed() > DRAIN_MAX)
            {
                return Ok(Ended::Stopped);
            }
            if waiting.is_none() && self.ports.all_exhausted() && !self.goes_on {
                return Ok(Ended::Exhausted);
            }
            if self.inbox.as_ref().is_some_and(Inbox::has_jobs) {
                continue;
            }
            self.wait(&mut poller, &clock, waiting)?;
        }
    }

    /// Takes up to a burst from each port and works on it. Returns how many frames came.
    fn receive_round(&mut self, clock: &Clock) -> usize {
        let mut total = 0;
        for position in 0..self.ports.drivers.len() {
            let number = self.ports.numbers[position];
            let now_ns = clock.since_start_ns();
            let switch = &mut *self.switch;
            let mut deliver = |frame: &[u8], _stamp_ns: u64| {
                switch.receive(now_ns, number, frame);
            };
            match self.ports.drivers[position].receive(BURST_PACKETS_MAX, &mut deliver) {
                Ok(0) => continue,
                Ok(count) => total += count,
                Err(error) => self.ports.fail(position, &error, self.events),
            }
            self.run_switch(clock.since_start_ns(), clock.start_ns());
        }
        total
    }

    fn wait(&mut self, poller: &mut Poller, clock: &Clock, waiting_ns: Option<u64>) -> io::Result<()> {
        let until_next = waiting_ns.map(|due| Duration::from_nanos(due.saturating_sub(clock.since_start_ns())));
        self.wait_for(poller, until_next.unwrap_or(WAIT_MAX).min(WAIT_MAX))
    }

    fn wait_for(&mut self, poller: &mut Poller, timeout: Duration) -> io::Result<()> {
        let mut gone = None;
        let bell: Option<RawFd> = self.inbox.as_ref().map(Inbox::fd);
        let began = Instant::now();
        poller.wait(&mut self.ports.drivers, bell, timeout, &mut |position, error| gone = Some((position, error)))?;
        self.ports.waited += began.elapsed();
        if let Some((position, error)) = gone {
            self.ports.fail(position, &error, self.events);
        }
        Ok(())
    }

    // ------------------------------------------------------------------------------------------- by time stamps

    fn run_by_stamps(&mut self, stop: &StopFlag) -> io::Result<Ended> {
        let mut poller = Poller::new();
        let mut heads: Vec<Head> = self.ports.drivers.iter().map(|_| Head::default()).collect();
        let mut first_ns = None;
        let mut batch_ns = 0;
        let mut stopping = false;
        loop {
            if stop.stopped() && !std::mem::replace(&mut stopping, true) {
                self.ports.drivers.iter_mut().for_each(|driver| driver.stop_receiving());
            }
            self.run_jobs(batch_ns);
            let Some(position) = self.earliest(&mut heads) else {
                if !self.goes_on || stopping {
                    break;
                }
                // What controllers send from now on is of the moment of the last frame.
                self.run_switch(batch_ns, first_ns.unwrap_or(0));
                self.tick();
                if !self.inbox.as_ref().is_some_and(Inbox::has_jobs) {
                    self.wait_for(&mut poller, WAIT_MAX)?;
                }
                continue;
            };
            let head = &mut heads[position];
            let start_ns = *first_ns.get_or_insert(head.stamp_ns);
            // Stamps of a capture may step back; the core's time may not.
            let now_ns = head.stamp_ns.saturating_sub(start_ns).max(batch_ns);
            if now_ns != batch_ns && self.switch.shows_time() {
                self.run_until(batch_ns, now_ns, start_ns);
            }
            batch_ns = now_ns;
            head.full = false;
            if self.switch.receive(now_ns, self.ports.numbers[position], &head.frame) {
                self.run_switch(now_ns, start_ns);
                self.tick();
            }
        }
        let start_ns = first_ns.unwrap_or(0);
        self.run_until(batch_ns, u64::MAX, start_ns);
        Ok(if stopping { Ended::Stopped } else { Ended::Exhausted })
    }

    /// Works on what was received up to `now_ns`, then on queued packets that are due before `until_ns`.
    fn run_until(&mut self, now_ns: u64, until_ns: u64, start_ns: u64) {
        self.run_switch(now_ns, start_ns);
        while let Some(due_ns) = self.switch.next_event_ns().filter(|&due_ns| due_ns < until_ns) {
            self.run_switch(due_ns, start_ns);
        }
    }

    /// The port whose next frame has the earliest stamp; the first port among equals.
    fn earliest(&mut self, heads: &mut [Head]) -> Option<usize> {
        for (position, head) in heads.iter_mut().enumerate() {
            let driver = &mut self.ports.drivers[position];
            while !head.full && !driver.exhausted() {
                if let Err(error) = driver.receive(1, &mut |frame, stamp_ns| head.fill(frame, stamp_ns)) {
                    self.ports.failed[position] = true;
                    self.events.port_failed(self.ports.numbers[position], &error);
                    break;
                }
            }
        }
        let full = heads.iter().enumerate().filter(|(_, head)| head.full);
        full.min_by_key(|(_, head)| head.stamp_ns).map(|(position, _)| position)
    }

    // --------------------------------------------------------------------------------------------------- shared

    /// Runs jobs, if there are any, at the core's time `now_ns`.
    fn run_jobs(&mut self, now_ns: u64) {
        let Some(inbox) = self.inbox.as_mut().filter(|inbox| inbox.has_jobs()) else { return };
        let program = Arc::clone(self.switch.program());
        inbox.work(self.switch, now_ns);
        if !Arc::ptr_eq(&program, self.switch.program()) {
            self.events.program_changed(self.switch.program());
        }
    }

    /// Runs the core at its time `now_ns`; its time 0 is the stamp `start_ns`.
    fn run_switch(&mut self, now_ns: u64, start_ns: u64) {
        let mut output = PortsOutput { ports: &mut self.ports, cpu_port: self.cpu_port, events: self.events, start_ns };
        self.switch.run(now_ns, &mut output);
    }

    fn tick(&mut self) {
        // A load, as long as nothing has changed.
        if let Some(changed) = &self.links_changed
            && changed.load(Ordering::Relaxed)
            && changed.swap(false, Ordering::Acquire)
        {
            self.ports.look_at_links(self.events);
        }
        if self.last_tick.elapsed() >= TICK {
            self.last_tick = Instant::now();
            self.ports.each(self.events, |driver| driver.housekeeping());
            self.ports.look_at_links(self.events);
            self.events.tick(self.switch, &self.ports);
        }
    }
}

/// The next frame of a port.
#[derive(Default)]
struct Head {
    frame: Vec<u8>,
    stamp_ns: u64,
    full: bool,
}

impl Head {
    fn fill(&mut self, frame: &[u8], stamp_ns: u64) {
        self.frame.clear();
        self.frame.extend_from_slice(frame);
        self.stamp_ns = stamp_ns;
        self.full = true;
    }
}

/// Where the core's output goes.
struct PortsOutput<'a> {
    ports: &'a mut Ports,
    cpu_port: Option<u32>,
    events: &'a mut dyn Events,
    /// The stamp of the core's time 0.
    start_ns: u64,
}

impl Output for PortsOutput<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        if self.cpu_port == Some(port) {
            self.events.packet_in(frame);
            return;
        }
        let Some(position) = self.ports.position(port) else {
            self.ports.unconnected_frames += 1;
            return;
        };
        if let Err(error) = self.ports.drivers[position].transmit(frame, self.start_ns.saturating_add(time_ns)) {
            self.ports.fail(position, &error, self.events);
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
