//! One direction of a link: the sender's transmitter with its queue, and the packets in flight.
//!
//! What enters: packets with the times at which they are sent. What leaves: the same packets with the times at which
//! they arrive, as far as they do. The queue is a FIFO, so the start of each transmission is known when its packet
//! enters the queue, and no event is needed for it.
//!
//! * [`config`]: the properties of a channel.
//! * [`counters`]: what is counted.
//! * [`flight`]: the packets in flight.

pub mod config;
pub mod counters;
pub mod flight;

pub use config::{ChannelConfig, Interval};
pub use counters::{ChannelCounters, ChannelDrop};
pub use flight::Flights;

use config::Framing;

use crate::packet::{Packet, Pool};
use crate::random;
use crate::time::{Serialiser, Time};
use crate::wire::ip;
use base::Rng;
use std::collections::VecDeque;

/// The header that does not count for the MTU.
const ETHERNET_HEADER_BYTES: usize = 14;

/// The sender's end of a channel. What each packet needs is together and first: in a large network it is in no cache.
#[derive(Debug)]
#[repr(C)]
pub struct Transmitter {
    /// When the line has sent everything that was given to it.
    free_at: Time,
    /// Arrival of the last packet that was not reordered.
    last_arrival: Time,
    line: Serialiser,
    limits: Limits,
    queued_bytes: u64,
    /// The queue, with the times at which their transmissions start.
    queue: VecDeque<Queued>,
    impairments: Option<Box<Impairments>>,
    counters: ChannelCounters,
    /// The first interval of `config.down` that has not ended.
    next_down: usize,
    config: Box<ChannelConfig>,
}

/// Of the properties those that each packet needs.
#[derive(Clone, Copy, Debug)]
struct Limits {
    queue_packets: usize,
    queue_bytes: u64,
    ecn_packets: usize,
    ecn_bytes: u64,
    mtu: usize,
    latency: Time,
    framing: Framing,
    /// The first interval in which the link is down and that has not ended; one that never begins if there is none.
    down: Interval,
}

impl Limits {
    fn of(config: &ChannelConfig) -> Limits {
        let ChannelConfig { queue_packets, queue_bytes, ecn_packets, ecn_bytes, mtu, .. } = *config;
        Limits {
            queue_packets,
            queue_bytes,
            ecn_packets,
            ecn_bytes,
            mtu,
            latency: config.latency_min(),
            framing: Framing(config.overhead_bytes),
            down: Limits::down(config, 0),
        }
    }

    fn down(config: &ChannelConfig, index: usize) -> Interval {
        config.down.get(index).copied().unwrap_or(Interval { start: Time::MAX, end: Time::MAX })
    }
}

/// What has become of a packet that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fate {
    /// Why it does not arrive, if it does not.
    pub lost: Option<ChannelDrop>,
    /// Whether one of its bits was inverted.
    pub is_corrupted: bool,
}

impl Fate {
    fn lost(reason: ChannelDrop) -> Fate {
        Fate { lost: Some(reason), is_corrupted: false }
    }
}

#[derive(Clone, Copy, Debug)]
struct Queued {
    start: Time,
    bytes: u32,
}

/// The random streams of a channel, one for each impairment.
#[derive(Debug)]
struct Impairments {
    loss: Rng,
    corruption: Rng,
    duplication: Rng,
    jitter: Rng,
    reordering: Rng,
}

impl Transmitter {
    /// The transmitter of a channel of this name, in the run of this seed.
    pub fn new(config: ChannelConfig, name: &str, seed: u64) -> Transmitter {
        let stream = |purpose: &str| random::stream(seed, &format!("{name} {purpose}"));
        let impairments = config.is_impaired().then(|| {
            Box::new(Impairments {
                loss: stream("loss"),
                corruption: stream("corruption"),
                duplication: stream("duplication"),
                jitter: stream("jitter"),
                reordering: stream("reordering"),
            })
        });
        let line = Serialiser::new(config.bits_per_s);
        Transmitter {
            free_at: Time::ZERO,
            last_arrival: Time::ZERO,
            line,
            limits: Limits::of(&config),
            queued_bytes: 0,
            queue: VecDeque::new(),
            impairments,
            counters: ChannelCounters::default(),
            next_down: 0,
            config: Box::new(config),
        }
    }

    /// The properties.
    pub fn config(&self) -> &ChannelConfig {
        &self.config
    }

    /// The longest packet, without its Ethernet header.
    #[inline]
    pub fn mtu(&self) -> usize {
        self.limits.mtu
    }

    /// What was counted until `now`, which is not before the last packet was sent.
    pub fn counters(&self, now: Time) -> ChannelCounters {
        let mut counters = self.counters.clone();
        // Nothing was sent after the link went down, though the packets that it lost are known with the next one only.
        self.take_back(now.min(self.limits.down.start), &mut counters);
        counters
    }

    /// Times are counted when a packet enters the queue: takes back what of them is after `now`.
    fn take_back(&self, now: Time, counters: &mut ChannelCounters) {
        counters.busy_ps -= u128::from(self.free_at.since(now).ps());
        for queued in &self.queue {
            let left_ps = u128::from(queued.start.since(now).ps());
            counters.queueing_ps -= left_ps;
            counters.queueing_byte_ps -= left_ps * u128::from(queued.bytes);
        }
    }

    /// Packets and bytes in the queue at this time, without the packet in transmission.
    pub fn backlog(&mut self, now: Time) -> (usize, u64) {
        self.follow_link(now);
        self.start_transmissions(now);
        (self.queue.len(), self.queued_bytes)
    }

