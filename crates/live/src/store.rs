//! Copies of frames in one piece of memory.
//!
//! What enters: frames that their driver cannot lend, or that go to another thread. What leaves: the same bytes, each
//! frame at the beginning of a cache line and with headroom, to be processed in place. The memory is reused for the
//! next frames.

use crate::driver::{Arrival, Work};
use base::limits::LENT_HEADROOM_BYTES;
use switch::Burst;

/// The alignment of frames.
const LINE_BYTES: usize = 64;

/// A frame's offset from the origin.
#[derive(Clone, Copy, Debug, Default)]
struct FramePlace {
    start: usize,
    length: usize,
}

/// Frames, one after the other.
#[derive(Debug, Default)]
pub struct Store {
    bytes: Vec<u8>,
    /// The first aligned byte.
    origin: usize,
    /// Used bytes after the origin.
    used: usize,
    places: Vec<FramePlace>,
}

impl Store {
    /// Copies a frame. Returns its offset from the origin.
    #[inline]
    pub fn push(&mut self, frame: &[u8]) -> usize {
        let start = self.used + LENT_HEADROOM_BYTES;
        let (first, end) = (self.origin + start, self.origin + start + frame.len());
        if end > self.bytes.len() {
            self.grow(LENT_HEADROOM_BYTES + frame.len());
            return self.push(frame);
        }
        copy_frame(&mut self.bytes[first..end], frame);
        self.places.push(FramePlace { start, length: frame.len() });
        self.used = (start + frame.len()).next_multiple_of(LINE_BYTES);
        start
    }

    /// Enlarges the memory to this many bytes after those in use.
    #[cold]
    fn grow(&mut self, needed: usize) {
        let room = (self.used + needed).next_power_of_two().max(64 * LINE_BYTES);
        let mut bytes = vec![0; room + LINE_BYTES];
        let origin = bytes.as_ptr().align_offset(LINE_BYTES).min(LINE_BYTES);
        // The last frame may end before its cache line does.
        let (_, used) = self.extent();
        bytes[origin..][..used].copy_from_slice(&self.bytes[self.origin..][..used]);
        (self.bytes, self.origin) = (bytes, origin);
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The frames in order.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| self.bytes_at(place.start, place.length))
    }

    /// The memory of the frames in order, to be changed: `LENT_HEADROOM_BYTES` and then the frame.
    #[inline]
    pub fn frames_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let (mut rest, mut at) = (&mut self.bytes[self.origin..], 0);
        self.places.iter().map(move |place| {
            let (_, from) = std::mem::take(&mut rest).split_at_mut(place.start - LENT_HEADROOM_BYTES - at);
            let (memory, behind) = from.split_at_mut(LENT_HEADROOM_BYTES + place.length);
            (rest, at) = (behind, place.start + place.length);
            memory
        })
    }

    /// The address of the origin, and how many bytes after it are in use.
    pub fn extent(&self) -> (usize, usize) {
        let used = self.places.last().map_or(0, |place| place.start + place.length);
        (self.bytes[self.origin..].as_ptr().addr(), used)
    }

    /// The bytes at an offset from the origin.
    pub fn bytes_at(&self, start: usize, length: usize) -> &[u8] {
        &self.bytes[self.origin + start..][..length]
    }

    /// The size of its memory, in bytes.
    pub fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Removes the frames.
    pub fn clear(&mut self) {
        self.used = 0;
        self.places.clear();
    }

    /// Lends the frames, burst by burst.
    pub fn lend(&mut self, arrival: Arrival, work: Work<'_>) {
        let mut burst = Burst::new(arrival.port, arrival.time_ns);
        for frame in self.frames_mut() {
            if burst.is_full() {
                work(&mut burst);
                burst.clear();
            }
            burst.push_behind_headroom(frame, LENT_HEADROOM_BYTES);
        }
        if !burst.is_empty() || burst.refused() > 0 {
            work(&mut burst);
        }
    }
}

/// Copies a frame. Short ones, which are the most frequent where speed matters, take two moves of a fixed size that
/// may overlap.
#[inline]
fn copy_frame(to: &mut [u8], from: &[u8]) {
    match (to.first_chunk_mut::<32>(), from.first_chunk::<32>()) {
        (Some(to_start), Some(from_start)) if from.len() <= LINE_BYTES => {
            *to_start = *from_start;
            let rest = from.len() - 32;
            to[rest..].copy_from_slice(&from[rest..][..32]);
        }
        _ => to.copy_from_slice(from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_stay_where_they_are_while_the_memory_grows() {
        let mut store = Store::default();
        assert_eq!((store.frames_mut().count(), store.extent().1), (0, 0));
        let frames: Vec<Vec<u8>> = (0..300usize).map(|number| vec![number as u8; number * 7 % 400]).collect();
        for _ in 0..2 {
            for frame in &frames {
                store.push(frame);
            }
            assert!(store.frames().eq(frames.iter().map(|frame| &frame[..])));
            assert!(store.frames_mut().all(|frame| frame.as_ptr().addr().is_multiple_of(LINE_BYTES)));
            store.frames_mut().for_each(|memory| memory[LENT_HEADROOM_BYTES..].iter_mut().for_each(|byte| *byte ^= 1));
            assert!(store.frames().zip(&frames).all(|(got, put)| got.iter().zip(put).all(|(a, b)| *a == *b ^ 1)));
            store.clear();
            assert_eq!(store.len(), 0);
        }
    }

    #[test]
    fn lent_frames_come_in_bursts_of_one_arrival() {
        let mut store = Store::default();
        for number in 0..150u8 {
            store.push(&[number; 60]);
        }
        let mut seen = Vec::new();
        store.lend(Arrival { port: 4, time_ns: 9 }, &mut |burst| {
            let of_burst = burst.frames().iter().map(|frame| (frame.bytes()[0], frame.port(), frame.time_ns()));
            seen.push(of_burst.collect::<Vec<_>>());
        });
        assert_eq!(seen.iter().map(Vec::len).collect::<Vec<_>>(), [64, 64, 22]);
        assert!(seen.concat().into_iter().eq((0..150).map(|number| (number, 4, 9))));
    }
}
