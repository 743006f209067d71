//! What workers pass to each other: frames and notes, several at a time in one piece of memory.
//!
//! A batch goes from the first worker to a worker thread and comes back with the same frames, processed in place: so
//! a frame is copied by the first worker, and then by the driver that sends it. Other output of a worker thread for
//! the first worker is in a batch of its own.

use crate::driver::DriverError;
use crate::ports::Ports;
use crate::store::Store;
use base::Bits;
use base::limits::{BURST_PACKETS_MAX, LENT_HEADROOM_BYTES};
use ir::DigestId;
use switch::{Frame, Output};

/// An event that the first worker reports.
pub enum Note {
    /// A digest of the program.
    Digest(DigestId, Vec<Bits>),
    /// A line that the program logs.
    Log(String),
    /// An assertion of the program failed.
    AssertionFailed(String),
    /// The queue of this port failed.
    PortFailed(u32, DriverError),
}

/// Where and when a frame was received.
#[derive(Clone, Copy)]
struct Received {
    port: u32,
    time_ns: u64,
}

/// A frame to be sent.
#[derive(Clone, Copy)]
struct Departing {
    port: u32,
    /// Whether its bytes are in `copies`, not where they were received.
    is_copy: bool,
    start: usize,
    length: usize,
    time_ns: u64,
}

/// Frames and notes, in the order in which they came.
#[derive(Default)]
pub struct Batch {
    frames: Store,
    received: Vec<Received>,
    departing: Vec<Departing>,
    /// Departing frames whose bytes are elsewhere.
    copies: Store,
    pub notes: Vec<Note>,
    /// Whether it returns from the worker thread that the first worker sent it to.
    pub is_returned: bool,
}

impl Batch {
    /// Adds a frame that was received.
    #[inline]
    pub fn push(&mut self, frame: &Frame<'_>) {
        self.frames.push(frame.bytes());
        self.received.push(Received { port: frame.port(), time_ns: frame.time_ns() });
    }

    /// The number of received frames.
    pub fn len(&self) -> usize {
        self.received.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.received.is_empty() && self.departing.is_empty() && self.notes.is_empty() && !self.is_returned
    }

    /// The frames to be sent: port, bytes, time.
    pub fn departing(&self) -> impl Iterator<Item = (u32, &[u8], u64)> {
        self.departing.iter().map(|it| {
            let store = if it.is_copy { &self.copies } else { &self.frames };
            (it.port, store.bytes_at(it.start, it.length), it.time_ns)
        })
    }

    /// Lets `work` process the received frames, burst by burst, in place. Output goes to the worker thread's own
    /// queues, or is recorded here.
    pub fn work(
        &mut self,
        ports: &mut Ports,
        start_ns: u64,
        mut work: impl FnMut(&mut [Frame<'_>], &mut BatchOutput<'_>),
    ) {
        let (address, used) = self.frames.extent();
        let Batch { frames, received, departing, copies, notes, .. } = self;
        let lent = address..address + used;
        let mut output = BatchOutput { ports, lent, departing, copies, notes, start_ns };
        let frame =
            |(memory, it): (_, Received)| Frame::behind_headroom(memory, LENT_HEADROOM_BYTES, it.port, it.time_ns);
        let mut frames = frames.frames_mut().zip(received.drain(..)).map(frame);
        let mut burst: Vec<Frame<'_>> = Vec::with_capacity(BURST_PACKETS_MAX);
        loop {
            burst.extend(frames.by_ref().take(BURST_PACKETS_MAX));
            if burst.is_empty() {
                return;
            }
            work(&mut burst, &mut output);
            burst.clear();
        }
    }

    /// The receiver of output for frames that are not in the batch.
    pub fn output<'a>(&'a mut self, ports: &'a mut Ports, start_ns: u64) -> BatchOutput<'a> {
        let Batch { departing, copies, notes, .. } = self;
        BatchOutput { ports, lent: 0..0, departing, copies, notes, start_ns }
    }

    /// The size of its memory for frames, in bytes.
    pub fn held_bytes(&self) -> usize {
        self.frames.held_bytes() + self.copies.held_bytes()
    }

    /// Empties it, but keeps its memory.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.received.clear();
        self.departing.clear();
        self.copies.clear();
        self.notes.clear();
        self.is_returned = false;
    }
}

/// The output of a worker other than the first: goes to its own queues, or else to the first worker.
pub struct BatchOutput<'a> {
    ports: &'a mut Ports,
    /// The addresses of the bytes that the batch lends.
    lent: std::ops::Range<usize>,
    departing: &'a mut Vec<Departing>,
    copies: &'a mut Store,
    notes: &'a mut Vec<Note>,
    /// The time stamp of the core's time 0.
    start_ns: u64,
}

impl BatchOutput<'_> {
    fn depart(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        let (address, length) = (frame.as_ptr().addr(), frame.len());
        let is_copy = !self.lent.contains(&address);
        let start = if is_copy { self.copies.push(frame) } else { address - self.lent.start };
        self.departing.push(Departing { port, is_copy, start, length, time_ns });
    }
}

impl Output for BatchOutput<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        let stamp_ns = self.start_ns.saturating_add(time_ns);
        match self.ports.transmit(port, frame, stamp_ns) {
            None => self.depart(port, frame, time_ns),
            Some(Ok(())) => {}
            Some(Err(error)) => self.notes.push(Note::PortFailed(port, error)),
        }
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        self.notes.push(Note::Digest(digest, values));
    }

    fn log(&mut self, line: &str) {
        self.notes.push(Note::Log(line.to_owned()));
    }

    fn assertion_failed(&mut self, text: &str) {
        self.notes.push(Note::AssertionFailed(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_where_they_lie_and_others_as_copies() {
        let mut batch = Batch::default();
        for (port, bytes) in [(1, &mut [1, 2, 3][..]), (7, &mut []), (2, &mut [4; 100])] {
            batch.push(&Frame::new(bytes, port, u64::from(port) * 10));
        }
        let mut ports = Ports::new(Vec::new());
        let mut seen = Vec::new();
        batch.work(&mut ports, 0, |frames, output| {
            for frame in frames {
                seen.push((frame.port(), frame.bytes().len()));
                output.transmit(frame.port() + 1, frame.bytes(), frame.time_ns());
                output.transmit(9, &[frame.port() as u8], 0);
            }
        });
        assert_eq!(seen, [(1, 3), (7, 0), (2, 100)]);
        let departing: Vec<_> = batch.departing().collect();
        let expected: [(u32, &[u8], u64); 6] =
            [(2, &[1, 2, 3], 10), (9, &[1], 0), (8, &[], 70), (9, &[7], 0), (3, &[4; 100], 20), (9, &[2], 0)];
        assert_eq!(departing, expected);
        assert_eq!(batch.departing.iter().filter(|it| it.is_copy).count(), 3);
        assert_eq!((batch.len(), batch.is_empty()), (0, false));
        batch.clear();
        assert!(batch.is_empty() && batch.departing().next().is_none());
    }
}
