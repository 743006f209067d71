//! Timers: ports where packets arrive by themselves, again and again.
//!
//! What enters: the settings of each timer, from any thread; how often it has ticked, from the driver of its port. What
//! leaves: the same, to any reader. Nothing happens here: a driver reads its timer between bursts, and the first worker
//! makes drivers for new timers.

use base::limits::{PACKET_BYTES_MAX, TIMER_FRAMES_MAX, TIMER_PERIOD_NS_MAX, TIMER_PERIOD_NS_MIN};
use base::{OrderedMap, OrderedSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The shortest frame that a tick brings: an Ethernet header.
const FRAME_BYTES_MIN: usize = 14;

/// What a tick brings by default: the shortest frame of Ethernet without its checksum, all zero.
const EMPTY_FRAME: [u8; 60] = [0; 60];

/// The timer of one port.
#[derive(Debug)]
pub struct Timer {
    /// 0 while it stands still.
    period_ns: AtomicU64,
    frames: Mutex<Arc<[Vec<u8>]>>,
    /// How often period or frames were set; when it changes, the driver reads both.
    changes: AtomicU64,
    ticks: AtomicU64,
    missed: AtomicU64,
}

/// Why a timer is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerError {
    /// The period is shorter or longer than any may be.
    Period,
    /// There are more frames than a tick may bring.
    Frames,
    /// A frame is shorter than an Ethernet header or longer than any packet.
    FrameLength(usize),
    /// Something else is behind the port.
    Taken(u32),
    /// There can be no port of this number.
    NoPort(u32),
    /// The port has no timer.
    NoTimer(u32),
}

impl fmt::Display for TimerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimerError::Period => write!(f, "a timer's period is from 1us to 24h"),
            TimerError::Frames => write!(f, "a tick brings at most {TIMER_FRAMES_MAX} packets"),
            TimerError::FrameLength(bytes) => write!(
                f,
                "a packet of {bytes} bytes cannot arrive: it has {FRAME_BYTES_MIN} to {PACKET_BYTES_MAX} of them"
            ),
            TimerError::Taken(port) => {
                write!(f, "something else is behind port {port}; a timer needs a port of its own")
            }
            TimerError::NoPort(port) => write!(f, "there can be no port {port}"),
            TimerError::NoTimer(port) => write!(f, "port {port} has no timer"),
        }
    }
}

impl std::error::Error for TimerError {}

fn check_period(period_ns: u64) -> Result<(), TimerError> {
    let is_one = (TIMER_PERIOD_NS_MIN..=TIMER_PERIOD_NS_MAX).contains(&period_ns);
    if is_one { Ok(()) } else { Err(TimerError::Period) }
}

fn check_frames(frames: &[Vec<u8>]) -> Result<(), TimerError> {
    if frames.len() > TIMER_FRAMES_MAX {
        return Err(TimerError::Frames);
    }
    let is_wrong = |frame: &&Vec<u8>| !(FRAME_BYTES_MIN..=PACKET_BYTES_MAX).contains(&frame.len());
    frames.iter().find(is_wrong).map_or(Ok(()), |frame| Err(TimerError::FrameLength(frame.len())))
}

impl Timer {
    /// A timer that brings these frames with each tick; without any, one that is empty.
    pub fn new(period_ns: u64, frames: Vec<Vec<u8>>) -> Result<Timer, TimerError> {
        check_period(period_ns)?;
        check_frames(&frames)?;
        let frames = if frames.is_empty() { vec![EMPTY_FRAME.to_vec()] } else { frames };
        Ok(Timer {
            period_ns: AtomicU64::new(period_ns),
            frames: Mutex::new(frames.into()),
            changes: AtomicU64::new(1),
            ticks: AtomicU64::new(0),
            missed: AtomicU64::new(0),
        })
    }

    /// The time from one tick to the next; none while it stands still.
    pub fn period_ns(&self) -> Option<u64> {
        Some(self.period_ns.load(Ordering::Relaxed)).filter(|&period_ns| period_ns > 0)
    }

