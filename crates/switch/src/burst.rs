//! Frames that were received together, gathered one by one to be lent to the core.
//!
//! What enters: buffers of a driver. What leaves: a slice of [`Frame`]s, for [`crate::Switch::forward`]. It lives on
//! the caller's stack, so that nothing is allocated and nothing outlives the loan.

#![allow(unsafe_code, reason = "an array that is filled from the front")]

use crate::frame::Frame;
use base::limits::{BURST_PACKETS_MAX, PACKET_BYTES_MAX};
use std::mem::MaybeUninit;

/// Up to a burst of frames that one port has received at one moment.
pub struct Burst<'a> {
    /// The first `count` are there.
    frames: [MaybeUninit<Frame<'a>>; BURST_PACKETS_MAX],
    count: usize,
    port: u32,
    time_ns: u64,
    refused: u64,
}

impl<'a> Burst<'a> {
    /// No frames yet, of a port and a moment.
    #[inline]
    pub fn new(port: u32, time_ns: u64) -> Burst<'a> {
        Burst { frames: [const { MaybeUninit::uninit() }; BURST_PACKETS_MAX], count: 0, port, time_ns, refused: 0 }
    }

    /// Adds a frame. One that is longer than any packet is only counted.
    ///
    /// # Panics
    /// If the burst is full.
    #[inline]
    pub fn push(&mut self, bytes: &'a mut [u8]) {
        self.push_behind_headroom(bytes, 0);
    }

    /// Adds a frame with headroom, as [`Frame::behind_headroom`] requires it.
    ///
    /// # Panics
    /// As [`Burst::push`], and if the memory has fewer bytes than `headroom`.
    #[inline]
    pub fn push_behind_headroom(&mut self, memory: &'a mut [u8], headroom: usize) {
        if memory.len() - headroom > PACKET_BYTES_MAX {
            self.refused += 1;
            return;
        }
        self.frames[self.count].write(Frame::behind_headroom(memory, headroom, self.port, self.time_ns));
        self.count += 1;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the burst is full.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.count == BURST_PACKETS_MAX
    }

    /// Frames that were too long. They are received and dropped as far as the switch is concerned.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The frames.
    #[inline]
    pub fn frames(&mut self) -> &mut [Frame<'a>] {
        // SAFETY: the first `count` frames have been written, and a frame that may be is laid out as a frame.
        unsafe { std::slice::from_raw_parts_mut(self.frames.as_mut_ptr().cast(), self.count) }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.count = 0;
        self.refused = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_that_were_pushed() {
        let mut memory = vec![[7u8; 20]; BURST_PACKETS_MAX];
        let mut long = vec![0; PACKET_BYTES_MAX + 1];
        let mut burst = Burst::new(3, 50);
        burst.push(&mut long);
        assert!(burst.is_empty());
        for (number, bytes) in memory.iter_mut().enumerate() {
            assert!(!burst.is_full());
            burst.push(&mut bytes[..number % 20]);
        }
        assert!(burst.is_full());
        assert_eq!((burst.len(), burst.refused()), (BURST_PACKETS_MAX, 1));
        for (number, frame) in burst.frames().iter().enumerate() {
            assert_eq!((frame.bytes().len(), frame.port(), frame.time_ns()), (number % 20, 3, 50));
        }
        burst.clear();
        assert!(burst.frames().is_empty() && burst.refused() == 0);
    }
}
