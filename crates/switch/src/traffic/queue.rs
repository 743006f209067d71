//! One queue: its packets, its bounds and its pace.

use super::pace::Pace;
use super::settings::QueueSettings;
use super::wire_bits;
use std::collections::VecDeque;

/// A packet that waits.
pub(super) struct Waiting<P> {
    pub packet: P,
    pub bytes: u32,
    pub enqueued_ns: u64,
}

pub(super) struct Queue<P> {
    /// Packets that wait for a rate, the queue's or its port's.
    packets: VecDeque<Waiting<P>>,
    bytes: u64,
    /// Packets of this queue, here or in the line of those that may leave at once.
    pub depth: usize,
    settings: QueueSettings,
    /// In packets.
    pace: Pace,
    /// In bits.
    shaper: Pace,
    /// Packets that came while it was full.
    pub refused: u64,
    /// Bytes that it may still send in its turn of its class.
    pub deficit_bytes: u64,
}

impl<P> Queue<P> {
    pub fn new(settings: QueueSettings) -> Queue<P> {
        let (pace, shaper) = (Pace::new(settings.packets_per_s), Pace::new(settings.bits_per_s));
        Queue { packets: VecDeque::new(), bytes: 0, depth: 0, settings, pace, shaper, refused: 0, deficit_bytes: 0 }
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

    /// Whether another packet of so many bytes fits.
    pub fn fits(&self, bytes: u32) -> bool {
        self.packets.len() < self.settings.capacity_packets
            && self.bytes + u64::from(bytes) <= self.settings.capacity_bytes
    }

    pub fn push(&mut self, waiting: Waiting<P>) {
        self.bytes += u64::from(waiting.bytes);
        self.depth += 1;
        self.packets.push_back(waiting);
    }

    /// When the queue lets its first packet go, if it has one.
    pub fn due_ns(&self) -> Option<u64> {
        (!self.packets.is_empty()).then_some(self.open_ns())
    }

    pub fn is_due(&self, now_ns: u64) -> bool {
        self.due_ns().is_some_and(|due_ns| due_ns <= now_ns)
    }

    /// The bytes of the first packet.
    pub fn first_bytes(&self) -> Option<u32> {
        self.packets.front().map(|waiting| waiting.bytes)
    }

    /// Takes the first packet, which leaves when the queue, it, and `free_ns` let it. A wire carries `overhead_bytes`
    /// beside it.
    pub fn pop(&mut self, free_ns: u64, overhead_bytes: u32) -> Option<(Waiting<P>, u64)> {
        let waiting = self.packets.pop_front()?;
        self.bytes -= u64::from(waiting.bytes);
        self.depth -= 1;
        // From when it could leave, not from now: who is called a little late still gets the rate.
        let could_leave_ns = free_ns.max(waiting.enqueued_ns);
        let leaves_ns = could_leave_ns.max(self.pace.gone_ns()).max(self.shaper.gone_ns());
        self.pace.begin_at(leaves_ns);
        self.pace.take(1);
        self.shaper.begin_at(leaves_ns);
        self.shaper.take(wire_bits(waiting.bytes, overhead_bytes));
        Some((waiting, leaves_ns))
    }
}