    /// What arrives with each tick.
    pub fn frames(&self) -> Arc<[Vec<u8>]> {
        Arc::clone(&self.frames.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A number that is another one after each change.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Sets the period, and the frames if there are some.
    pub fn set(&self, period_ns: u64, frames: Vec<Vec<u8>>) -> Result<(), TimerError> {
        check_period(period_ns)?;
        check_frames(&frames)?;
        if !frames.is_empty() {
            *self.frames.lock().unwrap_or_else(PoisonError::into_inner) = frames.into();
        }
        self.change_period(period_ns);
        Ok(())
    }

    /// It ticks no more until a period is set.
    pub fn stop(&self) {
        self.change_period(0);
    }

    fn change_period(&self, period_ns: u64) {
        self.period_ns.store(period_ns, Ordering::Relaxed);
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// It has ticked, after missing `missed` ticks. Only the driver of its port may call this.
    pub fn ticked(&self, missed: u64) {
        self.ticks.store(self.ticks() + 1, Ordering::Relaxed);
        self.missed.store(self.missed() + missed, Ordering::Relaxed);
    }

    /// How often it has ticked.
    pub fn ticks(&self) -> u64 {
        self.ticks.load(Ordering::Relaxed)
    }

    /// Ticks that were left out because the switch came to it too late.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

/// The timers of a switch by port.
#[derive(Debug)]
pub struct Timers {
    state: Mutex<TimerTable>,
    /// How many timers there are, for a look without the lock.
    count: AtomicUsize,
    port_max: u32,
}

#[derive(Debug, Default)]
struct TimerTable {
    timers: OrderedMap<u32, Arc<Timer>>,
    /// Ports that something else is behind.
    taken: OrderedSet<u32>,
    /// Why the timers do not follow the clock; empty if they do.
    remark: &'static str,
}

impl Timers {
    /// The ports that there are, some with timers. Where there is none, there can be a timer later, up to this number.
    pub fn new(ports: impl IntoIterator<Item = (u32, Option<Arc<Timer>>)>, port_max: u32) -> Timers {
        let mut state = TimerTable::default();
        for (port, timer) in ports {
            match timer {
                Some(timer) => state.timers.extend([(port, timer)]),
                None => state.taken.extend([port]),
            }
        }
        let count = AtomicUsize::new(state.timers.len());
        Timers { state: Mutex::new(state), count, port_max }
    }

    fn state(&self) -> MutexGuard<'_, TimerTable> {
        // Each change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are. There are never fewer than before.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// All of them, by port.
    pub fn all(&self) -> Vec<(u32, Arc<Timer>)> {
        self.state().timers.iter().map(|(port, timer)| (*port, Arc::clone(timer))).collect()
    }

    /// Sets a port's timer, which is made if there is none. Without frames it brings what it has brought so far.
    pub fn set(&self, port: u32, period_ns: u64, frames: Vec<Vec<u8>>) -> Result<(), TimerError> {
        let mut state = self.state();
        if let Some(timer) = state.timers.get(&port) {
            return timer.set(period_ns, frames);
        }
        if state.taken.contains(&port) {
            return Err(TimerError::Taken(port));
        }
        if port > self.port_max {
            return Err(TimerError::NoPort(port));
        }
        state.timers.insert(port, Arc::new(Timer::new(period_ns, frames)?));
        self.count.store(state.timers.len(), Ordering::Release);
        Ok(())
    }

    /// Why the timers do not follow the clock; empty if they do.
    pub fn remark(&self) -> &'static str {
        self.state().remark
    }

    /// Says why the timers do not follow the clock.
    pub fn set_remark(&self, remark: &'static str) {
        self.state().remark = remark;
    }

    /// Stops a port's timer. The port stays.
    pub fn stop(&self, port: u32) -> Result<(), TimerError> {
        self.state().timers.get(&port).map(|timer| timer.stop()).ok_or(TimerError::NoTimer(port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_gets_one_timer_which_may_change_and_stop() {
        let first = Arc::new(Timer::new(1_000_000, Vec::new()).unwrap());
        let timers = Timers::new([(1, None), (9, Some(Arc::clone(&first)))], 510);
        assert_eq!(first.frames()[..], [vec![0; 60]]);
        assert_eq!(timers.set(1, 5_000, Vec::new()), Err(TimerError::Taken(1)));
        assert_eq!(timers.set(511, 5_000, Vec::new()), Err(TimerError::NoPort(511)));
        assert_eq!(timers.stop(8), Err(TimerError::NoTimer(8)));
        timers.set(8, 5_000, vec![vec![1; 20], vec![2; 20]]).unwrap();
        assert_eq!(timers.count(), 2);
        let added = Arc::clone(&timers.all()[0].1);
        let before = added.changes();
        timers.set(8, 6_000, Vec::new()).unwrap();
        assert_eq!((timers.count(), added.period_ns(), added.frames().len()), (2, Some(6_000), 2));
        assert_ne!(before, added.changes());
        timers.stop(8).unwrap();
        assert_eq!((timers.count(), added.period_ns()), (2, None));
        timers.set(9, 7_000, vec![vec![3; 14]]).unwrap();
        assert_eq!((first.period_ns(), &first.frames()[..]), (Some(7_000), &[vec![3; 14]][..]));
    }

    #[test]
    fn what_cannot_tick_is_refused_and_changes_nothing() {
        let timer = Timer::new(1_000, Vec::new()).unwrap();
        let before = timer.changes();
        for (period_ns, frames, error) in [
            (999, vec![], TimerError::Period),
            (TIMER_PERIOD_NS_MAX + 1, vec![], TimerError::Period),
            (0, vec![], TimerError::Period),
            (1_000, vec![vec![0; 13]], TimerError::FrameLength(13)),
            (1_000, vec![vec![0; 65_536]], TimerError::FrameLength(65_536)),
            (1_000, vec![vec![0; 14]; TIMER_FRAMES_MAX + 1], TimerError::Frames),
        ] {
            assert_eq!(timer.set(period_ns, frames.clone()), Err(error));
            assert_eq!(Timer::new(period_ns, frames).unwrap_err(), error);
        }
        assert_eq!((timer.changes(), timer.period_ns(), timer.frames().len()), (before, Some(1_000), 1));
    }
}
