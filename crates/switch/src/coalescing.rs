//! Coalescing buffers: packets that are held until they leave together as one packet.
//!
//! What enters: packets with the number of a buffer, how long it may become, and how long the packet may wait. What
//! leaves: buffers, each a packet with the bytes of its members one after the other, when the next member would make it
//! too long or the timeout of one of its members expires. What happens to them then is up to the architecture.
//!
//! A buffer's bytes lie in one chunk of the pool, which is taken when it begins and becomes the packet that leaves, so
//! that a member is copied once. Each buffer number holds at most one chunk.
//!
//! A heap of deadlines gives the buffer that is due first. Items of buffers that have left, or that have an earlier
//! deadline now, are stale and are skipped; when the stale items outnumber the others, the heap is rebuilt.

use crate::packet::{Packet, Pool};
use base::limits::PACKET_BYTES_MAX;
use ir::v1model::Gather;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Numbers of buffers.
const BUFFERS: usize = 1 << 16;

/// How many stale items the heap may hold before it is rebuilt, beside one for each open buffer.
const STALE_MAX: usize = 64;

/// A buffer.
pub(crate) struct CoalescingBuffer {
    /// Its bytes; `passes` is the greatest of its members'.
    pub packet: Packet,
    /// Packets in it, which are counted up to here.
    pub packets: u16,
    /// When the timeout of one of its members expires.
    due_ns: u64,
}

/// All buffers of a core.
#[derive(Default)]
pub(crate) struct CoalescingBuffers {
    /// By number; empty until the first buffer begins.
    buffers: Vec<Option<CoalescingBuffer>>,
    /// When buffers are due, the first on top, and their numbers.
    deadlines: BinaryHeap<Reverse<(u64, u16)>>,
    open: usize,
    packets: usize,
}

impl CoalescingBuffers {
    /// Packets in all buffers.
    pub fn packets(&self) -> usize {
        self.packets
    }

