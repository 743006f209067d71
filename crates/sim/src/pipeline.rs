//! The packets that a device can take in a second: FIFOs before the core.
//!
//! What enters: packets that arrive, with their times. What leaves: the same packets, one after the other, when a
//! server is free for them. A hardware pipeline is one server, which takes a packet in each clock; a software switch
//! has one for each core, and a flow stays on its core, as with receive-side scaling.

use crate::packet::Packet;
use crate::router::Flow;
use crate::time::{Serialiser, Time};
use std::collections::VecDeque;

/// What a device can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineConfig {
    /// How many packets at the same time.
    pub servers: usize,
    /// What each of them takes for a packet.
    pub service: Service,
    /// Capacity of a server's queue in packets.
    pub queue_packets: usize,
    /// Capacity of a server's queue in bytes.
    pub queue_bytes: u64,
}

/// How long a server is occupied by a packet, and by each further pass of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// This long.
    Cost(Time),
    /// As long as at this many packets a second.
    PacketsPerS(u64),
}

impl Service {
    /// The time for a packet, rounded down.
    pub(crate) fn time(self) -> Time {
        match self {
            Service::Cost(cost) => cost,
            Service::PacketsPerS(packets) => packets_line(packets).duration(1),
        }
    }
}

/// A line with this many packets a second: a packet counts as a byte.
pub(crate) fn packets_line(packets_per_s: u64) -> Serialiser {
    Serialiser::new(packets_per_s.saturating_mul(8))
}

/// What is counted of packets before the core.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PipelineCounters {
    /// Packets that a server took.
    pub packets: u64,
    /// Sum of their queueing delays, in picoseconds.
    pub waited_ps: u128,
    /// The most packets in the queue of a server.
    pub queue_packets_max: usize,
    /// Packets that came while the queue was full.
    pub dropped: u64,
}

/// A packet in the queue of a server.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) packet: Packet,
    pub(crate) port: usize,
    pub(crate) arrived: Time,
}

/// What happens to a packet that arrives.
pub(crate) enum Admission {
    /// This server takes it now.
    Now(Packet, usize),
    /// It is queued.
    Queued,
    /// The queue is full.
    Refused(Packet),
}

#[derive(Debug)]
struct Server {
    free_at: Time,
    /// Carries fractions of picoseconds over to the next packet.
    rate: Serialiser,
    queue: VecDeque<Queued>,
    queued_bytes: u64,
}

/// The servers before a core.
#[derive(Debug)]
pub(crate) struct Pipeline {
    config: PipelineConfig,
    servers: Vec<Server>,
    /// When the first queued packet is taken.
    next: Time,
    counters: PipelineCounters,
}

impl Pipeline {
    pub(crate) fn new(config: PipelineConfig) -> Pipeline {
        let packets_per_s = match config.service {
            Service::Cost(_) => 0,
            Service::PacketsPerS(packets) => packets,
        };
        let server = |_| Server {
            free_at: Time::ZERO,
            rate: packets_line(packets_per_s),
            queue: VecDeque::new(),
            queued_bytes: 0,
        };
        let servers = (0..config.servers.max(1)).map(server).collect();
        Pipeline { config, servers, next: Time::MAX, counters: PipelineCounters::default() }
    }

    pub(crate) fn counters(&self) -> &PipelineCounters {
        &self.counters
    }

