//! Packets in memory, and their delivery to a switch.
//!
//! What enters: captures, or frames from a generator. What leaves: a [`Trace`], in which each frame has a place of its
//! own that begins at a cache line, as in a driver's memory; and [`Lent`], a copy of it on which a switch works.

use live::pcap::CaptureDriver;
use live::{Driver as _, DriverError};
use std::path::Path;
use switch::Frame;

/// The most bytes of all frames of a trace. A larger trace is refused before it exhausts the memory.
const TRACE_BYTES_MAX: usize = 2 << 30;

/// The alignment of each frame's place in bytes: a cache line.
const LINE_BYTES: usize = 64;

/// The place of a frame.
#[derive(Clone, Copy, Debug)]
struct Place {
    port: u32,
    start: usize,
    length: usize,
}

/// Frames, each with the port on which it is received.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl Trace {
    /// Adds a frame; returns false if the trace is full.
    pub fn push(&mut self, port: u32, frame: &[u8]) -> bool {
        let start = self.bytes.len();
        let end = start + frame.len().next_multiple_of(LINE_BYTES);
        if end > TRACE_BYTES_MAX {
            return false;
        }
        self.bytes.extend_from_slice(frame);
        self.bytes.resize(end, 0);
        self.places.push(Place { port, start, length: frame.len() });
        true
    }

    /// Adds the frames of a capture, up to `count_max` frames in total; returns false if the trace cannot hold all of
    /// them.
    pub fn read(&mut self, port: u32, capture: &Path, count_max: usize) -> Result<bool, DriverError> {
        let mut driver = CaptureDriver::open(Some(capture), None)?;
        let mut has_room = true;
        while has_room && self.len() < count_max && !driver.exhausted() {
            let limit = (count_max - self.len()).min(1024);
            driver.receive(limit, &mut |frame, _| has_room = has_room && self.push(port, frame))?;
        }
        Ok(has_room)
    }

    /// Removes all frames and keeps their memory for reuse.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The frames, with their ports.
    pub fn frames(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.places.iter().map(|place| (place.port, &self.bytes[place.start..place.start + place.length]))
    }

    /// The total size of all frames in bytes.
    pub fn frame_bytes(&self) -> u64 {
        self.places.iter().map(|place| place.length as u64).sum()
    }
}

/// The frames of a trace in memory that is lent to a switch, one close to the next, so that other switches can be
/// measured on the same layout. If the program adds headers, each frame has headroom for them. The switch changes
/// frames; they are restored before they are lent again.
#[derive(Clone, Debug)]
pub struct Lent {
    original: Vec<u8>,
    bytes: Vec<u8>,
    places: Vec<Place>,
    distinct: usize,
    /// Headroom in bytes before each frame.
    room: usize,
}

impl Lent {
    /// The first frames of a trace, at most `frames_max`, repeated until there are at least `frames_min`. Each has as
    /// much headroom as the program needs ([`switch::Switch::headroom_bytes`]).
    pub fn of(trace: &Trace, frames_max: usize, frames_min: usize, headroom_bytes: usize) -> Lent {
        let distinct = trace.len().min(frames_max);
        let count = if distinct == 0 { 0 } else { frames_min.div_ceil(distinct).max(1) * distinct };
        let again = (0..count).map(|number| &trace.places[number % distinct]);
        Lent::from(again, &trace.bytes, distinct, headroom_bytes.next_multiple_of(LINE_BYTES))
    }

    /// A copy that begins at another frame.
    pub fn beginning_at(&self, first: usize) -> Lent {
        let (before, rest) = self.places.split_at(first);
        Lent::from(rest.iter().chain(before), &self.original, self.distinct, self.room)
    }

    /// Copies the frames at these places in `memory`, one after the other.
    fn from<'p>(places: impl Iterator<Item = &'p Place>, memory: &[u8], distinct: usize, room: usize) -> Lent {
        let mut lent = Lent { original: Vec::new(), bytes: Vec::new(), places: Vec::new(), distinct, room };
        for place in places {
            let start = lent.original.len() + room;
            lent.original.resize(start, 0);
            lent.original.extend_from_slice(&memory[place.start..place.start + place.length]);
            lent.original.resize((start + place.length).next_multiple_of(LINE_BYTES), 0);
            lent.places.push(Place { start, ..*place });
        }
        lent.bytes.clone_from(&lent.original);
        lent
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of distinct frames of the trace among them.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// Restores the original bytes of all frames.
    pub fn restore(&mut self) {
        self.bytes.copy_from_slice(&self.original);
    }

    /// Lends all frames, `burst` at a time, each burst with the clock's current time as its time of reception.
    pub fn each_burst(&mut self, burst: usize, clock: impl Fn() -> u64, mut work: impl FnMut(&mut [Frame<'_>])) {
        let mut frames = Vec::with_capacity(burst);
        let (mut rest, mut start, room) = (&mut self.bytes[..], 0, self.room);
        for places in self.places.chunks(burst) {
            frames.clear();
            let now_ns = clock();
            for place in places {
                let (_, from) = std::mem::take(&mut rest).split_at_mut(place.start - room - start);
                let (memory, behind) = from.split_at_mut(room + place.length);
                (rest, start) = (behind, place.start + place.length);
                frames.push(Frame::behind_headroom(memory, room, place.port, now_ns));
            }
            work(&mut frames);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_lent_in_bursts_anew_and_from_any_of_them_on() {
        let mut trace = Trace::default();
        for (port, length) in [(1, 60), (1, 65), (1, 1), (2, 64), (1, 0)] {
            assert!(trace.push(port, &vec![7; length]));
        }
        assert!(trace.places.iter().all(|place| place.start.is_multiple_of(LINE_BYTES)));
        assert_eq!((trace.len(), trace.frame_bytes()), (5, 190));
        let bursts = |lent: &mut Lent| {
            let mut bursts = Vec::new();
            lent.each_burst(
                2,
                || 5,
                |frames| {
                    assert!(
                        frames.iter().all(|frame| frame.time_ns() == 5 && frame.bytes().iter().all(|byte| *byte == 7))
                    );
                    bursts.push(frames.iter().map(|frame| (frame.port(), frame.bytes().len())).collect::<Vec<_>>());
                },
            );
            bursts
        };
        let mut lent = Lent::of(&trace, 3, 5, 100);
        assert_eq!((lent.len(), lent.distinct()), (6, 3));
        lent.bytes.fill(0);
        lent.restore();
        assert_eq!(bursts(&mut lent), [[(1, 60), (1, 65)], [(1, 1), (1, 60)], [(1, 65), (1, 1)]]);
        let mut later = Lent::of(&trace, usize::MAX, 1, 0).beginning_at(3);
        assert_eq!(bursts(&mut later), [vec![(2, 64), (1, 0)], vec![(1, 60), (1, 65)], vec![(1, 1)]]);
    }

    #[test]
    fn a_capture_is_read_up_to_the_requested_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.pcap");
        let mut driver = CaptureDriver::open(None, Some(&path)).unwrap();
        (0..5000).for_each(|number| driver.transmit(&vec![1; 60 + number % 7], 0).unwrap());
        driver.finish().unwrap();
        for (wanted, there) in [(3, 3), (1500, 1500), (usize::MAX, 5000)] {
            let mut trace = Trace::default();
            assert!(trace.read(1, &path, wanted).unwrap());
            assert_eq!(trace.len(), there);
        }
        assert!(Trace::default().read(1, &folder.path().join("none"), 1).is_err());
    }
}
