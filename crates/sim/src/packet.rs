//! Packets: buffers with headroom, and the pools that they come from.
//!
//! What enters: lengths and bytes. What leaves: packets that move from node to node without being copied. The space
//! before the bytes lets a program put headers in front of them where they lie.
//!
//! The payload of hosts' packets follows from a few numbers (`Content`). It is written when it is read: by a
//! program, a capture, a link that inverts a bit. Routers read headers only, and a host knows what it expects. So
//! in a network of routers a packet is a few lines of the cache, and not a whole buffer.

use base::limits::{LENT_HEADROOM_BYTES, PACKET_BYTES_MAX};

/// Sizes of buffers: small control packets, full Ethernet frames, jumbo frames, the longest packets.
const SIZES: [usize; 4] = [256, 1_792, 10_240, PACKET_BYTES_MAX + LENT_HEADROOM_BYTES];

/// What processors fetch from memory at once.
pub(crate) const CACHE_LINE_BYTES: usize = 64;

/// Free buffers that a pool holds of each size; more than are in flight in most networks.
const FREE_MAX: usize = 16_384;

/// A packet.
#[derive(Debug)]
pub struct Packet {
    memory: Box<[u8]>,
    start: u32,
    end: u32,
    /// Up to where the bytes are written; what the others are is in their place.
    written: u32,
    label: u64,
}

/// Bytes that follow from a few numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    Zeros,
    /// Of a flow's payload ([`tcp::payload`]).
    Stream {
        key: u64,
        position: u64,
    },
}

/// What a content takes where it is stored.
const CONTENT_BYTES: usize = 24;

/// A payload that is not longer is written at once: it would be in the same lines of the cache.
const LEFT_BYTES_MIN: usize = 2 * CACHE_LINE_BYTES;

impl Content {
    /// Whether bytes are this content.
    pub(crate) fn is(self, bytes: &[u8]) -> bool {
        match self {
            Content::Zeros => bytes.iter().all(|byte| *byte == 0),
            Content::Stream { key, position } => tcp::payload::is_expected(key, position, bytes),
        }
    }

    fn write(self, out: &mut [u8]) {
        match self {
            Content::Zeros => out.fill(0),
            Content::Stream { key, position } => tcp::payload::fill(key, position, out),
        }
    }

    fn to_words(self) -> [u64; CONTENT_BYTES / 8] {
        match self {
            Content::Zeros => [0; 3],
            Content::Stream { key, position } => [1, key, position],
        }
    }

    fn of_words([kind, key, position]: [u64; CONTENT_BYTES / 8]) -> Content {
        if kind == 0 { Content::Zeros } else { Content::Stream { key, position } }
    }
}

impl Packet {
    /// Which packet of a host this is, on its whole path: see [`crate::record`]. 0 for others.
    #[inline]
    pub fn label(&self) -> u64 {
        self.label
    }

    /// Sets the label.
    #[inline]
    pub fn set_label(&mut self, label: u64) {
        self.label = label;
    }

    /// The bytes, from the Ethernet header on, without preamble and FCS.
    #[inline]
    pub fn bytes(&mut self) -> &[u8] {
        self.bytes_mut()
    }

    /// The same, to be changed.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.write_rest();
        &mut self.memory[self.start as usize..self.end as usize]
    }

    /// The bytes that are written: the headers at least.
    #[inline]
    pub fn head(&self) -> &[u8] {
        &self.memory[self.start as usize..self.written as usize]
    }

    /// The same, to be changed.
    #[inline]
    pub fn head_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start as usize..self.written as usize]
    }

    /// What follows the head, and how many bytes that is, if they are not written.
    #[inline]
    pub(crate) fn rest(&self) -> Option<(Content, usize)> {
        let (content, _) = self.memory[self.written as usize..].as_chunks::<8>();
        match content {
            [kind, key, position, ..] if self.written < self.end => {
                let words = [kind, key, position].map(|word| u64::from_le_bytes(*word));
                Some((Content::of_words(words), (self.end - self.written) as usize))
            }
            _ => None,
        }
    }

    /// Makes all but the first `head` bytes this content.
    pub(crate) fn set_rest(&mut self, head: usize, content: Content) {
        let rest = &mut self.memory[self.start as usize + head..self.end as usize];
        if rest.len() < LEFT_BYTES_MIN {
            return content.write(rest);
        }
        let words = rest.as_chunks_mut::<8>().0.iter_mut().zip(content.to_words());
        words.for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        self.written = self.start + head as u32;
    }

    #[inline]
    fn write_rest(&mut self) {
        if let Some((content, _)) = self.rest() {
            content.write(&mut self.memory[self.written as usize..self.end as usize]);
            self.written = self.end;
        }
    }

    /// How many bytes.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "an empty packet is nothing special")]
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Has the processor fetch the first bytes from memory, for a node that will soon look at them.
    #[inline]
    pub(crate) fn fetch(&self) {
        let first = self.memory.as_ptr().wrapping_add(self.start as usize);
        tables::prefetch(first);
        // Headers end in the next line of the cache.
        tables::prefetch(first.wrapping_add(CACHE_LINE_BYTES));
    }

    /// The headroom and the bytes in one piece, and the length of the headroom: what is lent to the switch core.
    pub fn memory_with_headroom(&mut self) -> (&mut [u8], usize) {
        self.write_rest();
        (&mut self.memory[..self.end as usize], self.start as usize)
    }

    /// Makes the packet the part of its memory where these bytes lie; returns whether they lie in it.
    pub fn resize_to(&mut self, address: usize, length: usize) -> bool {
        let begin = self.memory.as_ptr() as usize;
        let Some(start) = address.checked_sub(begin).filter(|start| start + length <= self.memory.len()) else {
            return false;
        };
        (self.start, self.end) = (start as u32, (start + length) as u32);
        self.written = self.end;
        true
    }

    /// Makes the packet shorter.
    pub fn truncate(&mut self, length: usize) {
        self.end = self.end.min(self.start + length.min(PACKET_BYTES_MAX) as u32);
        self.written = self.written.min(self.end);
    }
}