    /// The packets in the queues.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.servers.iter().flat_map(|server| server.queue.iter().map(|queued| &queued.packet))
    }

    /// A packet arrives.
    pub(crate) fn admit(&mut self, now: Time, packet: Packet, port: usize) -> Admission {
        let index = self.server_of(&packet);
        let server = &mut self.servers[index];
        if server.free_at <= now && server.queue.is_empty() {
            self.serve(index, now, now);
            return Admission::Now(packet, index);
        }
        let bytes = packet.len() as u64;
        if server.queue.len() >= self.config.queue_packets || server.queued_bytes + bytes > self.config.queue_bytes {
            self.counters.dropped += 1;
            return Admission::Refused(packet);
        }
        server.queued_bytes += bytes;
        server.queue.push_back(Queued { packet, port, arrived: now });
        self.counters.queue_packets_max = self.counters.queue_packets_max.max(server.queue.len());
        self.next = self.next.min(server.free_at);
        Admission::Queued
    }

    /// When the first queued packet is taken.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// A queued packet that is taken now, and by which server.
    pub(crate) fn take(&mut self, now: Time) -> Option<(Queued, usize)> {
        if self.next > now {
            return None;
        }
        let is_due = |server: &Server| server.free_at <= now && !server.queue.is_empty();
        let index = (0..self.servers.len())
            .filter(|&it| is_due(&self.servers[it]))
            .min_by_key(|&it| self.servers[it].free_at)?;
        let server = &mut self.servers[index];
        let queued = server.queue.pop_front()?;
        server.queued_bytes -= queued.packet.len() as u64;
        // From when it could begin: a server that is looked at a little late is as fast as it is.
        let start = server.free_at;
        self.serve(index, start, queued.arrived);
        Some((queued, index))
    }

    fn serve(&mut self, server: usize, start: Time, arrived: Time) {
        self.counters.packets += 1;
        self.counters.waited_ps += u128::from(start.since(arrived).ps());
        self.servers[server].free_at = start;
        self.charge(server, 1);
    }

    /// Takes all packets out of the queues: the switch restarts.
    pub(crate) fn clear(&mut self) -> Vec<Packet> {
        self.next = Time::MAX;
        let servers = self.servers.iter_mut();
        let queued = servers.flat_map(|server| {
            (server.queued_bytes, server.free_at) = (0, Time::ZERO);
            server.queue.drain(..)
        });
        queued.map(|queued| queued.packet).collect()
    }

    /// A packet of a server makes this many passes.
    pub(crate) fn charge(&mut self, server: usize, passes: u64) {
        let it = &mut self.servers[server];
        it.free_at += match self.config.service {
            Service::Cost(cost) => cost.times(passes),
            Service::PacketsPerS(_) => it.rate.take(passes),
        };
        let next = |server: &Server| if server.queue.is_empty() { Time::MAX } else { server.free_at };
        self.next = self.servers.iter().map(next).min().unwrap_or(Time::MAX);
    }

    /// The server of a packet's flow; what has none goes to the first.
    fn server_of(&self, packet: &Packet) -> usize {
        match self.servers.len() {
            1 => 0,
            count => Flow::of(packet.head()).map_or(0, |flow| (flow.hash(0) % count as u64) as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Pool;
    use crate::random;

    fn config(service: Service) -> PipelineConfig {
        PipelineConfig { servers: 1, service, queue_packets: usize::MAX, queue_bytes: u64::MAX }
    }

    /// Mean queueing delay of Poisson arrivals of this load, in service times.
    fn mean_delay(load: f64, packets: u64) -> f64 {
        let cost = Time::from_ns(100);
        let mut pipeline = Pipeline::new(config(Service::Cost(cost)));
        let (mut pool, mut rng) = (Pool::default(), base::Rng::new(5));
        let mean = Time::from_ps((cost.ps() as f64 / load) as u64);
        let mut now = Time::ZERO;
        for _ in 0..packets {
            now += random::exponential_time(&mut rng, mean);
            while let Some((queued, _)) = pipeline.take(now) {
                pool.give(queued.packet);
            }
            if let Admission::Now(packet, _) | Admission::Refused(packet) = pipeline.admit(now, pool.zeroed(60), 0) {
                pool.give(packet);
            }
        }
        while let Some((queued, _)) = pipeline.take(pipeline.next().min(Time::from_s(1_000))) {
            pool.give(queued.packet);
        }
        assert_eq!(pipeline.counters().packets, packets);
        pipeline.counters().waited_ps as f64 / packets as f64 / cost.ps() as f64
    }

    #[test]
    fn packets_wait_as_in_an_m_d_1_queue() {
        for load in [0.3, 0.6, 0.8] {
            let (measured, expected) = (mean_delay(load, 200_000), load / (2.0 * (1.0 - load)));
            assert!((measured / expected - 1.0).abs() < 0.04, "load {load}: {measured} {expected}");
        }
    }

    #[test]
    fn a_second_has_as_many_packets_as_the_rate_allows() {
        let mut pool = Pool::default();
        let mut pipeline = Pipeline::new(config(Service::PacketsPerS(3_000_000)));
        (0..3_001).for_each(|_| drop(pipeline.admit(Time::ZERO, pool.zeroed(60), 0)));
        let mut taken = 0;
        while pipeline.take(Time::from_us(999)).is_some() {
            taken += 1;
        }
        // The first was taken at once, 2,997 follow within 999 us.
        assert_eq!((taken, pipeline.next()), (2_997, Time::from_ps(999_333_333)));
    }

    #[test]
    fn packets_beyond_the_capacity_are_refused() {
        let mut pool = Pool::default();
        let limited = PipelineConfig { queue_packets: 3, queue_bytes: 250, ..config(Service::Cost(Time::from_us(1))) };
        let mut pipeline = Pipeline::new(limited);
        let mut admit = |bytes| match pipeline.admit(Time::ZERO, pool.zeroed(bytes), 0) {
            Admission::Now(..) => 'n',
            Admission::Queued => 'l',
            Admission::Refused(_) => 'r',
        };
        let answers: String = [100, 100, 100, 100, 50, 10].map(&mut admit).iter().collect();
        assert_eq!(answers, "nllrlr");
        assert_eq!((pipeline.counters().dropped, pipeline.counters().queue_packets_max), (2, 3));
    }

    #[test]
    fn further_passes_occupy_the_server() {
        let mut pool = Pool::default();
        let mut pipeline = Pipeline::new(config(Service::Cost(Time::from_ns(10))));
        assert!(matches!(pipeline.admit(Time::ZERO, pool.zeroed(60), 0), Admission::Now(..)));
        assert!(matches!(pipeline.admit(Time::ZERO, pool.zeroed(60), 0), Admission::Queued));
        assert_eq!(pipeline.next(), Time::from_ns(10));
        pipeline.charge(0, 2);
        assert_eq!(pipeline.next(), Time::from_ns(30));
        assert!(pipeline.take(Time::from_ns(29)).is_none() && pipeline.take(Time::from_ns(30)).is_some());
    }
}
