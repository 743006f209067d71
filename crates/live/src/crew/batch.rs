//! What workers hand to each other: frames, and what they have to say, some at a time in one piece of memory.

use crate::driver::DriverError;
use crate::ports::Ports;
use base::Bits;
use ir::DigestId;
use switch::Output;

/// Something that the first worker tells others of.
pub enum Note {
    /// A digest of the program.
    Digest(DigestId, Vec<Bits>),
    /// A line that the program logs.
    Log(String),
    /// An assertion of the program failed.
    AssertionFailed(String),
    /// A queue of this port goes no further.
    PortFailed(u32, DriverError),
}

struct Frame {
    port: u32,
    /// Where its bytes end.
    end: usize,
    time_ns: u64,
}

/// Frames and notes, in the order in which they came.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    frames: Vec<Frame>,
    pub notes: Vec<Note>,
}

impl Batch {
    /// Adds a frame that was received on a port, or is to be sent there.
    pub fn push(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        self.bytes.extend_from_slice(frame);
        self.frames.push(Frame { port, end: self.bytes.len(), time_ns });
    }

    /// The frames: port, bytes, time.
    pub fn frames(&self) -> impl Iterator<Item = (u32, &[u8], u64)> {
        let starts = std::iter::once(0).chain(self.frames.iter().map(|frame| frame.end));
        let bytes = |(start, frame): (usize, &Frame)| &self.bytes[start..frame.end];
        starts.zip(&self.frames).map(move |it| (it.1.port, bytes(it), it.1.time_ns))
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.notes.is_empty()
    }

    /// Throws everything away but the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.frames.clear();
        self.notes.clear();
    }
}

/// Where the output of a worker goes that is not the first: to its own queues, and else to the first worker.
pub struct BatchOutput<'a> {
    pub ports: &'a mut Ports,
    pub batch: &'a mut Batch,
    /// The stamp of the core's time 0.
    pub start_ns: u64,
}

impl Output for BatchOutput<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        let stamp_ns = self.start_ns.saturating_add(time_ns);
        match self.ports.transmit(port, frame, stamp_ns) {
            None => self.batch.push(port, frame, time_ns),
            Some(Ok(())) => {}
            Some(Err(error)) => self.batch.notes.push(Note::PortFailed(port, error)),
        }
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        self.batch.notes.push(Note::Digest(digest, values));
    }

    fn log(&mut self, line: &str) {
        self.batch.notes.push(Note::Log(line.to_owned()));
    }

    fn assertion_failed(&mut self, text: &str) {
        self.batch.notes.push(Note::AssertionFailed(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_as_they_went_in() {
        let mut batch = Batch::default();
        for (port, frame) in [(1, &[1, 2, 3][..]), (7, &[]), (2, &[4])] {
            batch.push(port, frame, u64::from(port) * 10);
        }
        let frames: Vec<_> = batch.frames().collect();
        assert_eq!(frames, [(1, &[1, 2, 3][..], 10), (7, &[], 70), (2, &[4], 20)]);
        batch.clear();
        assert!(batch.is_empty() && batch.frames().next().is_none());
    }
}
