//! A wire between two interfaces with a latency, a bandwidth, or both.
//!
//! What enters: frames at either end. What leaves: the same frames at the other end, in their order, delayed as on a
//! wire of that length and speed. A frame is put on the wire when the one before it has passed, and arrives its
//! latency after its last bit was sent. Frames that wait for the wire are held, up to [`WAITING_FRAMES_MAX`]; one
//! that comes when the queue is full is dropped, as in a host's queue.
//!
//! The kernel has queueing disciplines for this (netem, tbf), but as modules that many machines lack, and with queue
//! limits that depend on the version. This wire is the same on all machines.

use crate::clock::Clock;
use crate::driver::{Driver, DriverError};
use crate::poll::Poller;
use crate::signals::StopFlag;
use base::limits::BURST_PACKETS_MAX;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::time::Duration;
use switch::traffic::pace::Pace;

/// Frames that may wait for the wire in one direction; the length of the queue of Linux's interfaces.
pub const WAITING_FRAMES_MAX: usize = 1000;

/// The most frames in one direction, including those in transit. The bound protects the memory.
const FRAMES_MAX: usize = 65_536;

/// How long a relay without frames waits before it checks the stop flag again.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// The properties of a wire, the same in both directions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wire {
    /// How long a bit takes from end to end.
    pub latency_ns: u64,
    /// Its bandwidth in bits per second; `None` for no limit.
    pub bits_per_s: Option<u64>,
}

impl Wire {
    /// Whether frames arrive immediately.
    pub fn is_immediate(&self) -> bool {
        self.latency_ns == 0 && self.bits_per_s.is_none()
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.latency_ns > 0 {
            parts.push(format!("{} ms", self.latency_ns as f64 / 1e6));
        }
        parts.extend(self.bits_per_s.map(|rate| format!("{} Mbit/s", rate as f64 / 1e6)));
        f.write_str(&parts.join(", "))
    }
}

/// A frame that waits for the wire or is in transit.
struct Travelling {
    bytes: Vec<u8>,
    /// When its first bit is sent.
    start_ns: u64,
    /// When its last bit arrives.
    arrival_ns: u64,
}

/// One direction of a wire, without input, output or clock.
struct Direction {
    wire: Wire,
    frames: VecDeque<Travelling>,
    /// When the last bit of the accepted frames is sent.
    pace: Pace,
    /// Memory of frames that have arrived, for reuse.
    spare: Vec<Vec<u8>>,
}

impl Direction {
    fn new(wire: Wire) -> Direction {
        let pace = Pace::new(wire.bits_per_s.unwrap_or(0));
        Direction { wire, frames: VecDeque::new(), pace, spare: Vec::new() }
    }