    /// When the line is free for another packet.
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Sends a packet. It is handed to `deliver` with the time of its arrival, if it arrives; a duplicate, too.
    pub fn send(
        &mut self,
        now: Time,
        mut packet: Packet,
        pool: &mut Pool,
        deliver: &mut dyn FnMut(Time, Packet),
    ) -> Fate {
        self.follow_link(now);
        self.start_transmissions(now);
        if let Some(reason) = self.refusal(now, packet.len()) {
            return self.lose(reason, packet, pool);
        }
        self.mark(&mut packet);
        let arrival = self.transmit(now, packet.len());
        if self.is_cut(arrival) {
            return self.lose(ChannelDrop::Down, packet, pool);
        }
        match self.impairments.is_some() {
            true => self.impair(arrival, packet, pool, deliver),
            false => {
                deliver(arrival, packet);
                Fate::default()
            }
        }
    }

    fn lose(&mut self, reason: ChannelDrop, packet: Packet, pool: &mut Pool) -> Fate {
        self.counters.drop(reason);
        pool.give(packet);
        Fate::lost(reason)
    }

    /// Why the packet cannot be sent, if it cannot.
    fn refusal(&self, now: Time, length: usize) -> Option<ChannelDrop> {
        if self.limits.down.contains(now) {
            return Some(ChannelDrop::Down);
        }
        if length.saturating_sub(ETHERNET_HEADER_BYTES) > self.limits.mtu {
            return Some(ChannelDrop::Mtu);
        }
        let is_busy = self.free_at > now;
        let is_full = self.queue.len() >= self.limits.queue_packets
            || self.queued_bytes + length as u64 > self.limits.queue_bytes;
        (is_busy && is_full).then_some(ChannelDrop::Queue)
    }

    /// Marks a packet that finds a long queue.
    fn mark(&mut self, packet: &mut Packet) {
        let is_long = self.queue.len() >= self.limits.ecn_packets || self.queued_bytes >= self.limits.ecn_bytes;
        if is_long && ip::mark_congestion(packet.head_mut()) {
            self.counters.marked += 1;
        }
    }

    /// Takes the packet into the queue; returns when its last bit arrives.
    fn transmit(&mut self, now: Time, length: usize) -> Time {
        let start = self.free_at.max(now);
        let Limits { framing, latency, .. } = self.limits;
        let gap_bytes = framing.gap_bytes();
        let occupied = self.line.take(framing.line_bytes(length));
        self.free_at = start + occupied;
        if start > now {
            self.queue.push_back(Queued { start, bytes: length as u32 });
            self.queued_bytes += length as u64;
        }
        self.counters.sent(start.since(now), occupied, length, self.queue.len(), self.queued_bytes);
        let gap = if gap_bytes > 0 { self.line.duration(gap_bytes) } else { Time::ZERO };
        let arrival = self.free_at.since(gap) + latency;
        // A packet of no length on a line without limit stays in order as well.
        arrival.max(self.last_arrival)
    }

    fn impair(
        &mut self,
        arrival: Time,
        mut packet: Packet,
        pool: &mut Pool,
        deliver: &mut dyn FnMut(Time, Packet),
    ) -> Fate {
        let (config, Some(random)) = (&self.config, &mut self.impairments) else { return Fate::default() };
        if config.loss.happens(&mut random.loss) {
            return self.lose(ChannelDrop::Loss, packet, pool);
        }
        let is_corrupted = config.corruption.happens(&mut random.corruption) && packet.len() > 0;
        if is_corrupted {
            let bit = random.corruption.below(8 * packet.len() as u64) as usize;
            packet.bytes_mut()[bit / 8] ^= 1 << (bit % 8);
            self.counters.corrupted += 1;
        }
        let is_doubled = config.duplication.happens(&mut random.duplication);
        let jittered = match config.jitter > Time::ZERO {
            true => arrival + random::uniform_time(&mut random.jitter, config.jitter),
            false => arrival,
        };
        let arrival = match config.reordering.happens(&mut random.reordering) {
            true => {
                self.counters.reordered += 1;
                jittered + config.reordering_delay
            }
            false => {
                self.last_arrival = jittered.max(self.last_arrival);
                self.last_arrival
            }
        };
        let duplicate = is_doubled.then(|| pool.copy_of(packet.bytes()));
        deliver(arrival, packet);
        if let Some(duplicate) = duplicate {
            self.counters.duplicated += 1;
            deliver(arrival, duplicate);
        }
        Fate { lost: None, is_corrupted }
    }

    /// Lets packets leave the queue whose transmissions have started.
    fn start_transmissions(&mut self, now: Time) {
        while let Some(first) = self.queue.front().filter(|first| first.start <= now) {
            self.queued_bytes -= u64::from(first.bytes);
            self.queue.pop_front();
        }
    }

    /// Empties the queue if the link has gone down since.
    fn follow_link(&mut self, now: Time) {
        while self.limits.down.start <= now && self.next_down < self.config.down.len() {
            let Interval { start, end } = self.limits.down;
            let mut counters = std::mem::take(&mut self.counters);
            self.take_back(start, &mut counters);
            self.counters = counters;
            self.free_at = self.free_at.min(start);
            self.queue.clear();
            self.queued_bytes = 0;
            if now < end {
                return;
            }
            self.next_down += 1;
            self.limits.down = Limits::down(&self.config, self.next_down);
        }
    }

    /// Whether the link goes down before this time.
    fn is_cut(&self, arrival: Time) -> bool {
        self.limits.down.start < arrival
    }
}

#[cfg(test)]
mod tests;
