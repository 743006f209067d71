//! Ports on which the switch generates packets periodically, like the packet generators of hardware switches.
//!
//! What enters: a [`Timer`], which the control plane may change while packets flow. What leaves: the timer's frames,
//! with each tick. What is sent to such a port is dropped and counted, as on a null port.
//!
//! A tick that comes late comes once: those in between were missed and are counted, and the next one is on schedule.
//! So a slow switch is not slowed down further by missed ticks.
//!
//! Two modes of time, as for the worker. By the clock, the driver ticks when the time has come, and a timer of the
//! system wakes a worker that waits. By the time stamps of captures, it delivers nothing by itself: the worker calls
//! the ticks between packets, at whole periods after the first packet, and a given number of times after the last.
//! The same captures thus always give the same ticks.

use crate::clock;
use crate::counters::PortCounters;
use crate::driver::{Deliver, Driver, DriverError};
use crate::pcap::{CaptureReader, PACKET_BYTES_MAX};
use base::limits::TIMER_FRAMES_MAX;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use switch::timers::{Timer, TimerError};

/// A port with a timer.
pub struct TimerDriver {
    timer: Arc<Timer>,
    /// The version of the settings in use.
    changes: u64,
    period_ns: Option<u64>,
    frames: Arc<[Vec<u8>]>,
    /// The next frame of the current tick; the number of frames if there is no current tick.
    next: usize,
    due: Due,
    /// Wakes a worker that waits.
    alarm: TimerFd,
    ticks_after: u64,
    has_stopped: bool,
    counters: Arc<PortCounters>,
}

/// The time of the next tick.
#[derive(Clone, Copy)]
enum Due {
    /// By the clock.
    At(Instant),
    /// By time stamps, in nanoseconds since 1970; `None` before the first packet.
    Stamp(Option<u64>),
}

fn system(error: nix::Error) -> DriverError {
    DriverError::system("set a timer of the system", error.into())
}