    /// Accepts a frame, unless too many wait.
    fn accept(&mut self, frame: &[u8], now_ns: u64) {
        let waiting = self.frames.len() - self.frames.partition_point(|frame| frame.start_ns <= now_ns);
        if waiting >= WAITING_FRAMES_MAX || self.frames.len() >= FRAMES_MAX {
            return;
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(frame);
        self.pace.begin_at(now_ns);
        let start_ns = self.pace.gone_ns();
        self.pace.take(frame.len() as u64 * 8);
        let arrival_ns = self.pace.gone_ns().saturating_add(self.wire.latency_ns);
        self.frames.push_back(Travelling { bytes, start_ns, arrival_ns });
    }

    /// The next frame that has arrived.
    fn arrived(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        let first = self.frames.front()?;
        (first.arrival_ns <= now_ns).then(|| self.frames.pop_front().map(|frame| frame.bytes)).flatten()
    }

    fn next_arrival_ns(&self) -> Option<u64> {
        self.frames.front().map(|frame| frame.arrival_ns)
    }

    fn reuse(&mut self, bytes: Vec<u8>) {
        if self.spare.len() < BURST_PACKETS_MAX {
            self.spare.push(bytes);
        }
    }
}

/// Forwards frames between two ports until the flag is set or one of them is gone.
pub fn carry(mut ends: [Box<dyn Driver>; 2], wire: Wire, stop: &StopFlag) -> Result<(), DriverError> {
    let clock = Clock::start();
    let mut poller = Poller::new();
    // The direction at 0 goes from the end at 0 to the end at 1.
    let mut directions = [Direction::new(wire), Direction::new(wire)];
    while !stop.stopped() {
        let mut received = 0;
        for (end, direction) in ends.iter_mut().zip(&mut directions) {
            let now_ns = clock.since_start_ns();
            received += end.receive(BURST_PACKETS_MAX, &mut |frame, _| direction.accept(frame, now_ns))?;
        }
        for (end, direction) in ends.iter_mut().rev().zip(&mut directions) {
            while let Some(frame) = direction.arrived(clock.since_start_ns()) {
                end.transmit(&frame, clock.since_start_ns())?;
                direction.reuse(frame);
            }
            end.flush()?;
        }
        if received == 0 {
            let due_ns = directions.iter().filter_map(Direction::next_arrival_ns).min();
            let until = due_ns.map(|due_ns| Duration::from_nanos(due_ns.saturating_sub(clock.since_start_ns())));
            wait(&mut poller, &mut ends, until.unwrap_or(WAIT_MAX).min(WAIT_MAX))?;
        }
    }
    Ok(())
}

fn wait(poller: &mut Poller, ends: &mut [Box<dyn Driver>], timeout: Duration) -> Result<(), DriverError> {
    let mut gone = None;
    let failed = |error: io::Error| DriverError::system("wait for frames".to_owned(), error);
    poller.wait(ends, &[], timeout, &mut |_, error| gone = Some(error)).map_err(failed)?;
    gone.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::memory_port;
    use expect_test::{Expect, expect};
    use std::thread;
    use std::time::Instant;

    /// Sends frames of the given lengths at the given times and shows when each arrives.
    fn check(wire: Wire, frames: &[(u64, usize)], expected: Expect) {
        let mut direction = Direction::new(wire);
        frames.iter().for_each(|&(now_ns, bytes)| direction.accept(&vec![0; bytes], now_ns));
        let mut shown = String::new();
        while let Some(arrival_ns) = direction.next_arrival_ns() {
            assert_eq!(direction.arrived(arrival_ns - 1), None);
            let frame = direction.arrived(arrival_ns).unwrap();
            shown += &format!("{arrival_ns}: {} bytes\n", frame.len());
            direction.reuse(frame);
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn latency_delays_every_frame_by_the_same_time() {
        let wire = Wire { latency_ns: 5_000, bits_per_s: None };
        check(
            wire,
            &[(0, 60), (10, 1500), (20, 60)],
            expect![[r#"
                5000: 60 bytes
                5010: 1500 bytes
                5020: 60 bytes
            "#]],
        );
    }

    #[test]
    fn bandwidth_spaces_frames_by_their_length() {
        // A byte takes a microsecond.
        let wire = Wire { latency_ns: 0, bits_per_s: Some(8_000_000) };
        check(
            wire,
            &[(0, 100), (0, 200), (10_000, 50), (1_000_000, 60)],
            expect![[r#"
                100000: 100 bytes
                300000: 200 bytes
                350000: 50 bytes
                1060000: 60 bytes
            "#]],
        );
    }

    #[test]
    fn fractions_of_nanoseconds_add_up() {
        let mut direction = Direction::new(Wire { latency_ns: 0, bits_per_s: Some(40_000_000_000) });
        // 12.8 nanoseconds each.
        (0..1000).for_each(|_| direction.accept(&[0; 64], 0));
        assert_eq!(direction.pace.gone_ns(), 12_800);
    }

    #[test]
    fn a_full_queue_drops_but_frames_on_their_way_do_not_count() {
        let slow = Wire { latency_ns: 0, bits_per_s: Some(8) };
        let mut direction = Direction::new(slow);
        (0..2 * WAITING_FRAMES_MAX).for_each(|_| direction.accept(&[0; 60], 0));
        // One is being sent, the others wait.
        assert_eq!(direction.frames.len(), WAITING_FRAMES_MAX + 1);
        let mut direction = Direction::new(Wire { latency_ns: 1_000_000_000, bits_per_s: None });
        (0..2 * FRAMES_MAX).for_each(|_| direction.accept(&[0; 60], 0));
        assert_eq!(direction.frames.len(), FRAMES_MAX);
    }

    #[test]
    fn frames_cross_in_both_directions() {
        let ((first, left), (second, right)) = (memory_port(), memory_port());
        let stop = StopFlag::new();
        let wire = Wire { latency_ns: 20_000_000, bits_per_s: Some(1_000_000_000) };
        let start = Instant::now();
        left.send(&[1; 60], 0);
        right.send(&[2; 70], 0);
        let (to_left, to_right) = thread::scope(|scope| {
            scope.spawn(|| carry([Box::new(first), Box::new(second)], wire, &stop).unwrap());
            let (mut to_left, mut to_right) = (Vec::new(), Vec::new());
            while to_left.is_empty() || to_right.is_empty() {
                assert!(start.elapsed() < Duration::from_secs(20), "the frames never arrive");
                to_left.extend(left.take());
                to_right.extend(right.take());
                thread::sleep(Duration::from_millis(1));
            }
            stop.stop();
            (to_left, to_right)
        });
        assert!(start.elapsed() >= Duration::from_millis(20));
        assert_eq!((&to_left[0].0[..], &to_right[0].0[..]), (&[2; 70][..], &[1; 60][..]));
    }

    #[test]
    fn a_wire_is_shown_with_what_it_has() {
        assert_eq!(Wire { latency_ns: 1_500_000, bits_per_s: Some(500_000) }.to_string(), "1.5 ms, 0.5 Mbit/s");
        assert_eq!(Wire::default().to_string(), "");
    }
}
