//! How queues, ports and the buffer behind all of them are set up.

use super::QUEUE_CAPACITY_MAX;
use std::num::NonZeroU32;

/// Packets that a queue with a rate holds by default.
pub const QUEUE_CAPACITY_DEFAULT: usize = 64;

/// How a queue of a port is set up. Capacities apply while the queue or its port has a rate: without one no packet
/// is held back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueSettings {
    /// The most packets in it, up to 65,536.
    pub capacity_packets: usize,
    /// The most bytes of packets in it.
    pub capacity_bytes: u64,
    /// The packets that may leave it in a second, evenly spaced; 0 for no limit.
    pub packets_per_s: u64,
    /// The bits that may leave it in a second, with what the port's wire carries beside each packet; 0 for no limit. A
    /// packet counts with the bytes that it has in the queue.
    pub bits_per_s: u64,
    /// Its class. The port serves a queue only while no queue of a higher class has a packet that may leave.
    pub class: u32,
    /// Its share of what its class gets, in proportion to the weights of the class's other queues (deficit round robin
    /// over bytes).
    pub weight: NonZeroU32,
}

impl QueueSettings {
    /// The settings of the queue of a priority until they are changed: a class of its own, so that higher priorities
    /// go first.
    pub fn of_priority(priority: u32) -> QueueSettings {
        QueueSettings {
            capacity_packets: QUEUE_CAPACITY_DEFAULT,
            capacity_bytes: u64::MAX,
            packets_per_s: 0,
            bits_per_s: 0,
            class: priority,
            weight: NonZeroU32::MIN,
        }
    }

    /// Whether it has a rate.
    pub(super) fn is_paced(&self) -> bool {
        self.packets_per_s != 0 || self.bits_per_s != 0
    }

    /// The same within the bounds that protect the memory.
    pub(super) fn bounded(self) -> QueueSettings {
        QueueSettings { capacity_packets: self.capacity_packets.min(QUEUE_CAPACITY_MAX), ..self }
    }
}

/// The memory that the packets of all queues with a rate share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferSettings {
    /// Bytes of packets that it holds.
    pub bytes: u64,
    /// How much of what is free a queue may take; none for all of it.
    pub threshold: Option<DynamicThreshold>,
}

impl Default for BufferSettings {
    fn default() -> Self {
        BufferSettings { bytes: u64::MAX, threshold: None }
    }
}

/// A queue accepts packets while it has fewer bytes than this multiple of the buffer's free bytes: α of Choudhury and
/// Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (1998).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DynamicThreshold {
    /// The numerator of α.
    pub numerator: u32,
    /// The denominator of α.
    pub denominator: NonZeroU32,
}

impl DynamicThreshold {
    /// α times `free_bytes`.
    pub(super) fn of(self, free_bytes: u64) -> u64 {
        let bytes = u128::from(free_bytes) * u128::from(self.numerator) / u128::from(self.denominator.get());
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}