impl TimerDriver {
    /// A port for a timer, which starts now.
    pub fn open(timer: Arc<Timer>, ticks_after: u64) -> Result<TimerDriver, DriverError> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let alarm = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).map_err(system)?;
        let frames = timer.frames();
        let mut driver = TimerDriver {
            changes: 0,
            period_ns: None,
            next: frames.len(),
            frames,
            due: Due::At(Instant::now()),
            alarm,
            ticks_after,
            has_stopped: false,
            counters: Arc::default(),
            timer,
        };
        driver.follow()?;
        Ok(driver)
    }

    /// The same for a new timer with the packets of a capture.
    pub fn open_template(
        period_ns: u64,
        ticks_after: u64,
        template: Option<&Path>,
    ) -> Result<TimerDriver, DriverError> {
        let frames = template.map(read_template).transpose()?.unwrap_or_default();
        TimerDriver::open(Arc::new(Timer::new(period_ns, frames)?), ticks_after)
    }

    /// The timer, for threads that change it.
    pub fn timer(&self) -> &Arc<Timer> {
        &self.timer
    }

    /// How many times it ticks after the last packet, if time is that of stamps.
    pub fn ticks_after(&self) -> u64 {
        self.ticks_after
    }

    /// Checks whether the timer was changed. A new period begins now.
    fn follow(&mut self) -> Result<(), DriverError> {
        let changes = self.timer.changes();
        if changes == self.changes {
            return Ok(());
        }
        self.changes = changes;
        self.frames = self.timer.frames();
        self.next = self.frames.len();
        let period_ns = self.timer.period_ns();
        if std::mem::replace(&mut self.period_ns, period_ns) == period_ns {
            return Ok(());
        }
        if let Due::At(due) = &mut self.due {
            *due = Instant::now() + Duration::from_nanos(period_ns.unwrap_or(0));
            self.set_alarm()?;
        }
        Ok(())
    }

    /// Sets the system's timer to wake the worker at the next tick by the clock, and clears earlier expirations.
    fn set_alarm(&self) -> Result<(), DriverError> {
        let Due::At(due) = self.due else { return Ok(()) };
        if self.period_ns.is_none() || self.has_stopped {
            return self.alarm.unset().map_err(system);
        }
        // A time of 0 would disarm it.
        let left = due.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
        self.alarm.set(Expiration::OneShot(TimeSpec::from(left)), TimerSetTimeFlags::empty()).map_err(system)
    }

    /// Begins a tick if the time has come.
    fn tick_by_clock(&mut self) -> Result<(), DriverError> {
        let (Some(period_ns), Due::At(due), false) = (self.period_ns, self.due, self.has_stopped) else {
            return Ok(());
        };
        let Some(late) = Instant::now().checked_duration_since(due) else { return Ok(()) };
        let missed = (late.as_nanos() / u128::from(period_ns)) as u64;
        let next = Duration::from_nanos(period_ns.saturating_mul(missed.saturating_add(1)));
        self.due = Due::At(due + next);
        self.begin(missed);
        self.set_alarm()
    }

    fn begin(&mut self, missed: u64) {
        self.next = 0;
        self.timer.ticked(missed);
        self.counters.rx_missed_ticks.add(missed);
    }

    /// Delivers frames of the current tick.
    fn deliver(&mut self, limit: usize, stamp_ns: u64, deliver: Deliver<'_>) -> usize {
        let count = limit.min(self.frames.len() - self.next);
        let frames = &self.frames[self.next..self.next + count];
        frames.iter().for_each(|frame| deliver(frame, stamp_ns));
        self.counters.rx_packets.add(count as u64);
        self.counters.rx_bytes.add(frames.iter().map(|frame| frame.len() as u64).sum());
        self.next += count;
        count
    }

    // ------------------------------------------------------------------------------------------- by time stamps

    /// Uses time stamps from now on: the first tick is a period after this one, if there has been one.
    pub fn go_by_stamps(&mut self, stamp_ns: Option<u64>) -> Result<(), DriverError> {
        self.due = Due::Stamp(None);
        self.follow()?;
        let period_ns = self.period_ns.unwrap_or(0);
        self.due = Due::Stamp(stamp_ns.map(|stamp_ns| stamp_ns.saturating_add(period_ns)));
        self.alarm.unset().map_err(system)
    }

    /// When it ticks next, if the last packet had the stamp `now_ns`; `None` if it does not.
    pub fn due_stamp_ns(&mut self, now_ns: u64) -> Result<Option<u64>, DriverError> {
        let before = self.period_ns;
        self.follow()?;
        if before != self.period_ns && matches!(self.due, Due::Stamp(Some(_))) {
            self.due = Due::Stamp(Some(now_ns.saturating_add(self.period_ns.unwrap_or(0))));
        }
        match self.due {
            Due::Stamp(due_ns) if self.period_ns.is_some() && !self.has_stopped => Ok(due_ns),
            _ => Ok(None),
        }
    }

    /// Ticks: the frames that arrive now.
    pub fn tick_by_stamp(&mut self) -> Arc<[Vec<u8>]> {
        if let (Some(period_ns), Due::Stamp(Some(due_ns))) = (self.period_ns, self.due) {
            self.due = Due::Stamp(Some(due_ns.saturating_add(period_ns)));
        }
        self.begin(0);
        self.deliver(usize::MAX, 0, &mut |_, _| ());
        Arc::clone(&self.frames)
    }
}

/// The packets of a capture, which contains at least one.
fn read_template(path: &Path) -> Result<Vec<Vec<u8>>, DriverError> {
    let mut reader = CaptureReader::<File>::open(path)?;
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet()? {
        frames.push(packet.data.to_vec());
        if frames.len() > TIMER_FRAMES_MAX {
            return Err(TimerError::Frames.into());
        }
    }
    if frames.is_empty() { Err(DriverError::EmptyTemplate { path: path.to_owned() }) } else { Ok(frames) }
}

