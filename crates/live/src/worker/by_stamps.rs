//! Runs over captures alone: time is that of the stamps of their frames.
//!
//! What enters: the frames of all ports in the order of their stamps, and the ticks of timers between them. What
//! leaves: the frames that the switch sends, with the stamps of the moments at which they left. There is one worker,
//! and no clock is read.
//!
//! A timer ticks at whole periods after the first frame; a frame with the stamp of a tick comes before it. When the
//! captures are at their ends, each timer ticks once more, or as often as its port specifies, so that the program can
//! emit what it holds back. Everything before a tick has been processed, round by round, when it comes.

use super::{Ended, Inbox, WAIT_MAX, Worker};
use crate::driver::DriverError;
use crate::poll::Poller;
use crate::signals::StopFlag;
use crate::timer::TimerDriver;
use std::io;
use switch::Switch;
use switch::workers::Wanted;

/// The remark on workers.
const REMARK: &str = "captures are processed by one worker, in the order of the stamps of their frames";

/// The remark on timers.
const TIMERS_REMARK: &str = "time is that of the packets in captures, not of the clock: a timer ticks between them, and \
after the last one as often as its port says (once if it says nothing)";

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

/// The progress of a run.
#[derive(Default)]
struct Progress {
    heads: Vec<Head>,
    /// How often each timer ticks after the last frame.
    ticks_left: Vec<u64>,
    /// The stamp of the first frame, which is the core's time 0.
    first_ns: Option<u64>,
    /// The core's time of its last input.
    batch_ns: u64,
}

impl Progress {
    fn start_ns(&self) -> u64 {
        self.first_ns.unwrap_or(0)
    }

    /// The core's time of a stamp. Stamps of a capture may step back; the core's time may not.
    fn core_ns(&self, stamp_ns: u64) -> u64 {
        stamp_ns.saturating_sub(self.start_ns()).max(self.batch_ns)
    }

    /// The stamp of the core's last input.
    fn last_ns(&self) -> u64 {
        self.start_ns().saturating_add(self.batch_ns)
    }
}

impl Worker<'_, '_, '_, '_> {
    pub(super) fn run_by_stamps(&mut self, stop: &StopFlag) -> io::Result<Ended> {
        let common = self.common;
        common.workers.want(Wanted::Fixed(1));
        common.workers.set_remark(REMARK.to_owned());
        if let Some(timers) = &self.timers {
            timers.set_remark(TIMERS_REMARK);
        }
        let mut poller = Poller::new();
        let mut progress = Progress::default();
        let mut stopping = false;
        loop {
            if stop.stopped() && !std::mem::replace(&mut stopping, true) {
                self.ports.drivers_mut().iter_mut().for_each(|driver| driver.stop_receiving());
            }
            self.work_on_jobs(progress.batch_ns);
            self.note_ports(&mut progress);
            let first = self.earliest(&mut progress.heads);
            if let Some(position) = first
                && progress.first_ns.is_none()
            {
                progress.first_ns = Some(progress.heads[position].stamp_ns);
                self.each_timer(|_, timer| timer.go_by_stamps(progress.first_ns));
            }
            if let Some((position, due_ns)) = self.next_tick(&mut progress, first) {
                self.tick(&mut progress, position, due_ns);
                continue;
            }
            if let Some(position) = first {
                self.give(&mut progress, position);
                continue;
            }
            if !self.keeps_running || stopping {
                break;
            }
            // Packets from controllers belong, from now on, to the moment of the last frame.
            self.run_switch(&mut common.core(), progress.batch_ns, progress.start_ns());
            self.look_round();
            if !self.inbox.as_ref().is_some_and(Inbox::has_jobs) {
                self.wait_for(&mut poller, WAIT_MAX)?;
            }
        }
        self.run_until(&mut common.core(), progress.batch_ns, u64::MAX, progress.start_ns());
        Ok(if stopping { Ended::Stopped } else { Ended::Exhausted })
    }

    /// Adds new ports, which are timers.
    fn note_ports(&mut self, progress: &mut Progress) {
        if progress.heads.len() == self.ports.len() {
            return;
        }
        progress.heads.resize_with(self.ports.len(), Head::default);
        let known = progress.ticks_left.len();
        progress.ticks_left.resize(self.ports.len(), 0);
        let (last_ns, has_begun) = (progress.last_ns(), progress.first_ns.is_some());
        let ticks_left = &mut progress.ticks_left;
        self.each_timer(|position, timer| {
            if position < known {
                return Ok(());
            }
            ticks_left[position] = timer.ticks_after();
            timer.go_by_stamps(has_begun.then_some(last_ns))
        });
    }