    /// When the first buffer is due, if any is open.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.deadlines.peek().map(|Reverse((due_ns, _))| *due_ns)
    }

    /// A buffer whose timeout has expired, the longest overdue first, and its number.
    pub fn take_due(&mut self, now_ns: u64) -> Option<(u16, CoalescingBuffer)> {
        let Reverse((due_ns, number)) = *self.deadlines.peek()?;
        if due_ns > now_ns {
            return None;
        }
        // The top is always the deadline of an open buffer.
        self.take(number).map(|buffer| (number, buffer))
    }

    /// Every open buffer is due from now on.
    pub fn hasten(&mut self) {
        self.deadlines.clear();
        for (number, buffer) in (0..=u16::MAX).zip(&mut self.buffers) {
            if let Some(buffer) = buffer {
                buffer.due_ns = 0;
                self.deadlines.push(Reverse((0, number)));
            }
        }
    }

    /// Takes a buffer away.
    pub fn take(&mut self, number: u16) -> Option<CoalescingBuffer> {
        let buffer = self.buffers.get_mut(usize::from(number))?.take()?;
        self.open -= 1;
        self.packets -= usize::from(buffer.packets);
        self.remove_stale();
        Some(buffer)
    }

    /// Whether these bytes may not join the buffer, which has to leave first.
    pub fn is_full(&self, gather: Gather, bytes: usize) -> bool {
        self.buffer(gather.buffer).is_some_and(|buffer| {
            let length = buffer.packet.length() as usize + bytes;
            buffer.packets == u16::MAX || length > usize::from(gather.bytes_max) || !buffer.packet.has_tailroom(bytes)
        })
    }

    /// Packets in a buffer.
    pub fn packets_in(&self, number: u16) -> u16 {
        self.buffer(number).map_or(0, |buffer| buffer.packets)
    }

    /// Whether the timeout of a buffer has expired.
    pub fn is_due(&self, number: u16, now_ns: u64) -> bool {
        self.buffer(number).is_some_and(|buffer| buffer.due_ns <= now_ns)
    }

    fn buffer(&self, number: u16) -> Option<&CoalescingBuffer> {
        self.buffers.get(usize::from(number))?.as_ref()
    }

    /// Adds bytes of a packet to its buffer, which is not full, or begins one. False if there is no chunk for it.
    pub fn add(&mut self, gather: Gather, bytes: &[u8], of: &Packet, pool: &mut Pool) -> bool {
        let number = usize::from(gather.buffer);
        if self.buffers.is_empty() {
            self.buffers.resize_with(BUFFERS, || None);
        }
        let due_ns = of.time_ns().saturating_add(u64::from(gather.wait_us) * 1000);
        let urgent = match &mut self.buffers[number] {
            Some(buffer) => {
                buffer.packet.append(bytes);
                buffer.packet.set_passes(buffer.packet.passes().max(of.passes()));
                buffer.packets += 1;
                let is_urgent = due_ns < buffer.due_ns;
                buffer.due_ns = buffer.due_ns.min(due_ns);
                is_urgent
            }
            none => {
                let capacity = bytes.len().max(usize::from(gather.bytes_max)).min(PACKET_BYTES_MAX);
                let Some(mut packet) = pool.take_with_capacity(bytes, capacity) else { return false };
                packet.set_passes(of.passes());
                // It is made of several packets, and is none of them.
                packet.set_tag(0);
                *none = Some(CoalescingBuffer { packet, packets: 1, due_ns });
                self.open += 1;
                true
            }
        };
        self.packets += 1;
        if urgent {
            self.deadlines.push(Reverse((due_ns, gather.buffer)));
            self.remove_stale();
        }
        true
    }

    /// Removes stale items: from the top of the heap always, from all of it when there are too many.
    fn remove_stale(&mut self) {
        let buffers = &self.buffers;
        let due = |number: u16| buffers[usize::from(number)].as_ref().map(|buffer| buffer.due_ns);
        if self.deadlines.len() > 2 * self.open + STALE_MAX {
            self.deadlines.retain(|Reverse((due_ns, number))| due(*number) == Some(*due_ns));
        }
        while self.deadlines.peek().is_some_and(|Reverse((due_ns, number))| due(*number) != Some(*due_ns)) {
            self.deadlines.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PoolLimits;

    fn gather(buffer: u16, wait_us: u32) -> Gather {
        Gather { buffer, bytes_max: 8, wait_us }
    }

    /// A pool, no buffers, and a packet received at this time.
    fn begin(time_ns: u64) -> (Pool, CoalescingBuffers, Packet) {
        let mut pool = Pool::new(0, 0, PoolLimits { small_max: 4, large_max: 0 });
        let mut packet = pool.take(b"").unwrap();
        packet.set_passes(0);
        packet.set_time_ns(time_ns);
        (pool, CoalescingBuffers::default(), packet)
    }

    #[test]
    fn a_pile_has_the_bytes_of_its_members_in_order() {
        let (mut pool, mut buffers, packet) = begin(0);
        assert!(buffers.add(gather(7, 1), b"ab", &packet, &mut pool));
        assert!(buffers.add(gather(7, 1), b"cdefgh", &packet, &mut pool));
        assert!(buffers.is_full(gather(7, 1), 1) && !buffers.is_full(gather(8, 1), 1));
        assert_eq!(buffers.packets(), 2);
        let buffer = buffers.take(7).unwrap();
        assert_eq!((buffer.packet.bytes(), buffer.packets, buffers.packets()), (&b"abcdefgh"[..], 2, 0));
        assert!(buffers.take(7).is_none() && buffers.next_due_ns().is_none());
        pool.give(buffer.packet);
        pool.give(packet);
    }

    #[test]
    fn the_first_timeout_of_a_member_is_that_of_the_buffer() {
        let (mut pool, mut buffers, packet) = begin(500);
        for (buffer, wait_us) in [(1, 9), (2, 7), (1, 3), (2, 8)] {
            buffers.add(gather(buffer, wait_us), b"x", &packet, &mut pool);
        }
        assert_eq!(buffers.next_due_ns(), Some(3_500));
        assert!(buffers.take_due(3_499).is_none());
        let order: Vec<u16> = std::iter::from_fn(|| {
            buffers.take_due(7_500).map(|(number, buffer)| {
                pool.give(buffer.packet);
                number
            })
        })
        .collect();
        assert_eq!((order, buffers.next_due_ns()), (vec![1, 2], None));
        pool.give(packet);
    }

    #[test]
    fn deadlines_of_buffers_that_have_left_do_not_accumulate() {
        let (mut pool, mut buffers, packet) = begin(0);
        buffers.add(gather(0, 1), b"x", &packet, &mut pool);
        for round in 0..1000 {
            buffers.add(gather(1, 1000 + round), b"x", &packet, &mut pool);
            pool.give(buffers.take(1).unwrap().packet);
        }
        assert!(buffers.deadlines.len() <= 2 + STALE_MAX + 1);
        assert_eq!(buffers.next_due_ns(), Some(1000));
        pool.give(buffers.take(0).unwrap().packet);
        pool.give(packet);
    }

    #[test]
    fn hastened_buffers_are_due_immediately_and_later_ones_are_not() {
        let (mut pool, mut buffers, packet) = begin(0);
        for buffer in [3, 1] {
            buffers.add(gather(buffer, 1000), b"x", &packet, &mut pool);
        }
        buffers.hasten();
        buffers.add(gather(2, 1000), b"x", &packet, &mut pool);
        let mut numbers = Vec::new();
        while let Some((number, buffer)) = buffers.take_due(0) {
            pool.give(buffer.packet);
            numbers.push(number);
        }
        assert_eq!((numbers, buffers.packets(), buffers.next_due_ns()), (vec![1, 3], 1, Some(1_000_000)));
        pool.give(buffers.take(2).unwrap().packet);
    }

    #[test]
    fn without_a_chunk_no_pile_begins() {
        let (mut pool, mut buffers, packet) = begin(0);
        let taken: Vec<bool> = (0..4).map(|buffer| buffers.add(gather(buffer, 1), b"x", &packet, &mut pool)).collect();
        assert_eq!((taken, buffers.packets()), (vec![true, true, true, false], 3));
        pool.give(packet);
    }
}