impl Driver for TimerDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        if self.next == self.frames.len() {
            self.follow()?;
            self.tick_by_clock()?;
            if self.next == self.frames.len() {
                return Ok(0);
            }
        }
        Ok(self.deliver(limit, clock::wall_clock_ns(), deliver))
    }

    fn transmit(&mut self, frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        let counter = match frame.len() {
            ..=PACKET_BYTES_MAX => &self.counters.tx_dropped_no_output,
            _ => &self.counters.tx_dropped_too_long,
        };
        counter.add(1);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn wait_on(&self, descriptors: &mut Vec<RawFd>) {
        descriptors.push(self.alarm.as_fd().as_raw_fd());
    }

    fn exhausted(&self) -> bool {
        self.has_stopped && self.next == self.frames.len()
    }

    fn frame_bytes_max(&self) -> usize {
        PACKET_BYTES_MAX
    }

    fn stop_receiving(&mut self) {
        self.has_stopped = true;
        // If a timer cannot be disarmed, the worker only wakes once more.
        let _woken_once = self.alarm.unset();
    }

    fn as_timer(&mut self) -> Option<&mut TimerDriver> {
        Some(self)
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcap::CaptureWriter;
    use std::thread;

    fn timer(period: Duration, frames: Vec<Vec<u8>>) -> TimerDriver {
        TimerDriver::open(Arc::new(Timer::new(period.as_nanos() as u64, frames).unwrap()), 1).unwrap()
    }

    fn receive(driver: &mut TimerDriver, limit: usize) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        driver.receive(limit, &mut |frame, _| frames.push(frame.to_vec())).unwrap();
        frames
    }

    #[test]
    fn a_late_tick_comes_once_and_those_missed_are_counted() {
        let mut driver = timer(Duration::from_millis(20), vec![vec![1; 20], vec![2; 30]]);
        assert!(receive(&mut driver, 64).is_empty());
        thread::sleep(Duration::from_millis(70));
        assert_eq!(receive(&mut driver, 1), [vec![1; 20]]);
        assert_eq!(receive(&mut driver, 64), [vec![2; 30]]);
        let counters = driver.counters().snapshot();
        assert_eq!((counters.rx_packets, counters.rx_bytes), (2, 50));
        assert!(counters.rx_missed_ticks >= 2, "{counters:?}");
        assert_eq!((driver.timer.ticks(), driver.timer.missed()), (1, counters.rx_missed_ticks));
    }

    #[test]
    fn a_timer_that_was_changed_is_followed() {
        let mut driver = timer(Duration::from_secs(3600), Vec::new());
        assert!(receive(&mut driver, 64).is_empty());
        driver.timer.set(1_000_000, vec![vec![7; 14]]).unwrap();
        let began = Instant::now();
        let mut got = Vec::new();
        while got.is_empty() {
            assert!(began.elapsed() < Duration::from_secs(20), "it never ticks");
            got = receive(&mut driver, 64);
        }
        assert_eq!(got, [vec![7; 14]]);
        driver.timer.stop();
        thread::sleep(Duration::from_millis(5));
        assert!(receive(&mut driver, 64).is_empty());
        assert!(!driver.exhausted(), "it may be set again");
        driver.stop_receiving();
        assert!(driver.exhausted());
    }

    #[test]
    fn a_tick_under_way_is_delivered_after_a_stop() {
        let mut driver = timer(Duration::from_millis(1), vec![vec![1; 14], vec![2; 14]]);
        thread::sleep(Duration::from_millis(5));
        assert_eq!(receive(&mut driver, 1).len(), 1);
        driver.stop_receiving();
        assert!(!driver.exhausted());
        assert_eq!(receive(&mut driver, 64), [vec![2; 14]]);
        thread::sleep(Duration::from_millis(5));
        assert!(driver.exhausted() && receive(&mut driver, 64).is_empty());
    }

    #[test]
    fn by_stamps_it_ticks_at_the_given_times() {
        let mut driver = timer(Duration::from_millis(1), Vec::new());
        driver.go_by_stamps(Some(5_000_000)).unwrap();
        thread::sleep(Duration::from_millis(5));
        assert!(receive(&mut driver, 64).is_empty(), "the clock means nothing");
        let mut stamps = Vec::new();
        for _ in 0..3 {
            let due_ns = driver.due_stamp_ns(0).unwrap().unwrap();
            assert_eq!(driver.tick_by_stamp()[..], [vec![0; 60]]);
            stamps.push(due_ns);
        }
        assert_eq!(driver.counters().snapshot().rx_packets, 3);
        assert_eq!(stamps, [6_000_000, 7_000_000, 8_000_000]);
        driver.timer.set(3_000_000, Vec::new()).unwrap();
        assert_eq!(driver.due_stamp_ns(8_100_000).unwrap(), Some(11_100_000));
        driver.timer.stop();
        assert_eq!(driver.due_stamp_ns(8_200_000).unwrap(), None);
    }

    #[test]
    fn a_template_has_packets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("template.pcap");
        CaptureWriter::create(&path).unwrap().flush().unwrap();
        let error = TimerDriver::open_template(1_000, 1, Some(&path)).err().unwrap();
        assert!(error.to_string().contains("contains no packets"), "{error}");
        let mut writer = CaptureWriter::create(&path).unwrap();
        (0..=TIMER_FRAMES_MAX).for_each(|_| writer.write(&[1; 14], 0).unwrap());
        writer.flush().unwrap();
        let error = TimerDriver::open_template(1_000, 1, Some(&path)).err().unwrap();
        assert_eq!(error.to_string(), "a tick brings at most 1024 packets");
    }
}
