//! The properties of a channel.

use crate::random::Chance;
use crate::time::Time;

/// What Ethernet carries beside a frame: preamble 8, FCS 4, gap 12.
pub const ETHERNET_OVERHEAD_BYTES: u32 = 24;

/// The least latency of a channel.
const LATENCY_MIN: Time = Time::from_ps(1);

/// The gap between frames, which follows a frame and does not delay it.
const ETHERNET_GAP_BYTES: u32 = 12;

/// The shortest frame without FCS: shorter ones are padded.
const ETHERNET_FRAME_BYTES_MIN: usize = 60;

/// The properties of a channel. The default is a line of endless rate without impairments.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelConfig {
    /// Bits per second; 0 for no limit.
    pub bits_per_s: u64,
    /// Propagation delay, with the constant latencies of the devices at both ends.
    pub delay: Time,
    /// Bytes on the line beside each packet.
    pub overhead_bytes: u32,
    /// Capacity of the queue in packets.
    pub queue_packets: usize,
    /// Capacity of the queue in bytes.
    pub queue_bytes: u64,
    /// A packet that finds this many in the queue is marked.
    pub ecn_packets: usize,
    /// A packet that finds this many bytes in the queue is marked.
    pub ecn_bytes: u64,
    /// The longest packet without its Ethernet header.
    pub mtu: usize,
    /// A packet is lost.
    pub loss: Chance,
    /// One bit of a packet is inverted.
    pub corruption: Chance,
    /// A packet arrives twice.
    pub duplication: Chance,
    /// The greatest additional delay.
    pub jitter: Time,
    /// A packet is delayed while others overtake it.
    pub reordering: Chance,
    /// By this span.
    pub reordering_delay: Time,
    /// When the link is down: disjoint intervals in order.
    pub down: Vec<Interval>,
}

/// From `start` on and before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// The first moment.
    pub start: Time,
    /// The first moment after it.
    pub end: Time,
}

impl Interval {
    /// Whether a time is in it.
    pub fn contains(&self, time: Time) -> bool {
        self.start <= time && time < self.end
    }
}

impl Default for ChannelConfig {
    fn default() -> ChannelConfig {
        ChannelConfig {
            bits_per_s: 0,
            delay: Time::ZERO,
            overhead_bytes: ETHERNET_OVERHEAD_BYTES,
            queue_packets: usize::MAX,
            queue_bytes: u64::MAX,
            ecn_packets: usize::MAX,
            ecn_bytes: u64::MAX,
            mtu: usize::MAX,
            loss: Chance::NEVER,
            corruption: Chance::NEVER,
            duplication: Chance::NEVER,
            jitter: Time::ZERO,
            reordering: Chance::NEVER,
            reordering_delay: Time::ZERO,
            down: Vec::new(),
        }
    }
}

impl ChannelConfig {
    /// Whether anything random happens to packets.
    pub fn is_impaired(&self) -> bool {
        let chances = [self.loss, self.corruption, self.duplication, self.reordering];
        chances.iter().any(|chance| chance.is_possible()) || self.jitter > Time::ZERO
    }

    /// What a packet takes at least: what a node causes elsewhere happens later.
    #[inline]
    pub fn latency_min(&self) -> Time {
        self.delay.max(LATENCY_MIN)
    }

    /// What a packet of this length occupies of the line.
    #[inline]
    pub fn line_bytes(&self, length: usize) -> u64 {
        Framing(self.overhead_bytes).line_bytes(length)
    }

    /// What of that follows the packet.
    #[inline]
    pub fn gap_bytes(&self) -> u64 {
        Framing(self.overhead_bytes).gap_bytes()
    }
}

/// The bytes on the line beside each packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing(pub(super) u32);

impl Framing {
    #[inline]
    pub(super) fn line_bytes(self, length: usize) -> u64 {
        let is_ethernet = self.0 >= ETHERNET_OVERHEAD_BYTES;
        let padded = if is_ethernet { length.max(ETHERNET_FRAME_BYTES_MIN) } else { length };
        padded as u64 + u64::from(self.0)
    }

    #[inline]
    pub(super) fn gap_bytes(self) -> u64 {
        if self.0 >= ETHERNET_OVERHEAD_BYTES { u64::from(ETHERNET_GAP_BYTES) } else { 0 }
    }
}
