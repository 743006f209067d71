//! What is counted on a channel.

use crate::time::Time;

/// Why a channel lost a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum ChannelDrop {
    /// The queue was full.
    Queue,
    /// It was longer than the MTU.
    Mtu,
    /// The link was down, or went down while the packet was in the queue or on the wire.
    Down,
    /// Random loss.
    Loss,
}

impl ChannelDrop {
    /// All reasons, in the order of their counters.
    pub const ALL: [ChannelDrop; 4] = [ChannelDrop::Queue, ChannelDrop::Mtu, ChannelDrop::Down, ChannelDrop::Loss];

    /// For results: a short name that stays.
    pub fn name(self) -> &'static str {
        match self {
            ChannelDrop::Queue => "queue",
            ChannelDrop::Mtu => "mtu",
            ChannelDrop::Down => "down",
            ChannelDrop::Loss => "loss",
        }
    }
}

/// Sums since the start of the run. Those of a window are the differences of two of them.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ChannelCounters {
    /// Packets that were taken into the queue or sent at once.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were lost, by reason.
    pub drops: [u64; ChannelDrop::ALL.len()],
    /// Packets marked CE.
    pub marked: u64,
    /// Packets with an inverted bit.
    pub corrupted: u64,
    /// Packets that arrived twice.
    pub duplicated: u64,
    /// Packets that were delayed so that others overtake them.
    pub reordered: u64,
    /// The time for which the line was occupied.
    pub busy_ps: u128,
    /// Sum of the packets' queueing delays: divided by the time, the mean number of queued packets.
    pub queueing_ps: u128,
    /// The same with each packet's bytes.
    pub queueing_byte_ps: u128,
    /// The most packets that were in the queue at once.
    pub queue_packets_max: u64,
    /// The most bytes that were in the queue at once.
    pub queue_bytes_max: u64,
}

impl ChannelCounters {
    /// Packets lost for any reason.
    pub fn dropped(&self) -> u64 {
        self.drops.iter().sum()
    }

    pub(super) fn drop(&mut self, reason: ChannelDrop) {
        self.drops[reason as usize] += 1;
    }

    pub(super) fn sent(&mut self, delay: Time, occupied: Time, length: usize, queued: usize, queued_bytes: u64) {
        self.packets += 1;
        self.bytes += length as u64;
        self.busy_ps += u128::from(occupied.ps());
        if delay > Time::ZERO {
            self.queueing_ps += u128::from(delay.ps());
            self.queueing_byte_ps += u128::from(delay.ps()) * length as u128;
            self.queue_packets_max = self.queue_packets_max.max(queued as u64);
            self.queue_bytes_max = self.queue_bytes_max.max(queued_bytes);
        }
    }

    /// What was counted since `earlier`. The greatest values are those of the whole run.
    pub fn since(&self, earlier: &ChannelCounters) -> ChannelCounters {
        let mut drops = self.drops;
        drops.iter_mut().zip(&earlier.drops).for_each(|(count, before)| *count -= before);
        ChannelCounters {
            packets: self.packets - earlier.packets,
            bytes: self.bytes - earlier.bytes,
            drops,
            marked: self.marked - earlier.marked,
            corrupted: self.corrupted - earlier.corrupted,
            duplicated: self.duplicated - earlier.duplicated,
            reordered: self.reordered - earlier.reordered,
            busy_ps: self.busy_ps - earlier.busy_ps,
            queueing_ps: self.queueing_ps - earlier.queueing_ps,
            queueing_byte_ps: self.queueing_byte_ps - earlier.queueing_byte_ps,
            queue_packets_max: self.queue_packets_max,
            queue_bytes_max: self.queue_bytes_max,
        }
    }
}