    /// Calls `act` on every timer; one that fails is reported.
    fn each_timer(&mut self, mut act: impl FnMut(usize, &mut TimerDriver) -> Result<(), DriverError>) {
        for position in 0..self.ports.len() {
            if let Some(timer) = self.ports.driver(position).as_timer()
                && let Err(error) = act(position, timer)
                && self.ports.note_failure(position)
            {
                self.events.port_failed(self.ports.number(position), &error);
            }
        }
    }

    /// The timer that ticks before the next frame, or after the last one, and when.
    fn next_tick(&mut self, progress: &mut Progress, first: Option<usize>) -> Option<(usize, u64)> {
        progress.first_ns?;
        let until_ns = first.map_or(u64::MAX, |position| progress.heads[position].stamp_ns);
        let last_ns = progress.last_ns();
        let ticks_left = &progress.ticks_left;
        let mut next: Option<(usize, u64)> = None;
        self.each_timer(|position, timer| {
            let may_tick = first.is_some() || ticks_left[position] > 0;
            if let Some(due_ns) = timer.due_stamp_ns(last_ns)?
                && may_tick
                && due_ns < next.map_or(until_ns, |(_, due_ns)| due_ns)
            {
                next = Some((position, due_ns));
            }
            Ok(())
        });
        if let (Some((position, _)), None) = (next, first) {
            progress.ticks_left[position] -= 1;
        }
        next
    }

    /// Passes the frames of a timer's tick to the core.
    fn tick(&mut self, progress: &mut Progress, position: usize, due_ns: u64) {
        let (now_ns, start_ns) = (progress.core_ns(due_ns), progress.start_ns());
        let number = self.ports.number(position);
        let Some(frames) = self.ports.driver(position).as_timer().map(TimerDriver::tick_by_stamp) else { return };
        let mut switch = self.common.core();
        self.run_until(&mut switch, progress.batch_ns, now_ns, start_ns);
        progress.batch_ns = now_ns;
        for frame in &*frames {
            if switch.receive(now_ns, number, frame) {
                self.run_switch(&mut switch, now_ns, start_ns);
            }
        }
        self.run_switch(&mut switch, now_ns, start_ns);
        drop(switch);
        self.look_round();
    }

    /// Passes the next frame of a port to the core.
    fn give(&mut self, progress: &mut Progress, position: usize) {
        let head = &mut progress.heads[position];
        head.full = false;
        let stamp_ns = head.stamp_ns;
        let (now_ns, start_ns) = (progress.core_ns(stamp_ns), progress.start_ns());
        let mut switch = self.common.core();
        if now_ns != progress.batch_ns && switch.shows_time() {
            self.run_until(&mut switch, progress.batch_ns, now_ns, start_ns);
        }
        progress.batch_ns = now_ns;
        if switch.receive(now_ns, self.ports.number(position), &progress.heads[position].frame) {
            self.run_switch(&mut switch, now_ns, start_ns);
            drop(switch);
            self.look_round();
        }
    }

    /// Processes what was received up to `now_ns`, then queued packets that are due before `until_ns`.
    fn run_until(&mut self, switch: &mut Switch, now_ns: u64, until_ns: u64, start_ns: u64) {
        self.run_switch(switch, now_ns, start_ns);
        while let Some(due_ns) = switch.next_event_ns().filter(|&due_ns| due_ns < until_ns) {
            self.run_switch(switch, due_ns, start_ns);
        }
    }

    /// The port whose next frame has the earliest stamp; the first port among equals. Timers have none.
    fn earliest(&mut self, heads: &mut [Head]) -> Option<usize> {
        for (position, head) in heads.iter_mut().enumerate() {
            let driver = self.ports.driver(position);
            if driver.as_timer().is_some() {
                continue;
            }
            while !head.full && !self.ports.driver(position).exhausted() {
                let mut fill = |frame: &[u8], stamp_ns: u64| head.fill(frame, stamp_ns);
                if let Err(error) = self.ports.driver(position).receive(1, &mut fill) {
                    self.ports.note_failure(position);
                    self.events.port_failed(self.ports.number(position), &error);
                    break;
                }
            }
        }
        let full = heads.iter().enumerate().filter(|(_, head)| head.full);
        full.min_by_key(|(_, head)| head.stamp_ns).map(|(position, _)| position)
    }
}
