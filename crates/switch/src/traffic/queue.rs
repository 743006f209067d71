//! One queue: its packets, its bounds and its pace.

use super::pace::Pace;
use super::settings::QueueSettings;
use super::{QueueCounts, wire_bits};
use std::collections::VecDeque;

/// A packet in a queue.
pub(super) struct Queued<P> {
    pub packet: P,
    pub bytes: u32,
    pub enqueued_ns: u64,
}

pub(super) struct Queue<P> {
    /// Packets that a rate holds back, the queue's or its port's.
    packets: VecDeque<Queued<P>>,
    bytes: u64,
    /// Packets of this queue, here or in the line of those that may leave immediately.
    pub depth: usize,
    settings: QueueSettings,
    /// In packets.
    pace: Pace,
    /// In bits.
    shaper: Pace,
    /// Packets that came while it was full.
    pub refused: u64,
    pub counts: QueueCounts,
    /// Bytes that it may still send in its turn of its class.
    pub deficit_bytes: u64,
}

impl<P> Queue<P> {
    pub fn new(settings: QueueSettings) -> Queue<P> {
        let (pace, shaper) = (Pace::new(settings.packets_per_s), Pace::new(settings.bits_per_s));
        let counts = QueueCounts::default();
        Queue {
            packets: VecDeque::new(),
            bytes: 0,
            depth: 0,
            settings,
            pace,
            shaper,
            refused: 0,
            counts,
            deficit_bytes: 0,
        }
    }

    /// The packets that a rate holds back.
    pub fn packets(&self) -> impl Iterator<Item = &P> {
        self.packets.iter().map(|queued| &queued.packet)
    }

    pub fn settings(&self) -> QueueSettings {
        self.settings
    }

    pub fn set(&mut self, settings: QueueSettings) {
        self.settings = settings;
        self.pace.set(settings.packets_per_s);
        self.shaper.set(settings.bits_per_s);
    }

    pub fn is_paced(&self) -> bool {
        self.pace.is_limited() || self.shaper.is_limited()
    }

    /// When the next packet may go.
    fn open_ns(&self) -> u64 {
        self.pace.due_ns().max(self.shaper.due_ns())
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a queue made anew would be the same.
    pub fn is_fresh(&self, now_ns: u64) -> bool {
        self.depth == 0 && self.open_ns() <= now_ns
    }

    /// Whether another packet of `bytes` bytes fits.
    pub fn fits(&self, bytes: u32) -> bool {
        self.packets.len() < self.settings.capacity_packets
            && self.bytes + u64::from(bytes) <= self.settings.capacity_bytes
    }

    pub fn push(&mut self, queued: Queued<P>) {
        self.bytes += u64::from(queued.bytes);
        self.depth += 1;
        self.counts.waiting_since_ns += u128::from(queued.enqueued_ns);
        self.packets.push_back(queued);
        let counts = &mut self.counts;
        counts.depth_packets_max = counts.depth_packets_max.max(self.packets.len());
        counts.depth_bytes_max = counts.depth_bytes_max.max(self.bytes);
    }

    /// When the first packet may leave the queue, if it has one.
    pub fn due_ns(&self) -> Option<u64> {
        (!self.packets.is_empty()).then_some(self.open_ns())
    }

    pub fn is_due(&self, now_ns: u64) -> bool {
        self.due_ns().is_some_and(|due_ns| due_ns <= now_ns)
    }

    /// The bytes of the first packet.
    pub fn first_bytes(&self) -> Option<u32> {
        self.packets.front().map(|queued| queued.bytes)
    }

    /// Takes the first packet, which leaves when the queue's paces, its arrival and `free_ns` allow it. A wire carries
    /// `overhead_bytes` beside it.
    pub fn pop(&mut self, free_ns: u64, overhead_bytes: u32) -> Option<(Queued<P>, u64)> {
        let queued = self.packets.pop_front()?;
        self.bytes -= u64::from(queued.bytes);
        self.depth -= 1;
        // When it could leave, not now: a queue that is served a little late still has its rate.
        let could_leave_ns = free_ns.max(queued.enqueued_ns);
        let leaves_ns = could_leave_ns.max(self.pace.gone_ns()).max(self.shaper.gone_ns());
        let waited_ns = leaves_ns.saturating_sub(queued.enqueued_ns);
        self.counts.waiting_since_ns -= u128::from(queued.enqueued_ns);
        self.counts.packets += 1;
        self.counts.bytes += u64::from(queued.bytes);
        self.counts.waited_ns = self.counts.waited_ns.saturating_add(waited_ns);
        for (pace, units) in [(&mut self.pace, 1), (&mut self.shaper, wire_bits(queued.bytes, overhead_bytes))] {
            // A packet that the wire has delayed does not slow the next one down, but causes no burst either.
            pace.begin_at(queued.enqueued_ns.max(leaves_ns.saturating_sub(pace.span_ns(units))));
            pace.take(units);
        }
        Some((queued, leaves_ns))
    }
}