/// Free buffers of one partition.
#[derive(Debug)]
pub struct Pool {
    free: [Vec<Box<[u8]>>; SIZES.len()],
    /// Bytes of new buffers that it may still make, less those that it has returned to the system.
    left: u64,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { free: Default::default(), left: u64::MAX / 2 }
    }
}

impl Pool {
    /// A packet of this many bytes, all zero.
    ///
    /// # Panics
    /// If it is longer than `base::limits::PACKET_BYTES_MAX`.
    pub fn zeroed(&mut self, length: usize) -> Packet {
        let mut packet = self.unwritten(length);
        packet.bytes_mut().fill(0);
        packet
    }

    /// A packet with these bytes.
    ///
    /// # Panics
    /// If they are more than `base::limits::PACKET_BYTES_MAX`.
    pub fn copy_of(&mut self, bytes: &[u8]) -> Packet {
        let mut packet = self.unwritten(bytes.len());
        packet.bytes_mut().copy_from_slice(bytes);
        packet
    }

    /// Takes the memory of a packet that has come to its end.
    pub fn give(&mut self, packet: Packet) {
        match SIZES.iter().position(|&size| size == packet.memory.len()) {
            Some(size) if self.free[size].len() < FREE_MAX => self.free[size].push(packet.memory),
            _ => self.left = self.left.saturating_add(packet.memory.len() as u64),
        }
    }

    /// Limits the bytes of all buffers that are made from now on.
    pub fn set_limit(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// Whether all bytes are used. Buffers are still made: who runs the partition has to stop.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// A packet of this many bytes with any contents: all of them are to be written.
    ///
    /// # Panics
    /// If it is longer than `base::limits::PACKET_BYTES_MAX`.
    pub fn unwritten(&mut self, length: usize) -> Packet {
        assert!(length <= PACKET_BYTES_MAX, "a packet of {length} bytes");
        let size = SIZES.iter().position(|&size| size >= length + LENT_HEADROOM_BYTES).expect("the last fits all");
        let memory = self.free[size].pop().unwrap_or_else(|| {
            self.left = self.left.saturating_sub(SIZES[size] as u64);
            vec![0; SIZES[size]].into_boxed_slice()
        });
        let start = LENT_HEADROOM_BYTES as u32;
        let end = start + length as u32;
        Packet { memory, start, end, written: end, label: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_and_show_nothing_of_their_past() {
        let mut pool = Pool::default();
        let mut packet = pool.copy_of(&[7; 100]);
        let address = packet.bytes().as_ptr();
        pool.give(packet);
        let mut again = pool.zeroed(120);
        assert_eq!((again.bytes().as_ptr(), again.bytes()), (address, &[0; 120][..]));
        assert_eq!(pool.zeroed(PACKET_BYTES_MAX).len(), PACKET_BYTES_MAX);
    }

    #[test]
    fn buffers_in_use_are_limited() {
        let mut pool = Pool::default();
        pool.set_limit(3 * 256);
        let packets = [pool.zeroed(60), pool.zeroed(60)];
        assert!(!pool.is_exhausted());
        packets.into_iter().for_each(|packet| pool.give(packet));
        let _packets = [(); 2].map(|()| pool.zeroed(60));
        assert!(!pool.is_exhausted());
        let _last = pool.zeroed(60);
        assert!(pool.is_exhausted());
    }

    #[test]
    fn a_rest_is_written_when_it_is_read() {
        let mut pool = Pool::default();
        for (bytes, left) in [(300, 200), (80, 80), (1_700, 1_700)] {
            for content in [Content::Zeros, Content::Stream { key: 9, position: 1_000 }] {
                let mut packet = pool.copy_of(&vec![7; bytes]);
                packet.set_rest(20, content);
                let is_left = bytes - 20 >= LEFT_BYTES_MIN;
                assert_eq!(packet.rest(), is_left.then_some((content, bytes - 20)));
                assert_eq!((packet.len(), packet.head()[..20].iter().sum::<u8>()), (bytes, 140));
                packet.truncate(left);
                let mut expected = vec![7; left];
                content.write(&mut expected[20..]);
                assert_eq!(packet.bytes(), expected);
                assert_eq!((packet.rest(), packet.head()), (None, &expected[..]));
            }
        }
        let mut packet = pool.copy_of(&[7; 500]);
        packet.set_rest(60, Content::Zeros);
        let (memory, headroom) = packet.memory_with_headroom();
        assert_eq!((memory.len(), memory[headroom..].iter().filter(|byte| **byte == 7).count()), (headroom + 500, 60));
    }

    #[test]
    fn bytes_may_begin_in_the_headroom() {
        let mut pool = Pool::default();
        let mut packet = pool.copy_of(&[1, 2, 3]);
        let (memory, headroom) = packet.memory_with_headroom();
        memory[headroom - 2..headroom].fill(9);
        let address = memory[headroom - 2..].as_ptr() as usize;
        assert!(packet.resize_to(address, 5));
        assert_eq!(packet.bytes(), [9, 9, 1, 2, 3]);
        assert!(!packet.resize_to(address, 100_000) && !packet.resize_to(1, 1));
        packet.truncate(1);
        assert_eq!(packet.bytes(), [9]);
    }
}
